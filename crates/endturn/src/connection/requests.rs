//! Incoming requests that have not been answered.

use std::{collections::hash_map, mem, sync::Arc};

use endturn_core::{request::incoming, turn::agent::CancelCause, wire::Id};
use serde::Serialize;
use serde_json::value::RawValue;
use slab::Slab;
use tokio::task::AbortHandle;

use super::{
    After, BoxFuture, Callback, Connection, Map, Scope, Side, State, catch_panic, invalid_request,
};
use crate::{error::HandlerResult, schema::v1};

/// The open requests of a connection.
///
/// Answering a request removes it, so a second answer has nothing to answer.
pub(crate) struct Requests<S: Side> {
    open: Slab<Incoming<S>>,
    by_id: Map<Id, usize>,
    next_serial: u64,
}

/// One request from the peer.
pub(crate) struct Incoming<S: Side> {
    serial: u64,
    pub(crate) id: Id,
    /// What its handler's contexts see.
    pub(crate) scope: Arc<Scope>,
    /// What its handler wants to be called for.
    pub(crate) callbacks: Vec<Callback>,
    /// The calls to the peer that were made through its contexts and are not settled.
    pub(crate) calls: Vec<i64>,
    /// The task that runs its handler.
    pub(crate) task: Option<AbortHandle>,
    /// What the side keeps about it.
    pub(crate) work: S::Work,
}

/// The identity of a request.
///
/// Ids and sessions are named again by later requests; a key is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    index: usize,
    serial: u64,
}

/// A request that was put into the table.
pub(crate) struct Started {
    pub(crate) key: Key,
    pub(crate) scope: Arc<Scope>,
}

