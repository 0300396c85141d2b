//! Tool calls from their beginning to their end, and whoever gives them up.

mod common;
mod work;

use std::time::Duration;

use common::{cancel, cancel_request, message, prompt, stopped};
use endturn::{
    Error, HandlerError, HandlerResult,
    schema::v1::{
        ContentBlock, TextContent, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdateFields,
        ToolKind,
    },
};
use endturn_testkit::RawPeer;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use work::{agent, begin, blocking_agent, update};

fn search() -> ToolCall {
    ToolCall::new("t", "Search").kind(ToolKind::Fetch)
}

/// A tool call that names no status is pending.
fn started() -> Value {
    update(
        json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Search",
        "kind": "fetch"}),
    )
}

fn changed(mut fields: Value) -> Value {
    fields["sessionUpdate"] = "tool_call_update".into();
    fields["toolCallId"] = "t".into();
    update(fields)
}

fn status(status: &str) -> Value {
    changed(json!({"status": status}))
}

fn fields() -> ToolCallUpdateFields {
    ToolCallUpdateFields::new()
}

fn found(text: &str) -> ToolCallUpdateFields {
    let block = ContentBlock::Text(TextContent::new(text));
    fields().content(vec![ToolCallContent::from(block)])
}

fn content(text: &str) -> Value {
    json!([{"type": "content", "content": {"type": "text", "text": text}}])
}

#[tokio::test]
async fn a_tool_call_is_pending_in_progress_and_completed() {
    let mut client = begin(agent(|cx| async move {
        // Whatever status the program gives it, it begins as pending.
        let call = search().status(ToolCallStatus::Completed);
        let call = cx.start_tool_call(call).await?;
        assert_eq!(&*call.id().0, "t");
        call.begin().await?;
        call.update(fields().title("Search for it".to_owned()))
            .await?;
        call.complete(found("it")).await?;
        Ok(())
    }))
    .await;
    assert_eq!(client.receive().await, started());
    assert_eq!(client.receive().await, status("in_progress"));
    assert_eq!(
        client.receive().await,
        changed(json!({"title": "Search for it"}))
    );
    assert_eq!(
        client.receive().await,
        changed(json!({"status": "completed", "content": content("it")}))
    );
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    assert!(client.barrier().await.is_empty(), "it is completed once");
}

#[tokio::test]
async fn a_tool_call_can_fail_with_what_the_user_should_know() {
    let mut client = begin(agent(|cx| async move {
        let call = cx.start_tool_call(search()).await?;
        // Whatever status stands in the fields, this is its end.
        let said = found("no network").status(ToolCallStatus::InProgress);
        call.fail(said).await?;
        Ok(())
    }))
    .await;
    assert_eq!(client.receive().await, started());
    assert_eq!(
        client.receive().await,
        changed(json!({"status": "failed", "content": content("no network")}))
    );
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    assert!(client.barrier().await.is_empty(), "it fails once");
}

