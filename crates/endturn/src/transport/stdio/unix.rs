//! Decides for each end whether it can be polled.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::sync::Arc;

use rustix::fs::{FileType, Stat, fstat};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use super::borrowed::Borrowed;
use super::nonblocking::{self, NonBlocking};
use crate::transport::{BoxReader, BoxWriter, Transport};

/// What stands behind a descriptor, with a duplicate that is ours to close.
#[derive(Debug)]
enum End {
    Pipe(OwnedFd),
    /// Node and others start their children with a pair of Unix sockets for each stream.
    Socket(OwnedFd),
    /// Left to tokio's helper thread.
    Blocking,
}

/// The transport over this process's standard input and output.
pub(super) fn open() -> io::Result<Transport> {
    // Standard error may well be closed; then nobody shares it.
    let stderr = fstat(io::stderr()).ok();
    let input = End::of(io::stdin(), stderr.as_ref())?;
    let output = End::of(io::stdout(), stderr.as_ref())?;
    transport(input, output)
}

/// Makes the two ends non-blocking, both before either is used, and hands them to the reactor.
fn transport(input: End, output: End) -> io::Result<Transport> {
    let polled = [input.descriptor(), output.descriptor()];
    let flags = Arc::new(NonBlocking::set(polled.into_iter().flatten())?);
    let reader: BoxReader = match input {
        End::Pipe(fd) => {
            let stream = pipe::Receiver::from_owned_fd(fd)?;
            Box::new(Borrowed::new(stream, Arc::clone(&flags)))
        }
        End::Socket(fd) => Box::new(Borrowed::new(socket(fd)?, Arc::clone(&flags))),
        End::Blocking => Box::new(tokio::io::stdin()),
    };
    let writer: BoxWriter = match output {
        End::Pipe(fd) => Box::new(Borrowed::new(pipe::Sender::from_owned_fd(fd)?, flags)),
        End::Socket(fd) => Box::new(Borrowed::new(socket(fd)?, flags)),
        End::Blocking => Box::new(tokio::io::stdout()),
    };
    Ok(Transport { reader, writer })
}

/// A Unix socket by type, but every other stream socket is read and written by the same calls.
fn socket(fd: OwnedFd) -> io::Result<UnixStream> {
    UnixStream::from_std(StdUnixStream::from(fd))
}

impl End {
    fn of(fd: impl AsFd, stderr: Option<&Stat>) -> io::Result<Self> {
        let fd = fd.as_fd();
        let stat = fstat(fd)?;
        // Two descriptors of one pipe or socket need not share a description, but nothing portable
        // tells, and the thread is never wrong. An end that is non-blocking already is another
        // matter: log lines can fail as it is, and the thread would fail with `WouldBlock`.
        let shared = stderr.is_some_and(|other| is_same_file(&stat, other));
        if shared && !nonblocking::is_set(fd)? {
            return Ok(Self::Blocking);
        }
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Fifo => Ok(Self::Pipe(fd.try_clone_to_owned()?)),
            FileType::Socket => Ok(Self::Socket(fd.try_clone_to_owned()?)),
            // A terminal could be polled, but shares its description with the shell. A file is
            // always ready, and epoll refuses it.
            FileType::RegularFile
            | FileType::Directory
            | FileType::Symlink
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Ok(Self::Blocking),
        }
    }

    fn descriptor(&self) -> Option<&OwnedFd> {
        match self {
            Self::Pipe(fd) | Self::Socket(fd) => Some(fd),
            Self::Blocking => None,
        }
    }
}

