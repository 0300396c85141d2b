//! The task that sees an agent through to its end.

use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::stdin::Closer;
use super::tree::Tree;

/// How long the group may take to be gone after KILL.
///
/// A process that can die has done so in milliseconds. One that has not after a second hangs in the
/// kernel or is not ours to kill.
pub(crate) const KILL_TIMEOUT: Duration = Duration::from_secs(1);

/// How long to wait for the end of a pipe when those who should hold it are gone.
///
/// It comes with their exit, unless a process that left the group holds the pipe too. The limit is
/// for that case only, and leaves time for what is in the pipe to be read.
const PIPE_TIMEOUT: Duration = Duration::from_millis(100);

/// How often to look whether the rest of a group is gone: often at first, then less.
///
/// The system announces the end of a child, but not the end of a grandchild, so there is no event to
/// wait for.
pub(crate) const FIRST_LOOK: Duration = Duration::from_millis(1);
const LAST_LOOK: Duration = Duration::from_millis(25);

/// How far the ending of an agent has gone. Only ever rises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Nobody wants it to end.
    Running,
    /// It was told by the end of its input.
    InputClosed,
    /// Its group was sent TERM.
    Terminated,
    /// Its group was sent KILL.
    Killed,
}

/// What others learn of an agent.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// How the child exited, or why nobody knows.
    pub(super) exit: Option<Result<ExitStatus, Arc<io::Error>>>,
    /// Nobody of the group is left, or nothing more can be done about it.
    pub(super) ended: bool,
}

/// How long each stage may last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timeouts {
    /// From the end of input to TERM.
    pub(super) exit: Duration,
    /// From TERM to KILL.
    pub(super) terminate: Duration,
}

/// Owns the child. Dropping it kills the group.
#[derive(Debug)]
pub(super) struct Supervisor {
    tree: Tree,
    input: Closer,
    /// Ends the output for the connection, when the supervisor is gone.
    output: DropGuard,
    /// The task that reads standard error, until the child has exited.
    draining: Option<JoinHandle<()>>,
    timeouts: Timeouts,
    orders: watch::Receiver<Stage>,
    progress: watch::Sender<Progress>,
    stage: Stage,
    /// When the stage has lasted long enough.
    deadline: Option<Instant>,
    /// How long to wait before looking at the group again, once the child has exited.
    pause: Option<Duration>,
}

enum Event {
    Ordered(Stage),
    Exited(io::Result<ExitStatus>),
    DeadlinePassed,
    TimeToLook,
}

impl Supervisor {
    /// Also returns what orders go in by, and what news comes out by.
    pub(super) fn new(
        tree: Tree,
        input: Closer,
        output: CancellationToken,
        draining: Option<JoinHandle<()>>,
        timeouts: Timeouts,
    ) -> (Self, watch::Sender<Stage>, watch::Receiver<Progress>) {
        let (give_order, orders) = watch::channel(Stage::Running);
        let (progress, news) = watch::channel(Progress::default());
        let supervisor = Self {
            tree,
            input,
            output: output.drop_guard(),
            draining,
            timeouts,
            orders,
            progress,
            stage: Stage::Running,
            deadline: None,
            pause: None,
        };
        (supervisor, give_order, news)
    }

    /// Runs until the group is gone, or until nothing more can be done about it.
    pub(super) async fn run(mut self) {
        let mut ended = false;
        while !ended {
            ended = match self.event().await {
                Event::Ordered(stage) => {
                    self.enter(stage);
                    false
                }
                Event::Exited(exit) => self.child_exited(exit).await,
                Event::DeadlinePassed => self.escalate(),
                Event::TimeToLook => {
                    self.pause = self.pause.map(|pause| LAST_LOOK.min(pause * 2));
                    self.tree.is_gone()
                }
            };
        }
        self.tell_end();
        self.close_pipes().await;
    }

