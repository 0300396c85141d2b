//! The program against programs nobody here wrote: it drives an agent on the official TypeScript
//! SDK, and the command-line client `acpx` drives the agent it serves.
//!
//! `peers/install` installs both, and runs once before the first of these tests. Where that is not
//! possible a test says so on standard error and passes; with `ENDTURN_REQUIRE_PEERS=1` it fails.
#![cfg(unix)]

mod common;

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;

use serde_json::Value;

use common::Run;

/// Exit code of `endturn run` for a turn that was cancelled.
const CANCELLED: i32 = 3;

/// Exit codes of acpx: `--timeout` passed, and a permission was refused.
const ACPX_TIMED_OUT: i32 = 3;
const ACPX_PERMISSION_DENIED: i32 = 5;

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

/// Installs the peers, once for all tests of this process; it does nothing when they are there.
fn install() -> Result<(), String> {
    static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();
    let run = || {
        let install = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/install");
        let output = Command::new(&install)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("{} does not run: {error}", install.display()))?;
        if output.status.success() {
            return Ok(());
        }
        let reason = String::from_utf8_lossy(&output.stderr);
        Err(format!("peers/install failed: {}", reason.trim()))
    };
    INSTALLED.get_or_init(run).clone()
}

/// The agent's program and arguments.
fn typescript_agent() -> Result<[PathBuf; 2], String> {
    install()?;
    let node = PathBuf::from("node");
    peer("node_modules/@agentclientprotocol/sdk/package.json")?;
    Ok([node, peer("agent.mjs")?])
}

struct Acpx {
    node: PathBuf,
    script: PathBuf,
}

/// acpx, and a Node.js that it runs on: the one that came with it, or the installed one.
fn acpx() -> Result<Acpx, String> {
    install()?;
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
        .map_err(|_| format!("peers/{path} is missing"))
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
