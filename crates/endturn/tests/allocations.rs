//! What an update costs in allocations, counted exactly.
//!
//! The peer, the agent and the runtime are all on one thread, the one that is counted.
//! Two turns that differ in nothing but the number of updates are compared, so that what a turn costs does not matter, and neither does what the peer does for a whole turn.

use std::num::NonZero;

use endturn::{
    Agent, HandlerResult, PromptContext,
    schema::v1::{
        ContentBlock, ContentChunk, PromptRequest, PromptResponse, SessionUpdate, StopReason,
        TextContent,
    },
    transport::{self, BoxReader, BoxWriter},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    runtime::Runtime,
};

const TEXT: &str = "Hello, this is a chunk of forty bytes...";

fn text(text: &str) -> SessionUpdate {
    let content = ContentBlock::Text(TextContent::new(text));
    SessionUpdate::AgentMessageChunk(ContentChunk::new(content))
}

/// A client that reads into a buffer of its own and allocates nothing.
struct Peer {
    runtime: Runtime,
    reader: BoxReader,
    writer: BoxWriter,
    buffer: Vec<u8>,
}

impl Peer {
    /// Starts an agent whose turn is `handle`; it is given the number of updates that the prompt asks for.
    fn of<F, Fut>(handle: F) -> Self
    where
        F: Fn(PromptContext, usize) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = HandlerResult<()>> + Send + 'static,
    {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let agent = Agent::builder()
            .on_prompt(move |request: PromptRequest, cx| {
                let count = match request.prompt.first() {
                    Some(ContentBlock::Text(count)) => count.text.parse().unwrap(),
                    other => panic!("a prompt without a number: {other:?}"),
                };
                let running = handle(cx, count);
                async move {
                    running.await?;
                    Ok(PromptResponse::new(StopReason::EndTurn))
                }
            })
            .build();
        let (near, far) = transport::memory();
        runtime.spawn(async move { agent.serve(far).await });
        let (reader, writer) = near.into_parts();
        let mut peer = Self {
            runtime,
            reader,
            writer,
            buffer: vec![0; 64 * 1024],
        };
        peer.initialize();
        peer
    }

    fn initialize(&mut self) {
        let line =
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#;
        let line = line.to_owned() + "\n";
        let read = self.runtime.block_on(async {
            self.writer.write_all(line.as_bytes()).await.unwrap();
            self.reader.read(&mut self.buffer).await.unwrap()
        });
        assert!(self.buffer[..read].ends_with(b"}\n"));
    }

    /// Runs one turn, and says how often something was allocated until its answer was read.
    fn turn(&mut self, updates: usize) -> u64 {
        let prompt = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{{"sessionId":"a","prompt":[{{"type":"text","text":"{updates:05}"}}]}}}}"#
        ) + "\n";
        let Self {
            runtime,
            reader,
            writer,
            buffer,
        } = self;
        let counted = allocation_counter::measure(|| {
            runtime.block_on(async {
                writer.write_all(prompt.as_bytes()).await.unwrap();
                let mut lines = 0;
                while lines < updates + 1 {
                    let length = NonZero::new(reader.read(buffer).await.unwrap()).unwrap();
                    let read = &buffer[..length.get()];
                    lines += read.iter().filter(|&&byte| byte == b'\n').count();
                }
                assert_eq!(lines, updates + 1);
            });
        });
        counted.count_total
    }

    /// How often something is allocated for a thousand more updates.
    fn thousand_updates(mut self) -> u64 {
        const FEW: usize = 10_000;
        const MANY: usize = FEW + 1000;
        // Buffers grow on first use.
        self.turn(MANY);
        let few = self.turn(FEW);
        self.turn(MANY) - few
    }
}

#[test]
fn a_message_allocates_its_text_and_nothing_else() {
    let peer = Peer::of(|cx, count| async move {
        for _ in 0..count {
            cx.send_message(TEXT).await?;
        }
        Ok(())
    });
    assert_eq!(peer.thousand_updates(), 1000);
}

#[test]
fn an_update_allocates_what_the_handler_puts_into_it_and_nothing_else() {
    let peer = Peer::of(|cx, count| async move {
        for _ in 0..count {
            cx.send_update(text(TEXT)).await?;
        }
        Ok(())
    });
    assert_eq!(peer.thousand_updates(), 1000);
}

#[test]
fn sending_allocates_nothing() {
    let peer = Peer::of(|cx, count| async move {
        for _ in 0..count {
            // A string without a byte has nothing to allocate.
            cx.send_update(text("")).await?;
        }
        Ok(())
    });
    assert_eq!(peer.thousand_updates(), 0);
}

/// That the others would notice.
#[test]
fn a_second_allocation_is_counted() {
    let peer = Peer::of(|cx, count| async move {
        for _ in 0..count {
            let copied = String::from(TEXT);
            cx.send_message(copied.as_str()).await?;
        }
        Ok(())
    });
    assert_eq!(peer.thousand_updates(), 2000);
}
