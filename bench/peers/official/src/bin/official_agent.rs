//! The agent on the official Rust SDK.
//!
//! By default it is built as that SDK's documentation shows it: its own `Stdio`, on a runtime with several threads, and a spawned task for each turn.
//! With `--tuned` it gets what its interfaces allow: one thread, and a transport of our own that is registered with the reactor, writes what has gathered with one call, and lets a turn wait for what it has sent.

#[path = "../tuned.rs"]
mod tuned;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use agent_client_protocol::{
    Agent, Client, ConnectTo, Error, Result, Stdio, on_receive_notification, on_receive_request,
    v1::{
        ConnectionTo,
        schema::{
            CancelNotification, ContentBlock, ContentChunk, InitializeRequest, InitializeResponse,
            NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse, SessionId,
            SessionNotification, SessionUpdate, StopReason, TextContent,
        },
    },
};
use bench_script::Step;
use tokio_util::sync::CancellationToken;

use tuned::Backlog;

fn main() -> Result<()> {
    let tuned = std::env::args().any(|argument| argument == "--tuned");
    let mut runtime = if tuned {
        tokio::runtime::Builder::new_current_thread()
    } else {
        tokio::runtime::Builder::new_multi_thread()
    };
    let runtime = runtime
        .enable_all()
        .build()
        .map_err(Error::into_internal_error)?;
    runtime.block_on(async {
        if tuned {
            let backlog = Backlog::default();
            let lines = tuned::lines(&backlog).map_err(Error::into_internal_error)?;
            serve(Some(backlog), lines).await
        } else {
            serve(None, Stdio::new()).await
        }
    })
}

#[derive(Clone, Default)]
struct Turns(Arc<Mutex<HashMap<SessionId, CancellationToken>>>);

impl Turns {
    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn serve(backlog: Option<Backlog>, transport: impl ConnectTo<Agent>) -> Result<()> {
    let sessions = AtomicU64::new(0);
    let turns = Turns::default();
    let cancelled = turns.clone();
    Agent
        .v1()
        .name("official")
        .on_receive_request(
            async move |initialize: InitializeRequest, responder, _connection| {
                responder.respond(InitializeResponse::new(initialize.protocol_version))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_request: NewSessionRequest, responder, _connection| {
                let number = sessions.fetch_add(1, Ordering::Relaxed) + 1;
                responder.respond(NewSessionResponse::new(format!("session-{number}")))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, connection: ConnectionTo<Client>| {
                let token = CancellationToken::new();
                turns
                    .lock()
                    .insert(request.session_id.clone(), token.clone());
                let (turns, backlog) = (turns.clone(), backlog.clone());
                let sender = connection.clone();
                connection.spawn(async move {
                    let session = request.session_id.clone();
                    let turn = Turn {
                        connection: sender,
                        session: request.session_id.clone(),
                        token,
                        backlog,
                    };
                    let reason = turn.run(request).await?;
                    turns.lock().remove(&session);
                    responder.respond(PromptResponse::new(reason))
                })
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |cancel: CancelNotification, _connection| {
                if let Some(token) = cancelled.lock().get(&cancel.session_id) {
                    token.cancel();
                }
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_to(transport)
        .await
}

struct Turn {
    connection: ConnectionTo<Client>,
    session: SessionId,
    token: CancellationToken,
    backlog: Option<Backlog>,
}

impl Turn {
    async fn run(&self, request: PromptRequest) -> Result<StopReason> {
        for block in &request.prompt {
            if let ContentBlock::Text(text) = block {
                for step in bench_script::steps(&text.text) {
                    self.step(step).await?;
                }
            }
        }
        Ok(if self.token.is_cancelled() {
            StopReason::Cancelled
        } else {
            StopReason::EndTurn
        })
    }

    async fn step(&self, step: Step<'_>) -> Result<()> {
        match step {
            Step::Say(text) => self.update(text).await?,
            Step::Flood { count, bytes } => {
                let text = "x".repeat(bytes);
                for _ in 0..count {
                    if self.token.is_cancelled() {
                        break;
                    }
                    self.update(&text).await?;
                }
            }
            Step::Steps { count, pause } => {
                for step in 1..=count {
                    if self.token.is_cancelled() {
                        break;
                    }
                    self.update(&format!("Step {step}/{count}... ")).await?;
                    tokio::time::sleep(pause).await;
                }
            }
            Step::Wait => self.token.cancelled().await,
            Step::End => {}
        }
        Ok(())
    }

    async fn update(&self, text: &str) -> Result<()> {
        if let Some(backlog) = &self.backlog {
            backlog.room().await;
        }
        let chunk = ContentChunk::new(ContentBlock::Text(TextContent::new(text)));
        let update = SessionUpdate::AgentMessageChunk(chunk);
        self.connection
            .send_notification(SessionNotification::new(self.session.clone(), update))
    }
}
