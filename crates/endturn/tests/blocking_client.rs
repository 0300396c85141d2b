//! Clients and agents in programs without an async runtime.

mod common;

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    task::{Context, Poll, Waker},
    thread::{self, JoinHandle},
    time::Duration,
};

use common::{cancel, message, result, stopped};
use endturn::{
    Agent, CancellationSignal, ErrorKind,
    blocking::{self, Client, ClientBuilder},
    schema::{
        ProtocolVersion,
        v1::{
            ContentBlock, InitializeRequest, InitializeResponse, ListSessionsRequest,
            NewSessionRequest, PermissionOptionKind, PromptRequest, PromptResponse,
            RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
            SelectedPermissionOutcome, SessionId, SessionNotification, SessionUpdate, StopReason,
            TextContent,
        },
    },
    transport,
};
use endturn_testkit::{RawPeer, scripted};
use serde_json::{Value, json};

/// A wait that only ends so when something hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// The scripted agent, served on a thread of its own, and a client of it.
fn scripted(builder: ClientBuilder) -> (Client, JoinHandle<io::Result<()>>) {
    serving(scripted::agent().build(), builder)
}

fn serving(agent: Agent, builder: ClientBuilder) -> (Client, JoinHandle<io::Result<()>>) {
    let (near, far) = transport::memory();
    let serving = thread::spawn(move || blocking::serve(&agent, || Ok(far)));
    let client = builder.connect(|| Ok(near)).unwrap();
    initialize(&client);
    (client, serving)
}

fn initialize(client: &Client) -> InitializeResponse {
    let request = InitializeRequest::new(ProtocolVersion::V1);
    client.initialize(request).unwrap()
}

fn session(client: &Client) -> SessionId {
    let request = NewSessionRequest::new("/");
    client.new_session(request).unwrap().session_id
}

fn prompt(session: impl Into<SessionId>, text: &str) -> PromptRequest {
    PromptRequest::new(
        session,
        vec![ContentBlock::Text(TextContent::new(text.to_owned()))],
    )
}

/// The words of an update; none if it is not of the agent's answer.
fn words_of(notification: SessionNotification) -> Option<String> {
    let SessionUpdate::AgentMessageChunk(chunk) = notification.update else {
        return None;
    };
    let ContentBlock::Text(text) = chunk.content else {
        return None;
    };
    Some(text.text)
}

fn text(notification: SessionNotification) -> String {
    words_of(notification).expect("it is a piece of text")
}

/// A raw agent that a test without a runtime drives, and the client of it.
struct Raw {
    peer: RawPeer,
    runtime: tokio::runtime::Runtime,
}

impl Raw {
    fn connect(builder: ClientBuilder) -> (Self, Client) {
        Self::connect_with_buffer(64 * 1024, builder)
    }

    fn connect_with_buffer(bytes: usize, builder: ClientBuilder) -> (Self, Client) {
        let (mut peer, transport) = RawPeer::pair_with_buffer(bytes);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let client = builder.connect(|| Ok(transport)).unwrap();
        thread::scope(|threads| {
            threads.spawn(|| initialize(&client));
            runtime.block_on(peer.accept_initialize());
        });
        (Self { peer, runtime }, client)
    }

    fn send(&mut self, line: Value) {
        self.runtime.block_on(self.peer.send(line));
    }

    fn receive(&mut self) -> Value {
        self.runtime.block_on(self.peer.receive())
    }

    fn receive_line(&mut self) -> Option<String> {
        self.runtime.block_on(self.peer.receive_line())
    }
}

