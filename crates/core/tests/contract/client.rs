//! What a turn at the client has to keep.

use endturn_core::turn::client::{GiveUp, Input, Output, Settlement, Turn};

use super::{Contract, Goal, Rule, Step};

/// What happened to a prompt so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Facts {
    prompt: Prompt,
    /// The user wanted the turn to stop while its caller waited.
    wants_cancel: bool,
    /// How often `session/cancel` was sent.
    cancels: u8,
    /// How often `$/cancel_request` was sent.
    cancel_requests: u8,
    answered: bool,
    caller: Caller,
    lost: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
enum Prompt {
    #[default]
    Unwritten,
    Written,
    Withdrawn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
enum Caller {
    #[default]
    Waiting,
    Left,
    Told(Settlement),
}

impl Contract for Turn {
    type Facts = Facts;

    const START: Self = Turn::Unsent;

    const GOAL: Goal<Self> = Goal {
        id: "settled",
        says: "a caller can always come to its end",
        reached: |facts| facts.caller != Caller::Waiting,
    };

    const RULES: &'static [Rule<Self>] = &[
        Rule {
            id: "signal",
            says: "the user's wish sends `session/cancel` at once if the prompt is on the wire",
            when: |step| {
                step.input == Input::Cancel && step.awaits_answer() && step.before.cancels == 0
            },
            then: |step| step.output == Output::SendCancel,
        },
        Rule {
            id: "one-cancel",
            says: "cancelled before the prompt is on the wire: prompt, then `session/cancel`",
            when: |step| step.is_written_now() && step.before.wants_cancel,
            then: |step| step.output == Output::SendCancel,
        },
        Rule {
            id: "one-cancel",
            says: "`session/cancel` is sent because the user wants it",
            when: |step| step.output == Output::SendCancel,
            then: |step| step.after.wants_cancel,
        },
        Rule {
            id: "one-cancel",
            says: "`session/cancel` is sent once",
            when: |_| true,
            then: |step| step.after.cancels <= 1,
        },
        Rule {
            id: "one-cancel",
            says: "`session/cancel` is sent neither before its prompt nor after its answer",
            when: |step| step.output == Output::SendCancel,
            then: |step| step.after.owes_answer(),
        },
        Rule {
            id: "one-cancel",
            says: "no cancel is sent for a turn that its caller has left",
            when: |step| step.output == Output::SendCancel,
            then: |step| step.is_waited_for(),
        },
        Rule {
            id: "drop",
            says: "dropping the future of a written prompt gives it up",
            when: |step| step.input == Input::GiveUp(GiveUp::Dropped) && step.awaits_answer(),
            then: |step| step.output == Output::Abandon,
        },
        Rule {
            id: "drop",
            says: "dropping the future of an unwritten prompt takes it back",
            when: |step| step.input == Input::GiveUp(GiveUp::Dropped) && step.awaits_room(),
            then: |step| step.output == Output::Withdraw,
        },
        Rule {
            id: "drop",
            says: "`$/cancel_request` is sent once",
            when: |_| true,
            then: |step| step.after.cancel_requests <= 1,
        },
        Rule {
            id: "drop",
            says: "`$/cancel_request` is sent for what is on the wire and not answered",
            when: |step| step.gives_up(),
            then: |step| step.before.owes_answer(),
        },
        Rule {
            id: "drop",
            says: "a caller that is still there is not left without a word",
            when: |step| matches!(step.output, Output::Abandon | Output::Withdraw),
            then: |step| step.after.caller == Caller::Left,
        },
        Rule {
            id: "prompt-timeout",
            says: "a written prompt is given up, and the caller told",
            when: |step| step.input == Input::GiveUp(GiveUp::PromptTimeout) && step.awaits_answer(),
            then: |step| step.output == Output::AbandonAndSettle(Settlement::TimedOut),
        },
        Rule {
            id: "prompt-timeout",
            says: "an unwritten prompt is taken back, and the caller told",
            when: |step| step.input == Input::GiveUp(GiveUp::PromptTimeout) && step.awaits_room(),
            then: |step| step.output == Output::WithdrawAndSettle(Settlement::TimedOut),
        },
        Rule {
            id: "cancel-timeout",
            says: "a cancelled prompt is given up, and the caller told",
            when: |step| {
                step.input == Input::CancelExpired
                    && step.awaits_answer()
                    && step.before.cancels > 0
            },
            then: |step| step.output == Output::AbandonAndSettle(Settlement::CancelTimedOut),
        },
        Rule {
            id: "cancel-timeout",
            says: "it starts with `session/cancel`, and only then",
            when: |step| step.input == Input::CancelExpired && step.before.cancels == 0,
            then: |step| step.output == Output::Ignore,
        },
        Rule {
            id: "settled",
            says: "the caller is told the answer",
            when: |step| step.input == Input::Answer && step.awaits_answer(),
            then: |step| step.output == Output::Settle(Settlement::Answered),
        },
        Rule {
            id: "settled",
            says: "the caller is told at once that the connection is lost",
            when: |step| step.input == Input::Lost && step.awaits_answer(),
            then: |step| step.output == Output::Settle(Settlement::Lost),
        },
        Rule {
            id: "settled",
            says: "a lost connection takes an unwritten prompt back, and the caller is told at once",
            when: |step| step.input == Input::Lost && step.awaits_room(),
            then: |step| step.output == Output::WithdrawAndSettle(Settlement::Lost),
        },
        Rule {
            id: "settled",
            says: "nobody is told twice, or after leaving",
            when: |step| step.tells().is_some(),
            then: |step| step.is_waited_for(),
        },
        Rule {
            id: "settled",
            says: "what the caller is told is what happened",
            when: |step| step.tells().is_some(),
            then: |step| step.tells() == settlement_by(step.input),
        },
        Rule {
            id: "settled",
            says: "an answer to a prompt that was never sent is none",
            when: |step| step.input == Input::Answer && step.awaits_room(),
            then: |step| step.output == Output::Ignore,
        },
        Rule {
            id: "settled",
            says: "the session is occupied exactly as long as the caller waits",
            when: |_| true,
            then: |step| step.state.occupies_session() == (step.after.caller == Caller::Waiting),
        },
        Rule {
            id: "quarantine",
            says: "an answer that nobody waits for is discarded",
            when: |step| step.input == Input::Answer && !step.is_waited_for(),
            then: |step| step.output == Output::Discard,
        },
        Rule {
            id: "quarantine",
            says: "updates of a turn that its caller has left are discarded until its answer",
            when: |step| step.input == Input::Update && step.is_quarantined(),
            then: |step| step.output == Output::Discard,
        },
        Rule {
            id: "quarantine",
            says: "all other updates are delivered",
            when: |step| step.input == Input::Update && !step.is_quarantined(),
            then: |step| step.output == Output::Deliver,
        },
        Rule {
            id: "quarantine",
            says: "what is delivered or discarded has arrived",
            when: |step| matches!(step.output, Output::Deliver | Output::Discard),
            then: |step| matches!(step.input, Input::Update | Input::Answer),
        },
        Rule {
            id: "quarantine",
            says: "a turn is over when nobody waits and nothing is owed",
            when: |_| true,
            then: |step| (step.state == Turn::Ended) == step.after.is_over(),
        },
        Rule {
            id: "permissions",
            says: "only a question is asked or answered",
            when: |step| matches!(step.output, Output::Ask | Output::AnswerCancelled),
            then: |step| step.input == Input::Question,
        },
        Rule {
            id: "permissions",
            says: "a question that arrives between the cancel and the answer is answered `cancelled`",
            when: |step| step.input == Input::Question && step.is_cancelled_or_left(),
            then: |step| step.output == Output::AnswerCancelled,
        },
        Rule {
            id: "permissions",
            says: "the user is asked all other questions",
            when: |step| step.input == Input::Question && !step.is_cancelled_or_left(),
            then: |step| step.output == Output::Ask,
        },
        Rule {
            id: "settled",
            says: "nothing is done about an input that changes nothing",
            when: |step| !step.arrives() && step.before == step.after,
            then: |step| step.output == Output::Ignore,
        },
    ];

