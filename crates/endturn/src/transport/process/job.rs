//! The child and its job object, on Windows.
//!
//! A job object holds every process that the child starts, and ends them in one call. Windows has
//! nothing like TERM for a program without a window, so asking and ending are the same here.

use std::io;
use std::process::ExitStatus;

use process_wrap::tokio::{ChildWrapper, CommandWrap, JobObject};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

/// The child and all the processes of its job.
///
/// Dropping it kills those that are left.
#[derive(Debug)]
pub(crate) struct Tree {
    child: Box<dyn ChildWrapper>,
    id: u32,
}

/// The job can only be ended by who owns it, so the supervisor does it, a moment later.
#[derive(Clone, Debug)]
pub(crate) struct Killer;

impl Tree {
    pub(crate) fn start(command: Command) -> io::Result<Self> {
        let child = CommandWrap::from(command).wrap(JobObject).spawn()?;
        let id = child.id().unwrap_or_default();
        Ok(Self { child, id })
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    pub(crate) fn killer(&self) -> Killer {
        Killer
    }

    pub(crate) fn take_pipes(
        &mut self,
    ) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        let child = &mut self.child;
        (
            child.stdin().take(),
            child.stdout().take(),
            child.stderr().take(),
        )
    }

    /// Waits for the child to exit.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, since tokio's `wait` is.
    pub(crate) async fn exited(&mut self) -> io::Result<ExitStatus> {
        // The child itself: waiting for the job would wait for those that have to be ended first.
        self.child.inner_mut().wait().await
    }

    /// Whether nobody is left. Asked only after the child has exited.
    pub(crate) fn is_gone(&mut self) -> bool {
        // A job is not asked how many are left, it is ended.
        self.kill();
        true
    }

    /// Asks all of them to end, which on Windows is to end them.
    pub(crate) fn terminate(&mut self) {
        self.kill();
    }

    /// Ends all of them.
    pub(crate) fn kill(&mut self) {
        // It fails only when there is nobody to end.
        let _ = self.child.start_kill();
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Killer {
    pub(crate) fn kill(&self) {}
}
