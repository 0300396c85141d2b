use std::{fs, path::PathBuf, time::Duration};

use serde_json::json;
use tokio::{io::AsyncReadExt as _, net::unix::pipe};

use super::{command::prepare, *};
use crate::schema::v1::{
    CreateTerminalRequest, KillTerminalRequest, ReleaseTerminalRequest, WaitForTerminalExitRequest,
};

const HOUR: Duration = Duration::from_secs(3600);

fn session() -> SessionId {
    SessionId::new("s")
}

fn shell(line: &str) -> CreateTerminalRequest {
    CreateTerminalRequest::new("s", "sh").args(vec!["-c".to_owned(), line.to_owned()])
}

fn started(terminals: &LocalTerminals, line: &str) -> (TerminalId, TerminalView) {
    let id = terminals.create(shell(line)).unwrap().terminal_id;
    let view = terminals.view(&session(), &id).unwrap();
    (id, view)
}

/// Waits until the output has this in it.
async fn shows(view: &TerminalView, text: &str) {
    let mut view = view.clone();
    while !view.snapshot().output.contains(text) {
        assert!(view.changed().await, "it ended with {:?}", view.snapshot());
    }
}

fn kill(terminals: &LocalTerminals, id: &TerminalId) {
    let request = KillTerminalRequest::new("s", id.clone());
    terminals.kill(&request).unwrap();
}

fn release(terminals: &LocalTerminals, id: &TerminalId) -> Result<(), v1::Error> {
    let request = ReleaseTerminalRequest::new("s", id.clone());
    terminals.release(&request).map(drop)
}

/// A named pipe that all processes of a command hold open; its end proves that none of them is left.
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

    /// A script whose processes hold the lifeline. It has to show that it has come so far.
    fn held_by(&self, script: &str) -> String {
        format!("exec 9>'{}'; {script}", self.path.display())
    }

    async fn cut(mut self) {
        let mut read = Vec::new();
        self.reader.read_to_end(&mut read).await.unwrap();
    }
}

/// Two processes that do not heed TERM, the second in the background.
const STUBBORN: &str =
    "trap '' TERM; (while :; do sleep 1000; done) & echo ready; wait; sleep 1000";

#[tokio::test]
async fn output_and_errors_come_in_their_order_and_before_the_exit() {
    let terminals = LocalTerminals::new();
    let script = "for n in 1 2 3; do echo out $n; echo err $n >&2; done; exit 7";
    let (_, view) = started(&terminals, script);
    let exit = view.exited().await.unwrap();
    assert_eq!((exit.exit_code, exit.signal), (Some(7), None));
    let shown = view.snapshot();
    assert_eq!(shown.output, "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n");
    assert!(!shown.truncated);
    assert_eq!(shown.exit_status.unwrap().exit_code, Some(7));
}

#[tokio::test]
async fn more_output_than_a_pipe_holds_is_read_as_it_comes() {
    let terminals = LocalTerminals::new();
    let request = shell("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end");
    let id = terminals.create(request.output_byte_limit(100));
    let view = terminals
        .view(&session(), &id.unwrap().terminal_id)
        .unwrap();
    view.exited().await.unwrap();
    let shown = view.snapshot();
    assert_eq!(shown.output, format!("{}\nend\n", "x".repeat(95)));
    assert!(shown.truncated);
}

#[tokio::test]
async fn a_process_in_the_background_holds_up_nobody_and_goes_with_the_terminal() {
    let terminals = LocalTerminals::new();
    let lifeline = Lifeline::new();
    let script = "trap '' TERM; (while :; do sleep 1000; done) & echo started";
    let (id, view) = started(&terminals, &lifeline.held_by(script));
    assert_eq!(view.exited().await.unwrap().exit_code, Some(0));
    assert_eq!(view.snapshot().output, "started\n");
    release(&terminals, &id).unwrap();
    lifeline.cut().await;
}