#[test]
fn signal_from_another_thread_gives_the_answer_cancelled_after_all_updates() {
    let (said, words) = mpsc::channel();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (client, _) = scripted(Client::builder().on_update({
        let seen = Arc::clone(&seen);
        move |notification, _client| {
            let text = text(notification);
            seen.lock().unwrap().push(text.clone());
            said.send(text).unwrap();
        }
    }));
    let agent = client.agent().unwrap();
    assert_eq!(agent.info().unwrap().name, "endturn-scripted");

    let stop = CancellationSignal::new();
    let request = prompt(session(&client), "say one\nwait\nsay two\nsay three");
    let (response, seen) = thread::scope(|threads| {
        let turn = threads.spawn(|| {
            let response = client.prompt(request, &stop).unwrap();
            (response, seen.lock().unwrap().clone())
        });
        assert_eq!(words.recv_timeout(LIMIT).unwrap(), "one");
        stop.cancel();
        turn.join().unwrap()
    });
    assert_eq!(response.stop_reason, StopReason::Cancelled);
    assert_eq!(seen, ["one", "two", "three"]);
}

#[test]
fn cancel_by_the_name_of_the_session_ends_the_turn_too() {
    let (said, words) = mpsc::channel();
    let builder = Client::builder().on_update(move |_, _| said.send(()).unwrap());
    let (client, _) = scripted(builder);
    let session = session(&client);
    let response = thread::scope(|threads| {
        let turn = threads.spawn(|| client.prompt(prompt(session.clone(), "say x\nwait"), None));
        words.recv_timeout(LIMIT).unwrap();
        client.cancel(&session);
        turn.join().unwrap()
    });
    assert_eq!(response.unwrap().stop_reason, StopReason::Cancelled);
}

#[test]
fn answer_last_although_the_handler_is_still_blocked_when_the_answer_has_been_read() {
    let (entered, inside) = mpsc::channel();
    let (release, gate) = mpsc::channel();
    let gate = Mutex::new(gate);
    let done = Arc::new(AtomicUsize::new(0));
    let (mut agent, client) = Raw::connect(Client::builder().on_update({
        let done = Arc::clone(&done);
        move |_, _| {
            entered.send(()).unwrap();
            gate.lock().unwrap().recv().unwrap();
            done.fetch_add(1, Ordering::SeqCst);
        }
    }));
    let turn = thread::spawn({
        let (client, done) = (client.clone(), Arc::clone(&done));
        move || {
            let response = client.prompt(prompt("s", "x"), None).unwrap();
            (response.stop_reason, done.load(Ordering::SeqCst))
        }
    });
    let id = agent.receive()["id"].clone();
    agent.send(message("s", "1"));
    agent.send(message("s", "2"));
    agent.send(stopped(id, "end_turn"));
    // The answer to a later request has come through, so the answer to the prompt has been read.
    let later = thread::spawn({
        let client = client.clone();
        move || client.request_raw::<Value>("_later", &json!({}))
    });
    let id = agent.receive()["id"].clone();
    agent.send(result(id, json!({})));
    later.join().unwrap().unwrap();
    inside.recv_timeout(LIMIT).unwrap();
    assert!(!turn.is_finished());
    release.send(()).unwrap();
    inside.recv_timeout(LIMIT).unwrap();
    assert!(!turn.is_finished());
    release.send(()).unwrap();
    assert_eq!(turn.join().unwrap(), (StopReason::EndTurn, 2));
}

#[test]
fn updates_come_in_the_order_of_the_wire_and_none_is_lost() {
    const UPDATES: usize = 20_000;
    let agent = Agent::builder()
        .on_prompt(|_, cx| async move {
            for number in 0..UPDATES {
                cx.send_message(number.to_string()).await?;
            }
            Ok(PromptResponse::new(StopReason::EndTurn))
        })
        .build();
    let next = Arc::new(AtomicUsize::new(0));
    let (client, _) = serving(
        agent,
        Client::builder().on_update({
            let next = Arc::clone(&next);
            move |notification, _client| {
                let expected = next.fetch_add(1, Ordering::SeqCst);
                assert_eq!(text(notification), expected.to_string());
            }
        }),
    );
    client.prompt(prompt("s", "x"), None).unwrap();
    assert_eq!(next.load(Ordering::SeqCst), UPDATES);
}

