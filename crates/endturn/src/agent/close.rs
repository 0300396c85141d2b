//! Closing a session: its turn first, then the handler, then the answer.

use endturn_core::{
    session::{self, Session},
    turn::agent::Input,
    wire::Id,
};
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::{
    RequestContext,
    side::{AgentSide, Work},
    turns::{self, Slot},
};
use crate::{
    connection::{After, Connection, Handler, Started, State, decode},
    schema::v1::{self, AGENT_METHOD_NAMES, CancelNotification, CloseSessionRequest, SessionId},
};

/// `session/close`: cancels the session's turn, and has the handler wait for the turn's end.
pub(super) fn close(
    connection: &Connection<AgentSide>,
    id: &Id,
    params: Option<&RawValue>,
    handle: &Handler<RequestContext>,
) -> Result<(), v1::Error> {
    let session = decode::<CloseSessionRequest>(params)?.session_id;
    let (gate, turn_over) = oneshot::channel();
    let started =
        connection.apply(|state, after| open(connection.side(), state, after, id, &session, gate));
    let Some(started) = started else {
        return Ok(());
    };
    super::side::tell_cancel_handler(connection, CancelNotification::new(session));
    let method = AGENT_METHOD_NAMES.session_close;
    let context = RequestContext::new(connection.clone(), &started, method);
    let handler = handle(params, context)?;
    let run = connection.clone().run_request(
        started.key,
        method,
        Box::pin(async move {
            // An error means that there is no turn to wait for.
            turn_over.await.ok();
            handler.await
        }),
    );
    connection.spawn(started.key, run);
    Ok(())
}

/// Opens the request, or answers it if the session is being closed already.
fn open(
    side: &AgentSide,
    state: &mut State<AgentSide>,
    after: &mut After,
    id: &Id,
    session: &SessionId,
    gate: oneshot::Sender<()>,
) -> Option<Started> {
    let (next, output) = session::apply(state.side.session(session), session::Input::Close);
    if let session::Output::Reject(rejection) = output {
        let error = turns::rejected(rejection, session);
        state.outbox.answer::<()>(id, Err(&error));
        return None;
    }
    let started = state.open(id.clone(), Work::Close(session.clone()))?;
    let slot = state.side.slot(session);
    slot.session = next;
    if output == session::Output::CancelTurn {
        slot.close = Some(gate);
        if let Some(turn) = slot.turn {
            turns::apply(side, state, after, turn, Input::SessionClose, None);
        }
    }
    Some(started)
}

/// The close request is answered, so the session is free; or it was given up while its turn still runs.
pub(super) fn closed(state: &mut State<AgentSide>, session: &SessionId) {
    let slot = state.side.slot(session);
    slot.close = None;
    let (next, _) = session::apply(slot.session, session::Input::Closed);
    state.side.set(session, next);
}

/// The session's turn is over: a close that waits for it goes on.
pub(super) fn turn_over(slot: &mut Slot) -> Session {
    let (next, output) = session::apply(slot.session, session::Input::TurnEnded);
    if output != session::Output::RunClose {
        return next;
    }
    match slot.close.take() {
        // The handler's task may be gone at this very moment; then the end of its request frees the session.
        Some(gate) => drop(gate.send(())),
        // The close was given up, so there is nothing to run.
        None => return session::apply(next, session::Input::Closed).0,
    }
    next
}