#[tokio::test]
async fn what_the_background_writes_after_the_exit_is_shown_too() {
    let terminals = LocalTerminals::new();
    let lifeline = Lifeline::new();
    let gate = Lifeline::new();
    let open_gate = gate.path.display();
    // Opening a named pipe waits for the other side; the gate's reader is taken away first.
    let script = format!("(read line <'{open_gate}'; echo late) & echo early");
    drop(gate.reader);
    let (_, view) = started(&terminals, &lifeline.held_by(&script));
    view.exited().await.unwrap();
    assert_eq!(view.snapshot().output, "early\n");
    let path = gate.path.clone();
    tokio::task::spawn_blocking(move || fs::write(path, "go\n").unwrap());
    shows(&view, "late").await;
    lifeline.cut().await;
}

#[tokio::test]
async fn kill_asks_first_and_the_terminal_stays() {
    let terminals = LocalTerminals::new().kill_grace(HOUR);
    // The one in the background says that it is ready itself: what a shell is about to fork can miss a signal.
    let script = "trap 'echo bye; exit 3' TERM; sh -c 'echo ready; exec sleep 1000' & wait";
    let lifeline = Lifeline::new();
    let (id, view) = started(&terminals, &lifeline.held_by(script));
    shows(&view, "ready").await;
    kill(&terminals, &id);
    assert_eq!(view.exited().await.unwrap().exit_code, Some(3));
    assert!(view.snapshot().output.ends_with("bye\n"));
    lifeline.cut().await;
    // It can be killed and asked again, until it is released.
    kill(&terminals, &id);
    assert!(terminals.snapshot(&session(), &id).is_some());
    release(&terminals, &id).unwrap();
    assert!(terminals.snapshot(&session(), &id).is_none());
    assert!(view.snapshot().output.ends_with("bye\n"), "a view stays");
}

/// The clock is paused, so the hour passes when nothing else can happen.
#[tokio::test(start_paused = true)]
async fn those_that_do_not_heed_term_are_killed_after_the_grace() {
    let terminals = LocalTerminals::new().kill_grace(HOUR);
    let lifeline = Lifeline::new();
    let (id, view) = started(&terminals, &lifeline.held_by(STUBBORN));
    shows(&view, "ready").await;
    let before = tokio::time::Instant::now();
    kill(&terminals, &id);
    let exit = view.exited().await.unwrap();
    assert_eq!(
        (exit.exit_code, exit.signal.as_deref()),
        (None, Some("SIGKILL"))
    );
    assert!(before.elapsed() >= HOUR);
    lifeline.cut().await;
}

#[tokio::test]
async fn without_a_grace_they_are_killed_at_once() {
    let terminals = LocalTerminals::new().kill_grace(Duration::ZERO);
    let lifeline = Lifeline::new();
    let (id, view) = started(&terminals, &lifeline.held_by(STUBBORN));
    shows(&view, "ready").await;
    kill(&terminals, &id);
    assert_eq!(
        view.exited().await.unwrap().signal.as_deref(),
        Some("SIGKILL")
    );
    lifeline.cut().await;
}

#[tokio::test]
async fn many_can_wait_and_releasing_tells_them() {
    let terminals = LocalTerminals::new().kill_grace(HOUR);
    let lifeline = Lifeline::new();
    let (id, view) = started(&terminals, &lifeline.held_by(STUBBORN));
    shows(&view, "ready").await;
    let request = WaitForTerminalExitRequest::new("s", id.clone());
    let waiting = [(); 3].map(|()| tokio::spawn(terminals.wait_for_exit(&request)));
    release(&terminals, &id).unwrap();
    for waiting in waiting {
        let exit = waiting.await.unwrap().unwrap().exit_status;
        assert_eq!(exit.signal.as_deref(), Some("SIGKILL"));
    }
    let error = terminals.wait_for_exit(&request).await.unwrap_err();
    assert_eq!(i32::from(error.code), -32002);
    assert_eq!(error.data, Some(json!({ "terminalId": id })));
    lifeline.cut().await;
}

