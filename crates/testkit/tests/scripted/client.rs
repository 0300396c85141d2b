//! What those steps of a script do that ask something of the client.

use endturn_testkit::scripted;
use serde_json::{Value, json};

use crate::wire::{Wire, prompt};

fn selected(option: &str) -> Value {
    json!({"result": {"outcome": {"outcome": "selected", "optionId": option}}})
}

#[tokio::test]
async fn a_permission_is_asked_for_and_the_outcome_said() {
    let mut wire = Wire::in_session().await;
    let cancelled = json!({"result": {"outcome": {"outcome": "cancelled"}}});
    for (outcome, word) in [
        (selected("allow"), "allowed"),
        (selected("reject"), "rejected"),
        (cancelled, "cancelled"),
    ] {
        let heard = wire
            .run_serving("ask May I?", |method, params| {
                assert_eq!(method, "session/request_permission");
                assert_eq!(params["toolCall"]["title"], "May I?");
                assert_eq!(params["options"][0]["kind"], "allow_once");
                outcome.clone()
            })
            .await;
        assert_eq!(heard.said(), format!("[Permission {word}]"));
    }
}

#[tokio::test]
async fn a_form_is_filled_in() {
    let mut wire = Wire::in_session().await;
    for (answer, said) in [
        (
            json!({"action": "accept", "content": {"answer": "me"}}),
            "[Answer: me]",
        ),
        (json!({"action": "accept", "content": {}}), "[No answer]"),
        (json!({"action": "decline"}), "[Declined]"),
        (json!({"action": "cancel"}), "[Cancelled]"),
    ] {
        let heard = wire
            .run_serving("elicit Who is it?", |method, params| {
                assert_eq!(method, "elicitation/create");
                assert_eq!(params["message"], "Who is it?");
                let schema = &params["requestedSchema"];
                assert_eq!(schema["properties"]["answer"]["type"], "string");
                assert_eq!(schema["required"], json!(["answer"]));
                json!({ "result": answer })
            })
            .await;
        assert_eq!(heard.said(), said);
    }
}

#[tokio::test]
async fn a_file_is_read_from_the_sessions_directory() {
    let mut wire = Wire::in_session().await;
    for (path, absolute) in [("a/b.txt", "/work/a/b.txt"), ("/etc/c", "/etc/c")] {
        let heard = wire
            .run_serving(&format!("read {path}"), |method, params| {
                assert_eq!(method, "fs/read_text_file");
                assert_eq!(params["path"], absolute);
                json!({"result": {"content": "all of it"}})
            })
            .await;
        assert_eq!(heard.said(), "all of it");
        assert_eq!(heard.states(), ["pending", "in_progress", "completed"]);
        assert_eq!(heard.updates[0]["kind"], "read");
        assert_eq!(heard.updates[0]["locations"], json!([{ "path": absolute }]));
        assert_eq!(
            heard.updates[2]["content"][0]["content"]["text"],
            "all of it"
        );
    }
}

#[tokio::test]
async fn a_file_is_written_and_shown_as_a_diff() {
    let mut wire = Wire::in_session().await;
    let heard = wire
        .run_serving("write a.txt one  two", |method, params| {
            assert_eq!(method, "fs/write_text_file");
            assert_eq!(params["path"], "/work/a.txt");
            assert_eq!(params["content"], "one  two\n");
            json!({"result": {}})
        })
        .await;
    assert_eq!(heard.said(), "[Wrote 9 bytes to a.txt]");
    assert_eq!(heard.states(), ["pending", "in_progress", "completed"]);
    assert_eq!(
        heard.updates[0]["content"],
        json!([{"type": "diff", "path": "/work/a.txt", "newText": "one  two\n"}])
    );
}

/// What a client answers that runs one command after the other.
fn terminal(method: &str, output: &str, exit: Value) -> Value {
    let result = match method {
        "terminal/create" => json!({"terminalId": "t"}),
        "terminal/wait_for_exit" => exit,
        "terminal/output" => json!({"output": output, "truncated": false}),
        "terminal/kill" | "terminal/release" => json!({}),
        _ => panic!("{method}"),
    };
    json!({ "result": result })
}

#[tokio::test]
async fn a_command_runs_in_a_terminal_that_the_tool_call_shows() {
    let mut wire = Wire::in_session().await;
    let mut methods = Vec::new();
    let heard = wire
        .run_serving("run echo hi | cat", |method, params| {
            if method == "terminal/create" {
                assert_eq!(params["cwd"], "/work");
                assert_eq!(params["args"][1], "echo hi | cat");
            }
            methods.push(method.to_owned());
            terminal(method, "hi\n", json!({"exitCode": 0}))
        })
        .await;
    assert_eq!(heard.said(), "hi\n[Exit code 0]");
    assert_eq!(heard.states(), ["pending", "in_progress", "completed"]);
    assert_eq!(
        heard.updates[2]["content"],
        json!([{"type": "terminal", "terminalId": "t"}])
    );
    assert_eq!(
        methods,
        [
            "terminal/create",
            "terminal/wait_for_exit",
            "terminal/output",
            "terminal/release"
        ]
    );

    for (exit, said) in [
        (json!({"exitCode": 3}), "[Exit code 3]"),
        (json!({"signal": "SIGKILL"}), "[Ended by SIGKILL]"),
        (json!({}), "[Ended]"),
    ] {
        let heard = wire
            .run_serving("run false", |method, _| terminal(method, "", exit.clone()))
            .await;
        assert_eq!(heard.said(), said);
        assert_eq!(heard.states(), ["pending", "in_progress", "failed"]);
    }
}

