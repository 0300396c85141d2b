//! Many sessions with a waiting turn each, cancelled together.

use std::{process::Command, thread, time::Duration, time::Instant};

use super::{Figures, Job, Metric, Role, Scale, Target, Unit, mebibytes, millis};
use crate::{
    child::{Lines, Process, Result},
    wire,
};

pub(super) const JOB: Job = Job {
    name: "sessions",
    role: Role::Agent,
    quick: true,
    metrics: &[
        Metric {
            name: "10,000 waiting turns, started and cancelled",
            unit: Unit::Millis,
            target: Some(Target::AtMost(1.3)),
        },
        Metric {
            name: "memory of a waiting turn",
            unit: Unit::Bytes,
            target: Some(Target::AtMost(1.1)),
        },
        Metric {
            name: "peak memory with 10,000 turns",
            unit: Unit::Mebibytes,
            target: None,
        },
    ],
    run,
};

fn run(command: &mut Command, scale: &Scale) -> Result<Figures> {
    let mut agent = Process::agent(command)?;
    // One more, whose empty turn shows that all the others have begun.
    let sessions = agent.sessions(scale.sessions + 1)?;
    let (barrier, sessions) = sessions.split_first().ok_or("no session")?;
    let mut prompts: Vec<u8> = sessions
        .iter()
        .enumerate()
        .flat_map(|(number, session)| wire::prompt(number + 2, session, "wait").into_bytes())
        .collect();
    prompts.extend_from_slice(wire::prompt(1, barrier, "end end_turn").as_bytes());
    let cancels: Vec<u8> = sessions
        .iter()
        .flat_map(|session| wire::cancel(session).into_bytes())
        .collect();

    let before = agent.memory()?;
    let start = Instant::now();
    agent.exchange(&prompts, |lines| answers(lines, 1))?;
    let starting = start.elapsed();
    // What the last handlers still have to do before they wait.
    thread::sleep(Duration::from_millis(100));
    let waiting = agent.memory()?;
    let start = Instant::now();
    agent.exchange(&cancels, |lines| answers(lines, sessions.len()))?;
    let cancelling = start.elapsed();
    Ok(vec![
        millis(starting + cancelling),
        (waiting - before) / sessions.len() as f64,
        mebibytes(agent.peak_memory()?),
    ])
}

fn answers(lines: &mut Lines, count: usize) -> Result<()> {
    for _ in 0..count {
        lines.answer()?;
    }
    Ok(())
}
