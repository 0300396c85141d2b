//! `endturn run`: what it shows of a turn, and its exit codes.
#![cfg(unix)]

mod common;

use common::{Run, endturn, run_script};
use serde_json::json;

#[test]
fn a_turn_is_shown_as_it_is_said() {
    let script = "say One, \nsay two.\nthink Hm.\ntool Look around 1ms\nsay Done.";
    let end = Run::start(endturn(&["run", script])).finish();

    end.expect_code(0);
    assert_eq!(
        end.stdout,
        "One,two.\n~ Hm.\n[tool] Look around: pending\n[tool] Look around: in_progress\n\
         [tool] Look around: completed\nDone.\nstop reason: end_turn\n"
    );
    assert_eq!(end.stderr, "");
}

#[test]
fn a_turn_is_cancelled_in_time_and_has_its_say() {
    let end = Run::start(endturn(&[
        "run",
        "--cancel-after",
        "300ms",
        "steps 1000 50ms",
    ]))
    .finish();

    end.expect_code(3);
    end.expect_stdout("Step 1/1000... ");
    end.expect_stdout("[Cancelled at step ");
    assert!(end.stdout.ends_with("]\nstop reason: cancelled\n"), "{end}");
}

#[test]
fn zero_cancels_right_behind_the_prompt() {
    let end = Run::start(endturn(&["run", "--cancel-after", "0s", "wait"])).finish();
    end.expect_code(3);
}

#[test]
fn a_turn_that_is_over_in_time_is_not_cancelled() {
    let end = Run::start(endturn(&["run", "--cancel-after", "1h", "say hello"])).finish();
    end.expect_code(0);
}

#[test]
fn each_stop_reason_has_its_code() {
    for (reason, code) in [
        ("end_turn", 0),
        ("cancelled", 3),
        ("refusal", 4),
        ("max_tokens", 5),
        ("max_turn_requests", 5),
    ] {
        let end = Run::start(endturn(&["run", &format!("end {reason}")])).finish();
        end.expect_code(code);
        assert_eq!(end.stdout, format!("stop reason: {reason}\n"), "{end}");
    }
}

#[test]
fn an_agents_error_is_passed_on() {
    let end = Run::start(endturn(&["run", "say Well\nerror -32000 Log in first"])).finish();
    end.expect_code(6);
    assert_eq!(end.stdout, "Well\n", "{end}");
    end.expect_stderr("error: session/prompt was answered with error -32000: Log in first\n");
    end.expect_stderr("hint: the agent wants you to log in");

    let end = Run::start(endturn(&["run", "--json", "error -32000 Log in first"])).finish();
    end.expect_code(6);
    let (end, error) = end.json_end();
    assert_eq!(end["exitCode"], 6);
    assert_eq!(end["stopReason"], json!(null));
    assert_eq!(error["kind"], "agent");
    assert_eq!(error["error"]["code"], -32000);
}

#[test]
fn the_data_of_an_error_says_what_is_wrong() {
    let end = Run::start(endturn(&["run", "hang on"])).finish();
    end.expect_code(6);
    end.expect_stderr("line 1 of the script should be: hang");
}

