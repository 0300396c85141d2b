//! One connection, at either of its ends.
//!
//! A connection has one lock.
//! It guards the incoming requests, the outgoing calls, the timers, the tables of the side that uses it, and the bytes on their way out, so that *checking* whether a message may be sent and *giving it its place on the wire* is one step.
//! Everything that could call back into a program (callbacks, dropped handlers, events) is put into an [`After`] and runs when the lock is free.
//!
//! ```text
//!                 ┌────────────────────── State, one lock ─────────────────────┐
//!  bytes ─► reader ─► Side ─► core machines ─► outputs ─► outbox ─► writer ─► bytes
//!                 │             ▲      ▲                     ▲                 │
//!                 └─────────────┼──────┼─────────────────────┼─────────────────┘
//!                            handlers timers           handlers' updates
//! ```
//!
//! The reader never waits for a handler: it decides what a message means, starts a task if there is something to run, and reads on.

mod calls;
mod driver;
mod handlers;
mod outbox;
mod reader;
mod repair;
mod requests;
mod scope;
mod timers;
mod writer;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use endturn_core::wire::Id;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::Notify;

pub(crate) use calls::{CallOptions, Calls, OnResult, Parent, Reply, cancel_call};
pub(crate) use driver::drive;
pub(crate) use handlers::{
    BoxFuture, Handler, NotificationHandler, catch_panic, decode, handler, notification_handler,
    poll_catching,
};
pub(crate) use outbox::Outbox;
pub(crate) use reader::{answer_error, invalid_request, method_not_found};
pub use repair::UNKNOWN_VALUES;
pub(crate) use requests::{Incoming, Key, Requests, Started, too_early};
pub(crate) use scope::{After, Callback, Scope};
pub(crate) use timers::Timers;

use crate::{
    error::{Error, Lost},
    schema::v1,
};

/// A table by something that the peer chooses.
///
/// Its hash is quick and not made to resist a peer that looks for collisions: each connection has its own tables, so such a peer would slow down itself.
pub(crate) type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// What one side, agent or client, adds to a connection.
///
/// The functions run on the reader or on the clock of the connection, so none of them may wait.
pub(crate) trait Side: Sized + Send + Sync + 'static {
    /// What this side is called in logs.
    const NAME: &'static str;

    /// The tables of this side, under the connection's lock.
    type State: Send + Default;
    /// What this side keeps about an incoming request.
    type Work: Send;
    /// What a timer is for.
    type Timer: Copy + Ord + Send;
    /// What is known of the other side after `initialize`.
    type Peer: Clone + Send + Sync;

    /// Whether the peer has to send `initialize` before any other request.
    const WAITS_FOR_INITIALIZE: bool;

    /// Takes a line that this side knows without classifying it; `false` for any other.
    fn shortcut(_connection: &Connection<Self>, _line: &[u8]) -> bool {
        false
    }

    /// A request came in.
    fn request(connection: &Connection<Self>, id: Id, method: &str, params: Option<&RawValue>);

    /// A notification came in, other than `$/cancel_request`.
    fn notification(connection: &Connection<Self>, method: &str, params: Option<&RawValue>);

    /// An answer came in that no call of the connection waits for.
    fn answer(connection: &Connection<Self>, id: i64, outcome: Result<&RawValue, &RawValue>);

    /// `$/cancel_request` names an open incoming request.
    fn cancel_request(
        connection: &Connection<Self>,
        state: &mut State<Self>,
        after: &mut After,
        key: Key,
    );

    /// A timer is due.
    fn expired(connection: &Connection<Self>, timer: Self::Timer);

    /// A request that has a task of its own is over: answered, or ended over its handler's head.
    fn ended(state: &mut State<Self>, work: &Self::Work);

    /// The connection is lost, and this incoming request with it.
    fn forget(incoming: Incoming<Self>, after: &mut After);

    /// The connection is lost, and all that the side's own tables hold.
    fn lost(state: &mut State<Self>, reason: &Lost, after: &mut After);

    /// A line came in that is no message, and not a request that could be answered under its id.
    ///
    /// `advice` is for people, `error` for the peer; a line that was too long is empty.
    fn unreadable(
        connection: &Connection<Self>,
        line: &[u8],
        advice: &'static str,
        error: &v1::Error,
    );

    /// Waits until this side can take in more; most sides always can.
    fn ready(connection: &Connection<Self>) -> impl Future<Output = ()> + Send;
}

/// A handle to one connection; clones are the same connection.
pub(crate) struct Connection<S: Side>(Arc<Shared<S>>);

struct Shared<S: Side> {
    side: S,
    limits: Limits,
    state: Mutex<State<S>>,
    /// There are bytes for an idle writer.
    written: Notify,
    /// The writer has taken the bytes, so that there is room again, or something else has changed that a waiting task looks at.
    room: Notify,
    /// The earliest timer is another one.
    rearmed: Notify,
    /// Somebody on this side wants the connection to end.
    closing: Notify,
}

/// What a connection holds back or refuses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// How many bytes may wait for the writer before updates and requests have to wait.
    pub(crate) high_water: usize,
    /// How long an incoming line may be.
    pub(crate) line: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // As much as a pipe holds on Linux: enough for the peer to read while the next batch is put together, and little enough for a cancelled turn's answer not to queue behind much.
            high_water: 64 * 1024,
            // Room for an image or two in one prompt, and an end to what a broken peer can make us hold.
            line: 64 * 1024 * 1024,
        }
    }
}

