//! The turns of a connection: drives the machines of the core.

use std::{
    collections::hash_map::Entry,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use endturn_core::{
    request::incoming,
    session::{self, Rejection, Session},
    turn::agent::{self, CancelCause, Ending, Finish, Input, Output},
    wire::Id,
};
use tokio::{sync::oneshot, time::Instant};

use super::{
    close,
    side::{AgentSide, Work},
};
use crate::{
    connection::{After, BoxFuture, Connection, Incoming, Key, Map, Started, State, poll_catching},
    error::HandlerResult,
    schema::v1::{self, PromptResponse, SessionId, StopReason},
};

/// The sessions that are doing something; one that is free needs no entry.
#[derive(Default)]
pub(super) struct Sessions {
    busy: Map<SessionId, Slot>,
}

pub(super) struct Slot {
    pub(super) session: Session,
    pub(super) turn: Option<Key>,
    /// Lets the close handler go on that waits for the turn's end.
    pub(super) close: Option<oneshot::Sender<()>>,
}

/// A turn that has not ended.
pub(super) struct Turn {
    turn: agent::Turn,
    session: SessionId,
    /// When its grace period ends, once it runs.
    grace: Option<Instant>,
    /// When its maximum duration ends, if there is one.
    limit: Option<Instant>,
}

/// What a timer of a turn is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Limit {
    Grace,
    Duration,
}

/// What a handler left behind, if it came to its end: the answer, had nobody cancelled.
type Outcome = Option<Result<PromptResponse, Box<v1::Error>>>;

/// Registers a turn, or answers the prompt if its session has one.
pub(super) fn start(
    connection: &Connection<AgentSide>,
    id: &Id,
    session: &SessionId,
) -> Option<Started> {
    let limit = deadline(connection.side().handlers.max_prompt_duration);
    connection.apply(|state, _| {
        let (next, output) = session::apply(state.side.session(session), session::Input::Prompt);
        match output {
            session::Output::StartTurn => {}
            session::Output::Reject(rejection) => {
                let error = rejected(rejection, session);
                state.outbox.answer::<()>(id, Err(&error));
                return None;
            }
            session::Output::Ignore | session::Output::CancelTurn | session::Output::RunClose => {
                unreachable!("a prompt starts a turn or is rejected")
            }
        }
        let started = state.open(
            id.clone(),
            Work::Turn(Turn {
                turn: agent::Turn::Running,
                session: session.clone(),
                grace: None,
                limit,
            }),
        )?;
        let slot = state.side.slot(session);
        slot.session = next;
        slot.turn = Some(started.key);
        if let Some(at) = limit {
            state.timers.insert(at, (started.key, Limit::Duration));
        }
        Some(started)
    })
}

/// The moment a limit that starts now has passed; `None` if it is off, or beyond what the clock can tell.
fn deadline(limit: Duration) -> Option<Instant> {
    if limit.is_zero() {
        return None;
    }
    Instant::now().checked_add(limit)
}

pub(super) fn rejected(rejection: Rejection, session: &SessionId) -> v1::Error {
    let mut error = v1::Error::invalid_request().data(serde_json::json!({ "sessionId": session }));
    error.message = match rejection {
        Rejection::Busy => "the session already has a turn".to_owned(),
        Rejection::Closing => "the session is being closed".to_owned(),
    };
    error
}

/// A turn's handler, which has to come to an end in one way or another.
pub(super) struct Run {
    guard: FinishOnDrop,
    handler: BoxFuture<HandlerResult<PromptResponse>>,
}

/// Tells the turn that its handler is done, also when the handler is dropped.
struct FinishOnDrop {
    connection: Connection<AgentSide>,
    started: Started,
    finish: Finish,
    outcome: Outcome,
}

pub(super) fn run(
    connection: Connection<AgentSide>,
    started: Started,
    handler: BoxFuture<HandlerResult<PromptResponse>>,
) -> Run {
    let guard = FinishOnDrop {
        connection,
        started,
        finish: Finish::Vanished,
        outcome: None,
    };
    Run { guard, handler }
}

impl Run {
    pub(super) fn key(&self) -> Key {
        self.guard.started.key
    }
}

/// A future by hand, because there is one for every turn that waits, and an `async` block keeps room for all that it ever holds.
impl Future for Run {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Self { guard, handler } = &mut *self;
        let result = ready!(poll_catching(handler, context));
        guard.finish = match result {
            Ok(Ok(response)) => {
                guard.outcome = Some(Ok(response));
                Finish::Returned
            }
            Ok(Err(error)) => {
                let cancelled = guard.started.scope.is_cancelled();
                let error = error.into_protocol("session/prompt", cancelled);
                guard.outcome = Some(Err(Box::new(error)));
                Finish::Failed
            }
            Err(_) => {
                tracing::error!("the prompt handler panicked");
                Finish::Panicked
            }
        };
        Poll::Ready(())
    }
}

