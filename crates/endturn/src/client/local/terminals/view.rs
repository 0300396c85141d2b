//! Looking at a terminal.

use std::fmt;

use tokio::sync::watch;

use super::keeper::State;
use crate::schema::v1::{TerminalExitStatus, TerminalOutputResponse};

/// A terminal as it is shown to a user: what the command has written so far, and how it exited.
///
/// Made by [`LocalTerminals::view`](super::LocalTerminals::view), and cheap to clone.
/// It does not keep the command running, and goes on showing the last output after the terminal was released, as the specification wants for one that belongs to a tool call.
/// The output is bounded by the limit of the terminal, and its memory is freed with the last view.
///
/// ```
/// use endturn::client::TerminalView;
///
/// async fn follow(mut view: TerminalView) {
///     loop {
///         let shown = view.snapshot();
///         println!("{}", shown.output);
///         if !view.changed().await {
///             break;
///         }
///     }
/// }
/// ```
///
/// Source: [Embedding in tool calls](https://agentclientprotocol.com/protocol/v1/terminals#embedding-in-tool-calls).
#[derive(Clone)]
pub struct TerminalView(pub(super) watch::Receiver<State>);

impl TerminalView {
    /// The output and exit status at this moment, with what `terminal/output` would be answered.
    ///
    /// ```
    /// fn is_running(view: &endturn::client::TerminalView) -> bool {
    ///     view.snapshot().exit_status.is_none()
    /// }
    /// ```
    #[must_use]
    pub fn snapshot(&self) -> TerminalOutputResponse {
        let state = self.0.borrow();
        TerminalOutputResponse::new(state.output.text(), state.output.truncated())
            .exit_status(state.exit.clone())
    }

    /// Waits for the command's process to exit; `None` if it outlived a KILL, or the runtime that ran it is gone.
    ///
    /// ```
    /// async fn succeeded(view: &endturn::client::TerminalView) -> bool {
    ///     view.exited().await.is_some_and(|exit| exit.exit_code == Some(0))
    /// }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    pub async fn exited(&self) -> Option<TerminalExitStatus> {
        let mut state = self.0.clone();
        let exited = state.wait_for(|state| state.exit.is_some()).await;
        exited.ok()?.exit.clone()
    }

    /// Waits for more output, or for the exit, since this was last called on this view; `false` if nothing more will come.
    ///
    /// ```
    /// async fn first_output(view: &mut endturn::client::TerminalView) -> String {
    ///     view.changed().await;
    ///     view.snapshot().output
    /// }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    pub async fn changed(&mut self) -> bool {
        self.0.changed().await.is_ok()
    }
}

impl fmt::Debug for TerminalView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TerminalView").finish_non_exhaustive()
    }
}
