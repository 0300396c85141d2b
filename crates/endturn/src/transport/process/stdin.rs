//! The agent's input, which either of two parties can close.
//!
//! The connection holds the writer, and closes the agent's input by dropping it. `stop` must be able
//! to close it as well, whatever became of the connection, or the first and gentlest step of
//! stopping would depend on code that may hang.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::io::AsyncWrite;
use tokio::process::ChildStdin;

/// Splits the pipe into the writer and a handle that can close it.
pub(super) fn closable(stdin: ChildStdin) -> (Writer, Closer) {
    let closer = Closer(Arc::new(Mutex::new(Shared {
        stdin: Some(stdin),
        writer: None,
    })));
    (Writer(closer.clone()), closer)
}

/// Writes to the agent. Dropping it closes the agent's input.
#[derive(Debug)]
pub(super) struct Writer(Closer);

/// Closes the agent's input. Dropping it does not.
#[derive(Clone, Debug)]
pub(super) struct Closer(Arc<Mutex<Shared>>);

#[derive(Debug)]
struct Shared {
    stdin: Option<ChildStdin>,
    /// Who waits for room in the pipe, and has to hear that it was closed.
    writer: Option<Waker>,
}

impl Closer {
    /// Closes the pipe, and fails a write that waits for room in it.
    pub(super) fn close(&self) {
        let (stdin, writer) = {
            let mut shared = self.lock();
            (shared.stdin.take(), shared.writer.take())
        };
        drop(stdin);
        if let Some(writer) = writer {
            writer.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writer {
    /// Polls the pipe if it is still open, and leaves a waker behind if that has to wait.
    fn poll_open<T>(
        &self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(Pin<&mut ChildStdin>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let mut shared = self.0.lock();
        let Some(stdin) = &mut shared.stdin else {
            return Poll::Ready(Err(io::Error::new(
                io::ErrorKind::BrokenPipe,
                "the agent's input was closed",
            )));
        };
        let result = poll(Pin::new(stdin), cx);
        shared.writer = result.is_pending().then(|| cx.waker().clone());
        result
    }
}

impl AsyncWrite for Writer {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_open(cx, |stdin, cx| stdin.poll_write(cx, buf))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_open(cx, AsyncWrite::poll_flush)
    }

    /// Closes the pipe, which tokio's own `ChildStdin` leaves to its destructor.
    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.close();
        Poll::Ready(Ok(()))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.0.close();
    }
}
