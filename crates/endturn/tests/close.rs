//! Closing a session, seen from a raw client.

mod common;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use common::{cancel_request, client_of, message, prompt, result, stopped};
use endturn::{
    Agent, CancelCause, PromptContext,
    agent::AgentBuilder,
    schema::v1::{CloseSessionRequest, CloseSessionResponse, PromptResponse, StopReason},
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

fn close(id: i64, session: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "session/close", "params": {"sessionId": session}})
}

/// An agent whose turns say goodbye when they are cancelled.
fn polite() -> AgentBuilder {
    Agent::builder().on_prompt(|_, cx: PromptContext| async move {
        cx.cancelled().await;
        assert_eq!(cx.cause(), Some(CancelCause::SessionClose));
        cx.send_message("bye").await?;
        Ok(PromptResponse::new(StopReason::EndTurn))
    })
}

#[tokio::test]
async fn close_cancels_the_turn_then_runs_the_handler_then_answers() {
    let over = Arc::new(AtomicBool::new(false));
    let (told, mut cancels) = mpsc::unbounded_channel();
    let agent = {
        let (over, seen) = (Arc::clone(&over), Arc::clone(&over));
        Agent::builder()
            .on_prompt(move |_, cx: PromptContext| {
                let over = Arc::clone(&over);
                async move {
                    cx.cancelled().await;
                    assert_eq!(cx.cause(), Some(CancelCause::SessionClose));
                    cx.send_message("bye").await?;
                    over.store(true, Ordering::Relaxed);
                    Ok(PromptResponse::new(StopReason::EndTurn))
                }
            })
            .on_close_session(move |request: CloseSessionRequest, _| {
                let over = Arc::clone(&seen);
                async move {
                    assert_eq!(&*request.session_id.0, "a");
                    assert!(over.load(Ordering::Relaxed), "the turn comes first");
                    Ok(CloseSessionResponse::new())
                }
            })
            .on_cancel(move |notification| {
                told.send(notification.session_id.to_string()).unwrap();
                async {}
            })
            .build()
    };
    let mut client = client_of(agent).await;
    client.send_all([prompt(1, "a", "x"), close(2, "a")]).await;
    assert_eq!(client.receive().await, message("a", "bye"));
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    assert_eq!(client.receive().await, result(2, json!({})));
    assert_eq!(cancels.recv().await.unwrap(), "a");
    // An idle session is closed as well, and told of.
    client.send(close(3, "a")).await;
    assert_eq!(client.receive().await, result(3, json!({})));
    assert_eq!(cancels.recv().await.unwrap(), "a");
}

#[tokio::test]
async fn a_prompt_while_closing_is_rejected_and_one_after_it_is_not() {
    let (go, gate) = oneshot::channel::<()>();
    let gate = std::sync::Mutex::new(Some(gate));
    let agent = polite()
        .on_close_session(move |_, _| {
            let gate = gate.lock().unwrap().take();
            async move {
                if let Some(gate) = gate {
                    gate.await?;
                }
                Ok(CloseSessionResponse::new())
            }
        })
        .build();
    let mut client = client_of(agent).await;
    client
        .send_all([
            prompt(1, "a", "x"),
            close(2, "a"),
            prompt(3, "a", "x"),
            close(4, "a"),
        ])
        .await;
    for id in [3, 4] {
        let rejected = client.receive().await;
        assert_eq!(rejected["id"], id);
        assert_eq!(rejected["error"]["code"], -32600);
        assert_eq!(rejected["error"]["data"], json!({"sessionId": "a"}));
    }
    client.receive_until(1).await;
    // The turn is over and the handler runs.
    client.send(prompt(5, "a", "x")).await;
    assert_eq!(client.receive().await["error"]["code"], -32600);
    go.send(()).unwrap();
    assert_eq!(client.receive().await, result(2, json!({})));
    client.send_all([prompt(6, "a", "x"), close(7, "a")]).await;
    let messages = client.receive_until(7).await;
    assert_eq!(messages[1], stopped(6, "cancelled"));
}

#[tokio::test(start_paused = true)]
async fn grace_period_bounds_the_close_of_a_session_whose_handler_hangs() {
    let agent = Agent::builder()
        .on_prompt(|_, _| std::future::pending())
        .on_close_session(|_, _| async { Ok(CloseSessionResponse::new()) })
        .build();
    let mut client = client_of(agent).await.limit(Duration::from_secs(1000));
    let start = tokio::time::Instant::now();
    client.send_all([prompt(1, "a", "x"), close(2, "a")]).await;
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    assert_eq!(client.receive().await, result(2, json!({})));
    assert_eq!(start.elapsed().as_secs(), 60);
}

#[tokio::test]
async fn a_close_that_is_given_up_leaves_the_session_usable() {
    let agent = Agent::builder()
        .on_prompt(|_, cx: PromptContext| async move {
            cx.cancelled().await;
            std::future::pending().await
        })
        .on_close_session(|_, _| std::future::pending())
        .build();
    let mut client = client_of(agent).await;
    // Given up while the turn runs.
    client
        .send_all([prompt(1, "a", "x"), close(2, "a"), cancel_request(2)])
        .await;
    assert_eq!(client.receive().await["error"]["code"], -32800);
    client.send(cancel_request(1)).await;
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    // Given up while the handler runs.
    client.send_all([close(3, "a"), cancel_request(3)]).await;
    assert_eq!(client.receive().await["error"]["code"], -32800);
    client
        .send_all([prompt(4, "a", "x"), cancel_request(4)])
        .await;
    assert_eq!(client.receive().await["error"]["code"], -32800);
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn without_a_handler_nothing_is_closed() {
    let mut client = client_of(polite().build()).await;
    client.send_all([prompt(1, "a", "x"), close(2, "a")]).await;
    assert_eq!(client.receive().await["error"]["code"], -32601);
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn what_handlers_make_possible_is_offered() {
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"protocolVersion": 1}});
    for (agent, offered) in [
        (polite().build(), Value::Null),
        (
            polite()
                .on_close_session(|_, _| std::future::pending())
                .build(),
            json!({}),
        ),
    ] {
        let mut client = client_of(agent).await;
        client.send(&initialize).await;
        let answer = client.receive().await;
        let offers = &answer["result"]["agentCapabilities"]["sessionCapabilities"];
        assert_eq!(offers["close"], offered, "{answer}");
    }
}
