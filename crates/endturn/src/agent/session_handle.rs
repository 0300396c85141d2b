//! A session, apart from its turns.

use std::fmt;

use super::{
    senders::{async_senders, chunk, for_each_update, part},
    side::AgentSide,
    update::{Of, Update},
};
use crate::{
    connection::Connection,
    error::Error,
    schema::v1::{
        AvailableCommand, AvailableCommandsUpdate, ConfigOptionUpdate, CurrentModeUpdate,
        MessageId, Plan, PlanEntry, SessionConfigOption, SessionId, SessionInfoUpdate,
        SessionModeId, SessionUpdate, UsageUpdate,
    },
};

/// Sends updates of a session that belong to none of its turns.
///
/// From [`RequestContext::session`](super::RequestContext::session) and [`PromptContext::session`](super::PromptContext::session), and good for as long as the connection lasts: the history of a session that is loaded, the commands of a new one, a mode that the agent has left by itself.
/// What belongs to a turn is sent through its [`PromptContext`](super::PromptContext), which keeps it from coming after the turn's end; this handle does not.
/// Clones are the same session.
///
/// ```
/// use endturn::{Agent, schema::v1::LoadSessionResponse};
///
/// let agent = Agent::builder().on_load_session(|request, cx| async move {
///     let session = cx.session(request.session_id);
///     session.send_user_message("What is 6 times 7?").await?;
///     session.send_message("42").await?;
///     Ok(LoadSessionResponse::new())
/// });
/// ```
#[derive(Clone)]
pub struct SessionHandle {
    connection: Connection<AgentSide>,
    session: SessionId,
}

impl SessionHandle {
    pub(super) fn new(connection: Connection<AgentSide>, session: SessionId) -> Self {
        Self {
            connection,
            session,
        }
    }

    /// The session.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        &self.session
    }

    /// Sends an update of this session, whether it has a turn or not.
    ///
    /// Updates reach the client in the order of these calls, and before the answer of the handler that makes them.
    /// While the client reads more slowly than the agent sends, this waits, so that memory stays bounded.
    ///
    /// # Errors
    ///
    /// If the connection is lost, or if the update cannot be written as JSON.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is done sends nothing.
    pub async fn send_update(&self, update: SessionUpdate) -> Result<(), Error> {
        self.send(Of::Any(&update)).await
    }

    async fn send(&self, of: Of<'_>) -> Result<(), Error> {
        let session = &self.session;
        let update = Update { session, of };
        self.connection
            .apply_with_room(|state, _| {
                if let Err(lost) = state.alive() {
                    return Some(Err(lost));
                }
                if !state.outbox.has_room() {
                    return None;
                }
                Some(update.put(&mut state.outbox))
            })
            .await
    }

    for_each_update!(async_senders);
}

impl fmt::Debug for SessionHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionHandle")
            .field("session_id", &self.session)
            .finish_non_exhaustive()
    }
}
