//! The program against programs nobody here wrote: it drives an agent on the official TypeScript
//! SDK, and the command-line client `acpx` drives the agent it serves.
//!
//! `peers/install` installs both. Where they are missing a test says so on standard error and
//! passes; with `ENDTURN_REQUIRE_PEERS=1` it fails.
#![cfg(unix)]

use std::env;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Exit code of `endturn run` for a turn that was cancelled.
const CANCELLED: i32 = 3;

/// Exit codes of acpx: `--timeout` passed, and a permission was refused.
const ACPX_TIMED_OUT: i32 = 3;
const ACPX_PERMISSION_DENIED: i32 = 5;

/// How long any one run may take. Only a hang comes near it.
const LIMIT: Duration = Duration::from_secs(60);

// `endturn run` drives the agent on the TypeScript SDK.

#[test]
fn run_goes_through_a_cancelled_turn() {
    let Some(agent) = installed(typescript_agent()) else {
        return;
    };
    let run = Run::start(endturn_run(
        &["--cancel-after", "300ms", "count slowly"],
        &agent,
    ));
    let end = run.finish();

    end.expect_code(CANCELLED);
    end.expect_stdout("Step 1/50... ");
    end.expect_stdout("[Stopped early]");
    end.expect_no_stdout("Step 50/50");
    assert!(
        end.stdout.contains("cancelled") || end.stderr.contains("cancelled"),
        "the stop reason is not reported\n{end}"
    );
}

#[test]
fn run_waits_for_an_agent_that_takes_notice_late() {
    let Some(agent) = installed(typescript_agent()) else {
        return;
    };
    let run = Run::start(endturn_run(
        &["--cancel-after", "200ms", "ignore me for a while"],
        &agent,
    ));
    let end = run.finish();

    end.expect_code(CANCELLED);
    // The agent takes notice a second after the cancel, and makes a step every 100 ms.
    end.expect_stdout("Step 5/50... ");
    end.expect_stdout("[Stopped early]");
}

#[test]
fn run_reports_a_cancelled_turn_as_json() {
    let Some(agent) = installed(typescript_agent()) else {
        return;
    };
    let run = Run::start(endturn_run(
        &["--json", "--cancel-after", "300ms", "count slowly"],
        &agent,
    ));
    let end = run.finish();

    end.expect_code(CANCELLED);
    let lines = end.json_lines();
    let step = lines
        .iter()
        .position(|line| has(line, "text", "Step 1/50... "));
    let stopped = lines
        .iter()
        .position(|line| has(line, "text", "[Stopped early]"));
    let answer = lines
        .iter()
        .position(|line| has(line, "stopReason", "cancelled"));
    assert!(
        step.is_some() && step < stopped && stopped < answer,
        "expected the first step, the last update and the answer in this order\n{end}"
    );
}

#[test]
fn run_allows_a_permission_when_told_to() {
    let Some(agent) = installed(typescript_agent()) else {
        return;
    };
    let run = Run::start(endturn_run(
        &["--allow", "ask for a permission, then 2 steps"],
        &agent,
    ));
    let end = run.finish();

    end.expect_code(0);
    end.expect_stdout("Permission: allow. ");
    end.expect_stdout("Step 2/2... ");
}

#[test]
fn run_refuses_a_permission_by_default() {
    let Some(agent) = installed(typescript_agent()) else {
        return;
    };
    let run = Run::start(endturn_run(&["ask for a permission, then 2 steps"], &agent));
    let end = run.finish();

    end.expect_code(0);
    end.expect_stdout("Permission: ");
    end.expect_no_stdout("Permission: allow");
    end.expect_stdout("Step 2/2... ");
}

// acpx drives `endturn agent`.

#[test]
fn acpx_drives_a_whole_turn() {
    let Some(acpx) = installed(acpx()) else {
        return;
    };
    let end = Run::start(acpx.exec(&[], "say hello")).finish();

    end.expect_code(0);
    end.expect_stdout("hello");
    end.expect_stdout("[done] end_turn");
}

#[test]
fn acpx_cancels_a_turn_when_interrupted() {
    let Some(acpx) = installed(acpx()) else {
        return;
    };
    let mut run = Run::start(acpx.exec(&["--format", "json"], "steps 50 100ms"));
    run.read_until("Step 3/50");
    run.interrupt();
    let end = run.finish();

    end.expect_code(0);
    let lines = end.json_lines();
    let cancel = lines
        .iter()
        .position(|line| line["method"] == "session/cancel")
        .unwrap_or_else(|| panic!("acpx sent no session/cancel\n{end}"));
    let after = &lines[cancel + 1..];
    assert!(
        after
            .iter()
            .any(|line| text(line).contains("[Cancelled at step")),
        "no last update between the cancel and the answer\n{end}"
    );
    let answer = lines.last().expect("there is a cancel");
    assert_eq!(answer["result"]["stopReason"], "cancelled", "{end}");
    end.expect_no_stdout("All steps completed");
}

