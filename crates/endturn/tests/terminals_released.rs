//! Whatever becomes of a turn, each of its terminals is released, and once.

mod common;
mod work;

use std::time::Duration;

use common::{cancel, cancel_request, message, result, stopped};
use endturn::{PromptContext, agent::Terminal};
use endturn_testkit::RawPeer;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use work::{
    agent, begin, blocking_agent, error, outcome,
    terminal::{about, created, done, exited, make, named},
};

#[tokio::test]
async fn a_cancelled_turn_releases_its_command_before_it_answers() {
    for cascade in [true, false] {
        let agent = agent(|cx| async move {
            let error = cx.run_command(make()).await.unwrap_err();
            assert!(error.is_cancelled());
            cx.send_message("stopped").await?;
            Err(error)?
        });
        let mut client = begin(agent.cascade_cancel(cascade)).await;
        client.receive().await;
        client.send(named(1)).await;
        assert_eq!(client.receive().await, about(2, "wait_for_exit"));
        client.send(cancel("s")).await;
        assert_eq!(client.receive().await, cancel_request(2));
        assert_eq!(client.receive().await, about(3, "release"));
        assert_eq!(client.receive().await, message("s", "stopped"));
        assert_eq!(client.receive().await, stopped(1, "cancelled"));
        client.send_all([exited(2, 1), done(3)]).await;
        assert!(client.barrier().await.is_empty());
    }
}

