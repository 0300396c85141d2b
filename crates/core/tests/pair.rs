//! A client and an agent keep the turn contract together, in every interleaving.
//!
//! See [`world`] for what is modelled.
//! Two prompts are explored in every build, three in release builds only, where that takes less than a minute.

mod explore;
mod machines;
mod world;

use explore::{Explored, Violation, explore};
use world::{Machines, Pair, Scenario, World};

/// All that can happen to two prompts, at an agent that knows `$/cancel_request`.
const EVERYTHING: Scenario = Scenario {
    prompts: 2,
    updates: 1,
    close: true,
    shutdown: true,
    loss: true,
    knows_cancel_request: true,
};

#[test]
fn two_prompts_keep_the_contract_whatever_happens() {
    assert_eq!(explore_all(EVERYTHING), (157_259, 2_706_569));
}

#[test]
fn two_prompts_keep_the_contract_if_the_agent_goes_on_with_given_up_turns() {
    let scenario = Scenario {
        knows_cancel_request: false,
        ..EVERYTHING
    };
    assert_eq!(explore_all(scenario), (138_876, 2_312_883));
}

#[test]
#[cfg(not(debug_assertions))]
fn two_prompts_with_two_updates_each_keep_the_contract_whatever_happens() {
    let scenario = Scenario {
        updates: 2,
        ..EVERYTHING
    };
    assert_eq!(explore_all(scenario), (410_931, 7_342_179));
}

#[test]
#[cfg(not(debug_assertions))]
fn three_prompts_keep_the_contract_whatever_happens() {
    let scenario = Scenario {
        prompts: 3,
        ..EVERYTHING
    };
    assert_eq!(explore_all(scenario), (6_787_998, 168_083_718));
}

/// Without closing and shutting down, which are explored with two prompts.
#[test]
#[cfg(not(debug_assertions))]
fn three_prompts_keep_the_contract_if_the_agent_goes_on_with_given_up_turns() {
    let scenario = Scenario {
        prompts: 3,
        close: false,
        shutdown: false,
        knows_cancel_request: false,
        ..EVERYTHING
    };
    assert_eq!(explore_all(scenario), (582_389, 13_152_255));
}

/// Explores a scenario to the end; returns the numbers of states and transitions.
fn explore_all(scenario: Scenario) -> (usize, usize) {
    let pair = Pair {
        machines: Machines::REAL,
        scenario,
    };
    let size = explore(&pair)
        .and_then(|explored| require_ways_to_answers(&explored).map(|()| explored.size()))
        .unwrap_or_else(|found| panic!("{found}"));
    println!("{scenario:?}: {} states, {} transitions", size.0, size.1);
    size
}

fn require_ways_to_answers(explored: &Explored<Pair<'_>>) -> Result<(), explore::Counterexample> {
    let unreachable = Violation {
        rule: "always-answered",
        says: "all prompts that were made can still be answered",
    };
    explored.require_way_to(World::is_settled, unreachable)
}
