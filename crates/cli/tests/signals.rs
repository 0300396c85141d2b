//! `endturn run` when somebody wants it to end.
#![cfg(unix)]

mod common;

use common::{Run, endturn, run_script};

/// Says something when the turn runs, and then heeds nothing at all.
const STUBBORN: &str = r#"
    trap '' TERM
    handshake
    read -r prompt
    say ready
    while :; do sleep 1; done
"#;

#[test]
fn the_first_ctrl_c_cancels_the_turn_and_goes_on_showing_it() {
    let mut run = Run::start(endturn(&["run", "steps 1000 20ms"]));
    run.read_until("Step 3/1000");
    run.interrupt();
    let end = run.finish();

    end.expect_code(3);
    end.expect_stdout("[Cancelled at step ");
    assert!(end.stdout.ends_with("]\nstop reason: cancelled\n"), "{end}");
}

#[test]
fn the_second_ctrl_c_ends_the_agent() {
    let mut run = Run::start(endturn(&["run", "--json", "say ready\nhang"]));
    run.read_until("ready");
    run.interrupt();
    run.read_until(r#"{"type":"cancel","cause":"interrupt"}"#);
    run.interrupt();
    let end = run.finish();

    end.expect_code(130);
    assert_eq!(
        end.json_types(),
        ["session", "update", "cancel", "error", "end"]
    );
    let (last, error) = end.json_end();
    assert_eq!(last["exitCode"], 130);
    assert_eq!(error["kind"], "interrupted");
    end.expect_stderr("error: ended by Ctrl-C before the agent had answered\n");
}

#[test]
fn the_third_ctrl_c_leaves_at_once_and_leaves_nothing_behind() {
    let mut run = Run::start(run_script(&["--json", "hi"], STUBBORN));
    run.read_until("ready");
    run.interrupt();
    run.read_until(r#"{"type":"cancel","cause":"interrupt"}"#);
    run.interrupt();
    run.read_until(r#"{"type":"end""#);
    run.interrupt();
    run.finish().expect_code(130);
}

#[test]
fn an_agent_that_heeds_nothing_is_killed_after_the_second() {
    let mut run = Run::start(run_script(&["--json", "hi"], STUBBORN));
    run.read_until("ready");
    run.interrupt();
    run.read_until(r#"{"type":"cancel","cause":"interrupt"}"#);
    run.interrupt();
    run.finish().expect_code(130);
}

#[test]
fn before_the_turn_there_is_nothing_to_cancel() {
    let mut run = Run::start(run_script(&["--json", "hi"], "echo up >&2; listen"));
    run.read_stderr_until("up");
    run.interrupt();
    let end = run.finish();
    end.expect_code(130);
    assert_eq!(end.json_types(), ["error", "end"]);
}

#[test]
fn term_and_hup_end_the_agent_at_once() {
    for (signal, code) in [("-TERM", 143), ("-HUP", 129)] {
        let mut run = Run::start(endturn(&["run", "--json", "say ready\nhang"]));
        run.read_until("ready");
        run.signal(signal);
        let end = run.finish();
        end.expect_code(code);
        let (last, error) = end.json_end();
        assert_eq!(last["exitCode"], code);
        assert_eq!(error["kind"], "interrupted");
    }
}

#[test]
fn ctrl_c_works_while_nobody_reads_the_output() {
    // More than the pipe holds, and less than is read of an agent while its text is not shown.
    let script = r#"
        handshake
        read -r prompt
        kib=$(printf '%01024d' 0)
        for n in $(seq 200); do say "$kib"; done
        echo full >&2
        listen
    "#;
    let (mut run, unread) = Run::start_unread(run_script(&["hi"], script));
    run.read_stderr_until("full");
    run.repeat_until_it_exits(|run| {
        run.try_signal("-INT");
    });
    run.finish().expect_code(130);
    drop(unread);
}

#[test]
fn a_question_is_cancelled_with_its_turn() {
    // Nobody answers here: the question is put to a terminal in tests/terminal.rs.
    let mut run = Run::start(endturn(&["run", "--json", "say ready\nwait\nask May I?"]));
    run.read_until("ready");
    run.interrupt();
    let end = run.finish();
    end.expect_code(3);
    end.expect_stdout("[Permission cancelled]");
}
