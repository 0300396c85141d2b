//! A pair of transports inside one process.

use super::Transport;

/// How many bytes may be under way in each direction before a writer has to wait.
///
/// A pipe on Linux holds as much, so code that runs in memory meets the back-pressure it will meet
/// between processes.
const CAPACITY: usize = 64 * 1024;

/// Makes two transports, each of which leads to the other.
///
/// For tests, and for an agent that lives in the same program as its client.
/// No file descriptor, thread or task is behind it, and it works on a paused tokio clock.
///
/// Up to 64 KiB may be under way in each direction; after that a writer waits until the other side
/// has read. That is what a Linux pipe holds, so a peer that stops reading is as noticeable here as
/// between two processes.
///
/// Dropping one of the two is the end of input for the other, which can still read what was written
/// before; its own writes then fail with [`BrokenPipe`](std::io::ErrorKind::BrokenPipe).
///
/// # Examples
///
/// ```
/// use endturn::transport::memory;
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let (agent, client) = memory();
/// let (_, mut to_agent) = client.into_parts();
/// let (mut from_client, _) = agent.into_parts();
///
/// to_agent.write_all(b"hello\n").await?;
/// let mut line = [0; 6];
/// from_client.read_exact(&mut line).await?;
/// assert_eq!(&line, b"hello\n");
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn memory() -> (Transport, Transport) {
    // A stream pair for each direction, of which one way is used. Splitting a single pair instead
    // would keep both directions open until the reader and the writer are both gone, and a
    // connection that only drops its writer would never be noticed.
    let (left_reader, right_writer) = tokio::io::duplex(CAPACITY);
    let (right_reader, left_writer) = tokio::io::duplex(CAPACITY);
    (
        Transport::new(left_reader, left_writer),
        Transport::new(right_reader, right_writer),
    )
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn dropping_one_side_is_end_of_input_for_the_other() {
        let (left, right) = memory();
        let (reader, mut writer) = left.into_parts();
        writer.write_all(b"last words").await.unwrap();
        drop((reader, writer));

        let (mut reader, mut writer) = right.into_parts();
        let mut read = String::new();
        reader.read_to_string(&mut read).await.unwrap();
        assert_eq!(read, "last words");
        let error = writer.write_all(b"too late").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    }

    #[tokio::test]
    async fn dropping_only_the_writer_is_end_of_input_and_leaves_the_other_direction_open() {
        let (left, right) = memory();
        let (mut left_reader, left_writer) = left.into_parts();
        let (mut right_reader, mut right_writer) = right.into_parts();
        drop(left_writer);
        assert_eq!(right_reader.read(&mut [0; 8]).await.unwrap(), 0);

        right_writer.write_all(b"answer").await.unwrap();
        drop(right_writer);
        let mut read = String::new();
        left_reader.read_to_string(&mut read).await.unwrap();
        assert_eq!(read, "answer");
    }
}
