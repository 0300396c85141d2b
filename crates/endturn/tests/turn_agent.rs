//! A raw client against an agent: what is written for a turn, line by line.

mod common;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use common::{cancel, cancel_request, client_of, message, prompt, result, stopped};
use endturn::{
    Agent, CancelCause, HandlerError, HandlerResult, PromptContext,
    schema::v1::{ContentBlock, Error, PromptRequest, PromptResponse, StopReason},
};
use endturn_testkit::RawPeer;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};

fn ended() -> HandlerResult<PromptResponse> {
    Ok(PromptResponse::new(StopReason::EndTurn))
}

fn text(request: &PromptRequest) -> String {
    let ContentBlock::Text(block) = &request.prompt[0] else {
        panic!("another block");
    };
    block.text.clone()
}

/// An agent whose handler waits for a cancel when the prompt says `wait`, and ends at once otherwise.
fn waiting() -> Agent {
    Agent::builder()
        .on_prompt(|request, cx| async move {
            if text(&request) == "wait" {
                cx.cancelled().await;
            }
            ended()
        })
        .build()
}

/// Every way a handler can come to its end, by name.
async fn finish(how: &str) -> HandlerResult<PromptResponse> {
    match how {
        "return" => {
            let meta: endturn::schema::v1::Meta =
                serde_json::from_value(json!({"kept": [1]})).unwrap();
            Ok(PromptResponse::new(StopReason::MaxTokens).meta(meta))
        }
        "fail" => Err(HandlerError::internal("secret")),
        "error" => Err(Error::new(-32042, "for the peer"))?,
        "panic" => panic!("as the test wants it"),
        other => unreachable!("{other}"),
    }
}

#[tokio::test]
async fn one_turn_a_second_prompt_is_rejected_and_the_first_goes_on() {
    let mut client = client_of(waiting()).await;
    client.send(prompt(1, "a", "wait")).await;
    client.send(prompt(2, "a", "go")).await;
    let rejected = client.receive().await;
    assert_eq!(rejected["id"], 2);
    assert_eq!(rejected["error"]["code"], -32600);
    assert_eq!(rejected["error"]["data"], json!({"sessionId": "a"}));
    // Another session is another matter.
    client.send(prompt(3, "b", "go")).await;
    assert_eq!(client.receive().await, stopped(3, "end_turn"));
    client.send(cancel("b")).await;
    assert!(client.barrier().await.is_empty());
    client.send(cancel("a")).await;
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
}

#[tokio::test]
async fn wire_order_a_cancel_in_the_same_write_finds_its_prompt() {
    let mut client = client_of(waiting()).await;
    client.send_all([prompt(1, "a", "wait"), cancel("a")]).await;
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    // Also when the handler would have ended at once, or the prompt comes right behind.
    client
        .send_all([prompt(2, "a", "go"), cancel("a"), prompt(3, "b", "go")])
        .await;
    let answers = [client.receive().await, client.receive().await];
    assert!(answers.contains(&stopped(2, "cancelled")), "{answers:?}");
    assert!(answers.contains(&stopped(3, "end_turn")), "{answers:?}");
}

#[tokio::test]
async fn wire_order_a_blocked_handler_does_not_block_the_reader() {
    let agent = Agent::builder()
        .on_prompt(|_, _| std::future::pending())
        .build();
    let mut client = client_of(agent).await;
    client.send(prompt(1, "a", "x")).await;
    client.send(cancel_request(1)).await;
    assert_eq!(client.receive().await["error"]["code"], -32800);
}

#[tokio::test]
async fn cancelled_answer_whatever_the_handler_does() {
    for how in ["return", "fail", "error", "panic"] {
        let agent = Agent::builder()
            .on_prompt(|request, cx| async move {
                cx.cancelled().await;
                finish(&text(&request)).await
            })
            .build();
        let mut client = client_of(agent).await;
        client.send_all([prompt(1, "a", how), cancel("a")]).await;
        let expected = if how == "return" {
            result(
                1,
                json!({"stopReason": "cancelled", "_meta": {"kept": [1]}}),
            )
        } else {
            stopped(1, "cancelled")
        };
        assert_eq!(client.receive().await, expected, "{how}");
        assert!(client.barrier().await.is_empty(), "one-answer: {how}");
    }
}

