//! Peers for testing ACP agents and clients.
//!
//! - [`scripted`]: an agent without a model, whose prompts are scripts, for testing a client or seeing a turn being cancelled.
//! - [`RawPeer`]: the other end of a connection, line by line, for testing what exactly goes over the wire.

mod raw_peer;
pub mod scripted;

pub use raw_peer::RawPeer;
