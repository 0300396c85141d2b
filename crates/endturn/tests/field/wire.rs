//! What else goes wrong between two programs that exchange lines.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use endturn::{
    Agent, Client, UNKNOWN_VALUES,
    schema::{
        ProtocolVersion,
        v1::{InitializeRequest, NewSessionRequest, NewSessionResponse, StopReason},
    },
};
use endturn_testkit::RawPeer;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::common::connect_over;
use crate::support::{
    Seen, client_of, connect, ended, message, new_session, permission, prompt, prompted, result,
    stop_reason, stopped, text,
};

/// An agent that says what it was told.
fn echo() -> Agent {
    Agent::builder()
        .on_new_session(|_, _| async { Ok(NewSessionResponse::new("new")) })
        .on_prompt(|request, cx| async move {
            cx.send_message(text(&request)).await?;
            ended()
        })
        .build()
}

/// A turn that ends well, which proves that the connection goes on.
async fn goes_on(client: &Client, agent: &mut RawPeer) {
    let (answer, id) = prompted(client, agent, "proof", None).await;
    agent.send(stopped(id, "end_turn")).await;
    assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
}

/// The same, at the agent.
async fn agent_goes_on(client: &mut RawPeer) {
    client.send(prompt("proof", "proof", "x")).await;
    assert_eq!(client.receive().await, message("proof", "x"));
    assert_eq!(client.receive().await, stopped("proof", "end_turn"));
}

/// What is not JSON, and what it is taken for.
type Stray = Arc<Mutex<Vec<(String, &'static str)>>>;

/// A client that keeps what is not JSON.
async fn with_stray() -> (Client, RawPeer, Stray) {
    let stray = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&stray);
    let builder = Client::builder().on_stray_output(move |line, advice| {
        kept.lock().unwrap().push((line.to_owned(), advice));
    });
    let (client, agent) = connect(builder).await;
    (client, agent, stray)
}

#[tokio::test]
async fn w1_what_an_agent_prints_among_its_messages_is_shown_and_not_answered() {
    let (client, mut agent, stray) = with_stray().await;
    let printed = [
        "Loaded cached credentials.",
        "\u{1b}[2K\u{1b}[1G\u{1b}[33mwarning\u{1b}[0m no lockfile",
        "[INFO] {not json}",
    ];
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    agent.send_all(printed).await;
    agent.send(stopped(id, "end_turn")).await;
    assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
    for ((line, advice), expected) in stray.lock().unwrap().iter().zip(printed) {
        assert_eq!(line, expected);
        assert!(advice.contains("logs"), "{advice}");
    }
    assert_eq!(stray.lock().unwrap().len(), printed.len());
    assert!(agent.barrier().await.is_empty());
}

#[tokio::test]
async fn w2_headers_and_pretty_printed_json_are_skipped_at_both_ends() {
    let bytes = b"\n\r\nContent-Length: 57\r\n\r\n{\n  \"jsonrpc\": \"2.0\"\n}\n";
    let (client, mut agent, stray) = with_stray().await;
    agent.send_bytes(bytes).await;
    goes_on(&client, &mut agent).await;
    let stray = stray.lock().unwrap().clone();
    // Blank lines say nothing; the others say what is wrong with them.
    assert_eq!(stray.len(), 4, "{stray:?}");
    assert!(stray[0].1.contains("headers"), "{stray:?}");
    assert!(stray[1].1.contains("several lines"), "{stray:?}");

    let mut client = client_of(echo()).await;
    client.send_bytes(bytes).await;
    for _ in 0..4 {
        let answer = client.receive().await;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&Value::Null, &json!(-32700))
        );
    }
    agent_goes_on(&mut client).await;
}

#[tokio::test]
async fn w3_a_line_beyond_the_limit_costs_itself_and_not_the_connection() {
    let seen = Seen::default();
    let stray = Arc::new(Mutex::new(Vec::new()));
    let report = Arc::clone(&stray);
    let (client, mut agent) = connect(seen.watch(Client::builder().on_stray_output(
        move |line, advice| report.lock().unwrap().push((line.to_owned(), advice)),
    )))
    .await;
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    // An image of a few mebibytes is still an update.
    let image = "x".repeat(8 * 1024 * 1024);
    agent.send(message("a", &image)).await;
    let chunk = vec![b'x'; 1024 * 1024];
    for _ in 0..65 {
        agent.send_bytes(&chunk).await;
    }
    agent.send_bytes(b"\n").await;
    agent
        .send_all([message("a", "after it"), stopped(id, "end_turn")])
        .await;
    assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
    // Nobody knows what the line was, so nobody could answer it; but somebody is told.
    let advice = "a line is over the limit and was dropped";
    assert_eq!(*stray.lock().unwrap(), [(String::new(), advice)]);
    let seen = seen.so_far();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0].len(), image.len());
    assert_eq!(seen[1], "after it");
}

