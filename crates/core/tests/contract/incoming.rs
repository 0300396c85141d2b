//! What an incoming request other than a prompt has to keep.

use endturn_core::request::incoming::{Input, Output, Request};

use super::{Contract, Goal, Rule, Step};

/// Whether a request is over, by an answer or by the loss of its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Facts {
    over: bool,
}

impl Contract for Request {
    type Facts = Facts;

    const START: Self = Request::Running;

    const GOAL: Goal<Self> = Goal {
        id: "always-answered",
        says: "a request can always be answered",
        reached: |facts| facts.over,
    };

    const RULES: &'static [Rule<Self>] = &[
        Rule {
            id: "always-answered",
            says: "a handler that is done answers its request",
            when: |step| step.decides(Input::Finished),
            then: |step| step.output == Output::Answer,
        },
        Rule {
            id: "cancel-received",
            says: "`$/cancel_request` answers the request, and drops its handler",
            when: |step| step.decides(Input::Cancel),
            then: |step| step.output == Output::Interrupt,
        },
        Rule {
            id: "permissions",
            says: "an open question is answered `cancelled` when its turn is cancelled",
            when: |step| step.decides(Input::TurnCancelled),
            then: |step| step.output == Output::SettleCancelled,
        },
        Rule {
            id: "lost",
            says: "nothing is answered on a lost connection, but the handler is dropped",
            when: |step| step.decides(Input::Lost),
            then: |step| step.output == Output::Forget,
        },
        Rule {
            id: "cancel-received",
            says: "a request that is over stays as it is, whatever comes",
            when: |step| step.before.over,
            then: |step| step.output == Output::Ignore,
        },
    ];

    fn record(facts: Facts, _: Input, output: Output) -> Facts {
        Facts {
            over: facts.over || output != Output::Ignore,
        }
    }
}

impl Step<Request> {
    fn decides(&self, input: Input) -> bool {
        self.input == input && !self.before.over
    }
}
