//! The [Agent Client Protocol] (ACP) for Rust, in which every turn ends.
//!
//! A *turn* lasts from the arrival of a `session/prompt` to its answer.
//! This crate has both ends of it: an [`Agent`] serves handlers, a [`Client`] drives an agent.
//! Programs without an async runtime have the same in [`blocking`].
//! Types of the protocol come from the official schema crate, see [`schema`]; what carries the bytes is a [`transport`].
//! Every method of version 1 has a handler and a call, and [a table](guide::methods) says which.
//!
//! ```
//! use endturn::{
//!     Agent, CancellationSignal, Client,
//!     schema::{ProtocolVersion, v1::*},
//!     transport,
//! };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), endturn::Error> {
//! let agent = Agent::builder()
//!     .on_new_session(|_request, _cx| async { Ok(NewSessionResponse::new("session-1")) })
//!     .on_prompt(|_request, cx| async move {
//!         cx.send_message("Working... ").await?;
//!         cx.cancelled().await;
//!         Ok(PromptResponse::new(StopReason::EndTurn))
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
//!             stop.cancel(); // The first word is enough.
//!             async {}
//!         }
//!     })
//!     .connect(near);
//! client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//! let session = client.new_session(NewSessionRequest::new("/work")).await?;
//! let text = ContentBlock::Text(TextContent::new("Do a long task"));
//! let request = PromptRequest::new(session.session_id, vec![text]);
//! let response = client.prompt(request, &stop).await?;
//! assert_eq!(response.stop_reason, StopReason::Cancelled);
//! # Ok(())
//! # }
//! ```
//!
//! # The guide
//!
//! The [`guide`] explains what this crate does, and why:
//!
//! - [what a turn is](guide::turns), [the two ways of cancelling](guide::mechanisms), and [how they look on the wire](guide::flows);
//! - [what is policy and not protocol](guide::policy), and [what stands before what](guide::ordering);
//! - for agents: [noticing a cancellation](guide::noticing); for clients: [stopping a turn](guide::clients), [open questions](guide::questions), and [what to do when nothing answers](guide::escalation);
//! - [every method](guide::methods) with its type, its handler and its call, and extensions; [what each side offers](guide::capabilities), and how the conversation begins;
//! - for agents: [files, terminals, permissions and tool calls](guide::tools); for clients: [sessions](guide::sessions), their turns and their state;
//! - [errors](guide::errors), [transports](guide::transports), [testing](guide::testing), and [what is different from the ACP Java SDK](guide::java).
//!
//! # Features
//!
//! | feature | default | brings |
//! |---|---|---|
//! | `stdio` | yes | [`transport::stdio`](transport), for an agent that is started by its client |
//! | `process` | yes | [`transport::AgentCommand`](transport), for a client that starts its agent, and [`LocalTerminals`](client), the terminals of a client |
//! | `files` | yes | [`LocalFiles`](client), the file system of a client |
//! | `unstable`, `unstable_…` | no | [draft parts](guide::methods#drafts) of the protocol, named as in the schema crate |
//!
//! [Agent Client Protocol]: https://agentclientprotocol.com

pub mod agent;
pub mod blocking;
mod cancellation;
pub mod capabilities;
pub mod client;
mod connection;
mod error;
pub mod guide;
pub mod request;
pub mod schema;
pub mod transport;

pub use agent::{Agent, PromptContext, RequestContext};
pub use cancellation::CancellationSignal;
pub use client::Client;
pub use connection::UNKNOWN_VALUES;
pub use endturn_core::turn::agent::CancelCause;
pub use error::{Error, ErrorKind, ErrorOrigin, HandlerError, HandlerResult};

/// The examples of the README are compiled with the other examples.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
