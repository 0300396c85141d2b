//! This process's own standard input and output.
//!
//! tokio's `stdin()` and `stdout()` hand every read and write to a helper thread, since a file or a
//! terminal cannot be polled. An agent is nearly always started with pipes or socket pairs, which
//! can; going through the reactor instead makes a turn take a third of the time. So on Unix each
//! end is looked at, and registered with the reactor where that works.
//!
//! The price is the non-blocking flag. It belongs to the open file description, which other
//! processes and other descriptors can share, so it is treated as borrowed:
//!
//! - the flag is read from both ends before it is set on either, since the two can be one socket;
//! - it is put back when both halves of the transport are gone, and not before: one half must not
//!   make the other block;
//! - an end that standard error shares (`2>&1`) is left blocking and goes through the thread, since
//!   a log line written to a full non-blocking pipe fails.

#[cfg(unix)]
mod borrowed;
#[cfg(unix)]
mod nonblocking;
#[cfg(unix)]
mod unix;

use std::io;

use super::Transport;

/// The standard input and output of this process: how an agent reaches whoever started it.
///
/// On Unix an end that is a pipe or a socket is read and written without blocking, through tokio's
/// reactor. A file or a terminal, an end that standard error shares (`2>&1`), and both ends on other
/// systems go through tokio's helper thread, which costs some 40 microseconds for a round trip.
/// The choice is made for each end on its own and changes nothing but the speed.
///
/// While the transport is in use:
///
/// - Nothing else may write to standard output: a stray `println!` lands in the middle of the
///   protocol, and panics if the pipe happens to be full. Write logs to standard error.
/// - Nothing else may read standard input. What has been read through [`std::io::stdin`] before is
///   lost to the transport.
/// - Child processes should not inherit either (`Stdio::null()`, `Stdio::piped()`): they would take
///   part in the protocol, and would find the ends non-blocking.
/// - One transport at a time: call this once.
///
/// # What dropping it does
///
/// When both halves are gone, the ends block again if they did before. The file descriptors 0
/// and 1 belong to the process and stay open, so the peer sees the end of the output when the
/// process exits, not earlier; the same goes for shutting the writer down. A process that ends
/// without dropping the transport (`std::process::exit`, a signal) leaves the ends non-blocking,
/// which matters only if another process goes on using the same pipe.
///
/// An end that goes through the helper thread has a read under way that nothing can take back: with
/// standard input on a terminal, a runtime that is dropped waits for the next line. Use
/// [`Runtime::shutdown_background`](tokio::runtime::Runtime::shutdown_background), or leave `main`
/// through [`std::process::exit`].
///
/// # Errors
///
/// If called outside a tokio runtime, or if one of the two descriptors is closed. Reading and
/// writing then fail as pipes do: a peer that has gone is
/// [`BrokenPipe`](std::io::ErrorKind::BrokenPipe) for a writer and the end of input for a reader.
///
/// # Panics
///
/// If the runtime was built without [`enable_io`](tokio::runtime::Builder::enable_io).
///
/// # Examples
///
/// ```no_run
/// use endturn::transport::stdio;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let transport = stdio()?;
/// # drop(transport);
/// # Ok(())
/// # }
/// ```
pub fn stdio() -> io::Result<Transport> {
    tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
    #[cfg(unix)]
    return unix::open();
    #[cfg(not(unix))]
    return Ok(Transport::new(tokio::io::stdin(), tokio::io::stdout()));
}
