//! What users saw agents do that are processes: hide, hang, and die.
//!
//! Where a test must know that processes are gone, they hold a named pipe open, and its end of input is the proof.

use std::{io, os::unix::process::ExitStatusExt, path::PathBuf, time::Duration};

use endturn::{
    CancellationSignal, Client,
    schema::{
        ProtocolVersion,
        v1::{InitializeRequest, NewSessionRequest, StopReason},
    },
    transport::{AgentCommand, AgentProcess, Stderr},
};
use tokio::{io::AsyncReadExt, net::unix::pipe, sync::mpsc, time::timeout};

use crate::support::request;

/// How long a test waits for something that must happen.
const PATIENCE: Duration = Duration::from_secs(20);
/// For limits that must not matter.
const HOUR: Duration = Duration::from_secs(3600);
/// For limits that must.
const SOON: Duration = Duration::from_millis(50);

async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(PATIENCE, future).await.expect("it takes too long")
}

/// The example agent, which cargo has built beside the tests.
fn example_agent() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let target = tests.parent().and_then(|deps| deps.parent()).unwrap();
    target.join("examples").join("cancellation_agent")
}

/// A launcher, as `npx` and `uvx` are: a process that starts the agent and waits for it.
fn launched(script: &str, lifeline: &Lifeline) -> AgentCommand {
    AgentCommand::new("sh")
        .args(["-c", &format!("exec 9>\"$LIFELINE\"; {script}")])
        .env("LIFELINE", &lifeline.path)
        .env("AGENT", example_agent())
        .exit_timeout(HOUR)
        .terminate_timeout(HOUR)
}

/// A named pipe that the processes under test hold open.
struct Lifeline {
    path: PathBuf,
    reader: pipe::Receiver,
}

impl Lifeline {
    fn new(name: &str) -> io::Result<Self> {
        let path = std::env::temp_dir().join(format!("endturn-{name}-{}", std::process::id()));
        let made = std::process::Command::new("mkfifo").arg(&path).status()?;
        assert!(made.success());
        let reader = pipe::OpenOptions::new().open_receiver(&path)?;
        Ok(Self { path, reader })
    }

    /// Waits until none of the processes is left.
    async fn cut(mut self) {
        within(self.reader.read_to_end(&mut Vec::new()))
            .await
            .unwrap();
    }
}

impl Drop for Lifeline {
    fn drop(&mut self) {
        std::fs::remove_file(&self.path).ok();
    }
}

/// A client in the middle of a turn of the example agent, as far as its first update.
async fn in_a_turn(
    command: &AgentCommand,
) -> (
    AgentProcess,
    Client,
    CancellationSignal,
    crate::support::Answer,
) {
    let (agent, transport) = command.spawn().unwrap();
    let (shown, mut updates) = mpsc::unbounded_channel();
    let client = Client::builder()
        .on_update(move |_, _| {
            shown.send(()).ok();
            async {}
        })
        .connect(transport);
    let hello = InitializeRequest::new(ProtocolVersion::V1);
    within(client.initialize(hello)).await.unwrap();
    let new = within(client.new_session(NewSessionRequest::new("/"))).await;
    let stop = CancellationSignal::new();
    let session = new.unwrap().session_id;
    let answer = tokio::spawn(client.prompt(request(&session.0, "Do a long task"), &stop));
    within(updates.recv()).await.unwrap();
    (agent, client, stop, answer)
}

#[tokio::test]
async fn c24_an_agent_behind_a_launcher_is_cancelled_and_leaves_with_it() {
    let lifeline = Lifeline::new("launcher").unwrap();
    let command = launched("\"$AGENT\"; exit $?", &lifeline);
    let (agent, client, stop, answer) = in_a_turn(&command).await;
    stop.cancel();
    let response = within(answer).await.unwrap().unwrap();
    assert_eq!(response.stop_reason, StopReason::Cancelled);
    // The end of its input is all that it takes.
    drop(client);
    assert!(within(agent.stop()).await.unwrap().success());
    lifeline.cut().await;
}

