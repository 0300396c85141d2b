//! endturn's client and agent with one transport or another between them.
//!
//! The program measures by itself, since there is no pipe of ours between its two ends.

use std::process::Command;

use super::{Figures, Job, Metric, Role, Scale, Unit};
use crate::child::{Process, Result, unexpected};

pub(super) const JOB: Job = Job {
    name: "transports",
    role: Role::Both,
    quick: false,
    metrics: &[
        Metric {
            name: "empty turn between endturn's client and agent, p50",
            unit: Unit::Micros,
            target: None,
        },
        Metric {
            name: "updates from endturn's agent to its client",
            unit: Unit::PerSecond,
            target: None,
        },
    ],
    run,
};

fn run(command: &mut Command, _scale: &Scale) -> Result<Figures> {
    let mut both = Process::start(command)?;
    let line = both.stdout.line()?;
    let figures: Vec<_> = String::from_utf8_lossy(line)
        .split_whitespace()
        .filter_map(|figure| figure.parse().ok())
        .collect();
    if figures.len() == JOB.metrics.len() {
        Ok(figures)
    } else {
        Err(unexpected("two figures", line))
    }
}
