//! A session as one thing to hold: its turns as streams, and its state.

mod common;

use std::sync::{Arc, Mutex};

use common::{client_of, connect, initialized, message, prompt, result, stopped};
use endturn::{
    Agent, CancellationSignal, Client, ErrorKind,
    agent::AgentBuilder,
    blocking,
    client::{Session, Turn},
    schema::{
        ProtocolVersion,
        v1::{
            AvailableCommand, CloseSessionResponse, ContentBlock, DeleteSessionRequest,
            InitializeRequest, LoadSessionRequest, LoadSessionResponse, NewSessionRequest,
            NewSessionResponse, PromptResponse, ResumeSessionRequest, ResumeSessionResponse,
            SessionConfigOption, SessionMode, SessionModeState, SessionUpdate,
            SetSessionConfigOptionResponse, SetSessionModeResponse, StopReason, TextContent,
        },
    },
    transport,
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

/// The text of a piece of message.
fn word(update: SessionUpdate) -> String {
    let update = serde_json::to_value(update).unwrap();
    assert_eq!(update["sessionUpdate"], "agent_message_chunk", "{update}");
    update["content"]["text"].as_str().unwrap().to_owned()
}

async fn words(turn: &mut Turn) -> Vec<String> {
    let mut words = Vec::new();
    while let Some(update) = turn.next().await {
        words.push(word(update));
    }
    words
}

fn modes() -> SessionModeState {
    SessionModeState::new(
        "ask",
        vec![
            SessionMode::new("ask", "Ask"),
            SessionMode::new("act", "Act"),
        ],
    )
}

fn option(on: bool) -> SessionConfigOption {
    SessionConfigOption::boolean("think", "Think", on)
}

/// An agent that says its prompt word by word, and has modes and options.
fn agent() -> AgentBuilder {
    Agent::builder()
        .on_new_session(|_request, cx| async move {
            cx.session("s").send_title("New").await?;
            Ok(NewSessionResponse::new("s")
                .modes(modes())
                .config_options(vec![option(false)]))
        })
        .on_load_session(|request, cx| async move {
            let session = cx.session(request.session_id);
            session.send_title("Old").await?;
            for number in 0..100 {
                session.send_message(number.to_string()).await?;
            }
            Ok(LoadSessionResponse::new().modes(modes()))
        })
        .on_resume_session(|_request, _cx| async {
            Ok(ResumeSessionResponse::new().modes(modes()))
        })
        .on_close_session(|_request, _cx| async { Ok(CloseSessionResponse::new()) })
        .on_set_mode(|_request, _cx| async { Ok(SetSessionModeResponse::new()) })
        .on_set_config_option(|_request, _cx| async {
            Ok(SetSessionConfigOptionResponse::new(vec![option(true)]))
        })
        .on_prompt(|request, cx| async move {
            let ContentBlock::Text(text) = &request.prompt[0] else {
                panic!("not a text");
            };
            for word in text.text.split(' ') {
                if word == "wait" {
                    cx.cancelled().await;
                } else {
                    cx.send_message(word).await?;
                }
            }
            cx.send_commands(vec![AvailableCommand::new(text.text.clone(), "Again")])
                .await?;
            Ok(PromptResponse::new(StopReason::EndTurn))
        })
}

async fn serve(builder: endturn::client::ClientBuilder) -> Client {
    let (near, far) = transport::memory();
    let agent = agent().build();
    tokio::spawn(async move { agent.serve(far).await });
    initialized(builder, near).await
}

fn new() -> NewSessionRequest {
    NewSessionRequest::new("/work")
}

#[tokio::test]
async fn a_turn_is_the_stream_of_its_updates_and_then_its_answer() {
    let seen = Arc::new(Mutex::new(0));
    let client = serve(Client::builder().on_update({
        let seen = Arc::clone(&seen);
        move |_notification, _client| {
            *seen.lock().unwrap() += 1;
            async {}
        }
    }))
    .await;
    let session = Session::open(&client, new()).await.unwrap();
    let mut turn = session.turn("a b c", None);
    for expected in ["a", "b", "c"] {
        assert_eq!(word(turn.next().await.unwrap()), expected);
    }
    assert!(matches!(
        turn.next().await,
        Some(SessionUpdate::AvailableCommandsUpdate(_))
    ));
    assert_eq!(turn.next().await, None);
    assert_eq!(turn.next().await, None);
    assert_eq!(
        turn.response().await.unwrap().stop_reason,
        StopReason::EndTurn
    );
    // The handler for all sessions has seen them too, and the title.
    assert_eq!(*seen.lock().unwrap(), 5);

    // Far more updates than the stream holds, and nobody takes any of them out.
    let many = "x ".repeat(1000);
    let response = session
        .turn(many.trim_end(), None)
        .response()
        .await
        .unwrap();
    assert_eq!(response.stop_reason, StopReason::EndTurn);
}

#[tokio::test]
async fn a_turn_can_be_cancelled_while_it_is_watched() {
    let client = serve(Client::builder()).await;
    let session = Session::open(&client, new()).await.unwrap();
    let stop = CancellationSignal::new();
    let mut turn = session.turn("a wait b", &stop);
    assert_eq!(word(turn.next().await.unwrap()), "a");
    stop.cancel();
    assert_eq!(word(turn.next().await.unwrap()), "b");
    assert_eq!(
        turn.response().await.unwrap().stop_reason,
        StopReason::Cancelled
    );

    // By name, without a signal.
    let mut turn = session.turn("wait b", None);
    let (started, begun) = oneshot::channel();
    let watch = tokio::spawn(async move {
        let mut begun = Some(started);
        let first = std::future::poll_fn(|context| {
            let polled = std::pin::pin!(turn.next()).poll(context);
            begun.take().map(|begun| begun.send(()));
            polled
        });
        (first.await, turn.response().await)
    });
    begun.await.unwrap();
    session.cancel();
    let (first, response) = watch.await.unwrap();
    assert_eq!(word(first.unwrap()), "b");
    assert_eq!(response.unwrap().stop_reason, StopReason::Cancelled);
}

#[tokio::test]
async fn a_turn_shows_neither_what_was_before_it_nor_what_another_session_says() {
    let (client, mut agent) = connect(Client::builder()).await;
    agent.send(message("a", "before")).await;
    assert!(agent.barrier().await.is_empty());
    let mut turn = Session::of(&client, "a").turn("go", None);
    let watched = tokio::spawn(async move { (words(&mut turn).await, turn.response().await) });
    let id = agent.receive().await["id"].clone();
    agent
        .send_all([
            message("b", "another session"),
            message("a", "one"),
            message("a", "two"),
            stopped(id, "end_turn"),
            message("a", "after"),
        ])
        .await;
    let (words, response) = watched.await.unwrap();
    assert_eq!(words, ["one", "two"]);
    assert_eq!(response.unwrap().stop_reason, StopReason::EndTurn);
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_not_shown_the_late_updates_of_one_that_was_given_up() {
    let (client, mut agent) = connect(Client::builder()).await;
    let session = Session::of(&client, "a");
    let mut first = session.turn("one", None);
    tokio::select! {
        biased;
        _ = first.next() => panic!("nothing was said"),
        request = agent.receive() => assert_eq!(request["method"], "session/prompt"),
    }
    drop(first);
    let given_up = agent.receive().await["params"]["requestId"].clone();

    let mut second = session.turn("two", None);
    let watched = tokio::spawn(async move { (words(&mut second).await, second.response().await) });
    let id = agent.receive().await["id"].clone();
    agent
        .send_all([
            message("a", "late"),
            stopped(given_up, "cancelled"),
            message("a", "new"),
            stopped(id, "end_turn"),
        ])
        .await;
    let (words, response) = watched.await.unwrap();
    assert_eq!(words, ["new"]);
    response.unwrap();
}

#[tokio::test]
async fn a_turn_that_fails_says_so_after_its_updates() {
    let (client, mut agent) = connect(Client::builder()).await;
    let mut turn = Session::of(&client, "a").turn("go", None);
    let watched = tokio::spawn(async move { (words(&mut turn).await, turn.response().await) });
    let request = agent.receive().await;
    assert_eq!(request, prompt(request["id"].clone(), "a", "go"));
    agent.send(message("a", "one")).await;
    agent
        .send(json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32603, "message": "no"}}))
        .await;
    let (words, response) = watched.await.unwrap();
    assert_eq!(words, ["one"]);
    assert_eq!(response.unwrap_err().code(), Some(-32603));

    // A session has one turn at a time, however it is started.
    let session = Session::of(&client, "a");
    let mut turn = session.turn("go", None);
    tokio::select! {
        biased;
        _ = turn.next() => panic!("nothing was said"),
        _ = agent.receive() => {}
    }
    assert!(
        session
            .turn("go", None)
            .response()
            .await
            .unwrap_err()
            .is_busy()
    );
    // The agent leaves in the middle.
    agent.hang_up();
    assert_eq!(turn.next().await, None);
    assert!(turn.response().await.unwrap_err().is_connection_lost());
}

