//! An agent in a process of its own, driven through a whole turn.
#![cfg(feature = "process")]

use std::path::PathBuf;

use endturn::{
    CancellationSignal, Client,
    schema::{
        ProtocolVersion,
        v1::{
            ContentBlock, InitializeRequest, NewSessionRequest, PromptRequest, SessionUpdate,
            StopReason, TextContent,
        },
    },
    transport::{AgentCommand, AgentProcess, Transport},
};
use tokio::sync::mpsc;

/// Starts the example agent, which cargo has built beside the tests.
fn example_agent() -> (AgentProcess, Transport) {
    let tests = std::env::current_exe().unwrap();
    let mut program: PathBuf = tests
        .parent()
        .and_then(|deps| deps.parent())
        .unwrap()
        .into();
    program.push("examples");
    program.push(format!(
        "cancellation_agent{}",
        std::env::consts::EXE_SUFFIX
    ));
    AgentCommand::new(program).spawn().unwrap()
}

fn long_task(session: &str) -> PromptRequest {
    let text = ContentBlock::Text(TextContent::new("Do a long task"));
    PromptRequest::new(session.to_owned(), vec![text])
}

/// A client of the agent, and what the agent says.
async fn connect(transport: Transport) -> (Client, mpsc::UnboundedReceiver<String>) {
    let (said, words) = mpsc::unbounded_channel();
    let client = Client::builder()
        .on_update(move |notification, _| {
            if let SessionUpdate::AgentMessageChunk(chunk) = notification.update
                && let ContentBlock::Text(text) = chunk.content
            {
                said.send(text.text).ok();
            }
            async {}
        })
        .connect(transport);
    let version = ProtocolVersion::V1;
    client
        .initialize(InitializeRequest::new(version))
        .await
        .unwrap();
    client
        .new_session(NewSessionRequest::new("/"))
        .await
        .unwrap();
    (client, words)
}

#[tokio::test]
async fn a_cancelled_turn_between_two_processes() {
    let (agent, transport) = example_agent();
    let (client, mut words) = connect(transport).await;
    let stop = CancellationSignal::new();
    let answer = tokio::spawn(client.prompt(long_task("session-1"), &stop));
    assert_eq!(words.recv().await.unwrap(), "Step 1/10... ");
    stop.cancel();
    assert_eq!(
        answer.await.unwrap().unwrap().stop_reason,
        StopReason::Cancelled
    );
    assert_eq!(words.recv().await.unwrap(), "[Cancelled at step 2]");
    // The session is free again.
    let stop = CancellationSignal::new();
    stop.cancel();
    let response = client.prompt(long_task("session-1"), &stop).await.unwrap();
    assert_eq!(response.stop_reason, StopReason::Cancelled);
    assert_eq!(words.recv().await.unwrap(), "[Cancelled at step 1]");

    drop(client);
    assert!(agent.stop().await.unwrap().success());
}

#[tokio::test]
async fn settled_when_the_agent_is_killed_in_the_middle_of_a_turn() {
    let (agent, transport) = example_agent();
    let (client, mut words) = connect(transport).await;
    let answer = tokio::spawn(client.prompt(long_task("session-1"), None));
    words.recv().await.unwrap();
    agent.kill();
    let error = answer.await.unwrap().unwrap_err();
    assert!(error.is_connection_lost());
    assert!(!agent.wait().await.unwrap().success());
}

#[tokio::test]
async fn an_agent_ends_with_its_input_although_a_turn_is_running() {
    let (agent, transport) = example_agent();
    let (client, mut words) = connect(transport).await;
    let answer = tokio::spawn(client.prompt(long_task("session-1"), None));
    words.recv().await.unwrap();
    client.close();
    assert!(answer.await.unwrap().unwrap_err().is_connection_lost());
    // By itself, so with success: nobody had to send it a signal.
    assert!(agent.wait().await.unwrap().success());
}
