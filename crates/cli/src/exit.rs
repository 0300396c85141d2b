//! Exit codes. They are documented in `endturn run --help`, and scripts rely on them.

use std::process::ExitCode;

use endturn::schema::v1::StopReason;

use crate::signals::Signal;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// The turn ended with `end_turn`, the agent's client went away, or nobody reads the output.
    Ended,
    /// This program failed: it cannot write its output, for example.
    Failed,
    /// The turn was cancelled.
    Cancelled,
    /// The agent refused to go on.
    Refused,
    /// The turn ran into a limit of tokens or requests.
    Limited,
    /// The agent answered with an error, or with something that cannot be understood.
    AgentError,
    /// The agent could not be started, is gone, or did not answer in time.
    AgentGone,
    /// A signal ended the program before there was an answer.
    Signal(Signal),
}

impl Code {
    /// The code for a turn that has been answered.
    pub(crate) fn of(reason: StopReason) -> Self {
        match reason {
            StopReason::EndTurn => Self::Ended,
            StopReason::Cancelled => Self::Cancelled,
            StopReason::Refusal => Self::Refused,
            // A reason of a newer protocol is not the end that was hoped for either.
            StopReason::MaxTokens | StopReason::MaxTurnRequests | _ => Self::Limited,
        }
    }

    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Ended => 0,
            Self::Failed => 1,
            // 2 is bad usage, which clap reports.
            Self::Cancelled => 3,
            Self::Refused => 4,
            Self::Limited => 5,
            Self::AgentError => 6,
            Self::AgentGone => 7,
            Self::Signal(signal) => 128 + signal.number(),
        }
    }
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        code.number().into()
    }
}
