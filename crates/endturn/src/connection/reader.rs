//! From the transport to the machines.

use std::io;

use endturn_core::{
    request::outgoing,
    wire::{self, Frame, Id, Lines, Malformed, Message},
};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::{Connection, Side};
use crate::schema::v1;

/// How much is read at once: half a pipe, which at the usual 100 bytes a message is some 300 of them.
const CHUNK: usize = 32 * 1024;

/// What a single large message has needed is kept for as many reads without another one.
///
/// Large prompts come one after the other, and fresh memory costs more than the bytes that are read into it.
const KEPT_READS: u32 = 16;

/// A buffer beyond this is given back at once.
const KEPT_CAPACITY: usize = 4 * 1024 * 1024;

/// Reads messages until the input ends.
pub(super) async fn read_all<S: Side>(
    connection: &Connection<S>,
    mut reader: impl AsyncRead + Unpin,
) -> io::Result<()> {
    let mut lines = Lines::new(connection.0.limits.line);
    let mut small_reads = 0;
    loop {
        S::ready(connection).await;
        let buffer = lines.buffer();
        if buffer.len() >= CHUNK {
            small_reads = 0;
        } else if small_reads < KEPT_READS && buffer.capacity() <= KEPT_CAPACITY {
            small_reads += 1;
        } else {
            buffer.shrink_to(4 * CHUNK);
        }
        buffer.reserve(CHUNK);
        if reader.read_buf(buffer).await? == 0 {
            if let Some(frame) = lines.finish() {
                receive(connection, frame);
            }
            return Ok(());
        }
        while let Some(frame) = lines.next() {
            receive(connection, frame);
        }
    }
}

fn receive<S: Side>(connection: &Connection<S>, frame: Frame<'_>) {
    let line = match frame {
        Frame::Line(line) => line,
        Frame::TooLong { length } => {
            let limit = connection.0.limits.line;
            tracing::warn!(length, limit, "a line is too long and was dropped");
            let reason = format!("a line of {length} bytes is over the limit of {limit}");
            let advice = "a line is over the limit and was dropped";
            S::unreadable(connection, &[], advice, &invalid_request(reason));
            return;
        }
    };
    tracing::trace!(line = %String::from_utf8_lossy(line), "received");
    if S::shortcut(connection, line) {
        return;
    }
    match wire::classify(line) {
        Ok(Message::Request { id, method, params }) => {
            S::request(connection, id, &method, params);
        }
        Ok(Message::Notification { method, params }) => {
            if method == "$/cancel_request" {
                cancel_request(connection, params);
            } else {
                S::notification(connection, &method, params);
            }
        }
        Ok(Message::Response { id, outcome }) => answer(connection, &id, outcome),
        Err(Malformed::NotJson) => {
            let advice = wire::mistake(line).advice();
            tracing::warn!(advice, "received a line that is not JSON");
            S::unreadable(connection, line, advice, &v1::Error::parse_error());
        }
        Err(Malformed::NotAMessage { id, reason }) => {
            tracing::warn!(reason, "received something that is not a message");
            let error = invalid_request(reason);
            match id {
                Some(id) => answer_error(connection, &id, &error),
                None => S::unreadable(connection, line, reason, &error),
            }
        }
    }
}

/// `$/cancel_request`: for an id that is not open, or is not an id at all, it does nothing.
fn cancel_request<S: Side>(connection: &Connection<S>, params: Option<&RawValue>) {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow, rename = "requestId")]
        request_id: &'a RawValue,
    }
    let id = params
        .and_then(|params| serde_json::from_str::<Params<'_>>(params.get()).ok())
        .and_then(|params| Id::parse(params.request_id));
    let Some(id) = id else {
        tracing::debug!("ignored a $/cancel_request without a request id");
        return;
    };
    let open = connection.apply(|state, after| {
        let key = state.requests.find(&id);
        if let Some(key) = key {
            S::cancel_request(connection, state, after, key);
        }
        key.is_some()
    });
    if !open {
        tracing::debug!(%id, "ignored a $/cancel_request for a request that is not open");
    }
}

/// An answer to one of our calls, or to nothing we know of: then its caller has left, and it is discarded.
fn answer<S: Side>(connection: &Connection<S>, id: &Id, outcome: Result<&RawValue, &RawValue>) {
    let Id::Number(number) = *id else {
        // An error without an id is about something we sent that the peer could not read.
        tracing::warn!(%id, error = ?outcome.err(), "received an answer to a request that was never sent");
        return;
    };
    let taken = connection.apply(|state, _| {
        let call = state.take_call(number)?;
        let (_, output) = outgoing::apply(call.request, outgoing::Input::Answer);
        (output == outgoing::Output::Settle).then_some(call)
    });
    match taken {
        Some(call) => call.settle(outcome),
        None => S::answer(connection, number, outcome),
    }
}

/// Answers without a handler.
pub(crate) fn answer_error<S: Side>(connection: &Connection<S>, id: &Id, error: &v1::Error) {
    connection.apply(|state, _| state.outbox.answer::<()>(id, Err(error)));
}

/// A request for a method that this side has no handler for.
pub(crate) fn method_not_found(method: &str) -> v1::Error {
    v1::Error::method_not_found().data(serde_json::json!({ "method": method }))
}

pub(crate) fn invalid_request(reason: impl Into<String>) -> v1::Error {
    v1::Error::invalid_request().data(serde_json::json!({ "reason": reason.into() }))
}
