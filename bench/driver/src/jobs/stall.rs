//! A client that reads nothing for two seconds during a flood, and cancels meanwhile.

use std::{process::Command, thread, time::Duration, time::Instant};

use super::{Figures, Job, Metric, Role, Scale, Target, Unit, mebibytes, millis};
use crate::{
    child::{Process, Result},
    wire,
};

const STALL: Duration = Duration::from_secs(2);

pub(super) const JOB: Job = Job {
    name: "stall",
    role: Role::Agent,
    quick: false,
    metrics: &[
        Metric {
            name: "memory above idle while nobody reads",
            unit: Unit::Mebibytes,
            target: Some(Target::Absolute(8.0)),
        },
        Metric {
            name: "answer to a cancel sent meanwhile, once it is read again",
            unit: Unit::Millis,
            target: None,
        },
    ],
    run,
};

fn run(command: &mut Command, scale: &Scale) -> Result<Figures> {
    let mut agent = Process::agent(command)?;
    let session = agent.session()?;
    let idle = agent.memory()?;
    agent.forget_peak()?;
    let script = format!("flood {} 40", scale.updates);
    agent.send(wire::prompt(2, &session, &script).as_bytes())?;
    thread::sleep(STALL / 2);
    agent.send(wire::cancel(&session).as_bytes())?;
    thread::sleep(STALL / 2);
    let start = Instant::now();
    agent.stdout.skip_turn()?;
    let answered = start.elapsed();
    let peak = agent.peak_memory()?;
    Ok(vec![mebibytes(peak - idle), millis(answered)])
}