fn is_same_file(left: &Stat, right: &Stat) -> bool {
    (left.st_dev, left.st_ino) == (right.st_dev, right.st_ino)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    fn end(fd: impl AsFd) -> End {
        End::of(fd, None).unwrap()
    }

    fn blocks(fd: impl AsFd) -> bool {
        !nonblocking::is_set(fd).unwrap()
    }

    /// More than a pipe or a socket holds, so that writes are partial, and not periodic in any
    /// power of two, so that a lost or repeated piece shows.
    fn bytes() -> Vec<u8> {
        (0..1_000_003_u32).map(|at| (at % 251) as u8).collect()
    }

    /// Sends everything both ways at the same time.
    async fn exchange(ours: Transport, theirs: Transport) {
        let send = async |writer: &mut BoxWriter| writer.write_all(&bytes()).await.unwrap();
        let receive = async |reader: &mut BoxReader| {
            let mut read = vec![0; bytes().len()];
            reader.read_exact(&mut read).await.unwrap();
            assert!(read == bytes());
        };
        let (mut our_reader, mut our_writer) = ours.into_parts();
        let (mut their_reader, mut their_writer) = theirs.into_parts();
        tokio::join!(
            send(&mut our_writer),
            receive(&mut our_reader),
            send(&mut their_writer),
            receive(&mut their_reader)
        );
    }

    #[tokio::test]
    async fn bytes_pass_through_pipes_intact_in_both_directions_at_once() {
        let (to_left, from_right) = io::pipe().unwrap();
        let (to_right, from_left) = io::pipe().unwrap();
        exchange(
            transport(end(&to_left), end(&from_left)).unwrap(),
            transport(end(&to_right), end(&from_right)).unwrap(),
        )
        .await;
    }

    #[tokio::test]
    async fn bytes_pass_through_one_socket_intact_in_both_directions_at_once() {
        let (left, right) = StdUnixStream::pair().unwrap();
        exchange(
            transport(end(&left), end(&left)).unwrap(),
            transport(end(&right), end(&right)).unwrap(),
        )
        .await;
        assert!(blocks(&left) && blocks(&right));
    }

    #[tokio::test]
    async fn the_ends_block_again_when_both_halves_are_gone_and_not_before() {
        let (socket, _peer) = StdUnixStream::pair().unwrap();
        let (reader, writer) = transport(end(&socket), end(&socket)).unwrap().into_parts();
        assert!(!blocks(&socket));
        drop(reader);
        assert!(!blocks(&socket), "the writer is still in use");
        drop(writer);
        assert!(blocks(&socket));
    }

    #[tokio::test]
    async fn a_peer_that_is_gone_is_end_of_input_and_broken_pipe() {
        let (input, peer_output) = io::pipe().unwrap();
        let (peer_input, output) = io::pipe().unwrap();
        let (mut reader, mut writer) = transport(end(&input), end(&output)).unwrap().into_parts();
        drop((peer_output, peer_input));
        assert_eq!(reader.read(&mut [0; 8]).await.unwrap(), 0);
        let error = writer.write_all(b"hello").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[tokio::test]
    async fn a_reader_that_waits_sees_the_end_of_input() {
        let (input, peer_output) = io::pipe().unwrap();
        let (_peer_input, output) = io::pipe().unwrap();
        let (mut reader, _writer) = transport(end(&input), end(&output)).unwrap().into_parts();
        let waiting = tokio::spawn(async move { reader.read(&mut [0; 8]).await.unwrap() });
        tokio::task::yield_now().await;
        drop(peer_output);
        assert_eq!(waiting.await.unwrap(), 0);
    }

    #[test]
    fn an_end_that_standard_error_shares_is_left_to_the_thread() {
        let (_reader, writer) = io::pipe().unwrap();
        let stderr = fstat(&writer).unwrap();
        assert!(matches!(
            End::of(&writer, Some(&stderr)).unwrap(),
            End::Blocking
        ));

        let (_other_reader, other) = io::pipe().unwrap();
        assert!(matches!(
            End::of(&other, Some(&stderr)).unwrap(),
            End::Pipe(_)
        ));
    }

    #[test]
    fn a_shared_end_that_is_non_blocking_already_is_polled() {
        let (writer, _peer) = StdUnixStream::pair().unwrap();
        writer.set_nonblocking(true).unwrap();
        let stderr = fstat(&writer).unwrap();
        assert!(matches!(
            End::of(&writer, Some(&stderr)).unwrap(),
            End::Socket(_)
        ));
    }

    #[test]
    fn a_file_is_left_to_the_thread() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert!(matches!(end(file), End::Blocking));
        let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
        assert!(matches!(end(file), End::Blocking));
    }
}
