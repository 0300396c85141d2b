//! A prompt, as the future of its answer.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use endturn_core::turn::client::{GiveUp, Input};
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::{
    Client,
    prompts::{self, PromptReply},
    side::{self, ClientSide},
    turn::Watcher,
};
use crate::{
    CancellationSignal,
    connection::{BoxFuture, Connection, Reply},
    error::{Error, Lost},
    request::write,
    schema::v1::{AGENT_METHOD_NAMES, PromptRequest, PromptResponse},
};

const METHOD: &str = AGENT_METHOD_NAMES.session_prompt;

/// The answer to a prompt, made by [`Client::prompt`].
///
/// Dropping it before it is done gives the turn up: the agent is sent one `$/cancel_request`.
#[must_use = "a prompt is sent when it is awaited, and given up when it is dropped"]
pub struct Prompt {
    answer: BoxFuture<Result<Reply, Error>>,
}

impl Prompt {
    pub(super) fn new(
        client: Client,
        request: PromptRequest,
        signal: Option<CancellationSignal>,
        watcher: Option<Watcher>,
    ) -> Self {
        let answer = Box::pin(run(client, request, signal, watcher));
        Self { answer }
    }

    /// Waits for the answer, and gives it as it came, with fields that the protocol's types do not have.
    ///
    /// ```
    /// # async fn example(prompt: endturn::client::Prompt) -> Result<(), Box<dyn std::error::Error>> {
    /// let answer: serde_json::Value = serde_json::from_str(prompt.raw().await?.get())?;
    /// println!("{}", answer["anythingNew"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Client::prompt`]; whether the answer can be read does not matter.
    ///
    /// # Cancel safety
    ///
    /// As for [`Client::prompt`].
    pub async fn raw(self) -> Result<Box<RawValue>, Error> {
        self.answer.await?.read(METHOD)
    }

    /// Lets the turn go on by itself, on a task of its own; its answer is lost, its updates are not.
    ///
    /// The client stays connected until the turn's end.
    ///
    /// ```
    /// # use endturn::{Client, Error, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// client.prompt(PromptRequest::new("session-1", vec!["Index all files".into()]), None).detach();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn detach(self) {
        tokio::spawn(async move {
            if let Err(error) = self.await {
                tracing::debug!(%error, "a detached prompt failed");
            }
        });
    }
}

impl Future for Prompt {
    type Output = Result<PromptResponse, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = std::task::ready!(self.answer.as_mut().poll(context));
        Poll::Ready(answer.and_then(|answer| answer.read(METHOD)))
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt").finish_non_exhaustive()
    }
}

async fn run(
    client: Client,
    request: PromptRequest,
    signal: Option<CancellationSignal>,
    watcher: Option<Watcher>,
) -> Result<Reply, Error> {
    let connection = &client.handle.connection;
    let handlers = &connection.side().handlers;
    let params = write(METHOD, &request)?;

    let (sender, mut reply) = oneshot::channel();
    let from = side::handling_session();
    let id = connection.apply(|state, _| {
        state.alive()?;
        prompts::reserve(handlers, state, &request, sender, watcher, from)
    })?;
    drop(request);
    let _give_up = GiveUpOnDrop { connection, id };
    let written = connection
        .apply_with_room(|state, after| prompts::write(handlers, state, after, id, &params));
    let mut reply = std::pin::pin!(async {
        tokio::select! {
            // The prompt may be settled before it is written, by a timeout or by the end of the connection.
            biased;
            settled = &mut reply => return Ok::<_, Error>(settled),
            written = written => written?,
        }
        // If this prompt is an update handler's, the answer has to be read even by a reader that holds back.
        connection.nudge();
        Ok((&mut reply).await)
    });
    let reply = match &signal {
        None => reply.await,
        Some(signal) => tokio::select! {
            biased;
            settled = &mut reply => settled,
            // A signal that is cancelled already comes second too: the prompt goes out, then the cancel.
            () = signal.cancelled() => {
                connection.apply(|state, after| {
                    prompts::apply(handlers, state, after, id, Input::Cancel);
                });
                reply.await
            }
        },
    };
    match reply?.unwrap_or(PromptReply::Lost(Lost::Closed)) {
        PromptReply::Answered(answer) => Ok(answer),
        PromptReply::TimedOut => Err(Error::timeout(METHOD, handlers.prompt_timeout)),
        PromptReply::CancelTimedOut => Err(Error::cancel_timed_out(handlers.cancel_timeout)),
        PromptReply::Lost(lost) => Err(Error::lost_call(METHOD, lost)),
    }
}

/// Gives the turn up when its caller's future is dropped; nothing if it is settled.
struct GiveUpOnDrop<'a> {
    connection: &'a Connection<ClientSide>,
    id: i64,
}

impl Drop for GiveUpOnDrop<'_> {
    fn drop(&mut self) {
        self.connection.apply(|state, after| {
            let input = Input::GiveUp(GiveUp::Dropped);
            let handlers = &self.connection.side().handlers;
            prompts::apply(handlers, state, after, self.id, input);
        });
    }
}
