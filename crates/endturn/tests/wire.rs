//! What is and what is not a message, and what is answered to it, at both ends.

mod common;

use std::sync::{Arc, Mutex};

use common::{cancel_request, client_of, connect, message, prompt, result, stopped};
use endturn::{
    Agent, Client, HandlerResult,
    schema::v1::{
        ContentBlock, InitializeRequest, NewSessionRequest, NewSessionResponse, PromptRequest,
        PromptResponse, StopReason, TextContent,
    },
};
use endturn_testkit::RawPeer;
use serde_json::{Value, json};
use tokio::sync::oneshot;

fn agent() -> Agent {
    Agent::builder()
        .on_new_session(|request: NewSessionRequest, _| async move {
            if request.cwd.starts_with("/hang") {
                std::future::pending::<()>().await;
            }
            Ok(NewSessionResponse::new("new"))
        })
        .on_prompt(|_: PromptRequest, _| async move {
            HandlerResult::Ok(PromptResponse::new(StopReason::EndTurn))
        })
        .build()
}

fn new_session(id: impl Into<Value>, cwd: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "session/new",
        "params": {"cwd": cwd, "mcpServers": []}})
}

#[tokio::test]
async fn errors_are_answered_as_json_rpc_wants_it_and_do_not_end_the_connection() {
    let mut client = client_of(agent()).await;
    for (line, id, code) in [
        ("hello", Value::Null, -32700),
        (r#"{"jsonrpc":"2.0","id":1,"method":"#, Value::Null, -32700),
        ("[]", Value::Null, -32600),
        ("17", Value::Null, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, Value::Null, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, json!(1), -32600),
        (
            r#"{"jsonrpc":"2.0","id":[1],"method":"m"}"#,
            Value::Null,
            -32600,
        ),
        (
            r#"{"jsonrpc":"3.0","id":"a","method":"m"}"#,
            json!("a"),
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#,
            json!(1),
            -32601,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt"}"#,
            json!(1),
            -32602,
        ),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"initialize"}]"#,
            Value::Null,
            -32600,
        ),
    ] {
        client.send(line).await;
        let answer = client.receive().await;
        assert_eq!(answer["id"], id, "{line}");
        assert_eq!(answer["error"]["code"], code, "{line}");
    }
    // A notification never gets an answer, whatever is wrong with it.
    for line in [
        r#"{"jsonrpc":"2.0","method":"no/such"}"#,
        r#"{"jsonrpc":"2.0","method":"session/prompt","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":[]}"#,
        r#"{"jsonrpc":"2.0","method":"session/new","params":{"cwd":"/"}}"#,
    ] {
        client.send(line).await;
    }
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn errors_in_parameters_name_the_field() {
    let mut client = client_of(agent()).await;
    for (params, field, reason) in [
        (json!({"prompt": []}), "params", "missing field `sessionId`"),
        (
            json!({"sessionId": 5, "prompt": []}),
            "sessionId",
            "invalid type: integer `5`",
        ),
        (
            json!({"sessionId": "a", "prompt": [{"type": "text"}]}),
            "prompt[0]",
            "missing field `text`",
        ),
        (
            json!({"sessionId": "a", "prompt": {}}),
            "prompt",
            "invalid type: map",
        ),
        (json!([]), "params", "invalid length 0"),
    ] {
        client
            .send(json!({"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": params}))
            .await;
        let error = client.receive().await["error"].clone();
        assert_eq!(error["code"], -32602, "{params}");
        assert_eq!(error["data"]["field"], field, "{error}");
        assert!(
            error["data"]["reason"]
                .as_str()
                .unwrap()
                .starts_with(reason),
            "{error}"
        );
    }
    // A prompt that cannot be read does not make the session busy.
    client.send(prompt(2, "a", "x")).await;
    assert_eq!(client.receive().await, stopped(2, "end_turn"));
}

#[tokio::test]
async fn ids_come_back_with_their_type_and_value() {
    let mut client = client_of(agent()).await;
    for id in [
        "1",
        "\"1\"",
        "-7",
        "\"\"",
        "\"ä\\n\"",
        "null",
        "1.5",
        "12345678901234567890",
    ] {
        client
            .send(format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"session/new","params":{{"cwd":"/","mcpServers":[]}}}}"#
            ))
            .await;
        assert_eq!(
            client.receive_line().await.unwrap(),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"sessionId":"new"}}}}"#)
        );
    }
}

