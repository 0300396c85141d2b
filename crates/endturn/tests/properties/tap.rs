//! Listens at one end of a connection.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use endturn::transport::{BoxReader, BoxWriter, Transport};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::{
    script::Reads,
    trace::{End, Event, Trace},
};

/// The same transport, with everything that goes through it behind the handshake in the trace.
pub(crate) fn tap(transport: Transport, trace: &Trace, end: End, reads: Reads) -> Transport {
    let (reader, writer) = transport.into_parts();
    let reader = Reader {
        inner: reader,
        trace: trace.clone(),
        end,
        reads,
        held: Vec::new(),
        lines: Lines::default(),
    };
    let writer = Writer {
        inner: writer,
        trace: trace.clone(),
        end,
        lines: Lines::default(),
    };
    Transport::new(reader, writer)
}

/// The lines that go one way.
#[derive(Default)]
struct Lines {
    /// The beginning of a line that came in part.
    line: Vec<u8>,
    /// The first message of either direction, `initialize` or its answer, has passed.
    shaken_hands: bool,
}

impl Lines {
    /// Takes the lines that `bytes` complete; what is left over begins the next one.
    fn cut(&mut self, bytes: &[u8]) -> Vec<Value> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if self.line.ends_with(b"\n") {
                let text = String::from_utf8_lossy(&self.line);
                // A process may print other things among its messages.
                let line = serde_json::from_str(&text).unwrap_or_else(|_| text.trim_end().into());
                self.line.clear();
                if Value::is_object(&line) && !std::mem::replace(&mut self.shaken_hands, true) {
                    let is_request = line["method"] == "initialize";
                    let is_answer = line["result"]["protocolVersion"] == 1;
                    assert!(is_request || is_answer, "no handshake: {line}");
                } else {
                    lines.push(line);
                }
            }
        }
        lines
    }
}

struct Reader {
    inner: BoxReader,
    trace: Trace,
    end: End,
    reads: Reads,
    /// What has arrived and was not handed over.
    held: Vec<u8>,
    lines: Lines,
}

impl AsyncRead for Reader {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let mut pen = this.trace.pen(this.end);
        if this.held.is_empty() {
            let mut chunk = [0; 8 * 1024];
            let mut chunk = ReadBuf::new(&mut chunk);
            let read = ready!(Pin::new(&mut this.inner).poll_read(context, &mut chunk));
            if read.is_err() || chunk.filled().is_empty() {
                pen.record(Event::Lost);
                return Poll::Ready(read);
            }
            this.held.extend_from_slice(chunk.filled());
        }
        let piece = match this.reads {
            Reads::Chunks => this.held.len(),
            Reads::Lines => {
                let end = this.held.iter().position(|byte| *byte == b'\n');
                end.map_or(this.held.len(), |end| end + 1)
            }
            Reads::Pieces(size) => size.min(this.held.len()),
        };
        let piece: Vec<u8> = this.held.drain(..piece.min(buffer.remaining())).collect();
        buffer.put_slice(&piece);
        for line in this.lines.cut(&piece) {
            pen.record(Event::Read(line));
        }
        Poll::Ready(Ok(()))
    }
}

struct Writer {
    inner: BoxWriter,
    trace: Trace,
    end: End,
    lines: Lines,
}

impl AsyncWrite for Writer {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let mut pen = this.trace.pen(this.end);
        let written = ready!(Pin::new(&mut this.inner).poll_write(context, bytes));
        match &written {
            Ok(count) => {
                for line in this.lines.cut(&bytes[..*count]) {
                    pen.record(Event::Wrote(line));
                }
            }
            Err(_) => pen.record(Event::Lost),
        }
        Poll::Ready(written)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(context)
    }
}
