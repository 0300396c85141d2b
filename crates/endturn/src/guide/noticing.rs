//! How a handler notices that it shall stop.
//!
//! A handler that never looks is ended by the [grace period](super::policy).
//! One that looks can stop earlier, say a last word, and leave things tidy.
//!
//! # Three ways
//!
//! A [context](crate::PromptContext) tells of a cancellation in three ways (`cancel-signal`).
//! All of them work for every cause.
//!
//! **Ask**, between two steps of the work.
//! Once [`is_cancelled`](crate::PromptContext::is_cancelled) is true, it stays true.
//!
//! ```
//! # use endturn::{Agent, schema::v1::{PromptResponse, StopReason}};
//! # async fn work(step: u32) -> String { String::new() }
//! # let _ =
//! Agent::builder().on_prompt(|_request, cx| async move {
//!     for step in 1..=10 {
//!         if cx.is_cancelled() {
//!             break;
//!         }
//!         cx.send_message(work(step).await).await?;
//!     }
//!     Ok(PromptResponse::new(StopReason::EndTurn))
//! });
//! ```
//!
//! **Wait**, beside the work.
//! [`cancelled`](crate::PromptContext::cancelled) is a future for `select!`; the work is dropped when it completes.
//!
//! ```
//! # use endturn::{Agent, schema::v1::{PromptResponse, StopReason}};
//! # async fn ask_the_model() -> String { String::new() }
//! # let _ =
//! Agent::builder().on_prompt(|_request, cx| async move {
//!     tokio::select! {
//!         text = ask_the_model() => cx.send_message(text).await?,
//!         () = cx.cancelled() => cx.send_message("Stopped.").await?,
//!     }
//!     Ok(PromptResponse::new(StopReason::EndTurn))
//! });
//! ```
//!
//! **Be called**, for work that nobody can poll.
//! A callback given to [`on_cancel`](crate::PromptContext::on_cancel) runs once, and at once if the turn is cancelled already.
//! It runs on the thread that delivers the cancellation, so it must be quick and must not block.
//! A callback that panics is logged.
//!
//! ```
//! # use endturn::{Agent, schema::v1::{PromptResponse, StopReason}};
//! # struct Search;
//! # impl Search {
//! #     fn start() -> Self { Self }
//! #     fn abort_handle(&self) -> Self { Self }
//! #     fn abort(&self) {}
//! #     async fn results(self) -> String { String::new() }
//! # }
//! # let _ =
//! Agent::builder().on_prompt(|_request, cx| async move {
//!     let search = Search::start();
//!     let handle = search.abort_handle();
//!     cx.on_cancel(move || handle.abort());
//!     cx.send_message(search.results().await).await?;
//!     Ok(PromptResponse::new(StopReason::EndTurn))
//! });
//! ```
//!
//! # Then return anything
//!
//! The handler need not choose the stop reason `cancelled`, nor succeed.
//! After `session/cancel` the answer is `cancelled` in any case (`cancelled-answer`).
//! So `?` is fine everywhere: an error from something that was torn down does not reach the client.
//!
//! # Why it is cancelled
//!
//! [`cause`](crate::PromptContext::cause) says why.
//! A cause can give way to a graver one, never to a lesser one.
//!
//! | [`CancelCause`](crate::CancelCause) | what happened | the handler |
//! |---|---|---|
//! | `SessionCancel` | the client sent `session/cancel` | goes on until it returns |
//! | `SessionClose` | the client sent `session/close` | goes on until it returns |
//! | `Shutdown` | the agent is shutting down | goes on until it returns |
//! | `GracePeriod` | it went on for too long after one of these | is dropped |
//! | `MaxDuration` | the turn took too long | is dropped |
//! | `RequestCancel` | the client sent `$/cancel_request` for the prompt | is dropped |
//! | `ConnectionLost` | the client is gone | is dropped |
//!
//! A handler that is dropped is dropped where it waits, at an `.await`.
//! Its destructors run; nothing after that `.await` does.
//! Clones of its context that live on, in other tasks, go on telling the cause, and every call on them fails.
//!
//! # In a blocking handler
//!
//! A [blocking](crate::blocking) handler has the same context with blocking methods.
//! [`sleep`](crate::blocking::PromptContext::sleep) wakes up when the turn is cancelled.
//! A request to the client gets one `$/cancel_request`, and ends with the client's answer or with the turn.
//!
//! Nothing can drop a thread.
//! A blocking handler that does not stop is *abandoned*: its turn is answered without it, and every call on its context fails from then on.
//! A handler that uses `?` ends with its next call.
//! What it waits for outside of this library, a lock or a child process, only a callback can interrupt.
//!
//! ```
//! use std::time::Duration;
//! use endturn::{Agent, CancellationSignal, Client, schema::{ProtocolVersion, v1::*}, transport};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), endturn::Error> {
//! let agent = Agent::builder()
//!     .on_prompt_blocking(|_request, cx| {
//!         loop {
//!             cx.send_message("still here")?;
//!             cx.sleep(Duration::from_secs(3600))?; // fails when the turn is cancelled
//!         }
//!     })
//!     .build();
//! let (near, far) = transport::memory();
//! tokio::spawn(async move { agent.serve(far).await });
//!
//! let stop = CancellationSignal::new();
//! let client = Client::builder()
//!     .on_update({
//!         let stop = stop.clone();
//!         move |_update, _client| {
//!             stop.cancel();
//!             async {}
//!         }
//!     })
//!     .connect(near);
//! client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//! let text = ContentBlock::Text(TextContent::new("Stay"));
//! let response = client.prompt(PromptRequest::new("session-1", vec![text]), &stop).await?;
//! assert_eq!(response.stop_reason, StopReason::Cancelled);
//! # Ok(())
//! # }
//! ```
//!
//! # The handler for `session/cancel`
//!
//! [`on_cancel`](crate::agent::AgentBuilder::on_cancel) on the builder is told of every `session/cancel`, also of one for a session without a turn, and of every `session/close` (`cancel-handler`).
//! It is for agents that keep work of their own beyond a turn.
//! Do not use it to tell a prompt handler that it shall stop: the context does that, and it cannot mix up two turns of one session.
