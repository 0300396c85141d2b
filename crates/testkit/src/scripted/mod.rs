//! An agent without a model: the text of a prompt is a script, one step per line.
//!
//! | step | does |
//! |---|---|
//! | `steps N DURATION` | before each of N steps checks for a cancel (then says `[Cancelled at step i]` and ends the turn), says `Step i/N... ` and sleeps; at the end says `All steps completed!` |
//! | `say TEXT`, `think TEXT` | sends one chunk of message or thought |
//! | `sleep DURATION` | sleeps, and wakes early when cancelled |
//! | `ignore DURATION` | sleeps through a cancel |
//! | `wait` | waits until cancelled |
//! | `hang` | never returns, and ignores cancels |
//! | `flood N BYTES` | sends N chunks of BYTES each, as fast as the client takes them, and ends the turn when cancelled |
//! | `ask TITLE` | asks for a permission, and says the outcome |
//! | `elicit MESSAGE` | has the user fill in a form with one field, and says the outcome |
//! | `tool TITLE DURATION` | runs a tool call: pending, in progress, completed; failed when cancelled |
//! | `read PATH` | reads a file of the client in a tool call, and says what is in it |
//! | `write PATH TEXT` | writes a line of text to a file of the client in a tool call, which shows it as a diff |
//! | `run COMMAND` | runs a line for the shell in a terminal of the client in a tool call, which shows the terminal; says the output and the exit code; a cancel kills the command |
//! | `plan A; B; C` | sends a plan, first all pending, then with one entry after the other in progress and completed |
//! | `usage USED SIZE` | reports how many tokens are used, of how many |
//! | `title TEXT` | gives the session a title |
//! | `mode ID` | puts the session into another mode, and says so in an update |
//! | `set KEY VALUE` | changes a config option, and says so in an update |
//! | `late TEXT` | starts a task that outlives the turn and tries to send TEXT every 10 ms for a second |
//! | `fail MESSAGE` | fails with an error that the client is not told |
//! | `error CODE MESSAGE` | fails with an error for the client |
//! | `panic` | panics |
//! | `end REASON` | ends the turn with that stop reason |
//! | `meta JSON` | sets the `_meta` of the answer |
//! | `blocking` | as the first line: runs the rest in a blocking handler, on a thread of its own |
//! | `/help` | says which steps there are |
//!
//! The turn ends with `end_turn` after the last step.
//! A text whose first word is no step runs `steps 10 500ms`.
//! Paths count from the session's directory.
//! Where the client does not offer what a step needs, the agent says `[The client does not offer …]` and goes on; where the client answers with an error, it says `[Failed: …]` and goes on.
//!
//! # Sessions
//!
//! Sessions are kept in memory, for all connections of the agent together, and can be listed, loaded, resumed, closed and deleted.
//!
//! - At most [`SESSIONS_KEPT`] are kept; with one more, the one that was used least recently is forgotten.
//! - The history of a session is what the user and the agent have said, without thoughts, and at most [`HISTORY_BYTES`] of it are kept, the newest. When the session is loaded, each message is one chunk with a message id.
//! - A list has the sessions that were used last first, [`PAGE_SIZE`] on a page. A session's title is the first line of its first prompt, unless a `title` step gives it another one.
//! - A session that is closed takes no prompts until it is loaded or resumed.
//!
//! The modes are `default` and `careful`; the latter asks for a permission before each `write` and `run`.
//! The config options are `model`, which is `small` or `large` and has no effect, and `thinking`, whether `think` steps are sent at all.
//! `thinking` is on or off, so only clients that declare `session.configOptions.boolean` are told of it.
//!
//! Sessions that are unknown, forgotten or closed are answered with error `-32002`, and unknown modes, options, values and cursors with error `-32602`, whose data name the `field`.
//! The agent wants no authentication.

mod run;
mod script;
mod service;
mod sessions;

use endturn::agent::AgentBuilder;

pub use script::{InvalidScript, STEPS, Script};
use service::Scripted;
pub use sessions::{HISTORY_BYTES, PAGE_SIZE, SESSIONS_KEPT};

/// The scripted agent, to which limits may still be added.
///
/// It sends nothing that no script tells it to, so a test knows what comes.
///
/// ```
/// use endturn::{Client, schema::{ProtocolVersion, v1::*}, transport};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), endturn::Error> {
/// let (near, far) = transport::memory();
/// let agent = endturn_testkit::scripted::agent().build();
/// tokio::spawn(async move { agent.serve(far).await });
///
/// let client = Client::builder().connect(near);
/// client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
/// let session = client.new_session(NewSessionRequest::new("/")).await?;
/// let script = ContentBlock::Text(TextContent::new("say hello\nend refusal"));
/// let request = PromptRequest::new(session.session_id, vec![script]);
/// let response = client.prompt(request, None).await?;
/// assert_eq!(response.stop_reason, StopReason::Refusal);
/// # Ok(())
/// # }
/// ```
pub fn agent() -> AgentBuilder {
    service::builder(Scripted::default())
}

/// The same agent, which also tells the client its commands, behind the answer that opens a session; this is what `endturn agent` serves.
pub fn agent_with_commands() -> AgentBuilder {
    service::builder(Scripted {
        tells_commands: true,
        ..Scripted::default()
    })
}
