//! An agent whose turns do what the test wants, and the raw client that watches it.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod terminal;

use std::fmt;

use endturn::{
    Agent, Error, HandlerResult, PromptContext,
    agent::AgentBuilder,
    blocking,
    schema::v1::{PromptResponse, StopReason},
};
use endturn_testkit::RawPeer;
use serde_json::{Value, json};

use crate::common::{client_of, prompt};

/// An agent each of whose turns does this work and ends.
pub(crate) fn agent<F, Fut>(work: F) -> AgentBuilder
where
    F: Fn(PromptContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = HandlerResult<()>> + Send + 'static,
{
    Agent::builder().on_prompt(move |_request, cx| {
        let work = work(cx);
        async move {
            work.await?;
            Ok(PromptResponse::new(StopReason::EndTurn))
        }
    })
}

/// The same on a thread that may block.
pub(crate) fn blocking_agent<F>(work: F) -> AgentBuilder
where
    F: Fn(blocking::PromptContext) -> HandlerResult<()> + Send + Sync + 'static,
{
    Agent::builder().on_prompt_blocking(move |_request, cx| {
        work(cx)?;
        Ok(PromptResponse::new(StopReason::EndTurn))
    })
}

/// A client that has sent prompt 1 of session `s`.
pub(crate) async fn begin(agent: AgentBuilder) -> RawPeer {
    let mut client = client_of(agent.build()).await;
    client.send(prompt(1, "s", "x")).await;
    client
}

/// A client that offers only this, and has sent prompt 1 of session `s`.
pub(crate) async fn begin_with(agent: AgentBuilder, capabilities: Value) -> RawPeer {
    let agent = agent.build();
    let (mut client, transport) = RawPeer::pair();
    tokio::spawn(async move { agent.serve(transport).await });
    let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
    client.send(request(0, "initialize", params)).await;
    assert_eq!(client.receive().await["id"], 0);
    client.send(prompt(1, "s", "x")).await;
    client
}

pub(crate) fn request(id: i64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub(crate) fn error(id: impl Into<Value>, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "error": {"code": code, "message": message}})
}

/// An update of session `s`.
pub(crate) fn update(update: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "session/update",
        "params": {"sessionId": "s", "update": update}})
}

/// What came of a call, in a word.
pub(crate) fn outcome<T: fmt::Debug>(outcome: Result<T, Error>) -> String {
    match outcome {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("{:?}", error.kind()),
    }
}
