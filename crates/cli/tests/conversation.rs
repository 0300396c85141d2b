//! `endturn run` without a prompt, on a terminal: a conversation.
#![cfg(unix)]

mod common;

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use common::{run_script, terminal::OnTerminal};

/// What the terminal is sent when a line can be typed.
const READY: &str = "\x1b[?2004h";

const UP: &str = "\x1b[A";

fn start(args: &[&str]) -> OnTerminal {
    start_in(args, &[])
}

/// Without colours, which tests/terminal.rs looks at.
fn start_in(args: &[&str], env: &[(&str, &str)]) -> OnTerminal {
    let env = [&[("NO_COLOR", "1")], env].concat();
    let mut run = OnTerminal::start_with(&[&["run"], args].concat(), &env);
    run.read_until("This is Scripted agent");
    run.read_until(READY);
    run
}

/// Types a line, and waits until the program has taken it.
fn say(run: &mut OnTerminal, line: &str) {
    run.type_in(&format!("{line}\r"));
    run.read_until("\x1b[?2004l");
}

#[test]
fn prompts_are_typed_one_after_the_other() {
    let mut run = start(&[]);
    say(&mut run, "say one");
    run.read_until("one\r\n");
    run.read_until(READY);
    say(&mut run, "title Two");
    run.read_until("[title] Two\r\n");
    run.read_until(READY);
    say(&mut run, "end refusal");
    run.read_until("stop reason: refusal\r\n");
    run.read_until(READY);
    run.type_in("\x04");
    run.finish().0.expect_code(0);
}

#[test]
fn a_backslash_continues_the_line() {
    let mut run = start(&[]);
    say(&mut run, "say one\\\rsay two");
    run.read_until("onetwo\r\n");
    run.read_until(READY);
    say(&mut run, "/quit");
    run.finish().0.expect_code(0);
}

#[test]
fn an_error_of_the_agents_is_shown_and_the_conversation_goes_on() {
    let mut run = start(&[]);
    say(&mut run, "error -32000 Log in first");
    run.read_until("error: session/prompt was answered with error -32000: Log in first\r\n");
    run.read_until(READY);
    say(&mut run, "fail the disk is full");
    run.read_until("agent: ");
    run.read_until("the disk is full");
    run.read_until(READY);
    say(&mut run, "say on");
    run.read_until("on\r\n");
    run.read_until(READY);
    run.type_in("\x04");
    run.finish().0.expect_code(0);
}

#[test]
fn ctrl_c_stops_the_turn_and_the_next_prompt_waits_for_its_end() {
    let mut run = start(&[]);
    say(&mut run, "say up\\\rwait\\\rignore 300ms\\\rsay late");
    run.read_until("up");
    run.run.interrupt();
    let before = run.read_until("late\r\nstop reason: cancelled\r\n");
    assert!(!before.contains(READY), "the prompt came early: {before:?}");
    run.read_until(READY);
    // A second turn can be stopped like the first.
    say(&mut run, "say again\\\rwait");
    run.read_until("again");
    run.run.interrupt();
    run.read_until("stop reason: cancelled\r\n");
    run.read_until(READY);
    run.type_in("\x04");
    run.finish().0.expect_code(0);
}

#[test]
fn a_second_ctrl_c_ends_the_agent() {
    let mut run = start(&[]);
    say(&mut run, "say up\\\rhang");
    run.read_until("up");
    run.run.interrupt();
    run.read_until("cancelling… 1s (Ctrl-C again ends the agent)");
    run.run.interrupt();
    run.read_until("ended by Ctrl-C before the agent had answered");
    run.finish().0.expect_code(130);
}

#[test]
fn ctrl_c_takes_a_line_back() {
    let mut run = start(&[]);
    run.type_in("say no\x03");
    run.read_until("Ctrl-D or /quit leaves.\r\n");
    run.read_until(READY);
    say(&mut run, "say yes");
    let shown = run.read_until("yes\r\n");
    assert!(!shown.contains("no"), "{shown:?}");
    run.read_until(READY);
    say(&mut run, "/quit");
    run.finish().0.expect_code(0);
}

#[test]
fn modes_options_and_sessions_have_commands() {
    let mut run = start(&["--cwd", "/"]);
    say(&mut run, "/mode");
    run.read_until("* default            Writes and runs without asking\r\n");
    run.read_until(
        "  careful            Asks for a permission before it writes or runs anything\r\n",
    );
    run.read_until(READY);
    say(&mut run, "/mode careful");
    run.read_until("[mode] careful\r\n");
    run.read_until(READY);
    say(&mut run, "/mode wild");
    run.read_until("error: the agent has no mode `wild`\r\n");
    run.read_until("hint: its modes are: default, careful\r\n");
    run.read_until(READY);
    say(&mut run, "/set model large");
    run.read_until("[config] model: large\r\n");
    run.read_until(READY);
    say(&mut run, "/set thinking perhaps");
    run.read_until("`thinking` is on or off, and `perhaps` is neither");
    run.read_until(READY);
    say(&mut run, "/set");
    run.read_until("  model large        Model\r\n");
    run.read_until("  thinking true      Whether");
    run.read_until(READY);
    say(&mut run, "/set model");
    run.read_until("Usage: /set [KEY VALUE]\r\n");
    run.read_until(READY);
    say(&mut run, "say hello");
    run.read_until(READY);
    say(&mut run, "/list");
    run.read_until("session-1  20");
    run.read_until("  /  say hello\r\n");
    run.read_until(READY);
    run.type_in("\x04");
    run.finish().0.expect_code(0);
}

