//! A turn at the agent: the first event that claims it decides its [`Ending`], and all that comes later changes nothing.

/// Where a turn stands. A turn begins in [`Turn::Running`], with the arrival of its prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Turn {
    /// The handler runs and nobody has asked it to stop.
    Running,
    /// The turn was asked to stop; its handler may still send updates and return.
    Cancelling,
    /// The turn is over and its answer is decided.
    Ended(Ending),
}

/// Which answer a turn got.
///
/// The names say what happened, not what is written: how an ending looks on the wire is the driver's matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The handler returned a response, which stands as it is.
    Completed,
    /// The handler returned an error, which stands as it is.
    Failed,
    /// The handler panicked.
    Panicked,
    /// The handler went away without a result.
    Vanished,
    /// The turn was asked to stop and is answered `cancelled`.
    ///
    /// A response that the handler did return keeps everything but its stop reason.
    Cancelled,
    /// The prompt's request was cancelled by `$/cancel_request`.
    RequestCancelled,
    /// The turn took longer than the maximum duration.
    DurationExceeded,
    /// The connection is gone, so there is nobody to answer.
    Lost,
}

/// How a handler came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Finish {
    /// It returned a response.
    Returned,
    /// It returned an error.
    Failed,
    /// It panicked.
    Panicked,
    /// It was dropped by somebody else, a runtime that shuts down for example.
    Vanished,
}

/// Why a turn was cancelled, as its handler is told.
///
/// The order is that of escalation: a cause only ever gives way to a greater one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CancelCause {
    /// The client sent `session/cancel`.
    SessionCancel,
    /// The client sent `session/close`.
    SessionClose,
    /// The agent itself is shutting down.
    Shutdown,
    /// The handler did not stop within the grace period, and was ended.
    GracePeriod,
    /// The turn took longer than the maximum duration, and was ended.
    MaxDuration,
    /// The client sent `$/cancel_request` for the prompt, which ended the turn at once.
    RequestCancel,
    /// The connection was lost, which ended the turn at once.
    ConnectionLost,
}

impl CancelCause {
    /// Every cause, in the order of escalation.
    pub const ALL: [Self; 7] = [
        Self::SessionCancel,
        Self::SessionClose,
        Self::Shutdown,
        Self::GracePeriod,
        Self::MaxDuration,
        Self::RequestCancel,
        Self::ConnectionLost,
    ];
}

/// What can happen to a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Input {
    /// `session/cancel` for the turn's session.
    SessionCancel,
    /// `session/close` for the turn's session.
    SessionClose,
    /// The agent is shutting down.
    Shutdown,
    /// `$/cancel_request` that names the prompt.
    RequestCancel,
    /// The grace period has passed since the turn was first asked to stop.
    GraceExpired,
    /// The maximum duration has passed since the prompt arrived.
    DurationExpired,
    /// The handler is done.
    Finished(Finish),
    /// The connection is lost.
    Lost,
    /// Something wants to send an update for this turn.
    Update,
}

/// What the driver has to do about an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Output {
    /// Nothing.
    Ignore,
    /// Tell the handler, cancel its open requests to the client, and start the grace period.
    Signal(CancelCause),
    /// Answer the prompt and free the session, in one step; the handler is done.
    End(Ending),
    /// Tell the handler, answer the prompt and free the session in one step, then drop the handler.
    Interrupt(CancelCause, Ending),
    /// Put the update on the wire.
    Send,
    /// Drop the update: the answer already stands.
    Discard,
}

/// Applies one input to a turn.
///
/// Total: every pair of state and input has its own arm or stands in a group of pairs that mean the same.
#[must_use]
pub const fn apply(turn: Turn, input: Input) -> (Turn, Output) {
    use Input::{
        DurationExpired, Finished, GraceExpired, Lost, RequestCancel, SessionCancel, SessionClose,
        Shutdown, Update,
    };
    use Turn::{Cancelling, Ended, Running};

    match (turn, input) {
        (Running, SessionCancel) => (Cancelling, Output::Signal(CancelCause::SessionCancel)),
        (Running, SessionClose) => (Cancelling, Output::Signal(CancelCause::SessionClose)),
        (Running, Shutdown) => (Cancelling, Output::Signal(CancelCause::Shutdown)),
        (Running, RequestCancel) => interrupt(CancelCause::RequestCancel, Ending::RequestCancelled),
        // The grace period starts with the cancel, so this timer is a spurious one.
        (Running, GraceExpired) => (Running, Output::Ignore),
        (Running, DurationExpired) => interrupt(CancelCause::MaxDuration, Ending::DurationExceeded),
        (Running, Finished(Finish::Returned)) => end(Ending::Completed),
        (Running, Finished(Finish::Failed)) => end(Ending::Failed),
        (Running, Finished(Finish::Panicked)) => end(Ending::Panicked),
        (Running, Finished(Finish::Vanished)) => end(Ending::Vanished),
        (Running, Lost) => interrupt(CancelCause::ConnectionLost, Ending::Lost),
        (Running, Update) => (Running, Output::Send),

        // Asked once is asked: the handler knows, and the grace period runs from the first time.
        (Cancelling, SessionCancel | SessionClose | Shutdown) => (Cancelling, Output::Ignore),
        (Cancelling, RequestCancel) => interrupt(CancelCause::RequestCancel, Ending::Cancelled),
        (Cancelling, GraceExpired) => interrupt(CancelCause::GracePeriod, Ending::Cancelled),
        (Cancelling, DurationExpired) => interrupt(CancelCause::MaxDuration, Ending::Cancelled),
        (
            Cancelling,
            Finished(Finish::Returned | Finish::Failed | Finish::Panicked | Finish::Vanished),
        ) => end(Ending::Cancelled),
        (Cancelling, Lost) => interrupt(CancelCause::ConnectionLost, Ending::Lost),
        (Cancelling, Update) => (Cancelling, Output::Send),

        (Ended(_), Update) => (turn, Output::Discard),
        (
            Ended(_),
            SessionCancel | SessionClose | Shutdown | RequestCancel | GraceExpired
            | DurationExpired | Finished(_) | Lost,
        ) => (turn, Output::Ignore),
    }
}

/// The handler is done, so the turn ends with it.
const fn end(ending: Ending) -> (Turn, Output) {
    (Turn::Ended(ending), Output::End(ending))
}

/// The turn ends over its handler's head.
const fn interrupt(cause: CancelCause, ending: Ending) -> (Turn, Output) {
    (Turn::Ended(ending), Output::Interrupt(cause, ending))
}
