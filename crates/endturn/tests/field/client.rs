//! What users saw clients do, tried on a client of this SDK by a raw agent.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use endturn::{
    Agent, CancellationSignal, Client, ErrorKind,
    schema::v1::{
        LoadSessionRequest, NewSessionRequest, PermissionOptionId, RequestPermissionOutcome,
        RequestPermissionResponse, SelectedPermissionOutcome, SessionId, StopReason,
    },
    transport,
};
use serde_json::json;
use tokio::{
    sync::{Notify, mpsc, oneshot},
    time::Instant,
};

use crate::support::{
    Seen, cancel, cancel_request, connect, ended, initialized, message, permission, prompt,
    prompted, request, result, stop_reason, stopped, text,
};

#[tokio::test]
async fn c02_a_stop_from_anywhere_at_any_time_is_one_cancel_behind_the_prompt() {
    let (client, mut agent) = connect(Client::builder()).await;
    // Pressed before the prompt is even written, and by three hands.
    let stop = CancellationSignal::new();
    let hands: Vec<_> = (0..3)
        .map(|_| {
            let stop = stop.clone();
            std::thread::spawn(move || stop.cancel())
        })
        .collect();
    for hand in hands {
        hand.join().unwrap();
    }
    let answer = tokio::spawn(client.prompt(request("a", "x"), &stop));
    let id = agent.receive().await["id"].clone();
    assert_eq!(agent.receive().await, cancel("a"));
    client.cancel(&SessionId::new("a"));
    assert!(agent.barrier().await.is_empty());
    agent.send(stopped(id, "cancelled")).await;
    assert_eq!(stop_reason(answer).await, StopReason::Cancelled);
    assert!(agent.barrier().await.is_empty());
}

#[tokio::test]
async fn c08_the_answer_to_a_prompt_that_was_given_up_is_not_the_next_ones() {
    let (client, mut agent) = connect(Client::builder()).await;
    let (answer, old) = prompted(&client, &mut agent, "a", None).await;
    answer.abort();
    assert!(answer.await.unwrap_err().is_cancelled());
    assert_eq!(agent.receive().await, cancel_request(old.clone()));
    let (answer, new) = prompted(&client, &mut agent, "a", None).await;
    assert_ne!(old, new);
    agent.send(stopped(old.clone(), "refusal")).await;
    agent.barrier().await;
    assert!(!answer.is_finished());
    agent.send(stopped(new.clone(), "end_turn")).await;
    assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
    // Said once more, when nothing is open at all.
    agent
        .send_all([stopped(old, "refusal"), stopped(new, "refusal")])
        .await;
    let (answer, next) = prompted(&client, &mut agent, "a", None).await;
    agent.send(stopped(next, "max_tokens")).await;
    assert_eq!(stop_reason(answer).await, StopReason::MaxTokens);
}

#[tokio::test]
async fn c09_a_session_takes_prompts_again_however_its_turn_ended() {
    let (client, mut agent) = connect(Client::builder()).await;
    for end in ["cancelled", "error", "dropped"] {
        let stop = CancellationSignal::new();
        let (answer, id) = prompted(&client, &mut agent, "a", Some(&stop)).await;
        stop.cancel();
        assert_eq!(agent.receive().await, cancel("a"));
        match end {
            "cancelled" => agent.send(stopped(id, end)).await,
            "error" => agent.send(crate::support::error(id, -32000)).await,
            _ => {
                answer.abort();
                assert_eq!(agent.receive().await, cancel_request(id));
            }
        }
        if end != "dropped" {
            assert_eq!(answer.await.unwrap().is_ok(), end == "cancelled");
        }
    }
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    agent.send(stopped(id, "end_turn")).await;
    assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
}

#[tokio::test]
async fn c10_a_second_prompt_in_a_busy_session_fails_here_and_the_agent_never_sees_it() {
    let (client, mut agent) = connect(Client::builder()).await;
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    let refused = client.prompt(request("a", "and another thing"), None).await;
    assert!(refused.unwrap_err().is_busy());
    assert!(agent.barrier().await.is_empty());
    agent.send(stopped(id, "end_turn")).await;
    assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
}

