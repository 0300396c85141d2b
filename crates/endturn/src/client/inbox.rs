//! What a session's handlers still have to see, in the order of the wire.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
};

use tokio::sync::oneshot;

use super::{
    Client, SessionState, prompts::PromptReply, side::ClientSide, states::Change, turn::Watcher,
};
use crate::{
    blocking,
    connection::{After, BoxFuture, Connection, Key, Map, State, catch_panic},
    schema::v1::{SessionId, SessionNotification},
};

/// How many bytes of updates may wait for their handlers before reading pauses.
const LIMIT: usize = 1024 * 1024;

tokio::task_local! {
    /// The session whose inbox the current task is working on.
    pub(super) static HANDLING: SessionId;
}

/// The inboxes of all sessions; one that is empty and at rest needs no entry.
#[derive(Default)]
pub(super) struct Inboxes {
    /// A session stands here while a task works on its inbox.
    busy: Map<SessionId, VecDeque<Item>>,
    /// Sessions whose task has not been started.
    waiting: Vec<SessionId>,
    /// The size of all updates that were not handled.
    bytes: usize,
    /// How many prompts handlers wait for.
    held_open: usize,
}

/// Something that has its turn when everything before it was handled.
pub(super) enum Item {
    /// An update, how many bytes it had on the wire, and where else it is to be seen.
    Update(Box<SessionNotification>, usize, Option<Watcher>),
    /// The handler of another notification, and how many bytes that had.
    Notification(BoxFuture<()>, usize),
    /// A request of the agent.
    Request(Key, BoxFuture<()>),
    /// An answer that says something about the session.
    Change(Box<Change>),
    /// Somebody wants to know when everything before it was handled.
    Barrier(oneshot::Sender<()>),
    /// The answer to a prompt.
    Answer(oneshot::Sender<PromptReply>, PromptReply),
}

impl Item {
    /// Has an update be seen by the caller of its turn.
    pub(super) fn watch(&mut self, by: Option<&Watcher>) {
        if let Self::Update(_, _, watcher) = self {
            *watcher = by.cloned();
        }
    }

    /// How much of the limit it takes.
    fn size(&self) -> usize {
        match self {
            Self::Update(_, size, _) | Self::Notification(_, size) => *size,
            Self::Request(..) | Self::Change(_) | Self::Barrier(_) | Self::Answer(..) => 0,
        }
    }
}

impl Inboxes {
    /// Puts an item at the end of its session's inbox; only within [`apply`], which starts the work on it.
    pub(super) fn push(&mut self, session: &SessionId, item: Item) {
        self.bytes += item.size();
        if let Some(inbox) = self.busy.get_mut(session) {
            inbox.push_back(item);
        } else {
            self.busy.insert(session.clone(), VecDeque::from([item]));
            self.waiting.push(session.clone());
        }
    }

    /// Puts an item behind what its session has still to handle; if there is nothing, gives it back.
    pub(super) fn push_if_busy(&mut self, session: &SessionId, item: Item) -> Option<Item> {
        match self.busy.get_mut(session) {
            Some(inbox) => {
                inbox.push_back(item);
                None
            }
            None => Some(item),
        }
    }

    /// Takes all there is for a session; `None` ends the work on it.
    fn take(&mut self, session: &SessionId) -> Option<VecDeque<Item>> {
        let items = std::mem::take(self.busy.get_mut(session)?);
        if items.is_empty() {
            self.busy.remove(session);
            return None;
        }
        Some(items)
    }

    /// Updates were handled; says whether a reader may be waiting for that.
    fn handled(&mut self, bytes: usize) -> bool {
        let was_full = self.bytes > LIMIT;
        self.bytes -= bytes;
        was_full && self.bytes <= LIMIT
    }

    /// Counts an item that is kept elsewhere; says whether too much is kept.
    pub(super) fn hold(&mut self, item: &Item) -> bool {
        self.bytes += item.size();
        self.bytes > LIMIT
    }

    /// Stops counting an item that is no longer kept elsewhere.
    pub(super) fn release(&mut self, item: &Item) {
        self.bytes -= item.size();
    }

    /// A handler waits for a prompt, so reading must not pause.
    pub(super) fn hold_open(&mut self) {
        self.held_open += 1;
    }

    /// A handler's prompt was answered or given up.
    pub(super) fn let_go(&mut self) {
        self.held_open -= 1;
    }
}

/// Does one step on the client's tables, and starts a task for each inbox that has become busy by it.
pub(super) fn apply<R>(
    connection: &Connection<ClientSide>,
    step: impl FnOnce(&mut State<ClientSide>, &mut After) -> R,
) -> R {
    let (result, waiting) = connection.apply(|state, after| {
        let result = step(state, after);
        (result, std::mem::take(&mut state.side.inboxes.waiting))
    });
    for session in waiting {
        let work = work(connection.clone(), session.clone());
        let work = HANDLING.scope(session, work);
        if connection.side().handlers.update_blocks {
            blocking::spawn_on_thread(work);
        } else {
            tokio::spawn(work);
        }
    }
    result
}

