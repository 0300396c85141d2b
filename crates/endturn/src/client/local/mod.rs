//! Ready-made answers to what an agent asks of its client: files and terminals on this machine.
//!
//! ```text
//!   ClientBuilder::files      ─► LocalFiles      roots ─► resolve ─► read, write
//!   ClientBuilder::terminals  ─► LocalTerminals  table ─► keeper, a task per command
//! ```
//!
//! Both are plain values with one method for each of the protocol's.
//! Registering them is all that the builders do, so a program with an opinion of its own about one method registers a handler for that one behind it, and calls the value from there.

#[cfg(feature = "files")]
mod files;
mod register;
#[cfg(feature = "process")]
mod terminals;

#[cfg(feature = "files")]
pub use files::LocalFiles;
#[cfg(feature = "process")]
pub use terminals::{LocalTerminals, TerminalView};

use crate::schema::v1;

/// An error that names the parameter that is at fault, in the form in which unreadable parameters are reported.
fn invalid(field: &str, reason: impl Into<String>) -> v1::Error {
    let reason: String = reason.into();
    v1::Error::invalid_params().data(serde_json::json!({ "field": field, "reason": reason }))
}