#[tokio::test]
async fn the_last_clone_takes_all_commands_with_it() {
    let terminals = LocalTerminals::new();
    let lifeline = Lifeline::new();
    for _ in 0..3 {
        let (_, view) = started(&terminals, &lifeline.held_by(STUBBORN));
        shows(&view, "ready").await;
    }
    let other = terminals.clone();
    drop(terminals);
    assert_eq!(other.table().take(None).len(), 3, "they were there still");
    drop(other);
    lifeline.cut().await;
}

#[tokio::test]
async fn a_terminal_belongs_to_its_session() {
    let terminals = LocalTerminals::new();
    let (id, _view) = started(&terminals, "sleep 1000");
    let other = SessionId::new("other");
    assert!(terminals.snapshot(&other, &id).is_none());
    let error = terminals
        .kill(&KillTerminalRequest::new("other", id.clone()))
        .unwrap_err();
    assert_eq!(i32::from(error.code), -32002);
    let request = ReleaseTerminalRequest::new("other", id.clone());
    terminals.release(&request).unwrap_err();
    terminals.release_session(&other);
    assert!(terminals.snapshot(&session(), &id).is_some());
    terminals.release_session(&session());
    assert!(terminals.snapshot(&session(), &id).is_none());
}

#[tokio::test]
async fn a_session_has_so_many_terminals_and_no_more() {
    let terminals = LocalTerminals::new().max_terminals(2);
    let (id, view) = started(&terminals, ":");
    started(&terminals, ":");
    let error = terminals.create(shell(":")).unwrap_err();
    assert_eq!(i32::from(error.code), -32600);
    assert_eq!(error.data.unwrap()["limit"], 2);
    let other = CreateTerminalRequest::new("other", "true");
    terminals.create(other).unwrap();
    view.exited().await.unwrap();
    terminals.create(shell(":")).unwrap_err();
    release(&terminals, &id).unwrap();
    terminals.create(shell(":")).unwrap();
}

#[tokio::test]
async fn a_command_that_cannot_be_started_takes_no_place_and_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("text"), "no program").unwrap();
    let terminals = LocalTerminals::new().max_terminals(1);
    for command in ["no-such-program", "/no/such/program", "nul\0"] {
        let error = terminals.create(CreateTerminalRequest::new("s", command));
        let error = error.unwrap_err();
        assert_eq!(i32::from(error.code), -32602, "{command}: {error}");
        assert_eq!(error.data.unwrap()["field"], "command");
    }
    let text = dir.path().join("text").display().to_string();
    let error = terminals.create(CreateTerminalRequest::new("s", text));
    let data = error.unwrap_err().data.unwrap();
    assert_eq!(data["reason"], "it cannot be started: permission denied");
    started(&terminals, ":");
}

#[test]
fn outside_a_runtime_there_is_an_error_and_no_panic() {
    let error = LocalTerminals::new().create(shell(":")).unwrap_err();
    assert_eq!(i32::from(error.code), -32603);
}

#[test]
fn a_line_for_the_shell_goes_to_the_shell_and_a_program_does_not() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("my tool"), "").unwrap();
    let terminals = LocalTerminals::new().root(dir.path()).unwrap();
    let tool = dir.path().join("my tool").display().to_string();
    let program = |command: &str, args: &[&str]| {
        let args = args.iter().map(|&arg| arg.to_owned()).collect();
        let request = CreateTerminalRequest::new("s", command).args(args);
        let (command, _) = prepare(&request, &terminals.options).unwrap();
        let command = command.as_std();
        let args = command
            .get_args()
            .map(|arg| arg.to_str().unwrap().to_owned());
        let parts = std::iter::once(command.get_program().to_str().unwrap().to_owned());
        parts.chain(args).collect::<Vec<_>>()
    };
    for line in [
        "ls -l /a/b",
        "a|b",
        "echo $HOME",
        "~/tool",
        "a && b",
        "/a/b c",
        "x\ty",
    ] {
        assert_eq!(program(line, &[]), ["/bin/sh", "-c", line]);
    }
    assert_eq!(program("ls", &[]), ["ls"]);
    assert_eq!(program("ls", &["-l", "$HOME"]), ["ls", "-l", "$HOME"]);
    assert_eq!(
        program("a b", &["c"]),
        ["a b", "c"],
        "arguments say that it is a program"
    );
    assert_eq!(program(&tool, &[]), [tool.as_str()], "there is such a file");
    assert_eq!(
        program("./my tool", &[]),
        [dir.path().join("./my tool").to_str().unwrap()]
    );
    assert_eq!(program("my tool", &[]), ["/bin/sh", "-c", "my tool"]);
}