impl Drop for FinishOnDrop {
    fn drop(&mut self) {
        let (key, finish) = (self.started.key, self.finish);
        let outcome = self.outcome.take();
        self.connection.apply(|state, after| {
            let side = self.connection.side();
            apply(side, state, after, key, Input::Finished(finish), outcome);
        });
    }
}

/// `session/cancel`; without a turn it does nothing and leaves nothing behind.
pub(super) fn cancel(connection: &Connection<AgentSide>, session: &SessionId) {
    let found = connection.apply(|state, after| {
        let turn = state.side.busy.get(session).and_then(|slot| slot.turn);
        if let Some(key) = turn {
            let side = connection.side();
            apply(side, state, after, key, Input::SessionCancel, None);
        }
        turn.is_some()
    });
    if !found {
        tracing::debug!(%session, "ignored a session/cancel, the session has no turn");
    }
}

/// `$/cancel_request` for a prompt.
pub(super) fn cancel_request(
    side: &AgentSide,
    state: &mut State<AgentSide>,
    after: &mut After,
    key: Key,
) {
    apply(side, state, after, key, Input::RequestCancel, None);
}

/// A limit has passed.
pub(super) fn expired(connection: &Connection<AgentSide>, key: Key, limit: Limit) {
    let input = match limit {
        Limit::Grace => Input::GraceExpired,
        Limit::Duration => Input::DurationExpired,
    };
    connection.apply(|state, after| apply(connection.side(), state, after, key, input, None));
}

/// Cancels every turn; the connection ends with the last of them.
pub(super) fn shut_down(connection: &Connection<AgentSide>) {
    connection.apply(|state, after| {
        state.drain();
        let turns = state.side.busy.values().filter_map(|slot| slot.turn);
        let turns: Vec<Key> = turns.collect();
        for key in turns {
            let side = connection.side();
            apply(side, state, after, key, Input::Shutdown, None);
        }
    });
}

/// The connection is gone, and with it whoever waits for this answer.
pub(super) fn forget(incoming: Incoming<AgentSide>, after: &mut After) {
    let cause = match &incoming.work {
        Work::Turn(turn) => match agent::apply(turn.turn, Input::Lost) {
            (_, Output::Interrupt(cause, Ending::Lost)) => cause,
            (_, output) => unreachable!("a lost turn is interrupted, not {output:?}"),
        },
        Work::Close(_) | Work::Request => {
            let lost = incoming::apply(incoming::Request::Running, incoming::Input::Lost);
            debug_assert_eq!(lost.1, incoming::Output::Forget);
            CancelCause::ConnectionLost
        }
    };
    incoming.abandon(after, cause);
}

/// A request that has a task of its own is over.
pub(super) fn ended(state: &mut State<AgentSide>, work: &Work) {
    match work {
        Work::Close(session) => close::closed(state, session),
        Work::Request | Work::Turn(_) => {}
    }
}

/// Whether an update of this turn may go out; when it may, the caller puts it into the outbox before it lets go of the lock.
pub(super) fn admits_update(state: &mut State<AgentSide>, key: Key) -> bool {
    // A turn that has ended is no longer in the table.
    let Some(Work::Turn(turn)) = state.requests.get_mut(key).map(|open| &open.work) else {
        return false;
    };
    agent::apply(turn.turn, Input::Update).1 == Output::Send
}

/// Applies an input to a turn and carries out what comes of it; a turn that is over ignores it.
pub(super) fn apply(
    side: &AgentSide,
    state: &mut State<AgentSide>,
    after: &mut After,
    key: Key,
    input: Input,
    outcome: Outcome,
) {
    let Some(incoming) = state.requests.get_mut(key) else {
        return;
    };
    let Work::Turn(turn) = &mut incoming.work else {
        return;
    };
    let (next, output) = agent::apply(turn.turn, input);
    turn.turn = next;
    match output {
        Output::Ignore | Output::Send | Output::Discard => {}
        Output::Signal(cause) => {
            after.cancel(&incoming.scope, &mut incoming.callbacks, cause);
            if let Some(at) = deadline(side.handlers.cancel_grace_period) {
                turn.grace = Some(at);
                state.timers.insert(at, (key, Limit::Grace));
            }
            if side.handlers.cascade_cancel {
                for call in incoming.calls.clone() {
                    state.cancel_call(call);
                }
            }
        }
        Output::End(ending) => {
            if let Some(incoming) = end(side, state, key, ending, outcome) {
                report(after, &incoming, ending);
                after.discard_all(incoming.callbacks);
            }
        }
        Output::Interrupt(cause, ending) => {
            // The handler is told before its open calls fail, so that these can say why.
            after.cancel(&incoming.scope, &mut incoming.callbacks, cause);
            if let Some(incoming) = end(side, state, key, ending, outcome) {
                report(after, &incoming, ending);
                incoming.abandon(after, cause);
            }
        }
    }
}

