//! The rules catch every mistake that a machine can make in one arm.
//!
//! For each pair of state and input, the result is replaced by every other pair of state and output, and each such mutant has to break a rule of the contract.
//! Not one is excused, so every arm is reached and every result matters.
//! The golden tables are no part of this: they would catch every change, right or wrong.

mod contract;
#[expect(dead_code, reason = "the states of a mutant are not counted")]
mod explore;
mod machines;
#[expect(
    dead_code,
    reason = "a mutant only has to break a rule in some step, or at rest"
)]
mod world;

use endturn_core::{request, session, turn};

use contract::{Contract, check};
use machines::{Apply, Every as _, Machine, product};
use world::{Machines, Pair, Scenario};

#[test]
fn every_mutant_of_a_turn_at_the_agent_breaks_a_rule() {
    assert_eq!(survivors(&turn::agent::apply), NONE);
}

#[test]
fn every_mutant_of_a_turn_at_the_client_breaks_a_rule() {
    assert_eq!(survivors(&turn::client::apply), NONE);
}

#[test]
fn every_mutant_of_a_session_breaks_a_rule() {
    assert_eq!(survivors(&session::apply), NONE);
}

#[test]
fn every_mutant_of_an_incoming_request_breaks_a_rule() {
    assert_eq!(survivors(&request::incoming::apply), NONE);
}

#[test]
fn every_mutant_of_an_outgoing_request_breaks_a_rule() {
    assert_eq!(survivors(&request::outgoing::apply), NONE);
}

const NONE: [String; 0] = [];

/// Checks all mutants of a machine, and names those that break no rule.
fn survivors<C: Contract>(apply: Apply<'_, C>) -> Vec<String> {
    let mut mutants = 0;
    let mut survivors = Vec::new();
    for arm in product(C::every(), C::Input::every()) {
        let original = apply(arm.0, arm.1);
        for result in product(C::every(), C::Output::every()).filter(|&other| other != original) {
            mutants += 1;
            if check(&mutate(apply, arm, result)).is_ok() {
                survivors.push(format!("{arm:?} => {result:?} instead of {original:?}"));
            }
        }
    }
    println!(
        "{mutants} mutants, {} caught, 0 excused",
        mutants - survivors.len()
    );
    survivors
}

/// The same machine but for one arm.
fn mutate<M: Machine>(
    apply: Apply<'_, M>,
    arm: (M, M::Input),
    result: (M, M::Output),
) -> impl Fn(M, M::Input) -> (M, M::Output) {
    move |state, input| {
        if (state, input) == arm {
            result
        } else {
            apply(state, input)
        }
    }
}

// The checks of the pair are checked by examples: for each, one mistake that it is there to catch.

const PAIR: Scenario = Scenario {
    prompts: 2,
    updates: 1,
    close: true,
    shutdown: true,
    loss: true,
    knows_cancel_request: true,
};

#[test]
fn mistakes_of_a_turn_at_the_agent_break_rules_of_the_pair() {
    use Turn::{Cancelling, Ended, Running};
    use turn::agent::{CancelCause, Ending, Finish, Input, Output, Turn, apply};

    const COMPLETED: Turn = Ended(Ending::Completed);
    const RETURNED: Input = Input::Finished(Finish::Returned);

    let broken_rule = |arm, result| {
        let agent = mutate(&apply, arm, result);
        rule_broken_by(
            Machines {
                agent: &agent,
                ..Machines::REAL
            },
            PAIR,
        )
    };
    for (arm, result, rule) in [
        (
            (Running, RETURNED),
            (Running, Output::Ignore),
            "always-answered",
        ),
        (
            (Running, Input::RequestCancel),
            (Running, Output::Ignore),
            "always-answered",
        ),
        (
            (Running, Input::Lost),
            (Running, Output::Ignore),
            "always-answered",
        ),
        (
            (Running, Input::Lost),
            (COMPLETED, Output::End(Ending::Completed)),
            "lost",
        ),
        (
            (Running, Input::SessionCancel),
            (Running, Output::Signal(CancelCause::SessionCancel)),
            "cancelled-answer",
        ),
        (
            (Cancelling, RETURNED),
            (COMPLETED, Output::End(Ending::Completed)),
            "cancelled-answer",
        ),
        (
            (Running, RETURNED),
            (Running, Output::End(Ending::Completed)),
            "one-answer",
        ),
        (
            (COMPLETED, Input::GraceExpired),
            (Running, Output::Ignore),
            "one-answer",
        ),
        (
            (COMPLETED, Input::Update),
            (COMPLETED, Output::Send),
            "late-update",
        ),
    ] {
        assert_eq!(broken_rule(arm, result), rule, "{arm:?} => {result:?}");
    }
}

