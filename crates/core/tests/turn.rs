//! Every reachable state of every machine keeps the turn contract, whatever comes in.
//!
//! Each machine is explored together with an observer that knows only what went in and what came out, see [`contract`].

mod contract;
mod explore;
mod machines;

use std::fmt::Write as _;

use endturn_core::{request, session, turn};

use contract::{Contract, Observed, Step, check};
use explore::Explored;
use machines::{Apply, Every as _};

#[test]
fn a_turn_at_the_agent_keeps_the_contract() {
    assert_eq!(explore_all(&turn::agent::apply), (62, 744));
}

#[test]
fn a_turn_at_the_client_keeps_the_contract() {
    assert_eq!(explore_all(&turn::client::apply), (40, 360));
}

#[test]
fn a_session_keeps_the_contract() {
    assert_eq!(explore_all(&session::apply), (4, 16));
}

#[test]
fn an_incoming_request_keeps_the_contract() {
    assert_eq!(explore_all(&request::incoming::apply), (2, 8));
}

#[test]
fn an_outgoing_request_keeps_the_contract() {
    assert_eq!(explore_all(&request::outgoing::apply), (24, 120));
}

#[test]
fn the_causes_of_a_cancellation_are_ordered_by_escalation() {
    assert!(turn::agent::CancelCause::every().is_sorted());
}

/// Checks a machine, and that the check means something; returns the numbers of states and transitions.
fn explore_all<C: Contract>(apply: Apply<'_, C>) -> (usize, usize) {
    let explored = check(apply).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(
        vacuous_rules(apply, &explored),
        "",
        "these rules never apply"
    );
    assert_eq!(
        unused_states(&explored),
        [],
        "no input leads to these states"
    );
    explored.size()
}

/// The rules that would hold of a machine that does nothing at all.
fn vacuous_rules<C: Contract>(apply: Apply<'_, C>, explored: &Explored<Observed<'_, C>>) -> String {
    let observed = &Observed::new(apply);
    let observe = |state| {
        C::Input::every()
            .iter()
            .map(move |&input| observed.observe(state, input))
    };
    let steps: Vec<Step<C>> = explored.states().flat_map(observe).collect();

    let mut vacuous = String::new();
    for rule in C::RULES.iter().filter(|rule| !steps.iter().any(rule.when)) {
        writeln!(vacuous, "{}: {}", rule.id, rule.says).expect("a string takes everything");
    }
    vacuous
}

fn unused_states<C: Contract>(explored: &Explored<Observed<'_, C>>) -> Vec<C> {
    let is_unused = |state: &C| !explored.states().any(|(used, _)| used == state);
    C::every().iter().copied().filter(is_unused).collect()
}
