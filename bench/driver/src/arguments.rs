//! What is asked for on the command line.

use std::env;

use crate::{
    agents::{self, Contestant, Kind},
    child::Result,
    jobs::{self, Job, Scale},
};

const USAGE: &str = "\
usage: driver quick [--peers] [--features] [--built] [--rounds N] [JOB]...
       driver full [--built] [--rounds N]

--built takes our own programs as they were built before

jobs: ";

/// What to run.
pub(crate) struct Plan {
    pub(crate) full: bool,
    pub(crate) rounds: usize,
    pub(crate) scale: Scale,
    pub(crate) jobs: Vec<&'static Job>,
    pub(crate) contestants: Vec<Contestant>,
}

pub(crate) fn read() -> Result<Plan> {
    let mut arguments = env::args().skip(1);
    let full = match arguments.next().as_deref() {
        Some("full") => true,
        Some("quick") => false,
        _ => return Err(usage()),
    };
    let mut rounds = if full { 7 } else { 3 };
    let (mut peers, mut features, mut built) = (full, full, false);
    let mut named = Vec::new();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--peers" => peers = true,
            "--features" => features = true,
            "--built" => built = true,
            "--rounds" => {
                let number = arguments.next().and_then(|number| number.parse().ok());
                rounds = number.filter(|&rounds| rounds > 0).ok_or_else(usage)?;
            }
            name => {
                let job = jobs::ALL.iter().find(|job| job.name == name && !full);
                named.push(job.ok_or_else(usage)?);
            }
        }
    }
    if named.is_empty() {
        named = jobs::ALL.iter().filter(|job| full || job.quick).collect();
    }
    let mut contestants = agents::ours(built)?;
    if !features {
        contestants.retain(|one| one.kind != Kind::Feature);
    }
    if peers {
        contestants.extend(agents::peers()?);
    }
    Ok(Plan {
        full,
        rounds,
        scale: if full { Scale::FULL } else { Scale::QUICK },
        jobs: named,
        contestants,
    })
}

fn usage() -> crate::child::Error {
    let jobs: Vec<_> = jobs::ALL.iter().map(|job| job.name).collect();
    format!("{USAGE}{}", jobs.join(", ")).into()
}