#[tokio::test]
async fn a_command_runs_where_and_with_what_it_was_asked_to() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    fs::create_dir(root.join("below")).unwrap();
    let terminals = LocalTerminals::new().root(&root).unwrap();
    let line = "pwd; echo $ONE-$TWO; cat; test -n \"$PATH\" && echo path";
    let env = vec![
        v1::EnvVariable::new("ONE", "1 2"),
        v1::EnvVariable::new("TWO", ""),
    ];
    for (cwd, expected) in [
        (None, root.clone()),
        (Some(root.join("below")), root.join("below")),
    ] {
        let request = shell(line).cwd(cwd).env(env.clone());
        let id = terminals.create(request).unwrap().terminal_id;
        let view = terminals.view(&session(), &id).unwrap();
        view.exited().await.unwrap();
        let expected = format!("{}\n1 2-\npath\n", expected.display());
        assert_eq!(view.snapshot().output, expected);
    }
}

#[test]
fn a_working_directory_is_absolute_there_and_in_the_roots() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("file"), "").unwrap();
    std::os::unix::fs::symlink(dir.path(), root.join("out")).unwrap();
    let free = LocalTerminals::new();
    let bound = LocalTerminals::new().root(&root).unwrap();
    let refused = |terminals: &LocalTerminals, cwd: PathBuf| {
        let request = CreateTerminalRequest::new("s", "true").cwd(cwd);
        prepare(&request, &terminals.options).err().map(|error| {
            assert_eq!(i32::from(error.code), -32602);
            error.data.unwrap()["field"].clone()
        })
    };
    for terminals in [&free, &bound] {
        for cwd in ["relative".into(), root.join("file"), root.join("nonesuch")] {
            assert_eq!(refused(terminals, cwd), Some(json!("cwd")));
        }
        assert_eq!(refused(terminals, root.clone()), None);
    }
    for cwd in [dir.path().to_owned(), root.join(".."), root.join("out")] {
        assert_eq!(refused(&bound, cwd.clone()), Some(json!("cwd")));
        assert_eq!(refused(&free, cwd), None);
    }
    LocalTerminals::new().root(root.join("file")).unwrap_err();
    LocalTerminals::new()
        .root(root.join("nonesuch"))
        .unwrap_err();
}

#[test]
fn variables_have_a_name_that_the_system_can_take() {
    for (name, value) in [("", "x"), ("a=b", "x"), ("a\0", "x"), ("a", "\0")] {
        let env = vec![v1::EnvVariable::new(name, value)];
        let request = CreateTerminalRequest::new("s", "true").env(env);
        let error = prepare(&request, &Options::default()).unwrap_err();
        assert_eq!(error.data.unwrap()["field"], "env");
    }
}

#[test]
fn an_agent_may_ask_for_less_output_and_for_a_little_more() {
    let options = LocalTerminals::new().max_output_bytes(2_000_000).options;
    assert_eq!(options.output_limit(None), 1024 * 1024);
    assert_eq!(options.output_limit(Some(0)), 0);
    assert_eq!(options.output_limit(Some(1_500_000)), 1_500_000);
    assert_eq!(options.output_limit(Some(u64::MAX)), 2_000_000);
    let options = LocalTerminals::new().max_output_bytes(10).options;
    assert_eq!(options.output_limit(None), 10);
}
