//! An agent as a child process.
//!
//! [`AgentCommand`] says what to start, [`AgentProcess`] is what runs. Between the two stands a
//! background task, the supervisor, which owns the child and takes it through these stages. It only
//! ever moves downwards:
//!
//! ```text
//!  Running ────────────┐ the child exits
//!     │ stop()         │
//!  InputClosed ────────┤ the child exits
//!     │ limit          ▼
//!  Terminated   ◄── others of its group live on ──► none: ended
//!     │ limit       (the same limit goes on when the child exits here)
//!  Killed       ◄── kill(), drop
//!     │ limit
//!   ended: nothing more can be done
//! ```
//!
//! The *group* is the point: `npx`, `uvx` and `sh -c` start the real agent as a child of their own,
//! so that the process we know is not the one that must go. Every signal goes to the whole group,
//! and no way out of this module leaves a member behind.
//!
//! A group's id is free for others once its last member is gone, so a group that was seen empty is
//! never signalled again (`group`). On Windows a job object plays the part of the group.

mod command;
#[cfg(unix)]
mod group;
#[cfg(windows)]
mod job;
mod stderr;
mod stdin;
mod stdout;
mod supervisor;

use std::io;
use std::process::ExitStatus;

use tokio::sync::watch;
use tokio::task::AbortHandle;

pub use self::command::{AgentCommand, Stderr};
#[cfg(unix)]
use self::group as tree;
#[cfg(windows)]
use self::job as tree;
use self::stderr::Tail;
pub(crate) use self::supervisor::{FIRST_LOOK, KILL_TIMEOUT};
use self::supervisor::{Progress, Stage};
pub(crate) use self::tree::{Killer, Tree};

/// An agent that runs as a child process, with everything it started.
///
/// Made by [`AgentCommand::spawn`]. The child leads a process group of its own (on Windows, it
/// lives in a job object), and what is said here of ending the agent holds for the whole group. A
/// process that leaves the group on purpose (`setsid`, a daemon) is out of reach, but cannot keep the
/// connection waiting: the transport ends with the group, whoever else holds its pipes.
///
/// When the child exits by itself, the rest of its group is ended too: TERM first, and KILL after
/// [`terminate_timeout`](AgentCommand::terminate_timeout). No call is needed for that. It closes the
/// pipes, so the connection reads the end of input and settles every pending call.
///
/// # What dropping it does
///
/// Kills the whole group at once: KILL, without end of input or TERM first. Call
/// [`stop`](Self::stop) to let the agent save its work. The same happens when the runtime that
/// started the agent is dropped. A program that ends without running destructors (a signal,
/// [`std::process::exit`]) leaves the agent to notice the end of its input.
///
/// # Examples
///
/// ```no_run
/// use endturn::transport::{AgentCommand, Stderr};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let (agent, transport) = AgentCommand::new("my-agent")
///     .arg("--acp")
///     .stderr(Stderr::Capture)
///     .spawn()?;
/// // … a connection runs over `transport` …
/// # drop(transport);
/// let status = agent.stop().await?;
/// if !status.success() {
///     eprintln!("the agent ended with {status}, after it said:\n{}", agent.stderr_tail());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AgentProcess {
    id: u32,
    killer: Killer,
    orders: watch::Sender<Stage>,
    progress: watch::Receiver<Progress>,
    stderr: Option<(Tail, AbortHandle)>,
}

impl AgentProcess {
    /// The process id of the child, which on Unix is also the id of its group.
    ///
    /// For log lines. It stays the same after the child has exited, when the system may have given
    /// it to another process; so use [`stop`](Self::stop) and [`kill`](Self::kill) to end the agent.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The last lines the agent wrote to its standard error, at most 8 KiB.
    ///
    /// Empty unless the command asked for [`Stderr::Capture`]. Everything the agent writes is read
    /// as it comes, so a talkative agent never blocks; only the end of it is kept, from the start
    /// of a line on. Bytes that are not UTF-8 are replaced by `U+FFFD`.
    ///
    /// Once [`wait`](Self::wait) or [`stop`](Self::stop) has returned, what the child wrote before
    /// it exited is there.
    #[must_use]
    pub fn stderr_tail(&self) -> String {
        self.stderr
            .as_ref()
            .map_or_else(String::new, |(tail, _)| tail.text())
    }