#[tokio::test]
async fn the_history_of_a_loaded_session_is_handled_before_it_is_there() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let client = serve(Client::builder().track_sessions().on_update({
        let seen = Arc::clone(&seen);
        move |notification, _client| {
            let seen = Arc::clone(&seen);
            async move {
                // Even by a handler that takes its time.
                tokio::task::yield_now().await;
                seen.lock().unwrap().push(notification.update);
            }
        }
    }))
    .await;
    let session = Session::load(&client, LoadSessionRequest::new("old", "/work"))
        .await
        .unwrap();
    assert_eq!(seen.lock().unwrap().len(), 101);
    let state = session.state().unwrap();
    assert_eq!(state.title(), Some("Old"));
    assert_eq!(state.mode().unwrap().to_string(), "ask");
}

#[tokio::test]
async fn the_state_follows_answers_and_updates() {
    let client = serve(Client::builder().track_sessions()).await;
    let session = Session::open(&client, new()).await.unwrap();
    let state = session.state().unwrap();
    assert_eq!(state.title(), Some("New"));
    assert_eq!(state.modes().len(), 2);
    assert_eq!(state.config_options(), [option(false)]);

    session.set_mode("act").await.unwrap();
    let options = session.set_config_option("think", true).await.unwrap();
    assert_eq!(options, [option(true)]);
    session.prompt("hello", None).await.unwrap();
    let now = session.state().unwrap();
    assert_eq!(now.mode().unwrap().to_string(), "act");
    assert_eq!(now.config_options(), [option(true)]);
    assert_eq!(now.commands()[0].name, "hello");
    // What was looked at before is as it was.
    assert_eq!(state.mode().unwrap().to_string(), "ask");

    session.close().await.unwrap();
    assert_eq!(session.state(), None);
    let resumed = Session::resume(&client, ResumeSessionRequest::new("s", "/work"))
        .await
        .unwrap();
    assert_eq!(resumed.state().unwrap().mode().unwrap().to_string(), "ask");
}

