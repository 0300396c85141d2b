//! The line that says what is being waited for.

use std::time::Duration;

use tokio::time::Instant;

/// Shown after this long, so that nothing flickers while things go well.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is being waited for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Phase {
    Starting,
    /// Nothing: it is the user's turn.
    Typing,
    Running,
    Cancelling,
    Stopping,
}

/// Since when nothing has come.
pub(super) struct Progress {
    phase: Phase,
    since: Instant,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::Starting,
            since: Instant::now(),
        }
    }

    pub(super) fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.restart();
    }

    /// Something has come.
    pub(super) fn restart(&mut self) {
        self.since = Instant::now();
    }

    /// Whether it may end a line of the agent's: somebody who has asked for an end wants to know what can be done.
    pub(super) fn is_worth_a_line(&self) -> bool {
        matches!(self.phase, Phase::Cancelling | Phase::Stopping)
    }

    /// The line, if it is time for one.
    pub(super) fn line(&self) -> Option<String> {
        let waited = self.since.elapsed();
        let seconds = waited.as_secs();
        if waited < PATIENCE {
            return None;
        }
        Some(match self.phase {
            Phase::Typing => return None,
            Phase::Starting => format!("starting the agent… {seconds}s"),
            Phase::Running => format!("waiting for the agent… {seconds}s"),
            Phase::Cancelling => {
                format!("cancelling… {seconds}s (Ctrl-C again ends the agent)")
            }
            Phase::Stopping => {
                format!("waiting for the agent to exit… {seconds}s (Ctrl-C kills it)")
            }
        })
    }
}
