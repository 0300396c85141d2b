//! The few steps that a prompt's text can ask for, read the same way by every agent in Rust.
//!
//! They are a part of the scripted agent's language, so that this agent takes the same prompts.

use std::time::Duration;

/// One line of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// `say TEXT`: one update.
    Say(&'a str),
    /// `flood N BYTES`: that many updates of that much text, as fast as they are taken, until cancelled.
    Flood { count: u64, bytes: usize },
    /// `steps N 10ms`: that many updates, one in each interval, until cancelled.
    Steps { count: u64, pause: Duration },
    /// `wait`: until cancelled.
    Wait,
    /// Anything else ends the turn.
    End,
}

/// Reads a prompt's text, a step a line.
pub fn steps(text: &str) -> impl Iterator<Item = Step<'_>> {
    text.lines().map(step)
}

fn step(line: &str) -> Step<'_> {
    let mut words = line.split_ascii_whitespace();
    match words.next() {
        Some("say") => Step::Say(&line[4..]),
        Some("wait") => Step::Wait,
        Some("flood") => Step::Flood {
            count: number(words.next()),
            bytes: number(words.next()) as usize,
        },
        Some("steps") => Step::Steps {
            count: number(words.next()),
            pause: Duration::from_millis(number(
                words.next().map(|text| text.trim_end_matches("ms")),
            )),
        },
        _ => Step::End,
    }
}

/// Only the driver writes these prompts, so a number that is none is a fault of the benchmark.
fn number(text: Option<&str>) -> u64 {
    text.and_then(|text| text.parse().ok())
        .expect("a step with a number")
}