impl<S: Side> Requests<S> {
    /// Adds a request; `Err` if the peer has another one open under this id.
    pub(crate) fn insert(&mut self, id: Id, work: S::Work) -> Result<Started, Id> {
        let entry = self.open.vacant_entry();
        let index = entry.key();
        match self.by_id.entry(id.clone()) {
            hash_map::Entry::Occupied(_) => return Err(id),
            hash_map::Entry::Vacant(vacant) => vacant.insert(index),
        };
        let serial = self.next_serial;
        self.next_serial += 1;
        let scope = Arc::new(Scope::default());
        entry.insert(Incoming {
            serial,
            id,
            scope: Arc::clone(&scope),
            callbacks: Vec::new(),
            calls: Vec::new(),
            task: None,
            work,
        });
        Ok(Started {
            key: Key { index, serial },
            scope,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(crate) fn find(&self, id: &Id) -> Option<Key> {
        let index = *self.by_id.get(id)?;
        let serial = self.open[index].serial;
        Some(Key { index, serial })
    }

    /// A request that is still open.
    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut Incoming<S>> {
        self.open
            .get_mut(key.index)
            .filter(|incoming| incoming.serial == key.serial)
    }

    pub(crate) fn remove(&mut self, key: Key) -> Option<Incoming<S>> {
        self.get_mut(key)?;
        let incoming = self.open.remove(key.index);
        self.by_id.remove(&incoming.id);
        Some(incoming)
    }

    /// Takes out all of them.
    pub(crate) fn drain(&mut self) -> Vec<Incoming<S>> {
        self.by_id = Map::default();
        mem::take(&mut self.open)
            .into_iter()
            .map(|(_, incoming)| incoming)
            .collect()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (Key, &mut Incoming<S>)> {
        self.open.iter_mut().map(|(index, incoming)| {
            let serial = incoming.serial;
            (Key { index, serial }, incoming)
        })
    }
}

impl<S: Side> Default for Requests<S> {
    fn default() -> Self {
        Self {
            open: Slab::new(),
            by_id: Map::default(),
            next_serial: 0,
        }
    }
}

/// A request that came before `initialize`.
pub(crate) fn too_early() -> v1::Error {
    invalid_request("initialize has to come first")
}

impl<S: Side> State<S> {
    /// Opens a request; one that cannot be opened is answered here.
    pub(crate) fn open(&mut self, id: Id, work: S::Work) -> Option<Started> {
        let (id, error) = if self.draining {
            (id, invalid_request("shutting down"))
        } else if S::WAITS_FOR_INITIALIZE && self.peer.is_none() {
            (id, too_early())
        } else {
            match self.requests.insert(id, work) {
                Ok(started) => return Some(started),
                // The answer goes out under an id that is the other request's too; there is no better one.
                Err(id) => (id, invalid_request("a request with this id is open")),
            }
        };
        self.outbox.answer::<()>(&id, Err(&error));
        None
    }

    /// Ends a request over its handler's head: tells the handler, writes the answer if there is one, drops the handler.
    pub(crate) fn interrupt<T: Serialize>(
        &mut self,
        after: &mut After,
        key: Key,
        cause: CancelCause,
        answer: Result<&T, &v1::Error>,
    ) {
        if let Some(incoming) = self.requests.remove(key) {
            S::ended(self, &incoming.work);
            self.give_up_nested(&incoming.calls, true);
            self.outbox.answer(&incoming.id, answer);
            incoming.abandon(after, cause);
        }
    }

    /// `$/cancel_request` for a request that is not a prompt.
    pub(crate) fn cancel_incoming(&mut self, after: &mut After, key: Key) {
        let (_, output) = incoming::apply(incoming::Request::Running, incoming::Input::Cancel);
        if output == incoming::Output::Interrupt {
            let error = v1::Error::request_cancelled();
            self.interrupt::<()>(after, key, CancelCause::RequestCancel, Err(&error));
        }
    }
}

impl<S: Side> Incoming<S> {
    /// Tells the handler and drops it.
    pub(crate) fn abandon(mut self, after: &mut After, cause: CancelCause) {
        after.cancel(&self.scope, &mut self.callbacks, cause);
        after.abort(self.task);
        after.discard_all(self.callbacks);
    }
}

impl<S: Side> Connection<S> {
    /// Runs the handler of an open request on a task of its own.
    pub(crate) fn spawn(&self, key: Key, handler: impl Future<Output = ()> + Send + 'static) {
        let task = tokio::spawn(handler).abort_handle();
        self.apply(|state, after| match state.requests.get_mut(key) {
            Some(incoming) => incoming.task = Some(task),
            // It is over already: either it has finished, or it was ended before this line.
            None => after.abort(Some(task)),
        });
    }

    /// Runs the handler of an open request that is not a prompt, and answers with what it gives.
    pub(crate) async fn run_request(
        self,
        key: Key,
        method: &'static str,
        handler: BoxFuture<HandlerResult<Box<RawValue>>>,
    ) {
        /// A handler that is dropped without a result has its request answered all the same.
        struct AnswerOnDrop<S: Side> {
            connection: Connection<S>,
            key: Key,
            answer: Result<Box<RawValue>, v1::Error>,
        }
        impl<S: Side> Drop for AnswerOnDrop<S> {
            fn drop(&mut self) {
                let (_, output) =
                    incoming::apply(incoming::Request::Running, incoming::Input::Finished);
                debug_assert_eq!(output, incoming::Output::Answer);
                self.connection.apply(|state, after| {
                    let Some(incoming) = state.requests.remove(self.key) else {
                        return;
                    };
                    S::ended(state, &incoming.work);
                    state.give_up_nested(&incoming.calls, incoming.scope.is_cancelled());
                    state.outbox.answer(&incoming.id, self.answer.as_ref());
                    after.discard_all(incoming.callbacks);
                });
            }
        }
        let mut guard = AnswerOnDrop {
            connection: self,
            key,
            answer: Err(v1::Error::internal_error()),
        };
        match catch_panic(handler).await {
            Ok(result) => guard.answer = result.map_err(|error| error.into_protocol(method, false)),
            Err(_) => tracing::error!(method, "handler panicked"),
        }
    }
}
