//! What the tests of this crate share.
#![allow(dead_code, reason = "each test file uses its part")]

use endturn::Agent;
use endturn_testkit::RawPeer;
use serde_json::{Value, json};

/// A raw client of this agent, which is served in the background.
pub(crate) fn client_of(agent: Agent) -> RawPeer {
    let (peer, transport) = RawPeer::pair();
    tokio::spawn(async move { agent.serve(transport).await });
    peer
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
