//! A client against a raw agent: what is written for a prompt, and what its caller gets.

mod common;

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use common::{cancel, cancel_request, connect, connect_over, message, prompt, result, stopped};
use endturn::{
    CancellationSignal, Client, Error, ErrorKind,
    schema::v1::{
        ContentBlock, NewSessionRequest, PermissionOptionId, PromptRequest, PromptResponse,
        RequestPermissionOutcome, RequestPermissionResponse, SelectedPermissionOutcome,
        SessionUpdate, StopReason, TextContent,
    },
};
use endturn_testkit::RawPeer;
use serde_json::{Value, json};
use tokio::{
    sync::{Notify, mpsc, oneshot},
    task::JoinHandle,
};

fn request(session: &str, text: &str) -> PromptRequest {
    let text = ContentBlock::Text(TextContent::new(text));
    PromptRequest::new(session.to_owned(), vec![text])
}

type Answer = JoinHandle<Result<PromptResponse, Error>>;

/// A prompt in the background, and its id on the wire.
async fn prompted(
    client: &Client,
    agent: &mut RawPeer,
    session: &str,
    signal: Option<&CancellationSignal>,
) -> (Answer, Value) {
    let answer = tokio::spawn(client.prompt(request(session, "x"), signal));
    let received = agent.receive().await;
    let id = received["id"].clone();
    assert_eq!(received, prompt(id.clone(), session, "x"));
    (answer, id)
}

fn permission(id: i64, session: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": {
        "sessionId": session, "toolCall": {"toolCallId": "t"}, "options": [],
    }})
}

fn permission_cancelled(id: i64) -> Value {
    result(id, json!({"outcome": {"outcome": "cancelled"}}))
}

#[tokio::test]
async fn signal_sends_one_cancel_and_the_prompt_gives_the_agents_answer() {
    let (updates, mut seen) = mpsc::unbounded_channel();
    let (client, mut agent) = connect(Client::builder().on_update(move |notification, _| {
        updates.send(notification.update).unwrap();
        async {}
    }))
    .await;
    let stop = CancellationSignal::new();
    let (answer, id) = prompted(&client, &mut agent, "a", Some(&stop)).await;
    std::thread::spawn({
        let stop = stop.clone();
        move || {
            stop.cancel();
            stop.cancel();
        }
    })
    .join()
    .unwrap();
    assert_eq!(agent.receive().await, cancel("a"));
    client.cancel(&"a".to_owned().into());
    assert!(agent.barrier().await.is_empty(), "one-cancel");
    agent.send(message("a", "last words")).await;
    agent
        .send(result(
            id,
            json!({"stopReason": "cancelled", "_meta": {"m": 1}}),
        ))
        .await;
    let response = answer.await.unwrap().unwrap();
    assert_eq!(response.stop_reason, StopReason::Cancelled);
    assert_eq!(response.meta.unwrap()["m"], 1);
    assert!(matches!(
        seen.try_recv().unwrap(),
        SessionUpdate::AgentMessageChunk(_)
    ));
    stop.cancel();
    client.cancel(&"a".to_owned().into());
    assert!(
        agent.barrier().await.is_empty(),
        "one-cancel: never after the answer"
    );
}

#[tokio::test]
async fn one_cancel_a_signal_cancelled_before_the_call_follows_the_prompt() {
    let (client, mut agent) = connect(Client::builder()).await;
    let stop = CancellationSignal::new();
    stop.cancel();
    let (answer, id) = prompted(&client, &mut agent, "a", Some(&stop)).await;
    assert_eq!(agent.receive().await, cancel("a"));
    agent.send(stopped(id, "cancelled")).await;
    assert_eq!(
        answer.await.unwrap().unwrap().stop_reason,
        StopReason::Cancelled
    );
}

