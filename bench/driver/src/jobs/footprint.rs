//! What an agent costs that does nothing yet.

use std::{fs, process::Command, thread, time::Duration};

use super::{Figures, Job, Metric, Role, Scale, Target, Unit, mebibytes, millis};
use crate::{
    child::{Process, Result},
    stats::median,
};

/// A start takes a millisecond or two, so that a single one says nothing.
const STARTS: usize = 9;

pub(super) const JOB: Job = Job {
    name: "footprint",
    role: Role::Agent,
    quick: false,
    metrics: &[
        Metric {
            name: "start-up to the first answer",
            unit: Unit::Millis,
            target: Some(Target::AtMost(1.2)),
        },
        Metric {
            name: "idle memory",
            unit: Unit::Mebibytes,
            target: None,
        },
        Metric {
            name: "size of the program",
            unit: Unit::Mebibytes,
            target: None,
        },
    ],
    run,
};

fn run(command: &mut Command, _scale: &Scale) -> Result<Figures> {
    let mut times = Vec::with_capacity(STARTS);
    for _ in 0..STARTS {
        let agent = Process::agent(command)?;
        times.push(millis(agent.started.elapsed()));
    }
    let mut agent = Process::agent(command)?;
    agent.session()?;
    thread::sleep(Duration::from_millis(100));
    Ok(vec![
        median(&times),
        mebibytes(agent.memory()?),
        program_size(command),
    ])
}

/// The size of the executable; not a number for a program that an interpreter runs.
fn program_size(command: &Command) -> f64 {
    let program = command.get_program();
    let compiled = program.to_string_lossy().contains("release");
    match fs::metadata(program) {
        Ok(file) if compiled => mebibytes(file.len() as f64),
        Ok(_) | Err(_) => f64::NAN,
    }
}
