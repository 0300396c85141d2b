//! Commands in the client's terminals.

use std::{fmt, path::PathBuf, time::Duration};

use tokio::{sync::oneshot, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{PromptContext, side::AgentSide};
use crate::{
    connection::Connection,
    error::{Error, ErrorOrigin},
    request::{Call, Request, ToClient as _, limit_of, write},
    schema::v1::{
        CreateTerminalRequest, EnvVariable, KillTerminalRequest, ReleaseTerminalRequest, SessionId,
        TerminalExitStatus, TerminalId, TerminalOutputRequest, TerminalOutputResponse,
        WaitForTerminalExitRequest,
    },
};

/// A command to run in a terminal of the client.
///
/// ```
/// use std::time::Duration;
///
/// use endturn::agent::TerminalCommand;
///
/// let command = TerminalCommand::new("cargo")
///     .args(["test", "--workspace"])
///     .env("RUST_BACKTRACE", "1")
///     .cwd("/work/project")
///     .output_byte_limit(64 * 1024)
///     .timeout(Duration::from_secs(10 * 60));
/// ```
///
/// Source: [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct TerminalCommand {
    command: String,
    args: Vec<String>,
    env: Vec<EnvVariable>,
    cwd: Option<PathBuf>,
    output_byte_limit: Option<u64>,
    timeout: Duration,
}

impl TerminalCommand {
    /// A program, by its name or path.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
            output_byte_limit: None,
            timeout: Duration::ZERO,
        }
    }

    /// Adds arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Adds a variable to the client's environment.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push(EnvVariable::new(name, value));
        self
    }

    /// The directory to run in, an absolute path; by default the client chooses it, and most take the session's.
    pub fn cwd(mut self, dir: impl Into<PathBuf>) -> Self {
        self.cwd = Some(dir.into());
        self
    }

    /// How many bytes of output the client keeps, the last ones; by default it is the client's own limit.
    pub fn output_byte_limit(mut self, bytes: u64) -> Self {
        self.output_byte_limit = Some(bytes);
        self
    }

    /// How long the command may run before it is killed, by [`run_command`](PromptContext::run_command) or [`finish`](Terminal::finish); zero, the default, is for ever.
    ///
    /// It is off by default because a long build is not a fault.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    fn request(&self, session: SessionId) -> CreateTerminalRequest {
        CreateTerminalRequest::new(session, self.command.clone())
            .args(self.args.clone())
            .env(self.env.clone())
            .cwd(self.cwd.clone())
            .output_byte_limit(self.output_byte_limit)
    }
}

/// What came of a command; from [`PromptContext::run_command`].
///
/// ```
/// # use endturn::{HandlerResult, PromptContext, agent::TerminalCommand};
/// # async fn handler(cx: PromptContext) -> HandlerResult<()> {
/// let tests = cx.run_command(TerminalCommand::new("make").args(["test"])).await?;
/// if !tests.success() {
///     cx.send_message(format!("The tests fail:\n{}", tests.output)).await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CommandOutput {
    /// What it wrote, to its standard output and its standard error.
    pub output: String,
    /// Whether the client kept only the end of it.
    pub truncated: bool,
    /// How it ended; `None` if the client does not know.
    pub exit_status: Option<TerminalExitStatus>,
    /// Whether it was killed because its [time](TerminalCommand::timeout) was up.
    pub timed_out: bool,
}

impl CommandOutput {
    /// Whether it ended by itself with exit code 0.
    #[must_use]
    pub fn success(&self) -> bool {
        let code = self.exit_status.as_ref().and_then(|exit| exit.exit_code);
        !self.timed_out && code == Some(0)
    }
}

impl PromptContext {
    /// Runs a command to its end, and gives what it wrote.
    ///
    /// When its time is up it is killed, and what it wrote until then is given.
    /// When the turn is cancelled it is killed too, and the call fails with an error that [says so](Error::is_cancelled).
    /// The terminal is released in any case, also when this future is dropped.
    ///
    /// To show the user a command while it runs, [start](Self::start_command) it, put its [id](Terminal::id) into the content of a tool call, and [finish](Terminal::finish) it.
    ///
    /// ```
    /// # use endturn::{HandlerResult, PromptContext, agent::TerminalCommand};
    /// # async fn handler(cx: PromptContext) -> HandlerResult<()> {
    /// use std::time::Duration;
    ///
    /// let command = TerminalCommand::new("git").args(["fetch"]).timeout(Duration::from_secs(60));
    /// let fetched = cx.run_command(command).await?;
    /// if fetched.timed_out {
    ///     cx.send_message("The server does not answer.").await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the directory is a relative path or the client does not offer terminals; then nothing is sent.
    /// If the client answers with an error, for a program that is not there for example, or does not start the command in [time](super::AgentBuilder::request_timeout); if the turn is cancelled or ends, or the connection is lost.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future releases the terminal, which ends the command.
    pub async fn run_command(&self, command: TerminalCommand) -> Result<CommandOutput, Error> {
        let terminal = tokio::select! {
            biased;
            () = self.cancelled() => return Err(Error::turn_over(true)),
            started = self.start_command(command) => started?,
        };
        terminal.finish().await
    }

