//! What a conversation leaves behind, and what happens while a line is typed.
#![cfg(unix)]

mod common;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use common::{
    run_script,
    terminal::{OnTerminal, READY, conversation},
};

/// The key that takes the line before from the history.
const UP: &str = "\x1b[A";

#[test]
fn lines_are_kept_for_the_next_conversation() {
    let dir = tempfile::tempdir().unwrap();
    let env = [("XDG_STATE_HOME", dir.path().to_str().unwrap())];
    let file = dir.path().join("endturn/history");

    let mut run = conversation(&["--no-history"], &env);
    run.say("say unkept");
    run.read_until(READY);
    run.type_in("\x04");
    run.finish().0.expect_code(0);
    assert!(!file.exists());

    let mut run = conversation(&[], &env);
    run.say("say kept");
    run.read_until(READY);
    run.type_in("\x04");
    run.finish().0.expect_code(0);
    assert!(fs::read_to_string(&file).unwrap().contains("say kept"));
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "it is nobody else's: {mode:o}");

    let mut run = conversation(&[], &env);
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
fn what_comes_while_a_line_is_typed_is_shown_behind_it() {
    let dir = tempfile::tempdir().unwrap();
    let (go, sent) = (dir.path().join("go"), dir.path().join("sent"));
    let then = format!(
        r#"say "late news"; touch {}; read -r prompt
        id=$(printf '%s' "$prompt" | sed 's/.*"id":\([0-9]*\).*/\1/')
        say "heard $(printf %s "$prompt" | grep -o 'half a line')"
        printf '{{"jsonrpc":"2.0","id":%s,"result":{{"stopReason":"end_turn"}}}}\n' "$id"
        listen"#,
        sent.display()
    );
    let mut run = waiting_agent(&go, &then);
    run.type_in("half a");
    run.read_until("half a");
    fs::write(&go, "").unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !sent.exists() {
        assert!(Instant::now() < deadline, "the agent does not go on");
        thread::yield_now();
    }
    run.type_in(" line\r");
    let typed = run.read_until("\x1b[?2004l");
    assert!(!typed.contains("news"), "{typed:?}");
    run.read_until("late newsheard half a line\r\n");
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
    let mut run = conversation(&[], &[]);
    run.type_in("half a");
    run.read_until("half a");
    run.run.signal("-TERM");
    run.read_until("ended by the signal TERM");
    assert!(run.is_as_it_was());
    run.finish().0.expect_code(143);
}
