//! Turns that wait until they are cancelled: from the cancel to the answer.

use std::{process::Command, time::Instant};

use super::{Figures, Job, Metric, Role, Scale, Target, Unit, micros};
use crate::{
    child::{Process, Result, unexpected},
    stats::percentile,
    wire,
};

pub(super) const JOB: Job = Job {
    name: "cancel",
    role: Role::Agent,
    quick: true,
    metrics: &[
        Metric {
            name: "cancel to answer, p50",
            unit: Unit::Micros,
            target: Some(Target::AtMost(1.15)),
        },
        Metric {
            name: "cancel to answer, p99",
            unit: Unit::Micros,
            target: Some(Target::AtMost(1.15)),
        },
    ],
    run,
};

fn run(command: &mut Command, scale: &Scale) -> Result<Figures> {
    let mut agent = Process::agent(command)?;
    let session = agent.session()?;
    let warm_up = scale.cancels / 10;
    let cancel = wire::cancel(&session);
    let mut times = Vec::with_capacity(warm_up + scale.cancels);
    for id in 2..2 + warm_up + scale.cancels {
        // The update says that the turn runs and is about to wait, so that starting it is not counted.
        let prompt = wire::prompt(id, &session, "say ready\\nwait");
        agent.send(prompt.as_bytes())?;
        let ready = agent.stdout.line()?;
        if !wire::is_update(ready) {
            return Err(unexpected("an update", ready));
        }
        let start = Instant::now();
        agent.send(cancel.as_bytes())?;
        let answered = agent.stdout.answer()?;
        times.push(micros(answered.duration_since(start)));
    }
    let times = &times[warm_up..];
    Ok(vec![percentile(times, 50.0), percentile(times, 99.0)])
}