#[tokio::test]
async fn c11_a_stop_that_comes_too_late_is_not_sent_and_does_not_hit_the_next_turn() {
    let (client, mut agent) = connect(Client::builder()).await;
    let stop = CancellationSignal::new();
    let (answer, id) = prompted(&client, &mut agent, "a", Some(&stop)).await;
    agent.send(stopped(id, "end_turn")).await;
    assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
    client.cancel(&SessionId::new("a"));
    assert!(agent.barrier().await.is_empty());
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    stop.cancel();
    assert!(agent.barrier().await.is_empty());
    agent.send(stopped(id, "end_turn")).await;
    assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
}

#[tokio::test]
async fn c12_a_user_who_presses_stop_again_and_again_sends_one_cancel() {
    let (client, mut agent) = connect(Client::builder()).await;
    let stop = CancellationSignal::new();
    let (answer, id) = prompted(&client, &mut agent, "a", Some(&stop)).await;
    for _ in 0..3 {
        stop.cancel();
        client.cancel(&SessionId::new("a"));
    }
    assert_eq!(agent.receive().await, cancel("a"));
    assert!(agent.barrier().await.is_empty());
    agent.send(stopped(id, "cancelled")).await;
    assert_eq!(stop_reason(answer).await, StopReason::Cancelled);
}

#[tokio::test]
async fn c13b_an_answer_does_not_overtake_the_updates_before_it() {
    let seen = Arc::new(Mutex::new(0));
    let gate = Arc::new(Notify::new());
    let (client, mut agent) = connect({
        let (seen, gate) = (Arc::clone(&seen), Arc::clone(&gate));
        Client::builder().on_update(move |_, _| {
            let (seen, gate) = (Arc::clone(&seen), Arc::clone(&gate));
            async move {
                // It draws the screen.
                gate.notified().await;
                *seen.lock().unwrap() += 1;
            }
        })
    })
    .await;
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    agent
        .send_all([
            message("a", "1"),
            message("a", "2"),
            stopped(id, "end_turn"),
        ])
        .await;
    for shown in 0..2 {
        agent.barrier().await;
        assert!(!answer.is_finished());
        assert_eq!(*seen.lock().unwrap(), shown);
        gate.notify_one();
    }
    answer.await.unwrap().unwrap();
    assert_eq!(*seen.lock().unwrap(), 2);
}

#[tokio::test]
async fn c15_questions_of_a_cancelled_turn_are_answered_at_once_and_their_dialogs_closed() {
    let (asked, mut questions) = mpsc::unbounded_channel();
    let (client, mut agent) = connect(Client::builder().on_permission(move |_, _| {
        let (dialog, closed) = oneshot::channel::<()>();
        asked.send(closed).unwrap();
        async move {
            let _dialog = dialog;
            std::future::pending().await
        }
    }))
    .await;
    let stop = CancellationSignal::new();
    let (answer, id) = prompted(&client, &mut agent, "a", Some(&stop)).await;
    agent
        .send_all([permission(1, "a"), permission("2", "a")])
        .await;
    let dialogs = [
        questions.recv().await.unwrap(),
        questions.recv().await.unwrap(),
    ];
    stop.cancel();
    assert_eq!(agent.receive().await, cancel("a"));
    let cancelled = |id| result(id, json!({"outcome": {"outcome": "cancelled"}}));
    let answers = [agent.receive().await, agent.receive().await];
    assert!(answers.contains(&cancelled(json!(1))), "{answers:?}");
    assert!(answers.contains(&cancelled(json!("2"))), "{answers:?}");
    for closed in dialogs {
        closed.await.unwrap_err();
    }
    // The agent has not read the cancel yet and asks once more.
    agent.send(permission(3, "a")).await;
    assert_eq!(agent.receive().await, cancelled(json!(3)));
    agent.send(stopped(id, "cancelled")).await;
    assert_eq!(stop_reason(answer).await, StopReason::Cancelled);
    assert!(questions.try_recv().is_err(), "nobody was asked");
}

