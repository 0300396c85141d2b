//! What each step of a script does that needs nothing of the client.

use std::time::Duration;

use endturn_testkit::scripted;
use serde_json::{Value, json};

use crate::wire::{Wire, prompt};

#[tokio::test]
async fn words_and_ends() {
    let mut wire = Wire::in_session().await;
    let heard = wire
        .run("say a\nthink b\nmeta {\"c\":1}\nend refusal\nsay d")
        .await;
    assert_eq!(
        heard.updates,
        [
            json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}}),
            json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "b"}}),
        ]
    );
    assert_eq!(
        heard.answer,
        json!({"stopReason": "refusal", "_meta": {"c": 1}})
    );

    let heard = wire.run("flood 3 2").await;
    assert_eq!(
        (heard.updates.len(), heard.said()),
        (3, "xxxxxx".to_owned())
    );
}

#[tokio::test]
async fn errors() {
    let mut wire = Wire::in_session().await;
    let error = wire.run("error 7 No").await.answer;
    assert_eq!(error, json!({"code": 7, "message": "No"}));
    for script in ["fail the disk is full", "panic", "blocking\npanic"] {
        let error = wire.run(script).await.answer;
        assert_eq!(error, json!({"code": -32603, "message": "Internal error"}));
    }
    let error = wire.run("hang on").await.answer;
    assert_eq!(error["code"], -32602);
    assert_eq!(
        error["data"],
        json!({"field": "prompt", "reason": "line 1 of the script should be: hang"})
    );
}

#[tokio::test(start_paused = true)]
async fn steps_take_their_time_and_notice_a_cancel_between_two() {
    let mut wire = Wire::in_session().await.patient();
    let heard = wire.run("steps 2 1h\nsleep 1h\nignore 1h").await;
    heard.expect_end("end_turn");
    assert_eq!(heard.said(), "Step 1/2... Step 2/2... All steps completed!");

    for (script, said) in [
        ("say ready\nsteps 3 1ms", "ready[Cancelled at step 1]"),
        ("say ready\nsleep 1h\nsay woken", "readywoken"),
        ("say ready\nwait\nsay stopped", "readystopped"),
        ("say ready\ntool Look 1h\nsay over", "readyover"),
        ("say ready\nignore 1s\nsay late", "readylate"),
    ] {
        wire.peer
            .send_all([
                json!({"jsonrpc": "2.0", "id": "turn", "method": "session/prompt", "params": prompt(script)}),
                json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "session-1"}}),
            ])
            .await;
        let mut heard = wire.peer.receive_until("turn").await;
        let answer = heard.pop().unwrap();
        assert_eq!(answer["result"]["stopReason"], "cancelled", "{script}");
        let chunks: String = heard
            .iter()
            .filter_map(|it| it["params"]["update"]["content"]["text"].as_str())
            .collect();
        assert_eq!(chunks, said);
    }
}

#[tokio::test]
async fn a_tool_call_goes_through_its_states() {
    let mut wire = Wire::in_session().await;
    let heard = wire.run("tool Build it 1ms").await;
    assert_eq!(heard.states(), ["pending", "in_progress", "completed"]);
    assert_eq!(heard.updates[0]["title"], "Build it");
}

