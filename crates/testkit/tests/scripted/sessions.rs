//! The scripted agent's sessions, on the wire.

use endturn_testkit::scripted;
use serde_json::{Value, json};

use crate::wire::{Wire, prompt};

fn session(id: &str) -> Value {
    json!({"sessionId": id, "cwd": "/work", "mcpServers": []})
}

#[tokio::test]
async fn what_is_offered() {
    let mut wire = Wire::open().await;
    let hello = json!({"protocolVersion": 1, "clientCapabilities": {}});
    let answer = wire.ask("initialize", hello).await.answer;
    assert_eq!(answer["agentInfo"]["name"], "endturn-scripted");
    assert_eq!(answer["authMethods"], json!([]));
    let offers = &answer["agentCapabilities"];
    assert_eq!(offers["loadSession"], true);
    assert_eq!(
        offers["sessionCapabilities"],
        json!({"list": {}, "delete": {}, "resume": {}, "close": {}})
    );
    for method in ["authenticate", "logout"] {
        let error = wire.ask(method, json!({"methodId": "x"})).await.answer;
        assert_eq!(error["code"], -32601, "{method}");
    }
}

#[tokio::test]
async fn a_new_session_has_modes_and_options() {
    let mut wire = Wire::open().await;
    let answer = wire.new_session("/work").await;
    assert_eq!(answer["sessionId"], "session-1");
    assert_eq!(answer["modes"]["currentModeId"], "default");
    let modes = answer["modes"]["availableModes"].as_array().unwrap();
    let ids: Vec<_> = modes.iter().map(|mode| &mode["id"]).collect();
    assert_eq!(ids, ["default", "careful"]);

    let options = &answer["configOptions"];
    assert_eq!(options[0]["id"], "model");
    assert_eq!(options[0]["type"], "select");
    assert_eq!(options[0]["currentValue"], "small");
    assert_eq!(options[0]["options"][1]["value"], "large");
    assert_eq!(options[1]["id"], "thinking");
    assert_eq!(options[1]["type"], "boolean");
    assert_eq!(options[1]["currentValue"], true);
}

