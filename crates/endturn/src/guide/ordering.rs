//! What stands before what.
//!
//! # At the agent
//!
//! **Messages take effect in the order of the wire** (`wire-order`).
//! The reader registers a turn, and applies a cancel, before it looks at the next message and before any handler runs.
//! A prompt and its cancel that arrive in one write are a cancelled turn; the cancel cannot come "too early".
//! No handler can hold the reader up.
//!
//! **Handlers run concurrently**, each on a task of its own.
//! A handler for `session/cancel` runs beside the others and has no place in any order; the turn was cancelled before it started.
//!
//! **Updates come before the answer**, in the order in which the handler sent them (`update-order`).
//! A sent update has its place on the wire when [`send_update`](crate::PromptContext::send_update) returns.
//!
//! **Updates may follow the cancel** (`final-updates`).
//! The handler can send until its turn is answered; the [specification](https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation) allows it and clients expect it.
//!
//! **Nothing follows the answer** (`late-update`).
//! Whether an update may go out and its place on the wire are decided in one step, so there is no moment between the two in which the turn could end.
//! Later updates are dropped, and the call says so:
//!
//! ```
//! use endturn::{Agent, Client, ErrorKind, schema::{ProtocolVersion, v1::*}, transport};
//! use tokio::sync::mpsc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), endturn::Error> {
//! let (keep, mut kept) = mpsc::unbounded_channel();
//! let agent = Agent::builder()
//!     .on_prompt(move |_request, cx| {
//!         keep.send(cx).ok(); // a context that outlives its turn
//!         async { Ok(PromptResponse::new(StopReason::EndTurn)) }
//!     })
//!     .build();
//! # let (near, far) = transport::memory();
//! # tokio::spawn(async move { agent.serve(far).await });
//! # let client = Client::builder().connect(near);
//! # client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//! # let text = ContentBlock::Text(TextContent::new("x"));
//! # let request = PromptRequest::new("session-1", vec![text]);
//! client.prompt(request, None).await?;
//! let cx = kept.recv().await.unwrap();
//! let error = cx.send_message("too late").await.unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::TurnEnded);
//! # Ok(())
//! # }
//! ```
//!
//! **The session is free before its answer can be read** (`free-before-answer`).
//!
//! # At the client
//!
//! **What belongs to a session is handled in the order of the wire.**
//! The update handler sees one update after the other.
//! A question comes up when the updates that lead to it were handled.
//!
//! **The answer comes last** (`answer-last`).
//! [`prompt`](crate::Client::prompt) returns when the update handler has finished everything that was on the wire before the answer.
//! So what was collected is complete, without waiting and without a flag:
//!
//! ```
//! use std::sync::{Arc, Mutex};
//! use endturn::{Client, schema::{ProtocolVersion, v1::*}, transport};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), endturn::Error> {
//! let (near, far) = transport::memory();
//! let agent = endturn_testkit::scripted::agent().build();
//! tokio::spawn(async move { agent.serve(far).await });
//!
//! let seen = Arc::new(Mutex::new(0));
//! let client = Client::builder()
//!     .on_update({
//!         let seen = Arc::clone(&seen);
//!         move |_update, _client| {
//!             let seen = Arc::clone(&seen);
//!             async move {
//!                 tokio::task::yield_now().await; // however slow it is
//!                 *seen.lock().unwrap() += 1;
//!             }
//!         }
//!     })
//!     .connect(near);
//! client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//! let session = client.new_session(NewSessionRequest::new("/")).await?.session_id;
//! let script = ContentBlock::Text(TextContent::new("flood 1000 10"));
//! client.prompt(PromptRequest::new(session, vec![script]), None).await?;
//! assert_eq!(*seen.lock().unwrap(), 1000);
//! # Ok(())
//! # }
//! ```
//!
//! A handler may make requests of its own meanwhile, through the client it is given.
//!
//! # When one side is slow
//!
//! Memory is bounded at both ends, so somebody has to wait.
//! At the agent, `send_update` waits while the client reads too slowly.
//! At the client, reading pauses while the update handler is far behind.
//! Answers and cancels never wait for room.