#[tokio::test]
async fn a_plan_goes_through_its_states() {
    let mut wire = Wire::in_session().await;
    let heard = wire.run("plan look; act").await;
    let states: Vec<_> = heard
        .updates
        .iter()
        .map(|update| {
            assert_eq!(update["sessionUpdate"], "plan");
            let entries = update["entries"].as_array().unwrap();
            assert_eq!(entries[1]["content"], "act");
            [0, 1].map(|place: usize| entries[place]["status"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        states,
        [
            ["pending", "pending"],
            ["in_progress", "pending"],
            ["completed", "in_progress"],
            ["completed", "completed"],
        ]
    );
}

#[tokio::test]
async fn what_the_agent_reports_about_the_session() {
    let mut wire = Wire::in_session().await;
    let heard = wire
        .run("usage 10 200\ntitle My work\nmode careful\nset model large")
        .await;
    assert_eq!(
        heard.updates[..3],
        [
            json!({"sessionUpdate": "usage_update", "used": 10, "size": 200}),
            json!({"sessionUpdate": "session_info_update", "title": "My work"}),
            json!({"sessionUpdate": "current_mode_update", "currentModeId": "careful"}),
        ]
    );
    let options = &heard.of_kind("config_option_update")[0]["configOptions"];
    assert_eq!(options[0]["id"], "model");
    assert_eq!(options[0]["currentValue"], "large");
    assert_eq!(options[1]["currentValue"], true);
}

#[tokio::test]
async fn thoughts_can_be_switched_off() {
    let mut wire = Wire::in_session().await;
    let heard = wire
        .run("set thinking false\nthink a\nset thinking true\nthink b")
        .await;
    let thoughts = heard.of_kind("agent_thought_chunk");
    assert_eq!(thoughts.len(), 1);
    assert_eq!(thoughts[0]["content"]["text"], "b");
}

#[tokio::test(start_paused = true)]
async fn nothing_that_is_late_gets_out() {
    let mut wire = Wire::in_session().await;
    wire.run("late x").await.expect_end("end_turn");
    // Meanwhile the task tries again and again.
    let heard = wire.run("sleep 500ms").await;
    assert_eq!(heard.said(), "");
}

#[tokio::test]
async fn help_says_which_steps_there_are() {
    let mut wire = Wire::in_session().await;
    assert_eq!(wire.run("/help").await.said(), scripted::STEPS);
}

#[tokio::test]
async fn a_script_can_block_a_thread_that_is_named_after_its_session() {
    let mut wire = Wire::in_session().await;
    // Other tests have threads of this name too, and no other test has a third session.
    wire.new_session("/").await;
    wire.new_session("/").await;
    let mut params = prompt("blocking\nsay one\nwait\nsay two");
    params["sessionId"] = json!("session-3");
    let id = wire.send("session/prompt", params).await;
    let text = |message: &Value| message["params"]["update"]["content"]["text"].clone();
    assert_eq!(text(&wire.peer.receive().await), "one");
    #[cfg(target_os = "linux")]
    {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
        let names = tasks.flat_map(|task| std::fs::read_to_string(task.path().join("comm")));
        assert_eq!(names.filter(|name| name.trim() == "session-3").count(), 1);
    }
    let cancel = json!({"sessionId": "session-3"});
    wire.peer
        .send(json!({"jsonrpc": "2.0", "method": "session/cancel", "params": cancel}))
        .await;
    let heard = wire.peer.receive_until(id).await;
    assert_eq!(text(&heard[0]), "two");
    assert_eq!(heard[1]["result"]["stopReason"], "cancelled");
}

#[tokio::test]
async fn a_thread_that_hangs_is_left_alone_after_the_grace_period() {
    let agent = scripted::agent().cancel_grace_period(Duration::from_millis(20));
    let mut wire = Wire::open_with(agent, json!({})).await;
    wire.new_session("/").await;
    let script = prompt("blocking\nsay up\nhang");
    let id = wire.send("session/prompt", script).await;
    wire.peer.receive().await;
    wire.cancel().await;
    let heard = wire.peer.receive_until(id).await;
    assert_eq!(heard[0]["result"]["stopReason"], "cancelled");
}

#[tokio::test]
async fn a_flood_sends_all_that_it_is_told_to() {
    let mut wire = Wire::in_session().await;
    let heard = wire.run("flood 2000 100\nsay END").await;
    heard.expect_end("end_turn");
    assert_eq!(heard.updates.len(), 2001);
    assert_eq!(heard.said(), "x".repeat(200_000) + "END");
}

#[tokio::test]
async fn a_flood_stops_when_it_is_cancelled() {
    let mut wire = Wire::in_session().await;
    let script = prompt("flood 100000 100\nsay END");
    let id = wire.send("session/prompt", script).await;
    wire.peer.receive().await;
    // The client reads nothing meanwhile, so the agent cannot get far.
    wire.cancel().await;
    let mut messages = wire.peer.receive_until(id).await;
    let answer = messages.pop().unwrap();
    assert_eq!(answer["result"], json!({"stopReason": "cancelled"}));
    assert!(messages.len() < 10_000, "{} updates", messages.len());
    let text = &messages.last().unwrap()["params"]["update"]["content"]["text"];
    assert_eq!(text, &"x".repeat(100), "no step is taken after it");
}
