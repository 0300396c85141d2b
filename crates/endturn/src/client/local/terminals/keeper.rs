//! The task that sees a command through to its end.
//!
//! ```text
//!  running ──────────────┐ the process exits: drain the pipe, tell
//!     │ kill             ▼
//!  TERM ── grace ─► KILL    others of the group live on: look now and then whether they are gone
//!     │ release, drop
//!  KILL ─► the process exits, or is given up a second later
//! ```

use std::{
    io::{self, PipeReader},
    process::ExitStatus,
    time::Duration,
};

use tokio::{
    io::AsyncReadExt as _,
    process::{ChildStdout, Command},
    runtime,
    sync::watch,
    time::{Instant, sleep, sleep_until},
};

use super::{output::Output, status::status, view::TerminalView};
use crate::{
    schema::v1::TerminalExitStatus,
    transport::process::{FIRST_LOOK, KILL_TIMEOUT, Killer, Tree},
};

/// How often to look whether processes in the background are gone, at last.
///
/// They can live for hours.
/// The id of their group is free for others once they are gone, and no system hands out all its other ids in this time.
const LAST_LOOK: Duration = Duration::from_millis(250);

const BLOCK: usize = 16 * 1024;

/// What others see of a terminal.
#[derive(Debug)]
pub(super) struct State {
    pub(super) output: Output,
    pub(super) exit: Option<TerminalExitStatus>,
}

/// Orders to the keeper. Dropping it kills the group.
pub(super) struct Terminal {
    killer: Killer,
    end: watch::Sender<bool>,
    state: watch::Receiver<State>,
}

impl Terminal {
    pub(super) fn start(
        runtime: &runtime::Handle,
        command: Command,
        output: PipeReader,
        limit: usize,
        grace: Duration,
    ) -> io::Result<Self> {
        let (terminal, keeper) = Self::with_keeper(command, output, limit, grace)?;
        runtime.spawn(keeper.run());
        Ok(terminal)
    }

    /// Starts the command, and leaves it to the caller to run the keeper.
    fn with_keeper(
        command: Command,
        output: PipeReader,
        limit: usize,
        grace: Duration,
    ) -> io::Result<(Self, Keeper)> {
        let output = asynchronous(output)?;
        let tree = Tree::start(command)?;
        let killer = tree.killer();
        let (end, orders) = watch::channel(false);
        let (tell, state) = watch::channel(State {
            output: Output::new(limit),
            exit: None,
        });
        let keeper = Keeper {
            tree,
            output: Some(output),
            orders,
            tell,
            grace,
            released: false,
            deadline: None,
            pause: None,
        };
        Ok((Self { killer, end, state }, keeper))
    }

    /// Has the whole group end, with a grace.
    pub(super) fn end(&self) {
        self.end.send_replace(true);
    }

    pub(super) fn view(&self) -> TerminalView {
        TerminalView(self.state.clone())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Here, not only in the keeper: it works while the runtime is busy or going away.
        self.killer.kill();
    }
}

#[cfg(unix)]
fn asynchronous(pipe: PipeReader) -> io::Result<ChildStdout> {
    ChildStdout::from_std(std::os::fd::OwnedFd::from(pipe).into())
}

#[cfg(windows)]
fn asynchronous(pipe: PipeReader) -> io::Result<ChildStdout> {
    ChildStdout::from_std(std::os::windows::io::OwnedHandle::from(pipe).into())
}

/// Owns the process group. Dropping it kills the group.
struct Keeper {
    tree: Tree,
    /// Until the end of the pipe.
    output: Option<ChildStdout>,
    orders: watch::Receiver<bool>,
    tell: watch::Sender<State>,
    grace: Duration,
    released: bool,
    /// When a signal has not been heeded for long enough.
    deadline: Option<Instant>,
    /// How long to wait before looking at the group again, once the process has exited and left others.
    pause: Option<Duration>,
}

enum Event {
    EndOrdered,
    Released,
    Exited(io::Result<ExitStatus>),
    Read(io::Result<Vec<u8>>),
    DeadlinePassed,
    TimeToLook,
}

impl Keeper {
    async fn run(mut self) {
        let mut exited = false;
        loop {
            match self.event(exited).await {
                Event::EndOrdered => self.terminate(),
                Event::Released => {
                    self.released = true;
                    self.tree.kill();
                    self.deadline = Instant::now().checked_add(KILL_TIMEOUT);
                }
                Event::Exited(exit) => {
                    exited = true;
                    self.exited(exit).await;
                }
                Event::Read(read) => self.read(read),
                Event::DeadlinePassed if self.released => {
                    tracing::warn!(
                        id = self.tree.id(),
                        "a command is there still, after it was killed"
                    );
                    return;
                }
                Event::DeadlinePassed => {
                    self.deadline = None;
                    self.tree.kill();
                }
                Event::TimeToLook => {
                    let next = self.pause.map(|pause| LAST_LOOK.min(pause * 2));
                    self.pause = next.filter(|_| !self.tree.is_gone());
                }
            }
            let group_is_gone = exited && self.pause.is_none();
            if exited && (self.released || (group_is_gone && self.output.is_none())) {
                return;
            }
        }
    }

