//! What users saw agents do, tried on an agent of this SDK by a raw client.

use std::{
    sync::{Mutex, mpsc as blocking},
    time::Duration,
};

use endturn::{
    Agent, ErrorKind, HandlerError, HandlerResult, PromptContext,
    agent::AgentBuilder,
    schema::v1::{Error, NewSessionResponse, PromptResponse, StopReason},
};
use endturn_testkit::RawPeer;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::support::{
    cancel, cancel_request, client_of, ended, error, message, new_session, prompt, result, stopped,
    text,
};

/// An agent whose turns run until they are cancelled when the prompt says `wait`, and end at once otherwise.
fn waiting() -> AgentBuilder {
    Agent::builder().on_prompt(|request, cx| async move {
        if text(&request) == "wait" {
            cx.cancelled().await;
        }
        ended()
    })
}

/// A raw client of the scripted agent, with `session-1` open.
async fn scripted() -> RawPeer {
    let mut client = client_of(endturn_testkit::scripted::agent().build()).await;
    client.send(new_session(0)).await;
    client.receive_until(0).await;
    client
}

#[tokio::test]
async fn c01_a_cancel_that_comes_while_the_turn_is_being_set_up_finds_it() {
    let (set_up, is_set_up) = oneshot::channel::<()>();
    let is_set_up = Mutex::new(Some(is_set_up));
    let agent = Agent::builder()
        .on_prompt(move |_, cx: PromptContext| {
            let is_set_up = is_set_up.lock().unwrap().take().unwrap();
            async move {
                // It logs in, reads its settings, starts its tools.
                is_set_up.await?;
                if cx.is_cancelled() {
                    cx.send_message("never mind").await?;
                }
                ended()
            }
        })
        .build();
    let mut client = client_of(agent).await;
    client.send_all([prompt(1, "a", "x"), cancel("a")]).await;
    assert!(client.barrier().await.is_empty());
    set_up.send(()).unwrap();
    assert_eq!(client.receive().await, message("a", "never mind"));
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
}

#[tokio::test]
async fn c03_a_handler_that_blocks_its_thread_blocks_neither_the_cancel_nor_other_requests() {
    let agent = Agent::builder()
        .on_new_session(|_, _| async { Ok(NewSessionResponse::new("new")) })
        .on_prompt_blocking(|_, cx| {
            let (wake, woken) = blocking::channel();
            cx.on_cancel(move || wake.send(()).unwrap());
            woken.recv()?;
            Ok(PromptResponse::new(StopReason::EndTurn))
        })
        .build();
    let mut client = client_of(agent).await;
    client.send_all([prompt(1, "a", "x"), new_session(2)]).await;
    assert_eq!(
        client.receive().await,
        result(2, json!({"sessionId": "new"}))
    );
    client.send(cancel("a")).await;
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
}

#[tokio::test(start_paused = true)]
async fn c04_a_handler_that_ignores_the_cancel_loses_its_turn_after_the_grace_period() {
    let agent = Agent::builder()
        .on_prompt(|_, _| std::future::pending())
        .build();
    let mut client = client_of(agent).await.limit(Duration::from_secs(1000));
    client.send(prompt(1, "a", "x")).await;
    client.barrier().await;
    tokio::time::advance(Duration::from_secs(600)).await;
    let stop = tokio::time::Instant::now();
    client.send(cancel("a")).await;
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    assert_eq!(stop.elapsed(), Duration::from_secs(60));
}

#[tokio::test]
async fn c05_a_cancelled_turn_is_never_answered_end_turn() {
    for reason in [
        StopReason::EndTurn,
        StopReason::MaxTokens,
        StopReason::MaxTurnRequests,
        StopReason::Refusal,
    ] {
        // The model's stream ends when it is cut off, and that looks like an answer that is complete.
        let agent = Agent::builder()
            .on_prompt(move |_, cx| async move {
                cx.cancelled().await;
                Ok(PromptResponse::new(reason))
            })
            .build();
        let mut client = client_of(agent).await;
        client.send_all([prompt(1, "a", "x"), cancel("a")]).await;
        assert_eq!(client.receive().await, stopped(1, "cancelled"));
    }
}

