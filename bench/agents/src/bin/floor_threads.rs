//! The other floor: the same agent on plain threads.
//!
//! One thread reads, one writes, and a turn that sends gets a thread; one that only waits is a row in a table, since nothing has to run for it.

use std::{
    collections::HashMap,
    io::{self, Read, Write},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
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

#[derive(Default)]
struct Shared {
    outbox: Mutex<Vec<u8>>,
    written: Condvar,
    room: Condvar,
    turns: Mutex<HashMap<SessionId, Turn>>,
}

enum Turn {
    /// Nothing runs; the cancel answers this request.
    Waiting(String),
    /// A thread looks at this between two updates.
    Running(Arc<AtomicBool>),
}

impl Shared {
    fn outbox(&self) -> MutexGuard<'_, Vec<u8>> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turns(&self) -> MutexGuard<'_, HashMap<SessionId, Turn>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, write: impl FnOnce(&mut Vec<u8>)) {
        self.send_into(self.outbox(), write);
    }

    fn send_into(&self, mut outbox: MutexGuard<'_, Vec<u8>>, write: impl FnOnce(&mut Vec<u8>)) {
        let was_empty = outbox.is_empty();
        write(&mut outbox);
        drop(outbox);
        if was_empty {
            self.written.notify_one();
        }
    }

    fn update(&self, session: &SessionId, text: &str) {
        let chunk = ContentChunk::new(ContentBlock::Text(TextContent::new(text)));
        let update = SessionUpdate::AgentMessageChunk(chunk);
        let update = SessionNotification::new(session.clone(), update);
        let outbox = self
            .room
            .wait_while(self.outbox(), |outbox| outbox.len() >= HIGH_WATER)
            .unwrap_or_else(PoisonError::into_inner);
        self.send_into(outbox, |out| {
            write_notification(out, "session/update", &update)
        });
    }

    fn answer(&self, id: &str, reason: StopReason) {
        self.send(|out| write_answer(out, id, &PromptResponse::new(reason)));
    }
}

fn main() -> io::Result<()> {
    let shared = Arc::new(Shared::default());
    let writing = Arc::clone(&shared);
    thread::spawn(move || write_all(&writing));
    read_all(&shared)
}

fn write_all(shared: &Shared) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let mut batch = Vec::new();
    loop {
        let mut outbox = shared
            .written
            .wait_while(shared.outbox(), |outbox| outbox.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *outbox, &mut batch);
        drop(outbox);
        shared.room.notify_all();
        stdout.write_all(&batch)?;
        stdout.flush()?;
        batch.clear();
    }
}

fn read_all(shared: &Arc<Shared>) -> io::Result<()> {
    let mut stdin = io::stdin().lock();
    let mut chunk = vec![0; HIGH_WATER];
    let mut buffer = Vec::with_capacity(HIGH_WATER);
    let mut scanned = 0;
    let mut sessions = 0;
    loop {
        let length = stdin.read(&mut chunk)?;
        if length == 0 {
            return Ok(());
        }
        buffer.extend_from_slice(&chunk[..length]);
        let mut start = 0;
        while let Some(end) = memchr::memchr(b'\n', &buffer[scanned..]) {
            let end = scanned + end;
            receive(shared, &buffer[start..end], &mut sessions);
            start = end + 1;
            scanned = start;
        }
        buffer.drain(..start);
        scanned = buffer.len();
    }
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
        Some("session/prompt") => prompt(shared, id, message.params()?),
        Some("session/cancel") => {
            let cancel: CancelNotification = message.params()?;
            let mut turns = shared.turns();
            if let Some(Turn::Running(cancelled)) = turns.get(&cancel.session_id) {
                cancelled.store(true, Ordering::Relaxed);
            } else if let Some(Turn::Waiting(id)) = turns.remove(&cancel.session_id) {
                drop(turns);
                shared.answer(&id, StopReason::Cancelled);
            }
        }
        _ => shared.send(|out| write_error(out, id, -32601, "Method not found")),
    }
    Ok(())
}

fn prompt(shared: &Arc<Shared>, id: &str, request: PromptRequest) {
    let session = request.session_id;
    let text = request.prompt.iter().find_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    for step in bench_script::steps(text.unwrap_or_default()) {
        match step {
            Step::Say(text) => shared.update(&session, text),
            Step::Wait => {
                let turn = Turn::Waiting(id.to_owned());
                shared.turns().insert(session, turn);
                return;
            }
            // What it ends with is all that these jobs ask for.
            Step::Flood { .. } | Step::Steps { .. } => return start(shared, id, session, step),
            Step::End => {}
        }
    }
    shared.answer(id, StopReason::EndTurn);
}

/// Runs a step that sends, on a thread of its own.
fn start(shared: &Arc<Shared>, id: &str, session: SessionId, step: Step<'_>) {
    let cancelled = Arc::new(AtomicBool::new(false));
    let turn = Turn::Running(Arc::clone(&cancelled));
    shared.turns().insert(session.clone(), turn);
    let (count, pause, bytes) = match step {
        Step::Flood { count, bytes } => (count, None, bytes),
        Step::Steps { count, pause } => (count, Some(pause), 0),
        Step::Say(_) | Step::Wait | Step::End => return,
    };
    let (shared, id) = (Arc::clone(shared), id.to_owned());
    thread::spawn(move || {
        let text = "x".repeat(bytes);
        for step in 1..=count {
            if cancelled.load(Ordering::Relaxed) {
                break;
            }
            if let Some(pause) = pause {
                shared.update(&session, &format!("Step {step}/{count}... "));
                thread::sleep(pause);
            } else {
                shared.update(&session, &text);
            }
        }
        shared.turns().remove(&session);
        let reason = if cancelled.load(Ordering::Relaxed) {
            StopReason::Cancelled
        } else {
            StopReason::EndTurn
        };
        shared.answer(&id, reason);
    });
}
