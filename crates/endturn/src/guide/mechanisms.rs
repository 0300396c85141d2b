//! The two ways of cancelling that the protocol has.
//!
//! | | `session/cancel` | `$/cancel_request` |
//! |---|---|---|
//! | names | a session | a request, by its id |
//! | goes | from the client to the agent | either way |
//! | for | the turn that the session has | any request that is not answered |
//! | says | "stop, and tell me when you have" | "I no longer want the answer" |
//! | the handler | goes on until it returns | is dropped |
//! | a prompt is answered | stop reason `cancelled` | error `-32800` |
//! | specification | [Prompt turn: Cancellation](https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation) | [Cancellation](https://agentclientprotocol.com/protocol/v1/cancellation) |
//!
//! Both are notifications, so neither is answered itself.
//! What is answered is the request that they are about.
//!
//! # `session/cancel`
//!
//! This is what a Stop button sends.
//! The agent stops what it does, may send some last updates, and answers the prompt with the stop reason `cancelled`.
//! That it must be `cancelled`, and not an error of something that was torn down, is a demand of the protocol.
//!
//! Here the answer does not depend on the handler (`cancelled-answer`).
//! Once the cancel was read, the turn is answered `cancelled`, whatever the handler returns, fails with or panics with.
//! If it returned a response, everything else in that response is kept:
//!
//! ```
//! use endturn::{CancellationSignal, Client, schema::{ProtocolVersion, v1::*}, transport};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), endturn::Error> {
//! let (near, far) = transport::memory();
//! let agent = endturn_testkit::scripted::agent().build();
//! tokio::spawn(async move { agent.serve(far).await });
//! let client = Client::builder().connect(near);
//! client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//! let session = client.new_session(NewSessionRequest::new("/")).await?.session_id;
//!
//! // An agent that notices the cancel, and then returns `end_turn`.
//! let script = ContentBlock::Text(TextContent::new("meta {\"tokens\": 7}\nwait\nend end_turn"));
//! let stop = CancellationSignal::new();
//! stop.cancel();
//! let response = client.prompt(PromptRequest::new(session, vec![script]), &stop).await?;
//! assert_eq!(response.stop_reason, StopReason::Cancelled);
//! assert_eq!(response.meta.unwrap()["tokens"], 7);
//! # Ok(())
//! # }
//! ```
//!
//! A failure before the cancel is answered as any other failure.
//!
//! A cancel can cross the answer on the wire, and arrive when the session has no turn.
//! Then it does nothing, and nothing is remembered of it (`idle-cancel`).
//! The next turn is not affected.
//!
//! # `$/cancel_request`
//!
//! This is what dropping a future sends.
//! It is for one request of any kind, and each side may send it.
//! The protocol makes it optional: a peer that does not know it answers as if it had not come.
//!
//! At the receiving side, the handler is dropped and the request is answered once, with error `-32800` (`cancel-received`).
//! An id that is unknown, already answered, or of the wrong type has no effect.
//!
//! For a prompt that means: the turn ends at once, and its session is free (`request-cancel`).
//! If `session/cancel` came before, the answer is `cancelled` all the same.
//!
//! ```
//! use endturn_testkit::{RawPeer, scripted};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let (mut client, transport) = RawPeer::pair();
//! let agent = scripted::agent().build();
//! tokio::spawn(async move { agent.serve(transport).await });
//! client.initialize().await;
//! let new = json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {
//!     "cwd": "/", "mcpServers": [],
//! }});
//! client.send(new).await;
//! assert_eq!(client.receive().await["result"]["sessionId"], "session-1");
//!
//! let prompt = json!({"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": {
//!     "sessionId": "session-1", "prompt": [{"type": "text", "text": "hang"}],
//! }});
//! let cancel = json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 2}});
//! client.send_all([prompt, cancel]).await;
//! assert_eq!(client.receive().await, json!({
//!     "jsonrpc": "2.0", "id": 2, "error": {"code": -32800, "message": "Request cancelled"},
//! }));
//! # }
//! ```
//!
//! # `session/close`
//!
//! [Closing a session](https://agentclientprotocol.com/protocol/v1/session-setup) cancels its turn too (`close-cancels`).
//! It acts as `session/cancel`, waits until the turn has ended, runs the handler given to [`on_close_session`](crate::agent::AgentBuilder::on_close_session), and is answered last.
//! So the client reads the answer to the prompt before the answer to the close.
//! A prompt that arrives in between gets error `-32600`.