    /// Starts a command in a terminal of the client, and does not wait for its end.
    ///
    /// # Errors
    ///
    /// As for [`run_command`](Self::run_command), except that a `session/cancel` alone is none: a handler that cleans up may still start a command.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped while the client starts the command, the client is sent one `$/cancel_request`, and a terminal that it names all the same is released at once.
    /// So it is when the client takes longer than a request [may](super::AgentBuilder::request_timeout).
    pub async fn start_command(&self, command: TerminalCommand) -> Result<Terminal, Error> {
        let session = self.session_id().clone();
        let connection = self.connection().clone();
        let request = command.request(session.clone());
        let params = connection
            .peer()
            .and_then(|client| request.check(&client))
            .and_then(|()| write(CreateTerminalRequest::METHOD, &request))?;
        self.ensure_open()?;

        let limit = connection.side().handlers.request_timeout;
        let limit = limit_of::<CreateTerminalRequest>(limit);
        // On a task of its own, not on behalf of the turn and without a limit: whatever becomes of those, somebody has to learn which terminal there is to be released.
        let stop = CancellationToken::new();
        let create = Call::new(
            &connection,
            CreateTerminalRequest::METHOD.into(),
            Ok(params),
            Duration::ZERO,
            None,
        )
        .cancel_when(&stop.clone().into());
        let (sender, created) = oneshot::channel();
        let (cx, timeout) = (self.clone(), command.timeout);
        tokio::spawn(async move {
            let terminal =
                create
                    .await
                    .map(
                        |response: <CreateTerminalRequest as Request>::Response| Terminal {
                            cx,
                            id: response.terminal_id,
                            timeout,
                            released: false,
                        },
                    );
            // If nobody waits for it any more, dropping it here releases it.
            drop(sender.send(terminal));
        });
        // The client is asked to stop when nobody waits for it any more.
        let _stop = stop.drop_guard();
        let created = tokio::select! {
            biased;
            created = within(limit, created) => created,
            over = self.over() => return Err(over),
        };
        match created {
            Some(Ok(terminal)) => terminal,
            Some(Err(_)) => Err(Error::turn_over(self.is_cancelled())),
            None => Err(Error::timeout(CreateTerminalRequest::METHOD, limit)),
        }
    }
}

/// A terminal of the client in which a command runs or has run; from [`PromptContext::start_command`].
///
/// Dropping it releases it, whatever has become of its turn: the command is killed if it still runs, and the client forgets its output.
///
/// ```
/// # use endturn::{HandlerResult, PromptContext, agent::TerminalCommand};
/// # async fn handler(cx: PromptContext) -> HandlerResult<()> {
/// let server = cx.start_command(TerminalCommand::new("make").args(["serve"])).await?;
/// cx.send_message(format!("It runs in {}.", server.id())).await?;
/// println!("{}", server.output().await?.output); // so far
/// server.kill().await?;
/// println!("{:?}", server.wait().await?.signal);
/// server.release().await?;
/// # Ok(())
/// # }
/// ```
///
/// Source: [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
pub struct Terminal {
    cx: PromptContext,
    id: TerminalId,
    /// How long the command may run; zero is for ever.
    timeout: Duration,
    released: bool,
}

impl Terminal {
    /// The terminal's id; the [content](crate::schema::v1::ToolCallContent::Terminal) of a tool call that names it shows the terminal to the user.
    #[must_use]
    pub fn id(&self) -> &TerminalId {
        &self.id
    }

