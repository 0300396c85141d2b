//! How bytes reach the other side.
//!
//! A [`Transport`] is a pair of byte streams: what the peer sends and what the peer receives.
//! It knows nothing of the protocol.
//! The connection cuts the incoming bytes into lines, one JSON-RPC message each, and writes whole
//! lines; so anything that carries bytes in order, without loss, can carry ACP.
//!
//! | constructor | feature | connects to |
//! |---|---|---|
//! | `stdio` | `stdio` | whoever started this process: the usual case for an agent |
//! | `AgentCommand` | `process` | an agent started as a child process: the usual case for a client |
//! | [`memory`] | | the other half of a pair in the same process: tests, and agents built into an editor |
//! | [`Transport::new`] | | any `AsyncRead` and `AsyncWrite`: sockets, SSH channels, pseudo-terminals |
//!
//! # Rules for a transport of your own
//!
//! - End of input is a read of zero bytes. The connection ends when it sees one.
//! - The connection flushes after every batch of messages, so a writer may buffer until then.
//! - `poll_shutdown` tells the peer that nothing more will come, where the stream can say so.
//!   Dropping the writer must do the same: it is how a connection that is torn down ends.
//! - A read or write error is taken as a lost connection. Neither is tried again, so `Interrupted`
//!   must be dealt with below.
//! - Both halves must be able to make progress on their own. A writer that blocks its thread until
//!   the peer has read keeps the reader from seeing a cancel.

mod memory;
#[cfg(feature = "process")]
pub(crate) mod process;
#[cfg(feature = "stdio")]
mod stdio;

use std::fmt;

use tokio::io::{AsyncRead, AsyncWrite};

pub use self::memory::memory;
#[cfg(feature = "process")]
pub use self::process::{AgentCommand, AgentProcess, Stderr};
#[cfg(feature = "stdio")]
pub use self::stdio::stdio;

/// The receiving half of a [`Transport`].
pub type BoxReader = Box<dyn AsyncRead + Send + Unpin>;

/// The sending half of a [`Transport`].
pub type BoxWriter = Box<dyn AsyncWrite + Send + Unpin>;

/// Two byte streams that lead to a peer.
///
/// See the [module documentation](self) for where one comes from and what the two streams must do.
///
/// Dropping a transport drops both streams, which ends the connection as far as the peer is
/// concerned, unless the constructor says otherwise.
///
/// # Examples
///
/// Over a TCP socket:
///
/// ```no_run
/// use endturn::transport::Transport;
/// use tokio::net::TcpStream;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let socket = TcpStream::connect("localhost:4000").await?;
/// // Messages are small and each one is waited for: do not let the kernel collect them.
/// socket.set_nodelay(true)?;
/// let (reader, writer) = socket.into_split();
/// let transport = Transport::new(reader, writer);
/// # Ok(())
/// # }
/// ```
pub struct Transport {
    reader: BoxReader,
    writer: BoxWriter,
}

impl Transport {
    /// Makes a transport of a stream to read from and one to write to.
    ///
    /// The streams are boxed, so that the type of a connection does not depend on what it runs
    /// over. The price is one indirect call per read and write, and the connection reads and
    /// writes in large pieces.
    ///
    /// # Examples
    ///
    /// ```
    /// use endturn::transport::Transport;
    ///
    /// let (ours, theirs) = tokio::io::duplex(1024);
    /// let (reader, writer) = tokio::io::split(ours);
    /// let transport = Transport::new(reader, writer);
    /// # drop((transport, theirs));
    /// ```
    pub fn new(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self {
            reader: Box::new(reader),
            writer: Box::new(writer),
        }
    }

    /// Takes the transport apart, to wrap one of its streams or to relay the bytes yourself.
    ///
    /// # Examples
    ///
    /// ```
    /// use endturn::transport::{Transport, memory};
    /// use tokio::io::{AsyncReadExt, BufWriter};
    ///
    /// # fn main() {
    /// let (transport, _peer) = memory();
    /// let (reader, writer) = transport.into_parts();
    /// // A peer that is only ever allowed to send a mebibyte.
    /// let transport = Transport::new(reader.take(1 << 20), BufWriter::new(writer));
    /// # drop(transport);
    /// # }
    /// ```
    #[must_use]
    pub fn into_parts(self) -> (BoxReader, BoxWriter) {
        (self.reader, self.writer)
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").finish_non_exhaustive()
    }
}
