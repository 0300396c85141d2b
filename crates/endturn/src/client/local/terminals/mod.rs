//! Commands that the agent runs on this machine.
//!
//! Each command has a task, its *keeper*, which owns the process group, reads the pipe, and tells what happens through a watch channel.
//! The table holds what orders go in by; dropping an entry of it is the order to kill.

mod command;
mod keeper;
mod options;
mod output;
mod requests;
mod status;
mod table;
#[cfg(all(test, unix))]
mod tests;
mod view;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

pub use self::view::TerminalView;
use self::{keeper::Terminal, options::Options, table::Table};
use crate::schema::v1::{self, SessionId, TerminalId, TerminalOutputResponse};

/// Serves the five `terminal/…` methods: runs commands of the agent as child processes of this program.
///
/// Registered with [`ClientBuilder::terminals`](crate::client::ClientBuilder::terminals).
/// Clones share their terminals; use one for each connection, since the sessions of two agents can have the same name.
///
/// # How a command runs
///
/// - In a process group of its own (a job object on Windows), so that what ends it ends all that it started.
/// - With nothing on its standard input, and its output and errors in one pipe, in the order in which they were written. There is no pseudo-terminal, so most programs leave out colours and do not ask questions.
/// - With the environment of this program and the request's variables on top, in the request's `cwd` or the first [root](Self::root).
/// - Through the shell (`/bin/sh -c`, on Windows `cmd /d /s /c`) if `args` is empty and `command` has white space or another character that means something to a shell, unless it is the path of a file. Otherwise as it is, with its arguments.
///
/// The specification does not say that `command` may be a line for a shell, but many agents send one, and clients have come to run it: Zed runs everything through a shell, acpx and others those lines that cannot be a program.
///
/// An agent that may run commands may do whatever this program may do: the roots catch mistakes, and are no sandbox.
///
/// # How it ends
///
/// A command has ended when its process has.
/// What it left running in the background lives on until the terminal is killed or released (on Windows it is ended at once), and adds to the output meanwhile; nobody waits for it.
/// What the process wrote is in the output by the time that its exit is told.
///
/// `terminal/release` kills what is left of the group.
/// So does [`release_all`](Self::release_all), which comes by itself when the last clone is dropped, and when the client is.
/// A process that leaves the group on purpose (`setsid`) is out of reach.
///
/// # What the agent is answered
///
/// | | code | data |
/// |---|---|---|
/// | a terminal that was released, never was, or is another session's | `-32002` | `terminalId` |
/// | a `cwd` that is relative, outside the roots or no directory | `-32602` | `field` is `cwd`, `reason` |
/// | a command that does not exist or cannot be started | `-32602` | `field` is `command`, `reason` |
/// | a variable without a name, or with a `=` or NUL in it | `-32602` | `field` is `env`, `reason` |
/// | too many [terminals](Self::max_terminals) | `-32600` | `limit`, `reason` |
///
/// Source: [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
/// The limits, the roots, the shell and what happens to processes in the background are policy of this SDK.
///
/// # Examples
///
/// ```
/// use endturn::{client::LocalTerminals, schema::v1::*};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let terminals = LocalTerminals::new();
/// let request = CreateTerminalRequest::new("session", "cargo").args(vec!["--version".to_owned()]);
/// let id = terminals.create(request)?.terminal_id;
/// let exit = terminals.wait_for_exit(&WaitForTerminalExitRequest::new("session", id.clone()));
/// assert_eq!(exit.await?.exit_status.exit_code, Some(0));
/// let shown = terminals.snapshot(&SessionId::new("session"), &id).unwrap();
/// assert!(shown.output.starts_with("cargo "));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct LocalTerminals {
    options: Options,
    table: Arc<Mutex<Table>>,
}

impl LocalTerminals {
    /// Terminals without roots: a command may ask for any working directory, and has this program's own if it does not.
    ///
    /// ```
    /// let terminals = endturn::client::LocalTerminals::new();
    /// # drop(terminals);
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Releases all terminals of a session; for when it is closed.
    ///
    /// ```
    /// use endturn::{client::LocalTerminals, schema::v1::SessionId};
    ///
    /// let terminals = LocalTerminals::new();
    /// terminals.release_session(&SessionId::new("session"));
    /// ```
    ///
    /// Policy of this SDK: the specification leaves it to the agent to release its terminals.
    pub fn release_session(&self, session: &SessionId) {
        let removed = self.table().take(Some(session));
        drop(removed);
    }

    /// Releases all terminals.
    ///
    /// ```
    /// endturn::client::LocalTerminals::new().release_all();
    /// ```
    ///
    /// Policy of this SDK.
    pub fn release_all(&self) {
        let removed = self.table().take(None);
        drop(removed);
    }

    /// The output and exit status of a terminal at this moment, for display; `None` if the session has no such terminal.
    ///
    /// ```
    /// use endturn::{client::LocalTerminals, schema::v1::{SessionId, TerminalId}};
    ///
    /// let terminals = LocalTerminals::new();
    /// let shown = terminals.snapshot(&SessionId::new("session"), &TerminalId::new("nonesuch"));
    /// assert!(shown.is_none());
    /// ```
    #[must_use]
    pub fn snapshot(&self, session: &SessionId, id: &TerminalId) -> Option<TerminalOutputResponse> {
        Some(self.view(session, id)?.snapshot())
    }

    /// A view of a terminal, for display; `None` if the session has no such terminal.
    ///
    /// ```
    /// use endturn::{client::LocalTerminals, schema::v1::{SessionId, TerminalId}};
    ///
    /// let terminals = LocalTerminals::new();
    /// let view = terminals.view(&SessionId::new("session"), &TerminalId::new("nonesuch"));
    /// assert!(view.is_none());
    /// ```
    #[must_use]
    pub fn view(&self, session: &SessionId, id: &TerminalId) -> Option<TerminalView> {
        self.table().with(session, id, Terminal::view)
    }

    fn find(&self, session: &SessionId, id: &TerminalId) -> Result<TerminalView, v1::Error> {
        self.view(session, id).ok_or_else(|| table::not_found(id))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for LocalTerminals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalTerminals")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
