//! The handshake, and what each side offers in it.
//!
//! A conversation begins with [`initialize`](https://agentclientprotocol.com/protocol/v1/initialization): the client says which version of the protocol it speaks, what it offers and who it is, and the agent answers with the same.
//! Optional parts of the protocol may be used only if the other side offers them.
//!
//! # What is offered follows from the handlers
//!
//! Nobody has to list capabilities.
//! A program that registers a handler offers what the handler is for:
//!
//! | at the agent | offers |
//! |---|---|
//! | [`on_load_session`](crate::agent::AgentBuilder::on_load_session) | `loadSession` |
//! | [`on_list_sessions`](crate::agent::AgentBuilder::on_list_sessions), [`on_delete_session`](crate::agent::AgentBuilder::on_delete_session), [`on_resume_session`](crate::agent::AgentBuilder::on_resume_session), [`on_close_session`](crate::agent::AgentBuilder::on_close_session) | `sessionCapabilities.list`, `.delete`, `.resume`, `.close` |
//! | [`on_logout`](crate::agent::AgentBuilder::on_logout) | `auth.logout` |
//! | handlers of all methods of a [draft](super::methods#drafts) | its capability |
//!
//! | at the client | offers |
//! |---|---|
//! | [`on_read_text_file`](crate::client::ClientBuilder::on_read_text_file), [`on_write_text_file`](crate::client::ClientBuilder::on_write_text_file), or local files | `fs.readTextFile`, `fs.writeTextFile` |
//! | handlers of all five methods of terminals, or local terminals | `terminal` |
//! | [`on_elicitation`](crate::client::ClientBuilder::on_elicitation) | `elicitation.form` |
//! | the same and [`on_elicitation_complete`](crate::client::ClientBuilder::on_elicitation_complete) | `elicitation.url` |
//!
//! What handlers cannot show is added with `adjust_capabilities`, at the [agent](crate::agent::AgentBuilder::adjust_capabilities) and at the [client](crate::client::ClientBuilder::adjust_capabilities): that a prompt may contain images, which MCP servers can be reached, that notices are shown, what extensions there are.
//! `capabilities` replaces all of it.
//! A client can also say it in the [request](crate::Client::initialize) itself, and an agent in a [handler](crate::agent::AgentBuilder::on_initialize) of its own; then that counts, and nothing is derived.
//! An [`AgentService`](crate::agent::AgentService) lists what it offers in [`capabilities`](crate::agent::AgentService::capabilities), because Rust cannot tell which of its methods were written.
//!
//! ```
//! use endturn::{Agent, Client, client::LocalFiles, transport};
//! use endturn::schema::{ProtocolVersion, v1::*};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let agent = Agent::builder()
//!     .info(Implementation::new("my-agent", "1.0"))
//!     .on_list_sessions(|_request, _cx| async { Ok(ListSessionsResponse::new(Vec::new())) })
//!     .adjust_capabilities(|derived| {
//!         derived.prompt_capabilities(PromptCapabilities::new().image(true))
//!     })
//!     .on_prompt(|_request, cx| async move {
//!         assert!(cx.client()?.supports_read_text_file());
//!         assert!(cx.client()?.require_terminal().is_err());
//!         Ok(PromptResponse::new(StopReason::EndTurn))
//!     })
//!     .build();
//! let (near, far) = transport::memory();
//! tokio::spawn(async move { agent.serve(far).await });
//!
//! let client = Client::builder()
//!     .info(Implementation::new("my-editor", "2.0"))
//!     .files(LocalFiles::new(".")?)
//!     .connect(near);
//! client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//!
//! let agent = client.agent()?;
//! assert_eq!(agent.info().unwrap().name, "my-agent");
//! assert!(agent.supports_list_sessions() && agent.supports_image());
//! assert!(!agent.supports_load_session());
//! client.prompt(PromptRequest::new("session-1", vec!["Go".into()]), None).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Asking what the other side offers
//!
//! An agent asks [`cx.client()`](crate::PromptContext::client), which is a [`ClientPeer`](crate::capabilities::ClientPeer); a client asks [`client.agent()`](crate::Client::agent), which is an [`AgentPeer`](crate::capabilities::AgentPeer).
//! For each capability of the protocol's methods and content there is a method that says whether it is offered, `supports_…`, and one that fails if it is not, `require_…`.
//! Both types also have all that the other side said, as it came; that is where `plan` and `subagents` of a client are, on which nothing here depends.
//!
//! Nobody has to ask before calling.
//! A call that the peer does not offer fails at once as [`MissingCapability`](crate::ErrorKind::MissingCapability), and nothing is sent; [`is_capability`](crate::Error::is_capability) is true for it, and also for error `-32601` of a peer that offers what it does not have.
//! [`methods`](super::methods#what-is-looked-at-before-sending) lists what is looked at.
//! For a peer that has more than it says there are [raw calls](super::methods#extensions-without-types).
//!
//! ```
//! # use endturn::{Agent, schema::v1::{PromptResponse, StopReason}};
//! let agent = Agent::builder().on_prompt(|_request, cx| async move {
//!     let text = match cx.read_text_file("/work/notes.md").await {
//!         Err(error) if error.is_capability() => std::fs::read_to_string("/work/notes.md")?,
//!         read => read?,
//!     };
//!     cx.send_message(format!("{} bytes of notes", text.len())).await?;
//!     Ok(PromptResponse::new(StopReason::EndTurn))
//! });
//! ```
//!
//! # Nothing before `initialize`
//!
//! The specification wants the handshake to be over [before a session is opened](https://agentclientprotocol.com/protocol/v1/initialization).
//! This SDK holds both sides to it:
//!
//! - At a client, every call but [`initialize`](crate::Client::initialize) fails as [`NotInitialized`](crate::ErrorKind::NotInitialized) until that is answered, and nothing is sent. Without the answer nobody knows what the agent offers.
//! - At an agent, every request that is read before `initialize` is answered `-32600`, and its handler does not run: a context always knows its client.
//!
//! An agent takes requests that stand right behind `initialize` on the wire; it need not have answered.
//! A client takes requests of the agent at any time.
//! A second `initialize` is answered as the first, and what it offers replaces what was offered before.
//!
//! # Versions
//!
//! This library speaks version 1, [`PROTOCOL_VERSION`](crate::capabilities::PROTOCOL_VERSION).
//!
//! An agent answers 1 whatever it is asked for, and the client decides whether it can go on; this is [what the specification wants](https://agentclientprotocol.com/protocol/v1/initialization#protocol-version).
//! [`ClientPeer::protocol_version`](crate::capabilities::ClientPeer::protocol_version) is what the client asked for.
//!
//! A client asks for 1; a request that names another version fails as [`InvalidInput`](crate::ErrorKind::InvalidInput).
//! If the agent answers with another version, the client closes the connection, and the call fails as [`UnsupportedVersion`](crate::ErrorKind::UnsupportedVersion):
//!
//! ```
//! use endturn::{Client, ErrorKind, schema::{ProtocolVersion, v1::*}};
//! use endturn_testkit::RawPeer;
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let (mut agent, transport) = RawPeer::pair();
//! let client = Client::builder().connect(transport);
//! let hello = client.initialize(InitializeRequest::new(ProtocolVersion::V1));
//! let newer_agent = async {
//!     let id = agent.receive().await["id"].clone();
//!     agent.send(json!({"jsonrpc": "2.0", "id": id, "result": {"protocolVersion": 7}})).await;
//! };
//! let (answer, ()) = tokio::join!(hello, newer_agent);
//! assert_eq!(answer.unwrap_err().kind(), ErrorKind::UnsupportedVersion);
//! assert!(client.closed().await.is_connection_lost());
//! # }
//! ```
