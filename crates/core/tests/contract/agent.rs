//! What a turn at the agent has to keep.

use endturn_core::turn::agent::{CancelCause, Ending, Finish, Input, Output, Turn};

use super::{Contract, Goal, Rule, Step};

/// What happened to a turn so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Facts {
    /// Why it was asked to stop, if it was before its answer: the first time counts.
    asked: Option<CancelCause>,
    /// What its handler was told last.
    told: Option<CancelCause>,
    /// How often the handler was told while the turn went on.
    signals: u8,
    grace_periods: u8,
    handler: Handler,
    /// How it was answered.
    ending: Option<Ending>,
    lost: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
enum Handler {
    #[default]
    Running,
    Finished(Finish),
    Dropped,
}

impl Contract for Turn {
    type Facts = Facts;

    const START: Self = Turn::Running;

    const GOAL: Goal<Self> = Goal {
        id: "always-answered",
        says: "a turn can always come to its end",
        reached: |facts| facts.ending.is_some(),
    };

    const RULES: &'static [Rule<Self>] = &[
        Rule {
            id: "one-answer",
            says: "a turn ends once",
            when: |step| step.ends(),
            then: |step| !step.is_late(),
        },
        Rule {
            id: "one-answer",
            says: "the losers of the race do nothing",
            when: |step| step.is_late() && step.input != Input::Update,
            then: |step| step.output == Output::Ignore,
        },
        Rule {
            id: "one-answer",
            says: "the state tells which ending was answered",
            when: |_| true,
            then: |step| ending_in(step.state) == step.after.ending,
        },
        Rule {
            id: "always-answered",
            says: "a handler that is done ends the turn, however it came to be done",
            when: |step| matches!(step.input, Input::Finished(_)),
            then: |step| step.after.ending.is_some(),
        },
        Rule {
            id: "always-answered",
            says: "a handler that vanished is answered for",
            when: |step| step.comes_first(Input::Finished(Finish::Vanished)),
            then: |step| step.ends_with(Ending::Vanished),
        },
        Rule {
            id: "panic",
            says: "a panic is answered as a panic",
            when: |step| step.comes_first(Input::Finished(Finish::Panicked)),
            then: |step| step.ends_with(Ending::Panicked),
        },
        Rule {
            id: "cancelled-answer",
            says: "a failure before the cancel is answered as any other failure",
            when: |step| step.comes_first(Input::Finished(Finish::Failed)),
            then: |step| step.ends_with(Ending::Failed),
        },
        Rule {
            id: "cancelled-answer",
            says: "a response before the cancel stands as it is",
            when: |step| step.comes_first(Input::Finished(Finish::Returned)),
            then: |step| step.ends_with(Ending::Completed),
        },
        Rule {
            id: "cancelled-answer",
            says: "a turn that was asked to stop before its answer is answered `cancelled`, unless nobody is there",
            when: |step| step.ends() && step.is_cancelled() && step.input != Input::Lost,
            then: |step| step.ends_with(Ending::Cancelled),
        },
        Rule {
            id: "cancelled-answer",
            says: "a turn that nobody asked to stop is not answered `cancelled`",
            when: |step| step.ends_with(Ending::Cancelled),
            then: |step| step.is_cancelled(),
        },
        Rule {
            id: "cancel-signal",
            says: "the first request to stop is told to the handler, with its cause",
            when: |step| {
                request_to_stop(step.input).is_some() && !step.is_late() && !step.is_cancelled()
            },
            then: |step| request_to_stop(step.input).map(Output::Signal) == Some(step.output),
        },
        Rule {
            id: "cancel-signal",
            says: "only a request to stop is told as one",
            when: |step| matches!(step.output, Output::Signal(_)),
            then: |step| request_to_stop(step.input).is_some(),
        },
        Rule {
            id: "cancel-signal",
            says: "the handler is signalled once while the turn goes on",
            when: |_| true,
            then: |step| step.after.signals <= 1,
        },
        Rule {
            id: "cancel-signal",
            says: "a forced end tells the handler what forced it",
            when: |step| matches!(step.output, Output::Interrupt(..)),
            then: |step| step.after.told == forced_end(step.input),
        },
        Rule {
            id: "cancel-signal",
            says: "the cause only escalates",
            when: |step| step.after.told != step.before.told,
            then: |step| step.after.told > step.before.told,
        },
        Rule {
            id: "cancel-signal",
            says: "no handler runs on after the end without having been told and dropped",
            when: |step| step.after.ending.is_some(),
            then: |step| step.after.handler != Handler::Running,
        },
        Rule {
            id: "grace-period",
            says: "it starts with the first request to stop, and only then",
            when: |_| true,
            then: |step| step.after.grace_periods == u8::from(step.after.asked.is_some()),
        },
        Rule {
            id: "grace-period",
            says: "when it has passed, a turn that was asked to stop ends",
            when: |step| step.input == Input::GraceExpired && step.is_cancelled(),
            then: |step| step.after.ending.is_some(),
        },
        Rule {
            id: "grace-period",
            says: "a turn that nobody asked to stop has none",
            when: |step| step.input == Input::GraceExpired && !step.is_cancelled(),
            then: |step| step.output == Output::Ignore,
        },
        Rule {
            id: "max-duration",
            says: "when it has passed, the turn ends",
            when: |step| step.input == Input::DurationExpired,
            then: |step| step.after.ending.is_some(),
        },
        Rule {
            id: "max-duration",
            says: "a turn that took too long and was not asked to stop says so",
            when: |step| step.comes_first(Input::DurationExpired),
            then: |step| step.ends_with(Ending::DurationExceeded),
        },
        Rule {
            id: "request-cancel",
            says: "`$/cancel_request` ends the turn at once",
            when: |step| step.input == Input::RequestCancel,
            then: |step| step.after.ending.is_some(),
        },
        Rule {
            id: "request-cancel",
            says: "a turn that ends by `$/cancel_request` and was not asked to stop says so",
            when: |step| step.comes_first(Input::RequestCancel),
            then: |step| step.ends_with(Ending::RequestCancelled),
        },
        Rule {
            id: "lost",
            says: "a lost connection ends the turn, with nobody to answer",
            when: |step| step.input == Input::Lost && !step.is_late(),
            then: |step| step.ends_with(Ending::Lost),
        },
        Rule {
            id: "lost",
            says: "nothing is written afterwards",
            when: |step| step.before.lost,
            then: |step| matches!(step.output, Output::Ignore | Output::Discard),
        },
        Rule {
            id: "late-update",
            says: "no update is sent after the answer",
            when: |step| step.input == Input::Update && step.is_late(),
            then: |step| step.output == Output::Discard,
        },
        Rule {
            id: "late-update",
            says: "what is sent or dropped as an update is one",
            when: |step| matches!(step.output, Output::Send | Output::Discard),
            then: |step| step.input == Input::Update,
        },
        Rule {
            id: "final-updates",
            says: "updates are sent between the cancel and the answer",
            when: |step| step.input == Input::Update && step.is_cancelled() && !step.is_late(),
            then: |step| step.output == Output::Send,
        },
        Rule {
            id: "update-order",
            says: "updates are sent as long as the turn runs",
            when: |step| step.input == Input::Update && !step.is_cancelled() && !step.is_late(),
            then: |step| step.output == Output::Send,
        },
    ];

    fn record(facts: Facts, input: Input, output: Output) -> Facts {
        let mut after = facts;
        if facts.ending.is_none() {
            after.asked = facts.asked.or(request_to_stop(input));
        }
        if let (Handler::Running, Input::Finished(finish)) = (facts.handler, input) {
            after.handler = Handler::Finished(finish);
        }
        after.lost |= input == Input::Lost;

        match output {
            Output::Signal(cause) => {
                after.told = Some(cause);
                after.signals += 1;
                after.grace_periods += 1;
            }
            Output::End(ending) => after.ending = facts.ending.or(Some(ending)),
            Output::Interrupt(cause, ending) => {
                after.told = Some(cause);
                after.handler = Handler::Dropped;
                after.ending = facts.ending.or(Some(ending));
            }
            Output::Ignore | Output::Send | Output::Discard => {}
        }
        after
    }
}

