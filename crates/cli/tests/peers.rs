//! The program against programs nobody here wrote: it drives an agent on the official TypeScript
//! SDK, and the command-line client `acpx` and the linter `acplint` drive the agent it serves.
//!
//! `peers/install` installs all of them, and runs once before the first of these tests. Where that is not
//! possible a test says so on standard error and passes; with `ENDTURN_REQUIRE_PEERS=1` it fails.
#![cfg(unix)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use common::Run;
use common::peers::{install, installed, peer};

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

// acplint judges `endturn agent`.

/// What acplint looks at that an agent without a model can show it in time.
///
/// The others wait ten seconds each for requests about what acplint does not offer as a client.
const LINTED: &[&str] = &[
    "initialization",
    "authentication",
    "session_lifecycle",
    "streaming",
    "tool_calls",
    "plans",
    "session_modes",
    "config_options",
    "cancel",
    "stress",
    "schema_validation",
];

/// What acplint reports although the agent is right; in all else it has to pass.
///
/// - `tool_call_required_fields` wants `kind` and `status` in every tool call. They are optional, and stand for `other` and `pending` when they are left out: <https://agentclientprotocol.com/protocol/v1/tool-calls#creating>.
/// - `plan_schema_valid` looks for the entries in a field `plan` of the update. They are in the update itself: <https://agentclientprotocol.com/protocol/v1/agent-plan#creating-plans>.
const LINT_IS_WRONG: &[&str] = &["plan_schema_valid", "tool_call_required_fields"];

/// What acplint reports of any agent at all when nobody corrects it.
///
/// It sends the protocol version as a text. It is a number, <https://agentclientprotocol.com/protocol/v1/initialization#protocol-version>, and an agent answers a text with an error.
/// `agent_capabilities_present` and `initialize_v1` miss the answer then, and `protocol_version_returned` wants the text back.
const LINT_SPEAKS_ANOTHER_DIALECT: &[&str] = &[
    "agent_capabilities_present",
    "initialize_v1",
    "protocol_version_returned",
];

#[test]
fn acplint_finds_nothing_that_is_wrong() {
    let Some(linter) = installed(acplint()) else {
        return;
    };
    let results = linter.judge(&[], LINTED);
    assert_eq!(not_passed(&results), LINT_IS_WRONG, "{results:#?}");
    for category in LINTED {
        let judged = |result: &Value| result["category"] == *category;
        assert!(results.iter().any(judged), "{category} was not looked at");
    }
}

#[test]
fn acplint_as_it_is_does_not_get_beyond_the_version() {
    let Some(linter) = installed(acplint()) else {
        return;
    };
    let results = linter.judge(&["--as-it-is"], &["initialization"]);
    assert_eq!(
        not_passed(&results),
        LINT_SPEAKS_ANOTHER_DIALECT,
        "a newer acplint may do without some of the corrections in peers/lint.py"
    );
}

/// The names of the checks that did not pass, in alphabetical order.
fn not_passed(results: &[Value]) -> Vec<&str> {
    let failed = results.iter().filter(|result| result["status"] != "PASS");
    let mut names: Vec<_> = failed
        .map(|result| result["name"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    names
}

// What is installed.

/// The agent's program and arguments.
fn typescript_agent() -> Result<[PathBuf; 2], String> {
    install()?;
    let node = PathBuf::from("node");
    peer("node_modules/@agentclientprotocol/sdk/package.json")?;
    Ok([node, peer("agent.mjs")?])
}

struct Acplint {
    python: PathBuf,
    script: PathBuf,
}

fn acplint() -> Result<Acplint, String> {
    install()?;
    // Its own directory tells Python where the packages are, so the link must not be followed.
    peer(".venv/.endturn-peers")?;
    let python = peer("lint.py")?.with_file_name(".venv/bin/python");
    let script = peer("lint.py")?;
    Ok(Acplint { python, script })
}

impl Acplint {
    /// What it finds out about `endturn agent`, check by check.
    fn judge(&self, flags: &[&str], categories: &[&str]) -> Vec<Value> {
        let mut command = Command::new(&self.python);
        command
            .arg(&self.script)
            .args(flags)
            .args(categories)
            .args(["--", env!("CARGO_BIN_EXE_endturn"), "agent"]);
        let end = Run::start(command).finish();
        end.expect_code(0);
        let report: Value = serde_json::from_str(&end.stdout).expect("the report is JSON");
        report["results"]
            .as_array()
            .expect("it has results")
            .clone()
    }
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
