//! Asking the user: what is on the wire, and what becomes of the answer.

mod common;
mod work;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use common::{cancel, cancel_request, connect, initialized, message, prompt, result, stopped};
use endturn::{
    CancellationSignal, Client, ErrorKind, UNKNOWN_VALUES,
    agent::Decision,
    schema::v1::{
        ContentBlock, PermissionOption, PermissionOptionKind, PromptRequest,
        RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
        SelectedPermissionOutcome, StopReason, TextContent, ToolCall, ToolCallUpdate,
        ToolCallUpdateFields,
    },
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use work::{agent, begin, blocking_agent, error, outcome, request};

const METHOD: &str = "session/request_permission";

fn call() -> ToolCallUpdate {
    ToolCallUpdate::new(
        "t",
        ToolCallUpdateFields::new().title("Delete it".to_owned()),
    )
}

fn asked(id: i64, options: Value) -> Value {
    let call = json!({"toolCallId": "t", "title": "Delete it"});
    let params = json!({"sessionId": "s", "toolCall": call, "options": options});
    request(id, METHOD, params)
}

fn once() -> Value {
    json!([
        {"optionId": "allow_once", "name": "Allow", "kind": "allow_once"},
        {"optionId": "reject_once", "name": "Reject", "kind": "reject_once"},
    ])
}

fn four() -> Value {
    json!([
        {"optionId": "allow_once", "name": "Allow", "kind": "allow_once"},
        {"optionId": "allow_always", "name": "Always allow", "kind": "allow_always"},
        {"optionId": "reject_once", "name": "Reject", "kind": "reject_once"},
        {"optionId": "reject_always", "name": "Always reject", "kind": "reject_always"},
    ])
}

fn selected(id: impl Into<Value>, option: &str) -> Value {
    result(
        id,
        json!({"outcome": {"outcome": "selected", "optionId": option}}),
    )
}

fn cancelled(id: impl Into<Value>) -> Value {
    result(id, json!({"outcome": {"outcome": "cancelled"}}))
}

#[tokio::test]
async fn confirm_asks_yes_or_no() {
    let mut client = begin(agent(|cx| async move {
        for _ in 0..3 {
            let said = outcome(cx.confirm(call()).await);
            cx.send_message(said).await?;
        }
        Ok(())
    }))
    .await;
    for (id, answer, said) in [
        (1, selected(1, "allow_once"), "AllowedOnce"),
        (2, selected(2, "reject_once"), "RejectedOnce"),
        (3, cancelled(3), "Cancelled"),
    ] {
        assert_eq!(client.receive().await, asked(id, once()));
        client.send(answer).await;
        assert_eq!(client.receive().await, message("s", said));
    }
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
}

#[tokio::test]
async fn ask_permission_tells_five_decisions_apart() {
    let mut client = begin(agent(|cx| async move {
        for _ in 0..5 {
            let said = outcome(cx.ask_permission(call()).await);
            cx.send_message(said).await?;
        }
        Ok(())
    }))
    .await;
    for (id, answer, said) in [
        (1, selected(1, "allow_once"), "AllowedOnce"),
        (2, selected(2, "allow_always"), "AllowedAlways"),
        (3, selected(3, "reject_once"), "RejectedOnce"),
        (4, selected(4, "reject_always"), "RejectedAlways"),
        (5, cancelled(5), "Cancelled"),
    ] {
        assert_eq!(client.receive().await, asked(id, four()));
        client.send(answer).await;
        assert_eq!(client.receive().await, message("s", said));
    }
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
}

#[test]
fn a_decision_says_whether_it_allows_holds_and_was_made() {
    for (decision, allowed, always, cancelled) in [
        (Decision::AllowedOnce, true, false, false),
        (Decision::AllowedAlways, true, true, false),
        (Decision::RejectedOnce, false, false, false),
        (Decision::RejectedAlways, false, true, false),
        (Decision::Cancelled, false, false, true),
    ] {
        assert_eq!(decision.is_allowed(), allowed, "{decision:?}");
        assert_eq!(decision.is_always(), always, "{decision:?}");
        assert_eq!(decision.is_cancelled(), cancelled, "{decision:?}");
    }
}

#[tokio::test]
async fn choose_gives_the_option_that_the_user_has_taken_or_none() {
    let mut client = begin(agent(|cx| async move {
        for _ in 0..2 {
            let options = vec![
                PermissionOption::new("a", "Here", PermissionOptionKind::AllowOnce),
                PermissionOption::new("b", "There", PermissionOptionKind::AllowOnce),
            ];
            // A whole tool call is taken too.
            let call = ToolCall::new("t", "Delete it");
            let chosen = cx.choose(call, options).await?;
            let name = chosen.map_or("nothing".to_owned(), |option| option.name);
            cx.send_message(name).await?;
        }
        Ok(())
    }))
    .await;
    let question = client.receive().await;
    assert_eq!(question["params"]["toolCall"]["title"], "Delete it");
    assert_eq!(
        question["params"]["options"],
        json!([
            {"optionId": "a", "name": "Here", "kind": "allow_once"},
            {"optionId": "b", "name": "There", "kind": "allow_once"},
        ])
    );
    client.send(selected(1, "b")).await;
    assert_eq!(client.receive().await, message("s", "There"));
    client.receive().await;
    client.send(cancelled(2)).await;
    assert_eq!(client.receive().await, message("s", "nothing"));
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
}

#[tokio::test]
async fn an_answer_that_is_none_of_the_options_is_an_error_and_allows_nothing() {
    let mut client = begin(agent(|cx| async move {
        let error = cx.confirm(call()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidAnswer);
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert_eq!(source, "there was no option `allow_always`");
        cx.send_message(outcome(cx.choose(call(), Vec::new()).await))
            .await?;
        let error = cx.confirm(call()).await.unwrap_err();
        assert_eq!(error.code(), Some(-32603));
        Ok(())
    }))
    .await;
    // It is one of the four, but only two were offered.
    client.receive().await;
    client.send(selected(1, "allow_always")).await;
    assert_eq!(client.receive().await, asked(2, json!([])));
    client.send(selected(2, "")).await;
    assert_eq!(client.receive().await, message("s", "InvalidAnswer"));
    client.receive().await;
    client.send(error(3, -32603, "no window")).await;
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
}

#[tokio::test]
async fn an_outcome_of_a_newer_client_allows_nothing() {
    let mut client = begin(agent(|cx| async move {
        let said = outcome(cx.ask_permission(call()).await);
        cx.send_message(said).await?;
        Ok(())
    }))
    .await;
    client.receive().await;
    client
        .send(result(
            1,
            json!({"outcome": {"outcome": "postponed", "until": 5}}),
        ))
        .await;
    assert_eq!(client.receive().await, message("s", "Cancelled"));
}

#[tokio::test]
async fn an_option_of_a_newer_agent_can_be_chosen_but_not_by_a_program_that_chooses_by_kind() {
    let (tell, mut told) = mpsc::unbounded_channel();
    let builder = Client::builder().on_request(move |ask: RequestPermissionRequest, _| {
        let option = ask.options[1].clone();
        let chosen = SelectedPermissionOutcome::new(option.option_id.clone());
        tell.send(option).unwrap();
        async move {
            let outcome = RequestPermissionOutcome::Selected(chosen);
            Ok(RequestPermissionResponse::new(outcome))
        }
    });
    let (client, mut agent) = connect(builder).await;
    let turn = tokio::spawn(async move { client.prompt(words("x"), None).await });
    let id = agent.receive().await["id"].clone();
    let options = json!([
        {"optionId": "1", "name": "Yes", "kind": "allow_once"},
        {"optionId": "2", "name": "For this session", "kind": "allow_session"},
    ]);
    agent.send(asked(7, options)).await;
    let seen = told.recv().await.unwrap();
    assert_eq!(seen.kind, PermissionOptionKind::RejectOnce);
    assert_eq!(
        seen.meta.unwrap()[UNKNOWN_VALUES],
        json!({"kind": "allow_session"})
    );
    assert_eq!(agent.receive().await, selected(7, "2"));
    agent.send(stopped(id, "end_turn")).await;
    turn.await.unwrap().unwrap();
}

fn words(text: &str) -> PromptRequest {
    PromptRequest::new("s", vec![ContentBlock::Text(TextContent::new(text))])
}

#[tokio::test]
async fn a_cancel_while_the_question_is_open_is_no_decision() {
    for cascade in [true, false] {
        let agent = agent(|cx| async move {
            let said = outcome(cx.ask_permission(call()).await);
            cx.send_message(said).await?;
            Ok(())
        });
        let mut client = begin(agent.cascade_cancel(cascade)).await;
        client.receive().await;
        client.send(cancel("s")).await;
        let told = client.barrier().await;
        let expected = if cascade {
            vec![cancel_request(1)]
        } else {
            vec![]
        };
        assert_eq!(told, expected);
        client.send(cancelled(1)).await;
        assert_eq!(client.receive().await, message("s", "Cancelled"));
        assert_eq!(client.receive().await, stopped(1, "cancelled"));
    }
}

#[tokio::test]
async fn a_client_that_answers_the_cancel_of_the_question_with_an_error_has_cancelled_too() {
    let mut client = begin(agent(|cx| async move {
        assert_eq!(cx.ask_permission(call()).await?, Decision::Cancelled);
        cx.send_message("seen").await?;
        Ok(())
    }))
    .await;
    client.receive().await;
    client.send(cancel("s")).await;
    assert_eq!(client.receive().await, cancel_request(1));
    client.send(error(1, -32800, "cancelled")).await;
    assert_eq!(client.receive().await, message("s", "seen"));
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
}

/// Says so when it is dropped.
struct Dropped(Option<oneshot::Sender<()>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.take().map(|tell| tell.send(()));
    }
}

