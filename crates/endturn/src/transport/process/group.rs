//! The child and its process group, on Unix.
//!
//! A group's id is the process id of its leader, and the system gives neither to anybody else while
//! the leader has not been reaped or any member is left. After that the number is free, and a signal
//! sent to it could hit a stranger. So the id is kept under a lock, and forgotten in the same step
//! in which the group is seen to be empty; reaping the leader and looking are one such step.

use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, ready};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, kill_process_group, test_kill_process_group, waitpgid,
};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

/// The child and all the processes of its group.
///
/// Dropping it kills those that are left.
#[derive(Debug)]
pub(crate) struct Tree {
    leader: Child,
    id: u32,
    group: Killer,
}

/// Kills the group, from anywhere and at any time. Nothing happens once the group is empty.
#[derive(Clone, Debug)]
pub(crate) struct Killer(Arc<Mutex<Option<Pid>>>);

impl Tree {
    pub(crate) fn start(mut command: Command) -> io::Result<Self> {
        // Zero: a new group that the child leads. It is made before the program runs.
        let leader = command.process_group(0).spawn()?;
        let id = leader.id().unwrap_or_default();
        let group = i32::try_from(id).ok().and_then(Pid::from_raw);
        Ok(Self {
            leader,
            id,
            group: Killer(Arc::new(Mutex::new(group))),
        })
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    pub(crate) fn killer(&self) -> Killer {
        self.group.clone()
    }

    pub(crate) fn take_pipes(
        &mut self,
    ) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        let child = &mut self.leader;
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    }

    /// Waits for the leader to exit, and reaps it.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, since tokio's `wait` is.
    pub(crate) async fn exited(&mut self) -> io::Result<ExitStatus> {
        let group = self.group.clone();
        let mut wait = pin!(self.leader.wait());
        poll_fn(|cx| {
            let mut group = group.lock();
            let exit = ready!(wait.as_mut().poll(cx));
            look(&mut group);
            Poll::Ready(exit)
        })
        .await
    }

    /// Whether nobody is left. Asked only after the leader has exited.
    pub(crate) fn is_gone(&mut self) -> bool {
        look(&mut self.group.lock())
    }

    /// Asks all of them to end.
    pub(crate) fn terminate(&mut self) {
        self.group.signal(Signal::TERM);
    }

    /// Ends all of them.
    pub(crate) fn kill(&mut self) {
        self.group.kill();
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.group.kill();
        // From here on nobody looks whether the group is empty.
        *self.group.lock() = None;
    }
}

impl Killer {
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        let group = self.lock();
        if let Some(id) = *group {
            // It fails for a group whose last member has just gone, and for members that run as
            // another user. Neither can be helped; whether the group is gone is looked at anyway.
            let _ = kill_process_group(id, signal);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Pid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks whether the group is empty, and forgets its id if so.
fn look(group: &mut Option<Pid>) -> bool {
    let Some(id) = *group else {
        return true;
    };
    // Orphans of the group become our children if this process is the first one in a container or
    // a subreaper, and count as members until somebody reaps them.
    while let Ok(Some(_)) = waitpgid(id, WaitOptions::NOHANG) {}
    let gone = match test_kill_process_group(id) {
        Ok(()) => false,
        // EPERM: on macOS only corpses are left, elsewhere none that we may signal.
        Err(error) => error == Errno::SRCH || error == Errno::PERM,
    };
    if gone {
        *group = None;
    }
    gone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_group_that_was_seen_empty_is_forgotten() {
        let mut tree = Tree::start(Command::new("true")).unwrap();
        let killer = tree.killer();
        assert!(killer.lock().is_some());
        assert!(tree.exited().await.unwrap().success());
        assert!(
            killer.lock().is_none(),
            "forgotten in the step that reaped the leader"
        );
        assert!(tree.is_gone());
    }

    #[tokio::test]
    async fn a_group_that_nobody_watches_any_more_is_forgotten() {
        let mut command = Command::new("sleep");
        command.arg("1000");
        let tree = Tree::start(command).unwrap();
        let killer = tree.killer();
        drop(tree);
        assert!(killer.lock().is_none());
    }
}
