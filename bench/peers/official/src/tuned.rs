//! A transport for the official SDK that is as fast as its interface for lines allows, and the back-pressure that it lacks.

use std::{
    io,
    os::fd::AsFd,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use agent_client_protocol::Lines;
use futures::{AsyncBufReadExt, Sink, Stream, io::BufReader};
use tokio::{io::AsyncWriteExt, net::unix::pipe, sync::Notify};
use tokio_util::compat::TokioAsyncReadCompatExt;

/// How many updates may be on their way through the SDK.
const IN_SDK: usize = 256;
/// How many bytes may wait for the pipe.
const IN_BUFFER: usize = 64 * 1024;

/// What has been sent and is not written yet; clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Backlog(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// Updates that turns have sent and the SDK has not given to the transport.
    sent: AtomicUsize,
    passed: Notify,
    bytes: Mutex<Vec<u8>>,
    written: Notify,
    room: Notify,
}

impl Backlog {
    /// Waits until one more update may be sent, and counts it.
    pub(crate) async fn room(&self) {
        while self.0.sent.load(Ordering::Relaxed) >= IN_SDK {
            self.0.passed.notified().await;
        }
        self.0.sent.fetch_add(1, Ordering::Relaxed);
    }

    fn with<R>(&self, step: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        step(&mut self.0.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn pass(&self, line: String) {
        while self.with(|bytes| bytes.len()) >= IN_BUFFER {
            self.0.room.notified().await;
        }
        self.with(|bytes| {
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
        });
        self.0.written.notify_one();
        // Answers were not counted, so the count may be zero already.
        let sent = &self.0.sent;
        let less = |count: usize| count.checked_sub(1);
        let _ = sent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        self.0.passed.notify_one();
    }

    async fn write_all(self, mut pipe: pipe::Sender) -> io::Result<()> {
        let mut batch = Vec::new();
        loop {
            self.with(|bytes| std::mem::swap(bytes, &mut batch));
            if batch.is_empty() {
                self.0.written.notified().await;
            } else {
                self.0.room.notify_one();
                pipe.write_all(&batch).await?;
                batch.clear();
            }
        }
    }
}

/// Standard input and output as lines.
pub(crate) fn lines(
    backlog: &Backlog,
) -> io::Result<
    Lines<
        impl Sink<String, Error = io::Error> + Send + 'static,
        impl Stream<Item = io::Result<String>> + Send + 'static,
    >,
> {
    let reader = io::stdin().as_fd().try_clone_to_owned()?;
    let writer = io::stdout().as_fd().try_clone_to_owned()?;
    let reader = pipe::Receiver::from_owned_fd(reader)?;
    let writer = pipe::Sender::from_owned_fd(writer)?;
    tokio::spawn(backlog.clone().write_all(writer));
    let outgoing = futures::sink::unfold(backlog.clone(), async |backlog: Backlog, line| {
        backlog.pass(line).await;
        Ok(backlog)
    });
    let incoming = BufReader::with_capacity(IN_BUFFER, reader.compat()).lines();
    Ok(Lines::new(Box::pin(outgoing), incoming))
}
