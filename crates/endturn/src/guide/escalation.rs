//! What to do when nothing answers.
//!
//! No step here waits without a bound, if the bounds are set.
//!
//! | step | bound | default | what it ends |
//! |---|---|---|---|
//! | 1. `session/cancel` | [`cancel_timeout`](crate::client::ClientBuilder::cancel_timeout) | off | the turn, with the agent's answer |
//! | 2. `$/cancel_request` | none needed, the call has returned | | the client's interest in the answer |
//! | 3. close the connection | two seconds for what is left to write | | every call on it |
//! | 4. end of the agent's input | `exit_timeout` | 2 s | an agent that heeds it |
//! | 5. TERM to its process group | `terminate_timeout` | 2 s | an agent that heeds that |
//! | 6. KILL to its process group | one second | | the rest |
//!
//! # From the prompt to giving up
//!
//! A client that sets a `cancel_timeout` takes the first two steps by itself (`cancel-timeout`).
//! The prompt then fails with [`CancelTimedOut`](crate::ErrorKind::CancelTimedOut).
//! So it does without a cancel when a [`prompt_timeout`](crate::client::ClientBuilder::prompt_timeout) has passed (`prompt-timeout`).
//!
//! ```
//! use std::time::Duration;
//! use endturn::{CancellationSignal, Client, ErrorKind, schema::{ProtocolVersion, v1::*}, transport};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), endturn::Error> {
//! // An agent without a grace period, whose handler hangs.
//! let agent = endturn_testkit::scripted::agent()
//!     .cancel_grace_period(Duration::ZERO)
//!     .build();
//! let (near, far) = transport::memory();
//! tokio::spawn(async move { agent.serve(far).await });
//!
//! let client = Client::builder()
//!     .cancel_timeout(Duration::from_secs(5))
//!     .connect(near);
//! client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//! let session = client.new_session(NewSessionRequest::new("/")).await?.session_id;
//! let prompt = |script: &str, stop: &CancellationSignal| {
//!     let script = ContentBlock::Text(TextContent::new(script));
//!     client.prompt(PromptRequest::new(session.clone(), vec![script]), stop)
//! };
//! let stop = CancellationSignal::new();
//! stop.cancel();
//! let error = prompt("hang", &stop).await.unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::CancelTimedOut);
//!
//! // The session takes the next prompt.
//! let response = prompt("say Hello.", &CancellationSignal::new()).await?;
//! assert_eq!(response.stop_reason, StopReason::EndTurn);
//! # Ok(())
//! # }
//! ```
//!
//! The answer may still come, and so may updates.
//! The answer is discarded, and the updates are [kept apart](super::policy#checks) from the next turn's (`quarantine`).
//! Other requests have the `request-timeout`, and are given up in the same way.
//!
//! # From giving up to the end of the process
//!
//! An agent that does not even answer a cancel may not be worth another prompt.
//! Close the connection, and stop the process:
//!
//! ```no_run
//! use std::time::Duration;
//! use endturn::{CancellationSignal, Client, ErrorKind, schema::v1::*, transport::AgentCommand};
//!
//! # async fn example(request: PromptRequest) -> Result<(), Box<dyn std::error::Error>> {
//! let (agent, transport) = AgentCommand::new("my-agent").spawn()?;
//! let client = Client::builder()
//!     .cancel_timeout(Duration::from_secs(10))
//!     .connect(transport);
//! // … initialize, open a session …
//! let stop = CancellationSignal::new();
//! match client.prompt(request, &stop).await {
//!     Ok(response) => println!("{:?}", response.stop_reason),
//!     Err(error) if error.kind() == ErrorKind::CancelTimedOut => {
//!         client.close();
//!         agent.stop().await?; // steps 4 to 6, each bounded
//!     }
//!     Err(error) => return Err(error.into()),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Launchers such as `npx` start the real agent as a child of their own.
//! Everything goes to the whole process group, so the agent does not survive its launcher.
//! Dropping the process's handle kills the group at once.
//!
//! # When the other side goes away
//!
//! It need not be this side that gives up.
//! When the connection ends, for whatever reason, every pending call of a client ends at once with a [connection-lost](crate::Error::is_connection_lost) error (`settled`).
//! At an agent, every handler is told and dropped (`lost`).
//!
//! ```
//! use endturn::{Client, schema::{ProtocolVersion, v1::*}};
//! use endturn_testkit::RawPeer;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let (mut agent, transport) = RawPeer::pair();
//! let client = Client::builder().connect(transport);
//! let hello = client.initialize(InitializeRequest::new(ProtocolVersion::V1));
//! let (hello, _) = tokio::join!(hello, agent.accept_initialize());
//! hello.unwrap();
//! let text = ContentBlock::Text(TextContent::new("x"));
//! let prompt = tokio::spawn(client.prompt(PromptRequest::new("session-1", vec![text]), None));
//! assert_eq!(agent.receive().await["method"], "session/prompt");
//!
//! drop(agent); // It has crashed.
//! let error = prompt.await.unwrap().unwrap_err();
//! assert!(error.is_connection_lost());
//! # }
//! ```
//!
//! # At the agent
//!
//! An agent waits for two parties: its own handlers and its client.
//! Handlers are bounded by the `grace-period` and the `max-duration`.
//! Requests to the client are bounded by the `request-timeout`, and questions to a person by their turn.
