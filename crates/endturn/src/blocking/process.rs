//! The process of an agent, for programs without a runtime.

use std::{io, process::ExitStatus, sync::Arc};

use super::runtime::{Runtime, block_on, finish};
use crate::transport;

/// An agent that runs as a child process; what [`transport::AgentProcess`] is to a program with a runtime, with the same names.
///
/// Made by [`ClientBuilder::spawn`](super::ClientBuilder::spawn).
/// It shares the thread of the client that it was made with, which lives until both are dropped.
///
/// # What dropping it does
///
/// Kills the agent and all that it started at once, and waits until they are gone, which takes milliseconds, and at most a second for a process that cannot die.
/// Call [`stop`](Self::stop) to let the agent save its work.
///
/// ```no_run
/// use endturn::{blocking::Client, transport::{AgentCommand, Stderr}};
///
/// # fn main() -> std::io::Result<()> {
/// let command = AgentCommand::new("my-agent").stderr(Stderr::Capture);
/// let (agent, client) = Client::builder().spawn(&command)?;
/// println!("it is process {}", agent.id());
/// drop(client);
/// let status = agent.stop()?;
/// if !status.success() {
///     eprintln!("the agent ended with {status}, after it said:\n{}", agent.stderr_tail());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AgentProcess {
    process: transport::AgentProcess,
    runtime: Arc<Runtime>,
}

impl AgentProcess {
    pub(super) fn new(process: transport::AgentProcess, runtime: Arc<Runtime>) -> Self {
        Self { process, runtime }
    }

    /// The process id of the child; see [`AgentProcess::id`](transport::AgentProcess::id).
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// The last lines the agent wrote to its standard error; see [`AgentProcess::stderr_tail`](transport::AgentProcess::stderr_tail).
    #[must_use]
    pub fn stderr_tail(&self) -> String {
        self.process.stderr_tail()
    }

    /// Waits for the child to exit, and says how it did; see [`AgentProcess::wait`](transport::AgentProcess::wait).
    ///
    /// # Errors
    ///
    /// As there.
    ///
    /// # Panics
    ///
    /// On a thread that drives async tasks.
    #[track_caller]
    pub fn wait(&self) -> io::Result<ExitStatus> {
        block_on(self.runtime.handle(), self.process.wait())
    }

    /// Ends the agent in good order, and returns when its whole group is gone; see [`AgentProcess::stop`](transport::AgentProcess::stop) for the steps and how long they take.
    ///
    /// # Errors
    ///
    /// As there.
    ///
    /// # Panics
    ///
    /// On a thread that drives async tasks.
    #[track_caller]
    pub fn stop(&self) -> io::Result<ExitStatus> {
        block_on(self.runtime.handle(), self.process.stop())
    }

    /// Kills the agent and all that it started at once, without waiting; see [`AgentProcess::kill`](transport::AgentProcess::kill).
    pub fn kill(&self) {
        self.process.kill();
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        self.process.kill();
        // The runtime may end with this value, and then nobody would be left to reap the child.
        if !self.runtime.is_on_this_thread() {
            drop(finish(self.process.stop()));
        }
    }
}
