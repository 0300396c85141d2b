//! How the bytes get to the other side.
//!
//! A [`Transport`](crate::transport::Transport) is two byte streams.
//! It knows nothing of the protocol; the connection cuts the bytes into lines, one message each.
//!
//! | you write | use |
//! |---|---|
//! | an agent that its client starts | `transport::stdio` |
//! | a client that starts its agent | `transport::AgentCommand` |
//! | an agent inside the client's program, or a test | [`transport::memory`](crate::transport::memory) |
//! | anything else | [`Transport::new`](crate::transport::Transport::new) |
//!
//! The first two need the features `stdio` and `process`, which are on by default.
//! The protocol defines [stdio](https://agentclientprotocol.com/protocol/v1/transports) and leaves room for others.
//!
//! # Standard output belongs to the protocol
//!
//! An agent on standard input and output must not print.
//! A stray `println!` lands between two messages; write logs to standard error.
//! The client of this crate skips such lines, and others may not.
//!
//! # An agent for many clients
//!
//! Serving does not use an [`Agent`](crate::Agent) up.
//! Each connection has sessions and turns of its own, so an agent behind a socket is a loop:
//!
//! ```
//! use endturn::{Agent, Client, schema::{ProtocolVersion, v1::*}, transport::Transport};
//! use tokio::net::{TcpListener, TcpStream};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let agent = Agent::builder()
//!     .on_prompt(|_request, _cx| async { Ok(PromptResponse::new(StopReason::EndTurn)) })
//!     .build();
//! let listener = TcpListener::bind("localhost:0").await?;
//! let address = listener.local_addr()?;
//! tokio::spawn(async move {
//!     while let Ok((socket, _)) = listener.accept().await {
//!         let agent = agent.clone();
//!         let (reader, writer) = socket.into_split();
//!         tokio::spawn(async move { agent.serve(Transport::new(reader, writer)).await });
//!     }
//! });
//!
//! let (reader, writer) = TcpStream::connect(address).await?.into_split();
//! let client = Client::builder().connect(Transport::new(reader, writer));
//! client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//! let text = ContentBlock::Text(TextContent::new("x"));
//! let response = client.prompt(PromptRequest::new("session-1", vec![text]), None).await?;
//! assert_eq!(response.stop_reason, StopReason::EndTurn);
//! # Ok(())
//! # }
//! ```
//!
//! # What a transport must do for cancelling
//!
//! Reading and writing must be able to make progress independently.
//! A writer that blocks until the peer has read keeps the reader from seeing a cancel.
//! The other rules stand in the documentation of the [module](crate::transport).
//!
//! # Looking at what passes
//!
//! [`into_parts`](crate::transport::Transport::into_parts) takes a transport apart, and a [`memory`](crate::transport::memory) pair puts something in between.
//! The examples of the [five flows](super::flows) record their messages so.
