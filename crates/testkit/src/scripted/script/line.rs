//! One line of a script.

use std::time::Duration;

use endturn::schema::v1::StopReason;

use super::Step;
use crate::scripted::sessions::{Mode, Setting};

/// Reads one line; `None` if its first word is no step, `Err` with the right form if the rest is wrong.
pub(super) fn step(line: &str) -> Result<Option<Step>, &'static str> {
    let (word, rest) = line
        .split_once(char::is_whitespace)
        .map_or((line, ""), |(word, rest)| (word, rest.trim()));
    let text = || (!rest.is_empty()).then(|| rest.to_owned());
    let alone = |step: Step| rest.is_empty().then_some(step);
    let (step, usage) = match word {
        "steps" => (steps(rest), "steps N DURATION"),
        "say" => (text().map(Step::Say), "say TEXT"),
        "think" => (text().map(Step::Think), "think TEXT"),
        "sleep" => (duration(rest).map(Step::Sleep), "sleep DURATION"),
        "ignore" => (duration(rest).map(Step::Ignore), "ignore DURATION"),
        "wait" => (alone(Step::Wait), "wait"),
        "hang" => (alone(Step::Hang), "hang"),
        "flood" => (flood(rest), "flood N BYTES"),
        "ask" => (text().map(Step::Ask), "ask TITLE"),
        "elicit" => (text().map(Step::Elicit), "elicit MESSAGE"),
        "tool" => (tool(rest), "tool TITLE DURATION"),
        "read" => (text().map(Step::Read), "read PATH"),
        "write" => (write(rest), "write PATH TEXT"),
        "run" => (text().map(Step::Run), "run COMMAND"),
        "plan" => (plan(rest), "plan ENTRY; ENTRY; ..."),
        "usage" => (usage(rest), "usage USED SIZE"),
        "title" => (text().map(Step::Title), "title TEXT"),
        "mode" => (Mode::of(rest).map(Step::Mode), "mode default|careful"),
        "set" => (
            set(rest),
            "set model small|large, or: set thinking true|false",
        ),
        "late" => (text().map(Step::Late), "late TEXT"),
        "fail" => (text().map(Step::Fail), "fail MESSAGE"),
        "error" => (error(rest), "error CODE MESSAGE"),
        "panic" => (alone(Step::Panic), "panic"),
        "end" => (stop_reason(rest).map(Step::End), "end STOP_REASON"),
        "meta" => (
            serde_json::from_str(rest).ok().map(Step::Meta),
            "meta JSON_OBJECT",
        ),
        "blocking" => (None, "blocking, alone and as the first line"),
        "/help" => (alone(Step::Help), "/help"),
        _ => return Ok(None),
    };
    step.map(Some).ok_or(usage)
}

/// The first word and the rest; both are there.
fn word(rest: &str) -> Option<(&str, &str)> {
    let (word, rest) = rest.split_once(char::is_whitespace)?;
    Some((word, rest.trim_start()))
}

fn steps(rest: &str) -> Option<Step> {
    let (count, pause) = word(rest)?;
    Some(Step::Steps {
        count: count.parse().ok()?,
        pause: duration(pause)?,
    })
}

fn flood(rest: &str) -> Option<Step> {
    let (count, bytes) = word(rest)?;
    Some(Step::Flood {
        count: count.parse().ok()?,
        bytes: bytes.parse().ok()?,
    })
}

fn tool(rest: &str) -> Option<Step> {
    let (title, pause) = rest.rsplit_once(char::is_whitespace)?;
    Some(Step::Tool {
        title: title.trim().to_owned(),
        duration: duration(pause)?,
    })
}

fn write(rest: &str) -> Option<Step> {
    let (path, text) = word(rest)?;
    Some(Step::Write {
        path: path.to_owned(),
        text: text.to_owned(),
    })
}

fn plan(rest: &str) -> Option<Step> {
    let entries = rest.split(';').map(str::trim);
    let entries: Vec<_> = entries
        .filter(|entry| !entry.is_empty())
        .map(str::to_owned)
        .collect();
    (!entries.is_empty()).then_some(Step::Plan(entries))
}

fn usage(rest: &str) -> Option<Step> {
    let (used, size) = word(rest)?;
    Some(Step::Usage {
        used: used.parse().ok()?,
        size: size.parse().ok()?,
    })
}

fn set(rest: &str) -> Option<Step> {
    let (key, value) = word(rest)?;
    Setting::of(key, value).map(Step::Set)
}

fn error(rest: &str) -> Option<Step> {
    let (code, message) = word(rest)?;
    Some(Step::Error {
        code: code.parse().ok()?,
        message: message.to_owned(),
    })
}

/// A duration such as `500ms`, `60s`, `30m` or `1h 30m`; not a negative one.
fn duration(text: &str) -> Option<Duration> {
    let duration: jiff::SignedDuration = text.trim().parse().ok()?;
    duration.try_into().ok()
}

fn stop_reason(text: &str) -> Option<StopReason> {
    serde_json::from_value(text.into()).ok()
}