/// Takes in what an answer says about a session, behind the updates that came before it.
pub(super) fn change(connection: &Connection<ClientSide>, session: &SessionId, change: Change) {
    apply(connection, |state, _| {
        let item = Item::Change(Box::new(change));
        if let Some(Item::Change(change)) = state.side.inboxes.push_if_busy(session, item) {
            state.side.states.answer(session, *change);
        }
    });
}

/// Waits until everything was handled that has arrived for a session.
pub(super) async fn caught_up(connection: &Connection<ClientSide>, session: &SessionId) {
    let (sender, handled) = oneshot::channel();
    let idle = apply(connection, |state, _| {
        let inboxes = &mut state.side.inboxes;
        inboxes.push_if_busy(session, Item::Barrier(sender))
    });
    drop(idle);
    // An error means that there is nothing to wait for.
    handled.await.ok();
}

/// Waits while the handlers are too far behind.
///
/// A handler that waits for an answer gets it read, so what it waits for is never what makes it wait.
pub(super) async fn ready(connection: &Connection<ClientSide>) {
    connection
        .apply_with_room(|state, _| {
            let inboxes = &state.side.inboxes;
            let go_on = inboxes.bytes <= LIMIT
                || inboxes.held_open > 0
                || !state.calls.is_empty()
                || state.alive().is_err();
            go_on.then_some(())
        })
        .await;
}

/// Handles what one session has, until there is nothing left.
async fn work(connection: Connection<ClientSide>, session: SessionId) {
    let mut handled = Handled {
        connection: &connection,
        bytes: 0,
    };
    while let Some(items) = connection.apply(|state, _| state.side.inboxes.take(&session)) {
        // A program that has dropped its client wants no more updates.
        let client = connection.side().client();
        for item in items {
            match item {
                Item::Update(update, size, watcher) => {
                    if let Some(client) = &client {
                        show(&connection, *update, client, watcher).await;
                    }
                    handled.add(size);
                }
                Item::Notification(told, size) => {
                    if catch_panic(told).await.is_err() {
                        tracing::error!("a notification's handler panicked");
                    }
                    handled.add(size);
                }
                Item::Request(key, run) => {
                    // A question may have been settled by a cancel while it waited here.
                    if connection.apply(|state, _| state.requests.get_mut(key).is_some()) {
                        connection.spawn(key, run);
                    }
                }
                Item::Change(change) => connection.apply(|state, _| {
                    state.side.states.answer(&session, *change);
                }),
                Item::Barrier(waiting) => drop(waiting.send(())),
                // A caller that has left at this very moment does not want it.
                Item::Answer(caller, answer) => drop(caller.send(answer)),
            }
        }
        handled.report();
    }
}

/// Updates that were handled, reported in portions because each report takes the lock.
struct Handled<'a> {
    connection: &'a Connection<ClientSide>,
    bytes: usize,
}

impl Handled<'_> {
    /// A portion is small beside the limit, so that a reader that holds back goes on in time.
    const PORTION: usize = LIMIT / 16;

    fn add(&mut self, size: usize) {
        self.bytes += size;
        if self.bytes >= Self::PORTION {
            self.report();
        }
    }

    fn report(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        let report =
            |state: &mut State<ClientSide>, _: &mut After| state.side.inboxes.handled(bytes);
        if self.connection.apply(report) {
            self.connection.nudge();
        }
    }
}

/// Has an update seen by all who want to see it.
async fn show(
    connection: &Connection<ClientSide>,
    notification: SessionNotification,
    client: &Client,
    watcher: Option<Watcher>,
) {
    let handlers = &connection.side().handlers;
    if handlers.tracks_sessions && SessionState::concerns(&notification.update) {
        connection.apply(|state, _| {
            let SessionNotification {
                session_id, update, ..
            } = &notification;
            state.side.states.update(session_id, update);
        });
    }
    match watcher {
        None => handle(connection, notification, client.clone()).await,
        Some(watcher) => {
            let update = notification.update.clone();
            handle(connection, notification, client.clone()).await;
            // A caller that has dropped its turn does not want it.
            drop(watcher.send(update).await);
        }
    }
}

/// Runs the update handler; a panic in it, also before there is a future, costs one update.
async fn handle(connection: &Connection<ClientSide>, update: SessionNotification, client: Client) {
    let Some(handler) = &connection.side().handlers.update else {
        return;
    };
    let handled = match catch_unwind(AssertUnwindSafe(|| handler(update, client))) {
        Ok(future) => catch_panic(future).await,
        Err(panic) => Err(panic),
    };
    if handled.is_err() {
        tracing::error!("the update handler panicked");
    }
}