#[test]
fn acpx_leaves_no_agent_behind_when_it_gives_up() {
    let Some(acpx) = installed(acpx()) else {
        return;
    };
    // On a timeout acpx sends no cancel: it ends the agent's input and waits 100 ms.
    let end = Run::start(acpx.exec(&["--timeout", "1"], "hang")).finish();

    end.expect_code(ACPX_TIMED_OUT);
}

#[test]
fn acpx_grants_a_permission() {
    let Some(acpx) = installed(acpx()) else {
        return;
    };
    let end = Run::start(acpx.exec(&["--approve-all"], "ask Delete everything")).finish();

    end.expect_code(0);
    end.expect_stdout("session/request_permission");
    end.expect_stdout("[done] end_turn");
}

#[test]
fn acpx_refuses_a_permission() {
    let Some(acpx) = installed(acpx()) else {
        return;
    };
    let end = Run::start(acpx.exec(&["--deny-all"], "ask Delete everything")).finish();

    end.expect_code(ACPX_PERMISSION_DENIED);
    end.expect_stdout("[done] end_turn");
}

// What is installed.

/// The peer, or `None` after saying that the test is skipped and why.
fn installed<T>(peer: Result<T, String>) -> Option<T> {
    let why = match peer {
        Ok(peer) => return Some(peer),
        Err(why) => why,
    };
    let required = env::var_os("ENDTURN_REQUIRE_PEERS").is_some_and(|value| value == "1");
    assert!(!required, "{why}, and ENDTURN_REQUIRE_PEERS=1 demands it");
    let test = thread::current().name().unwrap_or("a test").to_owned();
    // Not `eprintln!`, whose output the test runner hides for a test that passes.
    writeln!(io::stderr(), "skipped {test}: {why}").expect("standard error is open");
    None
}

/// The agent's program and arguments.
fn typescript_agent() -> Result<[PathBuf; 2], String> {
    let node = PathBuf::from("node");
    node_version(&node)?;
    peer("node_modules/@agentclientprotocol/sdk/package.json")?;
    Ok([node, peer("agent.mjs")?])
}

struct Acpx {
    node: PathBuf,
    script: PathBuf,
}

/// acpx, and a Node.js that it runs on: the one that came with it, or the installed one.
fn acpx() -> Result<Acpx, String> {
    let script = peer("node_modules/acpx/dist/cli.js")?;
    let node = peer("node_modules/.bin/node").unwrap_or_else(|_| PathBuf::from("node"));
    let version = node_version(&node)?;
    if version < (22, 13) {
        let (major, minor) = version;
        return Err(format!(
            "acpx needs Node.js 22.13, and node is {major}.{minor}"
        ));
    }
    Ok(Acpx { node, script })
}

impl Acpx {
    /// A one-shot prompt to `endturn agent`.
    fn exec(&self, flags: &[&str], prompt: &str) -> Command {
        // acpx takes the agent's command line as one string and knows quotes.
        let agent = format!("'{}' agent", env!("CARGO_BIN_EXE_endturn"));
        let mut command = Command::new(&self.node);
        command
            .arg(&self.script)
            .args(flags)
            .args(["--agent", &agent, "exec", prompt]);
        command
    }
}

/// A file of the folder `peers`.
fn peer(path: &str) -> Result<PathBuf, String> {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers");
    peers
        .join(path)
        .canonicalize()
        .map_err(|_| format!("peers/{path} is missing; run peers/install"))
}

fn node_version(node: &Path) -> Result<(u32, u32), String> {
    let output = Command::new(node)
        .arg("--version")
        .output()
        .map_err(|error| format!("{} does not run: {error}", node.display()))?;
    let version = String::from_utf8_lossy(&output.stdout);
    let mut numbers = version
        .trim_start_matches('v')
        .split('.')
        .map_while(|number| number.parse().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) => Ok((major, minor)),
        (_, _) => Err(format!("{} --version says {version:?}", node.display())),
    }
}

fn endturn_run(args: &[&str], agent: &[PathBuf]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_endturn"));
    command.arg("run").args(args).arg("--").args(agent);
    command
}

// Running a program within limits.

/// Set for every process a run starts, so that those left behind are found.
const TAG: &str = "ENDTURN_TEST_RUN";

/// A program that runs for at most [`LIMIT`]; it and all that it started are killed on drop.
struct Run {
    pid: u32,
    tag: String,
    home: PathBuf,
    events: Receiver<Event>,
    deadline: Instant,
    open_pipes: usize,
    end: End,
}

#[derive(Clone, Default)]
struct End {
    stdout: String,
    stderr: String,
    status: Option<ExitStatus>,
}

enum Event {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    Closed,
    Exited(ExitStatus),
}

impl Run {
    fn start(mut command: Command) -> Self {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let number = RUNS.fetch_add(1, Ordering::Relaxed);
        let tag = format!("{}-{number}", std::process::id());
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("peers-{tag}"));
        fs::create_dir_all(&home).expect("the target folder is writable");

