//! The agent's output, which ends when the agent does.
//!
//! A pipe ends when the last process that holds it is gone. That can be one that left the group: an
//! agent starts some build daemon, which keeps the pipe open for hours and writes nothing. A
//! connection that waits for the end of input to settle its calls would wait as long.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::process::ChildStdout;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Reads from the agent, until the pipe ends or `over` is cancelled and nothing is left to read.
pub(super) struct Reader {
    stdout: ChildStdout,
    over: Pin<Box<WaitForCancellationFutureOwned>>,
    ended: bool,
}

impl Reader {
    pub(super) fn new(stdout: ChildStdout, over: CancellationToken) -> Self {
        Self {
            stdout,
            over: Box::pin(over.cancelled_owned()),
            ended: false,
        }
    }
}

impl AsyncRead for Reader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stdout).poll_read(cx, buf);
        if result.is_ready() {
            return result;
        }
        self.ended = self.ended || self.over.as_mut().poll(cx).is_ready();
        if self.ended {
            // Ready without a byte is the end of input.
            return Poll::Ready(Ok(()));
        }
        Poll::Pending
    }
}
