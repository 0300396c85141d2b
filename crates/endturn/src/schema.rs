//! The protocol's own types, from the official schema crate.
//!
//! They are re-exported and not wrapped, so that a program can use them together with any other crate built on the same schema.
//! The methods and notifications of protocol version 1 live in [`v1`].

pub use agent_client_protocol_schema::*;