#[tokio::test]
async fn c16_a_rejection_goes_out_as_one_and_cancels_nothing() {
    let (client, mut agent) = connect(Client::builder().on_permission(|_, _| async {
        let no = SelectedPermissionOutcome::new(PermissionOptionId::new("reject"));
        let outcome = RequestPermissionOutcome::Selected(no);
        Ok(RequestPermissionResponse::new(outcome))
    }))
    .await;
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    agent.send(permission(1, "a")).await;
    let no = json!({"outcome": {"outcome": "selected", "optionId": "reject"}});
    assert_eq!(agent.receive().await, result(1, no));
    assert!(agent.barrier().await.is_empty());
    agent.send(stopped(id, "end_turn")).await;
    assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
}

#[tokio::test]
async fn c17_a_stop_is_for_one_session() {
    let (asked, mut questions) = mpsc::unbounded_channel();
    let (client, mut agent) = connect(Client::builder().on_permission(move |_, _| {
        asked.send(()).unwrap();
        std::future::pending()
    }))
    .await;
    let stop = CancellationSignal::new();
    let (stopping, id) = prompted(&client, &mut agent, "a", Some(&stop)).await;
    let (other, other_id) = prompted(&client, &mut agent, "b", None).await;
    agent.send(permission(1, "b")).await;
    questions.recv().await.unwrap();
    stop.cancel();
    assert_eq!(agent.receive().await, cancel("a"));
    assert!(agent.barrier().await.is_empty());
    agent.send(stopped(id, "cancelled")).await;
    assert_eq!(stop_reason(stopping).await, StopReason::Cancelled);
    assert!(!other.is_finished());
    agent.send(stopped(other_id, "end_turn")).await;
    assert_eq!(stop_reason(other).await, StopReason::EndTurn);
}

#[tokio::test]
async fn c19_a_cancel_is_a_notification_that_nobody_waits_for() {
    let (client, mut agent) = connect(Client::builder()).await;
    let stop = CancellationSignal::new();
    let (answer, id) = prompted(&client, &mut agent, "a", Some(&stop)).await;
    stop.cancel();
    let line = agent.receive().await;
    assert_eq!(line, cancel("a"));
    assert!(line.get("id").is_none());
    agent.send(stopped(id, "cancelled")).await;
    assert_eq!(stop_reason(answer).await, StopReason::Cancelled);
}

#[tokio::test]
async fn c20_a_turn_is_cancelled_while_its_session_is_being_loaded() {
    let seen = Seen::default();
    let (client, mut agent) = connect(seen.watch(Client::builder())).await;
    let load = tokio::spawn(client.request(&LoadSessionRequest::new("a", "/")));
    let loading = agent.receive().await;
    assert_eq!(loading["method"], "session/load");
    let stop = CancellationSignal::new();
    let (answer, id) = prompted(&client, &mut agent, "a", Some(&stop)).await;
    agent.send(message("a", "from the history")).await;
    stop.cancel();
    assert_eq!(agent.receive().await, cancel("a"));
    agent.send(result(loading["id"].clone(), json!({}))).await;
    load.await.unwrap().unwrap();
    assert!(!answer.is_finished(), "that was not its answer");
    agent.send(stopped(id, "cancelled")).await;
    assert_eq!(stop_reason(answer).await, StopReason::Cancelled);
    assert_eq!(seen.so_far(), ["from the history"]);
}

#[tokio::test(start_paused = true)]
async fn c21_a_turn_of_three_hours_is_not_timed_out() {
    let (client, agent) = connect(Client::builder()).await;
    let mut agent = agent.limit(Duration::from_secs(100_000));
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    tokio::time::advance(Duration::from_secs(3 * 60 * 60)).await;
    assert!(agent.barrier().await.is_empty());
    agent.send(stopped(id, "end_turn")).await;
    assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
}

