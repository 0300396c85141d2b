//! What was said in a session.

use std::collections::VecDeque;

use super::HISTORY_BYTES;

/// Who has said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scripted) enum Speaker {
    User,
    Agent,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::scripted) struct Message {
    pub(in crate::scripted) id: String,
    pub(in crate::scripted) speaker: Speaker,
    pub(in crate::scripted) text: String,
}

/// The messages of a session, of which the oldest text goes first.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    messages: VecDeque<Message>,
    bytes: usize,
    begun: u64,
}

impl History {
    /// Begins a message of somebody; what they say belongs to it from now on.
    pub(super) fn begin(&mut self, speaker: Speaker) {
        self.begun += 1;
        // One that stayed empty says nothing.
        if self
            .messages
            .back()
            .is_some_and(|last| last.text.is_empty())
        {
            self.messages.pop_back();
        }
        self.messages.push_back(Message {
            id: format!("message-{}", self.begun),
            speaker,
            text: String::new(),
        });
    }

    /// Adds text to the last message.
    pub(super) fn add(&mut self, text: &str) {
        if let Some(last) = self.messages.back_mut() {
            last.text.push_str(text);
            self.bytes += text.len();
            self.forget();
        }
    }

    pub(super) fn messages(&self) -> Vec<Message> {
        let said = self.messages.iter();
        said.filter(|message| !message.text.is_empty())
            .cloned()
            .collect()
    }

    fn forget(&mut self) {
        while self.bytes > HISTORY_BYTES && self.messages.len() > 1 {
            if let Some(oldest) = self.messages.pop_front() {
                self.bytes -= oldest.text.len();
            }
        }
        let surplus = self.bytes.saturating_sub(HISTORY_BYTES);
        if let Some(last) = self.messages.front_mut().filter(|_| surplus > 0) {
            // More than needed, so that a flood does not move all of the text for each of its pieces.
            let mut end = (surplus + HISTORY_BYTES / 2).min(last.text.len());
            while !last.text.is_char_boundary(end) {
                end += 1;
            }
            last.text.drain(..end);
            self.bytes -= end;
        }
    }
}