#[test]
fn mistakes_of_a_turn_at_the_client_break_rules_of_the_pair() {
    use Turn::{Active, Cancelling, Ended, Quarantined, Unsent};
    use turn::client::{GiveUp, Input, Output, Settlement, Turn, apply};

    const TIMEOUT: Input = Input::GiveUp(GiveUp::PromptTimeout);
    const GIVE_UP: Output = Output::AbandonAndSettle(Settlement::TimedOut);

    let broken_rule = |arm, result| {
        let client = mutate(&apply, arm, result);
        rule_broken_by(
            Machines {
                client: &client,
                ..Machines::REAL
            },
            PAIR,
        )
    };
    for (arm, result, rule) in [
        (
            (Unsent, Input::Cancel),
            (Cancelling, Output::SendCancel),
            "one-cancel",
        ),
        (
            (Cancelling, Input::Cancel),
            (Cancelling, Output::SendCancel),
            "one-cancel",
        ),
        (
            (Quarantined, Input::Cancel),
            (Quarantined, Output::SendCancel),
            "one-cancel",
        ),
        ((Unsent, TIMEOUT), (Quarantined, GIVE_UP), "drop"),
        (
            (Quarantined, Input::Cancel),
            (Quarantined, Output::Abandon),
            "drop",
        ),
        ((Quarantined, TIMEOUT), (Quarantined, GIVE_UP), "settled"),
        ((Active, Input::Answer), (Ended, Output::Ignore), "settled"),
        ((Active, Input::Lost), (Ended, Output::Ignore), "settled"),
        (
            (Quarantined, Input::Update),
            (Quarantined, Output::Deliver),
            "quarantine",
        ),
        ((Active, TIMEOUT), (Ended, GIVE_UP), "quarantine"),
        (
            (Active, Input::Update),
            (Active, Output::Ask),
            "permissions",
        ),
    ] {
        assert_eq!(broken_rule(arm, result), rule, "{arm:?} => {result:?}");
    }
}

#[test]
fn mistakes_of_a_session_break_rules_of_the_pair() {
    use Session::{Busy, Closing, Draining, Free};
    use session::{Input, Output, Session, apply};

    let broken_rule = |arm, result, knows_cancel_request| {
        let session = mutate(&apply, arm, result);
        let scenario = Scenario {
            knows_cancel_request,
            ..PAIR
        };
        rule_broken_by(
            Machines {
                session: &session,
                ..Machines::REAL
            },
            scenario,
        )
    };
    for (arm, result, rule) in [
        (
            (Free, Input::Prompt),
            (Free, Output::Ignore),
            "always-answered",
        ),
        (
            (Busy, Input::TurnEnded),
            (Busy, Output::Ignore),
            "free-before-answer",
        ),
        (
            (Busy, Input::Close),
            (Closing, Output::RunClose),
            "close-cancels",
        ),
        (
            (Draining, Input::TurnEnded),
            (Closing, Output::Ignore),
            "close-cancels",
        ),
        (
            (Closing, Input::Closed),
            (Closing, Output::Ignore),
            "free-before-answer",
        ),
    ] {
        assert_eq!(
            broken_rule(arm, result, true),
            rule,
            "{arm:?} => {result:?}"
        );
    }
    // Only an agent that goes on with a turn whose caller has left gets a second prompt meanwhile.
    assert_eq!(
        broken_rule((Busy, Input::Prompt), (Busy, Output::StartTurn), false),
        "one-turn"
    );
}

#[test]
fn a_client_whose_prompts_do_not_wait_for_each_other_breaks_rules_of_the_pair() {
    use turn::client::Turn::{self, Active, Cancelling, Unsent, UnsentCancelled};

    for impatient in [Unsent, UnsentCancelled, Active, Cancelling] {
        let occupies_session = |turn: Turn| turn != impatient && turn.occupies_session();
        let machines = Machines {
            occupies_session: &occupies_session,
            ..Machines::REAL
        };
        assert_eq!(
            rule_broken_by(machines, PAIR),
            "free-before-answer",
            "{impatient:?}"
        );
    }
}

fn rule_broken_by(machines: Machines<'_>, scenario: Scenario) -> &'static str {
    match explore::explore(&Pair { machines, scenario }) {
        Ok(_) => "none",
        Err(found) => found.violation.rule,
    }
}
