//! What is different from the ACP Java SDK, and why.
//!
//! The turn, the grace period and the maximum duration of this crate are modelled on the [ACP Java SDK](https://github.com/agentclientprotocol/java-sdk), as its documentation for version 0.80 describes them.
//! A turn that is cancelled in one of these ways is answered the same by both.
//! This page compares with that documentation; where it is silent, nothing is said here about the Java SDK either.
//!
//! # The same by another name
//!
//! | Java | here |
//! |---|---|
//! | `client.prompt(request, stop)` | [`Client::prompt`](crate::Client::prompt) with `&stop` |
//! | `client.prompt(request)` | the same with `None` |
//! | `AcpSyncClient` | the client in [`blocking`](crate::blocking) |
//! | `client.cancel(new CancelNotification(id))` | [`Client::cancel`](crate::Client::cancel) |
//! | disposing a `Mono`, `.timeout(...)` | dropping the future, [`Call::timeout`](crate::request::Call::timeout) |
//! | `RequestCancellation.cancelWhen(trigger)` in the Reactor context | [`Call::cancel_when`](crate::request::Call::cancel_when) |
//! | `isCancelled()`, `whenCancelled()`, `onCancel(...)` | [`is_cancelled`](crate::PromptContext::is_cancelled), [`cancelled`](crate::PromptContext::cancelled), [`on_cancel`](crate::PromptContext::on_cancel) |
//! | `cancelHandler(...)` | [`on_cancel`](crate::agent::AgentBuilder::on_cancel) on the builder |
//! | `cancelGracePeriod`, `maxPromptDuration`, `requestTimeout`, `promptTimeout` | the same names in Rust's spelling, with the same defaults |
//! | `AcpAgent.async(transport)`, `AcpAgent.sync(transport)` | one builder, with a blocking variant of each handler |
//! | a class with `@Prompt` methods | a type that implements [`AgentService`](crate::agent::AgentService) |
//!
//! | `promptHandler`, `newSessionHandler`, `requestPermissionHandler`, … | [`on_prompt`](crate::agent::AgentBuilder::on_prompt), [`on_new_session`](crate::agent::AgentBuilder::on_new_session), [`on_permission`](crate::client::ClientBuilder::on_permission), …: all of them are in [`methods`](super::methods) |
//! | `sessionUpdateConsumer(...)` | [`on_update`](crate::client::ClientBuilder::on_update), or the updates of one [`Turn`](crate::client::Turn) |
//! | `sendMessage`, `sendThought`, with and without a message id | [`send_message`](crate::PromptContext::send_message), [`send_thought`](crate::PromptContext::send_thought), [`send_message_part`](crate::PromptContext::send_message_part), [`send_thought_part`](crate::PromptContext::send_thought_part) |
//! | `readFile(path)`, `readFile(path, startLine, lineCount)`, `writeFile` | [`read_text_file`](crate::PromptContext::read_text_file), [`read_lines`](crate::PromptContext::read_lines), [`write_text_file`](crate::PromptContext::write_text_file) |
//! | `askPermission(action)`, `askChoice(question, options...)` | [`confirm`](crate::PromptContext::confirm), [`choose`](crate::PromptContext::choose) |
//! | `execute(command)` with its `CommandResult` | [`run_command`](crate::PromptContext::run_command) with its [`CommandOutput`](crate::agent::CommandOutput) |
//! | `createTerminal`, `getTerminalOutput`, `waitForTerminalExit`, `killTerminal`, `releaseTerminal` | [`start_command`](crate::PromptContext::start_command) and the methods of [`Terminal`](crate::agent::Terminal) |
//! | `createElicitation`, `completeElicitation` | [`request`](crate::PromptContext::request) and [`notify`](crate::PromptContext::notify) with the protocol's types |
//! | `NegotiatedCapabilities`, from `getAgentCapabilities()` and `getClientCapabilities()` | [`AgentPeer`](crate::capabilities::AgentPeer) and [`ClientPeer`](crate::capabilities::ClientPeer), from [`Client::agent`](crate::Client::agent) and [`PromptContext::client`](crate::PromptContext::client), with the same `supports_…` and `require_…` |
//! | `AcpCapabilityException` | an error whose [`is_capability`](crate::Error::is_capability) is true |
//! | `setSessionMode`, `setSessionConfigOption`, `listSessions`, `loadSession`, … | [`Client`](crate::Client)'s methods of the same names without `Session` where it is plain, or those of [`Session`](crate::client::Session) |
//! | `requestHandler(method, ...)`, `notificationHandler(method, ...)` | [`on_request_raw`](crate::client::ClientBuilder::on_request_raw) and [`on_notification_raw`](crate::client::ClientBuilder::on_notification_raw), or [by type](super::methods#extensions-with-types) |
//!
//! Names that are not in its documentation are those of its sources at version 0.15.
//!
//! # Different
//!
//! **Capabilities follow from the handlers.**
//! In Java a client passes `clientCapabilities` beside its handlers.
//! Here what is offered is [derived](super::capabilities#what-is-offered-follows-from-the-handlers), so the two cannot disagree, and can be adjusted.
//!
//! **A question that nobody answered is not a no.**
//! `askPermission` gives a boolean.
//! A [`Decision`](crate::agent::Decision) has a fifth value for a turn that was cancelled, and tells decisions that hold always from those that hold once.
//!
//! **A terminal releases itself.**
//! One that is dropped, by an early return or with a cancelled turn, is released.
//!
//! **No thread is interrupted.**
//! In Java the thread of a synchronous handler is interrupted when its grace period is over.
//! Rust has no such thing, and stopping a thread from outside would leave its locks and data in any state.
//! An async handler is dropped instead, which is as prompt and runs its destructors.
//! A [blocking](crate::blocking) handler is abandoned: the answer does not wait for it, and every later call on its context fails.
//! It runs on a thread of its own and not of a pool, so that it takes nobody's place.
//!
//! **The context says why.**
//! In both, a handler learns of every kind of cancellation in the same way.
//! Here it can also ask for the [cause](crate::CancelCause), since a program may want to save its work when the connection is lost and not when the user pressed Stop.
//!
//! **No flag per session.**
//! The Java tutorial keeps a map from sessions to flags, which the cancel handler sets and the prompt handler resets.
//! A cancel that is read before the prompt handler resets its flag would be lost in such a map.
//! A context belongs to one turn and starts before its handler, so nothing has to be reset.
//!
//! **A callback that is registered late runs at once**, and one that panics is logged.
//! Otherwise a handler would have to ask again after it has registered one.
//!
//! **A late update is an error at its sender.**
//! After the answer, nothing of the turn can be written, and the call that tried says so (`late-update`).
//! The check and the place on the wire are one step, because a check beforehand would leave a gap.
//!
//! **Updates wait for the client.**
//! Sending is `async` and waits while the client reads too slowly, so that memory stays bounded.
//!
//! **Questions to a person have no timeout.**
//! In Java the prompt is the only request that the request timeout exempts.
//! Here permission requests, elicitations and authentication are exempt too: somebody is reading a diff, and failing the question after a minute would kill a live turn.
//! So is the wait for the end of a command.
//!
//! **A client refuses a second prompt itself.**
//! In Java it is the agent that answers `-32600`; this agent does too.
//! This client does not let it come to that, because a cancel on the wire could then hit the wrong one of two turns.
//!
//! **There is a limit for the answer after a cancel.**
//! [`cancel_timeout`](crate::client::ClientBuilder::cancel_timeout) is for clients whose agents have no grace period.
//! A prompt timeout cannot do this, since it would end long turns that nobody cancelled.
//!
//! **A turn that was given up is kept apart from the next one.**
//! See [`policy`](super::policy#checks).
//!
//! **Open requests of a cancelled turn are cancelled too.**
//! Otherwise a handler could learn of the cancel and still wait for a minute, for a file that nobody needs.
//! It can be [switched off](crate::agent::AgentBuilder::cascade_cancel).
//!
//! **An agent can be shut down from inside.**
//! See [`serve_until`](crate::Agent::serve_until): the turns end as if they were cancelled, instead of with their connection.
