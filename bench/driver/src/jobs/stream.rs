//! One turn that streams updates of 40 bytes.

use std::{process::Command, time::Instant};

use super::{Figures, Job, Metric, Role, Scale, Target, Unit};
use crate::{
    child::{Process, Result},
    wire,
};

pub(super) const JOB: Job = Job {
    name: "stream",
    role: Role::Agent,
    quick: true,
    metrics: &[Metric {
        name: "updates streamed in one turn",
        unit: Unit::PerSecond,
        target: Some(Target::AtLeast(0.85, 0.5)),
    }],
    run,
};

fn run(command: &mut Command, scale: &Scale) -> Result<Figures> {
    let mut agent = Process::agent(command)?;
    let session = agent.session()?;
    // A short turn first, so that what an SDK sets up on first use is not counted.
    agent.send(wire::prompt(2, &session, "flood 1000 40").as_bytes())?;
    agent.stdout.skip_turn()?;

    let script = format!("flood {} 40", scale.updates);
    let prompt = wire::prompt(3, &session, &script);
    let start = Instant::now();
    agent.send(prompt.as_bytes())?;
    let lines = agent.stdout.skip_turn()?;
    let time = start.elapsed();
    if lines != scale.updates + 1 {
        return Err(format!("{lines} lines instead of {} updates", scale.updates).into());
    }
    Ok(vec![scale.updates as f64 / time.as_secs_f64()])
}
