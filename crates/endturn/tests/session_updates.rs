//! Every update that has a method of its own, from everything that can send it.

mod common;
mod work;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use common::{client_of, message, prompt, result, stopped};
use endturn::{
    Agent, ErrorKind,
    schema::v1::{
        AvailableCommand, LoadSessionResponse, PlanEntry, PlanEntryPriority, PlanEntryStatus,
        PromptResponse, SessionConfigOption, SessionInfoUpdate, SessionUpdate, StopReason,
    },
};
use endturn_testkit::RawPeer;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use work::{agent, begin, blocking_agent, request, update};

/// Calls each method once, and `send_update` last.
macro_rules! send_each {
    ($to:expr $(, $wait:tt)?) => {{
        let to = $to;
        let plan = PlanEntry::new("Look", PlanEntryPriority::High, PlanEntryStatus::InProgress);
        let option = SessionConfigOption::boolean("think", "Think", true);
        let sent = [
            to.send_message("m \"1\"\n")$(.$wait)?,
            to.send_message_part("id 1", "m2")$(.$wait)?,
            to.send_thought("t1")$(.$wait)?,
            to.send_thought_part("id 2", "t2")$(.$wait)?,
            to.send_user_message("u1")$(.$wait)?,
            to.send_user_message_part("id 3", "u2")$(.$wait)?,
            to.send_plan(vec![plan])$(.$wait)?,
            to.send_plan(Vec::new())$(.$wait)?,
            to.send_commands(vec![AvailableCommand::new("test", "Run the tests")])$(.$wait)?,
            to.send_mode("act")$(.$wait)?,
            to.send_config_options(vec![option])$(.$wait)?,
            to.send_usage(5, u64::MAX)$(.$wait)?,
            to.send_title("Title")$(.$wait)?,
            to.send_update(SessionUpdate::SessionInfoUpdate(SessionInfoUpdate::new()))$(.$wait)?,
        ];
        sent.into_iter().collect::<Result<Vec<()>, _>>()
    }};
}

fn chunk(kind: &str, text: &str) -> Value {
    update(json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}}))
}

fn part(kind: &str, id: &str, text: &str) -> Value {
    let content = json!({"type": "text", "text": text});
    update(json!({"sessionUpdate": kind, "content": content, "messageId": id}))
}

fn each() -> Vec<Value> {
    vec![
        chunk("agent_message_chunk", "m \"1\"\n"),
        part("agent_message_chunk", "id 1", "m2"),
        chunk("agent_thought_chunk", "t1"),
        part("agent_thought_chunk", "id 2", "t2"),
        chunk("user_message_chunk", "u1"),
        part("user_message_chunk", "id 3", "u2"),
        update(json!({"sessionUpdate": "plan", "entries": [
            {"content": "Look", "priority": "high", "status": "in_progress"},
        ]})),
        update(json!({"sessionUpdate": "plan", "entries": []})),
        update(
            json!({"sessionUpdate": "available_commands_update", "availableCommands": [
                {"name": "test", "description": "Run the tests"},
            ]}),
        ),
        update(json!({"sessionUpdate": "current_mode_update", "currentModeId": "act"})),
        update(
            json!({"sessionUpdate": "config_option_update", "configOptions": [
                {"id": "think", "name": "Think", "type": "boolean", "currentValue": true},
            ]}),
        ),
        update(json!({"sessionUpdate": "usage_update", "used": 5, "size": u64::MAX})),
        update(json!({"sessionUpdate": "session_info_update", "title": "Title"})),
        update(json!({"sessionUpdate": "session_info_update"})),
    ]
}

async fn expect_each(client: &mut RawPeer) {
    for expected in each() {
        assert_eq!(client.receive().await, expected);
    }
}

