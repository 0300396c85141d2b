//! The turn that runs, for those who may want to cancel it.

use std::cell::{Cell, RefCell};

use endturn::CancellationSignal;

use super::show::{CancelCause, Event, Show};

/// The turn that runs, if one does.
pub(super) struct Turn {
    running: RefCell<Option<CancellationSignal>>,
    interrupted: Cell<bool>,
    show: Show,
}

/// A turn runs as long as this lives.
pub(super) struct Running<'a> {
    turn: &'a Turn,
    pub(super) stop: CancellationSignal,
}

impl Turn {
    pub(super) fn new(show: Show) -> Self {
        Self {
            running: RefCell::new(None),
            interrupted: Cell::new(false),
            show,
        }
    }

    /// A turn begins.
    pub(super) fn begin(&self) -> Running<'_> {
        let stop = CancellationSignal::new();
        self.running.replace(Some(stop.clone()));
        self.interrupted.set(false);
        Running { turn: self, stop }
    }

    /// Ctrl-C: cancels the turn, unless there is none or this is not the first one.
    pub(super) fn interrupt(&self) -> bool {
        let first = self.running.borrow().is_some() && !self.interrupted.replace(true);
        if first {
            self.cancel(CancelCause::Interrupt);
        }
        first
    }

    pub(super) fn cancel(&self, cause: CancelCause) {
        if let Some(stop) = &*self.running.borrow() {
            if !stop.is_cancelled() {
                self.show.tell(Event::Cancel(cause));
            }
            stop.cancel();
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.turn.running.replace(None);
    }
}