#[tokio::test]
async fn c06_the_error_that_a_cancel_causes_inside_the_handler_never_leaves_it() {
    async fn abort(how: &str) -> HandlerResult<PromptResponse> {
        match how {
            "own" => Err(HandlerError::internal("This operation was aborted")),
            "broken pipe" => Err(std::io::Error::from(std::io::ErrorKind::BrokenPipe))?,
            "request cancelled" => Err(Error::request_cancelled())?,
            "for the peer" => Err(Error::new(-32603, "aborted"))?,
            other => panic!("{other}"),
        }
    }
    for how in [
        "own",
        "broken pipe",
        "request cancelled",
        "for the peer",
        "panic",
    ] {
        let agent = Agent::builder()
            .on_prompt(move |_, cx| async move {
                cx.cancelled().await;
                abort(how).await
            })
            .build();
        let mut client = client_of(agent).await;
        client.send_all([prompt(1, "a", "x"), cancel("a")]).await;
        assert_eq!(client.receive().await, stopped(1, "cancelled"), "{how}");
    }
}

#[tokio::test]
async fn c07_a_prompt_is_answered_on_every_way_out_of_its_handler() {
    async fn end(how: &str) -> HandlerResult<PromptResponse> {
        let (back_end, answers) = oneshot::channel();
        match how {
            "done" => ended(),
            "back end gone" => {
                drop(back_end);
                answers.await?
            }
            "worker panics" => {
                let worker = tokio::spawn(async { panic!("as the test wants it") });
                worker.await?
            }
            "worker killed" => {
                let worker = tokio::spawn(std::future::pending());
                worker.abort();
                worker.await?
            }
            other => panic!("{other}"),
        }
    }
    let agent = Agent::builder()
        .on_prompt(|request, _| async move { end(text(&request)).await })
        .build();
    let mut client = client_of(agent).await;
    for how in [
        "back end gone",
        "worker panics",
        "worker killed",
        "panic",
        "done",
    ] {
        client.send(prompt(1, "a", how)).await;
        let answer = client.receive().await;
        if how == "done" {
            assert_eq!(answer, stopped(1, "end_turn"));
        } else {
            assert_eq!(answer["error"]["code"], -32603, "{how}: {answer}");
        }
        assert!(client.barrier().await.is_empty(), "once: {how}");
    }
}

/// An agent whose handler is stuck on a thread of its own when the prompt says so, with what lets it go and says that it went.
fn stuck() -> (Agent, blocking::Sender<()>, mpsc::UnboundedReceiver<()>) {
    let (let_go, gate) = blocking::channel();
    let (went, gone) = mpsc::unbounded_channel();
    let gate = Mutex::new(gate);
    let agent = Agent::builder()
        .on_prompt_blocking(move |request, cx| {
            struct Tell(mpsc::UnboundedSender<()>);
            impl Drop for Tell {
                fn drop(&mut self) {
                    self.0.send(()).ok();
                }
            }
            if text(&request) == "stuck" {
                let _tell = Tell(went.clone());
                cx.send_message("stuck")?;
                gate.lock().unwrap().recv()?;
                cx.send_message("so there").ok();
            } else {
                cx.cancelled();
            }
            Ok(PromptResponse::new(StopReason::Refusal))
        })
        .build();
    (agent, let_go, gone)
}

