//! Turns that end at once, one after the other: from the prompt to its answer.

use std::{process::Command, time::Instant};

use super::{Figures, Job, Metric, Role, Scale, Target, Unit, micros};
use crate::{
    child::{Process, Result},
    stats::percentile,
    wire,
};

pub(super) const JOB: Job = Job {
    name: "turns",
    role: Role::Agent,
    quick: true,
    metrics: &[
        Metric {
            name: "empty turn, p50",
            unit: Unit::Micros,
            target: Some(Target::AtMost(1.15)),
        },
        Metric {
            name: "empty turn, p99",
            unit: Unit::Micros,
            target: None,
        },
    ],
    run,
};

fn run(command: &mut Command, scale: &Scale) -> Result<Figures> {
    let mut agent = Process::agent(command)?;
    let session = agent.session()?;
    let warm_up = scale.turns / 10;
    let prompts: Vec<_> = (2..2 + warm_up + scale.turns)
        .map(|id| wire::prompt(id, &session, "end end_turn"))
        .collect();
    let mut times = Vec::with_capacity(prompts.len());
    for prompt in &prompts {
        let start = Instant::now();
        agent.send(prompt.as_bytes())?;
        let answered = agent.stdout.answer()?;
        times.push(micros(answered.duration_since(start)));
    }
    let times = &times[warm_up..];
    Ok(vec![percentile(times, 50.0), percentile(times, 99.0)])
}