    fn record(facts: Facts, input: Input, output: Output) -> Facts {
        let mut after = facts;
        let waiting = facts.caller == Caller::Waiting;
        match input {
            Input::Written if facts.prompt == Prompt::Unwritten => after.prompt = Prompt::Written,
            Input::Cancel => after.wants_cancel |= waiting,
            Input::Answer => after.answered |= facts.owes_answer(),
            Input::GiveUp(GiveUp::Dropped) if waiting => after.caller = Caller::Left,
            Input::Lost => after.lost = true,
            Input::Written
            | Input::GiveUp(_)
            | Input::CancelExpired
            | Input::Update
            | Input::Question => {}
        }
        match output {
            Output::SendCancel => after.cancels += 1,
            Output::Abandon => after.cancel_requests += 1,
            Output::AbandonAndSettle(settlement) => {
                after.cancel_requests += 1;
                after.caller = Caller::Told(settlement);
            }
            Output::Withdraw => after.prompt = Prompt::Withdrawn,
            Output::WithdrawAndSettle(settlement) => {
                after.prompt = Prompt::Withdrawn;
                after.caller = Caller::Told(settlement);
            }
            Output::Settle(settlement) => after.caller = Caller::Told(settlement),
            Output::Ignore
            | Output::Deliver
            | Output::Discard
            | Output::Ask
            | Output::AnswerCancelled => {}
        }
        after
    }
}

