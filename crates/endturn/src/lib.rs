//! The [Agent Client Protocol] for Rust, in which every turn ends.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod agent;
mod cancellation;
pub mod client;
mod connection;
mod error;
pub mod schema;
pub mod transport;

pub use agent::{Agent, PromptContext};
pub use cancellation::CancellationSignal;
pub use client::Client;
pub use endturn_core::turn::agent::CancelCause;
pub use error::{Error, ErrorKind, ErrorOrigin, HandlerError, HandlerResult};