#[tokio::test]
async fn c24_an_agent_behind_a_launcher_is_killed_with_it() {
    let lifeline = Lifeline::new("killed").unwrap();
    let command = launched("\"$AGENT\"; exit $?", &lifeline);
    let (agent, client, _stop, answer) = in_a_turn(&command).await;
    drop(agent);
    let error = within(answer).await.unwrap().unwrap_err();
    assert!(error.is_connection_lost());
    lifeline.cut().await;
    drop(client);
}

#[tokio::test]
async fn c24_a_launcher_that_dies_takes_the_agent_with_it_and_the_turn_ends() {
    let lifeline = Lifeline::new("orphan").unwrap();
    let command = launched("\"$AGENT\"; exit $?", &lifeline);
    let (agent, _client, _stop, answer) = in_a_turn(&command).await;
    // Only the process that the client knows, as the system does when memory is short.
    let launcher = agent.id().to_string();
    let kill = std::process::Command::new("kill")
        .args(["-KILL", &launcher])
        .status();
    assert!(kill.unwrap().success());
    let error = within(answer).await.unwrap().unwrap_err();
    assert!(error.is_connection_lost(), "{error}");
    assert_eq!(within(agent.wait()).await.unwrap().signal(), Some(9));
    lifeline.cut().await;
}

#[tokio::test]
async fn c24_an_agent_that_ignores_the_end_of_its_input_and_term_is_gone_all_the_same() {
    let lifeline = Lifeline::new("stubborn").unwrap();
    let script = "trap '' TERM; echo ready; sh -c 'while :; do sleep 1000; done'; :";
    let command = launched(script, &lifeline)
        .exit_timeout(SOON)
        .terminate_timeout(SOON);
    let (agent, transport) = command.spawn().unwrap();
    let (said, mut ready) = mpsc::unbounded_channel();
    let client = Client::builder()
        .on_stray_output(move |line, _| said.send(line.to_owned()).unwrap())
        .connect(transport);
    assert_eq!(within(ready.recv()).await.unwrap(), "ready");
    let pending = tokio::spawn(client.initialize(InitializeRequest::new(ProtocolVersion::V1)));
    let status = within(agent.stop()).await.unwrap();
    assert_eq!(status.signal(), Some(9));
    assert!(
        within(pending)
            .await
            .unwrap()
            .unwrap_err()
            .is_connection_lost()
    );
    lifeline.cut().await;
}

#[tokio::test]
async fn c24_a_call_to_an_agent_that_dies_fails_at_once_and_its_last_words_are_kept() {
    let lifeline = Lifeline::new("dying").unwrap();
    let script = "read line; echo 'no API key' >&2; exit 3";
    let command = launched(script, &lifeline).stderr(Stderr::Capture);
    let (agent, transport) = command.spawn().unwrap();
    let client = Client::builder().request_timeout(HOUR).connect(transport);
    let hello = InitializeRequest::new(ProtocolVersion::V1);
    let error = within(client.initialize(hello)).await.unwrap_err();
    assert!(error.is_connection_lost(), "{error}");
    assert_eq!(within(agent.wait()).await.unwrap().code(), Some(3));
    assert_eq!(agent.stderr_tail(), "no API key\n");
    lifeline.cut().await;
}

#[tokio::test]
async fn c24_an_agent_of_this_sdk_leaves_when_its_client_does_though_a_turn_is_running() {
    let lifeline = Lifeline::new("left").unwrap();
    let command = launched("\"$AGENT\"; exit $?", &lifeline);
    let (agent, client, _stop, answer) = in_a_turn(&command).await;
    client.close();
    assert!(
        within(answer)
            .await
            .unwrap()
            .unwrap_err()
            .is_connection_lost()
    );
    // By itself: nobody sends it a signal for an hour.
    assert!(within(agent.wait()).await.unwrap().success());
    lifeline.cut().await;
}
