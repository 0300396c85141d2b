//! What an agent does with its client's files and terminals, how it asks its user, and how it shows what it does.
//!
//! All of this hangs on the context of the turn.
//! What is asked belongs to the turn: it is [cancelled with it](super::questions#what-a-turn-asks-does-not-outlive-it), and fails once the turn is over.
//! The context of a [blocking](crate::blocking::PromptContext) handler has the same methods.
//! A handler of another request has [`request`](crate::RequestContext::request) for them.
//!
//! | to | use |
//! |---|---|
//! | say something | [`send_message`](crate::PromptContext::send_message), [`send_thought`](crate::PromptContext::send_thought) |
//! | show a plan, commands, a mode, options, usage, a title | [`send_plan`](crate::PromptContext::send_plan), [`send_commands`](crate::PromptContext::send_commands), [`send_mode`](crate::PromptContext::send_mode), [`send_config_options`](crate::PromptContext::send_config_options), [`send_usage`](crate::PromptContext::send_usage), [`send_title`](crate::PromptContext::send_title) |
//! | show any other update | [`send_update`](crate::PromptContext::send_update) |
//! | show what a tool does | [`start_tool_call`](crate::PromptContext::start_tool_call) |
//! | ask whether it may be done | [`confirm`](crate::PromptContext::confirm), [`ask_permission`](crate::PromptContext::ask_permission), [`choose`](crate::PromptContext::choose) |
//! | read and write the user's files | [`read_text_file`](crate::PromptContext::read_text_file), [`read_lines`](crate::PromptContext::read_lines), [`write_text_file`](crate::PromptContext::write_text_file) |
//! | run a command at the user's | [`run_command`](crate::PromptContext::run_command), [`start_command`](crate::PromptContext::start_command) |
//! | say something when no turn is running | [`session`](crate::PromptContext::session) |
//!
//! One agent that uses most of them, and a client that serves them from its own machine:
//!
//! ```
//! use endturn::{Agent, Client, agent::TerminalCommand, client::{LocalFiles, LocalTerminals, Session}};
//! use endturn::schema::{ProtocolVersion, v1::*};
//! use endturn::transport;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let agent = Agent::builder()
//!     .on_new_session(|_request, _cx| async { Ok(NewSessionResponse::new("session-1")) })
//!     .on_prompt(|request, cx| async move {
//!         let ContentBlock::Text(path) = &request.prompt[0] else {
//!             return Err(Error::invalid_params())?;
//!         };
//!         let text = cx.read_text_file(&path.text).await?;
//!
//!         let edit = ToolCall::new("edit-1", "Say hello").kind(ToolKind::Edit);
//!         if cx.confirm(edit.clone()).await?.is_allowed() {
//!             let edit = cx.start_tool_call(edit).await?;
//!             edit.run(cx.write_text_file(&path.text, text + "Hello.\n")).await?;
//!         }
//!
//!         let shown = cx.run_command(TerminalCommand::new("cargo").args(["--version"])).await?;
//!         cx.send_message(format!("Done, with {}", shown.output)).await?;
//!         Ok(PromptResponse::new(StopReason::EndTurn))
//!     })
//!     .build();
//! let (near, far) = transport::memory();
//! tokio::spawn(async move { agent.serve(far).await });
//!
//! let work = tempfile::tempdir()?;
//! let path = work.path().join("letter.txt");
//! std::fs::write(&path, "Dear all,\n")?;
//! let client = Client::builder()
//!     .files(LocalFiles::new(work.path())?)
//!     .terminals(LocalTerminals::new().root(work.path())?)
//!     .on_permission(|request, _client| async move {
//!         let yes = request.options.into_iter().find(|it| it.kind == PermissionOptionKind::AllowOnce);
//!         let yes = SelectedPermissionOutcome::new(yes.unwrap().option_id);
//!         Ok(RequestPermissionResponse::new(RequestPermissionOutcome::Selected(yes)))
//!     })
//!     .connect(near);
//! client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
//! let session = Session::open(&client, NewSessionRequest::new(work.path())).await?;
//! session.prompt(path.to_str().unwrap(), None).await?;
//! assert_eq!(std::fs::read_to_string(path)?, "Dear all,\nHello.\n");
//! # Ok(())
//! # }
//! ```
//!
//! # Files
//!
//! The client's files are what its user sees, with what the editor has not saved; the same file on the disk may be older, or be on another machine.
//! Paths are absolute.
//! `write_text_file` replaces all of a file.
//!
//! ```
//! # use endturn::{HandlerResult, PromptContext};
//! # async fn handler(cx: PromptContext) -> HandlerResult<()> {
//! let all = cx.read_text_file("/work/src/main.rs").await?;
//! let head = cx.read_lines("/work/src/main.rs", 1, 20).await?; // lines count from 1
//! cx.write_text_file("/work/src/main.rs", all.replace("foo", "bar")).await?;
//! # drop(head);
//! # Ok(())
//! # }
//! ```
//!
//! A file that is not there is an error of the client; with this library's client its [code](crate::Error::code) is `-32002`.
//!
//! # Terminals
//!
//! [`run_command`](crate::PromptContext::run_command) waits for the end of a command and gives what it wrote.
//! It has no limit but the command's [`timeout`](crate::agent::TerminalCommand::timeout), off by default, and the end of the turn.
//! When the turn is cancelled, the command is ended and the call fails as [cancelled](crate::Error::is_cancelled).
//!
//! ```
//! # use endturn::{HandlerResult, PromptContext};
//! use std::time::Duration;
//! use endturn::agent::TerminalCommand;
//!
//! # async fn handler(cx: PromptContext) -> HandlerResult<()> {
//! let tests = TerminalCommand::new("cargo")
//!     .args(["test", "--workspace"])
//!     .env("RUST_BACKTRACE", "1")
//!     .cwd("/work")
//!     .output_byte_limit(64 * 1024) // the last ones
//!     .timeout(Duration::from_secs(600));
//! let tests = cx.run_command(tests).await?;
//! if tests.success() {
//!     cx.send_message("The tests pass.").await?;
//! } else if tests.timed_out {
//!     cx.send_message("The tests take too long.").await?;
//! } else {
//!     cx.send_message(format!("The tests fail:\n{}", tests.output)).await?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`start_command`](crate::PromptContext::start_command) gives the [`Terminal`](crate::agent::Terminal), for a command that the user watches, or that goes on beside other work.
//! Dropping it releases it, which ends the command; so no early return leaves one running.
//! That holds even if the turn ends while the client is still starting the command.
//!
//! ```
//! # use endturn::{HandlerResult, PromptContext, schema::v1};
//! use endturn::agent::TerminalCommand;
//! use endturn::schema::v1::{ToolCall, ToolCallContent, ToolCallUpdateFields, ToolKind};
//!
//! # async fn handler(cx: PromptContext) -> HandlerResult<()> {
//! let build = ToolCall::new("build-1", "Build").kind(ToolKind::Execute);
//! let call = cx.start_tool_call(build).await?;
//! let terminal = cx.start_command(TerminalCommand::new("make")).await?;
//! let content = ToolCallContent::Terminal(v1::Terminal::new(terminal.id().clone()));
//! call.update(ToolCallUpdateFields::new().content(vec![content])).await?; // shown live
//! call.begin().await?;
//! let exit = terminal.wait().await?;
//! if exit.exit_code == Some(0) {
//!     call.complete(ToolCallUpdateFields::new()).await?;
//! } else {
//!     call.fail(ToolCallUpdateFields::new()).await?;
//! }
//! let written = terminal.output().await?.output;
//! terminal.release().await?; // the client goes on showing it
//! # drop(written);
//! # Ok(())
//! # }
//! ```
//!
//! Where nothing else is to be done meanwhile, `call.run(terminal.finish()).await?` stands for all that comes after the update: [`finish`](crate::agent::Terminal::finish) waits, with the command's limit, and releases, as `run_command` does.
//!
//! # Permissions
//!
//! A permission request is a question about a tool call.
//! It waits as long as the person needs, and ends with the turn: a [`Decision`](crate::agent::Decision) that is [`Cancelled`](crate::agent::Decision::Cancelled) is neither yes nor no.
//!
//! | | offers | gives |
//! |---|---|---|
//! | [`confirm`](crate::PromptContext::confirm) | allow, reject | a [`Decision`](crate::agent::Decision) |
//! | [`ask_permission`](crate::PromptContext::ask_permission) | allow, always allow, reject, always reject | a [`Decision`](crate::agent::Decision); the agent remembers those that [hold always](crate::agent::Decision::is_always) |
//! | [`choose`](crate::PromptContext::choose) | what it is given | the option, or `None` when there was no choice, because the turn was cancelled for example |
//! | [`request_permission`](crate::PromptContext::request_permission) | what it is given | the client's answer as it came |
//!
//! ```
//! # use endturn::{HandlerResult, PromptContext};
//! use endturn::agent::Decision;
//! use endturn::schema::v1::{PermissionOption, PermissionOptionKind, ToolCallUpdate, ToolCallUpdateFields};
//!
//! # async fn handler(cx: PromptContext) -> HandlerResult<()> {
//! let fields = ToolCallUpdateFields::new().title("Push to main".to_owned());
//! let call = ToolCallUpdate::new("push-1", fields);
//! match cx.ask_permission(call.clone()).await? {
//!     Decision::AllowedOnce | Decision::AllowedAlways => cx.send_message("Pushing.").await?,
//!     Decision::RejectedOnce | Decision::RejectedAlways => cx.send_message("Left alone.").await?,
//!     Decision::Cancelled => return Ok(()),
//! }
//!
//! let options = vec![
//!     PermissionOption::new("merge", "Merge", PermissionOptionKind::AllowOnce),
//!     PermissionOption::new("rebase", "Rebase", PermissionOptionKind::AllowOnce),
//! ];
//! if let Some(way) = cx.choose(call, options).await? {
//!     cx.send_message(format!("{} it is.", way.name)).await?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! What a user should fill in, or do on a web page, is an [elicitation](https://agentclientprotocol.com/protocol/v1/elicitation), sent with [`request`](crate::PromptContext::request) and a [`CreateElicitationRequest`](crate::schema::v1::CreateElicitationRequest).
//! How a client answers open questions when a turn is cancelled is in [`questions`](super::questions).
//!
//! # Tool calls
//!
//! A [`ToolCallHandle`](crate::agent::ToolCallHandle) shows one tool call from its beginning to its end: pending, in progress, completed or failed.
//! [`run`](crate::agent::ToolCallHandle::run) does all of it around one future.
//! One that is dropped before its end is shown as failed, so none is left spinning when `?` leaves the handler or the turn is cancelled.
//!
//! ```
//! # use endturn::{HandlerResult, PromptContext};
//! use endturn::schema::v1::{Diff, ToolCall, ToolCallContent, ToolCallUpdateFields, ToolKind};
//!
//! # async fn handler(cx: PromptContext) -> HandlerResult<()> {
//! let call = ToolCall::new("edit-7", "Rename the module").kind(ToolKind::Edit);
//! let call = cx.start_tool_call(call).await?;
//! call.begin().await?;
//! let diff = Diff::new("/work/src/lib.rs", "mod b;\n").old_text("mod a;\n".to_owned());
//! let content = vec![ToolCallContent::Diff(diff)];
//! call.complete(ToolCallUpdateFields::new().content(content)).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # What belongs to no turn
//!
//! The history of a session that is loaded, the commands of a new one, a title that was found later: a [`SessionHandle`](crate::agent::SessionHandle) sends updates of a session whether it has a turn or not.
//! It comes from [`RequestContext::session`](crate::RequestContext::session) and [`PromptContext::session`](crate::PromptContext::session), and holds as long as the connection.
//! What belongs to a turn should go through its context, which keeps it from coming after the answer.
//!
//! ```
//! use endturn::{Agent, schema::v1::{AvailableCommand, NewSessionResponse}};
//!
//! let agent = Agent::builder().on_new_session(|_request, cx| async move {
//!     let session = cx.session("session-1");
//!     session.send_commands(vec![AvailableCommand::new("test", "Run the tests")]).await?;
//!     Ok(NewSessionResponse::new("session-1"))
//! });
//! ```
//!
//! An update that is sent in a handler goes out before the handler's answer, so the client reads it before it knows the id of a new session.
//! Clients of this library take it all the same.