#[tokio::test]
async fn w4_a_character_that_two_reads_share_is_one_character() {
    let words = "ä€𝄞\u{2028}ü";
    let seen = Seen::default();
    let (client, mut agent) = connect(seen.watch(Client::builder())).await;
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    for byte in format!("{}\n{}\n", message("a", words), stopped(id, "end_turn")).bytes() {
        agent.send_bytes(&[byte]).await;
    }
    assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
    assert_eq!(seen.so_far(), [words]);

    let mut client = client_of(echo()).await;
    for byte in format!("{}\n", prompt(1, "a", words)).bytes() {
        client.send_bytes(&[byte]).await;
    }
    assert_eq!(client.receive().await, message("a", words));
}

#[tokio::test]
async fn w5_byte_order_mark_and_carriage_return_are_read_and_never_written() {
    let (mut client, transport) = RawPeer::pair();
    tokio::spawn(async move { echo().serve(transport).await });
    // The mark stands before everything else, so `initialize` begins with it.
    client.send_bytes("\u{feff}".as_bytes()).await;
    client.initialize().await;
    client
        .send_bytes(format!("{}\r\n", prompt(1, "a", "x")).as_bytes())
        .await;
    for expected in [message("a", "x"), stopped(1, "end_turn")] {
        let line = client.receive_line().await.unwrap();
        assert!(line.starts_with('{') && line.ends_with('}'), "{line:?}");
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), expected);
    }

    let (mut agent, transport) = RawPeer::pair();
    agent.send_bytes("\u{feff}".as_bytes()).await;
    let (client, mut agent) = connect_over(Client::builder(), (agent, transport)).await;
    let answer = tokio::spawn(client.prompt(crate::support::request("a", "x"), None));
    let line = agent.receive_line().await.unwrap();
    assert!(line.starts_with('{') && line.ends_with('}'), "{line:?}");
    let id = serde_json::from_str::<Value>(&line).unwrap()["id"].clone();
    agent
        .send_bytes(format!("{}\r\n", stopped(id, "end_turn")).as_bytes())
        .await;
    assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
}

#[tokio::test]
async fn w6_an_id_comes_back_as_it_was_sent_from_both_ends() {
    let ids = [
        json!(0),
        json!("0"),
        json!(-1),
        json!("a\u{1f}b"),
        json!(u64::MAX),
    ];
    let mut client = client_of(echo()).await;
    for id in &ids {
        client.send(new_session(id.clone())).await;
        assert_eq!(client.receive().await["id"], *id);
    }
    // Two that differ in nothing but their type are open at once.
    let (client, mut agent) =
        connect(Client::builder().on_permission(|_, _| std::future::pending())).await;
    let stop = endturn::CancellationSignal::new();
    let (answer, id) = prompted(&client, &mut agent, "a", Some(&stop)).await;
    for id in &ids {
        agent.send(permission(id.clone(), "a")).await;
    }
    assert!(agent.barrier().await.is_empty());
    stop.cancel();
    agent.receive().await;
    let mut answered = Vec::new();
    for _ in &ids {
        answered.push(agent.receive().await["id"].clone());
    }
    assert!(ids.iter().all(|id| answered.contains(id)), "{answered:?}");
    agent.send(stopped(id, "cancelled")).await;
    assert_eq!(stop_reason(answer).await, StopReason::Cancelled);
}

#[tokio::test]
async fn w7_what_this_version_does_not_know_costs_one_update_and_not_the_turn() {
    let seen = Seen::default();
    let (client, mut agent) = connect(seen.watch(Client::builder())).await;
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    let update = |update: Value| {
        json!({"jsonrpc": "2.0", "method": "session/update",
            "params": {"sessionId": "a", "update": update}})
    };
    agent
        .send_all([
            message("a", "before"),
            update(json!({"sessionUpdate": "hologram", "depth": 3})),
            update(json!({"sessionUpdate": "agent_message_chunk", "content": null})),
            update(json!({"sessionUpdate": "usage_update", "used": null, "size": 1})),
            update(json!({"sessionUpdate": "tool_call", "toolCallId": 5})),
            message("a", "after"),
            stopped(id, "end_turn"),
        ])
        .await;
    assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
    assert_eq!(seen.so_far(), ["before", "after"]);
}

#[tokio::test]
async fn w7_an_unknown_stop_reason_ends_its_turn_and_nothing_else() {
    let (client, mut agent) = connect(Client::builder()).await;
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    agent.send(stopped(id, "context_exhausted")).await;
    let response = answer.await.unwrap().unwrap();
    assert_eq!(response.stop_reason, StopReason::EndTurn);
    let unknown = &response.meta.unwrap()[UNKNOWN_VALUES];
    assert_eq!(unknown["stopReason"], "context_exhausted");
    goes_on(&client, &mut agent).await;
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    agent.send(stopped(id, "end_turn")).await;
    assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
}