#[tokio::test]
async fn a_cancel_kills_the_command() {
    let mut wire = Wire::in_session().await;
    let turn = wire.send("session/prompt", prompt("run sleep 1000")).await;
    let mut waiting = None;
    let mut said = String::new();
    let mut methods = Vec::new();
    let answer = loop {
        let message = wire.peer.receive().await;
        if message["id"] == turn && message.get("method").is_none() {
            break message;
        }
        let method = message["method"].as_str().unwrap();
        if method == "session/update" {
            said += message["params"]["update"]["content"]["text"]
                .as_str()
                .unwrap_or("");
            continue;
        }
        methods.push(method.to_owned());
        let id = match method {
            "terminal/wait_for_exit" if waiting.is_none() => {
                waiting = Some(message["id"].clone());
                wire.cancel().await;
                continue;
            }
            "$/cancel_request" => {
                assert_eq!(Some(&message["params"]["requestId"]), waiting.as_ref());
                let error = json!({"code": -32800, "message": "Request cancelled"});
                wire.peer
                    .send(json!({"jsonrpc": "2.0", "id": waiting, "error": error}))
                    .await;
                continue;
            }
            _ => message["id"].clone(),
        };
        let mut answer = terminal(method, "half", json!({"signal": "SIGKILL"}));
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = id;
        wire.peer.send(answer).await;
    };
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    assert_eq!(said, "half[Ended by SIGKILL]");
    assert!(
        methods.iter().any(|it| it == "terminal/kill"),
        "{methods:?}"
    );
    assert!(
        methods.iter().any(|it| it == "terminal/release"),
        "{methods:?}"
    );
}

#[tokio::test]
async fn what_the_client_does_not_offer_is_said_and_the_script_goes_on() {
    let mut wire = Wire::open_with(scripted::agent(), json!({})).await;
    wire.new_session("/work").await;
    for (script, capability) in [
        ("read a", "fs.readTextFile"),
        ("write a b", "fs.writeTextFile"),
        ("run a", "terminal"),
        ("elicit a", "elicitation.form"),
    ] {
        let heard = wire.run(&format!("{script}\nsay on")).await;
        heard.expect_end("end_turn");
        assert_eq!(
            heard.said(),
            format!("[The client does not offer {capability}]on")
        );
        assert_eq!(heard.updates.len(), 2, "no tool call is left open");
    }
}

#[tokio::test]
async fn what_the_client_refuses_is_said_and_the_script_goes_on() {
    let mut wire = Wire::in_session().await;
    let refused = json!({"error": {"code": -32002, "message": "Not found", "data": {"reason": "no such file"}}});
    for script in ["read a", "write a b", "run a"] {
        let heard = wire
            .run_serving(&format!("{script}\nsay on"), |_, _| refused.clone())
            .await;
        assert_eq!(heard.said(), "[Failed: Not found: no such file]on");
        assert_eq!(heard.states(), ["pending", "in_progress", "failed"]);
    }
}

#[tokio::test]
async fn a_careful_agent_asks_before_it_writes_or_runs() {
    let mut wire = Wire::in_session().await;
    for script in ["mode careful\nwrite a b", "mode careful\nrun a"] {
        let heard = wire
            .run_serving(script, |method, _| {
                assert_eq!(method, "session/request_permission");
                selected("reject")
            })
            .await;
        assert_eq!(heard.said(), "[Permission rejected]");
        assert_eq!(heard.states(), ["pending", "failed"]);

        let mut methods = Vec::new();
        let heard = wire
            .run_serving(script, |method, _| {
                methods.push(method.to_owned());
                match method {
                    "session/request_permission" => selected("allow"),
                    "fs/write_text_file" => json!({"result": {}}),
                    _ => terminal(method, "", json!({"exitCode": 0})),
                }
            })
            .await;
        assert_eq!(heard.states(), ["pending", "in_progress", "completed"]);
        assert_eq!(methods[0], "session/request_permission");
        assert!(methods.len() > 1);
    }
    let heard = wire
        .run_serving("read a", |method, _| {
            assert_eq!(method, "fs/read_text_file", "reading needs no permission");
            json!({"result": {"content": "x"}})
        })
        .await;
    assert_eq!(heard.said(), "x");
}
