//! What was seen of a run: every line at both ends, and what handlers and callers went through, in one order.
//!
//! Each end of the connection has a tap of its own.
//! A line counts as *written* when the transport has taken its last byte, and as *read* when the connection was handed its last byte; the trace's lock is held over the read or write itself, so no line is read before it was written, on any number of threads.
//!
//! What the order of two entries proves:
//!
//! - Lines that one end wrote stand in the order of the wire. But a line's place on the wire was fixed earlier, when it was put into the outbox, so it may have been decided before entries that stand above it.
//! - On a runtime with one thread, nothing comes between an entry and what the connection does about it: a line that was read was acted upon, a handler that finished has made its claim.
//! - On several threads only causes come before effects.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

/// Which end of the connection an entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum End {
    Agent,
    Client,
}

/// One thing that happened.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Milliseconds since the trace began, on tokio's clock.
    pub(crate) at: u64,
    pub(crate) end: End,
    pub(crate) event: Event,
}

/// What can happen at either end.
///
/// Requests are known by a label that stands in their parameters: `prompt 3`, `new 4`, `close 5`, `ask 3.0`.
/// Updates are known by turn, sender and number: `3.0.1`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Event {
    /// A line went out.
    Wrote(Value),
    /// A line came in.
    Read(Value),
    /// The input has ended, the output is broken, or somebody has ended the connection from this side.
    Lost,
    /// The connection was served to its end.
    Served,
    /// The agent begins to shut down.
    ShutsDown,

    /// A call is about to be polled for the first time; in no session if that is empty.
    Calls {
        call: String,
        session: String,
        kind: Kind,
        limit: u64,
    },
    /// The signal of a call is about to be cancelled.
    Signals { call: String },
    /// `Client::cancel` is about to be called.
    Cancels { session: String },
    /// The caller's future is gone, and it had not given an answer.
    Left { call: String },
    /// The caller has its answer.
    Returned { call: String, outcome: Outcome },

    /// A handler runs; whether its context said at once that it is cancelled.
    Begins { request: String, cancelled: bool },
    /// A handler is about to return.
    Finishes { request: String, finish: Finish },
    /// A handler is gone: it returned, or it was dropped.
    Gone { request: String },

    /// A prompt handler waits for being cancelled.
    Waits { turn: String },
    /// It was woken, with this cause.
    Notices { turn: String, cause: String },
    /// A callback for the cancellation is about to be registered.
    Registers { turn: String, callback: u32 },
    /// It runs.
    Called { turn: String, callback: u32 },
    /// The agent's own handler for `session/cancel` runs.
    ToldOfCancel { session: String },
    /// An update is about to be sent.
    Sends { update: String },
    /// It was accepted.
    Sent { update: String },
    /// It was refused.
    Refused { update: String },
}

/// What kind of call it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// `Client::prompt`.
    Prompt,
    /// The same, detached.
    Detached,
    /// Any other request.
    Plain,
}

/// How a handler finishes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Finish {
    /// With a response; that of a prompt has this stop reason.
    Returns(String),
    /// With an error that stays on its side.
    Fails,
    /// With an error for the peer.
    Refuses(i64),
    Panics,
}

/// What a caller gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Outcome {
    /// The peer's result; that of a prompt has this stop reason.
    Answered(String),
    /// The peer's error.
    Error(i64),
    Busy,
    TimedOut,
    CancelTimedOut,
    /// The turn in whose handler the call was made is over.
    TurnOver,
    Lost,
}

/// A record that all parts of a run write into.
#[derive(Clone)]
pub(crate) struct Trace(Arc<Record>);

struct Record {
    start: Instant,
    entries: Mutex<Vec<Entry>>,
}

impl Trace {
    pub(crate) fn start() -> Self {
        Self(Arc::new(Record {
            start: Instant::now(),
            entries: Mutex::default(),
        }))
    }

    pub(crate) fn record(&self, end: End, event: Event) {
        self.pen(end).record(event);
    }

    /// Keeps everybody else from recording until it is dropped.
    pub(crate) fn pen(&self, end: End) -> Pen<'_> {
        Pen {
            start: self.0.start,
            end,
            entries: self.0.lock(),
        }
    }

    /// Everything so far.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.0.lock().clone()
    }

    /// Records an event when it is dropped.
    pub(crate) fn on_drop(&self, end: End, event: Event) -> OnDrop {
        OnDrop {
            trace: self.clone(),
            end,
            event: Some(event),
        }
    }
}

impl Record {
    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to record, for one end.
pub(crate) struct Pen<'a> {
    start: Instant,
    end: End,
    entries: MutexGuard<'a, Vec<Entry>>,
}

impl Pen<'_> {
    pub(crate) fn record(&mut self, event: Event) {
        let at = self.start.elapsed().as_millis();
        self.entries.push(Entry {
            at: u64::try_from(at).expect("a run does not take that long"),
            end: self.end,
            event,
        });
    }
}

pub(crate) struct OnDrop {
    trace: Trace,
    end: End,
    event: Option<Event>,
}

impl OnDrop {
    /// Records nothing.
    pub(crate) fn disarm(mut self) {
        self.event = None;
    }
}

impl Drop for OnDrop {
    fn drop(&mut self) {
        if let Some(event) = self.event.take() {
            self.trace.record(self.end, event);
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, end, event } = self;
        write!(f, "{at:>8} ms  ")?;
        match end {
            End::Agent => write!(f, "agent   ")?,
            End::Client => write!(f, "  client")?,
        }
        if let Event::Wrote(line) = event {
            write!(f, "  --> {line}")
        } else if let Event::Read(line) = event {
            write!(f, "  <-- {line}")
        } else {
            write!(f, "  {event:?}")
        }
    }
}