#[tokio::test]
async fn c08_what_a_handler_returns_after_its_turn_is_not_the_next_turns_answer() {
    let (agent, let_go, mut gone) = stuck();
    let mut client = client_of(agent).await;
    client.send(prompt(1, "a", "stuck")).await;
    assert_eq!(client.receive().await, message("a", "stuck"));
    client.send(cancel_request(1)).await;
    assert_eq!(client.receive().await["error"]["code"], -32800);
    client.send(prompt(2, "a", "x")).await;
    assert!(client.barrier().await.is_empty());
    let_go.send(()).unwrap();
    gone.recv().await.unwrap();
    assert!(client.barrier().await.is_empty(), "neither for 1 nor for 2");
    client.send(cancel("a")).await;
    assert_eq!(client.receive().await, stopped(2, "cancelled"));
}

#[tokio::test(start_paused = true)]
async fn c09_a_session_takes_prompts_again_however_its_turn_ended() {
    let agent = Agent::builder()
        .max_prompt_duration(Duration::from_secs(600))
        .on_prompt(|request, cx: PromptContext| async move {
            match text(&request) {
                "wait" => cx.cancelled().await,
                "hang" => std::future::pending().await,
                _ => panic!("as the test wants it"),
            }
            ended()
        })
        .build();
    let mut client = client_of(agent).await.limit(Duration::from_secs(10_000));
    let mut id = 0;
    for (what, end) in [
        ("wait", Some("session/cancel")),
        ("hang", Some("session/cancel")),
        ("hang", Some("$/cancel_request")),
        ("hang", None),
        ("panic", None),
    ] {
        id += 1;
        client.send(prompt(id, "a", what)).await;
        match end {
            Some("session/cancel") => client.send(cancel("a")).await,
            Some(_) => client.send(cancel_request(id)).await,
            None => {}
        }
        let answer = client.receive().await;
        assert_eq!(answer["id"], id, "{what}, {end:?}: {answer}");
        // Sent on the heels of the answer, as a user's client does.
        id += 1;
        client
            .send_all([prompt(id, "a", "wait"), cancel("a")])
            .await;
        assert_eq!(client.receive().await, stopped(id, "cancelled"));
    }
}

#[tokio::test]
async fn c09_a_handler_that_was_left_behind_does_not_free_the_session_of_the_next_turn() {
    let (agent, let_go, mut gone) = stuck();
    let mut client = client_of(agent).await;
    client.send(prompt(1, "a", "stuck")).await;
    assert_eq!(client.receive().await, message("a", "stuck"));
    client.send(cancel_request(1)).await;
    client.receive_until(1).await;
    client.send(prompt(2, "a", "x")).await;
    let_go.send(()).unwrap();
    gone.recv().await.unwrap();
    client.send(prompt(3, "a", "x")).await;
    let refused = client.receive().await;
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(3), &json!(-32600))
    );
    client.send(cancel("a")).await;
    assert_eq!(client.receive().await, stopped(2, "cancelled"));
}