#[test]
fn an_update_handler_can_ask_and_prompt_while_its_own_session_sends_more_than_is_kept() {
    let answers = Arc::new(Mutex::new(Vec::new()));
    let builder = Client::builder().on_update({
        let answers = Arc::clone(&answers);
        move |notification, client: Client| {
            if text(notification) != "first" {
                return;
            }
            let busy = client.prompt(prompt("a", "x"), None);
            assert!(busy.unwrap_err().is_busy());
            client.request_raw::<Value>("_ask", &json!({})).unwrap();
            let answer = client.prompt(prompt("b", "x"), None);
            answers.lock().unwrap().push(answer.unwrap().stop_reason);
        }
    });
    let (mut agent, client) = Raw::connect(builder);
    let turn = thread::spawn(move || client.prompt(prompt("a", "x"), None));
    let first = agent.receive()["id"].clone();
    agent.send(message("a", "first"));
    let flood = |agent: &mut Raw| {
        for _ in 0..3 {
            agent.send(message("a", &"x".repeat(1024 * 1024)));
        }
    };
    let asked = agent.receive();
    assert_eq!(asked["method"], "_ask");
    flood(&mut agent);
    agent.send(result(asked["id"].clone(), json!({})));
    let second = agent.receive();
    assert_eq!(second["params"]["sessionId"], "b");
    flood(&mut agent);
    agent.send(stopped(second["id"].clone(), "refusal"));
    agent.send(stopped(first, "end_turn"));
    let response = turn.join().unwrap().unwrap();
    assert_eq!(response.stop_reason, StopReason::EndTurn);
    assert_eq!(*answers.lock().unwrap(), [StopReason::Refusal]);
}

#[test]
fn an_update_handler_can_prompt_its_own_session_when_its_turn_has_been_answered() {
    let (release, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let (told, answers) = mpsc::channel();
    let (mut agent, client) = Raw::connect(Client::builder().on_update(move |_, client| {
        gate.lock().unwrap().recv().unwrap();
        // Its answer would come after this very update, if it had to wait for its place.
        let answer = client.prompt(prompt("a", "again"), None);
        told.send(answer.unwrap().stop_reason).unwrap();
    }));
    let turn = thread::spawn({
        let client = client.clone();
        move || client.prompt(prompt("a", "x"), None)
    });
    let first = agent.receive()["id"].clone();
    agent.send(message("a", "x"));
    agent.send(stopped(first, "end_turn"));
    agent.runtime.block_on(agent.peer.barrier());
    release.send(()).unwrap();
    let second = agent.receive()["id"].clone();
    agent.send(stopped(second, "refusal"));
    assert_eq!(answers.recv_timeout(LIMIT), Ok(StopReason::Refusal));
    let response = turn.join().unwrap().unwrap();
    assert_eq!(response.stop_reason, StopReason::EndTurn);
}

#[test]
fn update_handlers_of_any_number_of_sessions_can_wait_for_each_other() {
    /// More than a runtime lends threads by default.
    const SESSIONS: usize = 600;
    let all_inside = Arc::new(std::sync::Barrier::new(SESSIONS));
    // Every handler waits for all others, so none of them may have to wait for a thread.
    let (client, _) = scripted(Client::builder().on_update(move |_, _| {
        all_inside.wait();
    }));
    thread::scope(|threads| {
        for _ in 0..SESSIONS {
            threads.spawn(|| {
                client
                    .prompt(prompt(session(&client), "say x"), None)
                    .unwrap()
            });
        }
    });
}

#[test]
fn panic_in_an_update_handler_loses_that_one_update() {
    let seen = Arc::new(AtomicUsize::new(0));
    let (client, _) = scripted(Client::builder().on_update({
        let seen = Arc::clone(&seen);
        move |notification, _| {
            assert_ne!(text(notification), "bad", "as the test wants it");
            seen.fetch_add(1, Ordering::SeqCst);
        }
    }));
    let request = prompt(session(&client), "say 1\nsay bad\nsay 3");
    client.prompt(request, None).unwrap();
    assert_eq!(seen.load(Ordering::SeqCst), 2);
}

#[test]
fn a_permission_is_asked_on_a_thread_named_after_its_session_and_may_ask_the_agent() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (client, _) = scripted(
        Client::builder()
            .on_update({
                let seen = Arc::clone(&seen);
                move |notification, _| seen.lock().unwrap().extend(words_of(notification))
            })
            .on_permission(|request: RequestPermissionRequest, client| {
                let name = thread::current().name().map(str::to_owned);
                assert_eq!(name, Some(request.session_id.to_string()));
                session(&client);
                let allow = |kind| kind == PermissionOptionKind::AllowOnce;
                let option = request.options.iter().find(|option| allow(option.kind));
                let selected = SelectedPermissionOutcome::new(option.unwrap().option_id.clone());
                let outcome = RequestPermissionOutcome::Selected(selected);
                Ok(RequestPermissionResponse::new(outcome))
            }),
    );
    let request = prompt(session(&client), "say before\nask May I?");
    client.prompt(request, None).unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0], "before");
    assert!(seen[1].contains("allow"), "{seen:?}");
}

