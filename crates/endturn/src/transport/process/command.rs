//! What to start, and how.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use super::AgentProcess;
use super::stderr::{self, Tail};
use super::stdin;
use super::stdout::Reader;
use super::supervisor::{Supervisor, Timeouts};
use super::tree::Tree;
use crate::transport::Transport;

/// How long an agent may take to exit, first after the end of its input and then after TERM.
///
/// Two seconds are enough to write a session to disk, also on a slow one, and the two together are
/// about as long as somebody waits for a window to close.
const TIMEOUT: Duration = Duration::from_secs(2);

/// An agent to start as a child process.
///
/// A builder like [`std::process::Command`], for a program that speaks ACP on its standard input
/// and output. It can be cloned and spawned any number of times: restarting an agent is a second
/// `spawn`.
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
/// use endturn::transport::{AgentCommand, Stderr};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let (agent, transport) = AgentCommand::new("npx")
///     .args(["--yes", "some-agent"])
///     .env("SOME_AGENT_LOG", "debug")
///     .current_dir("/home/me/project")
///     .stderr(Stderr::Capture)
///     // This one uploads its session when it goes.
///     .exit_timeout(Duration::from_secs(10))
///     .spawn()?;
/// # drop((agent, transport));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a command does nothing until it is spawned"]
pub struct AgentCommand {
    program: OsString,
    args: Vec<OsString>,
    /// In the order of the calls; without a value the variable is removed.
    env: Vec<(OsString, Option<OsString>)>,
    current_dir: Option<PathBuf>,
    stderr: Stderr,
    timeouts: Timeouts,
}

/// Where the agent's standard error goes.
///
/// ACP leaves standard error to the agent, for its log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stderr {
    /// To this program's own standard error.
    ///
    /// The default, as everywhere in the standard library: nothing an agent has to say is lost.
    #[default]
    Inherit,
    /// To memory, of which [`AgentProcess::stderr_tail`] returns the last 8 KiB.
    Capture,
    /// Nowhere.
    Discard,
}

