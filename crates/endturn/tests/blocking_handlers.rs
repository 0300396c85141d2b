//! Handlers that block, each on a thread of its own.

mod common;

use std::{
    sync::{Arc, Barrier, Mutex, mpsc},
    time::Duration,
};

use common::{cancel, cancel_request, client_of, message, prompt, result, stopped};
use endturn::{
    Agent, CancelCause, ErrorKind, blocking,
    schema::v1::{
        CloseSessionResponse, NewSessionResponse, PromptResponse, ReadTextFileRequest, StopReason,
    },
};
use serde_json::json;

fn ended() -> PromptResponse {
    PromptResponse::new(StopReason::EndTurn)
}

/// A channel whose receiving end a handler can share.
fn gate() -> (mpsc::Sender<()>, Arc<Mutex<mpsc::Receiver<()>>>) {
    let (open, gate) = mpsc::channel();
    (open, Arc::new(Mutex::new(gate)))
}

#[tokio::test]
async fn a_blocking_handler_does_what_an_async_one_does_on_a_thread_with_its_sessions_name() {
    let agent = Agent::builder()
        .on_new_session_blocking(|_, cx| {
            assert_eq!(std::thread::current().name(), Some("session/new"));
            assert!(!cx.is_cancelled());
            Ok(NewSessionResponse::new("a"))
        })
        .on_prompt_blocking(|_, cx| {
            let name = std::thread::current().name().map(str::to_owned);
            cx.send_message(name.unwrap_or_default())?;
            let read = ReadTextFileRequest::new(cx.session_id().clone(), "/a");
            cx.send_thought(cx.request(&read)?.content)?;
            cx.cancelled();
            assert_eq!(cx.cause(), Some(CancelCause::SessionCancel));
            Ok(ended())
        })
        .build();
    let mut client = client_of(agent).await;
    client
        .send(json!({"jsonrpc": "2.0", "id": 0, "method": "session/new",
            "params": {"cwd": "/", "mcpServers": []}}))
        .await;
    assert_eq!(client.receive().await, result(0, json!({"sessionId": "a"})));
    // The session's id is the client's choice, and not every one is a name for a thread.
    client.send(prompt(1, "a\0b", "x")).await;
    assert_eq!(client.receive().await, message("a\0b", "ab"));
    let asked = client.receive().await["id"].clone();
    client.send(result(asked, json!({"content": "text"}))).await;
    let thought = client.receive().await;
    assert_eq!(thought["params"]["update"]["content"]["text"], "text");
    client.send(cancel("a\0b")).await;
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
}

#[tokio::test]
async fn sleep_wakes_up_when_the_turn_is_cancelled() {
    let agent = Agent::builder()
        .on_prompt_blocking(|_, cx| {
            cx.send_message("asleep")?;
            let error = cx.sleep(Duration::from_secs(100_000)).unwrap_err();
            assert!(error.is_cancelled());
            assert!(cx.sleep(Duration::ZERO).is_err(), "also from now on");
            Err(error)?
        })
        .build();
    let mut client = client_of(agent).await;
    client.send(prompt(1, "a", "x")).await;
    client.receive().await;
    client.send(cancel("a")).await;
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
}

#[tokio::test]
async fn panic_in_a_blocking_handler_is_one_turns_failure() {
    let agent = Agent::builder()
        .on_prompt_blocking(|_, _| panic!("as the test wants it"))
        .build();
    let mut client = client_of(agent).await;
    for id in 1..3 {
        client.send(prompt(id, "a", "x")).await;
        assert_eq!(client.receive().await["error"]["code"], -32603);
    }
}

#[tokio::test(start_paused = true)]
async fn an_abandoned_handlers_calls_fail_at_once_and_its_updates_do_nothing() {
    let (open, gate) = gate();
    let (kinds, results) = mpsc::channel();
    let agent = Agent::builder()
        .on_prompt_blocking(move |_, cx| {
            gate.lock().unwrap().recv().unwrap();
            kinds
                .send(cx.send_message("late").unwrap_err().kind())
                .unwrap();
            let read = ReadTextFileRequest::new(cx.session_id().clone(), "/a");
            kinds.send(cx.request(&read).unwrap_err().kind()).unwrap();
            let asleep = cx.sleep(Duration::from_secs(1000));
            kinds.send(asleep.unwrap_err().kind()).unwrap();
            assert_eq!(cx.cause(), Some(CancelCause::GracePeriod));
            Ok(ended())
        })
        .on_close_session(|_, _| async { Ok(CloseSessionResponse::new()) })
        .build();
    let mut client = client_of(agent).await.limit(Duration::from_secs(1000));
    client.send_all([prompt(1, "a", "x"), cancel("a")]).await;
    // The thread is blocked outside of this library, so nothing but the grace period can end the turn.
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    open.send(()).unwrap();
    let kinds: Vec<_> = tokio::task::spawn_blocking(move || results.iter().take(3).collect())
        .await
        .unwrap();
    assert_eq!(kinds, [ErrorKind::Cancelled; 3]);
    assert!(client.barrier().await.is_empty(), "late-update");
}

#[tokio::test]
async fn a_call_that_is_waiting_when_its_turn_is_ended_fails_at_once() {
    let (kinds, results) = mpsc::channel();
    let agent = Agent::builder()
        .on_prompt_blocking(move |_, cx| {
            let read = ReadTextFileRequest::new(cx.session_id().clone(), "/a");
            kinds.send(cx.request(&read).unwrap_err().kind()).unwrap();
            Ok(ended())
        })
        .build();
    let mut client = client_of(agent).await;
    client.send(prompt(1, "a", "x")).await;
    let asked = client.receive().await["id"].clone();
    client.send(cancel_request(1)).await;
    assert_eq!(client.receive().await, cancel_request(asked));
    assert_eq!(client.receive().await["error"]["code"], -32800);
    let kind = tokio::task::spawn_blocking(move || results.recv())
        .await
        .unwrap();
    assert_eq!(kind, Ok(ErrorKind::Cancelled));
}

#[tokio::test]
async fn a_thousand_abandoned_handlers_do_not_take_the_place_of_new_ones() {
    const ABANDONED: usize = 1000;
    // Every handler is inside its function, and stays there until the test lets it go.
    let all_inside = Arc::new(Barrier::new(ABANDONED + 1));
    let released = Arc::new(Barrier::new(ABANDONED + 1));
    let agent = {
        let (inside, released) = (Arc::clone(&all_inside), Arc::clone(&released));
        Agent::builder()
            .on_prompt_blocking(move |_, cx: blocking::PromptContext| {
                if &*cx.session_id().0 != "new" {
                    inside.wait();
                    released.wait();
                }
                Ok(ended())
            })
            .build()
    };
    let mut client = client_of(agent).await;
    for id in 0..ABANDONED {
        client.send(prompt(id, &id.to_string(), "x")).await;
    }
    let inside = Arc::clone(&all_inside);
    tokio::task::spawn_blocking(move || inside.wait())
        .await
        .unwrap();
    for id in 0..ABANDONED {
        client.send(cancel_request(id)).await;
        assert_eq!(client.receive().await["error"]["code"], -32800);
    }
    for id in 0..100 {
        client.send(prompt(id, "new", "x")).await;
        assert_eq!(client.receive().await, stopped(id, "end_turn"));
    }
    tokio::task::spawn_blocking(move || released.wait())
        .await
        .unwrap();
    assert!(client.barrier().await.is_empty());
}
