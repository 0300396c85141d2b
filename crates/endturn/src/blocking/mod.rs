//! Handlers on threads of their own, for code that blocks.
//!
//! A blocking handler is a plain function.
//! It is registered on the same builder as any other, with [`on_prompt_blocking`](crate::agent::AgentBuilder::on_prompt_blocking) and its like, and each call of it runs on a new thread that is named after its session.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use endturn::{Agent, schema::v1::{NewSessionResponse, PromptResponse, StopReason}, transport};
//!
//! # fn next_words() -> String { String::new() }
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let agent = Agent::builder()
//!         .on_new_session_blocking(|_request, _cx| Ok(NewSessionResponse::new("session-1")))
//!         .on_prompt_blocking(|_request, cx| {
//!             while !cx.is_cancelled() {
//!                 cx.send_message(next_words())?;
//!                 cx.sleep(Duration::from_millis(100))?;
//!             }
//!             Ok(PromptResponse::new(StopReason::EndTurn))
//!         })
//!         .build();
//!     agent.serve(transport::stdio()?).await?;
//!     Ok(())
//! }
//! ```
//!
//! # Threads cannot be interrupted
//!
//! An async handler that does not stop is dropped.
//! Nothing can drop a thread, so a blocking handler that does not stop within the grace period is *abandoned*: its turn is answered without it, and its session takes the next prompt.
//! The thread itself runs until its function returns.
//! From then on every call on its context fails at once with a [cancelled](crate::Error::is_cancelled) error, so a handler that uses `?` ends with its next call; [`sleep`](PromptContext::sleep) wakes up, and [`on_cancel`](PromptContext::on_cancel) can interrupt what the handler waits for outside of this library.
//!
//! Each handler has a thread of its own, not one of a pool, so that handlers that were abandoned never take the place of new ones.

mod context;
mod thread;

pub use context::{PromptContext, RequestContext};
pub(crate) use thread::{ThreadName, on_thread};
