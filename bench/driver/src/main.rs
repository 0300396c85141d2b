//! Runs the same jobs on agents built with different SDKs, and compares them.
//!
//! ```text
//! cargo run --release -- quick                    # ratios to the floor, within a minute or two
//! cargo run --release -- quick stream cancel      # of these jobs only
//! cargo run --release -- full                     # all jobs and peers; writes README.md and results.svg
//! ```
//!
//! The driver is the other end of an agent's pipes.
//! It uses plain threads and blocking reads, takes its lines from buffers that were filled before the clock starts, and looks at what it reads with `memchr` alone, so that the agent is what a job measures.
//! Every round runs every job on every agent, one after the other; so whatever else the machine does meets all of them.

mod agents;
mod arguments;
mod awake;
mod child;
mod jobs;
mod machine;
mod measure;
mod plot;
mod report;
mod rival;
mod stats;
mod table;
mod wire;

use std::process::ExitCode;

fn main() -> ExitCode {
    let done = arguments::read().and_then(|plan| {
        let awake = awake::Awake::keep();
        let results = measure::all(&plan)?;
        drop(awake);
        report::show(&plan, &results)
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
