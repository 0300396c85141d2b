//! What a turn is, and how it can end.
//!
//! A *turn* begins when the agent reads a `session/prompt`.
//! It ends when that prompt is answered.
//! Between the two the agent works, sends updates, and may ask the client for things.
//! See [Prompt turn](https://agentclientprotocol.com/protocol/v1/prompt-turn) in the specification.
//!
//! One call of the handler given to [`on_prompt`](crate::agent::AgentBuilder::on_prompt) is one turn.
//! Its [`PromptContext`](crate::PromptContext) is the turn as the handler sees it.
//!
//! # One turn at a time
//!
//! A session has at most one turn (`one-turn`).
//! A second prompt gets error `-32600`, with the session's id as data, and the handler does not see it.
//! The running turn is not touched.
//! Sessions do not know of each other: cancelling one turn has no effect on another.
//!
//! The session is free before the answer can be read (`free-before-answer`).
//! A client may therefore send the next prompt the moment it reads the answer to the last one.
//!
//! # One answer
//!
//! Many things can end a turn, and several of them can happen at once.
//! They race for one claim, and the first wins (`one-answer`).
//! What comes later changes nothing.
//!
//! | what comes first | the answer | the same after `session/cancel` |
//! |---|---|---|
//! | the handler returns a response | that response | that response with the stop reason `cancelled` |
//! | the handler returns an error | [an error](super::errors) | `cancelled` |
//! | the handler panics | error `-32603` | `cancelled` |
//! | the grace period passes | | `cancelled` |
//! | the maximum duration passes | error `-32800`, with the duration as data | `cancelled` |
//! | `$/cancel_request` for the prompt | error `-32800` | `cancelled` |
//! | the connection is lost | none: nobody is there | none |
//!
//! While the connection lives, every request is answered (`always-answered`).
//! A handler cannot forget to answer, because its return value is the answer.
//! A handler that somebody else dropped, a runtime that shuts down for example, is answered for with `-32603`.
//!
//! A panic is the failure of one turn (`panic`).
//! The connection, all other turns, and the next turn of the same session go on:
//!
//! ```
//! use endturn::{Client, schema::{ProtocolVersion, v1::*}, transport};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), endturn::Error> {
//! # std::panic::set_hook(Box::new(|_| {}));
//! let (near, far) = transport::memory();
//! let agent = endturn_testkit::scripted::agent().build();
//! tokio::spawn(async move { agent.serve(far).await });
//! let client = Client::builder().connect(near);
//! client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//! let session = client.new_session(NewSessionRequest::new("/")).await?.session_id;
//!
//! let prompt = |script: &str| {
//!     let script = ContentBlock::Text(TextContent::new(script));
//!     client.prompt(PromptRequest::new(session.clone(), vec![script]), None)
//! };
//! let error = prompt("panic").await.unwrap_err();
//! assert_eq!(error.code(), Some(-32603));
//!
//! let response = prompt("say Here I am again.").await?;
//! assert_eq!(response.stop_reason, StopReason::EndTurn);
//! # Ok(())
//! # }
//! ```
//!
//! # Ending and stopping
//!
//! A turn ends with its answer, not with the cancel.
//! `session/cancel` asks the turn to end; until the answer is there the session is busy.
//! The next chapter, [`mechanisms`](super::mechanisms), says what each way of cancelling does.