#[tokio::test(start_paused = true)]
async fn c21_whoever_gives_a_turn_up_tells_the_agent() {
    let limit = Duration::from_secs(600);
    let (client, agent) = connect(Client::builder().prompt_timeout(limit)).await;
    let mut agent = agent.limit(Duration::from_secs(100_000));
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    assert_eq!(agent.receive().await, cancel_request(id));
    assert_eq!(
        answer.await.unwrap().unwrap_err().kind(),
        ErrorKind::Timeout
    );
    assert!(agent.barrier().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn c22_a_turn_is_cancelled_when_the_agent_says_so_and_not_before() {
    let seen = Seen::default();
    let (client, mut agent) = connect(seen.watch(Client::builder())).await;
    let stop = CancellationSignal::new();
    let (answer, id) = prompted(&client, &mut agent, "a", Some(&stop)).await;
    stop.cancel();
    assert_eq!(agent.receive().await, cancel("a"));
    tokio::time::advance(Duration::from_secs(600)).await;
    assert!(agent.barrier().await.is_empty());
    assert!(!answer.is_finished());
    // The file was written after all, and the user has to see that.
    agent.send(message("a", "written")).await;
    agent.send(stopped(id, "end_turn")).await;
    assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
    assert_eq!(seen.so_far(), ["written"]);
}

#[tokio::test(start_paused = true)]
async fn c23_an_agent_that_ignores_the_cancel_is_asked_harder_and_then_given_up() {
    let limit = Duration::from_secs(10);
    let (dropped, is_dropped) = oneshot::channel::<()>();
    let dropped = Mutex::new(Some(dropped));
    let agent = Agent::builder()
        .cancel_grace_period(Duration::ZERO)
        .on_prompt(move |request, _| {
            let dropped = dropped.lock().unwrap().take();
            async move {
                let _dropped = dropped;
                if text(&request) == "hang" {
                    std::future::pending::<()>().await;
                }
                ended()
            }
        })
        .build();
    let (near, far) = transport::memory();
    tokio::spawn(async move { agent.serve(far).await });
    let client = initialized(Client::builder().cancel_timeout(limit), near).await;
    let stop = CancellationSignal::new();
    stop.cancel();
    let start = Instant::now();
    let given_up = client.prompt(request("a", "hang"), &stop).await;
    assert_eq!(given_up.unwrap_err().kind(), ErrorKind::CancelTimedOut);
    assert_eq!(start.elapsed(), limit);
    // The second way of asking is one that a handler cannot ignore.
    is_dropped.await.unwrap_err();
    let next = client.prompt(request("a", "x"), None).await.unwrap();
    assert_eq!(next.stop_reason, StopReason::EndTurn);
    assert_eq!(start.elapsed(), limit);
}

#[tokio::test(start_paused = true)]
async fn c23_a_client_whose_agent_ignores_every_cancel_is_usable_again_after_the_cancel_timeout() {
    let seen = Seen::default();
    let builder = Client::builder().cancel_timeout(Duration::from_secs(10));
    let (client, agent) = connect(seen.watch(builder)).await;
    let mut agent = agent.limit(Duration::from_secs(1000));
    let mut shown = 0;
    // It never answers any of them, and the last one is answered all the same.
    for round in 0..3 {
        let stop = CancellationSignal::new();
        let (answer, old) = prompted(&client, &mut agent, "a", Some(&stop)).await;
        stop.cancel();
        assert_eq!(agent.receive().await, cancel("a"));
        assert_eq!(agent.receive().await, cancel_request(old));
        let error = answer.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CancelTimedOut);

        let (answer, new) = prompted(&client, &mut agent, "a", None).await;
        agent
            .send_all([message("a", "one"), message("a", "two")])
            .await;
        if round > 0 {
            // A turn that takes its time is shown while it goes on.
            agent.barrier().await;
            tokio::time::sleep(Duration::from_secs(5)).await;
            agent.send(message("a", "three")).await;
            agent.barrier().await;
            tokio::time::sleep(Duration::from_secs(1)).await;
            assert_eq!(seen.so_far()[shown..], ["one", "two", "three"], "{round}");
        }
        agent.send(stopped(new, "end_turn")).await;
        assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
        let expected = if round == 0 { 2 } else { 3 };
        assert_eq!(
            seen.so_far().len() - shown,
            expected,
            "{round}: {:?}",
            seen.so_far()
        );
        shown += expected;
    }
}

#[tokio::test(start_paused = true)]
async fn c23_a_late_answer_to_a_prompt_that_was_given_up_changes_nothing_in_the_next_turn() {
    let seen = Seen::default();
    let builder = Client::builder().cancel_timeout(Duration::from_secs(10));
    let (client, agent) = connect(seen.watch(builder)).await;
    let mut agent = agent.limit(Duration::from_secs(1000));
    let stop = CancellationSignal::new();
    let (answer, old) = prompted(&client, &mut agent, "a", Some(&stop)).await;
    agent.send(message("a", "old, in time")).await;
    stop.cancel();
    assert_eq!(agent.receive().await, cancel("a"));
    assert_eq!(agent.receive().await, cancel_request(old.clone()));
    answer.await.unwrap().unwrap_err();
    agent.send(message("a", "old, between the turns")).await;
    agent.barrier().await;

    let (answer, new) = prompted(&client, &mut agent, "a", None).await;
    agent
        .send_all([
            message("a", "old, beside the new turn"),
            stopped(old, "cancelled"),
            message("a", "new"),
        ])
        .await;
    agent.barrier().await;
    assert!(!answer.is_finished());
    agent.send(stopped(new, "end_turn")).await;
    assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
    assert_eq!(seen.so_far(), ["old, in time", "new"]);
    assert!(agent.barrier().await.is_empty());
}

#[tokio::test]
async fn c27_a_cancel_request_of_the_agent_closes_that_one_question() {
    let (asked, mut questions) = mpsc::unbounded_channel();
    let (client, mut agent) = connect(Client::builder().on_permission(move |_, _| {
        let (dialog, closed) = oneshot::channel::<()>();
        asked.send(closed).unwrap();
        async move {
            let _dialog = dialog;
            std::future::pending().await
        }
    }))
    .await;
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    agent.send(permission("1", "a")).await;
    let closed = questions.recv().await.unwrap();
    // Neither for another type, nor for a request of the client's own that has the same number.
    agent
        .send_all([cancel_request(1), cancel_request(id.clone())])
        .await;
    assert!(agent.barrier().await.is_empty());
    agent
        .send_all([cancel_request("1"), cancel_request("1")])
        .await;
    let answered = agent.receive().await;
    assert_eq!(
        (&answered["id"], &answered["error"]["code"]),
        (&json!("1"), &json!(-32800))
    );
    closed.await.unwrap_err();
    assert!(agent.barrier().await.is_empty());
    agent.send(stopped(id, "end_turn")).await;
    assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
}

#[tokio::test]
async fn c27_a_request_that_is_given_up_is_cancelled_once_under_the_id_it_was_sent_with() {
    let (client, mut agent) = connect(Client::builder()).await;
    let new = tokio::spawn(client.new_session(NewSessionRequest::new("/")));
    let id = agent.receive().await["id"].clone();
    new.abort();
    assert_eq!(agent.receive().await, cancel_request(id.clone()));
    // An agent that does not know `$/cancel_request` answers as if it were not there.
    agent.send(result(id, json!({"sessionId": "late"}))).await;
    assert!(agent.barrier().await.is_empty());
    let (answer, id) = prompted(&client, &mut agent, "a", None).await;
    assert_eq!(prompt(id.clone(), "a", "x")["id"], id);
    agent.send(stopped(id, "end_turn")).await;
    assert_eq!(stop_reason(answer).await, StopReason::EndTurn);
}
