//! How to test an agent or a client.
//!
//! The crate `endturn-testkit` has the other side for both.
//!
//! # A client, against an agent without a model
//!
//! The scripted agent does what its prompt says, one step per line: it talks, asks, hangs, ignores a cancel, panics.
//! It runs in memory here, and as a process with `endturn agent`.
//!
//! ```
//! use endturn::{CancellationSignal, Client, schema::{ProtocolVersion, v1::*}, transport};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), endturn::Error> {
//! let (near, far) = transport::memory();
//! let agent = endturn_testkit::scripted::agent().build();
//! tokio::spawn(async move { agent.serve(far).await });
//! let client = Client::builder().connect(near); // the client under test
//! client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//!
//! let session = client.new_session(NewSessionRequest::new("/")).await?.session_id;
//! let script = "tool Build 10ms\nask Deploy?\nend max_tokens";
//! let script = ContentBlock::Text(TextContent::new(script));
//! let prompt = client.prompt(PromptRequest::new(session, vec![script]), None);
//! // This client has no handler for permissions, so the question fails, and the turn with it.
//! assert_eq!(prompt.await.unwrap_err().code(), Some(-32603));
//! # Ok(())
//! # }
//! ```
//!
//! # An agent, line by line
//!
//! A raw peer sends exactly the lines it is told to, and shows exactly the lines it gets.
//! It can break the protocol, and write two messages at once.
//! Its *barrier* is a round trip: when that is over, everything sent before was read, and everything that had to be said at once has arrived.
//!
//! # Time
//!
//! A test that sleeps is slow, and wrong on a slow machine.
//! On tokio's paused clock time moves only when nothing else can, and then at once.
//! All limits of this crate run on that clock, and so does [`transport::memory`](crate::transport::memory):
//!
//! ```
//! use std::time::Duration;
//! use endturn::{Agent, schema::v1::*};
//! use endturn_testkit::RawPeer;
//! use serde_json::json;
//!
//! # // In a test: #[tokio::test(start_paused = true)]
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! let agent = Agent::builder()
//!     .max_prompt_duration(Duration::from_secs(30 * 60))
//!     .on_prompt(|_request, _cx| std::future::pending()) // the agent under test
//!     .build();
//! let (client, transport) = RawPeer::pair();
//! let mut client = client.limit(Duration::from_secs(3600));
//! tokio::spawn(async move { agent.serve(transport).await });
//! client.initialize().await;
//!
//! let prompt = json!({"jsonrpc": "2.0", "id": "p", "method": "session/prompt", "params": {
//!     "sessionId": "s", "prompt": [{"type": "text", "text": "x"}],
//! }});
//! client.send(prompt).await;
//! assert!(client.barrier().await.is_empty()); // read, and not answered
//! let answer = client.receive().await; // half an hour later
//! assert_eq!(answer["error"]["data"], json!({"maxPromptDuration": "PT30M"}));
//! # }
//! ```
//!
//! A program that runs as a process of its own has its own clock.
//! Give it short limits there, and wait for messages and never for a time.
//!
//! # A peer that offers nothing, and one that offers everything
//!
//! What a handler does depends on what its client offers, so test it with both.
//! In memory, a client offers what it has handlers for; [`capabilities`](crate::client::ClientBuilder::capabilities) on its builder says anything else.
//! A raw peer says what it is told to:
//!
//! ```
//! use endturn::{Agent, schema::v1::*};
//! use endturn_testkit::RawPeer;
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let agent = Agent::builder()
//!     .on_prompt(|_request, cx| async move {
//!         let can = cx.client()?.supports_terminal();
//!         cx.send_message(if can { "I can build." } else { "I cannot build." }).await?;
//!         Ok(PromptResponse::new(StopReason::EndTurn))
//!     })
//!     .build();
//! let (mut client, transport) = RawPeer::pair();
//! tokio::spawn(async move { agent.serve(transport).await });
//! client.send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
//!     "protocolVersion": 1, "clientCapabilities": {"terminal": true},
//! }})).await;
//! assert_eq!(client.receive().await["result"]["protocolVersion"], 1);
//!
//! client.send(json!({"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": {
//!     "sessionId": "s", "prompt": [{"type": "text", "text": "x"}],
//! }})).await;
//! let update = client.receive().await;
//! assert_eq!(update["params"]["update"]["content"]["text"], "I can build.");
//! # }
//! ```
//!
//! A raw peer can also be newer than this library, and send kinds and words that it does not know; [`methods`](super::methods#what-a-newer-peer-may-send) has an example.
//!
//! # What to test about cancelling
//!
//! - The cancel in the same write as the prompt.
//! - The cancel after the answer, and the next turn.
//! - A handler that ignores it, and one that fails because of it.
//! - An open permission dialogue.
//! - The end of the input in the middle of a turn.
