//! What this SDK adds to the protocol, and why.
//!
//! Nothing on this page is protocol.
//! The protocol says that a cancelled prompt must be answered, and that a session has one turn.
//! It does not say what happens when a handler never returns: its session would be busy for ever, and no message could free it.
//! Most of what follows closes that gap.
//!
//! # Limits
//!
//! Zero switches a limit off.
//! At the agent a time begins when a message is read, not when a handler starts; at the client it begins with the call.
//!
//! | rule | at the | set with | default | begins with | when it has passed |
//! |---|---|---|---|---|---|
//! | `grace-period` | agent | [`cancel_grace_period`](crate::agent::AgentBuilder::cancel_grace_period) | 60 s | the first `session/cancel` or `session/close` of the turn | the handler is dropped, the answer is `cancelled` |
//! | `max-duration` | agent | [`max_prompt_duration`](crate::agent::AgentBuilder::max_prompt_duration) | off | the prompt | the handler is dropped, the answer is error `-32800`, or `cancelled` if that was under way |
//! | `prompt-timeout` | client | [`prompt_timeout`](crate::client::ClientBuilder::prompt_timeout) | off | the prompt | one `$/cancel_request`, and the prompt fails |
//! | `cancel-timeout` | client | [`cancel_timeout`](crate::client::ClientBuilder::cancel_timeout) | off | `session/cancel` | one `$/cancel_request`, and the prompt fails |
//! | `request-timeout` | both | `request_timeout`, or [`Call::timeout`](crate::request::Call::timeout) | 60 s | the request | one `$/cancel_request`, and the call fails |
//!
//! **The grace period** is on by default, because without it one careless handler costs a session.
//! A minute is long enough to tidy up and short enough for somebody who waits.
//!
//! ```
//! use std::time::Duration;
//! use endturn::{CancellationSignal, Client, schema::{ProtocolVersion, v1::*}, transport};
//! use tokio::time::Instant;
//!
//! // On tokio's paused clock, so that nobody has to wait.
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), endturn::Error> {
//! let (near, far) = transport::memory();
//! let agent = endturn_testkit::scripted::agent()
//!     .cancel_grace_period(Duration::from_secs(10))
//!     .build();
//! tokio::spawn(async move { agent.serve(far).await });
//! let client = Client::builder().connect(near);
//! client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//! let session = client.new_session(NewSessionRequest::new("/")).await?.session_id;
//!
//! let stop = CancellationSignal::new();
//! stop.cancel();
//! let start = Instant::now();
//! let script = ContentBlock::Text(TextContent::new("hang"));
//! let response = client.prompt(PromptRequest::new(session, vec![script]), &stop).await?;
//! assert_eq!(response.stop_reason, StopReason::Cancelled);
//! assert_eq!(start.elapsed().as_secs(), 10);
//! # Ok(())
//! # }
//! ```
//!
//! **The maximum duration** is off by default, because a turn that waits for a person may take a night.
//! The error's data is `{"maxPromptDuration": "PT30M"}`, the limit in ISO 8601.
//!
//! **The prompt timeout** is off by default, because a client cannot tell a long turn from one that hangs.
//!
//! **The request timeout** does not apply to prompts.
//! Nor does it apply to *open-ended* requests, whose answer takes a time that nobody can foresee.
//! Those are `session/request_permission`, `elicitation/create` and `authenticate`, which wait for a person, `terminal/wait_for_exit`, which waits for a process, and what [an extension declares so](crate::request::Request::OPEN_ENDED).
//! They end with their turn, if they have one, and [`Call::timeout`](crate::request::Call::timeout) limits a single one.
//! A raw call has the request timeout whatever its method is.
//!
//! **Memory** is bounded by limits of its own.
//!
//! | what | set with | default | beyond it |
//! |---|---|---|---|
//! | a line from the peer | `line_limit` of the [agent](crate::agent::AgentBuilder::line_limit) and the [client](crate::client::ClientBuilder::line_limit) | 64 MiB | it is dropped, and an agent answers `-32600` |
//! | what waits to be written | | 64 KiB | updates, requests and notifications wait |
//! | updates that wait for the client's handlers | | 1 MiB | reading pauses |
//! | updates in a [`Turn`](crate::client::Turn) | | 64 | the session's other updates wait |
//! | sessions that are [kept track of](crate::client::ClientBuilder::track_sessions) | | off; 1,024 | later ones have no state until one is closed |
//! | tool calls in a [state](crate::client::SessionState) | | 1,024 | the oldest is forgotten |
//!
//! # Files and terminals
//!
//! A client that serves this machine's files and terminals has these limits; both types are in [`client`](crate::client).
//!
//! | what | set with | default | beyond it |
//! |---|---|---|---|
//! | directories with files | `LocalFiles::new`, `root` | none: they are named | `-32602` |
//! | text in one request | `LocalFiles::max_bytes` | 16 MiB | `-32602` |
//! | directories to run in | `LocalTerminals::root` | any | `-32602` |
//! | terminals of a session | `LocalTerminals::max_terminals` | 32 | `-32600` |
//! | output that is kept of one | `LocalTerminals::max_output_bytes` | 4 MiB, and 1 MiB if the agent does not ask | the end is kept |
//! | from TERM to KILL | `LocalTerminals::kill_grace` | 2 s | KILL |
//!
//! A file is replaced in one step; a command that has white space in it and no arguments goes through the shell; a terminal's end is the end of its process.
//! The roots of files hold whatever the agent tries; those of terminals catch mistakes, because a command may do whatever this program may do.
//!
//! # The handshake
//!
//! **Nothing before `initialize`.**
//! A client sends nothing else until it is answered, and an agent refuses every other request until it has read it.
//! A peer that begins otherwise is told so, instead of being served with capabilities that nobody knows.
//!
//! **Capabilities are derived and enforced.**
//! A program offers what it has handlers for, and a call that the peer does not offer fails here; see [`capabilities`](super::capabilities).
//! Most peers would answer such a request with `-32601`, and some not at all.
//!
//! **The version decides.**
//! A client that is answered with another version than 1 closes the connection, because nothing that follows could be relied on.
//!
//! # Unknown values
//!
//! A peer that is newer than this library may use words that its types do not have.
//! Where the schema has no place for such a word, and it would cost the whole message, the known one that promises least stands in for it, and the word is kept under [`UNKNOWN_VALUES`](crate::UNKNOWN_VALUES).
//! An unknown stop reason counts as `end_turn`, an unknown kind of permission option as `reject_once`, and an unknown outcome of a permission request as `cancelled`.
//! An update of an unknown kind goes to [`on_unknown_update`](crate::client::ClientBuilder::on_unknown_update), and is logged and skipped without one.
//! [`methods`](super::methods#what-a-newer-peer-may-send) has the whole list.
//!
//! # Checks
//!
//! **A client refuses a second prompt itself.**
//! It fails as [busy](crate::Error::is_busy), and nothing is sent.
//! `session/cancel` names a session and not a turn; with two prompts on the wire it could end the wrong one.
//!
//! **A client keeps turns apart** (`quarantine`).
//! An update names a session, not a turn.
//! When a prompt was given up and the next one is on the wire, an update may belong to either.
//! Such updates are held back until the agent answers one of the two prompts:
//!
//! - The old one is answered: they were the old turn's, and are discarded.
//! - The new one is answered: they were the new turn's, and are delivered.
//! - Neither is answered within two seconds: they are delivered, because many agents never answer what they were told to stop.
//!
//! What is kept for that is bounded.
//!
//! **An error's text stays at home** unless it was written for the peer; see [`errors`](super::errors).
//!
//! # The end of a connection
//!
//! When the connection is lost, an agent cancels every context and drops every handler (`lost`).
//! Answers that were decided before are still written, if somebody reads them.
//!
//! An agent that is served with [`serve_until`](crate::Agent::serve_until) can be shut down from inside (`shutdown`).
//! Every turn is cancelled as by `session/cancel`, new requests are refused, and the connection is closed when the last answer is written.
//! The grace period bounds that too:
//!
//! ```
//! use endturn::{CancellationSignal, Client, schema::{ProtocolVersion, v1::*}, transport};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), endturn::Error> {
//! let (near, far) = transport::memory();
//! let agent = endturn_testkit::scripted::agent().build();
//! let shutdown = CancellationSignal::new();
//! let serving = tokio::spawn({
//!     let shutdown = shutdown.clone();
//!     async move { agent.serve_until(far, shutdown.cancelled()).await }
//! });
//! let client = Client::builder()
//!     .on_update(move |_update, _client| {
//!         shutdown.cancel();
//!         async {}
//!     })
//!     .connect(near);
//! client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//! let session = client.new_session(NewSessionRequest::new("/")).await?.session_id;
//!
//! let script = ContentBlock::Text(TextContent::new("say Working...\nhang"));
//! let response = client.prompt(PromptRequest::new(session, vec![script]), None).await?;
//! assert_eq!(response.stop_reason, StopReason::Cancelled);
//! serving.await.unwrap()?;
//! # Ok(())
//! # }
//! ```
