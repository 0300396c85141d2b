//! The sessions that the agent keeps, in memory.

mod history;
mod settings;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use endturn::schema::v1::{Error, ListSessionsResponse, SessionId, SessionInfo};
use jiff::Timestamp;

use history::History;
pub(super) use history::{Message, Speaker};
pub(super) use settings::{Mode, Setting, Settings};

/// How many sessions are kept; with another one, the one that was used least recently is forgotten.
pub const SESSIONS_KEPT: usize = 20_000;

/// How many bytes of text are kept of a session's history; the oldest go first.
pub const HISTORY_BYTES: usize = 16 * 1024;

/// How many sessions a page of `session/list` has.
pub const PAGE_SIZE: usize = 20;

/// The longest title that is made of a prompt, in characters.
const TITLE_LENGTH: usize = 60;

/// All sessions, of all connections of one agent.
#[derive(Debug, Default)]
pub(super) struct Sessions(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    sessions: HashMap<SessionId, Session>,
    opened: u64,
    /// Counts the uses of sessions, which gives an order that no two share.
    used: u64,
}

#[derive(Debug)]
struct Session {
    cwd: PathBuf,
    /// Whether it takes prompts: it was not closed, or was taken up again since.
    open: bool,
    title: Option<String>,
    settings: Settings,
    history: History,
    updated: Timestamp,
    used: u64,
}

impl Sessions {
    /// Opens a new session.
    pub(super) fn open(&self, cwd: PathBuf) -> (SessionId, Settings) {
        let mut table = self.table();
        table.opened += 1;
        let id = SessionId::new(format!("session-{}", table.opened));
        let session = Session {
            cwd,
            open: true,
            title: None,
            settings: Settings::default(),
            history: History::default(),
            updated: Timestamp::now(),
            used: 0,
        };
        table.sessions.insert(id.clone(), session);
        table.touch(&id);
        table.forget();
        (id, Settings::default())
    }

    /// Takes up a session again, and gives what was said in it.
    pub(super) fn reopen(
        &self,
        id: &SessionId,
        cwd: PathBuf,
    ) -> Result<(Settings, Vec<Message>), Error> {
        let mut table = self.table();
        let session = table.get(id)?;
        session.open = true;
        session.cwd = cwd;
        let found = (session.settings, session.history.messages());
        table.touch(id);
        Ok(found)
    }

    /// Closes a session; it can be taken up again.
    pub(super) fn close(&self, id: &SessionId) -> Result<(), Error> {
        self.table().open(id).map(|session| session.open = false)
    }

    /// Forgets a session, if there is one.
    pub(super) fn delete(&self, id: &SessionId) {
        self.table().sessions.remove(id);
    }

    /// Begins a turn: keeps what the user has said.
    pub(super) fn prompted(&self, id: &SessionId, text: &str) -> Result<(), Error> {
        let mut table = self.table();
        let session = table.open(id)?;
        if session.title.is_none() {
            session.title = title(text);
        }
        session.history.begin(Speaker::User);
        session.history.add(text);
        session.history.begin(Speaker::Agent);
        table.touch(id);
        Ok(())
    }

    /// Keeps what the agent has said.
    pub(super) fn said(&self, id: &SessionId, text: &str) {
        if let Ok(session) = self.table().get(id) {
            session.history.add(text);
        }
    }

    pub(super) fn set_title(&self, id: &SessionId, title: &str) {
        if let Ok(session) = self.table().get(id) {
            session.title = Some(title.to_owned());
        }
    }

    pub(super) fn cwd(&self, id: &SessionId) -> Result<PathBuf, Error> {
        Ok(self.table().open(id)?.cwd.clone())
    }

    /// What is chosen in a session that is open.
    pub(super) fn settings(&self, id: &SessionId) -> Result<Settings, Error> {
        Ok(self.table().open(id)?.settings)
    }

    /// Changes what is chosen, and gives what is chosen then.
    pub(super) fn choose(
        &self,
        id: &SessionId,
        change: impl FnOnce(&mut Settings),
    ) -> Result<Settings, Error> {
        let mut table = self.table();
        let settings = &mut table.open(id)?.settings;
        change(settings);
        Ok(*settings)
    }

    /// A page of the sessions, those used last first; the error is why the cursor is none.
    pub(super) fn list(
        &self,
        cwd: Option<&Path>,
        cursor: Option<&str>,
    ) -> Result<ListSessionsResponse, &'static str> {
        let before = match cursor {
            Some(cursor) => cursor
                .parse()
                .map_err(|_| "it is no cursor of this agent")?,
            None => u64::MAX,
        };
        let table = self.table();
        let mut found: Vec<_> = table
            .sessions
            .iter()
            .filter(|(_, session)| session.used < before)
            .filter(|(_, session)| cwd.is_none_or(|cwd| session.cwd == cwd))
            .collect();
        found.sort_unstable_by_key(|(_, session)| std::cmp::Reverse(session.used));
        let more = found.len() > PAGE_SIZE;
        found.truncate(PAGE_SIZE);
        let last = found.last().map(|(_, session)| session.used.to_string());
        let page = found.into_iter().map(|(id, session)| {
            SessionInfo::new(id.clone(), session.cwd.clone())
                .title(session.title.clone())
                // To the second, which is enough for people.
                .updated_at(format!("{:.0}", session.updated))
        });
        Ok(ListSessionsResponse::new(page.collect()).next_cursor(last.filter(|_| more)))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // Nothing here panics half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// A session that is known, whether it is open or not.
    fn get(&mut self, id: &SessionId) -> Result<&mut Session, Error> {
        self.sessions
            .get_mut(id)
            .ok_or_else(|| Error::session_not_found(id.clone()))
    }

    /// A session that is open.
    fn open(&mut self, id: &SessionId) -> Result<&mut Session, Error> {
        let session = self.get(id)?;
        if session.open {
            Ok(session)
        } else {
            Err(Error::session_not_found(id.clone()))
        }
    }

    fn touch(&mut self, id: &SessionId) {
        self.used += 1;
        if let Some(session) = self.sessions.get_mut(id) {
            session.used = self.used;
            session.updated = Timestamp::now();
        }
    }

    fn forget(&mut self) {
        if self.sessions.len() <= SESSIONS_KEPT {
            return;
        }
        let oldest = self.sessions.iter().min_by_key(|(_, session)| session.used);
        if let Some(oldest) = oldest.map(|(id, _)| id.clone()) {
            self.sessions.remove(&oldest);
        }
    }
}

/// The first line of a prompt, not all of it if it is long.
fn title(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(match line.char_indices().nth(TITLE_LENGTH) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    })
}