#[tokio::test]
async fn a_real_client_drops_its_question_when_the_turn_is_cancelled() {
    let decisions = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&decisions);
    let agent = agent(move |cx| {
        let noted = Arc::clone(&noted);
        async move {
            let decision = cx.ask_permission(call()).await?;
            noted.lock().unwrap().push(decision);
            Ok(())
        }
    })
    .build();
    let (asked, mut questions) = mpsc::unbounded_channel();
    let builder = Client::builder().on_request(move |_: RequestPermissionRequest, _| {
        let (tell, dropped) = oneshot::channel();
        let guard = Dropped(Some(tell));
        asked.send(dropped).unwrap();
        async move {
            let _guard = guard;
            std::future::pending().await
        }
    });
    let (near, far) = endturn::transport::memory();
    tokio::spawn(async move { agent.serve(far).await });
    let client = initialized(builder, near).await;
    let stop = CancellationSignal::new();
    let turn = client.prompt(words("x"), &stop);
    let turn = tokio::spawn(turn);
    let dropped = questions.recv().await.unwrap();
    stop.cancel();
    dropped.await.unwrap();
    let response = turn.await.unwrap().unwrap();
    assert_eq!(response.stop_reason, StopReason::Cancelled);
    assert_eq!(*decisions.lock().unwrap(), [Decision::Cancelled]);
}

