//! The machines, and all values of their states, inputs and outputs.
//!
//! Each list is complete by construction: a variant that is missing here does not compile.

use std::{fmt::Debug, hash::Hash, sync::OnceLock};

use endturn_core::{request, session, turn};
use turn::agent::{CancelCause, Ending, Finish};
use turn::client::{GiveUp, Settlement};

/// A machine is known by the type of its states.
pub(crate) trait Machine: Every + Eq + Hash + Debug {
    type Input: Every + Eq + Debug;
    type Output: Every + Eq + Debug;
}

/// A transition function: the real one, or a mutant of it.
pub(crate) type Apply<'a, M> = &'a dyn Fn(M, <M as Machine>::Input) -> (M, <M as Machine>::Output);

impl Machine for turn::agent::Turn {
    type Input = turn::agent::Input;
    type Output = turn::agent::Output;
}

impl Machine for turn::client::Turn {
    type Input = turn::client::Input;
    type Output = turn::client::Output;
}

impl Machine for session::Session {
    type Input = session::Input;
    type Output = session::Output;
}

impl Machine for request::incoming::Request {
    type Input = request::incoming::Input;
    type Output = request::incoming::Output;
}

impl Machine for request::outgoing::Request {
    type Input = request::outgoing::Input;
    type Output = request::outgoing::Output;
}

/// A type of which every value can be listed, always in the same order.
pub(crate) trait Every: Copy + 'static {
    fn every() -> &'static [Self];
}

macro_rules! every {
    ($($type:ty { $($variant:ident $(($($payload:ty),+))?),+ $(,)? })+) => {$(
        impl Every for $type {
            fn every() -> &'static [Self] {
                static VALUES: OnceLock<Vec<$type>> = OnceLock::new();

                let _complete = |value: Self| match value {
                    $(Self::$variant { .. } => (),)+
                };
                VALUES.get_or_init(|| [$(every!(@values $variant $($($payload),+)?)),+].concat())
            }
        }
    )+};
    (@values $variant:ident) => {
        vec![Self::$variant]
    };
    (@values $variant:ident $payload:ty) => {
        <$payload>::every().iter().copied().map(Self::$variant).collect::<Vec<_>>()
    };
    (@values $variant:ident $first:ty, $second:ty) => {
        product(<$first>::every(), <$second>::every())
            .map(|(first, second)| Self::$variant(first, second))
            .collect::<Vec<_>>()
    };
}

/// All pairs of a first and a second value.
pub(crate) fn product<A: Copy, B: Copy>(
    all_a: &'static [A],
    all_b: &'static [B],
) -> impl Iterator<Item = (A, B)> {
    all_a
        .iter()
        .flat_map(|&a| all_b.iter().map(move |&b| (a, b)))
}

every! {
    turn::agent::Turn { Running, Cancelling, Ended(Ending) }
    turn::agent::Input {
        SessionCancel, SessionClose, Shutdown, RequestCancel, GraceExpired, DurationExpired,
        Finished(Finish), Lost, Update,
    }
    turn::agent::Output {
        Ignore, Signal(CancelCause), End(Ending), Interrupt(CancelCause, Ending), Send, Discard,
    }
    Ending {
        Completed, Failed, Panicked, Vanished, Cancelled, RequestCancelled, DurationExceeded, Lost,
    }
    Finish { Returned, Failed, Panicked, Vanished }

    turn::client::Turn { Unsent, UnsentCancelled, Active, Cancelling, Quarantined, Ended }
    turn::client::Input {
        Written, Cancel, Answer, GiveUp(GiveUp), CancelExpired, Lost, Update, Question,
    }
    turn::client::Output {
        Ignore, SendCancel, Abandon, AbandonAndSettle(Settlement), Withdraw,
        WithdrawAndSettle(Settlement), Settle(Settlement), Deliver, Discard, Ask, AnswerCancelled,
    }
    GiveUp { Dropped, PromptTimeout }
    Settlement { Answered, TimedOut, CancelTimedOut, Lost }

    session::Session { Free, Busy, Draining, Closing }
    session::Input { Prompt, Close, TurnEnded, Closed }
    session::Output { Ignore, StartTurn, CancelTurn, RunClose, Reject(session::Rejection) }
    session::Rejection { Busy, Closing }

    request::incoming::Request { Running, Answered }
    request::incoming::Input { Finished, Cancel, TurnCancelled, Lost }
    request::incoming::Output { Ignore, Answer, Interrupt, SettleCancelled, Forget }

    request::outgoing::Request { Unsent, UnsentCancelled, Open, Cancelling, Quarantined, Ended }
    request::outgoing::Input { Written, Cancel, Answer, GiveUp, Lost }
    request::outgoing::Output { Ignore, SendCancel, Withdraw, Settle, SettleLost, Discard }
}

impl Every for CancelCause {
    /// In the order of escalation.
    fn every() -> &'static [Self] {
        use CancelCause::{
            ConnectionLost, GracePeriod, MaxDuration, RequestCancel, SessionCancel, SessionClose,
            Shutdown,
        };

        // The enum is `#[non_exhaustive]`, so it is Clippy's `wildcard_enum_match_arm` that misses a new variant here.
        let _complete = |cause: Self| match cause {
            SessionCancel | SessionClose | Shutdown | GracePeriod | MaxDuration | RequestCancel
            | ConnectionLost => (),
            _ => unreachable!("{cause:?} is not in the list of causes"),
        };
        &Self::ALL
    }
}
