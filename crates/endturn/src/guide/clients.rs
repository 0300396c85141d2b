//! How a client stops a turn, or any other request.
//!
//! | to | use | sends | the call gives |
//! |---|---|---|---|
//! | stop a turn and see its end | a [`CancellationSignal`](crate::CancellationSignal) | `session/cancel` | the agent's answer |
//! | stop a turn without its prompt at hand | [`Client::cancel`](crate::Client::cancel) | `session/cancel` | nothing; the prompt gives the answer |
//! | have nothing more to do with a turn | drop the [`Prompt`](crate::client::Prompt) | `$/cancel_request` | nothing |
//! | let a turn go on alone | [`Prompt::detach`](crate::client::Prompt::detach) | nothing | nothing |
//! | have nothing more to do with another request | drop the [`Call`](crate::request::Call) | `$/cancel_request` | nothing |
//! | stop another request and see its end | [`Call::cancel_when`](crate::request::Call::cancel_when) | `$/cancel_request` | the agent's answer |
//!
//! # Stop a turn
//!
//! A Stop button wants the first line of the table (`signal`).
//! The signal can be cloned, cancelled from any thread, and cancelled before, during or after the call.
//! The prompt still returns, with the agent's answer and after all updates of the turn.
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
//! let stop = CancellationSignal::new();
//! let button = stop.clone();
//! std::thread::spawn(move || button.cancel());
//!
//! let script = ContentBlock::Text(TextContent::new("wait"));
//! let response = client.prompt(PromptRequest::new(session, vec![script]), &stop).await?;
//! assert_eq!(response.stop_reason, StopReason::Cancelled);
//! # Ok(())
//! # }
//! ```
//!
//! A program without an async runtime has the same with the client in [`blocking`](crate::blocking): the prompt blocks its thread, and any other thread cancels the signal.
//!
//! A turn gets at most one `session/cancel` (`one-cancel`).
//! It stands behind its prompt on the wire, also when the signal was cancelled before the call, and is never sent after the answer was read.
//! So a signal that comes too late cannot hit the next turn.
//!
//! The specification asks more of a client than an SDK can do: its user interface [should mark](https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation) tool calls that have not finished as cancelled.
//!
//! Turns as streams of their updates, and everything else about sessions, are in [`sessions`](super::sessions).
//!
//! # Drop a turn
//!
//! Dropping the future of a prompt sends one `$/cancel_request`, and the rest of the turn is discarded (`drop`).
//! That is right for a caller that goes away, and wrong for a Stop button: nobody learns how the turn ended.
//! `tokio::time::timeout` around a prompt drops it; [`prompt_timeout`](crate::client::ClientBuilder::prompt_timeout) does the same and says so in its error.
//!
//! A turn that shall go on is detached.
//! Its updates are still handled.
//!
//! # Other requests
//!
//! A [`Call`](crate::request::Call) sends its request when it is polled first.
//! Dropping it sends one `$/cancel_request`, behind the request and never after the answer; a late answer is discarded (`give-up`).
//! A call that was not polled sends nothing at all.
//!
//! To ask the agent to stop and still hear what it has to say, give the call a signal (`keep-waiting`):
//!
//! ```
//! use endturn::{Agent, CancellationSignal, Client, schema::{ProtocolVersion, v1::*}, transport};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let agent = Agent::builder()
//!     .on_new_session(|_request, _cx| std::future::pending())
//!     .build();
//! let (near, far) = transport::memory();
//! tokio::spawn(async move { agent.serve(far).await });
//! let client = Client::builder().connect(near);
//! client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await.unwrap();
//!
//! let stop = CancellationSignal::new();
//! stop.cancel();
//! let call = client.new_session(NewSessionRequest::new("/")).cancel_when(&stop);
//! let error = call.await.unwrap_err();
//! assert_eq!(error.code(), Some(-32800));
//! # }
//! ```
//!
//! The agent may answer with a result instead, if it had one by then.