impl Facts {
    /// Whether an answer can still arrive.
    fn owes_answer(self) -> bool {
        self.prompt == Prompt::Written && !self.answered && !self.lost
    }

    fn is_over(self) -> bool {
        self.caller != Caller::Waiting && !self.owes_answer()
    }
}

impl Step<Turn> {
    fn is_waited_for(&self) -> bool {
        self.before.caller == Caller::Waiting
    }

    fn awaits_room(&self) -> bool {
        self.is_waited_for() && self.before.prompt == Prompt::Unwritten
    }

    fn awaits_answer(&self) -> bool {
        self.is_waited_for() && self.before.prompt == Prompt::Written
    }

    fn is_written_now(&self) -> bool {
        self.input == Input::Written && self.awaits_room()
    }

    fn is_quarantined(&self) -> bool {
        !self.is_waited_for() && self.before.owes_answer()
    }

    fn is_cancelled_or_left(&self) -> bool {
        self.before.owes_answer() && (!self.is_waited_for() || self.before.cancels > 0)
    }

    fn gives_up(&self) -> bool {
        matches!(self.output, Output::Abandon | Output::AbandonAndSettle(_))
    }

    fn tells(&self) -> Option<Settlement> {
        match self.output {
            Output::AbandonAndSettle(settlement)
            | Output::WithdrawAndSettle(settlement)
            | Output::Settle(settlement) => Some(settlement),
            Output::Ignore
            | Output::SendCancel
            | Output::Abandon
            | Output::Withdraw
            | Output::Deliver
            | Output::Discard
            | Output::Ask
            | Output::AnswerCancelled => None,
        }
    }

    /// Whether the input is a message of the agent, which is never passed over in silence.
    fn arrives(&self) -> bool {
        matches!(self.input, Input::Answer | Input::Update | Input::Question)
    }
}

/// What a caller who waits is told because of an input.
fn settlement_by(input: Input) -> Option<Settlement> {
    match input {
        Input::Answer => Some(Settlement::Answered),
        Input::GiveUp(GiveUp::PromptTimeout) => Some(Settlement::TimedOut),
        Input::CancelExpired => Some(Settlement::CancelTimedOut),
        Input::Lost => Some(Settlement::Lost),
        Input::Written
        | Input::Cancel
        | Input::GiveUp(GiveUp::Dropped)
        | Input::Update
        | Input::Question => None,
    }
}