#[tokio::test]
async fn the_state_has_answers_and_updates_in_the_order_of_the_wire() {
    let (client, mut agent) = connect(Client::builder().track_sessions()).await;
    let mode = |mode: &str| {
        json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "a", "update": {
            "sessionUpdate": "current_mode_update", "currentModeId": mode,
        }}})
    };
    let session = Session::of(&client, "a");
    // The answer stands between two updates, and is read in one go with them.
    let setting = tokio::spawn(session.set_mode("two"));
    let id = agent.receive().await["id"].clone();
    agent
        .send_all([mode("one"), result(id, json!({})), mode("three")])
        .await;
    setting.await.unwrap().unwrap();
    // One more round, and the last update was handled too.
    let setting = tokio::spawn(session.set_config_option("think", true));
    let id = agent.receive().await["id"].clone();
    agent
        .send(result(id, json!({"configOptions": [option(true)]})))
        .await;
    setting.await.unwrap().unwrap();
    let state = session.state().unwrap();
    assert_eq!(state.mode().unwrap().to_string(), "three");
    assert_eq!(state.config_options(), [option(true)]);

    // However it is asked for, and whatever the answer lacks.
    let setting = tokio::spawn(client.request_raw::<Value>(
        "session/set_mode",
        &json!({"sessionId": "a", "modeId": "four"}),
    ));
    let id = agent.receive().await["id"].clone();
    agent.send(result(id, Value::Null)).await;
    setting.await.unwrap().unwrap();
    assert_eq!(session.state().unwrap().mode().unwrap().to_string(), "four");
    // A refusal changes nothing.
    let setting = tokio::spawn(session.set_mode("five"));
    let id = agent.receive().await["id"].clone();
    let refused = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": "no"}});
    agent.send(refused).await;
    setting.await.unwrap().unwrap_err();
    assert_eq!(session.state().unwrap().mode().unwrap().to_string(), "four");

    let deleting = tokio::spawn(client.delete_session(DeleteSessionRequest::new("a")));
    let id = agent.receive().await["id"].clone();
    agent.send(result(id, json!({}))).await;
    deleting.await.unwrap().unwrap();
    assert_eq!(session.state(), None);
}

