//! `endturn run` on a terminal: questions, colours and the progress line.
#![cfg(unix)]

mod common;

use common::terminal::OnTerminal;

#[test]
fn a_permission_is_asked_and_answered() {
    for (answer, said) in [
        ("1\n", "allowed"),
        ("n\n", "rejected"),
        ("Allow\n", "allowed"),
    ] {
        let mut run = OnTerminal::start("say Well\nask Delete everything", &[]);
        run.read_until("Well\r\nThe agent asks for a permission: Delete everything");
        run.read_until("  1  Allow\r\n  2  Reject\r\n1 to 2, y or n; Ctrl-C cancels the turn: ");
        run.type_in(answer);
        run.read_until(&format!("[Permission {said}]"));
        run.finish().0.expect_code(0);
    }
}

#[test]
fn an_answer_that_is_none_is_asked_for_again() {
    let mut run = OnTerminal::start("ask Delete everything", &[]);
    run.read_until("1 to 2");
    run.type_in("perhaps\n");
    run.read_until("1 to 2");
    run.type_in("2\n");
    run.read_until("[Permission rejected]");
    run.finish().0.expect_code(0);
}

#[test]
fn a_line_typed_too_early_answers_nothing() {
    let mut run = OnTerminal::start("ask One\nask Two", &[]);
    run.read_until("1 to 2");
    // The second is typed before there is a second question.
    run.type_in("1\n1\n");
    run.read_until("[Permission allowed]");
    run.read_until("1 to 2");
    run.type_in("2\n");
    run.read_until("[Permission rejected]");
    run.finish().0.expect_code(0);
}

#[test]
fn ctrl_c_takes_an_open_question_away() {
    let mut run = OnTerminal::start("ask Delete everything", &[]);
    run.read_until("1 to 2");
    run.run.interrupt();
    run.read_until("[permission] Delete everything: cancelled");
    run.read_until("[Permission cancelled]");
    run.read_until("stop reason: cancelled");
    run.finish().0.expect_code(3);
}

#[test]
fn the_end_of_the_terminals_input_is_a_no() {
    let mut run = OnTerminal::start("ask Delete everything", &[]);
    run.read_until("1 to 2");
    run.type_in("\x04");
    run.read_until("[Permission rejected]");
    run.finish().0.expect_code(0);
}

#[test]
fn what_is_waited_for_is_shown_and_taken_away() {
    let mut run = OnTerminal::start("say ready\nthink Hm.\ntool Wait 1h", &[]);
    run.read_until("in_progress");
    run.read_until("waiting for the agent… 1s");
    run.run.interrupt();
    run.read_until("\r\x1b[K");
    let (end, seen) = run.finish();
    end.expect_code(3);
    assert!(!seen.contains("waiting"), "{seen:?}");
}

#[test]
fn after_the_first_ctrl_c_the_terminal_says_what_a_second_one_does() {
    let mut run = OnTerminal::start("say ready\nhang", &[]);
    run.read_until("ready");
    run.run.interrupt();
    run.read_until("\r\n");
    run.read_until("cancelling… 1s (Ctrl-C again ends the agent)");
    run.run.interrupt();
    run.read_until("ended by Ctrl-C before the agent had answered");
    run.finish().0.expect_code(130);
}

#[test]
fn asides_are_dimmed_unless_colours_are_not_wanted() {
    let (_, seen) = OnTerminal::start("think Hm.\nsay Yes.", &[]).finish();
    assert!(seen.contains("\x1b[2m~ Hm.\x1b[0m\r\nYes."), "{seen:?}");

    let (_, seen) = OnTerminal::start("think Hm.\nsay Yes.", &[("NO_COLOR", "1")]).finish();
    assert!(seen.contains("~ Hm.\r\nYes."), "{seen:?}");
    assert!(!seen.contains("\x1b["), "{seen:?}");
}

#[test]
fn a_prompt_is_not_waited_for_when_the_output_is_for_a_program() {
    let mut run = OnTerminal::start_with(&["run", "--json"], &[]);
    run.read_until("there is no prompt: give one as the argument PROMPT, or pipe one in");
    run.finish().0.expect_code(2);
}
