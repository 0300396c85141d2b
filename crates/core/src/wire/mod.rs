//! From bytes to messages: lines, ids, and what kind of message a line is.
//!
//! Nothing here builds a tree of values.
//! A message keeps the text of its parameters borrowed from the line, for whoever knows their type.

mod classify;
mod id;
mod lines;

pub use classify::{Malformed, Message, Mistake, classify, mistake};
pub use id::Id;
pub use lines::{Frame, Lines};
