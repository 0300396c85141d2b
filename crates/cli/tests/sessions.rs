//! `endturn run`: the session it opens, what it sets in it, and the list of saved ones.
#![cfg(unix)]

mod common;

use common::{End, Run, endturn, run_script};
use serde_json::{Value, json};

/// The answer to `initialize` of an agent that offers this.
fn offering(capabilities: Value) -> String {
    let hello = json!({"protocolVersion": 1, "agentCapabilities": capabilities});
    format!("answer '{hello}'\n")
}

/// A shell function that answers a request and passes it on to standard error.
const SHOW_AND_ANSWER: &str = r#"
    show_and_answer() {
        read -r line
        echo "$line" >&2
        id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
        printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"
    }
"#;

/// A message that was passed on to standard error.
fn message(end: &End, method: &str) -> Value {
    let lines = end.stderr.lines();
    let mut messages = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages
        .find(|message| message["method"] == method)
        .unwrap_or_else(|| panic!("no {method}\n{end}"))
}

/// An agent with three sessions on two pages.
fn listing() -> String {
    let one = json!({"sessions": [
        {"sessionId": "s-3", "cwd": "/a", "title": "Third\nsession", "updatedAt": "2026-01-03T00:00:00Z"},
        {"sessionId": "s-2", "cwd": "/b"},
    ], "nextCursor": "more"});
    let two = json!({"sessions": [{"sessionId": "s-1", "cwd": "/a", "title": "First"}]});
    let offers = offering(json!({"sessionCapabilities": {"list": {}}}));
    format!("{SHOW_AND_ANSWER}{offers}show_and_answer '{one}'\nshow_and_answer '{two}'\nlisten")
}

#[test]
fn saved_sessions_are_listed_page_by_page() {
    let end = Run::start(run_script(&["--list"], &listing())).finish();
    end.expect_code(0);
    assert_eq!(
        end.stdout,
        "s-3  2026-01-03T00:00:00Z  /a  Third session\ns-2  -  /b\ns-1  -  /a  First\n"
    );
    let requests: Vec<Value> = end
        .stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(requests[0]["method"], "session/list");
    assert_eq!(requests[0]["params"], json!({}));
    assert_eq!(requests[1]["params"], json!({"cursor": "more"}));
}

#[test]
fn a_list_is_of_the_directory_that_is_named() {
    let end = Run::start(run_script(&["--list", "--cwd", "/"], &listing())).finish();
    end.expect_code(0);
    let request = message(&end, "session/list");
    assert_eq!(request["params"]["cwd"], "/");
}

#[test]
fn a_list_as_json_is_a_line_for_each_session() {
    let end = Run::start(run_script(&["--list", "--json"], &listing())).finish();
    end.expect_code(0);
    assert_eq!(end.json_types(), ["listed", "end"]);
    let lines = end.json_lines();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0]["session"]["sessionId"], "s-3");
    assert_eq!(lines[0]["session"]["title"], "Third\nsession");
    assert_eq!(
        lines[3],
        json!({"type": "end", "exitCode": 0, "stopReason": null})
    );
}

#[test]
fn an_empty_list_and_one_that_is_not_to_be_had() {
    let end = Run::start(endturn(&["run", "--list"])).finish();
    end.expect_code(0);
    assert_eq!(end.stdout, "");
    assert_eq!(end.stderr, "The agent has no saved sessions.\n");
    let end = Run::start(endturn(&["run", "--list", "--json"])).finish();
    end.expect_code(0);
    assert_eq!((end.json_lines().len(), end.stderr.as_str()), (1, ""));

    let script = offering(json!({})) + "listen";
    let end = Run::start(run_script(&["--list"], &script)).finish();
    end.expect_code(6);
    end.expect_stderr(
        "session/list is not to be had: the peer does not offer `sessionCapabilities.list`",
    );
}

#[test]
fn a_list_takes_no_prompt() {
    for args in [
        &["run", "--list", "hi"][..],
        &["run", "--list", "--resume", "s"],
        &["run", "--list", "--mode", "m"],
    ] {
        let end = Run::start(endturn(args)).finish();
        end.expect_code(2);
        end.expect_stderr("cannot be used with");
    }
}

/// An agent with a saved session, which it can take up in the ways that it offers.
fn saved(capabilities: Value) -> String {
    let offers = offering(capabilities);
    let history = r#"
        printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"user_message_chunk","messageId":"1","content":{"type":"text","text":"What is 6 times 7?"}}}}\n'
        printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","messageId":"2","content":{"type":"text","text":"42"}}}}\n'
    "#;
    let modes = json!({"modes": {"currentModeId": "plan", "availableModes": [{"id": "plan", "name": "Plan"}]}});
    format!(
        r#"{SHOW_AND_ANSWER}{offers}
        read -r line
        echo "$line" >&2
        case "$line" in *session/load*) {history};; esac
        id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
        printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" '{modes}'
        show_and_answer '{{"stopReason":"end_turn"}}'
        listen"#
    )
}

