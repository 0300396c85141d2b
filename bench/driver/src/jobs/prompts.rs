//! Prompts with a file of one mebibyte attached.

use std::{process::Command, time::Instant};

use super::{Figures, Job, Metric, Role, Scale, Unit, mebibytes, millis};
use crate::{
    child::{Process, Result},
    stats::median,
    wire,
};

pub(super) const JOB: Job = Job {
    name: "prompts",
    role: Role::Agent,
    quick: false,
    metrics: &[
        Metric {
            name: "prompt of 1 MiB, p50",
            unit: Unit::Millis,
            target: None,
        },
        Metric {
            name: "memory above idle after prompts of 1 MiB",
            unit: Unit::Mebibytes,
            target: None,
        },
    ],
    run,
};

fn run(command: &mut Command, scale: &Scale) -> Result<Figures> {
    // Line ends and quotation marks are escaped in JSON, as in every file that is sent.
    let line = "    let answer = client.prompt(request, \\\"stop\\\").await?;\\n";
    let file = line.repeat((1 << 20) / line.len());
    let mut agent = Process::agent(command)?;
    let session = agent.session()?;
    let idle = agent.memory()?;
    let mut times = Vec::with_capacity(scale.large_prompts);
    for id in 2..2 + scale.large_prompts {
        let prompt = wire::prompt_with_file(id, &session, &file);
        let start = Instant::now();
        agent.send(prompt.as_bytes())?;
        let answered = agent.stdout.answer()?;
        times.push(millis(answered.duration_since(start)));
    }
    let kept = agent.memory()? - idle;
    Ok(vec![median(&times), mebibytes(kept)])
}