    /// Waits for what happens next.
    async fn event(&mut self, exited: bool) -> Event {
        let (deadline, pause) = (self.deadline, self.pause);
        let output = self.output.as_mut();
        let reading = output.is_some();
        tokio::select! {
            order = self.orders.changed(), if !self.released => match order {
                Ok(()) => Event::EndOrdered,
                Err(_) => Event::Released,
            },
            exit = self.tree.exited(), if !exited => Event::Exited(exit),
            read = read(output), if reading => Event::Read(read),
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                Event::DeadlinePassed
            }
            () = sleep(pause.unwrap_or_default()), if pause.is_some() => Event::TimeToLook,
        }
    }

    fn terminate(&mut self) {
        if self.grace.is_zero() {
            self.tree.kill();
        } else if self.deadline.is_none() {
            // Asking again does not prolong the grace.
            self.tree.terminate();
            // A grace that is too long for the clock is no limit.
            self.deadline = Instant::now().checked_add(self.grace);
        }
    }

    /// Takes in what the process has written, and tells how it exited.
    async fn exited(&mut self, exit: io::Result<ExitStatus>) {
        let gone = self.tree.is_gone();
        self.pause = (!gone).then_some(FIRST_LOOK);
        self.drain().await;
        tracing::debug!(id = self.tree.id(), ?exit, alone = gone, "command exited");
        let exit = match exit {
            Ok(exit) => status(exit),
            Err(error) => {
                tracing::warn!(%error, "the system does not tell how a command exited");
                TerminalExitStatus::new()
            }
        };
        self.tell.send_modify(|state| {
            state.output.finish();
            state.exit = Some(exit);
        });
    }

    /// Reads what is in the pipe at this moment.
    ///
    /// It asks how much that is, since others can go on writing without end, and reads past tokio, which may not have noticed yet that there is something.
    #[cfg(unix)]
    async fn drain(&mut self) {
        let Some(output) = &self.output else { return };
        let Ok(there) = rustix::io::ioctl_fionread(output) else {
            return;
        };
        let mut left = usize::try_from(there).unwrap_or(usize::MAX);
        let mut block = vec![0; BLOCK];
        while left > 0 {
            let most = left.min(BLOCK);
            match rustix::io::read(output, &mut block[..most]) {
                Ok(read) if read > 0 => {
                    left -= read;
                    self.tell
                        .send_modify(|state| state.output.push(&block[..read]));
                }
                Err(rustix::io::Errno::INTR) => {}
                Ok(_) | Err(_) => return,
            }
        }
    }

    /// Reads to the end of the pipe, which is near: all others who could write were ended.
    #[cfg(windows)]
    async fn drain(&mut self) {
        let limit = Instant::now() + KILL_TIMEOUT;
        while let Some(output) = &mut self.output {
            match tokio::time::timeout_at(limit, read(Some(output))).await {
                Ok(block) => self.read(block),
                Err(_) => return,
            }
        }
    }

    fn read(&mut self, read: io::Result<Vec<u8>>) {
        match read {
            Ok(block) if !block.is_empty() => {
                self.tell.send_modify(|state| state.output.push(&block));
            }
            // Nobody can do anything about a pipe that fails, so that is its end too.
            Ok(_) | Err(_) => {
                self.output = None;
                self.tell.send_modify(|state| state.output.finish());
            }
        }
    }
}

/// Reads the next block; an empty one is the end.
///
/// # Cancel safety
///
/// Cancel safe, since tokio's `read_buf` is.
async fn read(output: Option<&mut ChildStdout>) -> io::Result<Vec<u8>> {
    let mut block = Vec::with_capacity(BLOCK);
    if let Some(output) = output {
        output.read_buf(&mut block).await?;
    }
    Ok(block)
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

    use super::*;

    /// Nothing but the telling itself is there to read the pipe, and a process in the background holds it open.
    #[tokio::test]
    async fn what_was_written_before_the_exit_is_there_when_the_exit_is_told() {
        let (reader, writer) = io::pipe().unwrap();
        let mut command = Command::new("sh");
        let script = "sleep 1000 & head -c 60000 /dev/zero | tr '\\0' x";
        command.arg("-c").arg(script).stdout(writer);
        let (terminal, mut keeper) =
            Terminal::with_keeper(command, reader, 100_000, Duration::ZERO).unwrap();
        let id = Pid::from_raw(keeper.tree.id().cast_signed()).unwrap();
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(id), options).unwrap();

        let exit = keeper.tree.exited().await;
        keeper.exited(exit).await;
        let shown = terminal.view().snapshot();
        assert_eq!(shown.exit_status.unwrap().exit_code, Some(0));
        assert_eq!(shown.output, "x".repeat(60_000));
    }
}