#[test]
fn help_has_the_agents_commands_and_two_slashes_reach_them() {
    let mut run = start(&[]);
    say(&mut run, "/help");
    run.read_until("  /quit              leave");
    run.read_until("The agent's commands:\r\n  //help             List the steps of a script\r\n");
    run.read_until(READY);
    say(&mut run, "//help");
    run.read_until("flood N BYTES");
    run.read_until(READY);
    run.type_in("\x04");
    run.finish().0.expect_code(0);
}

#[test]
fn words_are_completed() {
    let mut run = start(&[]);
    run.type_in("/mo\t");
    run.read_until("/mode");
    run.type_in(" ca\t");
    run.read_until("careful");
    run.type_in("\r");
    run.read_until("[mode] careful\r\n");
    run.read_until(READY);
    run.type_in("\x04");
    run.finish().0.expect_code(0);
}

#[test]
fn a_question_has_the_terminal_and_gives_it_back() {
    let mut run = start(&[]);
    say(&mut run, "ask May I?");
    run.read_until("1 to 2");
    run.type_in("1\n");
    run.read_until("[Permission allowed]");
    run.read_until(READY);
    say(&mut run, "ask May I?");
    run.read_until("1 to 2");
    run.run.interrupt();
    run.read_until("[Permission cancelled]");
    run.read_until(READY);
    // All of the line is a prompt, and nothing of it an answer that comes too late.
    say(&mut run, "say next");
    run.read_until("next\r\n");
    run.read_until(READY);
    run.type_in("\x04");
    run.finish().0.expect_code(0);
}

#[test]
fn lines_are_kept_for_the_next_conversation() {
    let dir = tempfile::tempdir().unwrap();
    let env = [("XDG_STATE_HOME", dir.path().to_str().unwrap())];
    let file = dir.path().join("endturn/history");

    let mut run = start_in(&["--no-history"], &env);
    say(&mut run, "say unkept");
    run.read_until(READY);
    run.type_in("\x04");
    run.finish().0.expect_code(0);
    assert!(!file.exists());

    let mut run = start_in(&[], &env);
    say(&mut run, "say kept");
    run.read_until(READY);
    run.type_in("\x04");
    run.finish().0.expect_code(0);
    assert!(fs::read_to_string(&file).unwrap().contains("say kept"));
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "it is nobody else's: {mode:o}");

    let mut run = start_in(&[], &env);
    run.type_in(UP);
    run.read_until("say kept");
    run.type_in("\r");
    run.read_until("kept\r\n");
    run.read_until(READY);
    run.type_in("\x04");
    run.finish().0.expect_code(0);
}

/// An agent that waits for a file after the handshake, and then does something.
fn waiting_agent(file: &Path, then: &str) -> OnTerminal {
    let file = file.display();
    let script = format!("handshake; while [ ! -e {file} ]; do sleep 0.02; done; {then}");
    let mut run = OnTerminal::start_command(run_script(&[], &script), &[("NO_COLOR", "1")]);
    run.read_until("This is the agent.");
    run.read_until(READY);
    run
}

#[test]
fn what_comes_while_a_line_is_typed_stands_above_it() {
    let dir = tempfile::tempdir().unwrap();
    let go = dir.path().join("go");
    let then = r#"say "late news"; read -r prompt; say "heard $(printf %s "$prompt" | grep -o 'half a line')"; answer_line() { id=$(printf '%s' "$prompt" | sed 's/.*"id":\([0-9]*\).*/\1/'); printf '{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}\n' "$id"; }; answer_line; listen"#;
    let mut run = waiting_agent(&go, then);
    run.type_in("half a");
    run.read_until("half a");
    fs::write(&go, "").unwrap();
    // The line is cleared first, and drawn again below.
    run.read_until("late news\r\n");
    run.read_until("> half a");
    say(&mut run, " line");
    run.read_until("heard half a line\r\n");
    run.read_until(READY);
    run.type_in("\x04");
    run.finish().0.expect_code(0);
}

#[test]
fn an_agent_that_ends_ends_the_conversation_and_the_terminal_is_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let go = dir.path().join("go");
    let mut run = waiting_agent(&go, "echo out of memory >&2; exit 5");
    run.type_in("half a");
    run.read_until("half a");
    assert!(!run.is_as_it_was());
    fs::write(&go, "").unwrap();
    run.read_until("agent: out of memory\r\n");
    run.read_until("error: the agent ended (exit status: 5)\r\n");
    assert!(run.is_as_it_was());
    run.finish().0.expect_code(7);
}

#[test]
fn term_ends_it_and_the_terminal_is_as_it_was() {
    let mut run = start(&[]);
    run.type_in("half a");
    run.read_until("half a");
    run.run.signal("-TERM");
    run.read_until("ended by the signal TERM");
    assert!(run.is_as_it_was());
    run.finish().0.expect_code(143);
}
