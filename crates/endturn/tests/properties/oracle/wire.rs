//! What one end writes the other reads, in that order and at once: nothing an agent or client does holds its reader up.

use serde_json::Value;

use super::{Court, race::Moment};
use crate::trace::{End, Entry, Event};

pub(super) fn judge(court: &mut Court, trace: &[Entry], lost: Option<Moment>) {
    for (from, to) in [(End::Client, End::Agent), (End::Agent, End::Client)] {
        // A trace may be about one end only.
        if trace.iter().all(|entry| entry.end == from) {
            continue;
        }
        let written = lines(trace, from, Event::written);
        let read = lines(trace, to, Event::read);
        for (place, (moment, line)) in written.iter().enumerate() {
            let arrived = read.get(place);
            let at_once = arrived.is_some_and(|(at, other)| at.at == moment.at && other == line);
            // What is under way when an end goes may be gone.
            let gone = lost.is_some_and(|lost| lost.at <= moment.at);
            court.require("wire-order", moment.place, at_once || gone, || {
                format!("{line} is not read next, or not at once")
            });
        }
    }
}

fn lines(
    trace: &[Entry],
    end: End,
    line: impl Fn(&Event) -> Option<&Value>,
) -> Vec<(Moment, &Value)> {
    let entries = trace.iter().enumerate();
    let lines = entries.filter(|(_, entry)| entry.end == end);
    let lines = lines.filter_map(|(place, entry)| {
        let moment = Moment {
            at: entry.at,
            place,
        };
        Some((moment, line(&entry.event)?))
    });
    lines.collect()
}

impl Event {
    fn written(&self) -> Option<&Value> {
        if let Self::Wrote(line) = self {
            return Some(line);
        }
        None
    }

    fn read(&self) -> Option<&Value> {
        if let Self::Read(line) = self {
            return Some(line);
        }
        None
    }
}