#[test]
fn a_session_is_loaded_with_its_history() {
    let script = saved(json!({"loadSession": true, "sessionCapabilities": {"resume": {}}}));
    let args = ["--resume", "s", "And 6 times 8?"];
    let end = Run::start(run_script(&args, &script)).finish();
    end.expect_code(0);
    assert_eq!(
        end.stdout,
        "> What is 6 times 7?\n42\nstop reason: end_turn\n"
    );
    let load = message(&end, "session/load");
    assert_eq!(load["params"]["sessionId"], "s");
    assert_eq!(load["params"]["mcpServers"], json!([]));
    let prompt = message(&end, "session/prompt");
    assert_eq!(prompt["params"]["sessionId"], "s");

    let args = ["--json", "--resume", "s", "And 6 times 8?"];
    let end = Run::start(run_script(&args, &script)).finish();
    assert_eq!(end.json_types(), ["update", "session", "end"]);
    let session = end.json_lines().swap_remove(2);
    assert_eq!(session["opened"], "loaded");
    assert_eq!(session["sessionId"], "s");
    assert_eq!(session["modes"]["currentModeId"], "plan");
}

#[test]
fn a_session_is_resumed_where_it_cannot_be_loaded() {
    let script = saved(json!({"sessionCapabilities": {"resume": {}}}));
    let end = Run::start(run_script(&["--json", "--resume", "s", "hi"], &script)).finish();
    end.expect_code(0);
    assert_eq!(end.json_types(), ["session", "end"]);
    assert_eq!(end.json_lines()[0]["opened"], "resumed");
    let resume = message(&end, "session/resume");
    assert_eq!(resume["params"]["sessionId"], "s");
}

#[test]
fn a_session_that_cannot_be_taken_up_is_an_error() {
    let script = offering(json!({})) + "listen";
    let end = Run::start(run_script(&["--resume", "s", "hi"], &script)).finish();
    end.expect_code(6);
    end.expect_stderr("error: the agent can neither load nor resume sessions\n");
    end.expect_stderr("hint: leave --resume out to open a new session\n");

    let end = Run::start(endturn(&["run", "--resume", "gone", "hi"])).finish();
    end.expect_code(6);
    end.expect_stderr("error: session/load was answered with error -32002");
    end.expect_stderr(r#"{"sessionId":"gone"}"#);
}

#[test]
fn the_mode_and_the_options_are_set_first() {
    let args = [
        "run",
        "--mode",
        "careful",
        "--set",
        "model=large",
        "--set",
        "thinking=off",
        "think no\nsay yes",
    ];
    let end = Run::start(endturn(&args)).finish();
    end.expect_code(0);
    assert_eq!(
        end.stdout,
        "[mode] careful\n[config] model: large\n[config] thinking: false\nyes\nstop reason: end_turn\n"
    );

    let args = [&["run", "--json"], &args[1..]].concat();
    let end = Run::start(endturn(&args)).finish();
    end.expect_code(0);
    let lines = end.json_lines();
    let of_type =
        |kind: &str| -> Vec<&Value> { lines.iter().filter(|line| line["type"] == kind).collect() };
    assert_eq!(of_type("mode")[0]["modeId"], "careful");
    let config = of_type("config");
    assert_eq!(config[0]["configOptions"][0]["currentValue"], "large");
    assert_eq!(config[1]["configOptions"][1]["currentValue"], false);
}

#[test]
fn what_the_agent_does_not_have_is_named_with_what_it_has() {
    for (args, error, hint) in [
        (
            ["--mode", "wild"],
            "the agent has no mode `wild`",
            "its modes are: default, careful",
        ),
        (
            ["--set", "colour=red"],
            "the agent has no config option `colour`",
            "its config options are: model, thinking",
        ),
        (
            ["--set", "thinking=perhaps"],
            "`thinking` is on or off, and `perhaps` is neither",
            "write true or false",
        ),
    ] {
        let end = Run::start(endturn(&["run", args[0], args[1], "say no"])).finish();
        end.expect_code(6);
        end.expect_stderr(&format!("error: {error}\n"));
        end.expect_stderr(&format!("hint: {hint}\n"));
        end.expect_no_stdout("no");
    }
    // What the values of an option are, the agent knows best.
    let end = Run::start(endturn(&["run", "--set", "model=huge", "say no"])).finish();
    end.expect_code(6);
    end.expect_stderr("session/set_config_option was answered with error -32602");
    end.expect_stderr("`small` or `large`");

    let script = "handshake; listen";
    let end = Run::start(run_script(&["--mode", "plan", "hi"], script)).finish();
    end.expect_stderr("hint: this agent has no modes\n");

    let end = Run::start(endturn(&["run", "--set", "model", "say no"])).finish();
    end.expect_code(2);
    end.expect_stderr("write KEY=VALUE");
}

#[test]
fn what_the_agent_changes_is_shown() {
    let script =
        "plan look; act\nusage 10 200\ntitle My work\nmode careful\nset model large\nsay end";
    let end = Run::start(endturn(&["run", script])).finish();
    end.expect_code(0);
    assert_eq!(
        end.stdout,
        "[plan] [ ] look\n[plan] [ ] act\n\
         [plan] [>] look\n[plan] [ ] act\n\
         [plan] [x] look\n[plan] [>] act\n\
         [plan] [x] look\n[plan] [x] act\n\
         [usage] 10 of 200 tokens\n[title] My work\n[mode] careful\n[config] model: large\n\
         end\nstop reason: end_turn\n"
    );

    let end = Run::start(endturn(&["run", "--json", script])).finish();
    let kinds: Vec<Value> = end
        .json_lines()
        .iter()
        .filter(|line| line["type"] == "update")
        .map(|line| line["update"]["sessionUpdate"].clone())
        .collect();
    for kind in [
        "plan",
        "usage_update",
        "session_info_update",
        "current_mode_update",
        "config_option_update",
    ] {
        assert!(kinds.iter().any(|it| it == kind), "{kind}\n{end}");
    }
}
