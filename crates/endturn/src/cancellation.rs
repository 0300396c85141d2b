//! Asking a turn to stop, from the client's side.

use tokio_util::sync::CancellationToken;

/// A signal that ends the turn of a prompt, from any thread and at any time.
///
/// Hand it to [`Client::prompt`](crate::Client::prompt) and call [`cancel`](Self::cancel) when the user presses Stop.
/// The client then sends `session/cancel` once, and the prompt still returns the agent's answer, with the stop reason `cancelled` and after all updates of the turn.
///
/// Clones share one state.
/// A signal is used up by its first `cancel`; take a new one for the next turn.
/// Dropping it cancels nothing.
///
/// ```
/// use endturn::CancellationSignal;
///
/// let stop = CancellationSignal::new();
/// let button = stop.clone();
/// std::thread::spawn(move || button.cancel()).join().unwrap();
/// assert!(stop.is_cancelled());
/// ```
#[derive(Debug, Clone, Default)]
pub struct CancellationSignal(CancellationToken);

impl CancellationSignal {
    /// A signal that nobody has cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the turn to stop; a second time, or after the turn's end, it does nothing.
    ///
    /// It returns at once, and does not need a runtime.
    /// The cancel goes out when the prompt's future is polled next, which its runtime does without delay.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether somebody has called [`cancel`](Self::cancel).
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits until somebody calls [`cancel`](Self::cancel).
    ///
    /// # Cancel safety
    ///
    /// This method is cancel safe: dropping its future loses nothing.
    pub async fn cancelled(&self) {
        self.0.cancelled().await;
    }
}

impl From<CancellationToken> for CancellationSignal {
    fn from(token: CancellationToken) -> Self {
        Self(token)
    }
}

impl From<CancellationSignal> for CancellationToken {
    fn from(signal: CancellationSignal) -> Self {
        signal.0
    }
}
