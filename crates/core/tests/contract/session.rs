//! What a session at the agent has to keep.

use endturn_core::session::{Input, Output, Rejection, Session};

use super::{Contract, Goal, Rule, Step};

/// What is going on in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Facts {
    turn_runs: bool,
    close: Close,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
enum Close {
    #[default]
    None,
    /// It waits for the end of the turn.
    Waits,
    /// Its handler runs.
    Runs,
}

impl Contract for Session {
    type Facts = Facts;

    const START: Self = Session::Free;

    const GOAL: Goal<Self> = Goal {
        id: "one-turn",
        says: "a session can always become free again",
        reached: |facts| *facts == Facts::default(),
    };

    const RULES: &'static [Rule<Self>] = &[
        Rule {
            id: "one-turn",
            says: "a prompt on a free session starts a turn",
            when: |step| step.input == Input::Prompt && step.before == Facts::default(),
            then: |step| step.output == Output::StartTurn,
        },
        Rule {
            id: "one-turn",
            says: "a prompt on a busy session is rejected and touches nothing",
            when: |step| step.input == Input::Prompt && step.before.turn_runs && !step.is_closing(),
            then: |step| step.output == Output::Reject(Rejection::Busy),
        },
        Rule {
            id: "one-turn",
            says: "the session is free again in the very step that ends its turn",
            when: |step| step.input == Input::TurnEnded && !step.is_closing(),
            then: |step| step.output == Output::Ignore,
        },
        Rule {
            id: "close-cancels",
            says: "a close cancels the running turn",
            when: |step| step.input == Input::Close && step.before.turn_runs && !step.is_closing(),
            then: |step| step.output == Output::CancelTurn,
        },
        Rule {
            id: "close-cancels",
            says: "a close of a free session runs its handler at once",
            when: |step| step.input == Input::Close && step.before == Facts::default(),
            then: |step| step.output == Output::RunClose,
        },
        Rule {
            id: "close-cancels",
            says: "a prompt or a second close while closing is rejected",
            when: |step| matches!(step.input, Input::Prompt | Input::Close) && step.is_closing(),
            then: |step| step.output == Output::Reject(Rejection::Closing),
        },
        Rule {
            id: "close-cancels",
            says: "the close handler runs when the turn has ended",
            when: |step| step.input == Input::TurnEnded && step.before.close == Close::Waits,
            then: |step| step.output == Output::RunClose,
        },
        Rule {
            id: "close-cancels",
            says: "the end of a turn means nothing to a close handler that runs",
            when: |step| step.input == Input::TurnEnded && step.before.close == Close::Runs,
            then: |step| step.output == Output::Ignore,
        },
        Rule {
            id: "close-cancels",
            says: "nothing is left to be done after the close handler",
            when: |step| step.input == Input::Closed,
            then: |step| step.output == Output::Ignore,
        },
    ];

    fn record(facts: Facts, input: Input, output: Output) -> Facts {
        let mut after = facts;
        match input {
            Input::TurnEnded => after.turn_runs = false,
            Input::Closed if facts.close == Close::Runs => after.close = Close::None,
            Input::Prompt | Input::Close | Input::Closed => {}
        }
        match output {
            Output::StartTurn => after.turn_runs = true,
            Output::CancelTurn => after.close = Close::Waits,
            Output::RunClose => after.close = Close::Runs,
            Output::Ignore | Output::Reject(_) => {}
        }
        after
    }
}

impl Step<Session> {
    fn is_closing(&self) -> bool {
        self.before.close != Close::None
    }
}