#[tokio::test]
async fn w8_a_request_that_nobody_handles_is_answered_at_both_ends() {
    let unknown = json!({"jsonrpc": "2.0", "id": "q", "method": "terminal/create",
        "params": {"sessionId": "a", "command": "ls"}});
    let (client, mut agent) = connect(Client::builder()).await;
    agent.send(&unknown).await;
    let answer = agent.receive().await;
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!("q"), &json!(-32601))
    );
    goes_on(&client, &mut agent).await;

    let mut client = client_of(echo()).await;
    client.send(&unknown).await;
    let answer = client.receive().await;
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!("q"), &json!(-32601))
    );
    agent_goes_on(&mut client).await;
}

#[tokio::test]
async fn w9_updates_that_come_before_their_session_is_known_are_shown() {
    let seen = Seen::default();
    let (client, mut agent) = connect(seen.watch(Client::builder())).await;
    let new = tokio::spawn(client.new_session(NewSessionRequest::new("/")));
    let id = agent.receive().await["id"].clone();
    agent
        .send_all([
            message("new", "welcome"),
            result(id, json!({"sessionId": "new"})),
        ])
        .await;
    let session = new.await.unwrap().unwrap().session_id;
    let (answer, id) = prompted(&client, &mut agent, &session.0, None).await;
    agent.send(stopped(id, "end_turn")).await;
    assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
    assert_eq!(seen.so_far(), ["welcome"]);
}

#[tokio::test(start_paused = true)]
async fn w10_a_handshake_that_hangs_fails_in_time_and_says_what_was_awaited() {
    let hello = || InitializeRequest::new(ProtocolVersion::V1);
    let (client, _agent) = connect(Client::builder()).await;
    let start = Instant::now();
    let error = client.initialize(hello()).await.unwrap_err();
    assert_eq!(error.to_string(), "no answer to initialize within 60s");
    assert_eq!(start.elapsed(), Duration::from_secs(60));
    // A user who does not want to wait that long says so.
    let hurried = client.initialize(hello()).timeout(Duration::from_secs(5));
    let error = hurried.await.unwrap_err();
    assert!(error.is_timeout());
    assert_eq!(error.to_string(), "no answer to initialize within 5s");
    assert_eq!(start.elapsed(), Duration::from_secs(65));
}

#[tokio::test]
async fn w11_deep_nesting_costs_one_message_at_both_ends() {
    let deep =
        |open: &str, close: &str| format!("{}{}", open.repeat(200_000), close.repeat(200_000));
    let seen = Seen::default();
    let (client, mut agent) = connect(seen.watch(Client::builder())).await;
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    for meta in [deep("[", "]"), deep(r#"{"a":"#, "}").replace(":}", ":1}")] {
        agent
            .send(format!(
                r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"a","_meta":{meta}}}}}"#
            ))
            .await;
        agent.send(&meta).await;
    }
    agent
        .send_all([message("a", "flat"), stopped(id, "end_turn")])
        .await;
    assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
    assert_eq!(seen.so_far(), ["flat"]);

    let mut client = client_of(echo()).await;
    let meta = deep("[", "]");
    client
        .send(format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{{"sessionId":"a","prompt":{meta}}}}}"#
        ))
        .await;
    let answer = client.receive().await;
    assert!(answer["error"]["code"].is_number(), "{answer}");
    agent_goes_on(&mut client).await;
}

#[tokio::test]
async fn w12_the_end_of_input_ends_both_loops_once() {
    let (mut client, transport) = RawPeer::pair();
    let served = tokio::spawn(async move { echo().serve(transport).await });
    client.initialize().await;
    // The last line has no end, and is a message all the same.
    let line = new_session(1).to_string();
    client.send_bytes(line.as_bytes()).await;
    client.hang_up();
    served.await.unwrap().unwrap();
    while client.receive_line().await.is_some() {}

    let (client, mut agent) = connect(Client::builder()).await;
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    let (other, _) = prompted(&client, &mut agent, "b", None).await;
    agent
        .send_bytes(stopped(id, "end_turn").to_string().as_bytes())
        .await;
    agent.hang_up();
    assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
    assert!(other.await.unwrap().unwrap_err().is_connection_lost());
    assert!(client.closed().await.is_connection_lost());
    assert_eq!(agent.receive_line().await, None);
    let late = client.new_session(NewSessionRequest::new("/")).await;
    assert!(late.unwrap_err().is_connection_lost());
}