#[tokio::test]
async fn c10_a_prompt_for_a_busy_session_is_refused_and_the_turn_goes_on() {
    let mut client = client_of(waiting().build()).await;
    client.send(prompt(1, "a", "wait")).await;
    for id in 2..5 {
        client.send(prompt(id, "a", "and another thing")).await;
        let refused = client.receive().await;
        assert_eq!(refused["id"], id);
        assert_eq!(refused["error"]["code"], -32600);
        assert_eq!(refused["error"]["data"], json!({"sessionId": "a"}));
    }
    client.send(cancel("a")).await;
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn c11_a_stop_that_comes_too_late_does_not_hit_the_next_turn() {
    let mut client = client_of(waiting().build()).await;
    client.send(prompt(1, "a", "x")).await;
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    client.send_all([cancel("a"), prompt(2, "a", "wait")]).await;
    assert!(client.barrier().await.is_empty());
    client.send(cancel("a")).await;
    assert_eq!(client.receive().await, stopped(2, "cancelled"));
}

#[tokio::test]
async fn c12_a_user_who_presses_stop_again_and_again_gets_one_answer() {
    let mut client = client_of(waiting().build()).await;
    client
        .send_all([
            prompt(1, "a", "wait"),
            cancel("a"),
            cancel("a"),
            cancel("a"),
        ])
        .await;
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    client.send(cancel("a")).await;
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn c13_a_stream_that_outlives_its_turn_writes_nothing_behind_the_answer() {
    let (answered, is_answered) = oneshot::channel::<()>();
    let is_answered = Mutex::new(Some(is_answered));
    let (tell, mut told) = mpsc::unbounded_channel();
    let agent = Agent::builder()
        .on_prompt(move |_, cx: PromptContext| {
            let is_answered = is_answered.lock().unwrap().take().unwrap();
            let tell = tell.clone();
            async move {
                cx.send_message("first").await?;
                tokio::spawn(async move {
                    is_answered.await.unwrap();
                    let late = cx.send_message("second").await.unwrap_err();
                    tell.send(late.kind()).unwrap();
                });
                ended()
            }
        })
        .build();
    let mut client = client_of(agent).await;
    client.send(prompt(1, "a", "x")).await;
    assert_eq!(client.receive().await, message("a", "first"));
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    answered.send(()).unwrap();
    assert_eq!(told.recv().await, Some(ErrorKind::TurnEnded));
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn c14_a_prompt_written_when_the_cancelled_answer_is_read_is_taken() {
    let mut client = client_of(waiting().build()).await;
    for id in 0..200 {
        client
            .send_all([prompt(id, "a", "wait"), cancel("a")])
            .await;
        assert_eq!(client.receive().await, stopped(id, "cancelled"));
    }
}

#[tokio::test(start_paused = true)]
async fn c15_a_turn_that_waits_for_a_permission_ends_although_nobody_answers_the_question() {
    let mut client = scripted().await.limit(Duration::from_secs(1000));
    client.send(prompt(1, "session-1", "ask Delete?")).await;
    let question = client.receive().await;
    assert_eq!(question["method"], "session/request_permission");
    let stop = tokio::time::Instant::now();
    client.send(cancel("session-1")).await;
    assert_eq!(
        client.receive().await,
        cancel_request(question["id"].clone())
    );
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    assert_eq!(stop.elapsed(), Duration::from_secs(60));
}

#[tokio::test]
async fn c16_a_handler_can_tell_a_cancelled_question_from_a_rejected_one() {
    let mut client = scripted().await;
    client.send(prompt(1, "session-1", "ask Delete?")).await;
    let question = client.receive().await["id"].clone();
    let no = json!({"outcome": {"outcome": "selected", "optionId": "reject"}});
    client.send(result(question, no)).await;
    assert_eq!(
        client.receive().await,
        message("session-1", "[Permission rejected]")
    );
    assert_eq!(client.receive().await, stopped(1, "end_turn"));

    client.send(prompt(2, "session-1", "ask Delete?")).await;
    let question = client.receive().await["id"].clone();
    let cancelled = json!({"outcome": {"outcome": "cancelled"}});
    client
        .send_all([cancel("session-1"), result(question.clone(), cancelled)])
        .await;
    assert_eq!(client.receive().await, cancel_request(question));
    assert_eq!(
        client.receive().await,
        message("session-1", "[Permission cancelled]")
    );
    assert_eq!(client.receive().await, stopped(2, "cancelled"));
}

#[tokio::test]
async fn c17_a_cancel_hits_one_turn_and_neither_another_session_nor_its_own() {
    let mut client = client_of(waiting().build()).await;
    client
        .send_all([prompt(1, "a", "wait"), prompt(2, "b", "wait"), cancel("a")])
        .await;
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    // The session lives on.
    client.send(prompt(3, "a", "x")).await;
    assert_eq!(client.receive().await, stopped(3, "end_turn"));
    assert!(client.barrier().await.is_empty());
    client.send(cancel("b")).await;
    assert_eq!(client.receive().await, stopped(2, "cancelled"));
}

#[tokio::test]
async fn c18_an_unknown_session_gets_silence_for_a_cancel_and_an_error_for_a_prompt() {
    let mut client = scripted().await;
    client.send(cancel("gone")).await;
    assert!(client.barrier().await.is_empty());
    client.send(prompt(1, "gone", "wait")).await;
    let answer = client.receive().await;
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
    assert_eq!(answer["error"]["data"], json!({"sessionId": "gone"}));
}

#[tokio::test]
async fn c19_a_cancel_gets_no_answer_and_one_that_is_a_request_an_error() {
    let mut client = client_of(waiting().build()).await;
    client.send_all([prompt(1, "a", "wait"), cancel("a")]).await;
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    assert!(client.barrier().await.is_empty());
    // With an id it is a request for a method that no agent has; its sender waits for an answer.
    let mut request = cancel("a");
    request["id"] = json!(7);
    client.send(request).await;
    let answer = client.receive().await;
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(7), &json!(-32601))
    );
}

#[tokio::test]
async fn c20_a_turn_of_a_session_from_an_earlier_connection_is_cancelled_like_any_other() {
    let agent = waiting()
        .on_new_session(|_, _| async { Ok(NewSessionResponse::new("a")) })
        .build();
    let mut before = client_of(agent.clone()).await;
    before.send(new_session(0)).await;
    before.receive_until(0).await;
    before.send(prompt(1, "a", "wait")).await;
    before.barrier().await;
    before.hang_up();
    assert_eq!(before.receive_line().await, None);

    let mut client = client_of(agent).await;
    client.send(prompt(1, "a", "wait")).await;
    assert!(client.barrier().await.is_empty());
    client.send(cancel("a")).await;
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
}

#[tokio::test]
async fn c25_a_tool_call_that_the_cancel_interrupts_is_closed_before_the_answer() {
    let mut client = scripted().await;
    client.send(prompt(1, "session-1", "tool Build 1h")).await;
    let kind = |update: &Value, kind: &str, status: Value| {
        let update = &update["params"]["update"];
        assert_eq!(update["sessionUpdate"], kind);
        assert_eq!(update["status"], status, "{update}");
    };
    // A status that is `pending` goes without saying.
    kind(&client.receive().await, "tool_call", Value::Null);
    kind(
        &client.receive().await,
        "tool_call_update",
        json!("in_progress"),
    );
    client.send(cancel("session-1")).await;
    kind(&client.receive().await, "tool_call_update", json!("failed"));
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
}

#[tokio::test]
async fn c27_a_cancel_request_is_obeyed_once_and_only_for_its_very_id() {
    let agent = waiting()
        .on_new_session(|_, _| std::future::pending())
        .build();
    let mut client = client_of(agent).await;
    client
        .send_all([prompt(1, "a", "wait"), new_session("2")])
        .await;
    for other in [
        json!("1"),
        json!(2),
        json!(1.0),
        json!(3),
        Value::Null,
        json!([1]),
    ] {
        client.send(cancel_request(other)).await;
    }
    assert!(client.barrier().await.is_empty());
    for id in [json!(1), json!("2")] {
        client
            .send_all([cancel_request(id.clone()), cancel_request(id.clone())])
            .await;
        let mut expected = error(id.clone(), -32800);
        expected["error"]["message"] = json!("Request cancelled");
        assert_eq!(client.receive().await, expected);
        client.send(cancel_request(id)).await;
        assert!(client.barrier().await.is_empty());
    }
}

#[tokio::test]
async fn c27_a_cancelled_request_is_answered_although_its_handler_goes_on() {
    let (agent, let_go, mut gone) = stuck();
    let mut client = client_of(agent).await;
    client.send(prompt(1, "a", "stuck")).await;
    assert_eq!(client.receive().await, message("a", "stuck"));
    client.send_all([cancel("a"), cancel_request(1)]).await;
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    let_go.send(()).unwrap();
    gone.recv().await.unwrap();
    assert!(client.barrier().await.is_empty());
}
