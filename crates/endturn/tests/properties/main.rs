//! Random scripts of both sides, driven through a real connection, and judged by a second reading of the contract.
//!
//! ```text
//!   script ─► user, client ──tap── transport ──tap── agent, handlers
//!                 │           │                 │         │
//!                 └───────────┴──── trace ──────┴─────────┘ ─► oracle
//! ```
//!
//! `PROPTEST_CASES` says how many scripts run in memory on the paused clock; the other variants run their share of that.
//! A script is random and shrinks, but tokio polls the branches of a `select!` in an order of its own, so the same script can run differently; a failure therefore shows the whole trace.

mod agent;
mod bad_traces;
mod caller;
mod label;
mod oracle;
#[cfg(all(feature = "process", feature = "stdio"))]
mod process;
mod run;
mod script;
mod tap;
mod trace;
mod user;

use std::cell::RefCell;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use oracle::{Limits, RULES, Tally, judge};
use script::{Clock, Script, script};
use trace::Entry;

/// How many scripts run in memory on the paused clock, by default.
const CASES: u32 = 300;

/// The configuration for one test out of so many for which there is time.
fn config(share: u32) -> Config {
    let cases = match std::env::var_os("PROPTEST_CASES") {
        Some(_) => Config::default().cases,
        None => CASES,
    };
    Config {
        cases: cases.div_ceil(share),
        // A seed does not bring an interleaving back, so it is not kept.
        failure_persistence: None,
        ..Config::default()
    }
}

/// Runs random scripts, and has every trace judged.
fn check(mut runner: TestRunner, clock: Clock, run: impl Fn(&Script) -> Vec<Entry>) -> Tally {
    let total = RefCell::new(Tally::new());
    let result = runner.run(&script(clock), |script| {
        let limits = Limits {
            clock,
            agent: script.agent,
            cancel_timeout: script.client.cancel,
        };
        let tally = judge(&run(&script), limits)
            .map_err(|verdict| TestCaseError::fail(format!("\n{verdict}")))?;
        for (rule, times) in tally {
            *total.borrow_mut().entry(rule).or_default() += times;
        }
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    total.into_inner()
}

#[test]
fn the_contract_holds_on_a_paused_clock() {
    let runner = TestRunner::new(config(1));
    check(runner, Clock::Paused, run::on_a_paused_clock);
}

#[test]
fn every_rule_has_something_to_judge() {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let runner = TestRunner::new_with_rng(config(1), rng);
    let tally = check(runner, Clock::Paused, run::on_a_paused_clock);
    let idle: Vec<&str> = RULES
        .into_iter()
        .filter(|rule| !tally.contains_key(rule))
        .collect();
    assert!(idle.is_empty(), "never judged: {idle:?}, judged: {tally:?}");
}

#[test]
fn the_order_of_causes_and_effects_holds_on_several_threads() {
    let runner = TestRunner::new(config(3));
    check(runner, Clock::Real, run::on_threads);
}

#[cfg(unix)]
#[test]
fn the_order_of_causes_and_effects_holds_over_sockets() {
    let runner = TestRunner::new(config(3));
    check(runner, Clock::Real, run::over_sockets);
}

#[cfg(all(feature = "process", feature = "stdio"))]
#[test]
fn the_order_of_causes_and_effects_holds_between_processes() {
    let runner = TestRunner::new(config(12));
    let tally = check(runner, Clock::Real, run::between_processes);
    // The agents' traces did arrive.
    assert!(tally.contains_key("late-update"), "{tally:?}");
}
