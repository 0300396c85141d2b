//! Drawing a trace.

use std::fmt::Write as _;

use serde_json::Value;

use super::trace::{Entry, Event, Side};

/// A sequence diagram of a trace, from its prompt on.
pub(crate) fn diagram(trace: &[Entry]) -> String {
    let turn = trace
        .iter()
        .skip_while(|entry| !entry.is_method("session/prompt"));
    let rows: Vec<(&Entry, String)> = turn.map(|entry| (entry, label(entry))).collect();
    let longest = rows.iter().map(|(_, label)| label.chars().count()).max();
    // Room for an arrow beside the longest label.
    let width = longest.unwrap_or(0) + 12;

    let mut out = format!("client{:width$}agent\n", "", width = width - 4);
    for (entry, label) in rows {
        let line = "─".repeat(width - label.chars().count() - 5);
        let space = " ".repeat(width - label.chars().count() - 4);
        let row = match (&entry.event, entry.side) {
            (Event::Message(..), Side::Client) => format!("── {label} {line}►"),
            (Event::Message(..), Side::Agent) => format!("◄{line} {label} ──"),
            (Event::Note(_), Side::Client) => format!("  · {label}{space}"),
            (Event::Note(_), Side::Agent) => format!("{space}{label} ·  "),
        };
        writeln!(out, "   │{row}│").expect("a string takes everything");
    }
    out
}

/// What stands at a message's arrow: its method and id, and what matters of its content.
fn label(entry: &Entry) -> String {
    let message = match &entry.event {
        Event::Note(text) => return text.clone(),
        Event::Message(_, message) => message,
    };
    let id = &message["id"];
    let Some(method) = message["method"].as_str() else {
        return format!("answer {id}: {}", outcome(message));
    };
    let params = &message["params"];
    match method {
        "session/update" => {
            let text = params["update"]["content"]["text"].as_str();
            format!("{method}: {}", text.unwrap_or_default().trim_end())
        }
        "$/cancel_request" => format!("{method} {}", params["requestId"]),
        _ if id.is_null() => method.to_owned(),
        _ => format!("{method} {id}"),
    }
}

fn outcome(answer: &Value) -> String {
    let error = &answer["error"];
    match answer["result"]["stopReason"].as_str() {
        Some(reason) => reason.to_owned(),
        None if error.is_null() => "done".to_owned(),
        None if error["data"].is_null() => format!("error {}", error["code"]),
        None => format!("error {} {}", error["code"], error["data"]),
    }
}
