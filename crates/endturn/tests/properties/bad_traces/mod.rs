//! The judge is judged: traces by hand, each of which breaks one rule, and would not without the difference.

mod agent;
mod client;
mod text;

use std::collections::BTreeSet;

use crate::{
    oracle::{Limits, RULES, judge},
    script::{AgentLimits, Clock},
};

/// A trace as a difference, one event a line: what begins with `-` is what should have happened, and with `+` what did.
pub(crate) struct BadTrace {
    rule: &'static str,
    limits: Limits,
    difference: &'static str,
}

impl BadTrace {
    fn new(rule: &'static str, difference: &'static str) -> Self {
        let agent = AgentLimits {
            grace_period: 0,
            max_duration: 0,
            request: 0,
            cascade: true,
        };
        let limits = Limits {
            clock: Clock::Paused,
            agent,
            cancel_timeout: 0,
        };
        Self {
            rule,
            limits,
            difference,
        }
    }

    fn grace_period(mut self, limit: u64) -> Self {
        self.limits.agent.grace_period = limit;
        self
    }

    fn max_duration(mut self, limit: u64) -> Self {
        self.limits.agent.max_duration = limit;
        self
    }

    fn cancel_timeout(mut self, limit: u64) -> Self {
        self.limits.cancel_timeout = limit;
        self
    }

    /// Has it judged as if it came from several threads.
    fn by_order_only(mut self) -> Self {
        self.limits.clock = Clock::Real;
        self
    }
}

fn all() -> Vec<BadTrace> {
    let mut all = agent::traces();
    all.extend(client::traces());
    all
}

#[test]
fn a_trace_that_breaks_a_rule_is_rejected_by_the_name_of_the_rule() {
    for trace in all() {
        let BadTrace {
            rule,
            limits,
            difference,
        } = trace;
        if let Err(verdict) = judge(&text::read(difference, '-'), limits) {
            panic!("{rule}: the trace should be accepted\n{verdict}");
        }
        let Err(verdict) = judge(&text::read(difference, '+'), limits) else {
            panic!("{rule}: the trace should be rejected\n{difference}");
        };
        let found = verdict.violations.iter().any(|found| found.rule == rule);
        assert!(
            found,
            "{rule}: the trace is rejected for other reasons\n{verdict}"
        );
    }
}

#[test]
fn every_rule_has_a_trace_that_breaks_it() {
    let broken: BTreeSet<&str> = all().iter().map(|trace| trace.rule).collect();
    assert_eq!(broken, BTreeSet::from(RULES));
}
