//! What is due, and when.

use std::{collections::BTreeSet, mem};

use tokio::time::Instant;

/// The timers of one connection.
///
/// A timer that is no longer needed is removed, so that many short turns under a long limit do not pile up.
pub(crate) struct Timers<T> {
    due: BTreeSet<(Instant, T)>,
    /// What the clock sleeps until; `None` while it is awake or has nothing to wait for.
    armed: Option<Instant>,
    clock_idle: bool,
}

impl<T: Copy + Ord> Timers<T> {
    pub(crate) fn insert(&mut self, at: Instant, timer: T) {
        self.due.insert((at, timer));
    }

    pub(crate) fn remove(&mut self, at: Instant, timer: T) {
        self.due.remove(&(at, timer));
    }

    pub(crate) fn clear(&mut self) {
        self.due.clear();
    }

    /// A timer that is due at `now`, if there is one.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<T> {
        let first = self.due.first().filter(|(at, _)| *at <= now).copied()?;
        self.due.remove(&first);
        Some(first.1)
    }

    /// When the clock has to look again; it counts as asleep until then.
    pub(crate) fn arm(&mut self) -> Option<Instant> {
        self.clock_idle = true;
        self.armed = self.due.first().map(|(at, _)| *at);
        self.armed
    }

    /// Whether a sleeping clock has to be woken, because something is due before what it waits for; it is woken once.
    pub(crate) fn wakes_clock(&mut self) -> bool {
        let earlier = match (self.due.first(), self.armed) {
            (Some((first, _)), Some(armed)) => *first < armed,
            (Some(_), None) => true,
            (None, _) => false,
        };
        earlier && mem::take(&mut self.clock_idle)
    }
}

impl<T> Default for Timers<T> {
    fn default() -> Self {
        Self {
            due: BTreeSet::new(),
            armed: None,
            clock_idle: false,
        }
    }
}
