//! The client's ready-made terminals, as an agent in a turn sees them.
//!
//! That processes are gone is told by the end of a named pipe that all of them hold, their *lifeline*.

#![cfg(all(unix, feature = "process"))]

mod turn;

use std::{path::PathBuf, time::Duration};

use endturn::{
    Client, Error, PromptContext,
    client::LocalTerminals,
    schema::v1::{
        CreateTerminalRequest, CreateTerminalResponse, EnvVariable, KillTerminalRequest,
        ReleaseTerminalRequest, SessionId, TerminalExitStatus, TerminalId, TerminalOutputRequest,
        TerminalOutputResponse, WaitForTerminalExitRequest,
    },
};
use serde_json::json;
use tokio::{io::AsyncReadExt as _, net::unix::pipe};
use turn::Turn;

const HOUR: Duration = Duration::from_secs(3600);

/// Two processes that do not heed TERM, the second in the background.
const STUBBORN: &str =
    "trap '' TERM; (while :; do sleep 1000; done) & echo ready; wait; sleep 1000";

struct Lifeline {
    _dir: tempfile::TempDir,
    path: PathBuf,
    reader: pipe::Receiver,
}

impl Lifeline {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lifeline");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let reader = pipe::OpenOptions::new().open_receiver(&path).unwrap();
        Self {
            _dir: dir,
            path,
            reader,
        }
    }

    /// A line for the shell whose processes hold the lifeline. It has to show that it has come so far.
    fn held_by(&self, script: &str) -> String {
        format!("exec 9>'{}'; {script}", self.path.display())
    }

    /// Waits until none of the processes is left.
    async fn cut(mut self) {
        let mut read = Vec::new();
        self.reader.read_to_end(&mut read).await.unwrap();
    }
}

async fn create(cx: &PromptContext, line: impl Into<String>) -> TerminalId {
    let request = CreateTerminalRequest::new(cx.session_id().clone(), line);
    cx.request(&request).await.unwrap().terminal_id
}

async fn output(cx: &PromptContext, id: &TerminalId) -> Result<TerminalOutputResponse, Error> {
    let session = cx.session_id().clone();
    cx.request(&TerminalOutputRequest::new(session, id.clone()))
        .await
}

async fn exit(cx: &PromptContext, id: &TerminalId) -> Result<TerminalExitStatus, Error> {
    let session = cx.session_id().clone();
    let request = WaitForTerminalExitRequest::new(session, id.clone());
    let response = cx.request(&request).timeout(Duration::ZERO).await?;
    Ok(response.exit_status)
}

async fn kill(cx: &PromptContext, id: &TerminalId) -> Result<(), Error> {
    let session = cx.session_id().clone();
    let request = KillTerminalRequest::new(session, id.clone());
    cx.request(&request).await.map(drop)
}

async fn release(cx: &PromptContext, id: &TerminalId) -> Result<(), Error> {
    let session = cx.session_id().clone();
    let request = ReleaseTerminalRequest::new(session, id.clone());
    cx.request(&request).await.map(drop)
}

/// Waits, on the user's side, until the output has this in it.
async fn shows(terminals: &LocalTerminals, session: &str, id: &TerminalId, text: &str) {
    let mut view = terminals.view(&SessionId::new(session), id).unwrap();
    while !view.snapshot().output.contains(text) {
        assert!(view.changed().await, "it ended with {:?}", view.snapshot());
    }
}

#[tokio::test]
async fn an_agent_runs_a_command_from_its_beginning_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let terminals = LocalTerminals::new().root(&root).unwrap();
    let turn = Turn::begin(Client::builder().terminals(terminals.clone())).await;
    let script = "pwd; echo \"$0 $1 $WORD\" >&2; exit 3";
    let args = ["-c", script, "zero", "one two"].map(str::to_owned);
    let request = CreateTerminalRequest::new("s", "sh")
        .args(args.to_vec())
        .env(vec![EnvVariable::new("WORD", "three")]);
    let id = turn.cx.request(&request).await.unwrap().terminal_id;

    let exited = exit(&turn.cx, &id).await.unwrap();
    assert_eq!((exited.exit_code, exited.signal), (Some(3), None));
    let shown = output(&turn.cx, &id).await.unwrap();
    assert_eq!(
        shown.output,
        format!("{}\nzero one two three\n", root.display())
    );
    assert!(!shown.truncated);
    assert_eq!(shown.exit_status.as_ref().unwrap().exit_code, Some(3));
    assert_eq!(terminals.snapshot(&SessionId::new("s"), &id), Some(shown));
    assert_eq!(exit(&turn.cx, &id).await.unwrap().exit_code, Some(3));

    let view = terminals.view(&SessionId::new("s"), &id).unwrap();
    release(&turn.cx, &id).await.unwrap();
    for error in [
        output(&turn.cx, &id).await.unwrap_err(),
        exit(&turn.cx, &id).await.unwrap_err(),
        kill(&turn.cx, &id).await.unwrap_err(),
        release(&turn.cx, &id).await.unwrap_err(),
    ] {
        assert_eq!(error.code(), Some(-32002));
        let data = error.protocol().unwrap().data.clone();
        assert_eq!(data, Some(json!({ "terminalId": id })));
    }
    assert!(view.snapshot().output.contains("one two"), "shown still");
}

