//! What is to be written to standard output, and whether a line is left open by it.

use crate::style::Styles;

/// Collects output.
pub(super) struct Page {
    bytes: Vec<u8>,
    mid_line: bool,
    pub(super) styles: Styles,
}

impl Page {
    pub(super) fn new(styles: Styles) -> Self {
        Self {
            bytes: Vec::new(),
            mid_line: false,
            styles,
        }
    }

    /// Adds text as it is.
    pub(super) fn raw(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        if let Some(last) = text.as_bytes().last() {
            self.mid_line = *last != b'\n';
        }
    }

    /// Adds text without a meaning of its own, such as colours.
    pub(super) fn unseen(&mut self, codes: &str) {
        self.bytes.extend_from_slice(codes.as_bytes());
    }

    /// Adds a line of its own.
    pub(super) fn line(&mut self, text: &str) {
        self.fresh_line();
        self.raw(text);
        self.raw("\n");
    }

    /// Ends the line if one is open.
    pub(super) fn fresh_line(&mut self) {
        if self.mid_line {
            self.raw("\n");
        }
    }

    pub(super) fn is_mid_line(&self) -> bool {
        self.mid_line
    }

    /// Somebody else has ended the line on the terminal.
    pub(super) fn line_was_ended(&mut self) {
        self.mid_line = false;
    }

    /// Takes what has come together.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}
