//! What an agent says without being asked: updates, and other notifications.

use endturn_core::turn::client::{Input, Output};
use serde_json::value::RawValue;

use super::{
    Client,
    inbox::{self, Item},
    prompts::{self, Verdict},
    side::{ClientSide, session_of},
};
use crate::{
    connection::{Connection, NotificationHandler, catch_panic, decode},
    schema::v1::{CLIENT_METHOD_NAMES, SessionId, SessionNotification},
};

/// An update: into the inbox of its session, unless it belongs to a turn that was given up.
pub(super) fn update(connection: &Connection<ClientSide>, params: Option<&RawValue>) {
    let handlers = &connection.side().handlers;
    if handlers.unknown_update.is_none() && !wants_updates(connection) {
        return;
    }
    match decode::<SessionNotification>(params) {
        Ok(notification) => deliver_update(connection, notification, size_of(params)),
        Err(error) => match &handlers.unknown_update {
            Some(handle) => {
                notify(
                    connection,
                    CLIENT_METHOD_NAMES.session_update,
                    handle,
                    params,
                );
            }
            None => tracing::warn!(%error, "skipped an update that cannot be read"),
        },
    }
}

/// Whether anybody wants to see updates that can be read.
pub(super) fn wants_updates(connection: &Connection<ClientSide>) -> bool {
    let handlers = &connection.side().handlers;
    handlers.update.is_some()
        || handlers.tracks_sessions
        || connection.apply(|state, _| state.side.prompts.are_watched())
}

fn size_of(params: Option<&RawValue>) -> usize {
    params.map_or(0, |params| params.get().len())
}

/// Any notification with a handler: behind the updates of its session, if it names one.
pub(super) fn notify(
    connection: &Connection<ClientSide>,
    method: &str,
    handle: &NotificationHandler<Client>,
    params: Option<&RawValue>,
) {
    let Some(client) = connection.side().client() else {
        return;
    };
    let told = match handle(params, client) {
        Ok(told) => told,
        Err(error) => {
            tracing::warn!(method, %error, "skipped a notification that cannot be read");
            return;
        }
    };
    match session_of(params) {
        Some(session) => {
            deliver(
                connection,
                &session,
                Item::Notification(told, size_of(params)),
            );
        }
        None => {
            let method = method.to_owned();
            tokio::spawn(async move {
                if catch_panic(told).await.is_err() {
                    tracing::error!(method, "a notification's handler panicked");
                }
            });
        }
    }
}

/// Puts an update of so many bytes where it belongs.
pub(super) fn deliver_update(
    connection: &Connection<ClientSide>,
    notification: SessionNotification,
    size: usize,
) {
    let session = notification.session_id.clone();
    let item = Item::Update(Box::new(notification), size, None);
    deliver(connection, &session, item);
}

/// Puts something that belongs to a turn into the inbox of its session.
fn deliver(connection: &Connection<ClientSide>, session: &SessionId, mut item: Item) {
    let discarded = inbox::apply(connection, |state, _| {
        match state.side.prompts.verdict(session, Input::Update) {
            Verdict::Decided(Output::Deliver) => {
                item.watch(state.side.prompts.watcher(session));
                state.side.inboxes.push(session, item);
            }
            Verdict::Decided(_) => return Some(item),
            Verdict::Undecided => prompts::keep_undecided(state, session, item),
        }
        None
    });
    if discarded.is_some() {
        tracing::debug!("discarded an update of a turn that was given up");
    }
}