    /// Carries the command to its end, releases the terminal, and gives what was written.
    ///
    /// It is [`run_command`](PromptContext::run_command) from here on: when the command's [time](TerminalCommand::timeout), counted from now, is up, it is killed, and what it wrote until then is given; when the turn is cancelled, the terminal is released and the call fails with an error that [says so](Error::is_cancelled).
    ///
    /// ```
    /// # use endturn::{HandlerResult, PromptContext, agent::TerminalCommand, schema::v1::{self, *}};
    /// # async fn handler(cx: PromptContext) -> HandlerResult<()> {
    /// let call = cx.start_tool_call(ToolCall::new("call-1", "Run the tests")).await?;
    /// let terminal = cx.start_command(TerminalCommand::new("cargo").args(["test"])).await?;
    /// let shown = v1::Terminal::new(terminal.id().clone());
    /// let fields = ToolCallUpdateFields::new().content(vec![ToolCallContent::Terminal(shown)]);
    /// call.update(fields).await?;
    /// let output = call.run(terminal.finish()).await?;
    /// # drop(output);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the client answers with an error, the turn is cancelled or ends, or the connection is lost.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future releases the terminal, which ends the command.
    pub async fn finish(self) -> Result<CommandOutput, Error> {
        let waited = tokio::select! {
            biased;
            // The release kills it.
            () = self.cx.cancelled() => return Err(Error::turn_over(true)),
            waited = within(self.timeout, self.wait()) => waited,
        };
        let timed_out = waited.is_none();
        if timed_out {
            match self.kill().await {
                // A client that cannot kill it, because it has just ended for example, still has its output.
                Err(error) if error.protocol().is_none() => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        let exit_status = waited.transpose()?;
        let written = self.output().await?;
        self.release().await?;
        Ok(CommandOutput {
            output: written.output,
            truncated: written.truncated,
            exit_status: exit_status.or(written.exit_status),
            timed_out,
        })
    }

    /// What the command has written so far, and how it ended if it has.
    ///
    /// # Errors
    ///
    /// If the client answers with an error or not in time, the turn ends, or the connection is lost.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future sends the client one `$/cancel_request`, unless it has answered.
    pub async fn output(&self) -> Result<TerminalOutputResponse, Error> {
        let request = TerminalOutputRequest::new(self.session(), self.id.clone());
        self.cx.request(&request).await
    }

    /// Waits for the end of the command, however long it takes.
    ///
    /// # Errors
    ///
    /// As for [`output`](Self::output).
    ///
    /// # Cancel safety
    ///
    /// As for [`output`](Self::output); the command goes on.
    pub async fn wait(&self) -> Result<TerminalExitStatus, Error> {
        let request = WaitForTerminalExitRequest::new(self.session(), self.id.clone());
        Ok(self.cx.request(&request).await?.exit_status)
    }

    /// Kills the command; its output is still there.
    ///
    /// # Errors
    ///
    /// As for [`output`](Self::output).
    ///
    /// # Cancel safety
    ///
    /// As for [`output`](Self::output).
    pub async fn kill(&self) -> Result<(), Error> {
        let request = KillTerminalRequest::new(self.session(), self.id.clone());
        self.cx.request(&request).await.map(drop)
    }

    /// Releases the terminal, and waits until the client has done it.
    ///
    /// # Errors
    ///
    /// As for [`output`](Self::output).
    ///
    /// # Cancel safety
    ///
    /// Once it was polled, the terminal is released whether the future is dropped or not.
    pub async fn release(mut self) -> Result<(), Error> {
        let request = ReleaseTerminalRequest::new(self.session(), self.id.clone());
        let released = self.cx.request(&request).await;
        // If it could not be sent or was called off, dropping this says it once more; a client that has done it already does not mind.
        self.released = match &released {
            Ok(_) => true,
            Err(error) => error.origin() == ErrorOrigin::Peer && !error.is_cancelled(),
        };
        released.map(drop)
    }

    fn session(&self) -> SessionId {
        self.cx.session_id().clone()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if !self.released {
            release(self.cx.connection(), &self.session(), &self.id);
        }
    }
}

/// Has the client release a terminal without waiting for its answer.
fn release(connection: &Connection<AgentSide>, session: &SessionId, terminal: &TerminalId) {
    let request = ReleaseTerminalRequest::new(session.clone(), terminal.clone());
    let Ok(params) = write(ReleaseTerminalRequest::METHOD, &request) else {
        return;
    };
    connection.apply(|state, _| {
        let id = state.calls.next_id();
        // Nobody waits for the answer, so it is discarded when it comes.
        let written = state
            .outbox
            .request(id, ReleaseTerminalRequest::METHOD, &params);
        debug_assert!(written.is_ok(), "a method's name always serialises");
    });
}

/// Waits so long; zero is for ever.
async fn within<F: Future>(limit: Duration, future: F) -> Option<F::Output> {
    if limit.is_zero() {
        return Some(future.await);
    }
    timeout(limit, future).await.ok()
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