#[test]
fn permissions_that_nobody_answers_are_settled_by_a_cancel_and_keep_nothing_open() {
    let (asked, questions) = mpsc::channel();
    let (release, gate) = mpsc::channel::<()>();
    let (kinds, late) = mpsc::channel();
    let gate = Mutex::new(gate);
    let (client, serving) = scripted(Client::builder().on_permission(move |_, client| {
        asked.send(()).unwrap();
        gate.lock().unwrap().recv().unwrap();
        kinds.send(client.closed().kind()).unwrap();
        let late = client.new_session(NewSessionRequest::new("/"));
        kinds.send(late.unwrap_err().kind()).unwrap();
        Ok(RequestPermissionResponse::new(
            RequestPermissionOutcome::Cancelled,
        ))
    }));
    let stop = CancellationSignal::new();
    let request = prompt(session(&client), "ask May I?");
    let response = thread::scope(|threads| {
        let turn = threads.spawn(|| client.prompt(request, &stop));
        questions.recv_timeout(LIMIT).unwrap();
        stop.cancel();
        turn.join().unwrap()
    });
    assert_eq!(response.unwrap().stop_reason, StopReason::Cancelled);
    // The handler's thread has a client and is still in its function; the connection ends all the same.
    drop(client);
    serving.join().unwrap().unwrap();
    release.send(()).unwrap();
    for _ in 0..2 {
        let kind = late.recv_timeout(LIMIT).unwrap();
        assert_eq!(kind, ErrorKind::ConnectionLost);
    }
}

#[test]
fn dropping_the_last_client_writes_what_has_its_place_on_the_wire_and_closes() {
    let (mut agent, client) = Raw::connect(Client::builder());
    let turn = thread::spawn({
        let client = client.clone();
        move || client.prompt(prompt("s", "x"), None)
    });
    assert_eq!(agent.receive()["method"], "session/prompt");
    client.cancel(&"s".into());
    client.close();
    let error = turn.join().unwrap().unwrap_err();
    assert!(error.is_connection_lost());
    assert!(client.closed().is_connection_lost());
    assert_eq!(agent.receive(), cancel("s"));
    assert_eq!(agent.receive_line(), None);

    let (mut agent, client) = Raw::connect(Client::builder());
    let clone = client.clone();
    drop(client);
    let asking = thread::spawn(move || {
        let wait = Duration::from_millis(1);
        let call = clone.as_async().request(&ListSessionsRequest::new());
        let error = clone.wait(call.timeout(wait)).unwrap_err();
        assert!(error.is_timeout());
        // Here goes the last one.
    });
    assert_eq!(agent.receive()["method"], "session/list");
    asking.join().unwrap();
    assert_eq!(agent.receive()["method"], "$/cancel_request");
    assert_eq!(agent.receive_line(), None);
}