#[tokio::test]
async fn run_carries_a_call_to_its_end() {
    let mut client = begin(agent(|cx| async move {
        let call = cx.start_tool_call(search()).await?;
        let inner = cx.clone();
        let found = call.run(async move {
            inner.send_message("searching").await?;
            Ok::<_, Error>(42)
        });
        assert_eq!(found.await?, 42);
        let call = cx.start_tool_call(search()).await?;
        let work = async { Err::<(), _>(HandlerError::internal("secret")) };
        let error = call.run(work).await.unwrap_err();
        assert_eq!(error.to_string(), "secret");
        Ok(())
    }))
    .await;
    assert_eq!(client.receive().await, started());
    assert_eq!(client.receive().await, status("in_progress"));
    assert_eq!(client.receive().await, message("s", "searching"));
    assert_eq!(client.receive().await, status("completed"));
    assert_eq!(client.receive().await, started());
    assert_eq!(client.receive().await, status("in_progress"));
    assert_eq!(client.receive().await, status("failed"));
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn a_run_whose_turn_is_cancelled_drops_its_work_and_fails_before_the_answer() {
    let (begun, mut works) = mpsc::unbounded_channel();
    let mut client = begin(agent(move |cx| {
        let begun = begun.clone();
        async move {
            let call = cx.start_tool_call(search()).await?;
            let (held, dropped) = oneshot::channel::<()>();
            begun.send(dropped).unwrap();
            let work = async move {
                let _held = held;
                std::future::pending::<Result<(), Error>>().await
            };
            let error = call.run(work).await.unwrap_err();
            assert!(error.is_cancelled());
            cx.send_message("stopped").await?;
            Err(error)?
        }
    }))
    .await;
    assert_eq!(client.receive().await, started());
    assert_eq!(client.receive().await, status("in_progress"));
    let dropped = works.recv().await.unwrap();
    client.send(cancel("s")).await;
    assert_eq!(client.receive().await, status("failed"));
    assert_eq!(client.receive().await, message("s", "stopped"));
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    dropped.await.unwrap_err();
    assert!(client.barrier().await.is_empty());
}

async fn fails() -> HandlerResult<()> {
    Err(HandlerError::internal("no"))
}

#[tokio::test]
async fn a_handler_that_returns_early_leaves_no_call_spinning() {
    for begun in [false, true] {
        let mut client = begin(agent(move |cx| async move {
            let call = cx.start_tool_call(search()).await?;
            if begun {
                call.begin().await?;
            }
            fails().await?;
            call.complete(fields()).await?;
            Ok(())
        }))
        .await;
        assert_eq!(client.receive().await, started());
        if begun {
            assert_eq!(client.receive().await, status("in_progress"));
        }
        assert_eq!(client.receive().await, status("failed"));
        assert_eq!(client.receive().await["error"]["code"], -32603);
        assert!(client.barrier().await.is_empty());
    }
}

#[tokio::test]
async fn a_run_that_is_dropped_fails() {
    let mut client = begin(agent(|cx| async move {
        let call = cx.start_tool_call(search()).await?;
        tokio::select! {
            biased;
            done = call.run(std::future::pending::<Result<(), Error>>()) => done?,
            () = std::future::ready(()) => {}
        }
        cx.send_message("on").await?;
        Ok(())
    }))
    .await;
    assert_eq!(client.receive().await, started());
    assert_eq!(client.receive().await, status("in_progress"));
    assert_eq!(client.receive().await, status("failed"));
    assert_eq!(client.receive().await, message("s", "on"));
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
}

/// An end that has to wait for a client that does not read, and is given up.
#[tokio::test(start_paused = true)]
async fn an_end_that_is_dropped_before_there_is_room_for_it_is_a_failure() {
    let agent = agent(|cx| async move {
        let call = cx.start_tool_call(search()).await?;
        // More than may wait for the client, in one message.
        cx.send_message("x".repeat(100 * 1024)).await?;
        cx.send_message("x".repeat(100 * 1024)).await?;
        let end = call.complete(fields());
        let late = tokio::time::timeout(Duration::from_secs(1), end).await;
        assert!(late.is_err());
        Ok(())
    })
    .build();
    let (mut client, transport) = RawPeer::pair_with_buffer(1024);
    tokio::spawn(async move { agent.serve(transport).await });
    client.initialize().await;
    client.send(prompt(1, "s", "x")).await;
    // The clock moves on only when every task waits.
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(client.receive().await, started());
    client.receive().await;
    client.receive().await;
    assert_eq!(client.receive().await, status("failed"));
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
}

#[tokio::test]
async fn a_call_that_outlives_its_turn_says_nothing_more() {
    let (tell, mut told) = mpsc::unbounded_channel();
    let mut client = begin(agent(move |cx| {
        let tell = tell.clone();
        async move {
            for _ in 0..2 {
                tell.send(cx.start_tool_call(search()).await?).unwrap();
            }
            Ok(())
        }
    }))
    .await;
    assert_eq!(client.receive().await, started());
    assert_eq!(client.receive().await, started());
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    drop(told.recv().await.unwrap());
    let call = told.recv().await.unwrap();
    let error = call.complete(fields()).await.unwrap_err();
    assert_eq!(error.kind(), endturn::ErrorKind::TurnEnded);
    assert!(client.barrier().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_ends_over_its_handlers_head_is_answered_without_a_last_word() {
    for by_request in [false, true] {
        let agent = agent(|cx| async move {
            let call = cx.start_tool_call(search()).await?;
            std::future::pending::<()>().await;
            call.complete(fields()).await?;
            Ok(())
        });
        let mut client = begin(agent.cancel_grace_period(Duration::from_secs(5))).await;
        assert_eq!(client.receive().await, started());
        if by_request {
            client.send(cancel_request(1)).await;
            assert_eq!(client.receive().await["error"]["code"], -32800);
        } else {
            client.send(cancel("s")).await;
            assert_eq!(client.receive().await, stopped(1, "cancelled"));
        }
        assert!(client.barrier().await.is_empty());
    }
}

#[tokio::test]
async fn a_blocking_handler_makes_tool_calls_as_well() {
    let mut client = begin(blocking_agent(|cx| {
        let call = cx.start_tool_call(search())?;
        call.begin()?;
        call.update(fields().title("Search for it".to_owned()))?;
        call.complete(found("it"))?;
        cx.start_tool_call(search())?.fail(fields())?;
        drop(cx.start_tool_call(search())?);

        let call = cx.start_tool_call(search())?;
        assert_eq!(call.run(|| Ok::<_, Error>(42))?, 42);
        let call = cx.start_tool_call(search())?;
        let error = call.run(|| Err::<(), _>(HandlerError::internal("secret")));
        assert_eq!(error.unwrap_err().to_string(), "secret");
        let call = cx.start_tool_call(search())?;
        // The work sees the cancel, and what it gives is not what counts.
        let error = call.run(|| {
            cx.send_message("stop me")?;
            cx.cancelled();
            Ok::<_, Error>(())
        });
        assert!(error.unwrap_err().is_cancelled());
        Ok(())
    }))
    .await;
    for expected in [
        started(),
        status("in_progress"),
        changed(json!({"title": "Search for it"})),
        changed(json!({"status": "completed", "content": content("it")})),
        started(),
        status("failed"),
        started(),
        status("failed"),
        started(),
        status("in_progress"),
        status("completed"),
        started(),
        status("in_progress"),
        status("failed"),
        started(),
        status("in_progress"),
        message("s", "stop me"),
    ] {
        assert_eq!(client.receive().await, expected);
    }
    client.send(cancel("s")).await;
    assert_eq!(client.receive().await, status("failed"));
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    assert!(client.barrier().await.is_empty());
}
