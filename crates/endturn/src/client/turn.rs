//! One turn, with its updates.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;
use tokio::sync::mpsc;

use super::{Client, Prompt};
use crate::{
    CancellationSignal,
    error::Error,
    schema::v1::{PromptRequest, PromptResponse, SessionUpdate},
};

/// How many updates of a turn may wait to be taken out of it.
///
/// Enough to let the two sides run without meeting at every update; what is behind them waits where it is counted by its size.
const UPDATES: usize = 64;

/// A turn that is under way, as a stream of its updates; made by [`Session::turn`](super::Session::turn).
///
/// It is sent when it is first polled, by [`next`](Self::next) or [`response`](Self::response).
/// The updates come in the order of the wire, and when they are at their end the answer is there.
/// Updates of the session that belong to no turn, or to one that was given up, are not among them.
///
/// While the updates are not taken out, those behind them wait too, and after a mebibyte of them reading pauses, as for a slow [update handler](super::ClientBuilder::on_update).
///
/// Dropping it gives the turn up: the agent is sent one `$/cancel_request`.
///
/// ```
/// use endturn::{CancellationSignal, Error, client::Session, schema::v1::StopReason};
///
/// async fn first_words(session: &Session, count: usize) -> Result<StopReason, Error> {
///     let stop = CancellationSignal::new();
///     let mut turn = session.turn("Tell me a story", &stop);
///     for _ in 0..count {
///         let Some(update) = turn.next().await else { break };
///         println!("{update:?}");
///     }
///     stop.cancel(); // The rest of the updates is taken out by `response`.
///     Ok(turn.response().await?.stop_reason)
/// }
/// ```
pub struct Turn {
    prompt: Prompt,
    updates: mpsc::Receiver<SessionUpdate>,
    answer: Option<Result<PromptResponse, Error>>,
}

/// The end of a turn's stream that updates are put into.
pub(super) type Watcher = mpsc::Sender<SessionUpdate>;

impl Turn {
    pub(super) fn new(
        client: Client,
        request: PromptRequest,
        signal: Option<CancellationSignal>,
    ) -> Self {
        let (watcher, updates) = mpsc::channel(UPDATES);
        Self {
            prompt: Prompt::new(client, request, signal, Some(watcher)),
            updates,
            answer: None,
        }
    }

    /// The next update; `None` when the turn has ended and all of them were taken.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<SessionUpdate> {
        std::future::poll_fn(|context| self.poll_update(context)).await
    }

    /// Waits for the turn's end, and gives the agent's answer; updates that were not taken are lost to the stream.
    ///
    /// # Errors
    ///
    /// As for [`Client::prompt`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives the turn up.
    pub async fn response(mut self) -> Result<PromptResponse, Error> {
        while self.next().await.is_some() {}
        match self.answer {
            Some(answer) => answer,
            None => self.prompt.await,
        }
    }

    fn poll_update(&mut self, context: &mut Context<'_>) -> Poll<Option<SessionUpdate>> {
        if self.answer.is_none()
            && let Poll::Ready(answer) = Pin::new(&mut self.prompt).poll(context)
        {
            self.answer = Some(answer);
        }
        if self.answer.is_some() {
            // The answer comes behind all updates, so those that will come are there.
            return Poll::Ready(self.updates.try_recv().ok());
        }
        match self.updates.poll_recv(context) {
            Poll::Ready(Some(update)) => Poll::Ready(Some(update)),
            // The turn lets go of its stream when it ends, and then its answer is on its way.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

impl Stream for Turn {
    type Item = SessionUpdate;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<SessionUpdate>> {
        self.poll_update(context)
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").finish_non_exhaustive()
    }
}