#[test]
fn dropping_has_written_everything_when_it_returns_although_a_handler_is_still_running() {
    // A drop that does not wait can be lucky, but not every time.
    for _ in 0..20 {
        drop_while_a_handler_is_running();
    }
}

fn drop_while_a_handler_is_running() {
    let (entered, inside) = mpsc::channel();
    let (release, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let (mut agent, client) = Raw::connect(Client::builder().on_update(move |_, client| {
        entered.send(()).unwrap();
        gate.lock().unwrap().recv().ok();
        drop(client);
    }));
    agent.send(message("s", "x"));
    inside.recv_timeout(LIMIT).unwrap();
    let raw = client.as_async().request_raw::<Value>("_last", &json!({}));
    let limit = raw.timeout(Duration::from_millis(1));
    assert!(client.wait(limit).unwrap_err().is_timeout());
    drop(client);
    let _context = agent.runtime.enter();
    let mut lines = Vec::new();
    loop {
        // Without waiting: everything is there.
        let line = pin!(agent.peer.receive_line()).poll(&mut Context::from_waker(Waker::noop()));
        match line {
            Poll::Ready(Some(line)) => lines.push(line),
            Poll::Ready(None) => break,
            Poll::Pending => panic!("only this was written: {lines:?}"),
        }
    }
    assert!(lines[1].contains("$/cancel_request"), "{lines:?}");
    drop(release);
}

#[test]
fn dropping_does_not_hang_on_an_agent_that_does_not_read() {
    let (agent, client) = Raw::connect_with_buffer(16, Client::builder());
    let turn = thread::spawn({
        let client = client.clone();
        move || client.prompt(prompt("s", &"x".repeat(1000)), None)
    });
    let call = client.as_async().request(&ListSessionsRequest::new());
    let error = client
        .wait(call.timeout(Duration::from_millis(1)))
        .unwrap_err();
    assert!(error.is_timeout());
    client.close();
    assert!(turn.join().unwrap().unwrap_err().is_connection_lost());
    drop(client);
    drop(agent);
}

#[test]
fn dropping_the_last_client_on_its_own_runtimes_thread_does_not_hang() {
    let held = Arc::new(Mutex::new(None::<Client>));
    let (dropped, told) = mpsc::channel();
    let builder = Client::builder().on_stray_output({
        let held = Arc::clone(&held);
        move |_, _| {
            drop(held.lock().unwrap().take());
            dropped.send(()).unwrap();
        }
    });
    let (mut agent, client) = Raw::connect(builder);
    *held.lock().unwrap() = Some(client);
    // In one write, since the first of them ends the connection.
    let lines = [r#""not a message""#, "not even JSON"];
    agent.runtime.block_on(agent.peer.send_all(lines));
    told.recv_timeout(LIMIT).unwrap();
    agent.runtime.block_on(async {
        while let Some(line) = agent.peer.receive_line().await {
            assert!(line.contains("-32600"), "{line}");
        }
    });
}

#[test]
fn settled_at_once_when_the_connection_is_lost_while_other_threads_are_blocked() {
    let (mut agent, client) = Raw::connect(Client::builder());
    let turn = thread::spawn({
        let client = client.clone();
        move || client.prompt(prompt("s", "x"), None).unwrap_err()
    });
    agent.receive();
    let call = thread::spawn({
        let client = client.clone();
        move || client.new_session(NewSessionRequest::new("/")).unwrap_err()
    });
    agent.receive();
    let end = thread::spawn({
        let client = client.clone();
        move || client.closed()
    });
    agent.peer.hang_up();
    for thread in [turn, call, end] {
        assert!(thread.join().unwrap().is_connection_lost());
    }
    let late = client.new_session(NewSessionRequest::new("/"));
    assert!(late.unwrap_err().is_connection_lost());
}

#[test]
fn many_threads_can_use_one_client_at_once() {
    const THREADS: usize = 32;
    const TURNS: usize = 20;
    let seen = Arc::new(AtomicUsize::new(0));
    let (client, _) = scripted(Client::builder().on_update({
        let seen = Arc::clone(&seen);
        move |_, _| {
            seen.fetch_add(1, Ordering::SeqCst);
        }
    }));
    thread::scope(|threads| {
        for _ in 0..THREADS {
            threads.spawn(|| {
                let session = session(&client);
                for turn in 0..TURNS {
                    let stop = CancellationSignal::new();
                    let (script, expected) = if turn % 2 == 0 {
                        ("say a\nsay b", StopReason::EndTurn)
                    } else {
                        stop.cancel();
                        ("wait\nsay a\nsay b", StopReason::Cancelled)
                    };
                    let request = prompt(session.clone(), script);
                    let response = client.prompt(request, &stop).unwrap();
                    assert_eq!(response.stop_reason, expected);
                }
            });
        }
    });
    assert_eq!(seen.load(Ordering::SeqCst), THREADS * TURNS * 2);
}

/// What a blocking function says when it is called where it must not be.
fn refusal<R>(call: impl FnOnce() -> R) -> String {
    let payload = catch_unwind(AssertUnwindSafe(|| drop(call()))).unwrap_err();
    payload.downcast_ref::<&str>().unwrap().to_string()
}

#[test]
fn blocking_functions_panic_with_a_clear_message_in_an_async_context() {
    let (client, _) = scripted(Client::builder());
    let context = Arc::new(Mutex::new(None));
    let agent = Agent::builder()
        .on_prompt_blocking({
            let context = Arc::clone(&context);
            move |_, cx| {
                *context.lock().unwrap() = Some(cx);
                Ok(PromptResponse::new(StopReason::EndTurn))
            }
        })
        .build();
    let (other, _) = serving(agent.clone(), Client::builder());
    other.prompt(prompt("s", "x"), None).unwrap();
    let context = context.lock().unwrap().take().unwrap();

    let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
    let shared = client.clone();
    let refusals = runtime.spawn(async move {
        let client = shared;
        let refusals = [
            refusal(|| Client::builder().connect(|| panic!("it is not opened"))),
            refusal(|| client.new_session(NewSessionRequest::new("/"))),
            refusal(|| client.prompt(prompt("s", "x"), None)),
            refusal(|| client.closed()),
            refusal(|| client.close()),
            refusal(|| blocking::serve(&agent, || panic!("it is not opened"))),
            refusal(|| context.send_message("x")),
        ];
        // What does not block is allowed.
        client.cancel(&"s".into());
        refusals
    });
    for refusal in runtime.block_on(refusals).unwrap() {
        assert!(
            refusal.starts_with("a blocking function of endturn was called on a thread that"),
            "{refusal}"
        );
    }
    // The client is as good as before, and a thread that may block can use it.
    let session = runtime.spawn_blocking(move || session(&client));
    runtime.block_on(session).unwrap();
    // Dropping the last client never panics.
    runtime.block_on(async move { drop(other) });
}

#[test]
fn a_transport_that_cannot_be_opened_is_an_error() {
    let refuse = || Err(io::Error::from(io::ErrorKind::AddrInUse));
    let error = Client::builder().connect(refuse).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    let error = blocking::serve(&Agent::builder().build(), refuse).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
}

#[test]
fn serving_returns_at_the_end_of_input_whatever_its_threads_still_do() {
    let (entered, inside) = mpsc::channel();
    let (release, gate) = mpsc::channel::<()>();
    let gate = Arc::new(Mutex::new(gate));
    let agent = Agent::builder()
        .on_prompt_blocking({
            let (entered, gate) = (entered.clone(), Arc::clone(&gate));
            move |_, _| {
                entered.send(()).unwrap();
                gate.lock().unwrap().recv().ok();
                Ok(PromptResponse::new(StopReason::EndTurn))
            }
        })
        .on_cancel(move |_| {
            // A thread of the runtime that serves, as a read from a terminal has.
            let (entered, gate) = (entered.clone(), Arc::clone(&gate));
            tokio::task::spawn_blocking(move || {
                entered.send(()).unwrap();
                drop(gate.lock());
            });
            async {}
        })
        .build();
    let (client, serving) = serving(agent, Client::builder());
    let turn = thread::spawn({
        let client = client.clone();
        move || client.prompt(prompt("s", "x"), None)
    });
    inside.recv_timeout(LIMIT).unwrap();
    client.cancel(&"s".into());
    inside.recv_timeout(LIMIT).unwrap();
    client.close();
    serving.join().unwrap().unwrap();
    assert!(turn.join().unwrap().unwrap_err().is_connection_lost());
    drop(release);
}

#[test]
fn shutdown_of_a_served_agent_ends_the_turns_and_then_the_connection() {
    let (said, words) = mpsc::channel();
    let shutdown = CancellationSignal::new();
    let (near, far) = transport::memory();
    let serving = thread::spawn({
        let shutdown = shutdown.clone();
        let agent = scripted::agent().build();
        move || blocking::serve_until(&agent, || Ok(far), &shutdown)
    });
    let client = Client::builder()
        .on_update(move |_, _| said.send(()).unwrap())
        .connect(|| Ok(near))
        .unwrap();
    initialize(&client);
    let request = prompt(session(&client), "say x\nwait");
    let response = thread::scope(|threads| {
        let turn = threads.spawn(|| client.prompt(request, None));
        words.recv_timeout(LIMIT).unwrap();
        shutdown.cancel();
        turn.join().unwrap()
    });
    assert_eq!(response.unwrap().stop_reason, StopReason::Cancelled);
    serving.join().unwrap().unwrap();
    assert!(client.closed().is_connection_lost());
}

#[cfg(feature = "process")]
mod process {
    use std::path::PathBuf;

    use endturn::transport::AgentCommand;

    use super::*;

    /// The example agent, which cargo has built beside the tests.
    fn example_agent() -> AgentCommand {
        let tests = std::env::current_exe().unwrap();
        let target = tests.parent().and_then(|deps| deps.parent()).unwrap();
        let name = format!("cancellation_agent{}", std::env::consts::EXE_SUFFIX);
        AgentCommand::new(PathBuf::from(target).join("examples").join(name))
    }

    #[test]
    fn a_cancelled_turn_between_two_processes() {
        let (said, words) = mpsc::channel();
        let (agent, client) = Client::builder()
            .on_update(move |notification, _| said.send(text(notification)).unwrap())
            .spawn(&example_agent())
            .unwrap();
        initialize(&client);
        assert!(agent.id() > 0);
        let stop = CancellationSignal::new();
        let request = prompt(session(&client), "Do a long task");
        let response = thread::scope(|threads| {
            let turn = threads.spawn(|| client.prompt(request, &stop));
            assert_eq!(words.recv_timeout(LIMIT).unwrap(), "Step 1/10... ");
            stop.cancel();
            turn.join().unwrap()
        });
        assert_eq!(response.unwrap().stop_reason, StopReason::Cancelled);
        assert_eq!(words.recv().unwrap(), "[Cancelled at step 2]");
        drop(client);
        assert!(agent.stop().unwrap().success());
        assert!(agent.wait().unwrap().success());
    }

    #[test]
    fn dropping_the_process_kills_it_and_settles_what_waits_for_it() {
        let (said, words) = mpsc::channel();
        let (agent, client) = Client::builder()
            .on_update(move |_, _| said.send(()).unwrap())
            .spawn(&example_agent())
            .unwrap();
        initialize(&client);
        let request = prompt(session(&client), "Do a long task");
        let turn = thread::spawn(move || client.prompt(request, None));
        words.recv_timeout(LIMIT).unwrap();
        let id = agent.id();
        drop(agent);
        if cfg!(target_os = "linux") {
            // It is not even left for somebody to reap.
            assert!(!PathBuf::from(format!("/proc/{id}")).exists());
        }
        assert!(turn.join().unwrap().unwrap_err().is_connection_lost());
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let missing = AgentCommand::new("no-such-agent");
        let error = Client::builder().spawn(&missing).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