#[tokio::test]
async fn one_cancel_a_prompt_that_waits_for_room_is_cancelled_behind_itself() {
    let (client, mut agent) = connect_over(Client::builder(), RawPeer::pair_with_buffer(16)).await;
    // The first prompt fills the pipe, the second the outgoing buffer beyond its mark, the third waits.
    let big = "x".repeat(100_000);
    let first = tokio::spawn(client.prompt(request("a", &big), None));
    let second = tokio::spawn(client.prompt(request("b", &big), None));
    let stop = CancellationSignal::new();
    let third = tokio::spawn(client.prompt(request("c", "x"), &stop));
    tokio::task::yield_now().await;
    stop.cancel();
    let mut order = Vec::new();
    for _ in 0..4 {
        let message = agent.receive().await;
        order.push((
            message["method"].as_str().unwrap().to_owned(),
            message["params"]["sessionId"].as_str().unwrap().to_owned(),
        ));
    }
    let of_third: Vec<_> = order.iter().filter(|(_, session)| session == "c").collect();
    assert_eq!(of_third[0].0, "session/prompt", "{order:?}");
    assert_eq!(of_third[1].0, "session/cancel", "{order:?}");
    agent.hang_up();
    for prompt in [first, second, third] {
        let error = prompt.await.unwrap().unwrap_err();
        assert!(error.is_connection_lost(), "settled: {error}");
    }
}

#[tokio::test]
async fn a_second_prompt_on_a_busy_session_sends_nothing() {
    let (client, mut agent) = connect(Client::builder()).await;
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    let error = client.prompt(request("a", "y"), None).await.unwrap_err();
    assert!(error.is_busy());
    assert!(agent.barrier().await.is_empty());
    let (other, other_id) = prompted(&client, &mut agent, "b", None).await;
    agent.send(stopped(other_id, "end_turn")).await;
    agent.send(stopped(id, "end_turn")).await;
    answer.await.unwrap().unwrap();
    other.await.unwrap().unwrap();
}

#[tokio::test]
async fn permissions_open_at_the_cancel_and_later_ones_are_answered_cancelled() {
    let (asked, mut questions) = mpsc::unbounded_channel();
    let (client, mut agent) = connect(Client::builder().on_permission(move |request, _| {
        let (held, dropped) = oneshot::channel::<()>();
        asked.send((request.session_id, dropped)).unwrap();
        async move {
            let _held = held;
            std::future::pending().await
        }
    }))
    .await;
    let stop = CancellationSignal::new();
    let (answer, id) = prompted(&client, &mut agent, "a", Some(&stop)).await;
    let (other, other_id) = prompted(&client, &mut agent, "b", None).await;
    agent.send(permission(1, "a")).await;
    let (session, dropped) = questions.recv().await.unwrap();
    assert_eq!(&*session.0, "a");
    agent.send(permission(2, "b")).await;
    let (_, other_dropped) = questions.recv().await.unwrap();
    stop.cancel();
    assert_eq!(agent.receive().await, cancel("a"));
    assert_eq!(agent.receive().await, permission_cancelled(1));
    dropped.await.unwrap_err();
    agent.send(permission(3, "a")).await;
    assert_eq!(agent.receive().await, permission_cancelled(3));
    assert!(
        agent.barrier().await.is_empty(),
        "the other session is asked"
    );
    agent.send(stopped(id, "cancelled")).await;
    answer.await.unwrap().unwrap();
    // The next turn is asked again.
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    agent.send(permission(4, "a")).await;
    questions.recv().await.unwrap();
    // The agent takes its question back.
    agent.send(cancel_request(2)).await;
    assert_eq!(agent.receive().await["error"]["code"], -32800);
    other_dropped.await.unwrap_err();
    agent
        .send_all([stopped(id, "end_turn"), stopped(other_id, "end_turn")])
        .await;
    answer.await.unwrap().unwrap();
    other.await.unwrap().unwrap();
}

#[tokio::test]
async fn permissions_elicitations_are_settled_likewise() {
    let (asked, mut questions) = mpsc::unbounded_channel();
    let (client, mut agent) = connect(Client::builder().on_elicitation(move |_, _| {
        asked.send(()).unwrap();
        std::future::pending()
    }))
    .await;
    let elicitation = |id: i64| {
        json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": {
            "sessionId": "a", "mode": "form", "message": "Your name?",
            "requestedSchema": {"type": "object", "properties": {}},
        }})
    };
    let stop = CancellationSignal::new();
    let (answer, id) = prompted(&client, &mut agent, "a", Some(&stop)).await;
    agent.send(elicitation(1)).await;
    questions.recv().await.unwrap();
    stop.cancel();
    assert_eq!(agent.receive().await, cancel("a"));
    assert_eq!(
        agent.receive().await,
        result(1, json!({"action": "cancel"}))
    );
    agent.send(elicitation(2)).await;
    assert_eq!(
        agent.receive().await,
        result(2, json!({"action": "cancel"}))
    );
    agent.send(stopped(id, "cancelled")).await;
    answer.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_permission_is_answered_with_the_users_choice() {
    let (client, mut agent) = connect(Client::builder().on_permission(|_, _| async {
        let choice = SelectedPermissionOutcome::new(PermissionOptionId::new("yes"));
        Ok(RequestPermissionResponse::new(
            RequestPermissionOutcome::Selected(choice),
        ))
    }))
    .await;
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    agent.send(permission(1, "a")).await;
    assert_eq!(
        agent.receive().await,
        result(
            1,
            json!({"outcome": {"outcome": "selected", "optionId": "yes"}})
        )
    );
    agent.send(stopped(id, "end_turn")).await;
    answer.await.unwrap().unwrap();
}

