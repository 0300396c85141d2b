//! Sessions at the client: opening and loading them, their turns, their state, and serving them files and terminals.
//!
//! A [`Session`](crate::client::Session) is an id and the client that it belongs to.
//! The methods of [`Client`](crate::Client) do the same with the protocol's own requests; what is not on a `Session` is there.
//! A program without a runtime has a [`Session`](crate::blocking::Session) with the same methods.
//!
//! | to | use |
//! |---|---|
//! | open, load or resume one | [`Session::open`](crate::client::Session::open), [`load`](crate::client::Session::load), [`resume`](crate::client::Session::resume) |
//! | hold one that was opened otherwise | [`Session::of`](crate::client::Session::of) |
//! | find saved ones, forget one | [`Client::list_sessions`](crate::Client::list_sessions), [`Client::delete_session`](crate::Client::delete_session) |
//! | run a turn, and have its answer | [`prompt`](crate::client::Session::prompt) |
//! | run a turn, and have its updates too | [`turn`](crate::client::Session::turn) |
//! | stop a turn | a [`CancellationSignal`](crate::CancellationSignal), or [`cancel`](crate::client::Session::cancel); see [`clients`](super::clients) |
//! | change a mode or an option | [`set_mode`](crate::client::Session::set_mode), [`set_config_option`](crate::client::Session::set_config_option) |
//! | know what holds now | [`state`](crate::client::Session::state) |
//! | have the agent free what it holds | [`close`](crate::client::Session::close); dropping a `Session` tells the agent nothing |
//!
//! # Turns
//!
//! A [`Turn`](crate::client::Turn) gives the updates of one turn as they come, and then the answer.
//! It is a [`Stream`](https://docs.rs/futures-core/latest/futures_core/stream/trait.Stream.html), so the combinators of the `futures` crate work on it; the [blocking](crate::blocking::Turn) one is an iterator.
//!
//! ```
//! use endturn::{CancellationSignal, Client, client::Session, transport};
//! use endturn::schema::{ProtocolVersion, v1::*};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), endturn::Error> {
//! let (near, far) = transport::memory();
//! let agent = endturn_testkit::scripted::agent().build();
//! tokio::spawn(async move { agent.serve(far).await });
//! let client = Client::builder().connect(near);
//! client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//!
//! let session = Session::open(&client, NewSessionRequest::new("/work")).await?;
//! let stop = CancellationSignal::new();
//! let mut turn = session.turn("say Working...\nwait", &stop);
//! while let Some(update) = turn.next().await {
//!     if let SessionUpdate::AgentMessageChunk(_) = update {
//!         stop.cancel(); // The first word is enough.
//!     }
//! }
//! assert_eq!(turn.response().await?.stop_reason, StopReason::Cancelled);
//! # Ok(())
//! # }
//! ```
//!
//! A prompt is a text, a [`ContentBlock`](crate::schema::v1::ContentBlock), or a list of them.
//! The [update handler](crate::client::ClientBuilder::on_update), if there is one, sees every update first; one place for all sessions and one for this turn can be used together.
//! What belongs to no turn, or to one that was given up, is not in the stream.
//!
//! Take the updates out, or ask for the [`response`](crate::client::Turn::response), which takes out the rest.
//! A turn that nobody polls holds up what stands behind it: 64 updates wait in the stream, the rest of the session behind them, and when a mebibyte waits, reading pauses for all sessions.
//! Dropping a turn gives it up: the agent is sent one `$/cancel_request`, and the rest of the turn is discarded.
//!
//! # Saved sessions
//!
//! An agent says in its [capabilities](super::capabilities) whether it keeps sessions.
//! *Loading* one sends its history as updates first; *resuming* one does not.
//! [`Session::load`](crate::client::Session::load) is done when the update handler has finished the history, so what it collected is complete.
//!
//! ```
//! use endturn::{Client, client::Session, schema::v1::*};
//!
//! # async fn example(client: Client) -> Result<(), endturn::Error> {
//! let mut all = Vec::new();
//! let mut request = ListSessionsRequest::new().cwd(std::path::PathBuf::from("/work"));
//! loop {
//!     let page = client.list_sessions(request.clone()).await?;
//!     all.extend(page.sessions);
//!     match page.next_cursor {
//!         Some(cursor) => request = request.cursor(cursor),
//!         None => break,
//!     }
//! }
//!
//! let Some(last) = all.first() else { return Ok(()) };
//! let (id, cwd) = (last.session_id.clone(), last.cwd.clone());
//! let session = if client.agent()?.supports_resume_session() {
//!     Session::resume(&client, ResumeSessionRequest::new(id, cwd)).await?
//! } else {
//!     Session::load(&client, LoadSessionRequest::new(id, cwd)).await?
//! };
//! session.prompt("Where were we?", None).await?;
//! session.close().await?;
//! # Ok(())
//! # }
//! ```
//!
//! An agent that wants its user to log in first answers with error `-32000`:
//!
//! ```
//! use endturn::{Client, Error, client::Session, schema::v1::*};
//!
//! async fn open(client: &Client, request: NewSessionRequest) -> Result<Session, Error> {
//!     match Session::open(client, request.clone()).await {
//!         Err(error) if error.is_auth_required() => {
//!             let agent = client.agent()?;
//!             let method = agent.auth_methods().first().ok_or(error)?;
//!             client.authenticate(AuthenticateRequest::new(method.id().clone())).await?;
//!             Session::open(client, request).await
//!         }
//!         opened => opened,
//!     }
//! }
//! ```
//!
//! # State, modes and config options
//!
//! A client that [keeps track of its sessions](crate::client::ClientBuilder::track_sessions) knows what holds of each after its updates so far.
//! [`SessionState`](crate::client::SessionState) has the mode and the modes, the config options, the commands, the plan, the tool calls, the usage and the title.
//! It does not have what was said, since only the program knows how to keep that, nor notices, compactions, subagents, and plans that have an id of their own.
//!
//! ```
//! use endturn::{Agent, Client, client::Session, transport};
//! use endturn::schema::{ProtocolVersion, v1::*};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), endturn::Error> {
//! let agent = Agent::builder()
//!     .on_new_session(|_request, _cx| async {
//!         let modes = vec![SessionMode::new("ask", "Ask"), SessionMode::new("act", "Act")];
//!         let think = SessionConfigOption::boolean("think", "Think", false);
//!         Ok(NewSessionResponse::new("session-1")
//!             .modes(SessionModeState::new("ask", modes))
//!             .config_options(vec![think]))
//!     })
//!     .on_set_mode(|_request, _cx| async { Ok(SetSessionModeResponse::new()) })
//!     .on_set_config_option(|_request, _cx| async {
//!         let think = SessionConfigOption::boolean("think", "Think", true);
//!         Ok(SetSessionConfigOptionResponse::new(vec![think]))
//!     })
//!     .on_prompt(|_request, cx| async move {
//!         cx.send_title("Spring cleaning").await?;
//!         Ok(PromptResponse::new(StopReason::EndTurn))
//!     })
//!     .build();
//! let (near, far) = transport::memory();
//! tokio::spawn(async move { agent.serve(far).await });
//!
//! let client = Client::builder().track_sessions().connect(near);
//! client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//! let session = Session::open(&client, NewSessionRequest::new("/work")).await?;
//! assert_eq!(session.state().unwrap().mode(), Some(&SessionModeId::new("ask")));
//!
//! session.set_mode("act").await?;
//! let options = session.set_config_option("think", true).await?;
//! session.prompt("Tidy up", None).await?;
//!
//! let state = session.state().unwrap();
//! assert_eq!(state.mode(), Some(&SessionModeId::new("act")));
//! assert_eq!(state.config_options(), options);
//! assert_eq!(state.title(), Some("Spring cleaning"));
//! # Ok(())
//! # }
//! ```
//!
//! A state is a snapshot; it does not change while it is looked at.
//! It is taken before the update handler sees an update, so a handler that asks for the state finds its update in it.
//! Up to 1,024 sessions are kept track of, each with its last 1,024 tool calls; a session is forgotten when it is [closed](crate::client::Session::close) or [deleted](crate::Client::delete_session).
//! A program that keeps state in a way of its own can [apply](crate::client::SessionState::apply) updates to a `SessionState` itself.
//!
//! # Files and terminals
//!
//! [`LocalFiles`] and [`LocalTerminals`] serve the files of this machine and run commands on it, each in one line of the builder; both are on by default as the features `files` and `process`.
//! What they need in `initialize` is declared by their being registered.
//!
//! ```
//! use endturn::{Client, client::{LocalFiles, LocalTerminals}};
//! use endturn::schema::v1::SessionId;
//!
//! # fn main() -> std::io::Result<()> {
//! let files = LocalFiles::new(".")?.max_bytes(1024 * 1024);
//! let terminals = LocalTerminals::new().root(".")?.max_terminals(4);
//! let client = Client::builder()
//!     .files(files)
//!     .terminals(terminals.clone());
//! # drop(client);
//! // … and when a session is closed:
//! terminals.release_session(&SessionId::new("session-1"));
//! # Ok(())
//! # }
//! ```
//!
//! The agent reaches files below the roots only, whatever links and `..` a path contains; a command runs below a root too, but may do whatever this program may do.
//! A handler that is registered behind them for one method takes its place, and can call them from there: an editor answers from its own buffers first, a careful client asks before a command is run.
//! The examples at the two types show that, and [`policy`](super::policy#files-and-terminals) has the limits.
//!
//! A [`TerminalView`] shows a terminal while the command runs, and still when it was released.
//!
#![cfg_attr(feature = "files", doc = "[`LocalFiles`]: crate::client::LocalFiles")]
#![cfg_attr(not(feature = "files"), doc = "[`LocalFiles`]: crate::client")]
#![cfg_attr(
    feature = "process",
    doc = "[`LocalTerminals`]: crate::client::LocalTerminals"
)]
#![cfg_attr(not(feature = "process"), doc = "[`LocalTerminals`]: crate::client")]
#![cfg_attr(
    feature = "process",
    doc = "[`TerminalView`]: crate::client::TerminalView"
)]
#![cfg_attr(not(feature = "process"), doc = "[`TerminalView`]: crate::client")]
