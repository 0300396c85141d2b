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
    pub(crate) median: f64,
    /// Median, smallest and largest ratio to the floor.
    pub(crate) ratio: Option<(f64, f64, f64)>,
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
    let with_features = ["stream", "turns", "cancel", "transports"].contains(&job.name);
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
        if figures.is_empty() {
            return None;
        }
        let floor = self.rounds(job, beside, metric);
        let ratios: Vec<_> = rounds
            .iter()
            .filter_map(|(round, figure)| {
                let (_, floor) = floor.iter().find(|(other, _)| other == round)?;
                Some(figure / floor)
            })
            .collect();
        let (low, high) = range(&ratios);
        Some(Score {
            median: median(&figures),
            ratio: (!ratios.is_empty()).then(|| (median(&ratios), low, high)),
        })
    }
}
