//! What the client's terminals are asked on the wire, and what they answer.

use std::time::Duration;

use endturn::agent::TerminalCommand;
use serde_json::{Value, json};

use super::request;
use crate::common::result;

pub(crate) const HOUR: Duration = Duration::from_secs(3600);

pub(crate) fn created(id: i64) -> Value {
    let params = json!({"sessionId": "s", "command": "make"});
    request(id, "terminal/create", params)
}

/// The request with this method for terminal `t`.
pub(crate) fn about(id: i64, method: &str) -> Value {
    let params = json!({"sessionId": "s", "terminalId": "t"});
    request(id, &format!("terminal/{method}"), params)
}

pub(crate) fn named(id: i64) -> Value {
    result(id, json!({"terminalId": "t"}))
}

pub(crate) fn exited(id: i64, code: u32) -> Value {
    result(id, json!({"exitCode": code}))
}

pub(crate) fn written(id: i64, output: &str) -> Value {
    result(id, json!({"output": output, "truncated": false}))
}

pub(crate) fn done(id: i64) -> Value {
    result(id, json!({}))
}

pub(crate) fn make() -> TerminalCommand {
    TerminalCommand::new("make")
}
