//! Showing a turn.
//!
//! ```text
//!   Show ──events──► Screen (a task) ─► standard output: text, or JSON lines
//!   clones, for                      └► standard error: warnings, errors, questions, progress
//!   every handler
//! ```
//!
//! One task writes everything, so that the two streams keep their order on a terminal and nobody else
//! waits for a reader that is slow or has stopped: a full pipe must not keep a Ctrl-C from being seen.

mod json;
mod page;
mod progress;
mod screen;
mod text;
mod writer;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use endturn::schema::{
    ProtocolVersion,
    v1::{
        Implementation, RequestPermissionOutcome, RequestPermissionRequest, SessionConfigOption,
        SessionId, SessionInfo, SessionModeId, SessionModeState, SessionUpdate,
    },
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::outcome::Outcome;
pub(super) use screen::Screen;
pub(super) use text::value_of;

/// How many updates may wait to be written before the agent is read more slowly.
const ROOM: usize = 256;

/// Something to show.
#[derive(Debug)]
pub(super) enum Event {
    Session {
        id: SessionId,
        agent: Option<Implementation>,
        version: ProtocolVersion,
        opened: Opened,
        modes: Option<SessionModeState>,
        options: Option<Vec<SessionConfigOption>>,
    },
    Update(SessionUpdate),
    /// The session was put into a mode.
    Mode(SessionModeId),
    /// An option was set, and these are all of them.
    Options(Vec<SessionConfigOption>),
    /// One of the saved sessions.
    Listed(SessionInfo),
    /// The turn is being cancelled.
    Cancel(CancelCause),
    /// Asks the user something; the text ends where the answer is typed.
    Question(String),
    /// A question of the agent's is decided.
    Permission {
        request: RequestPermissionRequest,
        outcome: RequestPermissionOutcome,
        by: DecidedBy,
    },
    /// The agent wrote something that is no message.
    Stray {
        line: String,
        advice: &'static str,
    },
    Warning(String),
    /// For people only.
    Notice(String),
    /// A line is being typed from now on, and what is told meanwhile is held back.
    Typing,
    /// The line was typed, or given up in the middle.
    Typed {
        given_up: bool,
    },
    /// Tells that everything up to here is written.
    Reached(oneshot::Sender<()>),
    /// A turn of a conversation is over.
    TurnOver(Outcome),
    /// The turn is over, and nothing of it comes after this.
    End(Outcome),
    /// Nothing more comes at all.
    Finish,
}

impl Event {
    /// Whether it may be shown later than it came, since a line is being typed.
    fn can_wait(&self) -> bool {
        !matches!(
            self,
            Self::Typing | Self::Typed { .. } | Self::Reached(_) | Self::Finish
        )
    }
}

/// Where a session comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Opened {
    New,
    Loaded,
    Resumed,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum CancelCause {
    Interrupt,
    CancelAfter,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum DecidedBy {
    User,
    Flag,
    Nobody,
    /// The turn was cancelled before anybody had.
    Cancel,
}

/// Where events go in.
#[derive(Clone)]
pub(super) struct Show {
    events: mpsc::UnboundedSender<Message>,
    room: Arc<Semaphore>,
    /// Updates of a new session that came before anybody was told of the session; `None` when everybody was.
    early: Arc<Mutex<Option<Vec<SessionUpdate>>>>,
}

/// An event, and the room it takes until it is written.
struct Message {
    event: Event,
    _room: Option<OwnedSemaphorePermit>,
}

impl Show {
    fn new(events: mpsc::UnboundedSender<Message>) -> Self {
        Self {
            events,
            room: Arc::new(Semaphore::new(ROOM)),
            early: Arc::default(),
        }
    }

    /// Holds updates back until the session is shown, which comes first then.
    pub(super) fn expect_session(&self) {
        self.early().get_or_insert_default();
    }

    /// Shows a session, and what came of it already.
    pub(super) fn tell_session(&self, session: Event) {
        let mut early = self.early();
        self.tell(session);
        for update in early.take().unwrap_or_default() {
            self.tell(Event::Update(update));
        }
    }

    /// Shows an update: waits while the screen is behind.
    pub(super) async fn tell_update(&self, update: SessionUpdate) {
        // An agent that has so much to say of a session that nobody knows of gets no order in return.
        if let Some(early) = self.early().as_mut().filter(|early| early.len() < ROOM) {
            return early.push(update);
        }
        self.tell_with_room(Event::Update(update)).await;
    }

    fn early(&self) -> MutexGuard<'_, Option<Vec<SessionUpdate>>> {
        self.early.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows something of which there is little.
    pub(super) fn tell(&self, event: Event) {
        self.send(event, None);
    }

    /// Shows something of which there may be much: waits while the screen is behind.
    pub(super) async fn tell_with_room(&self, event: Event) {
        let room = Arc::clone(&self.room).acquire_owned().await.ok();
        self.send(event, room);
    }

    /// Shows something that may as well be left out.
    pub(super) fn tell_if_room(&self, event: Event) {
        if let Ok(room) = Arc::clone(&self.room).try_acquire_owned() {
            self.send(event, Some(room));
        }
    }

    /// Waits until all that was told so far is written.
    pub(super) async fn reached(&self) {
        let (sender, reached) = oneshot::channel();
        self.tell(Event::Reached(sender));
        // A screen that is gone writes nothing more.
        let _ = reached.await;
    }

    fn send(&self, event: Event, room: Option<OwnedSemaphorePermit>) {
        // A screen that is gone has told why itself.
        let _ = self.events.send(Message { event, _room: room });
    }
}

/// How the events look on standard output.
trait Render: Send {
    fn render(&mut self, event: &Event, page: &mut page::Page);
}
