//! One direction of the connection.

use std::fmt;
use std::hash::{Hash, Hasher};

use super::Checked;
use crate::explore::Violation;

/// A queue with room for all that can ever be in it, so that its bound limits no interleaving.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Pipe<T, const ROOM: usize> {
    messages: [Option<T>; ROOM],
}

impl<T: Copy, const ROOM: usize> Pipe<T, ROOM> {
    pub(super) const fn empty() -> Self {
        Self {
            messages: [None; ROOM],
        }
    }

    pub(super) fn push(&mut self, message: T) -> Checked {
        let room = self
            .messages
            .iter_mut()
            .find(|place| place.is_none())
            .ok_or(Violation {
                rule: "one-answer",
                says: "nobody sends more messages than the scenario has room for",
            })?;
        *room = Some(message);
        Ok(())
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        let first = self.messages[0].take();
        self.messages.rotate_left(1);
        first
    }

    pub(super) fn clear(&mut self) {
        *self = Self::empty();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages[0].is_none()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = T> {
        self.messages.iter().copied().flatten()
    }
}

impl<T: Copy + Hash, const ROOM: usize> Hash for Pipe<T, ROOM> {
    /// Most pipes are nearly empty, so the unused room is left out.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.iter().for_each(|message| message.hash(state));
    }
}

impl<T: Copy + fmt::Debug, const ROOM: usize> fmt::Debug for Pipe<T, ROOM> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