impl Step<Turn> {
    /// Whether the answer stood before this step.
    fn is_late(&self) -> bool {
        self.before.ending.is_some()
    }

    /// Whether the turn had been asked to stop before this step, and before its answer.
    fn is_cancelled(&self) -> bool {
        self.before.asked.is_some()
    }

    fn ends(&self) -> bool {
        matches!(self.output, Output::End(_) | Output::Interrupt(..))
    }

    fn ends_with(&self, expected: Ending) -> bool {
        matches!(self.output, Output::End(ending) | Output::Interrupt(_, ending) if ending == expected)
    }

    /// Whether an input came to a turn that was neither answered nor asked to stop.
    fn comes_first(&self, input: Input) -> bool {
        self.input == input && !self.is_late() && !self.is_cancelled()
    }
}

/// The cause behind an input that asks a turn to stop.
fn request_to_stop(input: Input) -> Option<CancelCause> {
    match input {
        Input::SessionCancel => Some(CancelCause::SessionCancel),
        Input::SessionClose => Some(CancelCause::SessionClose),
        Input::Shutdown => Some(CancelCause::Shutdown),
        Input::RequestCancel
        | Input::GraceExpired
        | Input::DurationExpired
        | Input::Finished(_)
        | Input::Lost
        | Input::Update => None,
    }
}

/// The cause behind an input that does not wait for the handler.
fn forced_end(input: Input) -> Option<CancelCause> {
    match input {
        Input::RequestCancel => Some(CancelCause::RequestCancel),
        Input::GraceExpired => Some(CancelCause::GracePeriod),
        Input::DurationExpired => Some(CancelCause::MaxDuration),
        Input::Lost => Some(CancelCause::ConnectionLost),
        Input::SessionCancel
        | Input::SessionClose
        | Input::Shutdown
        | Input::Finished(_)
        | Input::Update => None,
    }
}

fn ending_in(state: Turn) -> Option<Ending> {
    match state {
        Turn::Running | Turn::Cancelling => None,
        Turn::Ended(ending) => Some(ending),
    }
}