    /// Waits for the child to exit, and says how it did.
    ///
    /// This is the process that was started; others of its group may take a moment longer (see
    /// [`AgentProcess`]). Waiting changes nothing, in particular it does not close the agent's
    /// input. It can be called any number of times, at the same time as `stop`, and after it.
    ///
    /// # Errors
    ///
    /// If the status cannot be learned: the system refuses to tell, because the program ignores
    /// `SIGCHLD` or something else in it reaps all children; the runtime that started the agent is
    /// gone; or the child outlived a KILL ([`TimedOut`](io::ErrorKind::TimedOut), see `stop`).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the status is kept for the next call.
    pub async fn wait(&self) -> io::Result<ExitStatus> {
        self.reached(|progress| progress.exit.is_some()).await
    }

    /// Ends the agent in good order, and returns when its whole group is gone.
    ///
    /// 1. The agent's input is closed. Close the connection first if it is to write out what it
    ///    holds; a writer that is still in use gets [`BrokenPipe`](io::ErrorKind::BrokenPipe).
    /// 2. If the child has not exited after [`exit_timeout`](AgentCommand::exit_timeout) (2 s), the
    ///    group gets TERM. So do others of the group when the child has exited and they have not.
    /// 3. If any of the group is left after [`terminate_timeout`](AgentCommand::terminate_timeout)
    ///    (2 s), the group gets KILL.
    ///
    /// So it always returns: with the default limits within about five seconds, and for an agent
    /// that heeds the end of its input as soon as that has exited. Windows has no TERM: there the
    /// second step kills.
    ///
    /// A dead process that nobody has reaped still counts as one that is left. The first process of
    /// a system reaps orphans, but in a container that is often a program which does not know its
    /// duty; then stopping a launcher takes as long as the limits allow. (`docker run --init` helps;
    /// and if the first process is the one that uses this crate, it does its duty here.)
    ///
    /// Further calls wait for the same end. On an agent that has exited by itself it returns the
    /// status at once.
    ///
    /// # Errors
    ///
    /// Those of [`wait`](Self::wait). A child that lives on a second after KILL (it runs as another
    /// user, or hangs in the kernel) is given up with [`TimedOut`](io::ErrorKind::TimedOut).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the waiting, not the stopping: that goes on in the background, and
    /// `wait` or `stop` can be called again.
    pub async fn stop(&self) -> io::Result<ExitStatus> {
        self.order(Stage::InputClosed);
        self.reached(|progress| progress.ended).await
    }

    /// Kills the whole group at once.
    ///
    /// Returns without waiting; [`wait`](Self::wait) and [`stop`](Self::stop) tell when the agent
    /// is gone. Does nothing when it already is.
    pub fn kill(&self) {
        // Here, not only in the supervisor: it works while the runtime is busy or going away.
        self.killer.kill();
        self.order(Stage::Killed);
    }

    /// Asks the supervisor to move on to a stage. It never goes back.
    fn order(&self, stage: Stage) {
        self.orders.send_if_modified(|ordered| {
            let raise = *ordered < stage;
            if raise {
                *ordered = stage;
            }
            raise
        });
    }

    async fn reached(&self, condition: impl Fn(&Progress) -> bool) -> io::Result<ExitStatus> {
        let mut progress = self.progress.clone();
        let reached = progress.wait_for(condition).await;
        let exit = reached
            .ok()
            .and_then(|progress| progress.exit.clone())
            .ok_or_else(|| io::Error::other("the runtime that ran the agent was shut down"))?;
        exit.map_err(|error| io::Error::new(error.kind(), error))
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        self.kill();
        // A process that left the group may hold the pipe open for ever.
        if let Some((_, task)) = &self.stderr {
            task.abort();
        }
    }
}
