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

use std::sync::Arc;

use endturn::schema::{
    ProtocolVersion,
    v1::{
        Implementation, RequestPermissionOutcome, RequestPermissionRequest, SessionId,
        SessionUpdate,
    },
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::outcome::Outcome;
pub(super) use screen::Screen;

/// How many updates may wait to be written before the agent is read more slowly.
const ROOM: usize = 256;

/// Something to show.
#[derive(Debug)]
pub(super) enum Event {
    Session {
        id: SessionId,
        agent: Option<Implementation>,
        version: ProtocolVersion,
    },
    Update(SessionUpdate),
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
    /// The turn is over, and nothing of it comes after this.
    End(Outcome),
    /// Nothing more comes at all.
    Finish,
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
}

/// An event, and the room it takes until it is written.
struct Message {
    event: Event,
    _room: Option<OwnedSemaphorePermit>,
}

impl Show {
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

    fn send(&self, event: Event, room: Option<OwnedSemaphorePermit>) {
        // A screen that is gone has told why itself.
        let _ = self.events.send(Message { event, _room: room });
    }
}

/// How the events look on standard output.
trait Render: Send {
    fn render(&mut self, event: &Event, page: &mut page::Page);
}
