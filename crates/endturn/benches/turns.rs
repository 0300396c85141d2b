//! The hot steps of a connection, through its public interface and over a transport in memory.
//!
//! The peer is raw: it writes lines that were built before and reads bytes, so what is measured is the SDK and the runtime it needs.
//!
//! `cargo bench -p endturn`

use divan::{Bencher, counter::ItemsCount};
use endturn::{
    Agent, PromptContext,
    schema::v1::{PromptRequest, PromptResponse, StopReason},
    transport::{self, BoxReader, BoxWriter},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    runtime::Runtime,
};

/// Shows what each step allocates.
#[global_allocator]
static ALLOC: divan::AllocProfiler = divan::AllocProfiler::system();

const UPDATES: usize = 1000;

fn main() {
    divan::main();
}

/// A client that knows no more of the protocol than where a line ends.
struct Peer {
    runtime: Runtime,
    reader: BoxReader,
    writer: BoxWriter,
    read: Vec<u8>,
}

impl Peer {
    /// Starts an agent whose turn is `handle`.
    fn of<F, Fut>(handle: F) -> Self
    where
        F: Fn(PromptContext) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<(), endturn::Error>> + Send + 'static,
    {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let (near, far) = transport::memory();
        let agent = Agent::builder()
            .on_prompt(move |_request: PromptRequest, cx| {
                let running = handle(cx);
                async move {
                    running.await?;
                    Ok(PromptResponse::new(StopReason::EndTurn))
                }
            })
            .build();
        runtime.spawn(async move { agent.serve(far).await });
        let (reader, writer) = near.into_parts();
        let mut peer = Self {
            runtime,
            reader,
            writer,
            read: Vec::new(),
        };
        let initialize = r#""id":0,"method":"initialize""#;
        peer.exchange(&message(initialize, r#"{"protocolVersion":1}"#), 1);
        peer
    }

    /// Writes a message, and reads that many lines.
    fn exchange(&mut self, message: &str, lines: usize) {
        let Self {
            runtime,
            reader,
            writer,
            read,
        } = self;
        runtime.block_on(async {
            let written = writer.write_all(message.as_bytes()).await;
            written.expect("the agent is there");
            let mut left = lines;
            while left > 0 {
                read.clear();
                let length = reader.read_buf(read).await.expect("the agent is there");
                assert!(length > 0, "the agent has gone");
                left -= read.iter().filter(|&&byte| byte == b'\n').count();
            }
        });
    }
}

fn prompt() -> String {
    let params = r#"{"sessionId":"session-1","prompt":[{"type":"text","text":"Do a long task"}]}"#;
    message(r#""id":1,"method":"session/prompt""#, params)
}

fn message(head: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0",{head},"params":{params}}}"#) + "\n"
}

/// From the prompt to the answer of a turn that does nothing.
#[divan::bench]
fn dispatch_a_prompt(bencher: Bencher<'_, '_>) {
    let mut peer = Peer::of(|_cx| async { Ok(()) });
    let prompt = prompt();
    bencher.bench_local(|| peer.exchange(&prompt, 1));
}

/// From the cancel of a waiting turn to its answer.
#[divan::bench]
fn apply_a_cancel(bencher: Bencher<'_, '_>) {
    let mut peer = Peer::of(|cx| async move {
        cx.send_message("ready").await?;
        cx.cancelled().await;
        Ok(())
    });
    let prompt = prompt();
    let cancel = message(
        r#""method":"session/cancel""#,
        r#"{"sessionId":"session-1"}"#,
    );
    let peer = std::cell::RefCell::new(&mut peer);
    bencher
        .with_inputs(|| peer.borrow_mut().exchange(&prompt, 1))
        .bench_local_values(|()| peer.borrow_mut().exchange(&cancel, 1));
}

/// One turn that sends a thousand updates.
#[divan::bench]
fn send_updates(bencher: Bencher<'_, '_>) {
    let mut peer = Peer::of(|cx| async move {
        let text = "x".repeat(40);
        for _ in 0..UPDATES {
            cx.send_message(text.as_str()).await?;
        }
        Ok(())
    });
    let prompt = prompt();
    bencher
        .counter(ItemsCount::new(UPDATES))
        .bench_local(|| peer.exchange(&prompt, UPDATES + 1));
}
