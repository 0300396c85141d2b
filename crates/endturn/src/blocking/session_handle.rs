//! A session, apart from its turns.

use std::fmt;

use tokio::runtime::Handle;

use super::runtime::block_on;
use crate::{
    agent::{
        self,
        updates::{blocking_updates, chunk, for_each_update, part},
    },
    error::Error,
    schema::v1::{
        AvailableCommand, AvailableCommandsUpdate, ConfigOptionUpdate, CurrentModeUpdate,
        MessageId, Plan, PlanEntry, SessionConfigOption, SessionId, SessionInfoUpdate,
        SessionModeId, SessionUpdate, UsageUpdate,
    },
};

/// Sends updates of a session that belong to none of its turns: what [`agent::SessionHandle`] is to an async handler.
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
        block_on(&self.runtime, self.session.send_update(update))
    }

    for_each_update!(blocking_updates);
}

impl fmt::Debug for SessionHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.session.fmt(f)
    }
}