#[tokio::test]
async fn options_that_are_on_or_off_are_for_clients_that_know_them() {
    let mut wire = Wire::open_with(scripted::agent(), json!({})).await;
    let options = wire.new_session("/").await["configOptions"].take();
    assert_eq!(options.as_array().unwrap().len(), 1);
    let heard = wire.run("set model large").await;
    let options = &heard.updates[0]["configOptions"];
    assert_eq!(options.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn commands_come_right_behind_the_answer_that_opens_a_session() {
    let mut wire = Wire::open_with(scripted::agent_with_commands(), json!({})).await;
    wire.new_session("/").await;
    let commands = wire.peer.receive().await;
    assert_eq!(commands["params"]["sessionId"], "session-1");
    let update = &commands["params"]["update"];
    assert_eq!(update["sessionUpdate"], "available_commands_update");
    assert_eq!(update["availableCommands"][0]["name"], "help");

    for method in ["session/load", "session/resume"] {
        let heard = wire.ask(method, session("session-1")).await;
        assert!(heard.updates.is_empty(), "{method}");
        let update = wire.peer.receive().await["params"]["update"].take();
        assert_eq!(update["sessionUpdate"], "available_commands_update");
    }
}

#[tokio::test]
async fn the_mode_and_the_options_are_set_and_kept() {
    let mut wire = Wire::in_session().await;
    let params = json!({"sessionId": "session-1", "modeId": "careful"});
    assert_eq!(wire.ask("session/set_mode", params).await.answer, json!({}));
    let params = json!({"sessionId": "session-1", "configId": "model", "value": "large"});
    let answer = wire.ask("session/set_config_option", params).await.answer;
    assert_eq!(answer["configOptions"][0]["currentValue"], "large");
    let params = json!({"sessionId": "session-1", "configId": "thinking", "type": "boolean", "value": false});
    let answer = wire.ask("session/set_config_option", params).await.answer;
    assert_eq!(answer["configOptions"][0]["currentValue"], "large");
    assert_eq!(answer["configOptions"][1]["currentValue"], false);
    assert!(wire.run("think x").await.updates.is_empty());

    for method in ["session/load", "session/resume"] {
        let answer = wire.ask(method, session("session-1")).await.answer;
        assert_eq!(answer["modes"]["currentModeId"], "careful");
        assert_eq!(answer["configOptions"][0]["currentValue"], "large");
        assert_eq!(answer["configOptions"][1]["currentValue"], false);
    }
}

#[tokio::test]
async fn what_there_is_not_is_named_with_its_field() {
    let mut wire = Wire::in_session().await;
    for (method, params, field) in [
        ("session/set_mode", json!({"modeId": "wild"}), "modeId"),
        (
            "session/set_config_option",
            json!({"configId": "colour", "value": "red"}),
            "configId",
        ),
        (
            "session/set_config_option",
            json!({"configId": "model", "value": "huge"}),
            "value",
        ),
        (
            "session/set_config_option",
            json!({"configId": "thinking", "value": "yes"}),
            "value",
        ),
        ("session/list", json!({"cursor": "soon"}), "cursor"),
    ] {
        let mut params = params;
        params["sessionId"] = json!("session-1");
        let error = wire.ask(method, params).await.answer;
        assert_eq!(error["code"], -32602, "{error}");
        assert_eq!(error["data"]["field"], field, "{error}");
        assert!(error["data"]["reason"].is_string(), "{error}");
    }
}

#[tokio::test]
async fn unknown_sessions_are_not_found() {
    let mut wire = Wire::in_session().await;
    for (method, extra) in [
        ("session/prompt", json!({"prompt": []})),
        ("session/load", json!({})),
        ("session/resume", json!({})),
        ("session/close", json!({})),
        ("session/set_mode", json!({"modeId": "careful"})),
        (
            "session/set_config_option",
            json!({"configId": "model", "value": "large"}),
        ),
    ] {
        let mut params = session("gone");
        for (key, value) in extra.as_object().unwrap() {
            params[key] = value.clone();
        }
        let error = wire.ask(method, params).await.answer;
        assert_eq!(error["code"], -32002, "{method}: {error}");
        assert_eq!(error["data"], json!({"sessionId": "gone"}));
    }
    // The protocol wants this one to succeed silently.
    let params = json!({"sessionId": "gone"});
    assert_eq!(wire.ask("session/delete", params).await.answer, json!({}));
}

#[tokio::test]
async fn a_session_is_loaded_with_its_history_and_resumed_without() {
    let mut wire = Wire::in_session().await;
    wire.run("say one \nthink Hm.\nsay two").await;
    wire.run("tool Look 1ms").await;
    let params = json!({"sessionId": "session-1"});
    assert_eq!(wire.ask("session/close", params).await.answer, json!({}));
    let error = wire.run("say x").await.answer;
    assert_eq!(error["code"], -32002);

    let heard = wire.ask("session/load", session("session-1")).await;
    let said: Vec<_> = heard
        .updates
        .iter()
        .map(|update| {
            let field = |value: &Value| value.as_str().unwrap().to_owned();
            [
                field(&update["sessionUpdate"]),
                field(&update["messageId"]),
                field(&update["content"]["text"]),
            ]
        })
        .collect();
    assert_eq!(
        said,
        [
            [
                "user_message_chunk",
                "message-1",
                "say one \nthink Hm.\nsay two"
            ],
            ["agent_message_chunk", "message-2", "onetwo"],
            ["user_message_chunk", "message-3", "tool Look 1ms"],
        ]
    );
    wire.run("say three").await.expect_end("end_turn");

    let heard = wire.ask("session/resume", session("session-1")).await;
    assert!(heard.updates.is_empty());
    wire.run("say four").await.expect_end("end_turn");
}

#[tokio::test]
async fn closing_cancels_the_turn() {
    let mut wire = Wire::in_session().await;
    let turn = wire.send("session/prompt", prompt("wait\nsay bye")).await;
    let close = wire
        .send("session/close", json!({"sessionId": "session-1"}))
        .await;
    let heard = wire.peer.receive_until(close).await;
    assert_eq!(heard[0]["params"]["update"]["content"]["text"], "bye");
    assert_eq!(heard[1]["id"], turn);
    assert_eq!(heard[1]["result"]["stopReason"], "cancelled");
}

#[tokio::test]
async fn sessions_are_listed_page_by_page_and_by_directory() {
    let mut wire = Wire::open().await;
    for _ in 0..scripted::PAGE_SIZE {
        wire.new_session("/work").await;
    }
    wire.new_session("/other").await;
    wire.run("say hello").await;

    let list = |params| ("session/list", params);
    let (method, params) = list(json!({}));
    let first = wire.ask(method, params).await.answer;
    let sessions = first["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), scripted::PAGE_SIZE);
    assert_eq!(sessions[0]["sessionId"], "session-1", "it was used last");
    assert_eq!(sessions[0]["title"], "say hello");
    assert_eq!(sessions[0]["cwd"], "/work");
    let updated = sessions[0]["updatedAt"].as_str().unwrap();
    assert!(updated.contains('T') && updated.ends_with('Z'), "{updated}");
    assert_eq!(sessions[1]["sessionId"], "session-21");
    assert_eq!(sessions[1]["title"], Value::Null);

    let (method, params) = list(json!({"cursor": first["nextCursor"]}));
    let second = wire.ask(method, params).await.answer;
    assert_eq!(second["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(second["sessions"][0]["sessionId"], "session-2");
    assert_eq!(second.get("nextCursor"), None);

    let (method, params) = list(json!({"cwd": "/other"}));
    let other = wire.ask(method, params).await.answer;
    assert_eq!(other["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(other["sessions"][0]["sessionId"], "session-21");
}

#[tokio::test]
async fn a_deleted_session_is_gone() {
    let mut wire = Wire::in_session().await;
    let params = json!({"sessionId": "session-1"});
    assert_eq!(wire.ask("session/delete", params).await.answer, json!({}));
    let list = wire.ask("session/list", json!({})).await.answer;
    assert_eq!(list["sessions"], json!([]));
    let error = wire.ask("session/load", session("session-1")).await.answer;
    assert_eq!(error["code"], -32002);
}

#[tokio::test]
async fn connections_of_one_agent_share_its_sessions() {
    let agent = scripted::agent().build();
    let mut peers = Vec::new();
    for _ in 0..2 {
        let (mut peer, transport) = endturn_testkit::RawPeer::pair();
        let agent = agent.clone();
        tokio::spawn(async move { agent.serve(transport).await });
        peer.initialize().await;
        peers.push(peer);
    }
    let request = |id: u64, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let new = json!({"cwd": "/work", "mcpServers": []});
    peers[0].send(request(1, "session/new", new)).await;
    peers[0].receive_until(1).await;
    peers[1]
        .send(request(1, "session/load", session("session-1")))
        .await;
    let answer = peers[1].receive().await;
    assert_eq!(answer["result"]["modes"]["currentModeId"], "default");
}
