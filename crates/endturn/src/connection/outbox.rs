//! The bytes on their way out.

use std::mem;

use endturn_core::wire::Id;
use serde::Serialize;

use crate::schema::v1;

/// Messages that have their place on the wire, as the bytes they will be.
///
/// A message is serialised once, into this buffer; its place in the buffer is its place on the wire.
/// The writer takes the whole buffer at once.
pub(crate) struct Outbox {
    bytes: Vec<u8>,
    high_water: usize,
    /// The writer sleeps until it is told that there is something to write.
    writer_idle: bool,
    /// The connection is gone: what is in the buffer may still be written, nothing may be added.
    closed: bool,
}

/// A buffer that has grown beyond this many times the high-water mark is not kept, since only a rare large message needs it.
const KEPT_CAPACITY: usize = 4;

impl Outbox {
    pub(crate) fn new(high_water: usize) -> Self {
        Self {
            bytes: Vec::new(),
            high_water,
            writer_idle: false,
            closed: false,
        }
    }

    /// Whether an update or a request may be added; answers, cancels and errors always may.
    pub(crate) fn has_room(&self) -> bool {
        self.closed || self.bytes.len() < self.high_water
    }

    /// Adds a notification.
    pub(crate) fn notification(
        &mut self,
        method: &str,
        params: &impl Serialize,
    ) -> serde_json::Result<()> {
        self.message(|out| {
            out.extend_from_slice(br#"{"jsonrpc":"2.0","method":"#);
            write_name(out, method)?;
            out.extend_from_slice(br#","params":"#);
            serde_json::to_writer(&mut *out, params)
        })
    }

    /// Adds a request whose parameters are JSON already.
    pub(crate) fn request(
        &mut self,
        id: i64,
        method: &str,
        params: &[u8],
    ) -> serde_json::Result<()> {
        self.message(|out| {
            out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
            serde_json::to_writer(&mut *out, &id)?;
            out.extend_from_slice(br#","method":"#);
            write_name(out, method)?;
            out.extend_from_slice(br#","params":"#);
            out.extend_from_slice(params);
            Ok(())
        })
    }

    /// Adds an answer.
    ///
    /// A result that cannot be written as JSON becomes an internal error, because a request without an answer would be worse.
    pub(crate) fn answer<T: Serialize>(&mut self, id: &Id, answer: Result<&T, &v1::Error>) {
        let written = match answer {
            Ok(result) => self.answer_member(id, br#","result":"#, result),
            Err(error) => self.answer_member(id, br#","error":"#, error),
        };
        if let Err(error) = written {
            tracing::error!(%error, "an answer cannot be written as JSON");
            let error = v1::Error::internal_error();
            let written = self.answer_member(id, br#","error":"#, &error);
            debug_assert!(written.is_ok());
        }
    }

    fn answer_member(
        &mut self,
        id: &Id,
        member: &[u8],
        value: &impl Serialize,
    ) -> serde_json::Result<()> {
        self.message(|out| {
            out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
            id.write(out);
            out.extend_from_slice(member);
            serde_json::to_writer(&mut *out, value)
        })
    }

    /// Adds one whole line, or nothing; `write` leaves out the brace that ends it.
    pub(crate) fn message(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>,
    ) -> serde_json::Result<()> {
        if self.closed {
            return Ok(());
        }
        /// Takes a line back that was not finished, also when writing it panicked.
        struct Line<'a> {
            out: &'a mut Vec<u8>,
            start: usize,
        }
        impl Drop for Line<'_> {
            fn drop(&mut self) {
                self.out.truncate(self.start);
            }
        }
        let start = self.bytes.len();
        let mut line = Line {
            out: &mut self.bytes,
            start,
        };
        write(line.out)?;
        line.out.extend_from_slice(b"}\n");
        line.start = line.out.len();
        Ok(())
    }

    /// Whether an idle writer has to be told that there is something to write; it is told once.
    pub(crate) fn wakes_writer(&mut self) -> bool {
        !self.bytes.is_empty() && mem::take(&mut self.writer_idle)
    }

    /// Exchanges what is waiting for the writer's empty buffer.
    ///
    /// Gives `false` when nothing is waiting; the writer then counts as idle.
    pub(crate) fn take(&mut self, batch: &mut Vec<u8>) -> bool {
        debug_assert!(batch.is_empty());
        if self.bytes.is_empty() {
            self.writer_idle = true;
            return false;
        }
        batch.shrink_to(KEPT_CAPACITY * self.high_water);
        mem::swap(&mut self.bytes, batch);
        true
    }

    /// Lets nothing more in.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }
}

/// Writes a method's name as a JSON string; the protocol's own have nothing to escape.
fn write_name(out: &mut Vec<u8>, name: &str) -> serde_json::Result<()> {
    let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'/' | b'$' | b'.' | b'-');
    if !name.bytes().all(plain) {
        return serde_json::to_writer(out, name);
    }
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.push(b'"');
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde::ser::Error as _;

    use super::*;

    /// Writes some JSON before it fails or panics.
    struct Broken {
        panics: bool,
    }

    impl Serialize for Broken {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeSeq as _;
            let mut seq = serializer.serialize_seq(None)?;
            seq.serialize_element("half")?;
            assert!(!self.panics, "while serialising");
            Err(S::Error::custom("no"))
        }
    }

    fn text(outbox: &mut Outbox) -> String {
        let mut batch = Vec::new();
        outbox.take(&mut batch);
        String::from_utf8(batch).unwrap()
    }

    #[test]
    fn a_message_that_cannot_be_written_leaves_nothing_behind() {
        let mut outbox = Outbox::new(1024);
        outbox.notification("a", &1).unwrap();
        outbox
            .notification("b", &Broken { panics: false })
            .unwrap_err();
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            drop(outbox.notification("b", &Broken { panics: true }));
        }))
        .unwrap_err();
        outbox.notification("c", &2).unwrap();
        assert_eq!(
            text(&mut outbox),
            concat!(
                r#"{"jsonrpc":"2.0","method":"a","params":1}"#,
                "\n",
                r#"{"jsonrpc":"2.0","method":"c","params":2}"#,
                "\n",
            )
        );
    }

    #[test]
    fn an_answer_that_cannot_be_written_becomes_an_internal_error() {
        let mut outbox = Outbox::new(1024);
        outbox.answer(&Id::from("x"), Ok(&Broken { panics: false }));
        assert_eq!(
            text(&mut outbox),
            concat!(
                r#"{"jsonrpc":"2.0","id":"x","error":{"code":-32603,"message":"Internal error"}}"#,
                "\n"
            )
        );
    }

    #[test]
    fn a_closed_outbox_keeps_what_it_has_and_takes_no_more() {
        let mut outbox = Outbox::new(1024);
        outbox.notification("a", &1).unwrap();
        outbox.close();
        outbox.notification("b", &2).unwrap();
        assert_eq!(
            text(&mut outbox),
            "{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":1}\n"
        );
    }
}
