//! What keeps a connection going, and how it ends.

use std::{io, pin::pin, sync::Arc, time::Duration};

use tokio::{
    task::JoinHandle,
    time::{Instant, sleep_until, timeout},
};
use tracing::Instrument as _;

use super::{Connection, Side, reader::read_all, writer::write_all};
use crate::{
    error::{Error, Lost},
    transport::Transport,
};

/// How long a peer that is on its way out gets to read what was already on the wire.
///
/// It is for the answers in a pipe's buffer, which take no time at all unless nobody reads them; then waiting longer would not help.
const FLUSH_LIMIT: Duration = Duration::from_secs(2);

/// Runs a connection until it ends: by the peer (`Ok`), from this side (`Ok`), or by a fault (`Err`).
///
/// Dropping the future ends the connection at once.
pub(crate) async fn drive<S: Side>(
    connection: Connection<S>,
    transport: Transport,
) -> Result<(), Error> {
    // What handlers log stands inside of it, since their tasks are started from here.
    let span = tracing::debug_span!("connection", side = S::NAME);
    let running = run(connection, transport);
    // Entering a span that nobody looks at would still be work for every message.
    if span.is_disabled() {
        running.await
    } else {
        running.instrument(span).await
    }
}

async fn run<S: Side>(connection: Connection<S>, transport: Transport) -> Result<(), Error> {
    /// Nothing that is open may outlive the connection, whichever way it ends.
    struct FinishOnDrop<S: Side>(Connection<S>);
    impl<S: Side> Drop for FinishOnDrop<S> {
        fn drop(&mut self) {
            self.0.finish();
        }
    }
    let _guard = FinishOnDrop(connection.clone());
    // On a task of its own, because this one is woken by every message and has to look at all that it waits for.
    let mut clock = AbortOnDrop(tokio::spawn(run_timers(connection.clone())));

    let (reader, writer) = transport.into_parts();
    let mut writing = pin!(write_all(&connection, writer));
    let mut written = false;
    let end = tokio::select! {
        // In the order in which they have most to do.
        biased;
        read = read_all(&connection, reader) => read.map(|()| Lost::EndOfInput),
        end = &mut writing => {
            written = true;
            end.map(|()| Lost::Closed)
        }
        _ = &mut clock.0 => Ok(Lost::Closed),
    };
    let (reason, result) = match end {
        Ok(reason) => (reason, Ok(())),
        Err(error) if is_hang_up(&error) => (Lost::EndOfInput, Ok(())),
        Err(error) => {
            let lost = Lost::Io(Arc::new(error));
            (lost.clone(), Err(lost.into()))
        }
    };
    tracing::debug!(%reason, "connection ended");
    connection.lose(reason);
    if !written && timeout(FLUSH_LIMIT, writing).await.is_err() {
        tracing::debug!("the peer did not read what was left for it");
    }
    result
}

/// A peer that goes away without closing its end first; there is nothing wrong with that.
fn is_hang_up(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::NotConnected
    )
}

/// A task that ends with whoever waits for it.
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Carries out what is due, until somebody on this side wants the connection to end.
async fn run_timers<S: Side>(connection: Connection<S>) {
    let mut closing = pin!(connection.0.closing.notified());
    loop {
        let now = Instant::now();
        while let Some(timer) = connection.apply(|state, _| state.timers.pop(now)) {
            S::expired(&connection, timer);
        }
        let next = connection.apply(|state, _| state.timers.arm());
        let due = async {
            match next {
                None => std::future::pending().await,
                Some(at) => sleep_until(at).await,
            }
        };
        tokio::select! {
            () = &mut closing => return,
            () = connection.0.rearmed.notified() => {}
            () = due => {}
        }
    }
}
