//! What the hand-written agents share: the envelope of a message, and its bytes.

use std::io::Write;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// How much may wait for the writer before a turn has to wait; as much as a pipe holds on Linux.
pub const HIGH_WATER: usize = 64 * 1024;

/// A message, its contents still text.
#[derive(Deserialize)]
pub struct Envelope<'a> {
    #[serde(borrow)]
    pub id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub method: Option<&'a str>,
    #[serde(borrow)]
    pub params: Option<&'a RawValue>,
    #[serde(borrow)]
    pub result: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// Reads one line; `None` if it is no message.
    pub fn read(line: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }

    /// The typed parameters.
    pub fn params<P: Deserialize<'a>>(&self) -> serde_json::Result<P> {
        serde_json::from_str(self.params.map_or("{}", RawValue::get))
    }
}

/// Appends a notification.
pub fn write_notification(out: &mut Vec<u8>, method: &str, params: &impl Serialize) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","method":""#);
    out.extend_from_slice(method.as_bytes());
    out.extend_from_slice(br#"","params":"#);
    serde_json::to_writer(&mut *out, params).expect("the schema's types can be written");
    out.extend_from_slice(b"}\n");
}

/// Appends a request.
pub fn write_request(out: &mut Vec<u8>, id: u64, method: &str, params: &impl Serialize) {
    let written = write!(
        out,
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":"#
    );
    debug_assert!(written.is_ok(), "memory takes everything");
    serde_json::to_writer(&mut *out, params).expect("the schema's types can be written");
    out.extend_from_slice(b"}\n");
}

/// Appends an answer.
pub fn write_answer(out: &mut Vec<u8>, id: &str, result: &impl Serialize) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(br#","result":"#);
    serde_json::to_writer(&mut *out, result).expect("the schema's types can be written");
    out.extend_from_slice(b"}\n");
}

/// Appends an error.
pub fn write_error(out: &mut Vec<u8>, id: &str, code: i32, message: &str) {
    let written = writeln!(
        out,
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#
    );
    debug_assert!(written.is_ok(), "memory takes everything");
}
