//! Every method of the protocol, and what it is here.
//!
//! A method has four things on this page: its type in [`schema::v1`](crate::schema::v1), the handler at the side that is asked, the call at the side that asks, and the capability that the handling side has to declare.
//! Nothing has to be looked up to use them; a call that is not possible [fails and says why](#what-is-looked-at-before-sending).
//! How capabilities come about is in [`capabilities`](super::capabilities).
//!
//! In the tables, *b* is the blocking counterpart, and *s* the method of an [`AgentService`](crate::agent::AgentService).
//! The time limit is the connection's request timeout (60 s unless it is set), or none for an *open-ended* request: one whose answer takes a time that nobody can foresee, because a person gives it or a process has to end.
//! A notification has no answer and no limit.
//! A limit for one call is set with [`Call::timeout`](crate::request::Call::timeout).
//!
//! # From the client to the agent
//!
//! The agent declares the capability.
//!
//! | method | type | handled with | called with | capability | time limit |
//! |---|---|---|---|---|---|
//! | `initialize` | [`InitializeRequest`](crate::schema::v1::InitializeRequest) | [`on_initialize`](crate::agent::AgentBuilder::on_initialize) [b](crate::agent::AgentBuilder::on_initialize_blocking), [s](crate::agent::AgentService::initialize) | [`initialize`](crate::Client::initialize) [b](crate::blocking::Client::initialize) |  | request |
//! | `authenticate` | [`AuthenticateRequest`](crate::schema::v1::AuthenticateRequest) | [`on_authenticate`](crate::agent::AgentBuilder::on_authenticate) [b](crate::agent::AgentBuilder::on_authenticate_blocking), [s](crate::agent::AgentService::authenticate) | [`authenticate`](crate::Client::authenticate) [b](crate::blocking::Client::authenticate) |  | none |
//! | `logout` | [`LogoutRequest`](crate::schema::v1::LogoutRequest) | [`on_logout`](crate::agent::AgentBuilder::on_logout) [b](crate::agent::AgentBuilder::on_logout_blocking), [s](crate::agent::AgentService::logout) | [`logout`](crate::Client::logout) [b](crate::blocking::Client::logout) | [`auth.logout`](crate::capabilities::AgentPeer::supports_logout) | request |
//! | `session/new` | [`NewSessionRequest`](crate::schema::v1::NewSessionRequest) | [`on_new_session`](crate::agent::AgentBuilder::on_new_session) [b](crate::agent::AgentBuilder::on_new_session_blocking), [s](crate::agent::AgentService::new_session) | [`new_session`](crate::Client::new_session) [b](crate::blocking::Client::new_session), [`Session::open`](crate::client::Session::open) [b](crate::blocking::Session::open) |  | request |
//! | `session/load` | [`LoadSessionRequest`](crate::schema::v1::LoadSessionRequest) | [`on_load_session`](crate::agent::AgentBuilder::on_load_session) [b](crate::agent::AgentBuilder::on_load_session_blocking), [s](crate::agent::AgentService::load_session) | [`load_session`](crate::Client::load_session) [b](crate::blocking::Client::load_session), [`Session::load`](crate::client::Session::load) [b](crate::blocking::Session::load) | [`loadSession`](crate::capabilities::AgentPeer::supports_load_session) | request |
//! | `session/resume` | [`ResumeSessionRequest`](crate::schema::v1::ResumeSessionRequest) | [`on_resume_session`](crate::agent::AgentBuilder::on_resume_session) [b](crate::agent::AgentBuilder::on_resume_session_blocking), [s](crate::agent::AgentService::resume_session) | [`resume_session`](crate::Client::resume_session) [b](crate::blocking::Client::resume_session), [`Session::resume`](crate::client::Session::resume) [b](crate::blocking::Session::resume) | [`sessionCapabilities.resume`](crate::capabilities::AgentPeer::supports_resume_session) | request |
//! | `session/list` | [`ListSessionsRequest`](crate::schema::v1::ListSessionsRequest) | [`on_list_sessions`](crate::agent::AgentBuilder::on_list_sessions) [b](crate::agent::AgentBuilder::on_list_sessions_blocking), [s](crate::agent::AgentService::list_sessions) | [`list_sessions`](crate::Client::list_sessions) [b](crate::blocking::Client::list_sessions) | [`sessionCapabilities.list`](crate::capabilities::AgentPeer::supports_list_sessions) | request |
//! | `session/delete` | [`DeleteSessionRequest`](crate::schema::v1::DeleteSessionRequest) | [`on_delete_session`](crate::agent::AgentBuilder::on_delete_session) [b](crate::agent::AgentBuilder::on_delete_session_blocking), [s](crate::agent::AgentService::delete_session) | [`delete_session`](crate::Client::delete_session) [b](crate::blocking::Client::delete_session) | [`sessionCapabilities.delete`](crate::capabilities::AgentPeer::supports_delete_session) | request |
//! | `session/set_mode` | [`SetSessionModeRequest`](crate::schema::v1::SetSessionModeRequest) | [`on_set_mode`](crate::agent::AgentBuilder::on_set_mode) [b](crate::agent::AgentBuilder::on_set_mode_blocking), [s](crate::agent::AgentService::set_mode) | [`set_mode`](crate::Client::set_mode) [b](crate::blocking::Client::set_mode), [`Session::set_mode`](crate::client::Session::set_mode) [b](crate::blocking::Session::set_mode) |  | request |
//! | `session/set_config_option` | [`SetSessionConfigOptionRequest`](crate::schema::v1::SetSessionConfigOptionRequest) | [`on_set_config_option`](crate::agent::AgentBuilder::on_set_config_option) [b](crate::agent::AgentBuilder::on_set_config_option_blocking), [s](crate::agent::AgentService::set_config_option) | [`set_config_option`](crate::Client::set_config_option) [b](crate::blocking::Client::set_config_option), [`Session::set_config_option`](crate::client::Session::set_config_option) [b](crate::blocking::Session::set_config_option) |  | request |
//! | `session/prompt` | [`PromptRequest`](crate::schema::v1::PromptRequest) | [`on_prompt`](crate::agent::AgentBuilder::on_prompt) [b](crate::agent::AgentBuilder::on_prompt_blocking), [s](crate::agent::AgentService::prompt) | [`prompt`](crate::Client::prompt) [b](crate::blocking::Client::prompt), [`Session::prompt`](crate::client::Session::prompt) [b](crate::blocking::Session::prompt), [`Session::turn`](crate::client::Session::turn) [b](crate::blocking::Session::turn) |  | its own |
//! | `session/cancel` | [`CancelNotification`](crate::schema::v1::CancelNotification) | [`on_cancel`](crate::agent::AgentBuilder::on_cancel), [s](crate::agent::AgentService::cancel) | [`cancel`](crate::Client::cancel) [b](crate::blocking::Client::cancel), [`Session::cancel`](crate::client::Session::cancel) [b](crate::blocking::Session::cancel) |  |  |
//! | `session/close` | [`CloseSessionRequest`](crate::schema::v1::CloseSessionRequest) | [`on_close_session`](crate::agent::AgentBuilder::on_close_session) [b](crate::agent::AgentBuilder::on_close_session_blocking), [s](crate::agent::AgentService::close_session) | [`close_session`](crate::Client::close_session) [b](crate::blocking::Client::close_session), [`Session::close`](crate::client::Session::close) [b](crate::blocking::Session::close) | [`sessionCapabilities.close`](crate::capabilities::AgentPeer::supports_close_session) | request |
//!
//! `session/cancel` is also sent by a [`CancellationSignal`](crate::CancellationSignal) that was given to the prompt.
//! A prompt is limited by [`prompt_timeout`](crate::client::ClientBuilder::prompt_timeout) and [`cancel_timeout`](crate::client::ClientBuilder::cancel_timeout), both off by default.
//! What a prompt and the setup of a session may contain needs capabilities of its own, see [below](#what-is-looked-at-before-sending).
//! Modes and config options have no capability: an agent that has them says so in the answer that opens the session.
//!
//! Each of these requests can also be sent with [`Client::request`](crate::Client::request), and handled with [`on_request`](crate::agent::AgentBuilder::on_request), by its type; the exceptions are `initialize` and `session/prompt`.
//!
//! # From the agent to the client
//!
//! The client declares the capability.
//!
//! | method | type | handled with | called with | capability | time limit |
//! |---|---|---|---|---|---|
//! | `session/update` | [`SessionNotification`](crate::schema::v1::SessionNotification) | [`on_update`](crate::client::ClientBuilder::on_update) [b](crate::blocking::ClientBuilder::on_update) | [`send_update`](crate::PromptContext::send_update) [b](crate::blocking::PromptContext::send_update), [`SessionHandle::send_update`](crate::agent::SessionHandle::send_update) [b](crate::blocking::SessionHandle::send_update) |  |  |
//! | `session/request_permission` | [`RequestPermissionRequest`](crate::schema::v1::RequestPermissionRequest) | [`on_permission`](crate::client::ClientBuilder::on_permission) [b](crate::blocking::ClientBuilder::on_permission) | [`confirm`](crate::PromptContext::confirm) [b](crate::blocking::PromptContext::confirm), [`ask_permission`](crate::PromptContext::ask_permission) [b](crate::blocking::PromptContext::ask_permission), [`choose`](crate::PromptContext::choose) [b](crate::blocking::PromptContext::choose), [`request_permission`](crate::PromptContext::request_permission) [b](crate::blocking::PromptContext::request_permission) |  | none |
//! | `elicitation/create` | [`CreateElicitationRequest`](crate::schema::v1::CreateElicitationRequest) | [`on_elicitation`](crate::client::ClientBuilder::on_elicitation) [b](crate::blocking::ClientBuilder::on_elicitation) | [`request`](crate::PromptContext::request) [b](crate::blocking::PromptContext::request) | [`elicitation.form`](crate::capabilities::ClientPeer::supports_elicitation_form), [`elicitation.url`](crate::capabilities::ClientPeer::supports_elicitation_url) | none |
//! | `elicitation/complete` | [`CompleteElicitationNotification`](crate::schema::v1::CompleteElicitationNotification) | [`on_elicitation_complete`](crate::client::ClientBuilder::on_elicitation_complete) [b](crate::blocking::ClientBuilder::on_elicitation_complete) | [`notify`](crate::PromptContext::notify) [b](crate::blocking::PromptContext::notify) |  |  |
//! | `fs/read_text_file` | [`ReadTextFileRequest`](crate::schema::v1::ReadTextFileRequest) | [`on_read_text_file`](crate::client::ClientBuilder::on_read_text_file) [b](crate::blocking::ClientBuilder::on_read_text_file) | [`read_text_file`](crate::PromptContext::read_text_file) [b](crate::blocking::PromptContext::read_text_file), [`read_lines`](crate::PromptContext::read_lines) [b](crate::blocking::PromptContext::read_lines) | [`fs.readTextFile`](crate::capabilities::ClientPeer::supports_read_text_file) | request |
//! | `fs/write_text_file` | [`WriteTextFileRequest`](crate::schema::v1::WriteTextFileRequest) | [`on_write_text_file`](crate::client::ClientBuilder::on_write_text_file) [b](crate::blocking::ClientBuilder::on_write_text_file) | [`write_text_file`](crate::PromptContext::write_text_file) [b](crate::blocking::PromptContext::write_text_file) | [`fs.writeTextFile`](crate::capabilities::ClientPeer::supports_write_text_file) | request |
//! | `terminal/create` | [`CreateTerminalRequest`](crate::schema::v1::CreateTerminalRequest) | [`on_create_terminal`](crate::client::ClientBuilder::on_create_terminal) [b](crate::blocking::ClientBuilder::on_create_terminal) | [`run_command`](crate::PromptContext::run_command) [b](crate::blocking::PromptContext::run_command), [`start_command`](crate::PromptContext::start_command) [b](crate::blocking::PromptContext::start_command) | [`terminal`](crate::capabilities::ClientPeer::supports_terminal) | request |
//! | `terminal/output` | [`TerminalOutputRequest`](crate::schema::v1::TerminalOutputRequest) | [`on_terminal_output`](crate::client::ClientBuilder::on_terminal_output) [b](crate::blocking::ClientBuilder::on_terminal_output) | [`Terminal::output`](crate::agent::Terminal::output) [b](crate::blocking::Terminal::output) | [`terminal`](crate::capabilities::ClientPeer::supports_terminal) | request |
//! | `terminal/wait_for_exit` | [`WaitForTerminalExitRequest`](crate::schema::v1::WaitForTerminalExitRequest) | [`on_wait_for_terminal_exit`](crate::client::ClientBuilder::on_wait_for_terminal_exit) [b](crate::blocking::ClientBuilder::on_wait_for_terminal_exit) | [`Terminal::wait`](crate::agent::Terminal::wait) [b](crate::blocking::Terminal::wait) | [`terminal`](crate::capabilities::ClientPeer::supports_terminal) | none |
//! | `terminal/kill` | [`KillTerminalRequest`](crate::schema::v1::KillTerminalRequest) | [`on_kill_terminal`](crate::client::ClientBuilder::on_kill_terminal) [b](crate::blocking::ClientBuilder::on_kill_terminal) | [`Terminal::kill`](crate::agent::Terminal::kill) [b](crate::blocking::Terminal::kill) | [`terminal`](crate::capabilities::ClientPeer::supports_terminal) | request |
//! | `terminal/release` | [`ReleaseTerminalRequest`](crate::schema::v1::ReleaseTerminalRequest) | [`on_release_terminal`](crate::client::ClientBuilder::on_release_terminal) [b](crate::blocking::ClientBuilder::on_release_terminal) | [`Terminal::release`](crate::agent::Terminal::release) [b](crate::blocking::Terminal::release) | [`terminal`](crate::capabilities::ClientPeer::supports_terminal) | request |
//!
//! The usual updates have methods of their own, from [`send_message`](crate::PromptContext::send_message) to [`send_title`](crate::PromptContext::send_title), and so has a [tool call](crate::PromptContext::start_tool_call); see [`tools`](super::tools).
//! `session.notices`, `session.compaction` and `session.configOptions.boolean` say which updates a client understands.
//! Updates are not compared with them; ask [`supports_notices`](crate::capabilities::ClientPeer::supports_notices) and its neighbours before sending one.
//!
//! Each of these requests can also be sent with [`PromptContext::request`](crate::PromptContext::request) or [`RequestContext::request`](crate::RequestContext::request), and handled with [`on_request`](crate::client::ClientBuilder::on_request), by its type; notifications with [`notify`](crate::PromptContext::notify) and [`on_notification`](crate::client::ClientBuilder::on_notification).
//! Ready-made handlers for files and terminals are in [`sessions`](super::sessions#files-and-terminals).
//!
//! # In both directions
//!
//! | method | type | handled with | called with |
//! |---|---|---|---|
//! | `$/cancel_request` | [`CancelRequestNotification`](crate::schema::v1::CancelRequestNotification) | the connection, see [`mechanisms`](super::mechanisms#cancel_request) | dropping a [`Call`](crate::request::Call), or [`Call::cancel_when`](crate::request::Call::cancel_when) |
//!
//! # Drafts
//!
//! These are no stable part of the protocol, and can change or go with any version of the schema crate.
//! Each needs its feature, or `unstable` for all.
//! They are sent with `request` or `notify`, and handled with `on_request` or `on_notification`, by their type in [`schema::v1`](crate::schema::v1).
//! All the capabilities are the agent's.
//! A handler declares its capability as for stable methods; `mcpCapabilities.acp` alone has to be [added](crate::agent::AgentBuilder::adjust_capabilities).
//!
//! | method | type | goes to | capability | feature |
//! |---|---|---|---|---|
//! | `session/fork` | `ForkSessionRequest` | agent | `sessionCapabilities.fork` | `unstable_session_fork` |
//! | `session/archive` | `ArchiveSessionRequest` | agent | `sessionCapabilities.archive` | `unstable_session_archive` |
//! | `session/unarchive` | `UnarchiveSessionRequest` | agent | `sessionCapabilities.archive` | `unstable_session_archive` |
//! | `session/status` | `SessionStatusRequest` | agent | `sessionCapabilities.status` | `unstable_session_status` |
//! | `session/options` | `SessionOptionsRequest` | agent | `sessionCapabilities.options` | `unstable_session_options` |
//! | `session/set_title` | `SetSessionTitleRequest` | agent | `sessionCapabilities.title` | `unstable_session_set_title` |
//! | `providers/list` | `ListProvidersRequest` | agent | `providers` | `unstable_llm_providers` |
//! | `providers/set` | `SetProviderRequest` | agent | `providers` | `unstable_llm_providers` |
//! | `providers/disable` | `DisableProviderRequest` | agent | `providers` | `unstable_llm_providers` |
//! | `auth/status` | `AuthStatusRequest` | agent | `auth.status` | `unstable_auth_status` |
//! | `auth/status_update` | `AuthStatusUpdateNotification` | client | | `unstable_auth_status` |
//! | `mcp/message` | `MessageMcpRequest`, `MessageMcpNotification` | both | `mcpCapabilities.acp`, for requests to the agent | `unstable_mcp_over_acp` |
//!
//! `unstable_end_turn_token_usage` adds a field and no method.
//! `unstable_proxy_chains` adds the types of `proxy/initialize` and `proxy/successor`; this library is no proxy, and a program that is one sends and handles them raw.
//!
//! # Extensions with types
//!
//! A method of your own begins with an [underscore](https://agentclientprotocol.com/protocol/v1/extensibility#custom-methods).
//! Say once which type it has and what it is answered with, and it is sent and handled as the protocol's own methods are, with the same limits, cancellation and errors:
//!
//! ```
//! use endturn::{
//!     Agent, Client, Error,
//!     capabilities::AgentPeer,
//!     request::{Request, ToAgent},
//!     schema::{ProtocolVersion, v1::{InitializeRequest, Meta}},
//!     transport,
//! };
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Outline {
//!     path: String,
//! }
//!
//! #[derive(Serialize, Deserialize)]
//! struct Headings {
//!     headings: Vec<String>,
//! }
//!
//! impl Request for Outline {
//!     const METHOD: &'static str = "_example.com/outline";
//!     type Response = Headings;
//! }
//!
//! impl ToAgent for Outline {
//!     // Optional: what an agent has to announce before it is asked.
//!     fn check(&self, agent: &AgentPeer) -> Result<(), Error> {
//!         match &agent.capabilities().meta {
//!             Some(meta) if meta.contains_key("example.com/outline") => Ok(()),
//!             _ => Err(Error::missing_capability("_meta.example.com/outline")),
//!         }
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! let agent = Agent::builder()
//!     .adjust_capabilities(|derived| {
//!         derived.meta(Meta::from_iter([("example.com/outline".to_owned(), true.into())]))
//!     })
//!     .on_request(|outline: Outline, _cx| async move {
//!         Ok(Headings { headings: vec![format!("About {}", outline.path)] })
//!     })
//!     .build();
//! let (near, far) = transport::memory();
//! tokio::spawn(async move { agent.serve(far).await });
//! let client = Client::builder().connect(near);
//! client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//!
//! let outline = client.request(&Outline { path: "/work/README.md".into() }).await?;
//! assert_eq!(outline.headings, ["About /work/README.md"]);
//! # Ok(())
//! # }
//! ```
//!
//! The other direction has [`ToClient`](crate::request::ToClient); notifications have [`Notification`](crate::request::Notification) with [`NotifiesAgent`](crate::request::NotifiesAgent) or [`NotifiesClient`](crate::request::NotifiesClient).
//! The same type can go both ways.
//! A request that waits for a person sets [`OPEN_ENDED`](crate::request::Request::OPEN_ENDED).
//!
//! ```
//! use endturn::{
//!     Agent, Client,
//!     request::{NotifiesAgent, NotifiesClient, Notification},
//!     schema::{ProtocolVersion, v1::*},
//!     transport,
//! };
//! use serde::{Deserialize, Serialize};
//! use tokio::sync::mpsc;
//!
//! #[derive(Serialize, Deserialize)]
//! #[serde(rename_all = "camelCase")]
//! struct Progress {
//!     session_id: SessionId,
//!     percent: u8,
//! }
//!
//! impl Notification for Progress {
//!     const METHOD: &'static str = "_example.com/progress";
//! }
//! impl NotifiesClient for Progress {}
//! impl NotifiesAgent for Progress {}
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), endturn::Error> {
//! let agent = Agent::builder()
//!     .on_prompt(|request, cx| async move {
//!         cx.notify(&Progress { session_id: request.session_id, percent: 50 }).await?;
//!         Ok(PromptResponse::new(StopReason::EndTurn))
//!     })
//!     .build();
//! # let (near, far) = transport::memory();
//! # tokio::spawn(async move { agent.serve(far).await });
//! let (show, mut shown) = mpsc::unbounded_channel();
//! let client = Client::builder()
//!     .on_notification(move |progress: Progress, _client| {
//!         show.send(progress.percent).ok();
//!         async {}
//!     })
//!     .connect(near);
//! client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//! client.prompt(PromptRequest::new("session-1", vec!["Go".into()]), None).await?;
//! assert_eq!(shown.try_recv(), Ok(50));
//! # Ok(())
//! # }
//! ```
//!
//! It has arrived when the prompt returns, because a notification or a request that names a session with `sessionId` comes in order with the session's updates.
//! One that names none runs on a task of its own.
//!
//! # Extensions without types
//!
//! A raw call takes any method and anything that can be serialised; a raw handler takes the parameters as any type that can be read from them.
//! [`Value`](serde_json::Value) and [`Box<RawValue>`](serde_json::value::RawValue) are all that came.
//!
//! | | request | notification |
//! |---|---|---|
//! | agent handles | [`on_request_raw`](crate::agent::AgentBuilder::on_request_raw) | [`on_notification_raw`](crate::agent::AgentBuilder::on_notification_raw) |
//! | client calls | [`request_raw`](crate::Client::request_raw) [b](crate::blocking::Client::request_raw) | [`notify_raw`](crate::Client::notify_raw) [b](crate::blocking::Client::notify_raw) |
//! | client handles | [`on_request_raw`](crate::client::ClientBuilder::on_request_raw) [b](crate::blocking::ClientBuilder::on_request_raw) | [`on_notification_raw`](crate::client::ClientBuilder::on_notification_raw) [b](crate::blocking::ClientBuilder::on_notification_raw) |
//! | agent calls | [`request_raw`](crate::PromptContext::request_raw) [b](crate::blocking::PromptContext::request_raw) | [`notify_raw`](crate::PromptContext::notify_raw) [b](crate::blocking::PromptContext::notify_raw) |
//!
//! ```
//! use endturn::{Agent, Client, schema::{ProtocolVersion, v1::InitializeRequest}, transport};
//! use serde_json::{Value, json};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), endturn::Error> {
//! let agent = Agent::builder()
//!     .on_request_raw("_example.com/echo", |params: Value, _cx| async move { Ok(params) })
//!     .on_notification_raw("_example.com/log", |params: Value| async move { println!("{params}") })
//!     .build();
//! let (near, far) = transport::memory();
//! tokio::spawn(async move { agent.serve(far).await });
//! let client = Client::builder().connect(near);
//! client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//!
//! client.notify_raw("_example.com/log", &json!({"level": "info"})).await?;
//! let echo: Value = client.request_raw("_example.com/echo", &json!({"a": [1, 2]})).await?;
//! assert_eq!(echo, json!({"a": [1, 2]}));
//!
//! let error = client.request_raw::<Value>("_example.com/other", &json!({})).await.unwrap_err();
//! assert!(error.is_capability());
//! assert_eq!(error.data(), Some(&json!({"method": "_example.com/other"})));
//! # Ok(())
//! # }
//! ```
//!
//! A raw call is not compared with what the peer offers, and the request timeout applies to it whatever its method is.
//! Do not send `session/prompt` raw: it would be a request like any other, and the client would know nothing of its turn.
//! An agent has no raw handlers for `initialize`, `session/prompt` and `session/close`, since the connection has a part of its own in these.
//! A notification that nobody handles is ignored, as [JSON-RPC](https://www.jsonrpc.org/specification#notification) wants.
//!
//! # What a newer peer may send
//!
//! The types of this library are of one version of the protocol, and peers are of others.
//! What they do not know is never an error of the connection, and never lost to a program that asks for it:
//!
//! | what is unknown | what the types show | how to reach it |
//! |---|---|---|
//! | a method | | a raw handler; without one a request is answered `-32601`, and a notification is ignored |
//! | a field | nothing | a raw call or a raw handler with [`Value`](serde_json::Value) |
//! | a key in `_meta` | it | the field `meta` of nearly every type |
//! | a kind of update, or of content in one | nothing, the update is skipped and logged | [`on_unknown_update`](crate::client::ClientBuilder::on_unknown_update) |
//! | an entry of a list | most lists, without the entry | as for a field |
//! | a value of an enumeration | most have `Other` or a default | as for a field |
//! | a stop reason, the kind of a permission option, the outcome of a permission request | a known one that promises least | [`UNKNOWN_VALUES`](crate::UNKNOWN_VALUES) in `meta` |
//! | a code of an error | [`ErrorCode::Other`](crate::schema::v1::ErrorCode::Other) | [`Error::code`](crate::Error::code) |
//!
//! Two handlers see what the protocol's own notifications carried, as it came, without taking the place of the typed handlers: [`on_notification_raw`](crate::client::ClientBuilder::on_notification_raw) for `session/update` at a client, and [the agent's](crate::agent::AgentBuilder::on_notification_raw) for `session/cancel`.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//! use endturn::{Client, UNKNOWN_VALUES, schema::{ProtocolVersion, v1::*}};
//! use endturn_testkit::RawPeer;
//! use serde_json::{Value, json};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let seen = Arc::new(Mutex::new(Vec::new()));
//! let (all, unknown) = (Arc::clone(&seen), Arc::clone(&seen));
//! let (mut agent, transport) = RawPeer::pair();
//! let client = Client::builder()
//!     .on_notification_raw("session/update", move |params: Value, _client| {
//!         all.lock().unwrap().push(format!("tap: {}", params["update"]["sessionUpdate"]));
//!         async {}
//!     })
//!     .on_unknown_update(move |unread, _client| {
//!         let update: Value = serde_json::from_str(unread.update.get()).unwrap();
//!         unknown.lock().unwrap().push(format!("unknown: {}", update["of"]));
//!         async {}
//!     })
//!     .connect(transport);
//! let hello = client.initialize(InitializeRequest::new(ProtocolVersion::V1));
//! let (hello, _) = tokio::join!(hello, agent.accept_initialize());
//! hello.unwrap();
//!
//! let turn = client.prompt(PromptRequest::new("s", vec!["Go".into()]), None);
//! let newer_agent = async {
//!     let id = agent.receive().await["id"].clone();
//!     agent.send(json!({"jsonrpc": "2.0", "method": "session/update", "params": {
//!         "sessionId": "s", "update": {"sessionUpdate": "smell", "of": "coffee"},
//!     }})).await;
//!     agent.send(json!({"jsonrpc": "2.0", "id": id, "result": {"stopReason": "paused"}})).await;
//! };
//! let (answer, ()) = tokio::join!(turn, newer_agent);
//!
//! let answer = answer.unwrap();
//! assert_eq!(answer.stop_reason, StopReason::EndTurn);
//! assert_eq!(answer.meta.unwrap()[UNKNOWN_VALUES], json!({"stopReason": "paused"}));
//! assert_eq!(*seen.lock().unwrap(), [r#"tap: "smell""#, r#"unknown: "coffee""#]);
//! # }
//! ```
//!
//! A kind of permission option that is not known counts as `reject_once`, so that a program that chooses by kind allows nothing.
//! All of this is policy of this SDK.
//!
//! # What is looked at before sending
//!
//! A typed call looks at its request before anything is sent, and fails at once if the peer would have to refuse it:
//!
//! | what | fails as |
//! |---|---|
//! | there is no answer to `initialize` yet | [`NotInitialized`](crate::ErrorKind::NotInitialized) |
//! | the peer does not declare the capability of the method | [`MissingCapability`](crate::ErrorKind::MissingCapability) |
//! | a prompt has an image, audio or an embedded resource, and the agent does not declare `promptCapabilities.image`, `.audio` or `.embeddedContext` | `MissingCapability` |
//! | a session is set up with an MCP server over HTTP or SSE, with additional directories or with a system prompt, and the agent does not declare `mcpCapabilities.http`, `.sse`, `sessionCapabilities.additionalDirectories` or `.systemPrompt` | `MissingCapability` |
//! | an elicitation is a form or a web page, and the client does not declare `elicitation.form` or `.url` | `MissingCapability` |
//! | a path is relative: `cwd`, `additionalDirectories`, or that of a file | [`InvalidInput`](crate::ErrorKind::InvalidInput) |
//! | a file is to be read from line 0 on | `InvalidInput` |
//! | a request to initialize names another version than 1 | `InvalidInput` |
//! | the session has a turn already (prompts only) | [`Busy`](crate::ErrorKind::Busy) |
//! | the request cannot be written as JSON | `InvalidInput` |
//!
//! The paths of both kinds of system count as absolute, since the peer may run on the other one.
//! A raw call is looked at for the first and the last line only: it is the way to a peer that has more than it says.
//!
//! ```
//! use endturn::{Agent, Client, ErrorKind, schema::{ProtocolVersion, v1::*}, transport};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), endturn::Error> {
//! let agent = Agent::builder().build();
//! let (near, far) = transport::memory();
//! tokio::spawn(async move { agent.serve(far).await });
//! let client = Client::builder().connect(near);
//!
//! let error = client.new_session(NewSessionRequest::new("/work")).await.unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::NotInitialized);
//! client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//!
//! let error = client.list_sessions(ListSessionsRequest::new()).await.unwrap_err();
//! assert_eq!(error.capability(), Some("sessionCapabilities.list"));
//! let error = client.new_session(NewSessionRequest::new("work")).await.unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::InvalidInput);
//!
//! // Sent, and refused by the agent.
//! let request = ListSessionsRequest::new();
//! let error = client.request_raw::<ListSessionsResponse>("session/list", &request).await.unwrap_err();
//! assert_eq!(error.code(), Some(-32601));
//! # Ok(())
//! # }
//! ```
//!
//! That it is checked on this side is policy of this SDK; that it must not be sent is [protocol](https://agentclientprotocol.com/protocol/v1/initialization#capabilities).