/// What the connection's lock guards.
pub(crate) struct State<S: Side> {
    pub(crate) outbox: Outbox,
    pub(crate) requests: Requests<S>,
    pub(crate) calls: Calls,
    pub(crate) timers: Timers<S::Timer>,
    pub(crate) side: S::State,
    /// Who the peer is and what it offers; `None` before `initialize`.
    pub(crate) peer: Option<S::Peer>,
    /// No request is taken any more, and the connection ends when those that are open are answered.
    draining: bool,
    lost: Option<Lost>,
    /// The connection is lost, and what was left to write is written or given up.
    finished: bool,
}

impl<S: Side> Connection<S> {
    pub(crate) fn new(side: S, limits: Limits) -> Self {
        Self(Arc::new(Shared {
            side,
            limits,
            state: Mutex::new(State {
                outbox: Outbox::new(limits.high_water),
                requests: Requests::default(),
                calls: Calls::default(),
                timers: Timers::default(),
                side: S::State::default(),
                peer: None,
                draining: false,
                lost: None,
                finished: false,
            }),
            written: Notify::new(),
            room: Notify::new(),
            rearmed: Notify::new(),
            closing: Notify::new(),
        }))
    }

    pub(crate) fn side(&self) -> &S {
        &self.0.side
    }

    /// Does one step under the lock, and what follows from it when the lock is free again.
    ///
    /// `step` must not call back into the connection, nor run anything that belongs to the program.
    pub(crate) fn apply<R>(&self, step: impl FnOnce(&mut State<S>, &mut After) -> R) -> R {
        let mut after = After::default();
        // A step that panicked left at worst one message half written, which the outbox takes back.
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let result = step(&mut state, &mut after);
        let wake_writer = state.outbox.wakes_writer();
        let wake_clock = state.timers.wakes_clock();
        let drained = state.draining && state.requests.is_empty();
        drop(state);
        if wake_writer {
            self.0.written.notify_one();
        }
        if wake_clock {
            self.0.rearmed.notify_one();
        }
        if drained {
            self.close();
        }
        after.run();
        result
    }

    /// Like [`apply`](Self::apply) for a message that may have to wait: `step` gives `None` when there is no room for it.
    ///
    /// Nothing is promised about the order of two messages that both wait.
    pub(crate) async fn apply_with_room<R>(
        &self,
        mut step: impl FnMut(&mut State<S>, &mut After) -> Option<R>,
    ) -> R {
        if let Some(result) = self.apply(&mut step) {
            return result;
        }
        loop {
            let mut room = std::pin::pin!(self.0.room.notified());
            room.as_mut().enable();
            if let Some(result) = self.apply(&mut step) {
                return result;
            }
            room.await;
        }
    }

    /// Has everything look again that waits in [`apply_with_room`](Self::apply_with_room).
    pub(crate) fn nudge(&self) {
        self.0.room.notify_waiters();
    }

    /// Who the peer is and what it offers.
    pub(crate) fn peer(&self) -> Result<S::Peer, Error> {
        self.apply(|state, _| {
            state.alive()?;
            state.peer.clone().ok_or_else(Error::not_initialized)
        })
    }

    /// Sends a notification when there is room for it, on behalf of the request that it must not outlive.
    pub(crate) async fn notify(
        &self,
        method: &str,
        params: &impl Serialize,
        parent: Option<&Parent>,
    ) -> Result<(), Error> {
        self.apply_with_room(|state, _| {
            if let Err(error) = state.admits_call(parent) {
                return Some(Err(error));
            }
            if state.peer.is_none() {
                return Some(Err(Error::not_initialized()));
            }
            if !state.outbox.has_room() {
                return None;
            }
            let written = state.outbox.notification(method, params);
            Some(written.map_err(|error| Error::unwritable(method.to_owned(), &error)))
        })
        .await
    }

    /// Ends the connection from this side: what has its place on the wire is still written.
    pub(crate) fn close(&self) {
        self.0.closing.notify_one();
    }

    /// Nothing more will be read or written.
    fn finish(&self) {
        self.lose(Lost::Closed);
        self.apply(|state, _| state.finished = true);
        self.nudge();
    }

    /// Waits until nothing more will be read or written, and says why.
    pub(crate) async fn finished(&self) -> Error {
        self.apply_with_room(|state, _| state.alive().err().filter(|_| state.finished))
            .await
    }

    /// Ends everything that is open, because the connection is gone.
    pub(crate) fn lose(&self, reason: Lost) {
        self.apply(|state, after| {
            if state.lost.is_some() {
                return;
            }
            state.outbox.close();
            state.timers.clear();
            for incoming in state.requests.drain() {
                S::forget(incoming, after);
            }
            state.calls.lose(&reason);
            S::lost(state, &reason, after);
            state.lost = Some(reason);
        });
        self.nudge();
        // An idle writer has to notice that it is done.
        self.0.written.notify_one();
    }
}

impl<S: Side> State<S> {
    /// Takes no request any more, and ends the connection when those that are open are answered.
    pub(crate) fn drain(&mut self) {
        self.draining = true;
    }

    /// An error if the connection is gone.
    pub(crate) fn alive(&self) -> Result<(), Error> {
        match &self.lost {
            None => Ok(()),
            Some(reason) => Err(reason.clone().into()),
        }
    }
}

impl<S: Side> Clone for Connection<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
