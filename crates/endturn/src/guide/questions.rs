//! Permissions, elicitations, and everything else that an agent asks in the middle of a turn.
//!
//! # A question to a person
//!
//! An agent asks with [`confirm`](crate::PromptContext::confirm) and [its like](super::tools#permissions), and waits as long as the person needs: no request timeout applies.
//! A client shows the question in the handler given to [`on_permission`](crate::client::ClientBuilder::on_permission) or [`on_elicitation`](crate::client::ClientBuilder::on_elicitation).
//!
//! When the turn is cancelled, nobody will decide any more.
//! The [specification](https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation) wants the client to answer every open question with the outcome `cancelled`.
//! This client does that by itself (`permissions`):
//!
//! - Every permission request of the session that is open is answered `cancelled`, and its handler is dropped. Close the dialogue in a destructor.
//! - A question that arrives after the cancel, while the turn goes on, is answered so without asking.
//! - An elicitation is answered with the action `cancel`.
//! - Questions of other sessions stay open.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//! use endturn::{CancellationSignal, Client, schema::{ProtocolVersion, v1::*}, transport};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), endturn::Error> {
//! let (near, far) = transport::memory();
//! let agent = endturn_testkit::scripted::agent().build();
//! tokio::spawn(async move { agent.serve(far).await });
//!
//! let stop = CancellationSignal::new();
//! let said = Arc::new(Mutex::new(String::new()));
//! let client = Client::builder()
//!     .on_permission({
//!         let stop = stop.clone();
//!         move |_question, _client| {
//!             stop.cancel(); // The user does not decide, but presses Stop.
//!             std::future::pending()
//!         }
//!     })
//!     .on_update({
//!         let said = Arc::clone(&said);
//!         move |notification, _client| {
//!             if let SessionUpdate::AgentMessageChunk(chunk) = notification.update
//!                 && let ContentBlock::Text(text) = chunk.content
//!             {
//!                 said.lock().unwrap().push_str(&text.text);
//!             }
//!             async {}
//!         }
//!     })
//!     .connect(near);
//! client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//! let session = client.new_session(NewSessionRequest::new("/")).await?.session_id;
//! let script = ContentBlock::Text(TextContent::new("ask Delete everything?"));
//! let response = client.prompt(PromptRequest::new(session, vec![script]), &stop).await?;
//! assert_eq!(response.stop_reason, StopReason::Cancelled);
//! assert_eq!(*said.lock().unwrap(), "[Permission cancelled]");
//! # Ok(())
//! # }
//! ```
//!
//! `cancelled` is not a rejection: the user has said nothing about the question.
//!
//! # What a turn asks does not outlive it
//!
//! A handler's requests to the client belong to its turn (`nested`).
//!
//! - On `session/cancel`, each one that is open gets one `$/cancel_request`. The handler goes on waiting for the answer, and may make new requests, to tidy up for example.
//! - When the handler is dropped or has returned, each one that is still open gets one, and the call fails at once.
//!
//! That a request's cancellation extends to what was asked on its behalf is a suggestion of the [specification](https://agentclientprotocol.com/protocol/v1/cancellation).
//! For `session/cancel` it can be [switched off](crate::agent::AgentBuilder::cascade_cancel); then the requests run on until they are answered or the turn ends.
//!
//! An agent can also take one question back and go on with its turn: drop the call, or give it a signal with [`cancel_when`](crate::request::Call::cancel_when).
//! That is [flow E](super::flows#e-the-agent-takes-its-request-back).