/// Has an event say how a turn ended, if anybody listens.
fn report(after: &mut After, incoming: &Incoming<AgentSide>, ending: Ending) {
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    let (id, cause) = (incoming.id.clone(), incoming.scope.cause());
    if let Work::Turn(turn) = &incoming.work {
        let session = turn.session.clone();
        let event = move || {
            tracing::debug!(%session, request = %id, ?ending, ?cause, "turn ended");
        };
        after.call(Some(Box::new(event)));
    }
}

/// Answers the prompt and frees its session, in one step.
fn end(
    side: &AgentSide,
    state: &mut State<AgentSide>,
    key: Key,
    ending: Ending,
    outcome: Outcome,
) -> Option<Incoming<AgentSide>> {
    let incoming = state.requests.remove(key)?;
    let Work::Turn(turn) = &incoming.work else {
        unreachable!("only a turn ends");
    };
    if let Some(at) = turn.grace {
        state.timers.remove(at, (key, Limit::Grace));
    }
    if let Some(at) = turn.limit {
        state.timers.remove(at, (key, Limit::Duration));
    }
    state.side.free(&turn.session);
    // Nobody is left to use what these calls bring.
    state.give_up_nested(&incoming.calls, incoming.scope.is_cancelled());
    if let Some(answer) = answer(side, ending, outcome) {
        state
            .outbox
            .answer(&incoming.id, answer.as_ref().map_err(|error| &**error));
    }
    Some(incoming)
}

/// How an ending looks on the wire; `None` if nobody is there to read it.
fn answer(side: &AgentSide, ending: Ending, outcome: Outcome) -> Outcome {
    let error = |error| Some(Err(Box::new(error)));
    match ending {
        Ending::Completed | Ending::Failed => {
            outcome.or_else(|| error(v1::Error::internal_error()))
        }
        Ending::Panicked | Ending::Vanished => error(v1::Error::internal_error()),
        Ending::Cancelled => Some(Ok(match outcome {
            Some(Ok(mut response)) => {
                response.stop_reason = StopReason::Cancelled;
                response
            }
            Some(Err(_)) | None => PromptResponse::new(StopReason::Cancelled),
        })),
        Ending::RequestCancelled => error(v1::Error::request_cancelled()),
        Ending::DurationExceeded => error(duration_exceeded(side.handlers.max_prompt_duration)),
        Ending::Lost => None,
    }
}

fn duration_exceeded(limit: Duration) -> v1::Error {
    // Only a limit that fits the clock can pass, and such a one fits here too.
    let limit = jiff::SignedDuration::try_from(limit).unwrap_or(jiff::SignedDuration::MAX);
    v1::Error::request_cancelled()
        .data(serde_json::json!({ "maxPromptDuration": limit.to_string() }))
}

impl Sessions {
    pub(super) fn session(&self, session: &SessionId) -> Session {
        self.busy
            .get(session)
            .map_or(Session::Free, |slot| slot.session)
    }

    /// A session's entry, made for one that was free.
    pub(super) fn slot(&mut self, session: &SessionId) -> &mut Slot {
        self.busy.entry(session.clone()).or_insert(Slot {
            session: Session::Free,
            turn: None,
            close: None,
        })
    }

    /// Puts a session into its next state; one that is free is forgotten.
    pub(super) fn set(&mut self, session: &SessionId, next: Session) {
        if next == Session::Free {
            self.busy.remove(session);
        } else {
            self.slot(session).session = next;
        }
    }

    /// A session's turn is over.
    fn free(&mut self, session: &SessionId) {
        let Entry::Occupied(mut slot) = self.busy.entry(session.clone()) else {
            return;
        };
        slot.get_mut().turn = None;
        slot.get_mut().session = close::turn_over(slot.get_mut());
        if slot.get().session == Session::Free {
            slot.remove();
        }
    }
}