#[tokio::test]
async fn cancel_received_a_request_is_answered_once_and_its_handler_dropped() {
    let (dropped, was_dropped) = oneshot::channel::<()>();
    let dropped = Mutex::new(Some(dropped));
    let agent = Agent::builder()
        .on_new_session(move |_, cx| {
            let dropped = dropped.lock().unwrap().take();
            async move {
                let _dropped = dropped;
                assert!(!cx.is_cancelled());
                std::future::pending().await
            }
        })
        .build();
    let mut client = client_of(agent).await;
    client.send(new_session("a", "/")).await;
    client.send(cancel_request("b")).await;
    assert!(client.barrier().await.is_empty());
    client
        .send_all([cancel_request("a"), cancel_request("a")])
        .await;
    assert_eq!(
        client.receive().await,
        json!({"jsonrpc": "2.0", "id": "a",
            "error": {"code": -32800, "message": "Request cancelled"}})
    );
    was_dropped.await.unwrap_err();
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn an_id_that_is_open_is_not_taken_twice() {
    let mut client = client_of(agent()).await;
    client.send(new_session(1, "/hang")).await;
    client.send(prompt(1, "a", "x")).await;
    assert_eq!(client.receive().await["error"]["code"], -32600);
    // The session was not made busy by it.
    client.send(prompt(2, "a", "x")).await;
    assert_eq!(client.receive().await, stopped(2, "end_turn"));
    client.send(cancel_request(1)).await;
    assert_eq!(client.receive().await["error"]["code"], -32800);
}

#[tokio::test]
async fn always_answered_when_a_request_handler_panics() {
    let agent = Agent::builder()
        .on_new_session(|_, _| async { panic!("as the test wants it") })
        .build();
    let mut client = client_of(agent).await;
    client.send(new_session(1, "/")).await;
    assert_eq!(client.receive().await["error"]["code"], -32603);
}

#[tokio::test]
async fn w2_headers_pretty_printed_json_and_blank_lines_are_skipped() {
    let mut client = client_of(agent()).await;
    client
        .send_bytes(b"\n   \n\r\nContent-Length: 20\r\n{\n\"id\": 1\n}\n")
        .await;
    for _ in 0..4 {
        assert_eq!(client.receive().await["error"]["code"], -32700);
    }
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn w3_an_over_long_line_is_dropped_and_the_connection_goes_on() {
    let mut client = client_of(agent()).await;
    w3_over_long(&mut client, 64 * 1024 * 1024).await;
    let low = Agent::builder()
        .line_limit(1000)
        .on_prompt(|_, _| async { Ok(PromptResponse::new(StopReason::EndTurn)) });
    w3_over_long(&mut client_of(low.build()).await, 1000).await;
}

async fn w3_over_long(client: &mut RawPeer, limit: usize) {
    let long = vec![b'x'; limit];
    client.send_bytes(b"{").await;
    client.send_bytes(&long).await;
    client.send_bytes(b"\n").await;
    let answer = client.receive().await;
    assert_eq!(answer["error"]["code"], -32600);
    assert_eq!(answer["id"], Value::Null);
    client.send(prompt(1, "a", "x")).await;
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
}

#[tokio::test]
async fn w4_w5_bytes_may_come_in_any_pieces_with_mark_and_carriage_return() {
    let agent = Agent::builder()
        .on_prompt(|request, cx| async move {
            let ContentBlock::Text(text) = &request.prompt[0] else {
                panic!("another block");
            };
            cx.send_message(text.text.clone()).await?;
            Ok(PromptResponse::new(StopReason::EndTurn))
        })
        .build();
    let (mut client, transport) = RawPeer::pair();
    tokio::spawn(async move { agent.serve(transport).await });
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"protocolVersion": 1}});
    let lines = format!("\u{feff}{hello}\r\n{}\r\n", prompt(1, "a", "ä€𝄞"));
    for byte in lines.as_bytes() {
        client.send_bytes(&[*byte]).await;
    }
    assert_eq!(client.receive().await["result"]["protocolVersion"], 1);
    assert_eq!(client.receive().await, message("a", "ä€𝄞"));
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
}

