//! The client's files, as an agent reads and writes them.

mod common;
mod work;

use std::time::Duration;

use common::{cancel_request, message, result, stopped};
use endturn::{ErrorKind, HandlerResult, PromptContext};
use serde_json::json;
use tokio::sync::mpsc;
use work::{agent, begin, begin_with, blocking_agent, error, outcome, request};

/// Says in the turn what kind of thing went wrong with each.
async fn say_all(cx: &PromptContext, outcomes: Vec<String>) -> HandlerResult<()> {
    cx.send_message(outcomes.join(" ")).await?;
    Ok(())
}

#[tokio::test]
async fn files_are_read_and_written_with_the_requests_of_the_protocol() {
    let mut client = begin(agent(|cx| async move {
        let text = cx.read_text_file("/a.txt").await?;
        cx.send_message(text).await?;
        let lines = cx.read_lines("C:\\b.txt", 3, 2).await?;
        cx.send_message(lines).await?;
        cx.write_text_file("/c.txt", "é\n").await?;
        Ok(())
    }))
    .await;
    assert_eq!(
        client.receive().await,
        request(
            1,
            "fs/read_text_file",
            json!({"sessionId": "s", "path": "/a.txt"})
        )
    );
    client.send(result(1, json!({"content": "all"}))).await;
    assert_eq!(client.receive().await, message("s", "all"));
    assert_eq!(
        client.receive().await,
        request(
            2,
            "fs/read_text_file",
            json!({"sessionId": "s", "path": "C:\\b.txt", "line": 3, "limit": 2})
        )
    );
    client.send(result(2, json!({"content": "some"}))).await;
    assert_eq!(client.receive().await, message("s", "some"));
    assert_eq!(
        client.receive().await,
        request(
            3,
            "fs/write_text_file",
            json!({"sessionId": "s", "path": "/c.txt", "content": "é\n"})
        )
    );
    client.send(result(3, json!({}))).await;
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
}

#[tokio::test]
async fn what_cannot_be_right_is_not_sent() {
    let mut client = begin(agent(|cx| async move {
        let outcomes = vec![
            outcome(cx.read_text_file("a.txt").await),
            outcome(cx.read_lines("./a.txt", 1, 1).await),
            outcome(cx.read_lines("/a.txt", 0, 1).await),
            outcome(cx.write_text_file("", "x").await),
        ];
        say_all(&cx, outcomes).await
    }))
    .await;
    let invalid = ["InvalidInput"; 4].join(" ");
    assert_eq!(client.receive().await, message("s", &invalid));
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
}

#[tokio::test]
async fn a_client_that_does_not_offer_its_files_is_not_asked() {
    let work = |cx: PromptContext| async move {
        let mut missing = Vec::new();
        for error in [
            cx.read_text_file("/a").await.map(drop),
            cx.read_lines("/a", 1, 1).await.map(drop),
            cx.write_text_file("/a", "x").await,
        ] {
            let error = error.unwrap_err();
            assert!(error.is_capability());
            missing.extend(error.capability().map(str::to_owned));
        }
        say_all(&cx, missing).await
    };
    let mut client = begin_with(agent(work), json!({})).await;
    let missing = "fs.readTextFile fs.readTextFile fs.writeTextFile";
    assert_eq!(client.receive().await, message("s", missing));

    // One of the two is enough for that one.
    let work = |cx: PromptContext| async move {
        let read = outcome(cx.read_text_file("/a").await);
        say_all(
            &cx,
            vec![read, outcome(cx.write_text_file("/a", "x").await)],
        )
        .await
    };
    let reads = json!({"fs": {"readTextFile": true}});
    let mut client = begin_with(agent(work), reads).await;
    let asked = client.receive().await;
    assert_eq!(asked["method"], "fs/read_text_file");
    client
        .send(result(asked["id"].clone(), json!({"content": "t"})))
        .await;
    assert_eq!(
        client.receive().await,
        message("s", "\"t\" MissingCapability")
    );
}

