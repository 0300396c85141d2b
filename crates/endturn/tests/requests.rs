//! Requests from inside a turn, and what becomes of them when it is cancelled or over.

mod common;

use std::time::Duration;

use common::{
    cancel, cancel_request, client_of, connect, initialized, message, prompt, result, stopped,
};
use endturn::{
    Agent, CancellationSignal, Client, ErrorKind, PromptContext,
    agent::AgentBuilder,
    request::{Request, ToAgent, ToClient},
    schema::v1::{
        NewSessionRequest, NewSessionResponse, PermissionOption, PromptRequest, PromptResponse,
        ReadTextFileRequest, ReadTextFileResponse, RequestPermissionRequest, StopReason,
        ToolCallUpdate, ToolCallUpdateFields,
    },
};
use endturn_testkit::RawPeer;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::mpsc;

fn read(cx: &PromptContext) -> ReadTextFileRequest {
    ReadTextFileRequest::new(cx.session_id().clone(), "/a")
}

fn ended() -> PromptResponse {
    PromptResponse::new(StopReason::EndTurn)
}

/// An agent whose turns read a file and say what they got.
fn reading() -> AgentBuilder {
    Agent::builder().on_prompt(|_, cx: PromptContext| async move {
        let said = match cx.request(&read(&cx)).await {
            Ok(response) => response.content,
            Err(error) => error.to_string(),
        };
        cx.send_message(said).await?;
        Ok(ended())
    })
}

/// The id of the agent's request to read the file.
async fn asked(client: &mut RawPeer) -> Value {
    let asked = client.receive().await;
    assert_eq!(asked["method"], "fs/read_text_file");
    assert_eq!(asked["params"], json!({"sessionId": "a", "path": "/a"}));
    asked["id"].clone()
}

#[tokio::test]
async fn a_request_gives_the_peers_answer() {
    let mut client = client_of(reading().build()).await;
    client.send(prompt(1, "a", "x")).await;
    let id = asked(&mut client).await;
    client.send(result(id, json!({"content": "text"}))).await;
    assert_eq!(client.receive().await, message("a", "text"));
    assert_eq!(client.receive().await, stopped(1, "end_turn"));

    client.send(prompt(2, "a", "x")).await;
    let id = asked(&mut client).await;
    client
        .send(json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32002, "message": "no file"}}))
        .await;
    let said = "fs/read_text_file was answered with error -32002: no file";
    assert_eq!(client.receive().await, message("a", said));
}

/// A request that is not the protocol's.
#[derive(Serialize, Deserialize)]
struct Ping {
    number: u32,
}

impl Request for Ping {
    const METHOD: &'static str = "_test/ping";
    type Response = Ping;
}
impl ToClient for Ping {}
impl ToAgent for Ping {}

#[tokio::test]
async fn any_request_can_be_handled_by_its_type_at_both_ends() {
    let agent = reading()
        .on_request_blocking(|ping: Ping, _| {
            Ok(Ping {
                number: ping.number + 1,
            })
        })
        .on_new_session(|_, cx| async move {
            let pong = cx.request(&Ping { number: 10 }).await?;
            Ok(NewSessionResponse::new(pong.number.to_string()))
        })
        .build();
    let (near, far) = endturn::transport::memory();
    tokio::spawn(async move { agent.serve(far).await });
    let builder = Client::builder()
        .on_request(|ping: Ping, _| async move {
            Ok(Ping {
                number: ping.number + 1,
            })
        })
        .on_request(|read: ReadTextFileRequest, _| async move {
            Ok(ReadTextFileResponse::new(read.path.display().to_string()))
        });
    let client = initialized(builder, near).await;
    assert_eq!(client.request(&Ping { number: 1 }).await.unwrap().number, 2);
    let session = client
        .new_session(NewSessionRequest::new("/"))
        .await
        .unwrap();
    assert_eq!(&*session.session_id.0, "11");
    let prompt = PromptRequest::new("a", Vec::new());
    client.prompt(prompt, None).await.unwrap();
}

#[tokio::test]
async fn nested_requests_open_at_the_cancel_get_one_cancel_request_and_are_waited_for() {
    let mut client = client_of(reading().build()).await;
    client.send(prompt(1, "a", "x")).await;
    let id = asked(&mut client).await;
    client.send_all([cancel("a"), cancel("a")]).await;
    assert_eq!(client.receive().await, cancel_request(id.clone()));
    assert!(client.barrier().await.is_empty(), "keep-waiting");
    client
        .send(result(id, json!({"content": "late but welcome"})))
        .await;
    assert_eq!(client.receive().await, message("a", "late but welcome"));
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
}

#[tokio::test]
async fn nested_new_requests_are_allowed_after_the_cancel() {
    let agent = Agent::builder()
        .on_prompt(|_, cx: PromptContext| async move {
            cx.cancelled().await;
            let response = cx.request(&read(&cx)).await?;
            cx.send_message(response.content).await?;
            Ok(ended())
        })
        .build();
    let mut client = client_of(agent).await;
    client.send_all([prompt(1, "a", "x"), cancel("a")]).await;
    let id = asked(&mut client).await;
    assert!(client.barrier().await.is_empty());
    client
        .send(result(id, json!({"content": "clean-up"})))
        .await;
    assert_eq!(client.receive().await, message("a", "clean-up"));
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
}

#[tokio::test]
async fn nested_the_cascade_can_be_switched_off() {
    let mut client = client_of(reading().cascade_cancel(false).build()).await;
    client.send(prompt(1, "a", "x")).await;
    let id = asked(&mut client).await;
    client.send(cancel("a")).await;
    assert!(client.barrier().await.is_empty());
    // The end of the turn is another matter.
    client.send(cancel_request(1)).await;
    assert_eq!(client.receive().await, cancel_request(id));
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
}

