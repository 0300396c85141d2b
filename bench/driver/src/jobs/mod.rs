//! What the agents and clients have to do.
//!
//! Each job starts the program afresh, so that none inherits another's heap.

mod cancel;
mod client;
mod footprint;
mod mixed;
mod prompts;
mod sessions;
mod stall;
mod stream;
mod transports;
mod turns;

use std::{process::Command, time::Duration};

use crate::child::Result;

/// A kind of figure that a job gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Metric {
    pub(crate) name: &'static str,
    pub(crate) unit: Unit,
    /// What endturn promises, as a ratio to the floor, or in the unit itself if it says so.
    pub(crate) target: Option<Target>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    PerSecond,
    Micros,
    Millis,
    Bytes,
    Mebibytes,
}

impl Unit {
    /// Rates are the better the more there are, all others the fewer.
    pub(crate) fn more_is_better(self) -> bool {
        self == Self::PerSecond
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Target {
    /// At least this ratio to the floor; the second is for a multi-thread runtime.
    AtLeast(f64, f64),
    /// At most this ratio to the floor.
    AtMost(f64),
    /// At most this figure.
    Absolute(f64),
}

impl Eq for Target {}

/// Who a job is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Agent,
    Client,
    /// A program that has both ends in it.
    Both,
}

/// How much work a job is: less in the short command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) updates: usize,
    pub(crate) turns: usize,
    pub(crate) cancels: usize,
    pub(crate) sessions: usize,
    pub(crate) large_prompts: usize,
    pub(crate) mixed: Duration,
}

impl Scale {
    pub(crate) const FULL: Self = Self {
        updates: 200_000,
        turns: 20_000,
        cancels: 2_000,
        sessions: 10_000,
        large_prompts: 100,
        mixed: Duration::from_secs(5),
    };
    pub(crate) const QUICK: Self = Self {
        updates: 200_000,
        turns: 5_000,
        cancels: 1_000,
        sessions: 10_000,
        large_prompts: 40,
        mixed: Duration::from_secs(2),
    };
}

pub(crate) type Figures = Vec<f64>;

pub(crate) struct Job {
    pub(crate) name: &'static str,
    pub(crate) role: Role,
    /// Whether the short command runs it unasked.
    pub(crate) quick: bool,
    pub(crate) metrics: &'static [Metric],
    /// Gives one figure for each metric.
    pub(crate) run: fn(&mut Command, &Scale) -> Result<Figures>,
}

pub(crate) const ALL: &[Job] = &[
    stream::JOB,
    turns::JOB,
    cancel::JOB,
    sessions::JOB,
    stall::JOB,
    mixed::JOB,
    prompts::JOB,
    footprint::JOB,
    client::JOB,
    transports::JOB,
];

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn mebibytes(bytes: f64) -> f64 {
    bytes / f64::from(1 << 20)
}