#[tokio::test]
async fn a_turn_that_is_cancelled_while_the_command_is_started_does_not_wait_for_it() {
    let mut client = begin(agent(|cx| async move {
        let said = outcome(cx.run_command(make()).await.map(drop));
        cx.send_message(said).await?;
        // Now nothing is sent at all.
        assert_eq!(outcome(cx.run_command(make()).await.map(drop)), "Cancelled");
        Ok(())
    }))
    .await;
    assert_eq!(client.receive().await, created(1));
    client.send(cancel("s")).await;
    let mut told = vec![client.receive().await];
    told.push(client.receive().await);
    told.push(client.receive().await);
    // It is said by another task.
    let place = told.iter().position(|it| *it == cancel_request(1));
    told.remove(place.expect("the client is asked to stop"));
    assert_eq!(told, [message("s", "Cancelled"), stopped(1, "cancelled")]);
    client.send(named(1)).await;
    assert_eq!(client.receive().await, about(2, "release"));
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn a_handler_that_cleans_up_after_a_cancel_can_still_start_a_command() {
    let mut client = begin(agent(|cx| async move {
        cx.cancelled().await;
        let terminal = cx.start_command(make()).await?;
        assert_eq!(terminal.wait().await?.exit_code, Some(0));
        terminal.release().await?;
        Ok(())
    }))
    .await;
    client.send(cancel("s")).await;
    assert_eq!(client.receive().await, created(1));
    client.send(named(1)).await;
    assert_eq!(client.receive().await, about(2, "wait_for_exit"));
    client.send(exited(2, 0)).await;
    assert_eq!(client.receive().await, about(3, "release"));
    client.send(done(3)).await;
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
}

/// What ends a turn over its handler's head.
#[tokio::test(start_paused = true)]
async fn a_handler_that_is_dropped_releases_its_terminal() {
    for by in ["grace period", "$/cancel_request", "max duration"] {
        let agent = agent(|cx| async move {
            let terminal = cx.start_command(make()).await?;
            cx.send_message("started").await?;
            std::future::pending::<()>().await;
            terminal.release().await?;
            Ok(())
        });
        let agent = match by {
            "max duration" => agent.max_prompt_duration(Duration::from_secs(5)),
            _ => agent.cancel_grace_period(Duration::from_secs(5)),
        };
        let mut client = begin(agent).await;
        client.receive().await;
        client.send(named(1)).await;
        assert_eq!(client.receive().await, message("s", "started"));
        match by {
            "grace period" => client.send(cancel("s")).await,
            "$/cancel_request" => client.send(cancel_request(1)).await,
            _ => {}
        }
        let answer = client.receive().await;
        if by == "grace period" {
            assert_eq!(answer, stopped(1, "cancelled"));
        } else {
            assert_eq!(answer["error"]["code"], -32800, "{by}");
        }
        assert_eq!(client.receive().await, about(2, "release"), "{by}");
        assert!(client.barrier().await.is_empty(), "{by}");
    }
}

#[tokio::test]
async fn a_run_that_is_dropped_with_its_handler_releases_its_terminal() {
    let run = |cx: PromptContext| async move { Ok(cx.run_command(make()).await.map(drop)?) };
    let mut client = begin(agent(run)).await;
    client.receive().await;
    client.send(named(1)).await;
    assert_eq!(client.receive().await, about(2, "wait_for_exit"));
    client.send(cancel_request(1)).await;
    assert_eq!(client.receive().await, cancel_request(2));
    assert_eq!(client.receive().await["error"]["code"], -32800);
    assert_eq!(client.receive().await, about(3, "release"));
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn a_terminal_that_is_named_too_late_is_released_at_once() {
    // The future is dropped by the handler.
    let (stop, stopped_by) = oneshot::channel::<()>();
    let stopped_by = std::sync::Mutex::new(Some(stopped_by));
    let mut client = begin(agent(move |cx| {
        let stop = stopped_by.lock().unwrap().take().unwrap();
        async move {
            tokio::select! {
                _ = cx.run_command(make()) => unreachable!("it was not started"),
                _ = stop => {}
            }
            Ok(())
        }
    }))
    .await;
    assert_eq!(client.receive().await, created(1));
    stop.send(()).unwrap();
    late(&mut client, stopped(1, "end_turn")).await;

    // The handler is dropped.
    let run = |cx: PromptContext| async move { Ok(cx.run_command(make()).await.map(drop)?) };
    let mut client = begin(agent(run)).await;
    assert_eq!(client.receive().await, created(1));
    client.send(cancel_request(1)).await;
    let ended = error(1, -32800, "Request cancelled");
    late(&mut client, ended).await;
}

#[tokio::test]
async fn a_command_that_is_being_started_when_its_turn_ends_fails_at_once() {
    // On a thread that nobody can interrupt.
    let (tell, mut told) = mpsc::unbounded_channel();
    let mut client = begin(blocking_agent(move |cx| {
        let said = outcome(cx.start_command(make()).map(drop));
        tell.send(said).unwrap();
        Ok(())
    }))
    .await;
    assert_eq!(client.receive().await, created(1));
    client.send(cancel_request(1)).await;
    late(&mut client, error(1, -32800, "Request cancelled")).await;
    assert_eq!(told.recv().await.unwrap(), "Cancelled");

    // Beside the handler, which ends by itself.
    let (tell, mut told) = mpsc::unbounded_channel();
    let mut client = begin(agent(move |cx| {
        let tell = tell.clone();
        async move {
            let beside = cx.clone();
            tokio::spawn(async move {
                let said = outcome(beside.start_command(make()).await.map(drop));
                tell.send(said).unwrap();
            });
            cx.read_text_file("/a").await?;
            Ok(())
        }
    }))
    .await;
    let read = client.receive().await["id"].clone();
    let create = client.receive().await;
    assert_eq!(create["method"], "terminal/create");
    client.send(result(read, json!({"content": ""}))).await;
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    assert_eq!(told.recv().await.unwrap(), "TurnEnded");
    let create = create["id"].clone();
    assert_eq!(client.receive().await, cancel_request(create.clone()));
    client
        .send(result(create, json!({"terminalId": "t"})))
        .await;
    assert_eq!(client.receive().await, about(3, "release"));
    assert!(client.barrier().await.is_empty());
}

/// The turn is over, the client is asked to stop what it does, and names the terminal all the same.
async fn late(client: &mut RawPeer, answer: Value) {
    // The two are said by two tasks.
    let mut ended = [client.receive().await, client.receive().await];
    ended.sort_by_key(|message| message["id"].is_null());
    assert_eq!(ended, [answer, cancel_request(1)]);
    client.send(named(1)).await;
    assert_eq!(client.receive().await, about(2, "release"));
    client.send(done(2)).await;
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn a_release_that_the_client_answers_with_an_error_is_not_sent_again() {
    let mut client = begin(agent(|cx| async move {
        let terminal = cx.start_command(make()).await?;
        let error = terminal.release().await.unwrap_err();
        assert_eq!(error.code(), Some(-32002));
        Ok(())
    }))
    .await;
    client.receive().await;
    client.send(named(1)).await;
    assert_eq!(client.receive().await, about(2, "release"));
    client.send(error(2, -32002, "no such terminal")).await;
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn a_release_that_was_called_off_is_sent_again() {
    let mut client = begin(agent(|cx| async move {
        let terminal = cx.start_command(make()).await?;
        let error = terminal.release().await.unwrap_err();
        assert!(error.is_cancelled());
        Ok(())
    }))
    .await;
    client.receive().await;
    client.send(named(1)).await;
    assert_eq!(client.receive().await, about(2, "release"));
    client.send(cancel("s")).await;
    assert_eq!(client.receive().await, cancel_request(2));
    client.send(error(2, -32800, "cancelled")).await;
    assert_eq!(client.receive().await, about(3, "release"));
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn a_release_that_nobody_waits_for_any_more_is_sent_again() {
    let mut client = begin(agent(|cx| async move {
        let terminal = cx.start_command(make()).await?;
        tokio::select! {
            biased;
            _ = terminal.release() => unreachable!("nobody has answered"),
            () = std::future::ready(()) => {}
        }
        Ok(())
    }))
    .await;
    client.receive().await;
    client.send(named(1)).await;
    // The client may follow the cancel, so that the first one counts for nothing.
    assert_eq!(client.receive().await, about(2, "release"));
    assert_eq!(client.receive().await, cancel_request(2));
    assert_eq!(client.receive().await, about(3, "release"));
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    client.send_all([done(2), done(3)]).await;
    assert!(client.barrier().await.is_empty());
}

/// An agent whose turns start a command, hand the terminal out, and end.
fn hands_out() -> (
    endturn::agent::AgentBuilder,
    mpsc::UnboundedReceiver<Terminal>,
) {
    let (tell, told) = mpsc::unbounded_channel();
    let agent = agent(move |cx| {
        let tell = tell.clone();
        async move {
            tell.send(cx.start_command(make()).await?).unwrap();
            Ok(())
        }
    });
    (agent, told)
}

#[tokio::test]
async fn a_terminal_that_outlives_its_turn_is_of_no_use_and_released_when_it_is_dropped() {
    for release in [false, true] {
        let (agent, mut terminals) = hands_out();
        let mut client = begin(agent).await;
        client.receive().await;
        client.send(named(1)).await;
        assert_eq!(client.receive().await, stopped(1, "end_turn"));
        assert!(client.barrier().await.is_empty());
        let terminal = terminals.recv().await.unwrap();
        assert_eq!(outcome(terminal.output().await), "TurnEnded");
        if release {
            assert_eq!(outcome(terminal.release().await), "TurnEnded");
        } else {
            drop(terminal);
        }
        assert_eq!(client.receive().await, about(2, "release"));
        assert!(client.barrier().await.is_empty());
    }
}

#[tokio::test]
async fn a_terminal_whose_connection_is_lost_is_dropped_quietly() {
    let (agent, mut terminals) = hands_out();
    let agent = agent.build();
    let (mut client, transport) = RawPeer::pair();
    let served = tokio::spawn(async move { agent.serve(transport).await });
    client.initialize().await;
    client.send(common::prompt(1, "s", "x")).await;
    client.receive().await;
    client.send(named(1)).await;
    client.receive().await;
    client.send(common::prompt(2, "s", "x")).await;
    assert_eq!(client.receive().await, created(2));
    // One terminal is there, another is being made.
    client.hang_up();
    served.await.unwrap().unwrap();
    let terminal = terminals.recv().await.unwrap();
    assert_eq!(outcome(terminal.wait().await), "ConnectionLost");
    drop(terminal);
    assert!(terminals.recv().await.is_none());
    assert_eq!(client.receive_line().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_takes_too_long_to_start_a_command_is_told_to_stop_and_to_release_it() {
    let agent = agent(|cx| async move {
        let error = cx.run_command(make()).await.unwrap_err();
        assert!(error.is_timeout());
        assert_eq!(error.to_string(), "no answer to terminal/create within 5s");
        Ok(())
    });
    let mut client = begin(agent.request_timeout(Duration::from_secs(5))).await;
    let start = tokio::time::Instant::now();
    assert_eq!(client.receive().await, created(1));
    let mut ended = [client.receive().await, client.receive().await];
    assert_eq!(start.elapsed().as_secs(), 5);
    ended.sort_by_key(|message| message["id"].is_null());
    assert_eq!(ended, [stopped(1, "end_turn"), cancel_request(1)]);
    // It has started it all the same.
    client.send(named(1)).await;
    assert_eq!(client.receive().await, about(2, "release"));
    assert!(client.barrier().await.is_empty());
}