#[test]
fn json_lines_are_the_whole_turn() {
    let script = "say hello\nask May I?\nmeta {\"a\":1}";
    let end = Run::start(endturn(&["run", "--json", script])).finish();

    end.expect_code(0);
    assert_eq!(
        end.json_types(),
        ["session", "update", "permission", "update", "end"]
    );
    let mut lines = end.json_lines();
    assert_eq!(lines[0]["protocolVersion"], 1);
    assert_eq!(lines[0]["agentInfo"]["name"], "endturn-scripted");
    assert_eq!(lines[0]["opened"], "new");
    assert_eq!(lines[0]["modes"]["currentModeId"], "default");
    assert_eq!(lines[0]["configOptions"][1]["id"], "thinking");
    assert!(lines[0]["sessionId"].is_string(), "{end}");
    let commands = lines.remove(1);
    assert_eq!(
        commands["update"]["sessionUpdate"],
        "available_commands_update"
    );
    assert_eq!(
        lines[1]["update"],
        json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "hello" } })
    );
    assert_eq!(lines[2]["toolCall"]["title"], "May I?");
    assert_eq!(lines[2]["options"][0]["kind"], "allow_once");
    assert_eq!(
        lines[2]["outcome"],
        json!({ "outcome": "selected", "optionId": "reject" })
    );
    assert_eq!(
        lines[4],
        json!({ "type": "end", "exitCode": 0, "stopReason": "end_turn", "_meta": { "a": 1 } })
    );
    assert!(
        end.stdout
            .lines()
            .all(|line| line.starts_with(r#"{"type":""#)),
        "a reader's eye looks for the type first\n{end}"
    );
}

#[test]
fn a_cancelled_turn_as_json_says_when_the_cancel_was() {
    let args = [
        "run",
        "--json",
        "--cancel-after",
        "100ms",
        "say a\nwait\nsay b",
    ];
    let end = Run::start(endturn(&args)).finish();

    end.expect_code(3);
    assert_eq!(
        end.json_types(),
        ["session", "update", "cancel", "update", "end"]
    );
    let cancel = end
        .json_lines()
        .into_iter()
        .find(|line| line["type"] == "cancel");
    assert_eq!(cancel.unwrap()["cause"], "cancel_after");
}

#[test]
fn the_prompt_comes_from_standard_input() {
    for args in [&["run"][..], &["run", "-"]] {
        let end = Run::start_with_input(endturn(args), "say one\nsay two\n").finish();
        end.expect_code(0);
        end.expect_stdout("onetwo");
    }
}

#[test]
fn a_permission_is_refused_unless_told_otherwise() {
    let end = Run::start(endturn(&["run", "ask Delete everything"])).finish();
    end.expect_code(0);
    end.expect_stdout(
        "[permission] Delete everything: Reject (nobody to ask; --allow grants it)\n",
    );
    end.expect_stdout("[Permission rejected]");

    let end = Run::start(endturn(&["run", "--allow", "ask Delete everything"])).finish();
    end.expect_code(0);
    end.expect_stdout("[permission] Delete everything: Allow\n");
    end.expect_stdout("[Permission allowed]");
}

#[test]
fn the_session_has_the_working_directory() {
    let dir = tempfile::tempdir().unwrap();
    let script = r#"answer '{"protocolVersion":1}'; read -r line; echo "$line" >&2"#;

    let given = run_script(&["--cwd", dir.path().to_str().unwrap(), "hi"], script);
    let end = Run::start(given).finish();
    end.expect_stderr(&format!(r#""cwd":"{}""#, dir.path().display()));

    // Relative paths count from the current directory, and the protocol wants absolute ones.
    let end = Run::start(run_script(&["--cwd", ".", "hi"], script)).finish();
    end.expect_stderr(r#""cwd":"/"#);
}

#[test]
fn output_that_nobody_reads_any_more_is_a_normal_end() {
    for args in ["", "--json "] {
        let mut command = std::process::Command::new("sh");
        let line = format!(
            "{{ '{}' run {args}'flood 1000000 100'; echo code $? >&2; }} | head -c 10",
            env!("CARGO_BIN_EXE_endturn")
        );
        command.args(["-c", &line]);
        let end = Run::start(command).finish();
        end.expect_code(0);
        assert_eq!(end.stderr, "code 0\n", "{end}");
    }
}

#[test]
fn output_that_cannot_be_written_is_this_programs_failure() {
    let Ok(full) = std::fs::File::options().write(true).open("/dev/full") else {
        return;
    };
    let mut command = endturn(&["run", "say hello"]);
    command.stdin(std::process::Stdio::null());
    let end = Run::start_on(command, full.into()).finish();
    end.expect_code(1);
    end.expect_stderr("error: the output cannot be written: No space left on device");
}

#[test]
fn an_agent_that_prints_more_than_anybody_wants_is_shown_whole() {
    let end = Run::start(endturn(&["run", "flood 2000 5000\nsay END"])).finish();
    end.expect_code(0);
    assert_eq!(end.stdout.matches('x').count(), 2000 * 5000);
    assert!(end.stdout.ends_with("END\nstop reason: end_turn\n"));
}

#[test]
fn colours_and_progress_stay_on_terminals() {
    let script = "think Hm.\ntool Look 1ms\nerror 1 No";
    let end = Run::start(endturn(&["run", script])).finish();
    end.expect_no_stdout("\x1b");
    end.expect_no_stderr("\x1b");
}

#[test]
fn the_agents_log_is_passed_on() {
    let end = Run::start(endturn(&["run", "fail the disk is full"])).finish();
    end.expect_code(6);
    end.expect_stderr("the disk is full");
    end.expect_stderr("error: session/prompt was answered with error -32603");
}

#[test]
fn the_messages_are_logged_on_request() {
    let mut command = endturn(&["run", "say hello"]);
    command.env("RUST_LOG", "endturn=trace");
    let end = Run::start(command).finish();
    end.expect_code(0);
    end.expect_stderr("session/prompt");
    assert_eq!(end.stdout, "hello\nstop reason: end_turn\n");
}
