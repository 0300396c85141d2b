//! A client that receives a flood through its typed handler; here the driver is the agent.

use std::{process::Command, time::Instant};

use super::{Figures, Job, Metric, Role, Scale, Target, Unit};
use crate::{
    child::{Process, Result, unexpected},
    wire,
};

pub(super) const JOB: Job = Job {
    name: "client",
    role: Role::Client,
    quick: true,
    metrics: &[Metric {
        name: "updates received by a client",
        unit: Unit::PerSecond,
        target: Some(Target::AtLeast(0.9, 0.5)),
    }],
    run,
};

const SESSION: &str = "session-1";

fn run(command: &mut Command, scale: &Scale) -> Result<Figures> {
    let mut client = Process::start(command)?;
    answer(&mut client, r#"{"protocolVersion":1}"#)?;
    answer(&mut client, &format!(r#"{{"sessionId":"{SESSION}"}}"#))?;
    let warm_up = flood(&mut client, 1000)?;
    client.send(warm_up.as_bytes())?;
    let flood = flood(&mut client, scale.updates)?;
    let start = Instant::now();
    client.send(flood.as_bytes())?;
    // The next prompt shows that the client has handled all updates of this one.
    client.stdout.line()?;
    Ok(vec![scale.updates as f64 / start.elapsed().as_secs_f64()])
}

/// Answers the client's next request.
fn answer(client: &mut Process, result: &str) -> Result<()> {
    let id = request(client)?;
    client.send(wire::answer(&id, result).as_bytes())
}

/// The answer to the client's next prompt, behind that many updates.
fn flood(client: &mut Process, updates: usize) -> Result<String> {
    let id = request(client)?;
    let mut lines = wire::update(SESSION, &"x".repeat(40)).repeat(updates);
    lines.push_str(&wire::answer(&id, r#"{"stopReason":"end_turn"}"#));
    Ok(lines)
}

fn request(client: &mut Process) -> Result<String> {
    let line = client.stdout.line()?;
    let id = wire::id(line).ok_or_else(|| unexpected("a request", line))?;
    Ok(id.to_owned())
}
