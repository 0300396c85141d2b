//! What an outgoing request other than a prompt has to keep.

use endturn_core::request::outgoing::{Input, Output, Request};

use super::{Contract, Goal, Rule, Step};

/// What happened to a request so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Facts {
    written: bool,
    /// The caller wanted it to stop while waiting for it.
    wants_cancel: bool,
    /// How often `$/cancel_request` was sent.
    cancels: u8,
    caller: Caller,
    answered: bool,
    lost: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
enum Caller {
    #[default]
    Waiting,
    Left,
    Told,
}

impl Contract for Request {
    type Facts = Facts;

    const START: Self = Request::Unsent;

    const GOAL: Goal<Self> = Goal {
        id: "settled",
        says: "a caller can always come to its end",
        reached: |facts| facts.caller != Caller::Waiting,
    };

    const RULES: &'static [Rule<Self>] = &[
        Rule {
            id: "give-up",
            says: "giving up a request that is on the wire sends `$/cancel_request`",
            when: |step| {
                step.input == Input::GiveUp && step.awaits_answer() && step.before.cancels == 0
            },
            then: |step| step.output == Output::SendCancel,
        },
        Rule {
            id: "give-up",
            says: "a request that is not on the wire is taken back",
            when: |step| step.input == Input::GiveUp && step.awaits_room(),
            then: |step| step.output == Output::Withdraw,
        },
        Rule {
            id: "give-up",
            says: "what is taken back was given up, and is not on the wire",
            when: |step| step.output == Output::Withdraw,
            then: |step| step.input == Input::GiveUp && step.awaits_room(),
        },
        Rule {
            id: "give-up",
            says: "`$/cancel_request` is sent once",
            when: |_| true,
            then: |step| step.after.cancels <= 1,
        },
        Rule {
            id: "give-up",
            says: "`$/cancel_request` is sent neither before its request nor after the answer",
            when: |step| step.output == Output::SendCancel,
            then: |step| step.after.owes_answer(),
        },
        Rule {
            id: "give-up",
            says: "a late answer is discarded",
            when: |step| step.input == Input::Answer && !step.is_waited_for(),
            then: |step| step.output == Output::Discard,
        },
        Rule {
            id: "keep-waiting",
            says: "the caller's wish sends `$/cancel_request` at once if the request is on the wire",
            when: |step| {
                step.input == Input::Cancel && step.awaits_answer() && step.before.cancels == 0
            },
            then: |step| step.output == Output::SendCancel,
        },
        Rule {
            id: "keep-waiting",
            says: "cancelled before the request is on the wire: request, then `$/cancel_request`",
            when: |step| {
                step.input == Input::Written && step.awaits_room() && step.before.wants_cancel
            },
            then: |step| step.output == Output::SendCancel,
        },
        Rule {
            id: "keep-waiting",
            says: "`$/cancel_request` is sent because somebody wants it",
            when: |step| step.output == Output::SendCancel,
            then: |step| step.after.wants_cancel || step.after.caller == Caller::Left,
        },
        Rule {
            id: "keep-waiting",
            says: "the caller is told the answer, cancelled or not",
            when: |step| step.input == Input::Answer && step.awaits_answer(),
            then: |step| step.output == Output::Settle,
        },
        Rule {
            id: "settled",
            says: "the caller is told at once that the connection is lost",
            when: |step| step.input == Input::Lost && step.is_waited_for(),
            then: |step| step.output == Output::SettleLost,
        },
        Rule {
            id: "settled",
            says: "nobody is told twice, or after leaving",
            when: |step| matches!(step.output, Output::Settle | Output::SettleLost),
            then: |step| step.is_waited_for(),
        },
        Rule {
            id: "settled",
            says: "an answer is what the caller is told, or what is discarded",
            when: |step| matches!(step.output, Output::Settle | Output::Discard),
            then: |step| step.input == Input::Answer,
        },
        Rule {
            id: "settled",
            says: "the caller of a request on a living connection is not told that it is lost",
            when: |step| step.output == Output::SettleLost,
            then: |step| step.input == Input::Lost,
        },
        Rule {
            id: "quarantine",
            says: "a request is over when nobody waits and nothing is owed",
            when: |_| true,
            then: |step| (step.state == Request::Ended) == step.after.is_over(),
        },
        Rule {
            id: "settled",
            says: "an answer to a request that was never sent is none",
            when: |step| step.input == Input::Answer && step.awaits_room(),
            then: |step| step.output == Output::Ignore,
        },
        Rule {
            id: "settled",
            says: "nothing is done about an input that changes nothing",
            when: |step| step.input != Input::Answer && step.before == step.after,
            then: |step| step.output == Output::Ignore,
        },
    ];

    fn record(facts: Facts, input: Input, output: Output) -> Facts {
        let mut after = facts;
        let waiting = facts.caller == Caller::Waiting;
        match input {
            Input::Written => after.written |= waiting,
            Input::Cancel => after.wants_cancel |= waiting,
            Input::Answer => after.answered |= facts.owes_answer(),
            Input::GiveUp if waiting => after.caller = Caller::Left,
            Input::GiveUp => {}
            Input::Lost => after.lost = true,
        }
        match output {
            Output::SendCancel => after.cancels += 1,
            Output::Settle | Output::SettleLost => after.caller = Caller::Told,
            Output::Ignore | Output::Withdraw | Output::Discard => {}
        }
        after
    }
}

impl Facts {
    /// Whether an answer can still arrive.
    fn owes_answer(self) -> bool {
        self.written && !self.answered && !self.lost
    }

    fn is_over(self) -> bool {
        self.caller != Caller::Waiting && !self.owes_answer()
    }
}

impl Step<Request> {
    fn is_waited_for(&self) -> bool {
        self.before.caller == Caller::Waiting
    }

    fn awaits_room(&self) -> bool {
        self.is_waited_for() && !self.before.written
    }

    fn awaits_answer(&self) -> bool {
        self.is_waited_for() && self.before.written
    }
}
