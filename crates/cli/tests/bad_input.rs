//! What is wrong with the arguments or the agent, in words and as an exit code.
#![cfg(unix)]

mod common;

use common::{End, Run, endturn, run_script};

const BAD_USAGE: i32 = 2;
const AGENT_ERROR: i32 = 6;
const AGENT_GONE: i32 = 7;

#[track_caller]
fn bad_usage(args: &[&str], message: &str) {
    let end = Run::start(endturn(args)).finish();
    end.expect_code(BAD_USAGE);
    end.expect_stderr(message);
    assert_eq!(end.stdout, "", "{end}");
}

/// Runs an agent as text, which has to say this, and as JSON, which has to end well.
#[track_caller]
fn bad_agent(args: &[&str], script: &str, code: i32, kind: &str, message: &str) -> End {
    let shown = Run::start(run_script(args, script)).finish();
    shown.expect_code(code);
    shown.expect_stderr(message);
    assert!(
        shown.stderr.contains("\nhint: ") || shown.stderr.starts_with("hint: "),
        "{shown}"
    );

    let json = Run::start(run_script(&[&["--json"], args].concat(), script)).finish();
    json.expect_code(code);
    let (end, error) = json.json_end();
    assert_eq!(end["exitCode"], code, "{json}");
    assert!(end["stopReason"].is_null(), "{json}");
    assert_eq!(error["kind"], kind, "{json}");
    assert!(error["message"].is_string(), "{json}");
    shown
}

#[test]
fn wrong_arguments_are_named() {
    bad_usage(&[], "Usage: endturn <COMMAND>");
    bad_usage(&["walk"], "unrecognized subcommand 'walk'");
    bad_usage(&["run", "--bogus", "hi"], "unexpected argument '--bogus'");
    bad_usage(&["run", "two", "words"], "unexpected argument 'words'");
    bad_usage(
        &["agent", "--cancel-grace-period", "1"],
        "invalid value '1'",
    );
}

#[test]
fn a_wrong_duration_shows_a_right_one() {
    for wrong in ["5", "-1s", "soon", "", "1e99s"] {
        for option in ["--cancel-after", "--handshake-timeout", "--cancel-timeout"] {
            bad_usage(&["run", option, wrong, "hi"], "for example 500ms, 60s, 30m");
        }
        bad_usage(
            &["agent", "--max-prompt-duration", wrong],
            "for example 500ms, 60s, 30m",
        );
    }
    bad_usage(&["run", "--cancel-after", "-1s", "hi"], "it is negative");
}

#[test]
fn a_missing_prompt_is_asked_for() {
    bad_usage(&["run"], "give one as the argument PROMPT, or pipe one in");
    bad_usage(
        &["run", "-"],
        "give one as the argument PROMPT, or pipe one in",
    );
    bad_usage(&["run", " \n"], "the prompt is empty");
}

#[test]
fn a_prompt_that_is_no_text_is_refused() {
    let mut command = endturn(&["run"]);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), b"say \xff").unwrap();
    command.stdin(std::fs::File::open(file.path()).unwrap());
    let end = Run::start_on(command, std::process::Stdio::piped()).finish();
    end.expect_code(BAD_USAGE);
    end.expect_stderr("not UTF-8");
}

#[test]
fn an_endless_prompt_is_refused() {
    let mut command = endturn(&["run"]);
    command.stdin(std::fs::File::open("/dev/zero").unwrap());
    let end = Run::start_on(command, std::process::Stdio::piped()).finish();
    end.expect_code(BAD_USAGE);
    end.expect_stderr("longer than 16 MiB");
}

#[test]
fn a_working_directory_has_to_exist() {
    bad_usage(
        &["run", "--cwd", "/no/such", "hi"],
        "`/no/such` is not a directory",
    );
    bad_usage(
        &["run", "--cwd", "/dev/null", "hi"],
        "`/dev/null` is not a directory",
    );
}

#[test]
fn an_agent_that_does_not_exist_is_named() {
    let end = Run::start(endturn(&["run", "hi", "--", "no-such-agent"])).finish();
    end.expect_code(AGENT_GONE);
    end.expect_stderr("error: cannot start `no-such-agent`: No such file or directory\n");
    end.expect_stderr("hint: check that it is installed");

    let end = Run::start(endturn(&["run", "--json", "hi", "--", "no-such-agent"])).finish();
    end.expect_code(AGENT_GONE);
    let (_, error) = end.json_end();
    assert_eq!(error["kind"], "start");
}

#[test]
fn an_agent_that_is_no_program_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let end = Run::start(endturn(&["run", "hi", "--", path])).finish();
    end.expect_code(AGENT_GONE);
    end.expect_stderr("Permission denied");
    end.expect_stderr("chmod +x");
}

