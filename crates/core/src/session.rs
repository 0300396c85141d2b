//! A session at the agent: at most one turn, and a close that waits for its end.
//!
//! ```text
//!          Prompt              Close
//!   Free ─────────► Busy ───────────────► Draining
//!    │ ▲             │                        │
//!    │ └──TurnEnded──┘                        │ TurnEnded
//!    │                                        ▼
//!    └──────────────Close────────────────► Closing ──Closed──► Free
//! ```
//!
//! A session that is [`Session::Free`] is one the driver need not remember.

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Session {
    /// Nothing: the next prompt starts a turn.
    Free,
    /// A turn.
    Busy,
    /// A turn that was cancelled by `session/close`.
    Draining,
    /// Its close handler runs.
    Closing,
}

/// What can happen to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Input {
    /// `session/prompt`.
    Prompt,
    /// `session/close`.
    Close,
    /// The session's turn is over.
    TurnEnded,
    /// The close handler is done.
    Closed,
}

/// What the driver has to do about an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Output {
    /// Nothing.
    Ignore,
    /// Start a turn.
    StartTurn,
    /// Cancel the running turn; the close goes on when it is over.
    CancelTurn,
    /// Run the close handler.
    RunClose,
    /// Answer the request with an error, it does not touch what is going on.
    Reject(Rejection),
}

/// Why a session does not take a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rejection {
    /// It has a turn.
    Busy,
    /// It is being closed.
    Closing,
}

/// Applies one input to a session.
#[must_use]
pub const fn apply(session: Session, input: Input) -> (Session, Output) {
    use Input::{Close, Closed, Prompt, TurnEnded};
    use Session::{Busy, Closing, Draining, Free};

    match (session, input) {
        (Free, Prompt) => (Busy, Output::StartTurn),
        (Free, Close) => (Closing, Output::RunClose),
        (Free, TurnEnded | Closed) => (Free, Output::Ignore),

        (Busy, Prompt) => (Busy, Output::Reject(Rejection::Busy)),
        (Busy, Close) => (Draining, Output::CancelTurn),
        (Busy, TurnEnded) => (Free, Output::Ignore),
        (Busy, Closed) => (Busy, Output::Ignore),

        (Draining, Prompt | Close) => (Draining, Output::Reject(Rejection::Closing)),
        (Draining, TurnEnded) => (Closing, Output::RunClose),
        (Draining, Closed) => (Draining, Output::Ignore),

        (Closing, Prompt | Close) => (Closing, Output::Reject(Rejection::Closing)),
        (Closing, TurnEnded) => (Closing, Output::Ignore),
        (Closing, Closed) => (Free, Output::Ignore),
    }
}
