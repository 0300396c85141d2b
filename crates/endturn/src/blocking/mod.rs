//! For code that blocks: a client without an async runtime, and handlers on threads of their own.
//!
//! # Without a runtime
//!
//! [`Client`] drives an agent, [`serve`] serves one, and neither needs a runtime: they bring one of their own, which the program never sees.
//! The names are those of the async types; only what gave a future there gives its result here.
//! A prompt blocks its thread, and any other thread can end the turn:
//!
//! ```
//! use endturn::{
//!     Agent, CancellationSignal, blocking,
//!     schema::{ProtocolVersion, v1::*},
//!     transport,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (near, far) = transport::memory();
//! let agent = Agent::builder()
//!     .on_prompt_blocking(|_request, cx| {
//!         cx.send_message("Working... ")?;
//!         cx.cancelled();
//!         Ok(PromptResponse::new(StopReason::EndTurn))
//!     })
//!     .build();
//! std::thread::spawn(move || blocking::serve(&agent, || Ok(far)));
//!
//! let stop = CancellationSignal::new();
//! let button = stop.clone();
//! let client = blocking::Client::builder()
//!     .on_update(move |_update, _client| button.cancel()) // The first word is enough.
//!     .connect(|| Ok(near))?;
//! client.initialize(InitializeRequest::new(ProtocolVersion::V1))?;
//! let text = ContentBlock::Text(TextContent::new("Do a long task"));
//! let response = client.prompt(PromptRequest::new("session-1", vec![text]), &stop)?;
//! assert_eq!(response.stop_reason, StopReason::Cancelled);
//! # Ok(())
//! # }
//! ```
//!
//! A function of this module that blocks panics when it is called on a thread that drives async tasks.
//! There the async types are the right ones, or a thread of [`tokio::task::spawn_blocking`].
//!
//! # Blocking handlers
//!
//! A blocking handler is a plain function.
//! An agent's is registered on the same builder as any other, with [`on_prompt_blocking`](crate::agent::AgentBuilder::on_prompt_blocking) and its like, and each call of it runs on a new thread that is named after its session.
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

mod builder;
mod client;
mod context;
mod handlers;
#[cfg(feature = "process")]
mod process;
mod runtime;
mod serve;
mod session;
mod session_handle;
mod thread;
mod work;

pub use builder::ClientBuilder;
pub use client::Client;
pub use context::{PromptContext, RequestContext};
#[cfg(feature = "process")]
pub use process::AgentProcess;
pub(crate) use runtime::spawn_on_thread;
pub use serve::{serve, serve_until};
pub use session::{Session, Turn};
pub use session_handle::SessionHandle;
pub(crate) use thread::{ThreadName, on_thread};
pub use work::{Terminal, ToolCallHandle};