#[tokio::test(start_paused = true)]
async fn a_question_may_stay_open_for_days() {
    let mut client = begin(agent(|cx| async move {
        let said = outcome(cx.confirm(call()).await);
        cx.send_message(said).await?;
        Ok(())
    }))
    .await;
    client.receive().await;
    tokio::time::sleep(Duration::from_secs(3 * 24 * 3600)).await;
    assert!(client.barrier().await.is_empty());
    client.send(selected(1, "allow_once")).await;
    assert_eq!(client.receive().await, message("s", "AllowedOnce"));
}

#[tokio::test]
async fn a_question_ends_with_its_turn_and_with_its_future() {
    let (tell, mut told) = mpsc::unbounded_channel();
    let mut client = begin(agent(move |cx| {
        let tell = tell.clone();
        async move {
            // It is polled once, and dropped.
            tokio::select! {
                biased;
                _ = cx.confirm(call()) => unreachable!("nobody has answered"),
                () = std::future::ready(()) => {}
            }
            let other = cx.clone();
            tokio::spawn(async move { tell.send(outcome(other.confirm(call()).await)) });
            cx.cancelled().await;
            Ok(())
        }
    }))
    .await;
    assert_eq!(client.receive().await, asked(1, once()));
    assert_eq!(client.receive().await, cancel_request(1));
    assert_eq!(client.receive().await, asked(2, once()));
    // A late answer is nobody's.
    client
        .send_all([selected(1, "allow_once"), cancel_request(1)])
        .await;
    assert_eq!(client.receive().await, cancel_request(2));
    assert_eq!(client.receive().await["error"]["code"], -32800);
    assert_eq!(told.recv().await.unwrap(), "Cancelled");
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn a_turn_that_is_over_asks_nothing() {
    let (tell, mut told) = mpsc::unbounded_channel();
    let mut client = begin(agent(move |cx| {
        tell.send(cx).unwrap();
        async { Ok(()) }
    }))
    .await;
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    let cx = told.recv().await.unwrap();
    let error = cx.confirm(call()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TurnEnded);
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn a_blocking_handler_asks_as_well() {
    let mut client = begin(blocking_agent(|cx| {
        cx.send_message(outcome(cx.confirm(call())))?;
        cx.send_message(outcome(cx.ask_permission(call())))?;
        let option = PermissionOption::new("a", "Here", PermissionOptionKind::AllowOnce);
        let chosen = cx.choose(call(), vec![option])?;
        cx.send_message(chosen.map_or("nothing".to_owned(), |option| option.name))?;
        Ok(())
    }))
    .await;
    assert_eq!(client.receive().await, asked(1, once()));
    client.send(selected(1, "reject_once")).await;
    assert_eq!(client.receive().await, message("s", "RejectedOnce"));
    assert_eq!(client.receive().await, asked(2, four()));
    client.send(cancel("s")).await;
    assert_eq!(client.receive().await, cancel_request(2));
    client.send(cancelled(2)).await;
    assert_eq!(client.receive().await, message("s", "Cancelled"));
    client.receive().await;
    client.send(selected(3, "a")).await;
    assert_eq!(client.receive().await, message("s", "Here"));
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    client.send(prompt(2, "s", "x")).await;
    assert_eq!(client.receive().await, asked(4, once()));
}
