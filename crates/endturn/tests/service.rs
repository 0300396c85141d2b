//! An agent that is one type.

mod common;

use common::{client_of, message, prompt, result, stopped};
use endturn::{
    Agent, HandlerResult, PromptContext, RequestContext,
    agent::AgentService,
    schema::v1::{
        AgentCapabilities, CloseSessionRequest, CloseSessionResponse, Implementation,
        NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse, SessionCapabilities,
        SessionCloseCapabilities, StopReason,
    },
};
use serde_json::json;

/// Only what has to be written.
struct Least;

impl AgentService for Least {
    async fn new_session(
        &self,
        _: NewSessionRequest,
        _: RequestContext,
    ) -> HandlerResult<NewSessionResponse> {
        Ok(NewSessionResponse::new("a"))
    }

    async fn prompt(&self, _: PromptRequest, cx: PromptContext) -> HandlerResult<PromptResponse> {
        cx.send_message("hello").await?;
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}

/// What may be written too.
struct More;

impl AgentService for More {
    fn info(&self) -> Option<Implementation> {
        Some(Implementation::new("more", "1"))
    }

    fn capabilities(&self) -> AgentCapabilities {
        let close = SessionCloseCapabilities::new();
        AgentCapabilities::new().session_capabilities(SessionCapabilities::new().close(close))
    }

    async fn new_session(
        &self,
        request: NewSessionRequest,
        cx: RequestContext,
    ) -> HandlerResult<NewSessionResponse> {
        Least.new_session(request, cx).await
    }

    async fn prompt(
        &self,
        request: PromptRequest,
        cx: PromptContext,
    ) -> HandlerResult<PromptResponse> {
        Least.prompt(request, cx).await
    }

    async fn close_session(
        &self,
        _: CloseSessionRequest,
        _: RequestContext,
    ) -> HandlerResult<CloseSessionResponse> {
        Ok(CloseSessionResponse::new())
    }
}

#[tokio::test]
async fn a_service_answers_as_a_builder_does() {
    let mut client = client_of(Agent::from_service(Least).build()).await;
    client.send(prompt(1, "a", "x")).await;
    assert_eq!(client.receive().await, message("a", "hello"));
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
}

#[tokio::test]
async fn what_a_service_does_not_have_is_not_offered_and_answered_as_unknown() {
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"protocolVersion": 1}});
    let close = json!({"jsonrpc": "2.0", "id": 1, "method": "session/close",
        "params": {"sessionId": "a"}});

    let mut client = client_of(Agent::from_service(Least).build()).await;
    client.send(&initialize).await;
    let answer = client.receive().await;
    assert_eq!(answer["result"]["protocolVersion"], 1);
    let offers = &answer["result"]["agentCapabilities"]["sessionCapabilities"];
    assert_eq!(offers["close"], json!(null));
    client.send(&close).await;
    assert_eq!(client.receive().await["error"]["code"], -32601);

    let mut client = client_of(Agent::from_service(More).build()).await;
    client.send(&initialize).await;
    let answer = client.receive().await;
    assert_eq!(answer["result"]["agentInfo"]["name"], "more");
    let offers = &answer["result"]["agentCapabilities"]["sessionCapabilities"];
    assert_eq!(offers["close"], json!({}));
    client.send(&close).await;
    assert_eq!(client.receive().await, result(1, json!({})));
}
