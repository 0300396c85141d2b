//! What can go wrong, and who is told.
//!
//! # What a call fails with
//!
//! Every call of this crate fails with one type, [`Error`](crate::Error).
//! Ask it with a predicate, with [`kind`](crate::Error::kind), or with [`origin`](crate::Error::origin), which says whose doing it is.
//!
//! | [`ErrorKind`](crate::ErrorKind) | origin | what to do |
//! |---|---|---|
//! | `Protocol` | peer | look at its [`code`](crate::Error::code) and [`data`](crate::Error::data), or ask a predicate |
//! | `InvalidAnswer` | peer | the peer breaks the schema, or is newer than this crate |
//! | `UnsupportedVersion` | peer | the agent speaks another version of the protocol, and the connection was closed; see [`capabilities`](super::capabilities#versions) |
//! | `InvalidInput` | local | the program passed what cannot be sent: what JSON cannot hold, or a relative path for example; nothing was sent |
//! | `MissingCapability` | local | the peer does not offer the named [`capability`](crate::Error::capability), so nothing was sent; do without it |
//! | `NotInitialized` | local | call [`initialize`](crate::Client::initialize) first; nothing was sent |
//! | `Busy` | local | wait for the answer to the session's turn, or cancel it; nothing was sent |
//! | `Cancelled` | local | the turn was cancelled and is over: return |
//! | `TurnEnded` | local | the turn was answered; whoever still works for it stops |
//! | `Timeout` | local | a limit has passed, the request was given up |
//! | `CancelTimedOut` | local | see [`escalation`](super::escalation) |
//! | `ConnectionLost` | connection | everything on this connection is over |
//!
//! Predicates ask about what a program most often wants to know, and some look at both sides of it:
//!
//! | predicate | found out here | said by the peer |
//! |---|---|---|
//! | [`is_auth_required`](crate::Error::is_auth_required) | | `-32000` |
//! | [`is_capability`](crate::Error::is_capability) | `MissingCapability` | `-32601` |
//! | [`is_cancelled`](crate::Error::is_cancelled) | `Cancelled` | `-32800` |
//! | [`is_busy`](crate::Error::is_busy) | `Busy` | |
//! | [`is_timeout`](crate::Error::is_timeout) | `Timeout`, `CancelTimedOut` | |
//! | [`is_connection_lost`](crate::Error::is_connection_lost) | `ConnectionLost` | |
//!
//! ```
//! use endturn::{Client, schema::v1::ListSessionsRequest};
//!
//! # async fn show(client: Client) {
//! match client.list_sessions(ListSessionsRequest::new()).await {
//!     Ok(page) => println!("{} sessions", page.sessions.len()),
//!     Err(error) if error.is_capability() => println!("this agent keeps no sessions"),
//!     Err(error) if error.is_auth_required() => println!("please log in"),
//!     Err(error) => eprintln!("{error}"),
//! }
//! # }
//! ```
//!
//! # What a handler fails with
//!
//! In a handler, `?` takes any error.
//! What the peer is told depends on its type:
//!
//! - A protocol error, [`schema::v1::Error`](crate::schema::v1::Error), was written for the peer. It is sent as it is.
//! - Any other error was written for whoever runs this program: it names paths, hosts and users. It is logged here, and the peer gets `-32603` without its text. This is policy of this SDK.
//!
//! ```
//! use endturn::{Agent, Client, schema::{ProtocolVersion, v1::*}, transport};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), endturn::Error> {
//! let agent = Agent::builder()
//!     .on_new_session(|request, _cx| async move {
//!         if !request.cwd.is_dir() {
//!             Err(Error::invalid_params().data("cwd is no folder"))?; // sent
//!         }
//!         std::fs::read_to_string("/no/such/secret/path")?; // hidden
//!         Ok(NewSessionResponse::new("session-1"))
//!     })
//!     .build();
//! # let (near, far) = transport::memory();
//! # tokio::spawn(async move { agent.serve(far).await });
//! # let client = Client::builder().connect(near);
//! # client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//! let error = client.new_session(NewSessionRequest::new("/no/such/folder")).await.unwrap_err();
//! assert_eq!(error.code(), Some(-32602));
//! assert_eq!(error.protocol().unwrap().data, Some("cwd is no folder".into()));
//!
//! let error = client.new_session(NewSessionRequest::new("/")).await.unwrap_err();
//! assert_eq!(error.code(), Some(-32603));
//! assert_eq!(error.protocol().unwrap().data, None);
//! # Ok(())
//! # }
//! ```
//!
//! After `session/cancel`, no failure of a prompt handler reaches the client: the answer is `cancelled` (`cancelled-answer`).
//!
//! # What the connection answers by itself
//!
//! None of these ends the connection (`errors`).
//! The codes are those of [JSON-RPC 2.0](https://www.jsonrpc.org/specification#error_object) and of [ACP](https://agentclientprotocol.com/protocol/v1/schema#errorcode).
//!
//! | what came | the answer |
//! |---|---|
//! | a line that is not JSON | `-32700`, with the id `null`; a client answers nothing, because agents print logs among their messages |
//! | JSON that is no message | `-32600` |
//! | a request before `initialize`, whatever it is, to an agent | `-32600`, with the data `{"reason": "initialize has to come first"}` |
//! | a request for a method that has no handler | `-32601`, with the data `{"method": …}` |
//! | parameters that do not fit | `-32602`, with the data `{"field": …, "reason": …}` |
//! | a prompt for a session that is busy or closing | `-32600`, whose data names the session |
//! | a request with the id of one that is open | `-32600`, with a reason as data |
//! | a request while the agent shuts down | `-32600`, with the data `{"reason": "shutting down"}` |
//! | a request whose handler panicked | `-32603` |
//! | a request that was cancelled | `-32800` |
//! | a line over the limit | `-32600`, with the id `null`; a client answers nothing |
//! | a notification, whatever is wrong with it | nothing |
//!
//! What files and terminals of this machine answer is in two tables of their own, at `LocalFiles` and `LocalTerminals` in [`client`](crate::client).
//!
//! An answer carries the id of its request with the same JSON type and value (`ids`).
//! `1` and `"1"` are two ids.
