//! Five ways in which something is cancelled, as they look on the wire.
//!
//! Each is an example in the repository: a client that starts its agent as a second process and prints what passes between the two.
//! The diagrams are drawn by these programs from what they recorded, and a test compares them with this page.
//! An arrow is a message, the number behind a method is the request's id, and a dot marks what one side does by itself.
//!
//! # A. The user stops a turn
//!
//! `session/cancel` arrives, the handler says a last word and returns.
//! It returned `end_turn`; the answer is `cancelled`.
//! This is protocol.
//!
//! ```text
#![doc = include_str!("flows/flow_a_turn_cancel.txt")]
//! ```
//!
//! `cargo run -p endturn --example flow_a_turn_cancel`
//!
//! # B. The grace period runs out
//!
//! The handler ignores the cancel.
//! After the grace period it is dropped, and the turn is answered without it.
//! The cancel and its answer are protocol, the grace period is [policy](super::policy).
//!
//! ```text
#![doc = include_str!("flows/flow_b_grace_period.txt")]
//! ```
//!
//! `cargo run -p endturn --example flow_b_grace_period`
//!
//! # C. The turn takes too long
//!
//! Nobody cancels anything, but the agent has a limit for its turns.
//! The limit is [policy](super::policy).
//!
//! ```text
#![doc = include_str!("flows/flow_c_maximum_duration.txt")]
//! ```
//!
//! `cargo run -p endturn --example flow_c_maximum_duration`
//!
//! # D. The client takes its request back
//!
//! The client drops the future of its prompt.
//! The agent drops the handler and answers at once; the client discards the answer.
//! This is protocol.
//!
//! ```text
#![doc = include_str!("flows/flow_d_cancel_of_the_clients_request.txt")]
//! ```
//!
//! `cargo run -p endturn --example flow_d_cancel_of_the_clients_request`
//!
//! # E. The agent takes its request back
//!
//! The agent asks for a permission, and then no longer needs it.
//! The client closes its dialogue and says so with error `-32800`; had the user decided at that moment, the decision would be the answer.
//! The turn itself goes on.
//! This is protocol.
//!
//! ```text
#![doc = include_str!("flows/flow_e_cancel_of_the_agents_request.txt")]
//! ```
//!
//! `cargo run -p endturn --example flow_e_cancel_of_the_agents_request`
