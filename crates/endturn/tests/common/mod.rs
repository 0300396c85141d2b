//! What the tests of this crate share.
#![allow(dead_code, reason = "each test file uses its part")]

use endturn::{
    Agent, Client,
    client::ClientBuilder,
    schema::{ProtocolVersion, v1::InitializeRequest},
    transport::Transport,
};
use endturn_testkit::RawPeer;
use serde_json::{Value, json};

/// A raw client of this agent, which is served in the background.
pub(crate) async fn client_of(agent: Agent) -> RawPeer {
    let (mut peer, transport) = RawPeer::pair();
    tokio::spawn(async move { agent.serve(transport).await });
    peer.initialize().await;
    peer
}

/// A client, and the raw agent it talks to.
pub(crate) async fn connect(builder: ClientBuilder) -> (Client, RawPeer) {
    connect_over(builder, RawPeer::pair()).await
}

/// The same over a transport that the test has chosen.
pub(crate) async fn connect_over(
    builder: ClientBuilder,
    (mut agent, transport): (RawPeer, Transport),
) -> (Client, RawPeer) {
    let client = builder.connect(transport);
    let (initialized, _) = tokio::join!(initialize(&client), agent.accept_initialize());
    initialized.unwrap();
    (client, agent)
}

pub(crate) async fn initialize(client: &Client) -> Result<(), endturn::Error> {
    let request = InitializeRequest::new(ProtocolVersion::V1);
    client.initialize(request).await.map(drop)
}

/// A client that is connected to this transport, and past `initialize`.
pub(crate) async fn initialized(builder: ClientBuilder, transport: Transport) -> Client {
    let client = builder.connect(transport);
    initialize(&client).await.unwrap();
    client
}

pub(crate) fn prompt(id: impl Into<Value>, session: &str, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "session/prompt", "params": {
        "sessionId": session, "prompt": [{"type": "text", "text": text}],
    }})
}

pub(crate) fn cancel(session: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})
}

pub(crate) fn cancel_request(id: impl Into<Value>) -> Value {
    json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id.into()}})
}

pub(crate) fn result(id: impl Into<Value>, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "result": result})
}

pub(crate) fn stopped(id: impl Into<Value>, reason: &str) -> Value {
    result(id, json!({"stopReason": reason}))
}

pub(crate) fn message(session: &str, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": {
        "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text},
    }}})
}
