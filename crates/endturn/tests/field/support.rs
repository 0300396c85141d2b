//! What the modules of this test share: peers, prompts, and what a user has seen.

use std::sync::{Arc, Mutex};

use endturn::{
    CancellationSignal, Client, Error, HandlerResult,
    client::ClientBuilder,
    schema::v1::{
        ContentBlock, PromptRequest, PromptResponse, SessionUpdate, StopReason, TextContent,
    },
};
use endturn_testkit::RawPeer;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

pub(crate) use crate::common::{
    cancel, cancel_request, client_of, connect, initialized, message, prompt, result, stopped,
};

pub(crate) fn ended() -> HandlerResult<PromptResponse> {
    Ok(PromptResponse::new(StopReason::EndTurn))
}

/// The text of a prompt.
pub(crate) fn text(request: &PromptRequest) -> &str {
    let ContentBlock::Text(block) = &request.prompt[0] else {
        panic!("another block");
    };
    &block.text
}

pub(crate) fn error(id: impl Into<Value>, code: i32) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "error": {"code": code, "message": "no"}})
}

pub(crate) fn new_session(id: impl Into<Value>) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "session/new",
        "params": {"cwd": "/", "mcpServers": []}})
}

/// A question of an agent, with a button for each answer.
pub(crate) fn permission(id: impl Into<Value>, session: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "session/request_permission", "params": {
        "sessionId": session, "toolCall": {"toolCallId": "t"}, "options": [
            {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
            {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
        ],
    }})
}

pub(crate) fn request(session: &str, text: &str) -> PromptRequest {
    let text = ContentBlock::Text(TextContent::new(text));
    PromptRequest::new(session.to_owned(), vec![text])
}

pub(crate) type Answer = JoinHandle<Result<PromptResponse, Error>>;

/// A prompt in the background, and its id on the wire.
pub(crate) async fn prompted(
    client: &Client,
    agent: &mut RawPeer,
    session: &str,
    signal: Option<&CancellationSignal>,
) -> (Answer, Value) {
    let answer = tokio::spawn(client.prompt(request(session, "x"), signal));
    let received = agent.receive().await;
    let id = received["id"].clone();
    assert_eq!(received, prompt(id.clone(), session, "x"));
    (answer, id)
}

/// How a turn ended, for whoever waits for it.
pub(crate) async fn stop_reason(answer: Answer) -> StopReason {
    answer.await.unwrap().unwrap().stop_reason
}

/// What a user has been shown, in order: the text of a message, the kind of any other update.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    /// Has the client show its updates here.
    pub(crate) fn watch(&self, builder: ClientBuilder) -> ClientBuilder {
        let seen = self.clone();
        builder.on_update(move |notification, _| {
            seen.push(notification.update);
            async {}
        })
    }

    pub(crate) fn push(&self, update: SessionUpdate) {
        let update = serde_json::to_value(update).unwrap();
        let shown = match update["sessionUpdate"].as_str().unwrap() {
            "agent_message_chunk" => &update["content"]["text"],
            _ => &update["sessionUpdate"],
        };
        self.0
            .lock()
            .unwrap()
            .push(shown.as_str().unwrap().to_owned());
    }

    /// All there is so far.
    pub(crate) fn so_far(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}
