//! A session, apart from its turns.

use std::fmt;

use tokio::runtime::Handle;

use super::runtime::block_on;
use crate::{
    agent::{
        self,
        senders::{blocking_senders, for_each_update},
    },
    error::Error,
    schema::v1::{
        AvailableCommand, MessageId, PlanEntry, SessionConfigOption, SessionId, SessionModeId,
        SessionUpdate,
    },
};

/// Sends updates of a session that belong to none of its turns: what [`agent::SessionHandle`] is to an async handler.
///
/// ```
/// use endturn::{Agent, schema::v1::LoadSessionResponse};
///
/// let agent = Agent::builder().on_load_session_blocking(|request, cx| {
///     let session = cx.session(request.session_id);
///     session.send_user_message("What is 6 times 7?")?;
///     session.send_message("42")?;
///     Ok(LoadSessionResponse::new())
/// });
/// ```
#[derive(Clone)]
pub struct SessionHandle {
    session: agent::SessionHandle,
    runtime: Handle,
}

impl SessionHandle {
    pub(super) fn new(session: agent::SessionHandle, runtime: Handle) -> Self {
        Self { session, runtime }
    }

    /// The session.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        self.session.session_id()
    }

    /// Sends an update of this session, whether it has a turn or not; see [`agent::SessionHandle::send_update`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn send_update(&self, update: SessionUpdate) -> Result<(), Error> {
        self.wait(self.session.send_update(update))
    }

    /// Waits for anything the [async handle](Self::as_async) does.
    #[track_caller]
    pub fn wait<F: Future>(&self, future: F) -> F::Output {
        block_on(&self.runtime, future)
    }

    /// The async handle of the same session.
    #[must_use]
    pub fn as_async(&self) -> &agent::SessionHandle {
        &self.session
    }

    for_each_update!(blocking_senders);
}

impl fmt::Debug for SessionHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.session.fmt(f)
    }
}
