//! Which terminals there are, and whose.

use std::collections::HashMap;

use super::keeper::Terminal;
use crate::schema::v1::{self, SessionId, TerminalId};

/// The terminals of all sessions.
///
/// Nothing that is taken out of it is dropped here, since that is done without the lock.
#[derive(Default)]
pub(super) struct Table {
    entries: HashMap<TerminalId, Entry>,
    created: u64,
}

pub(super) struct Entry {
    session: SessionId,
    /// Not there while the command is being started.
    terminal: Option<Terminal>,
}

impl Table {
    /// Takes a place for a terminal, unless the session has too many.
    pub(super) fn reserve(
        &mut self,
        session: &SessionId,
        max: usize,
    ) -> Result<TerminalId, v1::Error> {
        let open = self.entries.values();
        if open.filter(|entry| entry.session == *session).count() >= max {
            let reason = "the session has too many terminals; release some of them";
            return Err(v1::Error::invalid_request()
                .data(serde_json::json!({ "limit": max, "reason": reason })));
        }
        self.created += 1;
        let id = TerminalId::new(format!("terminal-{}", self.created));
        let entry = Entry {
            session: session.clone(),
            terminal: None,
        };
        self.entries.insert(id.clone(), entry);
        Ok(id)
    }

    /// Puts a terminal into its place, or gives it back if the place is gone.
    pub(super) fn fill(&mut self, id: &TerminalId, terminal: Terminal) -> Option<Terminal> {
        match self.entries.get_mut(id) {
            Some(entry) => entry.terminal.replace(terminal),
            None => Some(terminal),
        }
    }

    pub(super) fn with<T>(
        &self,
        session: &SessionId,
        id: &TerminalId,
        act: impl FnOnce(&Terminal) -> T,
    ) -> Option<T> {
        let entry = self.entries.get(id)?;
        if entry.session != *session {
            return None;
        }
        entry.terminal.as_ref().map(act)
    }

    #[must_use = "it is dropped without the lock"]
    pub(super) fn remove(&mut self, session: &SessionId, id: &TerminalId) -> Option<Entry> {
        if self.entries.get(id)?.session != *session {
            return None;
        }
        self.entries.remove(id)
    }

    /// Takes out the terminals of one session, or of all.
    #[must_use = "they are dropped without the lock"]
    pub(super) fn take(&mut self, session: Option<&SessionId>) -> Vec<Entry> {
        let taken = self
            .entries
            .extract_if(|_, entry| session.is_none_or(|session| entry.session == *session));
        taken.map(|(_, entry)| entry).collect()
    }
}

pub(super) fn not_found(id: &TerminalId) -> v1::Error {
    v1::Error::resource_not_found(None).data(serde_json::json!({ "terminalId": id }))
}
