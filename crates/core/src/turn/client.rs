//! A turn at the client: what is sent for it, in which order, and what its caller is told.

/// Where a prompt stands. It begins in [`Turn::Unsent`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Turn {
    /// The prompt waits for room in the outgoing buffer.
    Unsent,
    /// The prompt waits for room, and was cancelled meanwhile; the cancel follows it.
    UnsentCancelled,
    /// The prompt is on the wire.
    Active,
    /// `session/cancel` is on the wire too, and the answer is awaited.
    Cancelling,
    /// The caller has left, and the agent still owes the answer.
    Quarantined,
    /// Nothing more is expected, in either direction.
    Ended,
}

impl Turn {
    /// Whether the prompt occupies its session: another prompt has to wait until it does not.
    ///
    /// `session/cancel` names a session and not a turn, so a client that put a second prompt behind this one could not cancel this one without risking to hit the second.
    /// A prompt that its caller has left is no hindrance, since no cancel will be sent for it any more.
    #[must_use]
    pub const fn occupies_session(self) -> bool {
        match self {
            Self::Unsent | Self::UnsentCancelled | Self::Active | Self::Cancelling => true,
            Self::Quarantined | Self::Ended => false,
        }
    }
}

/// Why a client stops waiting for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GiveUp {
    /// The caller dropped its future.
    Dropped,
    /// The prompt timeout passed.
    PromptTimeout,
}

/// What can happen to a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Input {
    /// The prompt has its place in the outgoing buffer.
    Written,
    /// The user wants the turn to stop.
    Cancel,
    /// The agent answered, with a response or an error.
    Answer,
    /// The caller does not wait any longer.
    GiveUp(GiveUp),
    /// The cancel timeout passed since `session/cancel` was sent.
    CancelExpired,
    /// The connection is lost.
    Lost,
    /// An update arrived for the session while this was its oldest unanswered prompt.
    Update,
    /// A request that a cancel must settle (a permission, an elicitation) arrived likewise.
    Question,
}

/// What the caller of a prompt is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Settlement {
    /// The agent's answer.
    Answered,
    /// The prompt timeout passed.
    TimedOut,
    /// The cancel timeout passed.
    CancelTimedOut,
    /// The connection is gone.
    Lost,
}

/// What the driver has to do about an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Output {
    /// Nothing.
    Ignore,
    /// Put `session/cancel` on the wire, start the cancel timeout, and settle the session's open questions as cancelled.
    SendCancel,
    /// Put `$/cancel_request` on the wire and settle the session's open questions as cancelled; nobody waits for the answer any more.
    Abandon,
    /// The same, and tell the caller.
    AbandonAndSettle(Settlement),
    /// Take the prompt back, nothing of it is on the wire.
    Withdraw,
    /// Take the prompt back and tell the caller.
    WithdrawAndSettle(Settlement),
    /// Tell the caller.
    Settle(Settlement),
    /// Show the update to the user, as part of this turn.
    Deliver,
    /// Drop what arrived: it belongs to a turn that its caller has left.
    Discard,
    /// Ask the user.
    Ask,
    /// Answer the question as cancelled, without asking.
    AnswerCancelled,
}

/// Applies one input to a prompt.
///
/// Total: every pair of state and input has its own arm or stands in a group of pairs that mean the same.
#[must_use]
pub const fn apply(turn: Turn, input: Input) -> (Turn, Output) {
    use Input::{Answer, Cancel, CancelExpired, Lost, Question, Update, Written};
    use Turn::{Active, Cancelling, Ended, Quarantined, Unsent, UnsentCancelled};

    match (turn, input) {
        (Unsent, Written) => (Active, Output::Ignore),
        (Unsent, Cancel) => (UnsentCancelled, Output::Ignore),
        (UnsentCancelled, Written) => (Cancelling, Output::SendCancel),
        (UnsentCancelled, Cancel) => (UnsentCancelled, Output::Ignore),
        (Unsent | UnsentCancelled, Input::GiveUp(GiveUp::Dropped)) => (Ended, Output::Withdraw),
        (Unsent | UnsentCancelled, Input::GiveUp(GiveUp::PromptTimeout)) => {
            (Ended, Output::WithdrawAndSettle(Settlement::TimedOut))
        }
        (Unsent | UnsentCancelled, Lost) => (Ended, Output::WithdrawAndSettle(Settlement::Lost)),
        // What arrives before the prompt is on the wire belongs to the session, not to this turn.
        (Unsent | UnsentCancelled, Update) => (turn, Output::Deliver),
        (Unsent | UnsentCancelled, Question) => (turn, Output::Ask),
        // An answer to a request that was never sent, or a timer that was never started.
        (Unsent | UnsentCancelled, Answer | CancelExpired) => (turn, Output::Ignore),

        (Active, Written) => (Active, Output::Ignore),
        (Active, Cancel) => (Cancelling, Output::SendCancel),
        (Active, Answer) => (Ended, Output::Settle(Settlement::Answered)),
        (Active, Input::GiveUp(GiveUp::Dropped)) => (Quarantined, Output::Abandon),
        (Active, Input::GiveUp(GiveUp::PromptTimeout)) => {
            (Quarantined, Output::AbandonAndSettle(Settlement::TimedOut))
        }
        (Active, CancelExpired) => (Active, Output::Ignore),
        (Active, Lost) => (Ended, Output::Settle(Settlement::Lost)),
        (Active, Update) => (Active, Output::Deliver),
        (Active, Question) => (Active, Output::Ask),

        (Cancelling, Written | Cancel) => (Cancelling, Output::Ignore),
        (Cancelling, Answer) => (Ended, Output::Settle(Settlement::Answered)),
        (Cancelling, Input::GiveUp(GiveUp::Dropped)) => (Quarantined, Output::Abandon),
        (Cancelling, Input::GiveUp(GiveUp::PromptTimeout)) => {
            (Quarantined, Output::AbandonAndSettle(Settlement::TimedOut))
        }
        (Cancelling, CancelExpired) => (
            Quarantined,
            Output::AbandonAndSettle(Settlement::CancelTimedOut),
        ),
        (Cancelling, Lost) => (Ended, Output::Settle(Settlement::Lost)),
        (Cancelling, Update) => (Cancelling, Output::Deliver),
        (Cancelling, Question) => (Cancelling, Output::AnswerCancelled),

        (Quarantined, Answer) => (Ended, Output::Discard),
        (Quarantined, Lost) => (Ended, Output::Ignore),
        (Quarantined, Update) => (Quarantined, Output::Discard),
        (Quarantined, Question) => (Quarantined, Output::AnswerCancelled),
        (Quarantined, Written | Cancel | Input::GiveUp(_) | CancelExpired) => {
            (Quarantined, Output::Ignore)
        }

        // A finished turn does not own what arrives later; the session does.
        (Ended, Update) => (Ended, Output::Deliver),
        (Ended, Question) => (Ended, Output::Ask),
        (Ended, Answer) => (Ended, Output::Discard),
        (Ended, Written | Cancel | Input::GiveUp(_) | CancelExpired | Lost) => {
            (Ended, Output::Ignore)
        }
    }
}
