//! From the outbox to the transport.

use std::io;

use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::{Connection, Side};

/// Writes what is put into the outbox, each batch with one call, until the outbox is closed and empty.
pub(super) async fn write_all<S: Side>(
    connection: &Connection<S>,
    mut writer: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut batch = Vec::new();
    loop {
        let (taken, closed) =
            connection.apply(|state, _| (state.outbox.take(&mut batch), state.outbox.is_closed()));
        if taken {
            connection.nudge();
            writer.write_all(&batch).await?;
            // A transport may keep bytes back until it is flushed.
            writer.flush().await?;
            batch.clear();
        } else if closed {
            return writer.shutdown().await;
        } else {
            connection.0.written.notified().await;
        }
    }
}
