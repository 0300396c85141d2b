//! Traces as text, so that they can be written by hand.
//!
//! A line has a time, an end (`a` or `c`), and an event in words; `-->` and `<--` are lines on the wire.
//! A label such as `prompt 1` is written `prompt-1`, and its request's id is its number.

use serde_json::{Value, json};

use crate::trace::{End, Entry, Event, Finish, Kind, Outcome};

/// Reads one side of a difference: `-` is the good one, `+` the bad one.
pub(crate) fn read(difference: &str, side: char) -> Vec<Entry> {
    let other = if side == '-' { '+' } else { '-' };
    let lines = difference.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(other));
    lines
        .map(|line| entry(line.trim_start_matches(side)))
        .collect()
}

fn entry(line: &str) -> Entry {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [at, end, what @ ..] = &words[..] else {
        panic!("too short: {line}");
    };
    let end = match *end {
        "a" => End::Agent,
        "c" => End::Client,
        _ => panic!("no such end: {line}"),
    };
    Entry {
        at: at.parse().expect("it begins with a time"),
        end,
        event: event(what).unwrap_or_else(|| panic!("no such event: {line}")),
    }
}

fn label(word: &str) -> String {
    word.replace('-', " ")
}

/// The id of a request: `prompt-3` has 3, `ask-3.1` has 31.
fn id(word: &str) -> u64 {
    let digits: String = word.chars().filter(char::is_ascii_digit).collect();
    digits.parse().expect("a label has a number")
}

fn event(words: &[&str]) -> Option<Event> {
    Some(match *words {
        ["-->", ref line @ ..] => Event::Wrote(message(line)?),
        ["<--", ref line @ ..] => Event::Read(message(line)?),
        ["lost"] => Event::Lost,
        ["served"] => Event::Served,
        ["shuts-down"] => Event::ShutsDown,
        ["calls", call] => calls(call, "", "plain", "0")?,
        ["calls", call, session] => calls(call, session, "prompt", "0")?,
        ["calls", call, session, kind, limit] => calls(call, session, kind, limit)?,
        ["signals", call] => Event::Signals { call: label(call) },
        ["cancels", session] => Event::Cancels {
            session: session.into(),
        },
        ["left", call] => Event::Left { call: label(call) },
        ["returned", call, outcome] => Event::Returned {
            call: label(call),
            outcome: self::outcome(outcome),
        },
        ["begins", request] => begins(request, false),
        ["begins", request, "cancelled"] => begins(request, true),
        ["finishes", request, finish] => Event::Finishes {
            request: label(request),
            finish: self::finish(finish),
        },
        ["gone", request] => Event::Gone {
            request: label(request),
        },
        ["waits", turn] => Event::Waits { turn: label(turn) },
        ["notices", turn, cause] => Event::Notices {
            turn: label(turn),
            cause: cause.into(),
        },
        ["registers", turn] => Event::Registers {
            turn: label(turn),
            callback: 0,
        },
        ["called", turn] => Event::Called {
            turn: label(turn),
            callback: 0,
        },
        ["told", session] => Event::ToldOfCancel {
            session: session.into(),
        },
        ["sends", update] => Event::Sends {
            update: update.into(),
        },
        ["sent", update] => Event::Sent {
            update: update.into(),
        },
        ["refused", update] => Event::Refused {
            update: update.into(),
        },
        _ => return None,
    })
}

fn calls(call: &str, session: &str, kind: &str, limit: &str) -> Option<Event> {
    Some(Event::Calls {
        call: label(call),
        session: session.to_owned(),
        kind: match kind {
            "prompt" => Kind::Prompt,
            "detached" => Kind::Detached,
            "plain" => Kind::Plain,
            _ => return None,
        },
        limit: limit.parse().ok()?,
    })
}

fn begins(request: &str, cancelled: bool) -> Event {
    Event::Begins {
        request: label(request),
        cancelled,
    }
}

fn finish(word: &str) -> Finish {
    match (word, word.parse()) {
        ("fails", _) => Finish::Fails,
        ("panics", _) => Finish::Panics,
        (_, Ok(code)) => Finish::Refuses(code),
        (reason, Err(_)) => Finish::Returns(reason.to_owned()),
    }
}

fn outcome(word: &str) -> Outcome {
    match (word, word.parse()) {
        ("busy", _) => Outcome::Busy,
        ("timed-out", _) => Outcome::TimedOut,
        ("cancel-timed-out", _) => Outcome::CancelTimedOut,
        ("turn-over", _) => Outcome::TurnOver,
        ("lost", _) => Outcome::Lost,
        ("done", _) => Outcome::Answered(String::new()),
        (_, Ok(code)) => Outcome::Error(code),
        (reason, Err(_)) => Outcome::Answered(reason.to_owned()),
    }
}

/// A line on the wire.
fn message(words: &[&str]) -> Option<Value> {
    let request = |request: &str, session: &str| {
        let label = label(request);
        let method = match label.split(' ').next()? {
            "prompt" => "session/prompt",
            "new" => "session/new",
            "close" => "session/close",
            "ask" => "session/request_permission",
            _ => return None,
        };
        let params = json!({ "sessionId": session, "_meta": { "call": label } });
        Some(json!({ "id": id(request), "method": method, "params": params }))
    };
    Some(match *words {
        ["cancel", session] => {
            json!({ "method": "session/cancel", "params": { "sessionId": session } })
        }
        ["withdraw", request] => {
            json!({ "method": "$/cancel_request", "params": { "requestId": id(request) } })
        }
        ["update", update, session] => {
            let content = json!({ "content": { "text": update } });
            let params = json!({ "sessionId": session, "update": content });
            json!({ "method": "session/update", "params": params })
        }
        ["stopped", prompt, reason] => {
            let meta = json!({ "call": label(prompt) });
            let result = json!({ "stopReason": reason, "_meta": meta });
            json!({ "id": id(prompt), "result": result })
        }
        // An answer that is not the handler's own, or that lost what the handler had in it.
        ["stopped", prompt, reason, "bare"] => {
            json!({ "id": id(prompt), "result": { "stopReason": reason } })
        }
        ["done", request] => json!({ "id": id(request), "result": {} }),
        ["chosen", request, outcome] => {
            json!({ "id": id(request), "result": { "outcome": { "outcome": outcome } } })
        }
        ["error", request, code] => {
            json!({ "id": id(request), "error": { "code": code.parse::<i64>().ok()? } })
        }
        ["error", request, code, "sessionId", session] => {
            let data = json!({ "sessionId": session });
            let error = json!({ "code": code.parse::<i64>().ok()?, "data": data });
            json!({ "id": id(request), "error": error })
        }
        ["error", request, code, "maxPromptDuration", limit] => {
            let data = json!({ "maxPromptDuration": limit });
            let error = json!({ "code": code.parse::<i64>().ok()?, "data": data });
            json!({ "id": id(request), "error": error })
        }
        [request_label] => request(request_label, "")?,
        [request_label, session] => request(request_label, session)?,
        _ => return None,
    })
}