#[tokio::test]
async fn a_turn_and_its_session_send_every_update_in_order() {
    let mut client = begin(agent(|cx| async move {
        assert_eq!(cx.session().session_id(), cx.session_id());
        send_each!(&cx, await)?;
        send_each!(cx.session(), await)?;
        // Also when one is used in between the other.
        cx.send_message("1").await?;
        cx.session().send_message("2").await?;
        cx.send_message("3").await?;
        Ok(())
    }))
    .await;
    expect_each(&mut client).await;
    expect_each(&mut client).await;
    for text in ["1", "2", "3"] {
        assert_eq!(client.receive().await, message("s", text));
    }
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
}

#[tokio::test]
async fn a_blocking_handler_sends_every_update_too() {
    let mut client = begin(blocking_agent(|cx| {
        assert_eq!(cx.session().session_id(), cx.session_id());
        send_each!(&cx)?;
        send_each!(cx.session())?;
        Ok(())
    }))
    .await;
    expect_each(&mut client).await;
    expect_each(&mut client).await;
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
}

#[tokio::test]
async fn a_session_that_is_loaded_has_its_history_sent_before_the_answer() {
    let asynchronous = Agent::builder().on_load_session(|request, cx| async move {
        send_each!(cx.session(request.session_id), await)?;
        Ok(LoadSessionResponse::new())
    });
    let blocking = Agent::builder().on_load_session_blocking(|request, cx| {
        send_each!(cx.session(request.session_id))?;
        Ok(LoadSessionResponse::new())
    });
    for agent in [asynchronous, blocking] {
        let mut client = client_of(agent.build()).await;
        let params = json!({"sessionId": "s", "cwd": "/", "mcpServers": []});
        client.send(request(7, "session/load", params)).await;
        expect_each(&mut client).await;
        assert_eq!(client.receive().await, result(7, json!({})));
    }
}

#[tokio::test]
async fn a_session_outlives_its_turn_and_the_turns_context_does_not() {
    let (tell, mut told) = mpsc::unbounded_channel();
    let mut client = begin(agent(move |cx| {
        tell.send(cx).unwrap();
        async { Ok(()) }
    }))
    .await;
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    let cx = told.recv().await.unwrap();
    let error = cx.send_title("Late").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TurnEnded);
    cx.session().send_title("In time").await.unwrap();
    let title = json!({"sessionUpdate": "session_info_update", "title": "In time"});
    assert_eq!(client.receive().await, update(title));

    // It is as good in the next turn, and on the thread of nobody.
    client.send(prompt(2, "s", "x")).await;
    assert_eq!(client.receive().await, stopped(2, "end_turn"));
    let session = cx.session();
    session.send_message("still").await.unwrap();
    assert_eq!(client.receive().await, message("s", "still"));

    client.hang_up();
    assert_eq!(client.receive_line().await, None);
    let error = session.send_message("gone").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionLost);
}

/// How many messages the sender has to send, each of a kibibyte.
const MANY: usize = 1000;

#[tokio::test(start_paused = true)]
async fn a_session_waits_for_a_client_that_does_not_read() {
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    let agent = Agent::builder().on_prompt(move |_, cx| {
        let count = Arc::clone(&count);
        async move {
            let session = cx.session();
            for number in 0..MANY {
                let text = format!("{number:1024}");
                session.send_message(text).await?;
                count.fetch_add(1, Ordering::Relaxed);
            }
            Ok(PromptResponse::new(StopReason::EndTurn))
        }
    });
    let agent = agent.build();
    let (mut client, transport) = RawPeer::pair_with_buffer(4 * 1024);
    tokio::spawn(async move { agent.serve(transport).await });
    client.initialize().await;
    client.send(prompt(1, "s", "x")).await;

    // The clock moves on only when every task waits.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let waiting = sent.load(Ordering::Relaxed);
    // No more than two batches of 64 KiB, what is in the pipe, and what is over by one message.
    assert!((50..200).contains(&waiting), "{waiting}");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(sent.load(Ordering::Relaxed), waiting);

    for number in 0..MANY {
        let text = format!("{number:1024}");
        assert_eq!(client.receive().await, message("s", &text));
    }
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    assert_eq!(sent.load(Ordering::Relaxed), MANY);
}
