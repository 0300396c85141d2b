//! Lines from a stream of bytes.

use alloc::vec::Vec;

/// Cuts a stream into lines, without copying them.
///
/// The driver appends what it reads to [`Lines::buffer`] and calls [`Lines::next`] until it gives nothing.
/// Lines end with a line feed; a carriage return before it and a byte order mark at the start of the stream are taken off, blank lines are skipped.
/// Cutting happens on bytes, so a character split over two reads is whole again before anybody decodes it.
///
/// A line longer than the limit is dropped up to its end and reported once; what follows is read as usual.
#[derive(Debug)]
pub struct Lines {
    buffer: Vec<u8>,
    /// Where the current line starts.
    start: usize,
    /// Up to where the current line has been searched for its end.
    scanned: usize,
    /// How many bytes of an over-long line are gone already; zero when none is being dropped.
    dropped: usize,
    at_start_of_stream: bool,
    limit: usize,
}

/// One piece of the stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A line without its end, never empty.
    Line(&'a [u8]),
    /// A line was longer than the limit, and is gone.
    TooLong {
        /// How long it was, its end not counted.
        length: usize,
    },
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Lines {
    /// Lines of at most `limit` bytes each.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
            dropped: 0,
            at_start_of_stream: true,
            limit,
        }
    }

    /// Where the driver appends what it reads.
    ///
    /// Lines that were already given out are removed by this call, so what is left is one unfinished line.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.scanned -= self.start;
            self.start = 0;
        }
        &mut self.buffer
    }

    /// The next line, if all of it is there.
    #[expect(clippy::should_implement_trait, reason = "the item borrows from self")]
    pub fn next(&mut self) -> Option<Frame<'_>> {
        loop {
            let Some(found) = memchr::memchr(b'\n', &self.buffer[self.scanned..]) else {
                self.scanned = self.buffer.len();
                if self.scanned - self.start > self.limit {
                    self.drop_unfinished();
                }
                return None;
            };
            let (start, end) = (self.start, self.scanned + found);
            self.start = end + 1;
            self.scanned = self.start;
            let length = core::mem::take(&mut self.dropped) + (end - start);
            if length > self.limit {
                self.at_start_of_stream = false;
                return Some(Frame::TooLong { length });
            }
            let line = self.trim(start, end);
            if !line.is_empty() {
                return Some(Frame::Line(&self.buffer[line]));
            }
        }
    }

    /// What is left when the stream has ended: a last line that nobody finished.
    pub fn finish(&mut self) -> Option<Frame<'_>> {
        let (start, end) = (self.start, self.buffer.len());
        self.start = end;
        self.scanned = end;
        let length = core::mem::take(&mut self.dropped) + (end - start);
        if length > self.limit {
            return Some(Frame::TooLong { length });
        }
        let line = self.trim(start, end);
        (!line.is_empty()).then(|| Frame::Line(&self.buffer[line]))
    }

    /// Lets go of the bytes of a line that is too long already, and of their memory.
    fn drop_unfinished(&mut self) {
        self.dropped += self.scanned - self.start;
        self.buffer.truncate(self.start);
        self.buffer.shrink_to_fit();
        self.scanned = self.start;
    }

    fn trim(&mut self, mut start: usize, mut end: usize) -> core::ops::Range<usize> {
        if core::mem::take(&mut self.at_start_of_stream)
            && self.buffer[start..end].starts_with(BYTE_ORDER_MARK)
        {
            start += BYTE_ORDER_MARK.len();
        }
        if self.buffer[start..end].ends_with(b"\r") {
            end -= 1;
        }
        if self.buffer[start..end].trim_ascii().is_empty() {
            return start..start;
        }
        start..end
    }
}

#[cfg(test)]
mod tests {
    use alloc::{
        string::{String, ToString},
        vec,
    };

    use super::*;

    fn read(limit: usize, pieces: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::new(limit);
        let mut seen = Vec::new();
        let show = |frame: Frame<'_>| match frame {
            Frame::Line(line) => String::from_utf8(line.to_vec()).unwrap(),
            Frame::TooLong { length } => length.to_string(),
        };
        for piece in pieces {
            lines.buffer().extend_from_slice(piece);
            while let Some(frame) = lines.next() {
                seen.push(show(frame));
            }
        }
        seen.extend(lines.finish().map(show));
        assert_eq!(lines.finish(), None);
        seen
    }

    #[test]
    fn lines_are_the_same_however_the_stream_is_cut() {
        let stream = "\u{feff}{\"a\":1}\r\n\n  \r\n{\"ä\":\"€\"}\nlast".as_bytes();
        let expected = vec!["{\"a\":1}", "{\"ä\":\"€\"}", "last"];
        for first in 0..=stream.len() {
            for second in first..=stream.len() {
                let pieces = [&stream[..first], &stream[first..second], &stream[second..]];
                assert_eq!(read(64, &pieces), expected, "cut at {first} and {second}");
            }
        }
    }

    #[test]
    fn a_line_at_the_limit_passes_and_a_longer_one_is_reported_once() {
        assert_eq!(read(4, &[b"abcd\nabcde\nef\n"]), ["abcd", "5", "ef"]);
        assert_eq!(
            read(4, &[b"abc", b"defg", b"hij", b"k\nef\n"]),
            ["11", "ef"]
        );
        assert_eq!(read(4, &[b"ab\nabcdefgh", b"i"]), ["ab", "9"]);
    }

    #[test]
    fn an_over_long_line_is_not_kept_in_memory() {
        let mut lines = Lines::new(1024);
        for _ in 0..1024 {
            lines.buffer().extend_from_slice(&[b'x'; 1024]);
            assert_eq!(lines.next(), None);
            assert!(lines.buffer().len() <= 1024);
        }
        lines.buffer().extend_from_slice(b"\n{}\n");
        assert_eq!(lines.next(), Some(Frame::TooLong { length: 1 << 20 }));
        assert_eq!(lines.next(), Some(Frame::Line(b"{}")));
    }

    #[test]
    fn only_the_first_line_can_have_a_byte_order_mark() {
        assert_eq!(read(64, &["a\n\u{feff}b\n".as_bytes()]), ["a", "\u{feff}b"]);
    }
}
