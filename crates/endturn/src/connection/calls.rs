//! Requests to the peer.

use std::{borrow::Cow, sync::Arc, time::Duration};

use endturn_core::request::outgoing::{self, Input, Output};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::{sync::oneshot, time::timeout};

use super::{Connection, Key, Map, Outbox, Scope, Side, State, repair};
use crate::{
    CancellationSignal,
    error::{Error, Lost},
    schema::v1::{self, CancelRequestNotification, RequestId},
};

/// The calls that wait for an answer.
///
/// A call whose caller has left is taken out when its `$/cancel_request` is written.
/// Its id is never used again, so a late answer finds nothing, and giving up costs no memory.
#[derive(Default)]
pub(crate) struct Calls {
    open: Map<i64, Call>,
    next_id: i64,
}

pub(crate) struct Call {
    pub(crate) request: outgoing::Request,
    reply: oneshot::Sender<Reply>,
    on_result: Option<OnResult>,
    /// The incoming request in whose handler it was made.
    parent: Option<Key>,
}

/// Looks at a result on the reader, so it must be quick.
pub(crate) type OnResult = Box<dyn FnOnce(&RawValue) + Send>;

/// What a caller is told.
pub(crate) enum Reply {
    Result(Box<RawValue>),
    Error(v1::Error),
    Lost(Lost),
    /// The turn on whose behalf the call was made is over.
    TurnOver {
        cancelled: bool,
    },
}

/// How a call is made.
pub(crate) struct CallOptions {
    /// How long to wait for the answer, from the call on; zero is for ever.
    pub(crate) timeout: Duration,
    /// Asks the peer to stop, while the caller goes on waiting.
    pub(crate) cancel_when: Option<CancellationSignal>,
    /// Looks at the result when it is read, before anything behind it is.
    pub(crate) on_result: Option<OnResult>,
    /// The incoming request in whose handler it is made, and which it shall not outlive.
    pub(crate) parent: Option<Parent>,
}

/// An incoming request that makes calls.
pub(crate) struct Parent {
    pub(crate) key: Key,
    pub(crate) scope: Arc<Scope>,
}

impl Calls {
    pub(crate) fn next_id(&mut self) -> i64 {
        self.next_id += 1;
        self.next_id
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Settles all of them with the news that the connection is gone.
    pub(crate) fn lose(&mut self, reason: &Lost) {
        for (_, call) in self.open.drain() {
            let (_, output) = outgoing::apply(call.request, Input::Lost);
            if output == Output::SettleLost {
                call.tell(Reply::Lost(reason.clone()));
            }
        }
    }
}

impl Call {
    /// Tells the caller the peer's answer.
    pub(crate) fn settle(mut self, outcome: Result<&RawValue, &RawValue>) {
        if let (Ok(result), Some(look)) = (outcome, self.on_result.take()) {
            look(result);
        }
        self.tell(Reply::from_wire(outcome));
    }

    fn tell(self, reply: Reply) {
        // A caller that has left at this very moment does not want it.
        drop(self.reply.send(reply));
    }
}

impl Reply {
    pub(crate) fn from_wire(outcome: Result<&RawValue, &RawValue>) -> Self {
        match outcome {
            Ok(result) => Self::Result(result.to_owned()),
            Err(error) => Self::Error(read_error(error)),
        }
    }

    /// The typed answer to `method`.
    pub(crate) fn read<R: DeserializeOwned>(
        self,
        method: impl Into<Cow<'static, str>>,
    ) -> Result<R, Error> {
        match self {
            Self::Result(result) => {
                let method = method.into();
                serde_json::from_str(result.get()).or_else(|error| {
                    repair::result(&method, result.get())
                        .and_then(|result| serde_json::from_value(result).ok())
                        .ok_or_else(|| Error::invalid_answer(method, error))
                })
            }
            Self::Error(error) => Err(Error::answered(method, error)),
            Self::Lost(lost) => Err(Error::lost_call(method, lost)),
            Self::TurnOver { cancelled } => Err(Error::turn_over(cancelled)),
        }
    }
}

/// An error object that does not follow the specification is still an error.
fn read_error(error: &RawValue) -> v1::Error {
    serde_json::from_str(error.get()).unwrap_or_else(|_| {
        v1::Error::new(
            v1::ErrorCode::InternalError.into(),
            "the peer answered with an error that cannot be read",
        )
        .data(serde_json::from_str::<serde_json::Value>(error.get()).ok())
    })
}

/// Writes `$/cancel_request`.
pub(crate) fn cancel_call(outbox: &mut Outbox, id: i64) {
    let cancel = CancelRequestNotification::new(RequestId::Number(id));
    let written = outbox.notification("$/cancel_request", &cancel);
    debug_assert!(written.is_ok(), "a number always serialises");
}

impl<S: Side> State<S> {
    /// Takes out a call that is settled or given up.
    pub(crate) fn take_call(&mut self, id: i64) -> Option<Call> {
        let call = self.calls.open.remove(&id)?;
        if let Some(parent) = call.parent.and_then(|key| self.requests.get_mut(key)) {
            parent.calls.retain(|nested| *nested != id);
        }
        Some(call)
    }