#[tokio::test]
async fn answer_last_the_prompt_waits_for_the_update_handler() {
    let handled = Arc::new(AtomicUsize::new(0));
    let gate = Arc::new(Notify::new());
    let (client, mut agent) = connect({
        let (handled, gate) = (Arc::clone(&handled), Arc::clone(&gate));
        Client::builder().on_update(move |_, _| {
            let (handled, gate) = (Arc::clone(&handled), Arc::clone(&gate));
            async move {
                gate.notified().await;
                handled.fetch_add(1, Ordering::Relaxed);
            }
        })
    })
    .await;
    let (mut answer, id) = prompted(&client, &mut agent, "a", None).await;
    for _ in 0..3 {
        agent.send(message("a", "x")).await;
    }
    agent.send(stopped(id, "end_turn")).await;
    // What follows the answer is not waited for.
    agent.send(message("a", "of the session")).await;
    for so_far in 0..3 {
        agent.barrier().await;
        assert_eq!(handled.load(Ordering::Relaxed), so_far);
        assert!(futures_poll(&mut answer).await.is_none());
        gate.notify_one();
    }
    answer.await.unwrap().unwrap();
    assert_eq!(handled.load(Ordering::Relaxed), 3);
}

/// Whether a task is done, without waiting for it.
async fn futures_poll<T>(task: &mut JoinHandle<T>) -> Option<T> {
    tokio::select! {
        biased;
        done = task => Some(done.unwrap()),
        () = std::future::ready(()) => None,
    }
}

