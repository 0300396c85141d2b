//! The states of a client's sessions.

use std::sync::Arc;

use serde::Deserialize;

use super::SessionState;
use crate::{
    connection::Map,
    schema::v1::{
        AGENT_METHOD_NAMES, SessionConfigOption, SessionId, SessionModeId, SessionModeState,
        SessionUpdate, SetSessionConfigOptionResponse,
    },
};

/// How many sessions are kept track of.
///
/// More than anybody has open at a time, and an end to what an agent that makes up sessions can make us keep.
const KEPT: usize = 1024;

/// What is known of each session, if the client keeps track.
///
/// A snapshot is shared with whoever asked for it, and copied only when it changes while somebody holds it.
#[derive(Default)]
pub(super) struct States(Map<SessionId, Arc<SessionState>>);

/// What the answer to a request says about a session.
pub(super) enum Change {
    Opened(Opened),
    Mode(SessionModeId),
    ConfigOptions(Vec<SessionConfigOption>),
    /// It is closed or deleted.
    Gone,
}

/// What `session/new`, `session/load` and `session/resume` are answered with.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Opened {
    session_id: Option<SessionId>,
    modes: Option<SessionModeState>,
    config_options: Option<Vec<SessionConfigOption>>,
}

impl States {
    pub(super) fn get(&self, session: &SessionId) -> Option<Arc<SessionState>> {
        self.0.get(session).cloned()
    }

    /// Takes in an update.
    pub(super) fn update(&mut self, session: &SessionId, update: &SessionUpdate) {
        self.fold(session, |state| state.apply(update));
    }

    /// Takes in an answer.
    pub(super) fn answer(&mut self, session: &SessionId, change: Change) {
        match change {
            Change::Opened(opened) => {
                self.fold(session, |state| {
                    state.open(opened.modes, opened.config_options)
                });
            }
            Change::Mode(mode) => self.fold(session, |state| state.set_mode(mode)),
            Change::ConfigOptions(options) => {
                self.fold(session, |state| state.set_config_options(options));
            }
            Change::Gone => drop(self.0.remove(session)),
        }
    }

    fn fold(&mut self, session: &SessionId, change: impl FnOnce(&mut SessionState)) {
        if let Some(state) = self.0.get_mut(session) {
            change(Arc::make_mut(state));
        } else if self.0.len() < KEPT {
            let mut state = SessionState::default();
            change(&mut state);
            self.0.insert(session.clone(), Arc::new(state));
        }
    }
}

/// What the result of a request says about a session; `None` if it says nothing, or cannot be read.
pub(super) fn change(method: &str, params: &[u8], result: &str) -> Option<(SessionId, Change)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        session_id: Option<SessionId>,
        mode_id: Option<SessionModeId>,
    }
    let names = &AGENT_METHOD_NAMES;
    let params: Params = serde_json::from_slice(params).ok()?;
    if method == names.session_new {
        let mut opened: Opened = serde_json::from_str(result).ok()?;
        return Some((opened.session_id.take()?, Change::Opened(opened)));
    }
    let change = if method == names.session_load || method == names.session_resume {
        // Agents in the field answer these with null too.
        let opened: Option<Opened> = serde_json::from_str(result).ok()?;
        Change::Opened(opened?)
    } else if method == names.session_set_mode {
        Change::Mode(params.mode_id?)
    } else if method == names.session_set_config_option {
        let response: SetSessionConfigOptionResponse = serde_json::from_str(result).ok()?;
        Change::ConfigOptions(response.config_options)
    } else if method == names.session_close || method == names.session_delete {
        Change::Gone
    } else {
        return None;
    };
    Some((params.session_id?, change))
}