#[test]
fn an_agent_that_exits_at_once_is_reported_with_its_status() {
    let end = bad_agent(
        &["hi"],
        "echo no licence >&2; exit 9",
        AGENT_GONE,
        "lost",
        "error: the agent ended (exit status: 9) before it answered initialize\n",
    );
    end.expect_stderr("no licence\n");
}

#[test]
fn an_agent_that_dies_in_the_turn_is_reported_with_its_status() {
    let end = bad_agent(
        &["hi"],
        "handshake; say Well; kill -KILL $$",
        AGENT_GONE,
        "lost",
        "error: the agent ended (signal: 9 (SIGKILL)) before it answered session/prompt\n",
    );
    assert_eq!(end.stdout, "Well\n");
}

#[test]
fn an_agent_that_closes_its_output_and_lives_on_is_ended() {
    bad_agent(
        &["hi"],
        "exec >&-; while :; do sleep 1; done",
        AGENT_GONE,
        "lost",
        "error: the agent closed its output before it answered initialize\n",
    );
}

#[test]
fn an_agent_that_says_nothing_is_given_up() {
    let args = ["--handshake-timeout", "200ms", "hi"];
    let message = "error: no answer to initialize within 200ms\n";
    bad_agent(&args, "listen", AGENT_GONE, "timeout", message);

    let message = "error: no answer to session/new within 200ms\n";
    let script = r#"answer '{"protocolVersion":1}'; listen"#;
    bad_agent(&args, script, AGENT_GONE, "timeout", message);
}

#[test]
fn an_agent_that_ignores_the_cancel_is_given_up() {
    bad_agent(
        &["--cancel-after", "0s", "--cancel-timeout", "200ms", "hi"],
        "handshake; listen",
        AGENT_GONE,
        "timeout",
        "error: the agent did not answer within 200ms of being asked to stop\n",
    );
}

#[test]
fn an_agent_that_ignores_the_end_of_its_input_and_term_is_killed() {
    let end = Run::start(run_script(
        &["hi"],
        r#"trap '' TERM; handshake; answer '{"stopReason":"end_turn"}'; while :; do sleep 1; done"#,
    ))
    .finish();
    end.expect_code(0);
    end.expect_stdout("stop reason: end_turn\n");
}

#[test]
fn another_version_of_the_protocol_is_named() {
    bad_agent(
        &["hi"],
        r#"answer '{"protocolVersion":7}'; read -r line"#,
        AGENT_ERROR,
        "agent",
        "error: the agent speaks version 7 of the protocol, and this library only version 1\n",
    );
}

#[test]
fn an_answer_that_cannot_be_read_is_described() {
    let end = Run::start(run_script(
        &["hi"],
        r#"answer '{"protocolVersion":1}'; answer '{"session":"s"}'; read -r line"#,
    ))
    .finish();
    end.expect_code(AGENT_ERROR);
    end.expect_stderr("error: the answer to session/new cannot be read: missing field `sessionId`");
}

#[test]
fn a_program_that_echoes_is_no_agent() {
    let end = Run::start(endturn(&["run", "hi", "--", "cat"])).finish();
    end.expect_code(AGENT_ERROR);
    end.expect_stderr("initialize was answered with error -32601");
    end.expect_stderr("hint: the command does not seem to be an ACP agent");
}

#[test]
fn text_among_the_messages_is_reported_a_few_times_and_does_no_harm() {
    let script = r#"
        for n in 1 2 3 4 5; do echo "loading $n"; done
        handshake
        answer '{"stopReason":"end_turn"}'
        read -r line
    "#;
    let end = Run::start(run_script(&["hi"], script)).finish();
    end.expect_code(0);
    assert_eq!(end.stdout, "stop reason: end_turn\n", "{end}");
    end.expect_stderr("warning: the agent wrote a line that is no message: `loading 1`");
    end.expect_stderr("logs belong on standard error");
    end.expect_stderr("`loading 3`");
    end.expect_no_stderr("`loading 4`");

    let end = Run::start(run_script(&["--json", "hi"], script)).finish();
    end.expect_code(0);
    assert_eq!(end.json_types(), ["stray", "session", "end"]);
    assert_eq!(end.json_lines()[4]["line"], "loading 5");
}

#[test]
fn whatever_an_agent_prints_the_end_comes_last() {
    let script = r#"
        handshake
        answer '{"stopReason":"end_turn"}'
        while say late && echo later; do :; done
    "#;
    let end = Run::start(run_script(&["--json", "hi"], script)).finish();
    end.expect_code(0);
    assert_eq!(end.json_end().0["stopReason"], "end_turn");

    let end = Run::start(run_script(&["hi"], script)).finish();
    end.expect_code(0);
    assert!(end.stdout.ends_with("stop reason: end_turn\n"), "{end}");
}