#[tokio::test]
async fn answer_last_a_handler_that_makes_a_request_does_not_deadlock() {
    let (client, mut agent) = connect(Client::builder().on_update(|_, client| async move {
        let session = client
            .new_session(NewSessionRequest::new("/"))
            .await
            .unwrap();
        assert_eq!(&*session.session_id.0, "new");
        // Nor does one that prompts another session, or its own once its turn is answered.
        for session in ["b", "a"] {
            client
                .prompt(request(session, "from the handler"), None)
                .await
                .unwrap();
        }
    }))
    .await;
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    agent.send(message("a", "x")).await;
    let new = agent.receive().await;
    assert_eq!(new["method"], "session/new");
    agent.send(stopped(id, "end_turn")).await;
    agent
        .send(result(new["id"].clone(), json!({"sessionId": "new"})))
        .await;
    for _ in 0..2 {
        let nested = agent.receive().await;
        assert_eq!(nested["method"], "session/prompt");
        agent.send(stopped(nested["id"].clone(), "end_turn")).await;
    }
    answer.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn answer_last_a_slow_handler_holds_the_reader_back_but_never_from_its_own_answer() {
    const UPDATES: usize = 100;
    let gate = Arc::new(Notify::new());
    let handled = Arc::new(AtomicUsize::new(0));
    let (client, mut agent) = connect({
        let (gate, handled) = (Arc::clone(&gate), Arc::clone(&handled));
        Client::builder().on_update(move |_, client| {
            let (gate, handled) = (Arc::clone(&gate), Arc::clone(&handled));
            async move {
                if handled.load(Ordering::Relaxed) == 0 {
                    gate.notified().await;
                    let new = NewSessionRequest::new("/");
                    client.new_session(new).await.unwrap();
                }
                handled.fetch_add(1, Ordering::Relaxed);
            }
        })
    })
    .await;
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    let big = "x".repeat(100_000);
    // Ten times what may wait for the handler.
    let flood = tokio::spawn(async move {
        for _ in 0..UPDATES {
            agent.send(message("a", &big)).await;
        }
        agent.send(stopped(id, "end_turn")).await;
        agent
    });
    // The clock moves only when nothing else can: then the client has stopped reading.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!flood.is_finished());
    gate.notify_one();
    // The handler's own request has the client read on, although the handler has not moved.
    let mut agent = flood.await.unwrap();
    assert_eq!(handled.load(Ordering::Relaxed), 0);
    let new = agent.receive().await;
    assert_eq!(new["method"], "session/new");
    agent
        .send(result(new["id"].clone(), json!({"sessionId": "new"})))
        .await;
    answer.await.unwrap().unwrap();
    assert_eq!(handled.load(Ordering::Relaxed), UPDATES);
}

#[tokio::test]
async fn a_panicking_update_handler_loses_one_update() {
    let (updates, mut seen) = mpsc::unbounded_channel();
    let (client, mut agent) = connect(Client::builder().on_update(move |notification, _| {
        let SessionUpdate::AgentMessageChunk(chunk) = notification.update else {
            panic!("another update");
        };
        let ContentBlock::Text(text) = chunk.content else {
            panic!("another block");
        };
        assert!(text.text != "panic", "as the test wants it");
        updates.send(text.text).unwrap();
        async {}
    }))
    .await;
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    for text in ["1", "panic", "2"] {
        agent.send(message("a", text)).await;
    }
    agent.send(stopped(id, "end_turn")).await;
    answer.await.unwrap().unwrap();
    assert_eq!(seen.try_recv().unwrap(), "1");
    assert_eq!(seen.try_recv().unwrap(), "2");
}

#[tokio::test]
async fn drop_sends_one_cancel_request_and_the_rest_of_the_turn_is_discarded() {
    let updates = Arc::new(Mutex::new(Vec::new()));
    let (client, mut agent) = connect({
        let updates = Arc::clone(&updates);
        Client::builder().on_update(move |notification, _| {
            updates
                .lock()
                .unwrap()
                .push(format!("{:?}", notification.update));
            async {}
        })
    })
    .await;
    // Never polled: never sent.
    drop(client.prompt(request("a", "x"), None));
    assert!(agent.barrier().await.is_empty());

    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    answer.abort();
    assert!(answer.await.unwrap_err().is_cancelled());
    assert_eq!(agent.receive().await, cancel_request(id.clone()));
    agent.send(message("a", "late")).await;
    agent.send(permission(1, "a")).await;
    // quarantine: the session takes the next prompt, and nothing of the old turn is taken for the new one's.
    let (next, next_id) = prompted_after(&client, &mut agent, permission_no_handler).await;
    agent.send(message("a", "later")).await;
    agent
        .send(json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32800, "message": "x"}}))
        .await;
    agent.send(stopped(id, "refusal")).await;
    agent.send(message("a", "new")).await;
    agent.send(stopped(next_id, "end_turn")).await;
    assert_eq!(
        next.await.unwrap().unwrap().stop_reason,
        StopReason::EndTurn
    );
    let updates = updates.lock().unwrap();
    assert_eq!(updates.len(), 1, "{updates:?}");
    assert!(updates[0].contains("new"));
}

fn permission_no_handler(message: &Value) {
    assert_eq!(message["error"]["code"], -32601, "{message}");
}

/// The next prompt on session `a`, behind something else that the client says first.
async fn prompted_after(
    client: &Client,
    agent: &mut RawPeer,
    check: impl Fn(&Value),
) -> (Answer, Value) {
    let answer = tokio::spawn(client.prompt(request("a", "x"), None));
    let mut id = Value::Null;
    for _ in 0..2 {
        let message = agent.receive().await;
        if message["method"] == "session/prompt" {
            id = message["id"].clone();
        } else {
            check(&message);
        }
    }
    (answer, id)
}

#[tokio::test]
async fn detach_lets_the_turn_go_on() {
    let (updates, mut seen) = mpsc::unbounded_channel();
    let (client, mut agent) = connect(Client::builder().on_update(move |notification, _| {
        updates.send(notification.update).unwrap();
        async {}
    }))
    .await;
    client.prompt(request("a", "x"), None).detach();
    let id = agent.receive().await["id"].clone();
    agent.send(message("a", "x")).await;
    seen.recv().await.unwrap();
    assert!(agent.barrier().await.is_empty());
    drop(client);
    agent.send(message("a", "y")).await;
    seen.recv().await.unwrap();
    agent.send(stopped(id, "end_turn")).await;
    assert_eq!(
        agent.receive_line().await,
        None,
        "the last client is gone now"
    );
}

