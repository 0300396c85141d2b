//! What the scripted agent does, seen by a raw client.

use endturn_testkit::{RawPeer, scripted};
use serde_json::{Value, json};

/// A raw client of the scripted agent, with `session-1` open.
async fn client() -> RawPeer {
    let (mut client, transport) = RawPeer::pair();
    let agent = scripted::agent().build();
    tokio::spawn(async move { agent.serve(transport).await });
    client
        .send(json!({"jsonrpc": "2.0", "id": 0, "method": "session/new",
            "params": {"cwd": "/", "mcpServers": []}}))
        .await;
    client.receive_until(0).await;
    client
}

fn prompt(script: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": {
        "sessionId": "session-1", "prompt": [{"type": "text", "text": script}],
    }})
}

#[tokio::test]
async fn a_flood_sends_all_that_it_is_told_to() {
    let mut client = client().await;
    client.send(prompt("flood 2000 100\nsay END")).await;
    let mut messages = client.receive_until(1).await;
    let answer = messages.pop().unwrap();
    assert_eq!(answer["result"], json!({"stopReason": "end_turn"}));
    assert_eq!(messages.len(), 2001);
    let text = &messages[1999]["params"]["update"]["content"]["text"];
    assert_eq!(text, &"x".repeat(100));
}

#[tokio::test]
async fn a_flood_stops_when_it_is_cancelled() {
    let mut client = client().await;
    client.send(prompt("flood 100000 100\nsay END")).await;
    client.receive().await;
    // The client reads nothing meanwhile, so the agent cannot get far.
    client
        .send(json!({"jsonrpc": "2.0", "method": "session/cancel",
            "params": {"sessionId": "session-1"}}))
        .await;
    let mut messages = client.receive_until(1).await;
    let answer = messages.pop().unwrap();
    assert_eq!(answer["result"], json!({"stopReason": "cancelled"}));
    assert!(messages.len() < 10_000, "{} updates", messages.len());
    let text = &messages.last().unwrap()["params"]["update"]["content"]["text"];
    assert_eq!(text, &"x".repeat(100), "no step is taken after it");
}
