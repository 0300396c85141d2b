//! The five flows of cancellation, each between two processes: an example that is a client and starts its agent.
//!
//! The guide shows diagrams that the examples draw of what passed between the two.
//! `UPDATE_DIAGRAMS=1 cargo test -p endturn` writes them anew.
#![cfg(all(feature = "process", feature = "stdio"))]

mod common;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use common::{cancel, cancel_request, message, prompt, stopped};
use serde_json::{Value, json};

const SESSION: &str = "session-1";

/// Which way a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    ToAgent,
    ToClient,
}
use Way::{ToAgent, ToClient};

/// Plays a flow; compares the messages from its prompt on, and the diagram of them.
fn check(flow: &str, expected: &[(Way, Value)]) {
    let output = Command::new(example(flow)).output();
    let output = output.expect("the example is not there; `cargo build --examples` builds it");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", output.status);

    let output = String::from_utf8(output.stdout).unwrap();
    let (trace, diagram) = output.split_once("\n\n").unwrap();
    let messages: Vec<_> = trace.lines().filter_map(read).collect();
    let (handshake, turn) = messages.split_at(4);
    assert_eq!(handshake[0].1["method"], "initialize");
    assert_eq!(handshake[2].1["method"], "session/new");
    assert_eq!(turn, expected);
    check_diagram(flow, diagram);
}

/// The example of this name, which cargo has built beside the tests.
fn example(name: &str) -> PathBuf {
    let tests = env::current_exe().unwrap();
    let target = tests.parent().and_then(Path::parent).unwrap();
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    target.join("examples").join(file)
}

/// A message of the trace; the trace's other lines say what happened beside them.
fn read(line: &str) -> Option<(Way, Value)> {
    let (arrow, json) = line.split_once(' ')?;
    let way = match arrow {
        "->" => ToAgent,
        "<-" => ToClient,
        _ => return None,
    };
    Some((way, serde_json::from_str(json).unwrap()))
}

fn check_diagram(flow: &str, diagram: &str) {
    let file = format!("{}/src/guide/flows/{flow}.txt", env!("CARGO_MANIFEST_DIR"));
    if env::var_os("UPDATE_DIAGRAMS").is_some() {
        fs::write(&file, diagram).unwrap();
    }
    let shown = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(
        shown.replace("\r\n", "\n"),
        diagram,
        "the guide shows another flow; UPDATE_DIAGRAMS=1 writes what it has become"
    );
}

fn error(id: i64, data: Option<Value>) -> Value {
    let mut error = json!({"code": -32800, "message": "Request cancelled"});
    if let Some(data) = data {
        error["data"] = data;
    }
    json!({"jsonrpc": "2.0", "id": id, "error": error})
}

#[test]
fn flow_a_cancelled_answer_and_final_updates() {
    check(
        "flow_a_turn_cancel",
        &[
            (ToAgent, prompt(3, SESSION, "Do a long task")),
            (ToClient, message(SESSION, "Working...")),
            (ToAgent, cancel(SESSION)),
            (ToClient, message(SESSION, "Stopped half way.")),
            (ToClient, stopped(3, "cancelled")),
        ],
    );
}

#[test]
fn flow_b_grace_period_ends_a_turn_whose_handler_does_not() {
    check(
        "flow_b_grace_period",
        &[
            (ToAgent, prompt(3, SESSION, "Do a long task")),
            (ToClient, message(SESSION, "Working...")),
            (ToAgent, cancel(SESSION)),
            (ToClient, stopped(3, "cancelled")),
        ],
    );
}

#[test]
fn flow_c_max_duration_ends_a_turn_that_nobody_cancels() {
    let data = json!({"maxPromptDuration": "PT0.2S"});
    check(
        "flow_c_maximum_duration",
        &[
            (ToAgent, prompt(3, SESSION, "Do a long task")),
            (ToClient, error(3, Some(data))),
        ],
    );
}

#[test]
fn flow_d_request_cancel_ends_the_turn_of_a_client_that_has_left() {
    check(
        "flow_d_cancel_of_the_clients_request",
        &[
            (ToAgent, prompt(3, SESSION, "Do a long task")),
            (ToClient, message(SESSION, "Working...")),
            (ToAgent, cancel_request(3)),
            (ToClient, error(3, None)),
        ],
    );
}

#[test]
fn flow_e_keep_waiting_for_the_answer_to_a_question_that_was_taken_back() {
    let question = json!({"jsonrpc": "2.0", "id": 1, "method": "session/request_permission",
    "params": {
        "sessionId": SESSION,
        "toolCall": {"toolCallId": "call-1", "title": "Tidy up"},
        "options": [{"optionId": "allow", "name": "Allow", "kind": "allow_once"}],
    }});
    check(
        "flow_e_cancel_of_the_agents_request",
        &[
            (ToAgent, prompt(3, SESSION, "Do a long task")),
            (ToClient, question),
            (ToClient, message(SESSION, "It is tidy enough.")),
            (ToClient, cancel_request(1)),
            (ToAgent, error(1, None)),
            (ToClient, stopped(3, "end_turn")),
        ],
    );
}
