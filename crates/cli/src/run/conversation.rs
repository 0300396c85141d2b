//! What is said between this program and the agent.

use std::{cell::Cell, convert::Infallible, path::PathBuf, sync::Arc};

use endturn::{
    CancellationSignal, Client, Error,
    schema::{
        ProtocolVersion,
        v1::{
            ContentBlock, Implementation, InitializeRequest, NewSessionRequest, PromptRequest,
            PromptResponse, RequestPermissionResponse, TextContent,
        },
    },
    transport::Transport,
};

use super::{
    outcome::Trouble,
    permission::{Decision, Question},
    show::{CancelCause, Event, Show},
};
use crate::args::RunArgs;

/// Everything that one turn needs.
pub(super) struct Conversation<'a> {
    pub(super) args: &'a RunArgs,
    pub(super) cwd: PathBuf,
    pub(super) prompt: String,
    pub(super) show: &'a Show,
    pub(super) turn: &'a Turn,
}

/// The turn, for those who may want to cancel it.
pub(super) struct Turn {
    stop: CancellationSignal,
    running: Cell<bool>,
    show: Show,
}

impl Turn {
    pub(super) fn new(show: Show) -> Self {
        Self {
            stop: CancellationSignal::new(),
            running: Cell::new(false),
            show,
        }
    }

    /// Whether the prompt was sent.
    pub(super) fn is_running(&self) -> bool {
        self.running.get()
    }

    pub(super) fn cancel(&self, cause: CancelCause) {
        if !self.stop.is_cancelled() {
            self.show.tell(Event::Cancel(cause));
        }
        self.stop.cancel();
    }
}

impl Conversation<'_> {
    /// From the handshake to the answer.
    pub(super) async fn hold(self, transport: Transport) -> Result<PromptResponse, Trouble> {
        let client = self.client(transport);
        let request = InitializeRequest::new(ProtocolVersion::V1).client_info(Implementation::new(
            env!("CARGO_BIN_NAME"),
            env!("CARGO_PKG_VERSION"),
        ));
        let during = |method: &'static str| move |error: Error| Trouble { method, error };
        let hello = client
            .initialize(request)
            .await
            .map_err(during("initialize"))?;
        let session = client
            .new_session(NewSessionRequest::new(self.cwd.as_path()))
            .await
            .map_err(during("session/new"))?
            .session_id;
        self.show.tell(Event::Session {
            id: session.clone(),
            agent: hello.agent_info,
            version: hello.protocol_version,
        });

        let text = ContentBlock::Text(TextContent::new(self.prompt.as_str()));
        let prompt = client.prompt(PromptRequest::new(session, vec![text]), &self.turn.stop);
        self.turn.running.set(true);
        tokio::select! {
            // The prompt comes first: it is sent when it is polled, and the time counts from there.
            biased;
            answer = prompt => answer.map_err(during("session/prompt")),
            never = self.cancel_in_time() => match never {},
        }
    }

    fn client(&self, transport: Transport) -> Client {
        let updates = self.show.clone();
        let stray = self.show.clone();
        let questions = self.show.clone();
        let decision = Arc::new(Decision::new(self.args.allow));
        Client::builder()
            .request_timeout(self.args.handshake_timeout)
            .cancel_timeout(self.args.cancel_timeout)
            .on_update(move |notification, _client| {
                let show = updates.clone();
                async move {
                    show.tell_with_room(Event::Update(notification.update))
                        .await
                }
            })
            .on_stray_output(move |line, advice| {
                let line = line.to_owned();
                stray.tell_if_room(Event::Stray { line, advice });
            })
            .on_permission(move |request, _client| {
                // Dropped with the handler if the turn is cancelled.
                let question = Question::new(request, questions.clone());
                let decision = Arc::clone(&decision);
                async move {
                    Ok(RequestPermissionResponse::new(
                        question.ask(&decision).await,
                    ))
                }
            })
            .connect(transport)
    }

    /// Cancels the turn when its time is over; there is nothing to wait for after that.
    async fn cancel_in_time(&self) -> Infallible {
        if let Some(delay) = self.args.cancel_after {
            tokio::time::sleep(delay).await;
            self.turn.cancel(CancelCause::CancelAfter);
        }
        std::future::pending().await
    }
}