#[tokio::test]
async fn a_failure_before_the_cancel_is_answered_as_any_other() {
    let agent = Agent::builder()
        .on_prompt(|request, _| async move { finish(&text(&request)).await })
        .build();
    let mut client = client_of(agent).await;
    client.send(prompt(1, "a", "fail")).await;
    assert_eq!(
        client.receive().await["error"],
        json!({"code": -32603, "message": "Internal error"}),
        "the text of an error that is not for the peer stays here"
    );
    client.send(prompt(2, "a", "error")).await;
    assert_eq!(
        client.receive().await["error"],
        json!({"code": -32042, "message": "for the peer"})
    );
    client.send(prompt(3, "a", "return")).await;
    assert_eq!(client.receive().await["result"]["stopReason"], "max_tokens");
}

#[tokio::test]
async fn panic_only_the_turn_that_panicked_fails() {
    let agent = Agent::builder()
        .on_prompt(|request, cx| async move {
            if text(&request) == "wait" {
                cx.cancelled().await;
                return ended();
            }
            finish("panic").await
        })
        .build();
    let mut client = client_of(agent).await;
    client
        .send_all([prompt(1, "a", "wait"), prompt(2, "b", "x")])
        .await;
    assert_eq!(client.receive().await["error"]["code"], -32603);
    client.send(cancel("a")).await;
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
}

