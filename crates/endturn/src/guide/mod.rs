//! The guide: turns, how they are cancelled, and what holds whatever happens.
//!
//! There is nothing in these modules but text.
//! Each chapter can be read by itself; the order below is one for reading all of them.
//!
//! | chapter | answers |
//! |---|---|
//! | [`turns`] | What is a turn, and how can it end? |
//! | [`mechanisms`] | What do `session/cancel` and `$/cancel_request` do? |
//! | [`flows`] | What does that look like on the wire? |
//! | [`policy`] | What does this SDK add to the protocol, and why? |
//! | [`noticing`] | How does a handler notice that it shall stop? |
//! | [`ordering`] | What stands before what? |
//! | [`clients`] | How does a client stop a turn? |
//! | [`questions`] | What happens to an open permission dialogue? |
//! | [`escalation`] | What if the other side does not answer? |
//! | [`methods`] | Which type, which handler and which call belong to a method? How are extensions made? |
//! | [`capabilities`] | What does each side offer, and what happens before `initialize`? |
//! | [`tools`] | How does an agent use its client's files and terminals, ask its user, and show its tool calls? |
//! | [`sessions`] | How does a client open sessions, follow turns and serve files and terminals? |
//! | [`errors`] | What can go wrong, and who is told? |
//! | [`transports`] | How do the bytes get there? |
//! | [`testing`] | How do I test my agent or my client? |
//! | [`java`] | What is different from the ACP Java SDK? |
//!
//! # Rules have names
//!
//! What this crate promises has names, `one-answer` for example.
//! A chapter mentions the name where it explains the rule, and the tests that prove the rule carry the same name.
//! So a name can be searched for, here and in the repository.
//!
//! # Protocol and policy
//!
//! The [Agent Client Protocol](https://agentclientprotocol.com) says what both sides must do.
//! It leaves gaps, and an SDK has to do something in each.
//! What this SDK does there is its *policy*.
//! Other implementations do something else, so never count on the policy of a peer.
//! This guide says which is which, and links to the page of the specification for what is protocol.

pub mod capabilities;
pub mod clients;
pub mod errors;
pub mod escalation;
pub mod flows;
pub mod java;
pub mod mechanisms;
pub mod methods;
pub mod noticing;
pub mod ordering;
pub mod policy;
pub mod questions;
pub mod sessions;
pub mod testing;
pub mod tools;
pub mod transports;
pub mod turns;