#[tokio::test]
async fn without_being_asked_a_client_keeps_no_state() {
    let client = serve(Client::builder()).await;
    let session = Session::open(&client, new()).await.unwrap();
    session.prompt("hello", None).await.unwrap();
    session.set_mode("act").await.unwrap();
    assert_eq!(session.state(), None);
}

#[tokio::test]
async fn an_unknown_stop_reason_ends_the_turn_and_can_be_read() {
    let (client, mut agent) = connect(Client::builder()).await;
    let answer = tokio::spawn(Session::of(&client, "a").prompt("go", None));
    let id = agent.receive().await["id"].clone();
    agent
        .send(result(
            id,
            json!({"stopReason": "paused", "_meta": {"k": 1}}),
        ))
        .await;
    let response = answer.await.unwrap().unwrap();
    assert_eq!(response.stop_reason, StopReason::EndTurn);
    let meta = response.meta.unwrap();
    assert_eq!(meta["k"], 1);
    assert_eq!(meta[endturn::UNKNOWN_VALUES]["stopReason"], "paused");

    // Anything else that is wrong with an answer is an error, and the session goes on.
    let answer = tokio::spawn(Session::of(&client, "a").prompt("go", None));
    let id = agent.receive().await["id"].clone();
    agent.send(result(id, json!({"stopReason": 5}))).await;
    assert_eq!(
        answer.await.unwrap().unwrap_err().kind(),
        ErrorKind::InvalidAnswer
    );
    let answer = tokio::spawn(Session::of(&client, "a").prompt("go", None));
    let id = agent.receive().await["id"].clone();
    agent.send(stopped(id, "refusal")).await;
    assert_eq!(
        answer.await.unwrap().unwrap().stop_reason,
        StopReason::Refusal
    );
}

