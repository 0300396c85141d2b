//! The turn of the [Agent Client Protocol] as pure state machines.
//!
//! A *turn* lasts from the arrival of a `session/prompt` request to its answer.
//! Cancellation, time limits, a closing session and a lost connection all want to end it, in any order; this crate decides who wins.
//! It knows no clock, no runtime and no I/O, and its states carry no payload, so that tests explore every reachable state instead of sampling some.
//!
//! | module | decides |
//! |---|---|
//! | [`turn::agent`] | what happens to a turn at the agent: which ending it gets, and whether an update may still go out |
//! | [`turn::client`] | what a client sends for its turn, and what its caller is told |
//! | [`session`] | whether a session takes a prompt, and when its close handler runs |
//! | [`request`] | every other request, incoming and outgoing |
//! | [`wire`] | which bytes are a line, and which kind of message a line is |
//!
//! Every machine is one function `apply(state, input) -> (state, output)`.
//! A driver owns everything else: it keeps the payloads, holds the lock, runs the timers and carries the outputs out.
//! The drain rule for a driver is short: apply one input, carry out its output in the same critical section, and only then apply the next one.
//! Time comes in as inputs ([`GraceExpired`](turn::agent::Input::GraceExpired) and its like); one that comes late or twice changes nothing, so a driver may cancel its timers lazily.
//!
//! [Agent Client Protocol]: https://agentclientprotocol.com
#![no_std]
#![warn(clippy::std_instead_of_core, clippy::alloc_instead_of_core)]

extern crate alloc;

pub mod request;
pub mod session;
pub mod turn;
pub mod wire;