    /// Waits for what happens next.
    async fn event(&mut self) -> Event {
        let (deadline, pause) = (self.deadline, self.pause);
        tokio::select! {
            biased;
            stage = order_above(&mut self.orders, self.stage) => Event::Ordered(stage),
            exit = self.tree.exited(), if pause.is_none() => Event::Exited(exit),
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                Event::DeadlinePassed
            }
            () = sleep(pause.unwrap_or_default()), if pause.is_some() => Event::TimeToLook,
        }
    }

    /// Ends those that the child left behind, and tells how it exited. True if it left nobody.
    async fn child_exited(&mut self, exit: io::Result<ExitStatus>) -> bool {
        let gone = self.tree.is_gone();
        if !gone {
            // First the signal: the sooner close the pipes that others hold open.
            self.enter(Stage::Terminated);
            self.pause = Some(FIRST_LOOK);
        }
        if let Some(draining) = self.draining.take() {
            // Dropping the handle leaves the task running, as it must if this times out.
            let _ = timeout(PIPE_TIMEOUT, draining).await;
        }
        tracing::debug!(id = self.tree.id(), ?exit, alone = gone, "agent exited");
        let exit = exit.map_err(Arc::new);
        self.progress
            .send_modify(|progress| progress.exit = Some(exit));
        gone
    }

    /// Takes the next step, for a stage that has lasted too long. True if there is none.
    fn escalate(&mut self) -> bool {
        match self.stage {
            Stage::Running | Stage::InputClosed => self.enter(Stage::Terminated),
            Stage::Terminated => self.enter(Stage::Killed),
            Stage::Killed => return true,
        }
        false
    }

    /// Does what a stage is named after, unless it has gone as far already.
    fn enter(&mut self, stage: Stage) {
        if stage <= self.stage {
            return;
        }
        self.stage = stage;
        tracing::debug!(id = self.tree.id(), ?stage, "ending the agent");
        let limit = match stage {
            Stage::Running => return,
            Stage::InputClosed => {
                self.input.close();
                self.timeouts.exit
            }
            Stage::Terminated => {
                self.tree.terminate();
                self.timeouts.terminate
            }
            Stage::Killed => {
                self.tree.kill();
                KILL_TIMEOUT
            }
        };
        // A limit that is too long for the clock is no limit.
        self.deadline = Instant::now().checked_add(limit);
    }

    /// Ends the connection, even if the pipes are held open by a process out of reach.
    async fn close_pipes(self) {
        self.input.close();
        sleep(PIPE_TIMEOUT).await;
        drop(self.output);
    }

    /// Tells that it is over.
    fn tell_end(&self) {
        let id = self.tree.id();
        tracing::debug!(id, stage = ?self.stage, "agent ended");
        self.progress.send_modify(|progress| {
            progress.ended = true;
            progress.exit.get_or_insert_with(|| {
                let message =
                    format!("the agent's process {id} is there still, after it was killed");
                Err(Arc::new(io::Error::new(io::ErrorKind::TimedOut, message)))
            });
        });
    }
}

/// Waits for an order to go further than `stage`. When nobody is left to give one, it never comes.
async fn order_above(orders: &mut watch::Receiver<Stage>, stage: Stage) -> Stage {
    let ordered = orders.wait_for(|&ordered| ordered > stage).await;
    if let Ok(ordered) = ordered.map(|ordered| *ordered) {
        return ordered;
    }
    std::future::pending().await
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::process::{Pid, test_kill_process};

    use super::*;
    use crate::transport::process::stdin;

    const HOUR: Duration = Duration::from_secs(3600);

    #[tokio::test]
    async fn the_exit_is_told_when_the_last_words_have_been_read() {
        let mut command = tokio::process::Command::new("cat");
        command.stdin(std::process::Stdio::piped());
        command.stdout(std::process::Stdio::null());
        let mut tree = Tree::start(command).unwrap();
        let (stdin, _, _) = tree.take_pipes();
        let (writer, input) = stdin::closable(stdin.unwrap());
        let child = Pid::from_raw(i32::try_from(tree.id()).unwrap()).unwrap();

        // Stands for a task that has some reading left to do when the child is gone.
        let read = Arc::new(AtomicBool::new(false));
        let reading = Arc::clone(&read);
        let draining = tokio::spawn(async move {
            while test_kill_process(child).is_ok() {
                tokio::task::yield_now().await;
            }
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            reading.store(true, Ordering::Relaxed);
        });
        let timeouts = Timeouts {
            exit: HOUR,
            terminate: HOUR,
        };
        let output = CancellationToken::new();
        let (supervisor, _orders, mut progress) =
            Supervisor::new(tree, input, output, Some(draining), timeouts);
        tokio::spawn(supervisor.run());

        drop(writer);
        progress
            .wait_for(|progress| progress.exit.is_some())
            .await
            .unwrap();
        assert!(read.load(Ordering::Relaxed));
    }
}
