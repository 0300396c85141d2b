//! `endturn agent`: limits, signals and the end of input.
#![cfg(unix)]

mod common;

use std::process::Stdio;

use common::{Run, endturn};
use serde_json::{Value, json};

/// Starts an agent and a turn, and waits until the turn says `ready`.
fn in_turn(args: &[&str], script: &str) -> Run {
    let mut run = Run::start_with_open_input(endturn(&[&["agent"], args].concat()));
    send(
        &mut run,
        json!({ "id": 1, "method": "initialize", "params": { "protocolVersion": 1 } }),
    );
    send(
        &mut run,
        json!({ "id": 2, "method": "session/new", "params": { "cwd": "/", "mcpServers": [] } }),
    );
    run.read_until("session-1");
    let prompt = json!([{ "type": "text", "text": format!("say ready\n{script}") }]);
    send(
        &mut run,
        json!({ "id": 3, "method": "session/prompt", "params": { "sessionId": "session-1", "prompt": prompt } }),
    );
    run.read_until("ready");
    run
}

fn send(run: &mut Run, mut message: Value) {
    message["jsonrpc"] = "2.0".into();
    run.write(&format!("{message}\n"));
}

fn cancel(run: &mut Run) {
    send(
        run,
        json!({ "method": "session/cancel", "params": { "sessionId": "session-1" } }),
    );
}

#[test]
fn a_signal_cancels_the_turn_and_its_answer_is_not_lost() {
    for signal in ["-INT", "-TERM"] {
        let run = in_turn(&[], "wait\nsay bye");
        run.signal(signal);
        // The input stays open: it is the signal that ends the agent.
        let end = run.finish_with_open_input();
        end.expect_code(0);
        let answer = end.json_lines().pop().unwrap();
        assert_eq!(answer["id"], 3, "{end}");
        assert_eq!(answer["result"]["stopReason"], "cancelled", "{end}");
        end.expect_stdout("bye");
    }
}

#[test]
fn a_second_signal_leaves_at_once() {
    let mut run = in_turn(&[], "hang");
    run.interrupt();
    // Requests are refused from the first signal on, which may take a moment to arrive.
    let mut id = 10;
    while !run.has_printed("-32600") {
        send(
            &mut run,
            json!({ "id": id, "method": "session/new", "params": { "cwd": "/", "mcpServers": [] } }),
        );
        run.read_until(&format!(r#""id":{id}"#));
        id += 1;
    }
    run.signal("-TERM");
    run.finish_with_open_input().expect_code(143);
}

#[test]
fn the_end_of_input_ends_it_even_if_a_handler_hangs() {
    let end = in_turn(&["--cancel-grace-period", "0s"], "hang").finish();
    end.expect_code(0);
}

#[test]
fn the_grace_period_ends_a_turn_that_ignores_the_cancel() {
    let mut run = in_turn(&["--cancel-grace-period", "50ms"], "hang");
    cancel(&mut run);
    run.read_until(r#""stopReason":"cancelled""#);
    run.finish().expect_code(0);
}

#[test]
fn the_longest_duration_ends_a_turn() {
    let mut run = in_turn(&["--max-prompt-duration", "50ms"], "hang");
    run.read_until("-32800");
    run.finish().expect_code(0);
}

#[test]
fn a_file_can_be_its_input() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#;
    std::fs::write(file.path(), hello).unwrap();
    let mut command = endturn(&["agent"]);
    command.stdin(std::fs::File::open(file.path()).unwrap());
    let end = Run::start_on(command, Stdio::piped()).finish();
    end.expect_code(0);
    end.expect_stdout(r#""protocolVersion":1"#);
}

#[test]
fn a_client_that_is_gone_is_a_normal_end() {
    let (mut run, reader) = Run::start_unread_with_open_input(endturn(&["agent"]));
    drop(reader);
    // Only a second answer is sure to find nobody: a process that another test is just starting may still hold the pipe.
    run.repeat_until_it_exits(|run| {
        run.try_write("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\"}\n");
    });
    let end = run.finish_with_open_input();
    end.expect_code(0);
    assert_eq!(end.stderr, "");
}