#[tokio::test]
async fn w7_w11_what_cannot_be_read_costs_one_message() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let builder = Client::builder().on_update({
        let seen = Arc::clone(&seen);
        move |notification, _| {
            seen.lock()
                .unwrap()
                .push(format!("{:?}", notification.update));
            async {}
        }
    });
    let (client, mut agent) = connect(builder).await;
    let text = TextContent::new("x");
    let request = PromptRequest::new("a", vec![ContentBlock::Text(text)]);
    let answer = tokio::spawn(client.prompt(request, None));
    let id = agent.receive().await["id"].clone();
    let update = |update: Value| {
        json!({"jsonrpc": "2.0", "method": "session/update",
            "params": {"sessionId": "a", "update": update}})
    };
    let deep = format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"a","update":{}{}}}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    agent.send(deep).await;
    agent
        .send_all([
            update(json!({"sessionUpdate": "of_the_future"})),
            update(json!({"sessionUpdate": "usage_update", "used": null, "size": 1})),
            json!({"jsonrpc": "2.0", "method": "session/update"}),
            message("a", "fine"),
            stopped(id, "end_turn"),
        ])
        .await;
    answer.await.unwrap().unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 1, "{seen:?}");
}

#[tokio::test]
async fn w8_a_request_that_nobody_handles_is_answered() {
    let (_client, mut agent) = connect(Client::builder()).await;
    agent
        .send(
            json!({"jsonrpc": "2.0", "id": 1, "method": "fs/read_text_file",
            "params": {"sessionId": "a", "path": "/x"}}),
        )
        .await;
    assert_eq!(agent.receive().await["error"]["code"], -32601);
}

#[tokio::test]
async fn w1_w9_text_among_the_messages_is_shown_and_early_updates_are_delivered() {
    let stray = Arc::new(Mutex::new(Vec::new()));
    let (update, updated) = oneshot::channel();
    let update = Mutex::new(Some(update));
    let builder = Client::builder()
        .on_stray_output({
            let stray = Arc::clone(&stray);
            move |line, advice| {
                assert!(!advice.is_empty());
                stray.lock().unwrap().push(line.to_owned());
            }
        })
        .on_update(move |notification, _| {
            let update = update.lock().unwrap().take().unwrap();
            update.send(notification.session_id).unwrap();
            async {}
        });
    let (client, mut agent) = connect(builder).await;
    let new = tokio::spawn(async move { client.new_session(NewSessionRequest::new("/")).await });
    let id = agent.receive().await["id"].clone();
    agent.send("Loaded cached credentials.").await;
    agent.send("\u{1b}[31mred\u{1b}[0m").await;
    agent.send_bytes(b"\xff\xfe\n").await;
    // JSON, but no message: a client does not answer these either.
    agent.send("42").await;
    agent.send("[]").await;
    assert!(agent.barrier().await.is_empty());
    agent.send(message("new", "early")).await;
    agent.send(result(id, json!({"sessionId": "new"}))).await;
    assert_eq!(&*updated.await.unwrap().0, "new");
    new.await.unwrap().unwrap();
    let stray = stray.lock().unwrap();
    assert_eq!(stray[0], "Loaded cached credentials.");
    assert_eq!(stray.len(), 5, "{stray:?}");
}

#[tokio::test]
async fn initialize_is_answered_by_default() {
    let mut client = client_of(agent()).await;
    client
        .send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {"protocolVersion": 1, "clientCapabilities": {"future": true}}}))
        .await;
    let answer = client.receive().await;
    assert_eq!(answer["result"]["protocolVersion"], 1);
    // The version string of another protocol is an error of the request, not of the connection.
    client
        .send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {"protocolVersion": {}}}))
        .await;
    let answer = client.receive().await;
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(answer["error"]["data"]["field"], "protocolVersion");
}

#[tokio::test]
async fn initialize_gives_what_the_agent_offers() {
    let (near, far) = endturn::transport::memory();
    let agent = endturn_testkit::scripted::agent().build();
    tokio::spawn(async move { agent.serve(far).await });
    let client = Client::builder().connect(near);
    let version = endturn::schema::ProtocolVersion::V1;
    let response = client
        .initialize(InitializeRequest::new(version))
        .await
        .unwrap();
    assert_eq!(response.protocol_version, version);
    assert_eq!(response.agent_info.unwrap().name, "endturn-scripted");
}
