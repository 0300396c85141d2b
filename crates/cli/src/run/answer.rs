//! Who reads from the terminal: the line editor, or a question to the user.

use std::{io, sync::Arc, thread};

use tokio::sync::{Mutex, MutexGuard, oneshot};

/// The user's terminal, from which one reads at a time; clones are the same.
///
/// It is read only while somebody has it, since a program in the background is stopped when it reads from its terminal.
#[derive(Clone, Default)]
pub(super) struct Terminal(Arc<Mutex<()>>);

impl Terminal {
    /// Waits for one's turn, which lasts as long as what it gives.
    pub(super) async fn have(&self) -> MutexGuard<'_, ()> {
        self.0.lock().await
    }
}

/// Throws away what was typed before anything was asked for.
pub(super) fn discard_typed() {
    #[cfg(unix)]
    {
        use rustix::termios::{QueueSelector, tcflush};
        // At worst it is still there, and the user sees what it has chosen.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }
}

/// Reads a line that the user types; `None` at the end of the input.
///
/// A thread reads, that nobody waits for at the exit.
/// When the future is dropped, the thread ends without having read anything, so that the line is left for whoever reads next.
#[cfg(unix)]
pub(super) async fn read_line() -> Option<String> {
    use rustix::event::{PollFd, PollFlags, poll};

    let (withdrawn, wanted) = io::pipe().ok()?;
    let (sender, line) = oneshot::channel();
    thread::spawn(move || {
        let stdin = io::stdin();
        let mut ends = [
            PollFd::new(&stdin, PollFlags::IN),
            PollFd::new(&withdrawn, PollFlags::IN),
        ];
        while let Err(rustix::io::Errno::INTR) = poll(&mut ends, None) {}
        let [input, withdrawn] = ends;
        // Closing the other end of the pipe shows here.
        if withdrawn.revents().is_empty() && !input.revents().is_empty() {
            // Whoever wanted it may have gone this very moment.
            drop(sender.send(typed()));
        }
    });
    let line = line.await.ok().flatten();
    drop(wanted);
    line
}

/// Reads a line that the user types; `None` at the end of the input.
///
/// A thread reads, that nobody waits for at the exit.
/// It cannot be stopped: when the future is dropped, the next line goes to it and is lost.
#[cfg(not(unix))]
pub(super) async fn read_line() -> Option<String> {
    let (sender, line) = oneshot::channel();
    thread::spawn(move || drop(sender.send(typed())));
    line.await.ok().flatten()
}

fn typed() -> Option<String> {
    let mut line = String::new();
    match io::stdin().read_line(&mut line) {
        Ok(1..) => Some(line),
        Ok(0) | Err(_) => None,
    }
}