#[tokio::test]
async fn what_the_types_have_no_field_for_can_be_read_at_both_ends() {
    let (near, far) = transport::memory();
    let agent = Agent::builder()
        .on_new_session(|_request, _cx| async { Ok(NewSessionResponse::new("s")) })
        .on_prompt_raw(|params: Value, cx| async move {
            cx.send_message(params["prompt"][0]["later"].to_string())
                .await?;
            cx.cancelled().await;
            Ok(PromptResponse::new(StopReason::EndTurn))
        })
        .build();
    tokio::spawn(async move { agent.serve(far).await });
    let (words, mut said) = mpsc::unbounded_channel();
    let client =
        Client::builder().on_notification_raw("session/update", move |params: Value, _| {
            words
                .send(params["update"]["content"]["text"].clone())
                .unwrap();
            async {}
        });
    let client = initialized(client, near).await;

    // The schema's types drop what they do not know, so the field goes where it is let through.
    let mut block = TextContent::new("x");
    block.meta = Some(serde_json::from_value(json!({"k": 1})).unwrap());
    let stop = CancellationSignal::new();
    let answer = Session::of(&client, "s").prompt(ContentBlock::Text(block), &stop);
    let answer = tokio::spawn(answer.raw());
    assert_eq!(said.recv().await, Some(json!("null")));
    stop.cancel();
    let answer: Value = serde_json::from_str(answer.await.unwrap().unwrap().get()).unwrap();
    assert_eq!(answer, json!({"stopReason": "cancelled"}));
}

#[tokio::test]
async fn a_raw_prompt_handler_reads_all_that_came_and_refuses_what_it_cannot_read() {
    #[derive(serde::Deserialize)]
    struct Later {
        later: u32,
    }
    let agent = Agent::builder()
        .on_prompt_raw(|params: Later, cx| async move {
            cx.send_message(params.later.to_string()).await?;
            Ok(PromptResponse::new(StopReason::EndTurn))
        })
        .build();
    let mut client = client_of(agent).await;
    let prompt = |id: i64, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params});
    client
        .send(prompt(1, json!({"sessionId": "a", "later": 5})))
        .await;
    assert_eq!(client.receive().await, message("a", "5"));
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    for (params, field) in [
        (json!({"later": 5}), "params"),
        (json!({"sessionId": "a", "later": "x"}), "later"),
    ] {
        client.send(prompt(2, params)).await;
        let answer = client.receive().await;
        assert_eq!(answer["error"]["code"], -32602);
        assert_eq!(answer["error"]["data"]["field"], field);
    }
    // None of them has left a turn behind.
    client
        .send(prompt(3, json!({"sessionId": "a", "later": 6})))
        .await;
    assert_eq!(client.receive().await, message("a", "6"));
}

#[test]
fn a_blocking_session_has_the_same() {
    let (near, far) = transport::memory();
    let serving = std::thread::spawn(move || blocking::serve(&agent().build(), || Ok(far)));
    let client = blocking::Client::builder()
        .track_sessions()
        .connect(|| Ok(near))
        .unwrap();
    client
        .initialize(InitializeRequest::new(ProtocolVersion::V1))
        .unwrap();
    let session = blocking::Session::open(&client, new()).unwrap();
    let mut turn = session.turn("a b", None);
    let words: Vec<String> = turn.by_ref().take(2).map(word).collect();
    assert_eq!(words, ["a", "b"]);
    assert_eq!(turn.response().unwrap().stop_reason, StopReason::EndTurn);
    session.set_mode("act").unwrap();
    assert_eq!(
        session.set_config_option("think", true).unwrap(),
        [option(true)]
    );
    let state = session.state().unwrap();
    assert_eq!(state.mode().unwrap().to_string(), "act");
    assert_eq!(
        session.prompt("x", None).unwrap().stop_reason,
        StopReason::EndTurn
    );
    session.close().unwrap();
    let loaded = blocking::Session::load(&client, LoadSessionRequest::new("old", "/work")).unwrap();
    assert_eq!(loaded.state().unwrap().title(), Some("Old"));
    let resume = ResumeSessionRequest::new("old", "/work");
    let resumed = blocking::Session::resume(&client, resume).unwrap();
    assert_eq!(resumed.id(), loaded.id());
    // The agent is served until the last of them has gone.
    drop((session, loaded, resumed, client));
    serving.join().unwrap().unwrap();
}