#[tokio::test(start_paused = true)]
async fn prompt_timeout_gives_the_turn_up() {
    let (client, agent) =
        connect(Client::builder().prompt_timeout(Duration::from_secs(5 * 60))).await;
    let mut agent = agent.limit(Duration::from_secs(1000));
    let start = tokio::time::Instant::now();
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    assert_eq!(agent.receive().await, cancel_request(id.clone()));
    let error = answer.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(start.elapsed().as_secs(), 5 * 60);
    agent.send(stopped(id, "end_turn")).await;
    assert!(agent.barrier().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn prompts_are_exempt_from_the_request_timeout_and_other_requests_are_not() {
    let (client, agent) = connect(Client::builder()).await;
    let mut agent = agent.limit(Duration::from_secs(1000));
    let (mut answer, id) = prompted(&client, &mut agent, "a", None).await;
    let start = tokio::time::Instant::now();
    let new = tokio::spawn({
        let client = client.clone();
        async move { client.new_session(NewSessionRequest::new("/")).await }
    });
    let asked = agent.receive().await["id"].clone();
    assert_eq!(agent.receive().await, cancel_request(asked));
    let error = new.await.unwrap().unwrap_err();
    assert!(error.is_timeout());
    assert_eq!(error.to_string(), "no answer to session/new within 60s");
    assert_eq!(start.elapsed().as_secs(), 60);
    tokio::time::advance(Duration::from_secs(500)).await;
    assert!(agent.barrier().await.is_empty());
    assert!(futures_poll(&mut answer).await.is_none());
    agent.send(stopped(id, "end_turn")).await;
    answer.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn cancel_timeout_gives_up_an_agent_that_ignores_the_cancel() {
    let (client, agent) = connect(Client::builder().cancel_timeout(Duration::from_secs(10))).await;
    let mut agent = agent.limit(Duration::from_secs(1000));
    let stop = CancellationSignal::new();
    let (answer, id) = prompted(&client, &mut agent, "a", Some(&stop)).await;
    tokio::time::advance(Duration::from_secs(100)).await;
    let start = tokio::time::Instant::now();
    stop.cancel();
    assert_eq!(agent.receive().await, cancel("a"));
    assert_eq!(agent.receive().await, cancel_request(id.clone()));
    assert_eq!(start.elapsed().as_secs(), 10);
    let error = answer.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CancelTimedOut);
    // quarantine: the session is of use again, and the late answer changes nothing.
    let (next, next_id) = prompted(&client, &mut agent, "a", None).await;
    agent.send(stopped(id, "refusal")).await;
    agent.send(stopped(next_id, "end_turn")).await;
    assert_eq!(
        next.await.unwrap().unwrap().stop_reason,
        StopReason::EndTurn
    );
}

/// A client that has given up its first turn and prompted again, and what its update handler sees.
async fn prompted_again() -> (
    Client,
    RawPeer,
    (Value, Value),
    Answer,
    mpsc::UnboundedReceiver<String>,
) {
    let (updates, seen) = mpsc::unbounded_channel();
    let (client, agent) = connect(
        Client::builder()
            .on_permission(|_, _| std::future::pending())
            .on_update(move |notification, _| {
                if let SessionUpdate::AgentMessageChunk(chunk) = notification.update
                    && let ContentBlock::Text(text) = chunk.content
                {
                    updates.send(text.text).unwrap();
                }
                async {}
            }),
    )
    .await;
    let mut agent = agent.limit(Duration::from_secs(1000));
    let (answer, old) = prompted(&client, &mut agent, "a", None).await;
    answer.abort();
    assert_eq!(agent.receive().await, cancel_request(old.clone()));
    agent.send(message("a", "for nobody")).await;
    agent.barrier().await;
    let (answer, new) = prompted(&client, &mut agent, "a", None).await;
    (client, agent, (old, new), answer, seen)
}

#[tokio::test]
async fn quarantine_an_agent_that_moves_on_without_an_answer_is_of_use_again() {
    let (_client, mut agent, (old, new), answer, mut seen) = prompted_again().await;
    agent.send(message("a", "1")).await;
    agent.send(message("a", "2")).await;
    assert!(agent.barrier().await.is_empty());
    assert!(seen.try_recv().is_err(), "nobody can tell yet whose it is");
    agent.send(stopped(new, "end_turn")).await;
    answer.await.unwrap().unwrap();
    assert_eq!(seen.try_recv().unwrap(), "1");
    assert_eq!(seen.try_recv().unwrap(), "2");
    agent.send(stopped(old, "end_turn")).await;
    assert!(agent.barrier().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn quarantine_what_is_undecided_is_the_new_turns_after_two_seconds() {
    let (_client, mut agent, (old, new), answer, mut seen) = prompted_again().await;
    let start = tokio::time::Instant::now();
    agent.send(message("a", "1")).await;
    assert_eq!(seen.recv().await.unwrap(), "1");
    assert_eq!(start.elapsed().as_secs(), 2);
    agent.send(message("a", "2")).await;
    assert_eq!(seen.recv().await.unwrap(), "2");
    assert_eq!(start.elapsed().as_secs(), 2);
    agent.send(stopped(old, "refusal")).await;
    agent.send(stopped(new, "end_turn")).await;
    assert_eq!(
        answer.await.unwrap().unwrap().stop_reason,
        StopReason::EndTurn
    );
}

#[tokio::test]
async fn quarantine_what_comes_before_a_rejection_is_the_old_turns() {
    let (client, mut agent, (old, new), answer, mut seen) = prompted_again().await;
    agent.send(message("a", "old")).await;
    agent.send(permission(9, "a")).await;
    assert!(agent.barrier().await.is_empty(), "nor is anybody asked");
    agent
        .send(json!({"jsonrpc": "2.0", "id": new, "error": {"code": -32600, "message": "busy"}}))
        .await;
    assert_eq!(agent.receive().await, permission_cancelled(9));
    assert_eq!(answer.await.unwrap().unwrap_err().code(), Some(-32600));
    agent.send(message("a", "still old")).await;
    agent.send(stopped(old, "cancelled")).await;
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    agent.send(message("a", "new")).await;
    agent.send(stopped(id, "end_turn")).await;
    answer.await.unwrap().unwrap();
    assert_eq!(seen.try_recv().unwrap(), "new");
    assert!(seen.try_recv().is_err());
}

#[tokio::test]
async fn settled_every_call_ends_with_the_connection() {
    let (client, mut agent) = connect(Client::builder()).await;
    let (answer, _) = prompted(&client, &mut agent, "a", None).await;
    let new = tokio::spawn({
        let client = client.clone();
        async move { client.new_session(NewSessionRequest::new("/")).await }
    });
    agent.receive().await;
    drop(agent);
    for (error, method) in [
        (answer.await.unwrap().unwrap_err(), "session/prompt"),
        (new.await.unwrap().unwrap_err(), "session/new"),
    ] {
        assert!(error.is_connection_lost());
        let said = format!("connection lost before {method} was answered: the peer closed it");
        assert_eq!(error.to_string(), said);
    }
    let said = "connection lost: the peer closed it";
    assert_eq!(client.closed().await.to_string(), said);
    let error = client.prompt(request("a", "x"), None).await.unwrap_err();
    assert!(error.is_connection_lost());
}

#[tokio::test]
async fn an_answer_that_was_read_counts_although_the_connection_is_lost() {
    let gate = Arc::new(Notify::new());
    let (client, mut agent) = connect({
        let gate = Arc::clone(&gate);
        Client::builder().on_update(move |_, _| {
            let gate = Arc::clone(&gate);
            async move { gate.notified().await }
        })
    })
    .await;
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    agent
        .send_all([message("a", "x"), stopped(id, "end_turn")])
        .await;
    drop(agent);
    client.closed().await;
    gate.notify_one();
    answer.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn dropping_the_client_closes_the_connection_without_delay() {
    let start = tokio::time::Instant::now();
    let (client, mut agent) = connect(Client::builder()).await;
    drop(client.clone());
    agent.barrier().await;
    drop(client);
    assert_eq!(agent.receive_line().await, None);
    assert!(start.elapsed().is_zero());
}

#[tokio::test]
async fn an_error_answer_is_given_as_it_came() {
    let (client, mut agent) = connect(Client::builder()).await;
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    agent
        .send(json!({"jsonrpc": "2.0", "id": id, "error": {
            "code": -32000, "message": "log in first", "data": {"how": "so"},
        }}))
        .await;
    let error = answer.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert_eq!(error.code(), Some(-32000));
    assert_eq!(error.protocol().unwrap().data, Some(json!({"how": "so"})));
    assert_eq!(
        error.to_string(),
        "session/prompt was answered with error -32000: log in first"
    );
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    agent.send(result(id, json!({"stopReason": 5}))).await;
    let error = answer.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidAnswer);
}
