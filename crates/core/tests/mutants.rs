//! The rules catch every mistake that a machine can make in one arm.
//!
//! For each pair of state and input, the result is replaced by every other pair of state and output, and each such mutant has to break a rule of the contract.
//! The golden tables are no part of this: they would catch every change, right or wrong.

mod contract;
mod explore;
mod machines;

use endturn_core::{request, session, turn};

use contract::{Contract, check};
use machines::{Apply, Every as _, product};

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
            let mutant = |state, input| {
                if (state, input) == arm {
                    result
                } else {
                    apply(state, input)
                }
            };
            mutants += 1;
            if check(&mutant).is_ok() {
                survivors.push(format!("{arm:?} => {result:?} instead of {original:?}"));
            }
        }
    }
    println!("{mutants} mutants, {} caught", mutants - survivors.len());
    survivors
}
