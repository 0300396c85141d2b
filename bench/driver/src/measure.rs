//! Interleaved rounds, and what they gave.

use crate::{
    agents::{Contestant, Kind},
    arguments::Plan,
    child::Result,
    jobs::{Figures, Job, Metric},
    stats::{median, range},
};

/// All that was measured; a job that failed leaves a gap.
pub(crate) struct Results(Vec<Run>);

struct Run {
    job: &'static str,
    contestant: &'static str,
    /// Which of the rounds it was, since only figures of one round are compared.
    round: usize,
    figures: Figures,
}

/// What one contestant has reached in one metric.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Score {
    pub(crate) figure: Spread,
    /// The ratio to whoever it is compared with.
    pub(crate) ratio: Option<Spread>,
}

/// What several rounds gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Spread {
    /// Nothing if there was no round.
    fn of(values: &[f64]) -> Option<Self> {
        let (low, high) = range(values);
        let median = median(values);
        (!values.is_empty()).then_some(Self { median, low, high })
    }

    /// Whether all rounds kept what is asked for, none did, or some.
    pub(crate) fn keeps(self, asked: impl Fn(f64) -> bool) -> Verdict {
        match (asked(self.low), asked(self.high)) {
            (true, true) => Verdict::Kept,
            (false, false) => Verdict::Missed,
            (true, false) | (false, true) => Verdict::Open,
        }
    }
}

/// What a target has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Kept,
    /// The limit lies within the spread, so that another run could say otherwise.
    Open,
    Missed,
}

impl Verdict {
    pub(crate) fn mark(self) -> &'static str {
        match self {
            Self::Kept => "✓",
            Self::Open => "≈",
            Self::Missed => "✗",
        }
    }
}

/// Runs everything; a contestant that fails a job is said to have failed, and the others go on.
pub(crate) fn all(plan: &Plan) -> Result<Results> {
    let mut runs = Vec::new();
    for round in 1..=plan.rounds {
        for job in &plan.jobs {
            eprintln!("round {round} of {}: {}", plan.rounds, job.name);
            for contestant in takes_part(plan, job) {
                let mut command = contestant.command();
                match (job.run)(&mut command, &plan.scale) {
                    Ok(figures) => runs.push(Run {
                        job: job.name,
                        contestant: contestant.name,
                        round,
                        figures,
                    }),
                    Err(error) => eprintln!("  {} failed: {error}", contestant.name),
                }
            }
        }
    }
    Ok(Results(runs))
}

/// Whose job it is, the floor first.
pub(crate) fn takes_part<'a>(plan: &'a Plan, job: &Job) -> impl Iterator<Item = &'a Contestant> {
    // What a feature costs is seen in these; the others would only take time.
    let with_features = [
        "stream",
        "turns",
        "cancel",
        "sessions",
        "footprint",
        "transports",
    ]
    .contains(&job.name);
    let role = job.role;
    plan.contestants
        .iter()
        .filter(move |one| one.role == role && (one.kind != Kind::Feature || with_features))
}

impl Results {
    /// The figures of one contestant, with their rounds.
    fn rounds(&self, job: &Job, contestant: &str, metric: usize) -> Vec<(usize, f64)> {
        self.0
            .iter()
            .filter(|run| run.job == job.name && run.contestant == contestant)
            .map(|run| (run.round, run.figures[metric]))
            .filter(|(_, figure)| !figure.is_nan())
            .collect()
    }

    /// What a contestant reached, beside another one in the same rounds.
    pub(crate) fn score(
        &self,
        job: &Job,
        metric: &Metric,
        contestant: &str,
        beside: &str,
    ) -> Option<Score> {
        let metric = job.metrics.iter().position(|one| one == metric)?;
        let rounds = self.rounds(job, contestant, metric);
        let figures: Vec<_> = rounds.iter().map(|(_, figure)| *figure).collect();
        let figure = Spread::of(&figures)?;
        let floor = self.rounds(job, beside, metric);
        let ratios: Vec<_> = rounds
            .iter()
            .filter_map(|(round, figure)| {
                let (_, floor) = floor.iter().find(|(other, _)| other == round)?;
                Some(figure / floor)
            })
            .collect();
        let ratio = Spread::of(&ratios);
        Some(Score { figure, ratio })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_within_the_spread_leaves_a_target_open() {
        let spread = Spread::of(&[1.2, 1.1, 1.3]).unwrap();
        assert_eq!(spread.median, 1.2);
        assert_eq!(spread.keeps(|ratio| ratio <= 1.3), Verdict::Kept);
        assert_eq!(spread.keeps(|ratio| ratio <= 1.25), Verdict::Open);
        assert_eq!(spread.keeps(|ratio| ratio <= 1.05), Verdict::Missed);
        assert_eq!(spread.keeps(|ratio| ratio >= 1.1), Verdict::Kept);
        assert_eq!(spread.keeps(|ratio| ratio >= 1.15), Verdict::Open);
        assert_eq!(spread.keeps(|ratio| ratio >= 1.35), Verdict::Missed);
        assert_eq!(Spread::of(&[]), None);
    }
}
