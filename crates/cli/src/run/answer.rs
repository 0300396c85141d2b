//! A line from the terminal, for as long as somebody wants it.

use std::{io, thread};

use tokio::sync::oneshot;

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
