//! Commands in the client's terminals.

mod common;
mod work;

use std::time::Duration;

use common::{cancel, cancel_request, message, result, stopped};
use endturn::{PromptContext, agent::TerminalCommand};
use serde_json::json;
use tokio::sync::mpsc;
use work::{
    agent, begin, begin_with, blocking_agent, error, outcome, request,
    terminal::{HOUR, about, created, done, exited, make, named, written},
};

#[tokio::test]
async fn a_command_is_created_waited_for_read_and_released() {
    let mut client = begin(agent(|cx| async move {
        let command = TerminalCommand::new("cargo")
            .args(["test"])
            .args(vec!["--quiet".to_owned()])
            .env("A", "1")
            .env("B", "")
            .cwd("/work")
            .output_byte_limit(1000);
        let done = cx.run_command(command).await?;
        assert!(done.success() && done.truncated && !done.timed_out);
        assert_eq!(done.exit_status.unwrap().exit_code, Some(0));
        cx.send_message(done.output).await?;
        Ok(())
    }))
    .await;
    assert_eq!(
        client.receive().await,
        request(
            1,
            "terminal/create",
            json!({
                "sessionId": "s", "command": "cargo", "args": ["test", "--quiet"],
                "env": [{"name": "A", "value": "1"}, {"name": "B", "value": ""}],
                "cwd": "/work", "outputByteLimit": 1000,
            })
        )
    );
    client.send(named(1)).await;
    assert_eq!(client.receive().await, about(2, "wait_for_exit"));
    client.send(exited(2, 0)).await;
    assert_eq!(client.receive().await, about(3, "output"));
    client
        .send(result(3, json!({"output": "ok\n", "truncated": true})))
        .await;
    assert_eq!(client.receive().await, about(4, "release"));
    client.send(done(4)).await;
    assert_eq!(client.receive().await, message("s", "ok\n"));
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    assert!(client.barrier().await.is_empty(), "it is released once");
}

#[tokio::test]
async fn a_command_that_fails_is_no_error_and_no_success() {
    let mut client = begin(agent(|cx| async move {
        for (code, signal) in [(Some(2), None), (None, Some("SIGSEGV"))] {
            let done = cx.run_command(make()).await?;
            assert!(!done.success() && !done.timed_out);
            let exit = done.exit_status.unwrap();
            assert_eq!((exit.exit_code, exit.signal.as_deref()), (code, signal));
        }
        Ok(())
    }))
    .await;
    for (first, exit) in [
        (1, json!({"exitCode": 2})),
        (5, json!({"signal": "SIGSEGV"})),
    ] {
        assert_eq!(client.receive().await, created(first));
        client.send(named(first)).await;
        client.receive().await;
        client.send(result(first + 1, exit)).await;
        client.receive().await;
        client.send(written(first + 2, "")).await;
        assert_eq!(client.receive().await, about(first + 3, "release"));
        client.send(done(first + 3)).await;
    }
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
}