impl AgentCommand {
    /// An agent that is started by running `program`.
    ///
    /// A name without a slash is looked up in `PATH`. On Windows a script needs its extension
    /// (`npx.cmd`).
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            current_dir: None,
            stderr: Stderr::default(),
            timeouts: Timeouts {
                exit: TIMEOUT,
                terminate: TIMEOUT,
            },
        }
    }

    /// Adds an argument. No shell is involved, so nothing needs quoting.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds several arguments.
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable. The agent inherits all the others from this program.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), Some(value.into())));
        self
    }

    /// Keeps an environment variable from the agent.
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.env.push((name.into(), None));
        self
    }

    /// Starts the agent in this directory. By default it starts in this program's own.
    ///
    /// ACP gives each session a working directory, so this one matters only to the agent itself.
    /// With a relative path to the program it is not defined which directory that counts from.
    pub fn current_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.current_dir = Some(dir.into());
        self
    }

    /// Says where the agent's standard error goes. The default is [`Stderr::Inherit`].
    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = stderr;
        self
    }

    /// How long [`AgentProcess::stop`] waits after the end of input before it sends TERM.
    ///
    /// The default is 2 s: enough to write a session to disk, and short enough for somebody who
    /// closes a window. Zero sends TERM at once.
    pub fn exit_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.exit = timeout;
        self
    }

    /// How long the agent's process group has after TERM before it gets KILL.
    ///
    /// The default is 2 s, for the reason given for [`exit_timeout`](Self::exit_timeout). Zero sends
    /// KILL at once. It holds for `stop`, and for what a launcher leaves behind when it exits by
    /// itself.
    pub fn terminate_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.terminate = timeout;
        self
    }

    /// Starts the agent.
    ///
    /// The child leads a process group of its own, so that a Ctrl-C in the terminal reaches this
    /// program and not the agent: when to stop it is decided here. For the same reason it cannot
    /// read from the terminal.
    ///
    /// The transport leads to the agent's standard input and output. Dropping its writer, or
    /// shutting it down, is the end of input for the agent; the process goes on until it exits or
    /// the [`AgentProcess`] ends it.
    ///
    /// # Errors
    ///
    /// If the program cannot be started. The message names it ("cannot start `npx`: No such file or
    /// directory") and the kind is the system's, so [`NotFound`](io::ErrorKind::NotFound) is a
    /// program that is not installed, or a missing [`current_dir`](Self::current_dir). Also if
    /// called outside a tokio runtime.
    ///
    /// # Panics
    ///
    /// If the runtime was built without [`enable_all`](tokio::runtime::Builder::enable_all).
    pub fn spawn(&self) -> io::Result<(AgentProcess, Transport)> {
        let runtime = tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
        let mut tree = Tree::start(self.command()).map_err(|error| self.describe(error))?;
        let id = tree.id();
        let killer = tree.killer();

        let (stdin, stdout, stderr) = tree.take_pipes();
        let missing = || io::Error::other("the agent was started without its pipes");
        let (writer, input) = stdin::closable(stdin.ok_or_else(missing)?);
        let output = CancellationToken::new();
        let reader = Reader::new(stdout.ok_or_else(missing)?, output.clone());
        let transport = Transport::new(reader, writer);
        let (tail, draining) = stderr
            .map(|stderr| {
                let tail = Tail::default();
                let draining = runtime.spawn(stderr::drain(stderr, tail.clone()));
                (tail, draining)
            })
            .unzip();
        tracing::debug!(id, program = ?self.program, "agent started");

        let abort = draining.as_ref().map(|task| task.abort_handle());
        let (supervisor, orders, progress) =
            Supervisor::new(tree, input, output, draining, self.timeouts);
        runtime.spawn(supervisor.run());

        let process = AgentProcess {
            id,
            killer,
            orders,
            progress,
            stderr: tail.zip(abort),
        };
        Ok((process, transport))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(dir) = &self.current_dir {
            command.current_dir(dir);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(match self.stderr {
            Stderr::Inherit => Stdio::inherit(),
            Stderr::Capture => Stdio::piped(),
            Stderr::Discard => Stdio::null(),
        });
        command
    }

    /// The system's error with the name of the program in front of it.
    fn describe(&self, error: io::Error) -> io::Error {
        let program = Path::new(&self.program).display();
        // For somebody who has to install something the number only gets in the way.
        let message = error.to_string();
        let message = match error.raw_os_error() {
            Some(code) => message.trim_end_matches(&format!(" (os error {code})")),
            None => &message,
        };
        let message = match &self.current_dir {
            // The system does not say which of the two is missing.
            Some(dir) => format!("cannot start `{program}` in `{}`: {message}", dir.display()),
            None => format!("cannot start `{program}`: {message}"),
        };
        io::Error::new(error.kind(), message)
    }
}

/// Shows the names of environment variables and not their values, which are often secrets.
impl fmt::Debug for AgentCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let env: Vec<&OsStr> = self.env.iter().map(|(name, _)| name.as_os_str()).collect();
        f.debug_struct("AgentCommand")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("env", &env)
            .field("current_dir", &self.current_dir)
            .field("stderr", &self.stderr)
            .field("exit_timeout", &self.timeouts.exit)
            .field("terminate_timeout", &self.timeouts.terminate)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_debug_form_hides_the_values_of_environment_variables() {
        let command = AgentCommand::new("agent").env("API_KEY", "hunter2");
        let shown = format!("{command:?}");
        assert!(shown.contains("API_KEY"), "{shown}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }

    #[tokio::test]
    async fn a_missing_program_is_named_and_its_kind_is_kept() {
        let error = AgentCommand::new("no-such-agent").spawn().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        let message = error.to_string();
        assert!(
            message.starts_with("cannot start `no-such-agent`: "),
            "{message}"
        );
        assert!(!message.contains("os error"), "{message}");
    }

    #[test]
    fn outside_a_runtime_there_is_an_error_and_no_panic() {
        AgentCommand::new("cat").spawn().unwrap_err();
    }
}
