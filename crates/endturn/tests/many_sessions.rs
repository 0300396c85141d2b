//! Ten thousand sessions on one connection, each with a turn that waits, and all of them cancelled at once.
//!
//! What a waiting turn costs is measured with an allocator that counts, over everything that this process holds on the heap for it: the tables of the connection, the task and future of the handler, its context, and the prompt it was given.
//! Nothing of the raw client is counted, because it holds nothing while it waits.

mod common;

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use common::{cancel, initialized, prompt, stopped};
use endturn::{
    Agent, CancellationSignal, Client,
    agent::AgentBuilder,
    schema::v1::{ContentBlock, PromptRequest, PromptResponse, StopReason, TextContent},
    transport,
};
use endturn_testkit::RawPeer;
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Runs one test at a time, from the first allocation of its runtime to the last, since all share the heap.
fn alone(test: impl Future<Output = ()>) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(test);
    drop(runtime);
}

const SESSIONS: usize = 10_000;

/// What a waiting turn may cost, in bytes, without the request itself.
const LIMIT: usize = 4 * 1024;

/// An agent whose turns wait for a cancel, and how many of them do.
fn waiting() -> (AgentBuilder, Arc<AtomicUsize>) {
    let started = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&started);
    let agent = Agent::builder().on_prompt(move |request, cx| {
        let counted = Arc::clone(&counted);
        async move {
            counted.fetch_add(1, Ordering::Relaxed);
            cx.cancelled().await;
            // It is kept to the end, as by a handler that works with it.
            drop(request);
            Ok(PromptResponse::new(StopReason::EndTurn))
        }
    });
    (agent, started)
}

/// Sends a prompt to each session, and waits until all of their handlers do.
async fn prompt_all(client: &mut RawPeer, started: &AtomicUsize) {
    let before = started.load(Ordering::Relaxed);
    for id in 0..SESSIONS {
        client.send(prompt(id, &session(id), "x")).await;
    }
    assert!(client.barrier().await.is_empty());
    while started.load(Ordering::Relaxed) < before + SESSIONS {
        tokio::task::yield_now().await;
    }
}

/// Cancels all of them in one write, and checks that each is answered once.
async fn cancel_all(client: &mut RawPeer) {
    client
        .send_all((0..SESSIONS).map(|id| cancel(&session(id))))
        .await;
    let mut open: HashSet<usize> = (0..SESSIONS).collect();
    while !open.is_empty() {
        let answer = client.receive().await;
        let id = answer["id"].as_u64().unwrap().try_into().unwrap();
        assert!(open.remove(&id), "answered twice: {answer}");
        assert_eq!(answer, stopped(id, "cancelled"));
    }
    assert!(client.barrier().await.is_empty());
}

fn session(number: usize) -> String {
    format!("session-{number}")
}

/// What the parameters of a prompt take at the very least: themselves, a vector of one block, and two texts.
fn request_size() -> usize {
    let longest = session(SESSIONS - 1).len();
    size_of::<PromptRequest>() + size_of::<ContentBlock>() + longest + "x".len()
}

#[test]
fn ten_thousand_turns_are_cancelled_at_once_and_none_is_lost_or_large() {
    alone(ten_thousand_turns());
}

async fn ten_thousand_turns() {
    let (agent, started) = waiting();
    let agent = agent.build();
    let (client, transport) = RawPeer::pair();
    let mut client = client.limit(Duration::from_secs(300));
    tokio::spawn(async move { agent.serve(transport).await });
    client.initialize().await;
    // The pipes have their buffers by now.
    client.barrier().await;

    let idle = HEAP.current_usage();
    prompt_all(&mut client, &started).await;
    let held = HEAP.current_usage() - idle;
    let each = held / SESSIONS;
    println!(
        "{each} bytes a waiting turn, of which the request is {}",
        request_size()
    );
    assert!(each < LIMIT + request_size(), "{each} bytes a waiting turn");

    cancel_all(&mut client).await;
    // Every session is free again, and the second time costs no more than the first.
    prompt_all(&mut client, &started).await;
    let again = HEAP.current_usage() - idle;
    cancel_all(&mut client).await;
    assert!(
        again / SESSIONS <= each + each / 10,
        "{again} after {held} bytes"
    );
    let left = HEAP.current_usage().saturating_sub(idle) / SESSIONS;
    println!("{left} bytes a session are kept for the next turns");
    assert!(left < LIMIT / 4, "{left} bytes a session that does nothing");
}

#[test]
fn one_signal_ends_ten_thousand_prompts_of_one_client() {
    alone(ten_thousand_prompts());
}

async fn ten_thousand_prompts() {
    let (agent, started) = waiting();
    let agent = agent.build();
    let (near, far) = transport::memory();
    tokio::spawn(async move { agent.serve(far).await });
    let client = initialized(Client::builder(), near).await;
    let stop = CancellationSignal::new();
    let answers: Vec<_> = (0..SESSIONS)
        .map(|number| {
            let text = ContentBlock::Text(TextContent::new("x"));
            let request = PromptRequest::new(session(number), vec![text]);
            tokio::spawn(client.prompt(request, &stop))
        })
        .collect();
    while started.load(Ordering::Relaxed) < SESSIONS {
        tokio::task::yield_now().await;
    }
    stop.cancel();
    for answer in answers {
        let response = answer.await.unwrap().unwrap();
        assert_eq!(response.stop_reason, StopReason::Cancelled);
    }
}
