//! The handshake comes first.

use super::*;

#[tokio::test]
async fn a_client_sends_nothing_before_initialize_is_answered() {
    let (mut agent, transport) = RawPeer::pair();
    let client = Client::builder().connect(transport);
    let not_yet = |error: Error| {
        assert_eq!(error.kind(), ErrorKind::NotInitialized, "{error}");
        assert_eq!(error.origin(), ErrorOrigin::Local);
    };
    let refused = async || {
        for (method, _, call) in calls(&client) {
            not_yet(call.await.expect_err(method));
        }
        let raw = client.request_raw::<Value>("_raw", &json!({}));
        not_yet(raw.await.unwrap_err());
        not_yet(client.notify_raw("_raw", &json!({})).await.unwrap_err());
        not_yet(client.notify(&Told { number: 1 }).await.unwrap_err());
        not_yet(client.agent().unwrap_err());
        client.cancel(&"a".to_owned().into());
    };
    refused().await;
    assert!(agent.barrier().await.is_empty());
    let hello = tokio::spawn({
        let client = client.clone();
        async move { initialize(&client).await }
    });
    let asked = agent.receive().await;
    refused().await;
    assert!(agent.barrier().await.is_empty());
    // An agent that refuses is not one that has answered.
    agent
        .send(json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32603, "message": "no"}}))
        .await;
    assert_eq!(hello.await.unwrap().unwrap_err().code(), Some(-32603));
    refused().await;
    assert!(agent.barrier().await.is_empty());
    // It can try again.
    let (again, _) = tokio::join!(initialize(&client), agent.accept_initialize());
    again.unwrap();
    let new = tokio::spawn(client.new_session(NewSessionRequest::new("/")));
    assert_eq!(agent.receive().await["method"], "session/new");
    new.abort();
}

/// That a request was refused since it came too early.
fn too_early(answer: &Value) {
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    let reason = &answer["error"]["data"]["reason"];
    assert_eq!(reason, "initialize has to come first", "{answer}");
}

#[tokio::test]
async fn an_agent_refuses_every_request_before_initialize() {
    let mut client = stranger_of(handles_all().build());
    for (method, params, _) in to_agent() {
        client.send(request(method, method, params)).await;
        let answer = client.receive().await;
        assert_eq!(answer["id"], method);
        too_early(&answer);
    }
    // One that cannot be read does not count.
    let bad = json!({"protocolVersion": {}});
    client.send(request(1, "initialize", bad)).await;
    assert_eq!(client.receive().await["error"]["code"], -32602);
    client.send(prompt(2, "a", "x")).await;
    too_early(&client.receive().await);
    client.initialize().await;
    // Nothing is left of what came too early.
    for (method, params, _) in to_agent() {
        client.send(request(method, method, params)).await;
        let answer = client.receive().await;
        assert_eq!(answer["id"], method);
        assert_eq!(answer.get("error"), None, "{answer}");
    }
}

#[tokio::test]
async fn what_an_agent_does_not_know_or_cannot_read_comes_too_early_as_well() {
    let mut client = stranger_of(handles_all().build());
    for (method, params) in [
        ("session/prompt", json!({})),
        ("session/new", json!({"cwd": 5})),
        ("session/close", json!({})),
        ("no/such", json!({})),
    ] {
        client.send(request(1, method, params)).await;
        too_early(&client.receive().await);
    }
}

#[tokio::test(start_paused = true)]
async fn initialize_and_the_first_requests_can_come_in_one_write() {
    for builder in [
        handles_all(),
        // The handler takes its time, and nobody has to wait for it.
        handles_all().on_initialize(|request, _| async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            Ok(InitializeResponse::new(request.protocol_version))
        }),
    ] {
        let mut client = stranger_of(builder.build());
        client
            .send_all([
                request(0, "initialize", json!({"protocolVersion": 1})),
                request(1, "session/new", json!({"cwd": "/", "mcpServers": []})),
                prompt(2, "new", "x"),
            ])
            .await;
        let mut answers = Vec::new();
        for _ in 0..3 {
            answers.push(client.receive().await);
        }
        answers.sort_by_key(|answer| answer["id"].as_i64());
        assert_eq!(answers[0]["result"]["protocolVersion"], 1);
        assert_eq!(answers[1], result(1, json!({"sessionId": "new"})));
        assert_eq!(answers[2], stopped(2, "end_turn"));
    }
}