#[tokio::test]
async fn a_whole_line_goes_through_the_shell() {
    let turn = Turn::begin(Client::builder().terminals(LocalTerminals::new())).await;
    let id = create(&turn.cx, "echo a b | tr a-z A-Z && false || exit 4").await;
    assert_eq!(exit(&turn.cx, &id).await.unwrap().exit_code, Some(4));
    assert_eq!(output(&turn.cx, &id).await.unwrap().output, "A B\n");
}

#[tokio::test]
async fn the_end_of_the_output_is_kept_from_a_character_on() {
    let turn = Turn::begin(Client::builder().terminals(LocalTerminals::new())).await;
    let text = "aé€😀z";
    for limit in 0..=text.len() {
        let request = CreateTerminalRequest::new("s", "printf").args(vec![text.to_owned()]);
        let request = request.output_byte_limit(limit as u64);
        let id = turn.cx.request(&request).await.unwrap().terminal_id;
        exit(&turn.cx, &id).await.unwrap();
        let shown = output(&turn.cx, &id).await.unwrap();
        let start = (text.len() - limit..).find(|&at| text.is_char_boundary(at));
        assert_eq!(shown.output, text[start.unwrap()..]);
        assert_eq!(shown.truncated, limit < text.len());
        release(&turn.cx, &id).await.unwrap();
    }
}

#[tokio::test]
async fn refusals_have_the_codes_and_data_that_are_promised() {
    let dir = tempfile::tempdir().unwrap();
    let terminals = LocalTerminals::new().root(dir.path()).unwrap();
    let terminals = terminals.max_terminals(1);
    let turn = Turn::begin(Client::builder().terminals(terminals)).await;
    for (request, field) in [
        (
            CreateTerminalRequest::new("s", "no-such-program"),
            "command",
        ),
        (
            CreateTerminalRequest::new("s", "true").cwd("relative"),
            "cwd",
        ),
        (CreateTerminalRequest::new("s", "true").cwd("/"), "cwd"),
        (
            CreateTerminalRequest::new("s", "true").env(vec![EnvVariable::new("", "x")]),
            "env",
        ),
    ] {
        let created = turn.cx.request_raw("terminal/create", &request);
        let error = created
            .await
            .map(|_: CreateTerminalResponse| ())
            .unwrap_err();
        assert_eq!(error.code(), Some(-32602));
        let data = error.protocol().unwrap().data.clone().unwrap();
        assert_eq!(data["field"], field);
    }
    create(&turn.cx, "true").await;
    let request = CreateTerminalRequest::new("s", "true");
    let error = turn.cx.request(&request).await.unwrap_err();
    assert_eq!(error.code(), Some(-32600));
}

#[tokio::test]
async fn a_terminal_of_another_session_is_not_found() {
    let mut turn = Turn::begin(Client::builder().terminals(LocalTerminals::new())).await;
    let id = create(&turn.cx, "sleep 1000").await;
    let other = turn.other("other").await;
    for error in [
        output(&other, &id).await.unwrap_err(),
        exit(&other, &id).await.unwrap_err(),
        kill(&other, &id).await.unwrap_err(),
        release(&other, &id).await.unwrap_err(),
    ] {
        assert_eq!(error.code(), Some(-32002));
    }
    let shown = output(&turn.cx, &id).await.unwrap();
    assert_eq!(shown.exit_status, None, "it runs on");
}

