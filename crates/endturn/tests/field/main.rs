//! What goes wrong in the field, one test for each kind of it.
//!
//! Behind each class stand reports from the trackers of agents, clients and SDKs that nobody here wrote.
//! A test's name begins with its class; `agent.rs` looks at an agent of this SDK, `client.rs` at a client, `wire.rs` at what both do with bytes, `process.rs` at agents that are processes.
//! `replay.rs` plays recorded conversations (`transcripts/`) against both ends; their tests stand in `recorded.rs`.
//!
//! | class | what happens in the field | tests |
//! |---|---|---|
//! | C01 | a cancel arrives while the agent still sets the turn up, and is forgotten | `agent` |
//! | C02 | the client sends its cancel never, twice, or ahead of the prompt | `client` |
//! | C03 | the running turn keeps the agent from reading on, so the cancel is read when it is over | `agent` |
//! | C04 | the handler never looks whether it was cancelled | `agent` |
//! | C05 | a cancelled turn is answered `end_turn`, and programs believe it | `agent` |
//! | C06 | a cancelled turn is answered with the error that the cancel caused inside | `agent` |
//! | C07 | a prompt is never answered: its handler failed, panicked, or lost its back end | `agent` |
//! | C08 | an answer that is late is taken for the next turn's | `agent`, `client` |
//! | C09 | after a cancel the session is busy for ever, or is freed by the wrong turn | `agent`, `client` |
//! | C10 | a second prompt in a busy session disturbs the first, or is swallowed | `agent`, `client` |
//! | C11 | a Stop that comes too late ends the next turn | `agent`, `client` |
//! | C12 | a second Stop breaks what the first has started | `agent`, `client` |
//! | C13 | updates stand behind the answer of their turn | `agent` |
//! | C13b | a client shows the answer before updates that came earlier | `client` |
//! | C14 | the answer is readable before the session takes the next prompt | `agent` |
//! | C15 | a question to the user is open when the turn is cancelled, and stays so | `agent`, `client` |
//! | C16 | a question that was cancelled counts as one that was rejected, or the reverse | `agent`, `client` |
//! | C17 | a cancel ends turns of other sessions, or the session itself | `agent`, `client` |
//! | C18 | an unknown session makes the agent fail, or say nothing at all | `agent` |
//! | C19 | `session/cancel` is sent as a request, waited for, or answered | `agent`, `client` |
//! | C20 | a cancel is lost because the session was loaded, resumed, or opened on another connection | `agent`, `client` |
//! | C21 | a time-out kills a turn that is alive, or leaves one running that nobody waits for | `client` |
//! | C22 | the client says *cancelled* while the agent still works | `client` |
//! | C23 | the client waits for ever for an agent that ignores the cancel | `client` |
//! | C24 | processes outlive their agent, ignore the end of input, or die with calls pending | `process` |
//! | C25 | a tool call stays in progress for ever, because the cancel cut its updates off | `agent` |
//! | C26 | what was cancelled is lost from, or stays in, what the model is told next | none: an SDK keeps no history, the handler does |
//! | C27 | `$/cancel_request` is not answered, answered twice, or hits another request | `agent`, `client` |
//! | W1 | an agent prints log lines and escape sequences among its messages | `wire` |
//! | W2 | the peer sends headers, pretty-printed JSON, or blank lines | `wire` |
//! | W3 | a line is tens of mebibytes long, or never ends | `wire` |
//! | W4 | a character is cut in two by a read | `wire` |
//! | W5 | a line begins with a byte order mark, or ends with a carriage return | `wire` |
//! | W6 | an id comes back as another type | `wire` |
//! | W7 | an update of an unknown kind, a null for a number, or an unknown stop reason ends the turn | `wire` |
//! | W8 | a request that nobody handles is never answered | `wire` |
//! | W9 | updates that come before the answer to `session/new` are lost | `wire` |
//! | W10 | the agent never answers the handshake, and the client hangs with it | `wire` |
//! | W11 | deep nesting overflows the stack | `wire` |
//! | W12 | the end of input is not noticed, or the reader spins on it | `wire` |

#[path = "../common/mod.rs"]
mod common;

mod agent;
mod client;
#[cfg(all(unix, feature = "process"))]
mod process;
mod recorded;
mod replay;
mod support;
mod wire;