#[tokio::test]
async fn the_clients_error_comes_through_as_it_is() {
    let mut client = begin(agent(|cx| async move {
        for error in [
            cx.read_text_file("/a").await.map(drop),
            cx.write_text_file("/a", "x").await,
        ] {
            let error = error.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Protocol);
            assert_eq!(error.code(), Some(-32002));
            assert_eq!(error.data(), Some(&json!({"uri": "/a"})));
            assert_eq!(error.protocol().unwrap().message, "not there");
        }
        // An answer without what was asked for is one that cannot be read.
        let said = outcome(cx.read_text_file("/a").await);
        say_all(&cx, vec![said]).await
    }))
    .await;
    for id in [1, 2] {
        client.receive().await;
        let mut refusal = error(id, -32002, "not there");
        refusal["error"]["data"] = json!({"uri": "/a"});
        client.send(refusal).await;
    }
    client.receive().await;
    client.send(result(3, json!({}))).await;
    assert_eq!(client.receive().await, message("s", "InvalidAnswer"));
}

#[tokio::test]
async fn a_turn_that_is_over_reads_and_writes_nothing() {
    let (tell, mut told) = mpsc::unbounded_channel();
    let mut client = begin(agent(move |cx| {
        tell.send(cx.clone()).unwrap();
        // The first turn ends by itself, the second is cancelled.
        async move {
            if cx.read_text_file("/a").await.is_ok() {
                cx.cancelled().await;
            }
            Ok(())
        }
    }))
    .await;
    client.receive().await;
    client.send(error(1, -32603, "no")).await;
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    let cx = told.recv().await.unwrap();
    assert_eq!(outcome(cx.read_text_file("/a").await), "TurnEnded");
    assert_eq!(outcome(cx.write_text_file("/a", "x").await), "TurnEnded");
    assert!(client.barrier().await.is_empty());

    client.send(common::prompt(2, "s", "x")).await;
    client.receive().await;
    client.send(result(2, json!({"content": ""}))).await;
    client.send(cancel_request(2)).await;
    assert_eq!(client.receive().await["error"]["code"], -32800);
    let cx = told.recv().await.unwrap();
    assert_eq!(outcome(cx.read_lines("/a", 1, 1).await), "Cancelled");
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn a_future_that_is_dropped_takes_its_request_back_once() {
    let mut client = begin(agent(|cx| async move {
        tokio::select! {
            biased;
            _ = cx.read_text_file("/a") => unreachable!("nobody has answered"),
            _ = cx.write_text_file("/b", "x") => unreachable!("nobody has answered"),
            () = std::future::ready(()) => {}
        }
        // One that was never polled was never sent.
        drop(cx.read_text_file("/c"));
        cx.send_message("on").await?;
        Ok(())
    }))
    .await;
    assert_eq!(client.receive().await["params"]["path"], "/a");
    assert_eq!(client.receive().await["params"]["path"], "/b");
    let mut taken_back = [client.receive().await, client.receive().await];
    taken_back.sort_by_key(|cancel| cancel["params"]["requestId"].as_i64());
    assert_eq!(taken_back, [cancel_request(1), cancel_request(2)]);
    assert_eq!(client.receive().await, message("s", "on"));
    client
        .send_all([result(1, json!({"content": "late"})), result(2, json!({}))])
        .await;
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    assert!(client.barrier().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_answer_in_time_is_not_waited_for() {
    let agent = agent(|cx| async move {
        let said = outcome(cx.read_text_file("/a").await);
        say_all(&cx, vec![said]).await
    });
    let mut client = begin(agent.request_timeout(Duration::from_secs(5))).await;
    client.receive().await;
    assert_eq!(client.receive().await, cancel_request(1));
    assert_eq!(client.receive().await, message("s", "Timeout"));
}

#[tokio::test]
async fn a_blocking_handler_reads_and_writes_as_well() {
    let mut client = begin(blocking_agent(|cx| {
        let text = cx.read_text_file("/a")?;
        let lines = cx.read_lines("/a", 2, 1)?;
        cx.write_text_file("/b", text + &lines)?;
        cx.send_message(outcome(cx.read_lines("/a", 0, 1)))?;
        Ok(())
    }))
    .await;
    client.receive().await;
    client.send(result(1, json!({"content": "one "}))).await;
    let asked = client.receive().await;
    assert_eq!(
        asked["params"],
        json!({"sessionId": "s", "path": "/a", "line": 2, "limit": 1})
    );
    client.send(result(2, json!({"content": "two"}))).await;
    let written = client.receive().await;
    assert_eq!(written["params"]["content"], "one two");
    client.send(result(3, json!({}))).await;
    assert_eq!(client.receive().await, message("s", "InvalidInput"));
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
}