#[tokio::test(start_paused = true)]
async fn a_command_whose_time_is_up_is_killed_and_its_output_is_kept() {
    // Also when it could not be killed, since it has just ended for example.
    for kill in [done(3), error(3, -32603, "no")] {
        let mut client = begin(agent(|cx| async move {
            let done = cx.run_command(make().timeout(HOUR)).await?;
            assert!(done.timed_out && !done.success());
            assert_eq!(done.exit_status.unwrap().signal.as_deref(), Some("SIGKILL"));
            cx.send_message(done.output).await?;
            Ok(())
        }))
        .await
        .limit(2 * HOUR);
        client.receive().await;
        client.send(named(1)).await;
        let start = tokio::time::Instant::now();
        assert_eq!(client.receive().await, about(2, "wait_for_exit"));
        assert_eq!(client.receive().await, cancel_request(2));
        assert_eq!(start.elapsed().as_secs(), HOUR.as_secs());
        assert_eq!(client.receive().await, about(3, "kill"));
        client.send(kill).await;
        assert_eq!(client.receive().await, about(4, "output"));
        let killed =
            json!({"output": "half", "truncated": false, "exitStatus": {"signal": "SIGKILL"}});
        client.send(result(4, killed)).await;
        assert_eq!(client.receive().await, about(5, "release"));
        client.send(done(5)).await;
        assert_eq!(client.receive().await, message("s", "half"));
        assert_eq!(client.receive().await, stopped(1, "end_turn"));
        assert!(client.barrier().await.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_has_no_timeout_of_its_own() {
    let mut client = begin(agent(|cx| async move {
        let said = cx.run_command(make()).await?.output;
        cx.send_message(said).await?;
        Ok(())
    }))
    .await;
    client.receive().await;
    client.send(named(1)).await;
    assert_eq!(client.receive().await, about(2, "wait_for_exit"));
    tokio::time::sleep(48 * HOUR).await;
    assert!(client.barrier().await.is_empty());
    client.send(exited(2, 0)).await;
    client.receive().await;
    client.send(written(3, "at last")).await;
    client.receive().await;
    client.send(done(4)).await;
    assert_eq!(client.receive().await, message("s", "at last"));
}

#[tokio::test]
async fn a_command_that_cannot_be_started_leaves_nothing_to_release() {
    let mut client = begin(agent(|cx| async move {
        let error = cx.run_command(make()).await.unwrap_err();
        assert_eq!(error.code(), Some(-32002));
        assert_eq!(error.protocol().unwrap().message, "no make");
        Ok(())
    }))
    .await;
    client.receive().await;
    client.send(error(1, -32002, "no make")).await;
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    assert!(client.barrier().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_refuses_a_step_is_told_to_release() {
    for refused in ["wait_for_exit", "output"] {
        let mut client = begin(agent(|cx| async move {
            let run = cx.run_command(make().timeout(HOUR));
            let error = run.await.unwrap_err();
            assert_eq!(error.code(), Some(-32603));
            Ok(())
        }))
        .await
        .limit(2 * HOUR);
        client.receive().await;
        client.send(named(1)).await;
        let mut next = 2;
        if refused == "output" {
            client.receive().await;
            client.send(exited(2, 0)).await;
            next = 3;
        }
        assert_eq!(client.receive().await, about(next, refused));
        client.send(error(next, -32603, "no")).await;
        assert_eq!(client.receive().await, about(next + 1, "release"));
        assert_eq!(client.receive().await, stopped(1, "end_turn"));
        assert!(client.barrier().await.is_empty(), "{refused}");
    }
}

#[tokio::test]
async fn a_terminal_can_be_watched_killed_and_waited_for() {
    let mut client = begin(agent(|cx| async move {
        let terminal = cx
            .start_command(make().timeout(Duration::from_nanos(1)))
            .await?;
        assert_eq!(&*terminal.id().0, "t");
        let so_far = terminal.output().await?;
        assert_eq!(so_far.output, "so far");
        assert_eq!(so_far.exit_status, None);
        terminal.kill().await?;
        let exit = terminal.wait().await?;
        assert_eq!(exit.signal.as_deref(), Some("SIGTERM"));
        terminal.release().await?;
        cx.send_message("released").await?;
        Ok(())
    }))
    .await;
    assert_eq!(client.receive().await, created(1));
    client.send(named(1)).await;
    assert_eq!(client.receive().await, about(2, "output"));
    client.send(written(2, "so far")).await;
    assert_eq!(client.receive().await, about(3, "kill"));
    client.send(done(3)).await;
    assert_eq!(client.receive().await, about(4, "wait_for_exit"));
    client.send(result(4, json!({"signal": "SIGTERM"}))).await;
    assert_eq!(client.receive().await, about(5, "release"));
    assert!(client.barrier().await.is_empty(), "it waits for the client");
    client.send(done(5)).await;
    assert_eq!(client.receive().await, message("s", "released"));
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn what_cannot_be_run_is_not_sent() {
    let relative = |cx: PromptContext| async move {
        let said = outcome(cx.run_command(make().cwd("here")).await.map(drop));
        cx.send_message(said).await?;
        Ok(())
    };
    let mut client = begin(agent(relative)).await;
    assert_eq!(client.receive().await, message("s", "InvalidInput"));

    let missing = |cx: PromptContext| async move {
        let error = cx.run_command(make()).await.unwrap_err();
        cx.send_message(error.capability().unwrap()).await?;
        Ok(())
    };
    let mut client = begin_with(agent(missing), json!({})).await;
    assert_eq!(client.receive().await, message("s", "terminal"));

    let (tell, mut told) = mpsc::unbounded_channel();
    let mut client = begin(agent(move |cx| {
        tell.send(cx).unwrap();
        async { Ok(()) }
    }))
    .await;
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    let cx = told.recv().await.unwrap();
    assert_eq!(outcome(cx.start_command(make()).await), "TurnEnded");
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn a_blocking_handler_runs_commands_as_well() {
    let mut client = begin(blocking_agent(|cx| {
        cx.send_message(cx.run_command(make())?.output)?;
        let terminal = cx.start_command(make())?;
        assert_eq!(terminal.output()?.output, "so far");
        terminal.kill()?;
        assert_eq!(terminal.wait()?.exit_code, Some(1));
        terminal.release()?;
        drop(cx.start_command(make())?);
        let error = cx.run_command(make()).unwrap_err();
        assert!(error.is_cancelled());
        Ok(())
    }))
    .await;
    assert_eq!(client.receive().await, created(1));
    client.send(named(1)).await;
    assert_eq!(client.receive().await, about(2, "wait_for_exit"));
    client.send(exited(2, 0)).await;
    assert_eq!(client.receive().await, about(3, "output"));
    client.send(written(3, "ok")).await;
    assert_eq!(client.receive().await, about(4, "release"));
    client.send(done(4)).await;
    assert_eq!(client.receive().await, message("s", "ok"));

    assert_eq!(client.receive().await, created(5));
    client.send(named(5)).await;
    assert_eq!(client.receive().await, about(6, "output"));
    client.send(written(6, "so far")).await;
    assert_eq!(client.receive().await, about(7, "kill"));
    client.send(done(7)).await;
    assert_eq!(client.receive().await, about(8, "wait_for_exit"));
    client.send(exited(8, 1)).await;
    assert_eq!(client.receive().await, about(9, "release"));
    client.send(done(9)).await;

    assert_eq!(client.receive().await, created(10));
    client.send(named(10)).await;
    assert_eq!(client.receive().await, about(11, "release"));

    assert_eq!(client.receive().await, created(12));
    client.send(named(12)).await;
    assert_eq!(client.receive().await, about(13, "wait_for_exit"));
    client.send(cancel("s")).await;
    assert_eq!(client.receive().await, cancel_request(13));
    assert_eq!(client.receive().await, about(14, "release"));
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    assert!(client.barrier().await.is_empty());
}
