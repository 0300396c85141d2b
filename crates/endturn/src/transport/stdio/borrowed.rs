//! One end that was made non-blocking for the time being.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::nonblocking::NonBlocking;

/// A stream that tokio's reactor watches, and a share in putting its flags back.
///
/// Dropping it takes the descriptor out of the reactor; the last one to go makes them block again.
#[derive(Debug)]
pub(super) struct Borrowed<S> {
    // Before `_flags`: the reactor lets go of the descriptor first.
    stream: S,
    _flags: Arc<NonBlocking>,
}

impl<S> Borrowed<S> {
    pub(super) fn new(stream: S, flags: Arc<NonBlocking>) -> Self {
        Self {
            stream,
            _flags: flags,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Borrowed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Borrowed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    /// Leaves the stream open. It belongs to the process, which a socket, once shut down, could not
    /// write to any more; and a pipe could not be shut down anyway.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}