#[tokio::test]
async fn nested_requests_do_not_outlive_their_turn() {
    let (outcome, mut outcomes) = mpsc::unbounded_channel();
    let agent = Agent::builder()
        .on_prompt(move |_, cx: PromptContext| {
            let outcome = outcome.clone();
            async move {
                let (sent, mut is_sent) = mpsc::unbounded_channel();
                let other = cx.clone();
                tokio::spawn(async move {
                    let call = other.request(&read(&other));
                    sent.send(()).unwrap();
                    outcome.send(call.await.unwrap_err().kind()).unwrap();
                    let late = other.request(&read(&other)).await;
                    outcome.send(late.unwrap_err().kind()).unwrap();
                });
                is_sent.recv().await;
                // The other task has its request on the wire when this one is told of its arrival.
                cx.request_raw::<Value>("_arrived", &json!({})).await?;
                Ok(ended())
            }
        })
        .build();
    let mut client = client_of(agent).await;
    client.send(prompt(1, "a", "x")).await;
    let mut ids = std::collections::HashMap::new();
    for _ in 0..2 {
        let asked = client.receive().await;
        ids.insert(asked["method"].to_string(), asked["id"].clone());
    }
    client
        .send(result(ids["\"_arrived\""].clone(), json!({})))
        .await;
    assert_eq!(
        client.receive().await,
        cancel_request(ids["\"fs/read_text_file\""].clone())
    );
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    assert_eq!(outcomes.recv().await, Some(ErrorKind::TurnEnded));
    assert_eq!(outcomes.recv().await, Some(ErrorKind::TurnEnded));
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn give_up_dropping_a_request_sends_one_cancel_request_and_a_late_answer_is_discarded() {
    let agent = Agent::builder()
        .on_prompt(|_, cx: PromptContext| async move {
            // Never polled: never sent.
            drop(cx.request(&read(&cx)));
            let mut call = cx.request(&read(&cx));
            tokio::select! {
                biased;
                _ = &mut call => unreachable!("nobody answers"),
                () = std::future::ready(()) => {}
            }
            drop(call);
            cx.send_message("dropped").await?;
            cx.cancelled().await;
            Ok(ended())
        })
        .build();
    let mut client = client_of(agent).await;
    client.send(prompt(1, "a", "x")).await;
    let id = asked(&mut client).await;
    assert_eq!(client.receive().await, cancel_request(id.clone()));
    assert_eq!(client.receive().await, message("a", "dropped"));
    client.send(result(id, json!({"content": "late"}))).await;
    client.send(cancel("a")).await;
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
}

#[tokio::test(start_paused = true)]
async fn request_timeout_is_a_minute_and_does_not_apply_to_questions_for_a_person() {
    let agent = Agent::builder()
        .on_prompt(|_, cx: PromptContext| async move {
            let error = cx.request(&read(&cx)).await.unwrap_err();
            assert!(error.is_timeout());
            cx.send_message(error.to_string()).await?;
            let call = ToolCallUpdate::new("t", ToolCallUpdateFields::new());
            let options: Vec<PermissionOption> = Vec::new();
            let ask = RequestPermissionRequest::new(cx.session_id().clone(), call, options);
            cx.request_permission(ask).await?;
            Ok(ended())
        })
        .build();
    let mut client = client_of(agent).await.limit(Duration::from_secs(10_000));
    client.send(prompt(1, "a", "x")).await;
    let start = tokio::time::Instant::now();
    let id = asked(&mut client).await;
    assert_eq!(client.receive().await, cancel_request(id));
    assert_eq!(start.elapsed().as_secs(), 60);
    let said = "no answer to fs/read_text_file within 60s";
    assert_eq!(client.receive().await, message("a", said));
    let question = client.receive().await;
    assert_eq!(question["method"], "session/request_permission");
    tokio::time::advance(Duration::from_secs(3600)).await;
    assert!(client.barrier().await.is_empty());
    let outcome = json!({"outcome": {"outcome": "cancelled"}});
    client.send(result(question["id"].clone(), outcome)).await;
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
}

#[tokio::test]
async fn keep_waiting_a_signal_cancels_the_request_and_the_answer_still_counts() {
    let (client, mut agent) = connect(Client::builder()).await;
    let stop = CancellationSignal::new();
    let new = tokio::spawn(
        client
            .new_session(NewSessionRequest::new("/"))
            .cancel_when(&stop),
    );
    let id = agent.receive().await["id"].clone();
    stop.cancel();
    assert_eq!(agent.receive().await, cancel_request(id.clone()));
    agent
        .send(result(id, json!({"sessionId": "made all the same"})))
        .await;
    let session = new.await.unwrap().unwrap().session_id;
    assert_eq!(&*session.0, "made all the same");
    // A signal that is cancelled already lets the request out first.
    let new = tokio::spawn(
        client
            .new_session(NewSessionRequest::new("/"))
            .cancel_when(&stop),
    );
    let id = agent.receive().await["id"].clone();
    assert_eq!(agent.receive().await, cancel_request(id.clone()));
    agent
        .send(json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32800, "message": "x"}}))
        .await;
    assert!(new.await.unwrap().unwrap_err().is_cancelled());
    assert!(agent.barrier().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn request_timeout_can_be_set_for_one_call() {
    let (client, mut agent) = connect(Client::builder()).await;
    let start = tokio::time::Instant::now();
    let call = client
        .new_session(NewSessionRequest::new("/"))
        .timeout(Duration::from_secs(5));
    assert!(call.await.unwrap_err().is_timeout());
    assert_eq!(start.elapsed().as_secs(), 5);
    let id = agent.receive().await["id"].clone();
    assert_eq!(agent.receive().await, cancel_request(id));
}
