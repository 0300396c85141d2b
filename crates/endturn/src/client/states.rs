//! The states of a client's sessions.

use std::sync::Arc;

use super::SessionState;
use crate::{connection::Map, schema::v1::SessionId};

/// How many sessions are kept track of.
///
/// More than anybody has open at a time, and an end to what an agent that makes up sessions can make us keep.
const KEPT: usize = 1024;

/// What is known of each session, if the client keeps track.
///
/// A snapshot is shared with whoever asked for it, and copied only when it changes while somebody holds it.
#[derive(Default)]
pub(super) struct States(Map<SessionId, Arc<SessionState>>);

impl States {
    pub(super) fn get(&self, session: &SessionId) -> Option<Arc<SessionState>> {
        self.0.get(session).cloned()
    }

    /// Changes the state of a session.
    pub(super) fn fold(&mut self, session: &SessionId, change: impl FnOnce(&mut SessionState)) {
        if let Some(state) = self.0.get_mut(session) {
            change(Arc::make_mut(state));
        } else if self.0.len() < KEPT {
            let mut state = SessionState::default();
            change(&mut state);
            self.0.insert(session.clone(), Arc::new(state));
        }
    }

    pub(super) fn forget(&mut self, session: &SessionId) -> Option<Arc<SessionState>> {
        self.0.remove(session)
    }
}
