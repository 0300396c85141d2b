//! `endturn run` without a prompt, on a terminal: a conversation.
#![cfg(unix)]

mod common;

use common::terminal::{READY, conversation};

#[test]
fn prompts_are_typed_one_after_the_other() {
    let mut run = conversation(&[], &[]);
    run.say("say one");
    run.read_until("one\r\n");
    run.read_until(READY);
    run.say("title Two");
    run.read_until("[title] Two\r\n");
    run.read_until(READY);
    run.say("end refusal");
    run.read_until("stop reason: refusal\r\n");
    run.read_until(READY);
    run.type_in("\x04");
    run.finish().0.expect_code(0);
}

#[test]
fn a_backslash_continues_the_line() {
    let mut run = conversation(&[], &[]);
    run.say("say one\\\rsay two");
    run.read_until("onetwo\r\n");
    run.read_until(READY);
    run.say("/quit");
    run.finish().0.expect_code(0);
}

#[test]
fn an_error_of_the_agents_is_shown_and_the_conversation_goes_on() {
    let mut run = conversation(&[], &[]);
    run.say("error -32000 Log in first");
    run.read_until("error: session/prompt was answered with error -32000: Log in first\r\n");
    run.read_until(READY);
    run.say("fail the disk is full");
    run.read_until("agent: ");
    run.read_until("the disk is full");
    run.read_until(READY);
    run.say("say on");
    run.read_until("on\r\n");
    run.read_until(READY);
    run.type_in("\x04");
    run.finish().0.expect_code(0);
}

#[test]
fn ctrl_c_stops_the_turn_and_the_next_prompt_waits_for_its_end() {
    let mut run = conversation(&[], &[]);
    run.say("say up\\\rwait\\\rignore 300ms\\\rsay late");
    run.read_until("up");
    run.run.interrupt();
    let before = run.read_until("late\r\nstop reason: cancelled\r\n");
    assert!(!before.contains(READY), "the prompt came early: {before:?}");
    run.read_until(READY);
    // A second turn can be stopped like the first.
    run.say("say again\\\rwait");
    run.read_until("again");
    run.run.interrupt();
    run.read_until("stop reason: cancelled\r\n");
    run.read_until(READY);
    run.type_in("\x04");
    run.finish().0.expect_code(0);
}

#[test]
fn a_second_ctrl_c_ends_the_agent() {
    let mut run = conversation(&[], &[]);
    run.say("say up\\\rhang");
    run.read_until("up");
    run.run.interrupt();
    run.read_until("cancelling… 1s (Ctrl-C again ends the agent)");
    run.run.interrupt();
    run.read_until("ended by Ctrl-C before the agent had answered");
    run.finish().0.expect_code(130);
}

#[test]
fn what_is_typed_while_a_turn_runs_is_no_prompt() {
    let mut run = conversation(&[], &[]);
    run.say("say up\\\rwait");
    run.read_until("up");
    run.type_in("say early\n");
    run.run.interrupt();
    run.read_until("stop reason: cancelled\r\n");
    run.read_until(READY);
    run.say("say next");
    let shown = run.read_until("next\r\n");
    assert!(!shown.contains("early"), "{shown:?}");
    run.read_until(READY);
    run.type_in("\x04");
    run.finish().0.expect_code(0);
}

#[test]
fn ctrl_c_takes_a_line_back() {
    let mut run = conversation(&[], &[]);
    run.type_in("say no\x03");
    run.read_until("Ctrl-D or /quit leaves.\r\n");
    run.read_until(READY);
    run.say("say yes");
    let shown = run.read_until("yes\r\n");
    assert!(!shown.contains("no"), "{shown:?}");
    run.read_until(READY);
    run.say("/quit");
    run.finish().0.expect_code(0);
}

#[test]
fn modes_options_and_sessions_have_commands() {
    let mut run = conversation(&["--cwd", "/"], &[]);
    run.say("/mode");
    run.read_until("* default            Writes and runs without asking\r\n");
    run.read_until(
        "  careful            Asks for a permission before it writes or runs anything\r\n",
    );
    run.read_until(READY);
    run.say("/mode careful");
    run.read_until("[mode] careful\r\n");
    run.read_until(READY);
    run.say("/mode wild");
    run.read_until("error: the agent has no mode `wild`\r\n");
    run.read_until("hint: its modes are: default, careful\r\n");
    run.read_until(READY);
    run.say("/set model large");
    run.read_until("[config] model: large\r\n");
    run.read_until(READY);
    run.say("/set thinking perhaps");
    run.read_until("`thinking` is on or off, and `perhaps` is neither");
    run.read_until(READY);
    run.say("/set");
    run.read_until("  model large        Model\r\n");
    run.read_until("  thinking true      Whether");
    run.read_until(READY);
    run.say("/set model");
    run.read_until("Usage: /set [KEY VALUE]\r\n");
    run.read_until(READY);
    run.say("say hello");
    run.read_until(READY);
    run.say("/list");
    run.read_until("session-1  20");
    run.read_until("  /  say hello\r\n");
    run.read_until(READY);
    run.type_in("\x04");
    run.finish().0.expect_code(0);
}

#[test]
fn help_has_the_agents_commands_and_two_slashes_reach_them() {
    let mut run = conversation(&[], &[]);
    run.say("/help");
    run.read_until("  /quit              leave");
    run.read_until("The agent's commands:\r\n  //help             List the steps of a script\r\n");
    run.read_until(READY);
    run.say("//help");
    run.read_until("flood N BYTES");
    run.read_until(READY);
    run.type_in("\x04");
    run.finish().0.expect_code(0);
}

#[test]
fn words_are_completed() {
    let mut run = conversation(&[], &[]);
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
    let mut run = conversation(&[], &[]);
    run.say("ask May I?");
    run.read_until("1 to 2");
    run.type_in("1\n");
    run.read_until("[Permission allowed]");
    run.read_until(READY);
    run.say("ask May I?");
    run.read_until("1 to 2");
    run.run.interrupt();
    run.read_until("[Permission cancelled]");
    run.read_until(READY);
    // All of the line is a prompt, and nothing of it an answer that comes too late.
    run.say("say next");
    run.read_until("next\r\n");
    run.read_until(READY);
    run.type_in("\x04");
    run.finish().0.expect_code(0);
}