    /// Applies an input to a call that is on the wire; nothing if it is settled already.
    fn call_input(&mut self, id: i64, input: Input) -> Output {
        let Some(call) = self.calls.open.get_mut(&id) else {
            return Output::Ignore;
        };
        let (next, output) = outgoing::apply(call.request, input);
        call.request = next;
        if output == Output::SendCancel {
            cancel_call(&mut self.outbox, id);
        }
        output
    }

    /// Asks the peer to stop working on a call whose caller goes on waiting.
    pub(crate) fn cancel_call(&mut self, id: i64) {
        self.call_input(id, Input::Cancel);
    }

    /// Gives a call up; its caller is told, if it is still there.
    fn give_up(&mut self, id: i64, reply: Option<Reply>) {
        self.call_input(id, Input::GiveUp);
        if let (Some(call), Some(reply)) = (self.take_call(id), reply) {
            call.tell(reply);
        }
    }

    /// Gives up the calls of a handler whose request is over.
    pub(crate) fn give_up_nested(&mut self, calls: &[i64], cancelled: bool) {
        for &id in calls {
            self.give_up(id, Some(Reply::TurnOver { cancelled }));
        }
    }
}

impl<S: Side> Connection<S> {
    /// Sends a request and waits for its answer.
    ///
    /// Dropping the future, or the timeout, sends one `$/cancel_request` if the request is on the wire, and nothing if it is not.
    pub(crate) async fn call<R: DeserializeOwned>(
        &self,
        method: Cow<'static, str>,
        params: Vec<u8>,
        options: CallOptions,
    ) -> Result<R, Error> {
        let limit = options.timeout;
        let exchange = self.exchange(&method, params, options);
        let reply = if limit.is_zero() {
            exchange.await?
        } else {
            timeout(limit, exchange)
                .await
                .map_err(|_| Error::timeout(method.clone(), limit))??
        };
        reply.read(method)
    }

    async fn exchange(
        &self,
        method: &str,
        params: Vec<u8>,
        options: CallOptions,
    ) -> Result<Reply, Error> {
        let (sender, mut reply) = oneshot::channel();
        let mut answer = Some((sender, options.on_result));
        let parent = options.parent.as_ref();
        let id = self
            .apply_with_room(|state, _| {
                if let Err(error) = state.admits_call(parent) {
                    return Some(Err(error));
                }
                if !state.outbox.has_room() {
                    return None;
                }
                let (reply, on_result) = answer.take()?;
                let parent = parent.map(|parent| parent.key);
                Some(state.send_call(method, &params, reply, on_result, parent))
            })
            .await?;
        drop(params);
        // The answer has to be read, even by a reader that holds back.
        self.nudge();

        let _give_up = GiveUp {
            connection: self,
            id,
        };
        if let Some(signal) = options.cancel_when {
            tokio::select! {
                biased;
                settled = &mut reply => return Ok(told(settled)),
                () = signal.cancelled() => self.apply(|state, _| state.cancel_call(id)),
            }
        }
        Ok(told(reply.await))
    }
}

/// What a caller was told; a sender lives in the table until somebody uses it.
fn told(settled: Result<Reply, oneshot::error::RecvError>) -> Reply {
    settled.unwrap_or(Reply::Lost(Lost::Closed))
}

impl<S: Side> State<S> {
    /// An error if nothing can be asked any more: the connection is gone, or the request on whose behalf it would be.
    pub(super) fn admits_call(&mut self, parent: Option<&Parent>) -> Result<(), Error> {
        self.alive()?;
        match parent {
            Some(parent) if self.requests.get_mut(parent.key).is_none() => {
                Err(Error::turn_over(parent.scope.is_cancelled()))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn send_call(
        &mut self,
        method: &str,
        params: &[u8],
        reply: oneshot::Sender<Reply>,
        on_result: Option<OnResult>,
        parent: Option<Key>,
    ) -> Result<i64, Error> {
        let id = self.calls.next_id();
        self.outbox
            .request(id, method, params)
            .map_err(|error| Error::unwritable(method.to_owned(), &error))?;
        let (request, _) = outgoing::apply(outgoing::Request::Unsent, Input::Written);
        self.calls.open.insert(
            id,
            Call {
                request,
                reply,
                on_result,
                parent,
            },
        );
        if let Some(parent) = parent.and_then(|key| self.requests.get_mut(key)) {
            parent.calls.push(id);
        }
        Ok(id)
    }
}

/// Gives the call up when its caller's future is dropped; nothing if it is settled.
struct GiveUp<'a, S: Side> {
    connection: &'a Connection<S>,
    id: i64,
}

impl<S: Side> Drop for GiveUp<'_, S> {
    fn drop(&mut self) {
        self.connection
            .apply(|state, _| state.give_up(self.id, None));
    }
}
