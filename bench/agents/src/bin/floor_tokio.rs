//! The floor: what an agent costs that is written by hand on tokio, for these jobs and no others.
//!
//! It reads and writes the schema's types, runs each turn in a task of its own, holds its updates back when the client does not read, and writes what has gathered with one call.
//! It checks nothing: a second prompt for a session, a late update or a handler that never ends are somebody else's problem.

use std::{
    collections::HashMap,
    io,
    os::fd::AsFd,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agent_client_protocol_schema::{
    ProtocolVersion,
    v1::{
        CancelNotification, ContentBlock, ContentChunk, InitializeRequest, InitializeResponse,
        NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse, SessionId,
        SessionNotification, SessionUpdate, StopReason, TextContent,
    },
};
use agents::{Envelope, HIGH_WATER, write_answer, write_error, write_notification};
use bench_script::Step;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::pipe,
    sync::Notify,
};
use tokio_util::sync::CancellationToken;

#[derive(Default)]
struct Shared {
    outbox: Mutex<Vec<u8>>,
    written: Notify,
    room: Notify,
    turns: Mutex<HashMap<SessionId, CancellationToken>>,
}

impl Shared {
    fn outbox(&self) -> MutexGuard<'_, Vec<u8>> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turns(&self) -> MutexGuard<'_, HashMap<SessionId, CancellationToken>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut outbox = self.outbox();
        let was_empty = outbox.is_empty();
        write(&mut outbox);
        drop(outbox);
        if was_empty {
            self.written.notify_one();
        }
    }

    async fn update(&self, session: &SessionId, text: &str) {
        let chunk = ContentChunk::new(ContentBlock::Text(TextContent::new(text)));
        let update = SessionUpdate::AgentMessageChunk(chunk);
        let update = SessionNotification::new(session.clone(), update);
        while self.outbox().len() >= HIGH_WATER {
            let room = self.room.notified();
            if self.outbox().len() >= HIGH_WATER {
                room.await;
            }
        }
        self.send(|out| write_notification(out, "session/update", &update));
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let reader = io::stdin().as_fd().try_clone_to_owned()?;
    let writer = io::stdout().as_fd().try_clone_to_owned()?;
    let shared = Arc::new(Shared::default());
    let writer = pipe::Sender::from_owned_fd(writer)?;
    tokio::spawn(write_all(Arc::clone(&shared), writer));
    read_all(&shared, pipe::Receiver::from_owned_fd(reader)?).await
}

async fn write_all(shared: Arc<Shared>, mut writer: pipe::Sender) -> io::Result<()> {
    let mut batch = Vec::new();
    loop {
        std::mem::swap(&mut *shared.outbox(), &mut batch);
        if batch.is_empty() {
            shared.written.notified().await;
        } else {
            shared.room.notify_waiters();
            writer.write_all(&batch).await?;
            batch.clear();
        }
    }
}

async fn read_all(shared: &Arc<Shared>, mut reader: pipe::Receiver) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(HIGH_WATER);
    let mut scanned = 0;
    let mut sessions = 0;
    while reader.read_buf(&mut buffer).await? > 0 {
        let mut start = 0;
        while let Some(end) = memchr::memchr(b'\n', &buffer[scanned..]) {
            let end = scanned + end;
            receive(shared, &buffer[start..end], &mut sessions);
            start = end + 1;
            scanned = start;
        }
        buffer.drain(..start);
        scanned = buffer.len();
        buffer.reserve(HIGH_WATER / 2);
    }
    Ok(())
}

fn receive(shared: &Arc<Shared>, line: &[u8], sessions: &mut u64) {
    let Some(message) = Envelope::read(line) else {
        return shared.send(|out| write_error(out, "null", -32700, "Parse error"));
    };
    if let Err(error) = handle(shared, &message, sessions) {
        let id = message.id.map_or("null", |id| id.get());
        eprintln!("{error}");
        shared.send(|out| write_error(out, id, -32602, "Invalid params"));
    }
}

fn handle(
    shared: &Arc<Shared>,
    message: &Envelope<'_>,
    sessions: &mut u64,
) -> serde_json::Result<()> {
    let id = message.id.map_or("null", |id| id.get());
    match message.method {
        Some("initialize") => {
            message.params::<InitializeRequest>()?;
            let response = InitializeResponse::new(ProtocolVersion::V1);
            shared.send(|out| write_answer(out, id, &response));
        }
        Some("session/new") => {
            message.params::<NewSessionRequest>()?;
            *sessions += 1;
            let response = NewSessionResponse::new(format!("session-{sessions}"));
            shared.send(|out| write_answer(out, id, &response));
        }
        Some("session/prompt") => {
            let request: PromptRequest = message.params()?;
            let token = CancellationToken::new();
            shared
                .turns()
                .insert(request.session_id.clone(), token.clone());
            tokio::spawn(turn(Arc::clone(shared), id.to_owned(), request, token));
        }
        Some("session/cancel") => {
            let cancel: CancelNotification = message.params()?;
            if let Some(token) = shared.turns().get(&cancel.session_id) {
                token.cancel();
            }
        }
        _ => shared.send(|out| write_error(out, id, -32601, "Method not found")),
    }
    Ok(())
}

async fn turn(shared: Arc<Shared>, id: String, request: PromptRequest, token: CancellationToken) {
    let session = request.session_id;
    for block in &request.prompt {
        if let ContentBlock::Text(text) = block {
            for step in bench_script::steps(&text.text) {
                run(&shared, &session, step, &token).await;
            }
        }
    }
    let reason = if token.is_cancelled() {
        StopReason::Cancelled
    } else {
        StopReason::EndTurn
    };
    shared.turns().remove(&session);
    shared.send(|out| write_answer(out, &id, &PromptResponse::new(reason)));
}

async fn run(shared: &Shared, session: &SessionId, step: Step<'_>, token: &CancellationToken) {
    match step {
        Step::Say(text) => shared.update(session, text).await,
        Step::Flood { count, bytes } => {
            let text = "x".repeat(bytes);
            for _ in 0..count {
                if token.is_cancelled() {
                    break;
                }
                shared.update(session, &text).await;
            }
        }
        Step::Steps { count, pause } => {
            for step in 1..=count {
                if token.is_cancelled() {
                    break;
                }
                shared
                    .update(session, &format!("Step {step}/{count}... "))
                    .await;
                tokio::time::sleep(pause).await;
            }
        }
        Step::Wait => token.cancelled().await,
        Step::End => {}
    }
}
