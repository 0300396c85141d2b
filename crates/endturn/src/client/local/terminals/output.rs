//! The end of what a command has written, as text.

use std::collections::VecDeque;

/// Takes bytes as they come, and keeps the end of the text that they are.
#[derive(Debug)]
pub(super) struct Output {
    /// Valid UTF-8, never more than `limit`.
    kept: VecDeque<u8>,
    /// The beginning of a character whose rest has not come yet; at most three bytes.
    begun: Vec<u8>,
    limit: usize,
    truncated: bool,
}

impl Output {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            kept: VecDeque::new(),
            begun: Vec::new(),
            limit,
            truncated: false,
        }
    }

    pub(super) fn text(&self) -> String {
        let (front, back) = self.kept.as_slices();
        // Together they are valid, so this replaces nothing.
        String::from_utf8_lossy(&[front, back].concat()).into_owned()
    }

    pub(super) fn truncated(&self) -> bool {
        self.truncated
    }

    /// Adds bytes; those that are not UTF-8 become U+FFFD.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.begun.is_empty() {
            return self.decode(bytes);
        }
        let mut joined = std::mem::take(&mut self.begun);
        joined.extend_from_slice(bytes);
        self.decode(&joined);
    }

    /// Says that no more bytes will come.
    pub(super) fn finish(&mut self) {
        if !std::mem::take(&mut self.begun).is_empty() {
            self.keep("\u{FFFD}");
        }
    }

    fn decode(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.keep(chunk.valid());
            let invalid = chunk.invalid();
            if invalid.is_empty() {
                continue;
            }
            let begun =
                std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if begun && chunks.peek().is_none() {
                self.begun = invalid.to_vec();
            } else {
                self.keep("\u{FFFD}");
            }
        }
    }

    fn keep(&mut self, text: &str) {
        if text.len() > self.limit {
            let mut start = text.len() - self.limit;
            while !text.is_char_boundary(start) {
                start += 1;
            }
            self.kept.clear();
            self.kept.extend(&text.as_bytes()[start..]);
            self.truncated = true;
            return;
        }
        let excess = (self.kept.len() + text.len()).saturating_sub(self.limit);
        if excess > 0 {
            self.truncated = true;
            self.kept.drain(..excess);
            while self.kept.front().is_some_and(|byte| byte & 0xC0 == 0x80) {
                self.kept.pop_front();
            }
        }
        self.kept.extend(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(limit: usize, parts: &[&[u8]]) -> (String, bool) {
        let mut output = Output::new(limit);
        for part in parts {
            output.push(part);
        }
        output.finish();
        assert!(output.kept.len() <= limit);
        (output.text(), output.truncated())
    }

    /// The whole text at once.
    fn expected(limit: usize, bytes: &[u8]) -> (String, bool) {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let mut start = text.len().saturating_sub(limit);
        while !text.is_char_boundary(start) {
            start += 1;
        }
        (text[start..].to_owned(), start > 0)
    }

    #[test]
    fn the_end_is_kept_from_a_character_boundary_on_at_every_limit_and_split() {
        // One, two, three and four bytes, a byte that is none, and a character that is cut off.
        let bytes = "aé€😀z".bytes().chain([0xFF, b'b', 0xF0, 0x9F, 0x98]);
        let bytes: Vec<u8> = bytes.collect();
        for limit in 0..=bytes.len() + 9 {
            for first in 0..=bytes.len() {
                for second in first..=bytes.len() {
                    let parts = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                    let expected = expected(limit, &bytes);
                    assert_eq!(of(limit, &parts), expected, "{limit} {first} {second}");
                }
            }
        }
    }

    #[test]
    fn a_character_that_has_only_begun_is_not_shown_yet() {
        let mut output = Output::new(100);
        output.push(b"a\xE2\x82");
        assert_eq!(output.text(), "a");
        output.push(b"\xAC");
        assert_eq!(output.text(), "a€");
        assert!(!output.truncated());
    }

    proptest! {
        #[test]
        fn the_way_in_which_bytes_come_makes_no_difference(
            parts in prop::collection::vec(
                prop::collection::vec(
                    prop_oneof![any::<u8>(), Just(0xE2), Just(0x82), Just(0xAC), Just(b'a')],
                    0..6,
                ),
                0..8,
            ),
            limit in 0_usize..24,
        ) {
            let slices: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(of(limit, &slices), expected(limit, &parts.concat()));
        }
    }
}