#[tokio::test]
async fn cancel_signal_reaches_the_handler_in_every_way_and_stays() {
    let calls = Arc::new(AtomicU32::new(0));
    let (report, mut reports) = mpsc::unbounded_channel();
    let counted = Arc::clone(&calls);
    let agent = Agent::builder()
        .on_prompt(move |_, cx: PromptContext| {
            let (calls, report) = (Arc::clone(&counted), report.clone());
            async move {
                assert!(!cx.is_cancelled());
                assert_eq!(cx.cause(), None);
                let count = |calls: &Arc<AtomicU32>| {
                    let calls = Arc::clone(calls);
                    move || {
                        calls.fetch_add(1, Ordering::Relaxed);
                    }
                };
                cx.on_cancel(count(&calls));
                cx.on_cancel(|| panic!("a callback's panic is its own"));
                cx.on_cancel(count(&calls));
                report.send(None).unwrap();
                cx.cancelled().await;
                cx.cancelled().await;
                assert!(cx.is_cancelled());
                assert_eq!(calls.load(Ordering::Relaxed), 2);
                cx.on_cancel(count(&calls));
                assert_eq!(calls.load(Ordering::Relaxed), 3, "late: at once");
                report.send(cx.cause()).unwrap();
                ended()
            }
        })
        .build();
    let mut client = client_of(agent).await;
    client.send(prompt(1, "a", "x")).await;
    assert_eq!(reports.recv().await, Some(None));
    client.send_all([cancel("a"), cancel("a")]).await;
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    assert_eq!(reports.recv().await, Some(Some(CancelCause::SessionCancel)));
    assert_eq!(calls.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn a_callback_of_a_turn_that_is_not_cancelled_is_dropped() {
    let (dropped, was_dropped) = oneshot::channel::<()>();
    let dropped = std::sync::Mutex::new(Some(dropped));
    let agent = Agent::builder()
        .on_prompt(move |_, cx| {
            let dropped = dropped.lock().unwrap().take();
            async move {
                cx.on_cancel(move || drop(dropped));
                ended()
            }
        })
        .build();
    let mut client = client_of(agent).await;
    client.send(prompt(1, "a", "x")).await;
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    was_dropped.await.unwrap_err();
}

#[tokio::test]
async fn cancel_handler_is_told_of_every_cancel() {
    let (told, mut cancels) = mpsc::unbounded_channel();
    let agent = Agent::builder()
        .on_prompt(|_, cx| async move {
            cx.cancelled().await;
            ended()
        })
        .on_cancel(move |notification| {
            told.send(notification.session_id.to_string()).unwrap();
            async {}
        })
        .build();
    let mut client = client_of(agent).await;
    client.send(cancel("never prompted")).await;
    assert_eq!(cancels.recv().await.unwrap(), "never prompted");
    client.send_all([prompt(1, "a", "x"), cancel("a")]).await;
    assert_eq!(cancels.recv().await.unwrap(), "a");
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    client.send(cancel("a")).await;
    assert_eq!(cancels.recv().await.unwrap(), "a");
}

#[tokio::test]
async fn idle_cancel_leaves_no_state() {
    let mut client = client_of(waiting()).await;
    client.send(cancel("a")).await;
    client.send(prompt(1, "a", "go")).await;
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    client.send(cancel("a")).await;
    client.send(prompt(2, "a", "go")).await;
    assert_eq!(client.receive().await, stopped(2, "end_turn"));
    // A malformed one does nothing either, and gets no answer.
    for params in [json!({}), json!({"sessionId": 5}), json!(null), json!([])] {
        client
            .send(json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params}))
            .await;
    }
    assert!(client.barrier().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn grace_period_starts_with_the_cancel_and_ends_the_turn_without_its_handler() {
    let (dropped, was_dropped) = oneshot::channel::<()>();
    let dropped = std::sync::Mutex::new(Some(dropped));
    let (cause, mut causes) = mpsc::unbounded_channel();
    let agent = Agent::builder()
        .on_prompt(move |_, cx: PromptContext| {
            let (dropped, cause) = (dropped.lock().unwrap().take(), cause.clone());
            let late = cx.clone();
            tokio::spawn(async move {
                late.cancelled().await;
                cause.send(late.cause()).unwrap();
                while late.send_message("on").await.is_ok() {
                    tokio::time::sleep(Duration::from_secs(20)).await;
                }
                cause.send(late.cause()).unwrap();
            });
            async move {
                let _dropped = dropped;
                std::future::pending().await
            }
        })
        .build();
    let mut client = client_of(agent).await.limit(Duration::from_secs(1000));
    client.send(prompt(1, "a", "x")).await;
    assert!(client.barrier().await.is_empty());
    tokio::time::advance(Duration::from_secs(500)).await;
    let start = tokio::time::Instant::now();
    client.send(cancel("a")).await;
    // final-updates, and a second cancel does not start the period anew.
    assert_eq!(client.receive().await, message("a", "on"));
    tokio::time::advance(Duration::from_secs(30)).await;
    client.send(cancel("a")).await;
    // The handler's own task says something more every 20 s until the end.
    let rest = client.receive_until(1).await;
    assert_eq!(rest.last(), Some(&stopped(1, "cancelled")));
    assert_eq!(start.elapsed().as_secs(), 60);
    was_dropped.await.unwrap_err();
    assert_eq!(causes.recv().await, Some(Some(CancelCause::SessionCancel)));
    assert_eq!(causes.recv().await, Some(Some(CancelCause::GracePeriod)));
    assert!(client.barrier().await.is_empty(), "late-update");
}

#[tokio::test(start_paused = true)]
async fn grace_period_zero_is_off() {
    let agent = Agent::builder()
        .cancel_grace_period(Duration::ZERO)
        .on_prompt(|_, _| async {
            tokio::time::sleep(Duration::from_secs(100_000)).await;
            ended()
        })
        .build();
    let mut client = client_of(agent).await.limit(Duration::from_secs(200_000));
    let start = tokio::time::Instant::now();
    client.send_all([prompt(1, "a", "x"), cancel("a")]).await;
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    assert_eq!(start.elapsed().as_secs(), 100_000);
}

#[tokio::test(start_paused = true)]
async fn max_duration_is_answered_with_an_error_that_names_it() {
    let agent = Agent::builder()
        .max_prompt_duration(Duration::from_secs(30 * 60))
        .on_prompt(|_, _| std::future::pending())
        .build();
    let mut client = client_of(agent).await.limit(Duration::from_secs(10_000));
    let start = tokio::time::Instant::now();
    client.send(prompt(1, "a", "x")).await;
    let answer = client.receive().await;
    assert_eq!(answer["error"]["code"], -32800);
    assert_eq!(
        answer["error"]["data"],
        json!({"maxPromptDuration": "PT30M"})
    );
    assert_eq!(start.elapsed().as_secs(), 30 * 60);
    // A turn that was being cancelled is answered `cancelled` instead.
    client.send(prompt(2, "a", "x")).await;
    assert!(client.barrier().await.is_empty());
    tokio::time::advance(Duration::from_secs(30 * 60 - 1)).await;
    client.send(cancel("a")).await;
    assert_eq!(client.receive().await, stopped(2, "cancelled"));
    assert_eq!(start.elapsed().as_secs(), 60 * 60);
}

#[tokio::test]
async fn request_cancel_ends_the_turn_at_once() {
    let mut client = client_of(waiting()).await;
    client.send(prompt("1", "a", "wait")).await;
    // Another id, another type, no id at all: nothing happens.
    for other in [json!(1), json!("2"), json!(null), json!({}), json!(1.0)] {
        client.send(cancel_request(other)).await;
    }
    client
        .send(json!({"jsonrpc": "2.0", "method": "$/cancel_request"}))
        .await;
    assert!(client.barrier().await.is_empty());
    client
        .send_all([cancel_request("1"), cancel_request("1")])
        .await;
    let answer = client.receive().await;
    assert_eq!(answer["id"], "1");
    assert_eq!(
        answer["error"],
        json!({"code": -32800, "message": "Request cancelled"})
    );
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn request_cancel_after_a_cancel_is_answered_cancelled() {
    let agent = Agent::builder()
        .on_prompt(|_, _| std::future::pending())
        .build();
    let mut client = client_of(agent).await;
    client
        .send_all([prompt(1, "a", "x"), cancel("a"), cancel_request(1)])
        .await;
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn update_order_updates_stand_before_the_answer_and_none_after_it() {
    let agent = Agent::builder()
        .on_prompt(|_, cx: PromptContext| async move {
            let late = cx.clone();
            let (over, is_over) = oneshot::channel::<()>();
            for number in 0..1000 {
                cx.send_message(number.to_string()).await?;
            }
            tokio::spawn(async move {
                // The handler's future is gone, and with it the sender, when the answer stands.
                drop(is_over.await);
                loop {
                    match late.send_message("late").await {
                        Ok(()) => tokio::task::yield_now().await,
                        Err(error) => {
                            assert_eq!(error.kind(), endturn::ErrorKind::TurnEnded);
                            return;
                        }
                    }
                }
            });
            drop(over);
            ended()
        })
        .build();
    let mut client = client_of(agent).await;
    client.send(prompt(1, "a", "x")).await;
    let mut messages = client.receive_until(1).await;
    assert_eq!(messages.pop(), Some(stopped(1, "end_turn")));
    for (number, update) in messages.into_iter().take(1000).enumerate() {
        assert_eq!(update, message("a", &number.to_string()));
    }
    assert!(client.barrier().await.is_empty(), "late-update");
}

#[tokio::test]
async fn free_before_answer_a_prompt_on_the_heels_of_an_answer_is_accepted() {
    let mut client = client_of(waiting()).await;
    for id in 0..1000 {
        client.send(prompt(id, "a", "go")).await;
        assert_eq!(client.receive().await, stopped(id, "end_turn"));
    }
}

#[tokio::test]
async fn always_answered_also_when_the_handler_vanishes() {
    // A handler that panics before it has a future, and one that is never polled to its end.
    let agent = Agent::builder()
        .on_prompt(
            |request: PromptRequest, _| -> std::future::Pending<HandlerResult<PromptResponse>> {
                assert!(text(&request) != "panic early", "as the test wants it");
                std::future::pending()
            },
        )
        .build();
    let mut client = client_of(agent).await;
    client.send(prompt(1, "a", "panic early")).await;
    assert_eq!(client.receive().await["error"]["code"], -32603);
}

#[tokio::test(start_paused = true)]
async fn lost_every_handler_is_dropped_and_nothing_is_written() {
    let (dropped, was_dropped) = oneshot::channel::<()>();
    let dropped = std::sync::Mutex::new(Some(dropped));
    let (context, contexts) = oneshot::channel();
    let context = std::sync::Mutex::new(Some(context));
    let agent = Agent::builder()
        .on_prompt(move |_, cx: PromptContext| {
            let dropped = dropped.lock().unwrap().take();
            context.lock().unwrap().take().unwrap().send(cx).unwrap();
            async move {
                let _dropped = dropped;
                std::future::pending().await
            }
        })
        .build();
    let (mut client, transport) = RawPeer::pair();
    let served = tokio::spawn(async move { agent.serve(transport).await });
    client.initialize().await;
    client.send(prompt(1, "a", "x")).await;
    let cx = contexts.await.unwrap();
    let start = tokio::time::Instant::now();
    client.hang_up();
    served.await.unwrap().unwrap();
    assert!(start.elapsed().is_zero());
    cx.cancelled().await;
    assert_eq!(cx.cause(), Some(CancelCause::ConnectionLost));
    assert!(cx.send_message("x").await.unwrap_err().is_connection_lost());
    was_dropped.await.unwrap_err();
    assert_eq!(client.receive_line().await, None);
}

#[tokio::test]
async fn lost_an_answer_that_was_claimed_is_still_written() {
    let (agent, gate) = {
        let (open, gate) = oneshot::channel::<()>();
        let gate = std::sync::Mutex::new(Some(gate));
        let agent = Agent::builder()
            .on_prompt(move |_, cx: PromptContext| {
                let gate = gate.lock().unwrap().take().unwrap();
                async move {
                    gate.await.unwrap();
                    // More than the pipe below takes, so that the answer waits behind it.
                    cx.send_message("x".repeat(10_000)).await?;
                    ended()
                }
            })
            .build();
        (agent, open)
    };
    let (mut client, transport) = RawPeer::pair_with_buffer(64);
    let served = tokio::spawn(async move { agent.serve(transport).await });
    client.initialize().await;
    client.send(prompt(1, "a", "x")).await;
    gate.send(()).unwrap();
    // The update's first byte proves that the answer has its place: the writer was behind both.
    let update = client.receive().await;
    assert_eq!(update["method"], "session/update");
    client.hang_up();
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    assert_eq!(client.receive_line().await, None);
    served.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn shutdown_cancels_the_turns_waits_for_their_answers_and_closes() {
    let agent = Agent::builder()
        .on_prompt(|request, cx: PromptContext| async move {
            cx.cancelled().await;
            assert_eq!(cx.cause(), Some(CancelCause::Shutdown));
            cx.send_message("bye").await?;
            match &*text(&request) {
                "hang" => std::future::pending().await,
                _ => ended(),
            }
        })
        .build();
    let (client, transport) = RawPeer::pair();
    let mut client = client.limit(Duration::from_secs(1000));
    let (shut_down, down) = oneshot::channel::<()>();
    let served = tokio::spawn(async move {
        agent
            .serve_until(transport, async { down.await.unwrap() })
            .await
    });
    client.initialize().await;
    client
        .send_all([prompt(1, "a", "x"), prompt(2, "b", "hang")])
        .await;
    client.barrier().await;
    shut_down.send(()).unwrap();
    let mut messages = client.receive_until(1).await;
    client.send(prompt(3, "c", "x")).await;
    messages.extend(client.receive_until(3).await);
    assert_eq!(messages.last().unwrap()["error"]["code"], -32600);
    assert!(messages.contains(&message("b", "bye")));
    assert_eq!(client.receive().await, stopped(2, "cancelled"));
    assert_eq!(client.receive_line().await, None);
    served.await.unwrap().unwrap();
}
