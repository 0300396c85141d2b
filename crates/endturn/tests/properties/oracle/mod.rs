//! A second, independent reading of the contract: it knows the rules, a trace, and nothing of how the connection works.
//!
//! [`facts`] collects what the trace says about each request.
//! [`order`] judges what holds under any interleaving of threads, by causes and effects only.
//! The others need a trace from one thread on a paused clock, where nothing takes time: there every effect stands at the same instant as its cause, and [`race`] tells which of several causes came first.

mod agent;
mod client;
mod client_questions;
mod facts;
mod incoming;
mod order;
mod outgoing;
mod race;
mod updates;
mod wire;

use std::{collections::BTreeMap, fmt};

use crate::{
    script::{AgentLimits, Clock},
    trace::{End, Entry},
};

use facts::Facts;

/// The rules that are judged, by their names in the contract.
pub(crate) const RULES: [&str; 34] = [
    "one-turn",
    "wire-order",
    "one-answer",
    "cancelled-answer",
    "cancel-signal",
    "cancel-handler",
    "idle-cancel",
    "grace-period",
    "max-duration",
    "request-cancel",
    "close-cancels",
    "lost",
    "shutdown",
    "update-order",
    "late-update",
    "free-before-answer",
    "nested",
    "final-updates",
    "panic",
    "always-answered",
    "signal",
    "one-cancel",
    "permissions",
    "answer-last",
    "drop",
    "prompt-timeout",
    "cancel-timeout",
    "quarantine",
    "settled",
    "request-timeout",
    "give-up",
    "keep-waiting",
    "cancel-received",
    "ids",
];

/// What a trace is judged by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) clock: Clock,
    pub(crate) agent: AgentLimits,
    /// How long a client waits for the answer after a cancel; zero is for ever.
    pub(crate) cancel_timeout: u64,
}

/// How often each rule had something to judge.
pub(crate) type Tally = BTreeMap<&'static str, usize>;

/// A rule that was not kept.
pub(crate) struct Violation {
    pub(crate) rule: &'static str,
    says: String,
    /// The place in the trace that shows it.
    place: usize,
}

/// Judges a trace.
pub(crate) fn judge(trace: &[Entry], limits: Limits) -> Result<Tally, Verdict> {
    let mut court = Court::default();
    let agent = Facts::new(trace, End::Agent);
    let client = Facts::new(trace, End::Client);
    for facts in [&agent, &client] {
        order::judge(&mut court, facts);
    }
    if limits.clock == Clock::Paused {
        let turns = agent::judge(&mut court, &agent, &limits.agent);
        updates::judge(&mut court, &agent, &turns);
        outgoing::judge_agent(&mut court, &agent, &turns, limits.agent.cascade);
        let prompts = client::judge(&mut court, &client, limits.cancel_timeout);
        client_questions::judge(&mut court, &client, &prompts);
        outgoing::judge_client(&mut court, &client, &prompts);
        let lost = [client.lost, agent.lost].into_iter().flatten().min();
        wire::judge(&mut court, trace, lost);
    }
    if court.violations.is_empty() {
        return Ok(court.tally);
    }
    Err(Verdict {
        violations: court.violations,
        trace: trace.iter().map(ToString::to_string).collect(),
    })
}

/// Collects what the judges find.
#[derive(Default)]
struct Court {
    tally: Tally,
    violations: Vec<Violation>,
}

impl Court {
    /// A rule has something to say about the entry at `place`.
    fn require(
        &mut self,
        rule: &'static str,
        place: usize,
        kept: bool,
        says: impl FnOnce() -> String,
    ) {
        *self.tally.entry(rule).or_default() += 1;
        if !kept {
            self.violations.push(Violation {
                rule,
                says: says(),
                place,
            });
        }
    }
}

/// The violations in a trace, and the trace.
pub(crate) struct Verdict {
    pub(crate) violations: Vec<Violation>,
    trace: Vec<String>,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, line) in self.trace.iter().enumerate() {
            writeln!(f, "{place:>4}  {line}")?;
        }
        for Violation { rule, says, place } in &self.violations {
            writeln!(f, "{rule}: {says} (at {place})")?;
        }
        Ok(())
    }
}
