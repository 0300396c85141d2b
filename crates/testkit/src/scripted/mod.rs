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
//! | `tool TITLE DURATION` | runs a tool call: pending, in progress, completed; failed when cancelled |
//! | `late TEXT` | starts a task that outlives the turn and tries to send TEXT every 10 ms for a second |
//! | `fail MESSAGE` | fails with an error that the client is not told |
//! | `error CODE MESSAGE` | fails with an error for the client |
//! | `panic` | panics |
//! | `end REASON` | ends the turn with that stop reason |
//! | `meta JSON` | sets the `_meta` of the answer |
//!
//! The turn ends with `end_turn` after the last step.
//! A text whose first word is no step runs `steps 10 500ms`.

mod run;
mod script;

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use endturn::{
    Agent, HandlerResult, PromptContext,
    agent::AgentBuilder,
    schema::v1::{
        ContentBlock, Error, Implementation, NewSessionResponse, PromptRequest, PromptResponse,
        SessionId,
    },
};

pub use script::{InvalidScript, Script};

/// The scripted agent, to which limits may still be added.
///
/// Its sessions are known to this agent only, and prompts for others are refused.
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
    let sessions = Arc::new(Sessions::default());
    let known = Arc::clone(&sessions);
    Agent::builder()
        .info(
            Implementation::new("endturn-scripted", env!("CARGO_PKG_VERSION"))
                .title("Scripted agent".to_owned()),
        )
        .on_new_session(move |_request, _cx| {
            let session = sessions.open();
            async move { Ok(NewSessionResponse::new(session)) }
        })
        .on_prompt(move |request, cx| {
            let known = known.knows(&request.session_id);
            async move {
                if known {
                    prompt(request, cx).await
                } else {
                    Err(Error::session_not_found(request.session_id))?
                }
            }
        })
}

#[derive(Default)]
struct Sessions {
    opened: AtomicU64,
    open: Mutex<HashSet<SessionId>>,
}

impl Sessions {
    fn open(&self) -> SessionId {
        let number = self.opened.fetch_add(1, Ordering::Relaxed) + 1;
        let session = SessionId::new(format!("session-{number}"));
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.insert(session.clone());
        session
    }

    fn knows(&self, session: &SessionId) -> bool {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.contains(session)
    }
}

async fn prompt(request: PromptRequest, cx: PromptContext) -> HandlerResult<PromptResponse> {
    let script = text(&request).parse::<Script>().map_err(|error| {
        Error::invalid_params().data(serde_json::json!({ "reason": error.to_string() }))
    })?;
    run::run(script, &cx).await
}

/// The text of a prompt; what is not text cannot be part of a script.
fn text(request: &PromptRequest) -> String {
    let mut text = String::new();
    for block in &request.prompt {
        if let ContentBlock::Text(block) = block {
            text.push_str(&block.text);
            text.push('\n');
        }
    }
    text
}