        let mut child = command
            .env(TAG, &tag)
            .env("HOME", &home)
            .current_dir(&home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));

        let (sender, events) = mpsc::channel();
        let stdout = child.stdout.take().expect("it is piped");
        let stderr = child.stderr.take().expect("it is piped");
        let pid = child.id();
        forward(stdout, Event::Stdout, sender.clone());
        forward(stderr, Event::Stderr, sender.clone());
        thread::spawn(move || {
            let status = child.wait().expect("the child is ours");
            // The receiver is gone when the test has already failed.
            _ = sender.send(Event::Exited(status));
        });
        Self {
            pid,
            tag,
            home,
            events,
            deadline: Instant::now() + LIMIT,
            open_pipes: 2,
            end: End::default(),
        }
    }

    /// Waits until the program has printed this.
    fn read_until(&mut self, text: &str) {
        while !self.end.stdout.contains(text) {
            assert!(
                !self.is_over(),
                "the program ended without printing {text:?}\n{}",
                self.end
            );
            self.take_event();
        }
    }

    /// What Ctrl-C does.
    fn interrupt(&self) {
        assert!(kill("-INT", &self.pid.to_string()), "{}", self.end);
    }

    /// Waits for the program's end, which has to be the end of all that it started.
    fn finish(mut self) -> End {
        while !self.is_over() {
            self.take_event();
        }
        let left = processes_of(&self.tag);
        assert!(
            left.is_empty(),
            "processes {left:?} were left behind\n{}",
            self.end
        );
        self.end.clone()
    }

    /// Exited, and nobody holds its output open.
    fn is_over(&self) -> bool {
        self.end.status.is_some() && self.open_pipes == 0
    }

    fn take_event(&mut self) {
        let left = self.deadline.saturating_duration_since(Instant::now());
        match self.events.recv_timeout(left) {
            // The tests look for ASCII only, which no chunk can end in the middle of.
            Ok(Event::Stdout(bytes)) => self.end.stdout += &String::from_utf8_lossy(&bytes),
            Ok(Event::Stderr(bytes)) => self.end.stderr += &String::from_utf8_lossy(&bytes),
            Ok(Event::Closed) => self.open_pipes -= 1,
            Ok(Event::Exited(status)) => self.end.status = Some(status),
            Err(_) => panic!("not over after {LIMIT:?}\n{}", self.end),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // Once a process was waited for, its id may be another's.
        if self.end.status.is_none() {
            kill("-KILL", &format!("-{}", self.pid));
        }
        for pid in processes_of(&self.tag) {
            kill("-KILL", &pid.to_string());
        }
        // What is left in a temporary folder does no harm.
        _ = fs::remove_dir_all(&self.home);
    }
}

fn forward(
    mut pipe: impl Read + Send + 'static,
    event: impl Fn(Vec<u8>) -> Event + Send + 'static,
    events: Sender<Event>,
) {
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = pipe.read(&mut buffer) {
            // The receiver is gone when the test has already failed.
            _ = events.send(event(buffer[..read].to_vec()));
        }
        _ = events.send(Event::Closed);
    });
}

fn kill(signal: &str, target: &str) -> bool {
    Command::new("kill")
        .args([signal, "--", target])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Living processes whose environment has this tag. Only Linux tells.
fn processes_of(tag: &str) -> Vec<u32> {
    let wanted = format!("{TAG}={tag}").into_bytes();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        // Unreadable: somebody else's, or gone by now.
        .filter(|pid| {
            fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|pair| pair == wanted))
        })
        .collect()
}

impl End {
    #[track_caller]
    fn expect_code(&self, code: i32) {
        let actual = self.status.and_then(|status| status.code());
        assert_eq!(actual, Some(code), "exit code\n{self}");
    }

    #[track_caller]
    fn expect_stdout(&self, text: &str) {
        assert!(self.stdout.contains(text), "no {text:?}\n{self}");
    }

    #[track_caller]
    fn expect_no_stdout(&self, text: &str) {
        assert!(!self.stdout.contains(text), "unexpected {text:?}\n{self}");
    }

    #[track_caller]
    fn json_lines(&self) -> Vec<Value> {
        let parse = |line| {
            serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{line:?} is not JSON: {error}\n{self}"))
        };
        self.stdout.lines().map(parse).collect()
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.status {
            Some(status) => writeln!(f, "{status}")?,
            None => writeln!(f, "still running")?,
        }
        write!(f, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr)
    }
}

/// Whether the value has this text under this key, at any depth.
fn has(value: &Value, key: &str, wanted: &str) -> bool {
    match value {
        Value::Object(map) => {
            map.get(key).is_some_and(|value| value == wanted)
                || map.values().any(|value| has(value, key, wanted))
        }
        Value::Array(values) => values.iter().any(|value| has(value, key, wanted)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The text of a message chunk, or nothing.
fn text(message: &Value) -> &str {
    message["params"]["update"]["content"]["text"]
        .as_str()
        .unwrap_or_default()
}