#[tokio::test]
async fn killing_ends_the_whole_group_and_keeps_the_terminal() {
    let terminals = LocalTerminals::new().kill_grace(Duration::ZERO);
    let turn = Turn::begin(Client::builder().terminals(terminals.clone())).await;
    let lifeline = Lifeline::new();
    let id = create(&turn.cx, lifeline.held_by(STUBBORN)).await;
    shows(&terminals, "s", &id, "ready").await;
    kill(&turn.cx, &id).await.unwrap();
    let exited = exit(&turn.cx, &id).await.unwrap();
    assert_eq!(
        (exited.exit_code, exited.signal.as_deref()),
        (None, Some("SIGKILL"))
    );
    assert_eq!(output(&turn.cx, &id).await.unwrap().output, "ready\n");
    lifeline.cut().await;
    kill(&turn.cx, &id).await.unwrap();
    release(&turn.cx, &id).await.unwrap();
}

#[tokio::test]
async fn a_terminal_that_is_released_answers_those_that_wait() {
    let terminals = LocalTerminals::new().kill_grace(HOUR);
    let turn = Turn::begin(Client::builder().terminals(terminals.clone())).await;
    let lifeline = Lifeline::new();
    let id = create(&turn.cx, lifeline.held_by(STUBBORN)).await;
    shows(&terminals, "s", &id, "ready").await;
    // In the order of the wire: the agent's waiting comes first.
    let (first, second, released) = tokio::join!(
        exit(&turn.cx, &id),
        exit(&turn.cx, &id),
        release(&turn.cx, &id),
    );
    released.unwrap();
    for exited in [first, second] {
        assert_eq!(exited.unwrap().signal.as_deref(), Some("SIGKILL"));
    }
    lifeline.cut().await;
}

#[tokio::test]
async fn what_runs_in_the_background_does_not_hold_up_the_exit() {
    let terminals = LocalTerminals::new();
    let turn = Turn::begin(Client::builder().terminals(terminals)).await;
    let lifeline = Lifeline::new();
    let script = "(trap '' TERM HUP; while :; do sleep 1000; done) & echo done";
    let id = create(&turn.cx, lifeline.held_by(script)).await;
    assert_eq!(exit(&turn.cx, &id).await.unwrap().exit_code, Some(0));
    assert_eq!(output(&turn.cx, &id).await.unwrap().output, "done\n");
    release(&turn.cx, &id).await.unwrap();
    lifeline.cut().await;
}

#[tokio::test]
async fn without_its_client_nothing_goes_on_running() {
    let terminals = LocalTerminals::new();
    let turn = Turn::begin(Client::builder().terminals(terminals.clone())).await;
    let lifeline = Lifeline::new();
    let id = create(&turn.cx, lifeline.held_by(STUBBORN)).await;
    shows(&terminals, "s", &id, "ready").await;
    let cx = turn.cx.clone();
    let waiting = id.clone();
    let waiting = tokio::spawn(async move { exit(&cx, &waiting).await });
    // A round trip behind the waiting.
    output(&turn.cx, &id).await.unwrap();
    turn.drop_client().await;
    lifeline.cut().await;
    waiting.await.unwrap().unwrap_err();
    // The program's own clone is there still, and empty.
    assert!(terminals.snapshot(&SessionId::new("s"), &id).is_none());
}

#[tokio::test]
async fn a_closed_session_takes_its_terminals_with_it_and_no_others() {
    let terminals = LocalTerminals::new();
    let mut turn = Turn::begin(Client::builder().terminals(terminals.clone())).await;
    let other = turn.other("other").await;
    let lifeline = Lifeline::new();
    let id = create(&turn.cx, lifeline.held_by(STUBBORN)).await;
    shows(&terminals, "s", &id, "ready").await;
    let kept = create(&other, "sleep 1000").await;
    terminals.release_session(&SessionId::new("s"));
    lifeline.cut().await;
    assert_eq!(
        output(&turn.cx, &id).await.unwrap_err().code(),
        Some(-32002)
    );
    assert_eq!(output(&other, &kept).await.unwrap().exit_status, None);
}

#[test]
fn the_blocking_client_has_them_too() {
    let builder = endturn::blocking::Client::builder().terminals(LocalTerminals::new());
    let said = turn::blocking(builder, |cx| async move {
        let id = create(&cx, "echo a b").await;
        exit(&cx, &id).await?;
        Ok(output(&cx, &id).await?.output)
    });
    assert_eq!(said, "a b\n");
}
