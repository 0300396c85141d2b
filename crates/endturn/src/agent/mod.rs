//! Writing an agent: handlers, and the rules that every turn of theirs keeps.
//!
//! ```text
//!   session/prompt ─► turn registered ─► handler's task ─► End(..) ────► answer, session free
//!                           ▲                                  │
//!   session/cancel ─────────┤ Signal: context cancelled        │ one claim: the first wins
//!   $/cancel_request ───────┤                                  │
//!   grace period ───────────┤ Interrupt: handler dropped ──────┘
//!   maximum duration ───────┘
//! ```

mod builder;
mod close;
mod context;
mod files;
mod handlers;
mod permission;
pub(crate) mod senders;
mod service;
mod session_handle;
mod side;
mod terminal;
mod tool_call;
mod turns;
mod update;
mod usual;

use std::{fmt, sync::Arc};

pub use builder::AgentBuilder;
pub use context::{PromptContext, RequestContext};
pub use permission::Decision;
pub use service::AgentService;
pub use session_handle::SessionHandle;
pub use terminal::{CommandOutput, Terminal, TerminalCommand};
pub use tool_call::ToolCallHandle;

use crate::{
    connection::{Connection, drive},
    error::Error,
    transport::Transport,
};
use side::{AgentSide, Handlers};

/// An agent: handlers for what a client may ask, ready to be served.
///
/// Serving does not use it up, and clones share the handlers, so one agent can serve many connections; each has its own sessions and turns.
///
/// ```no_run
/// use endturn::{
///     Agent,
///     schema::v1::{NewSessionRequest, NewSessionResponse, PromptResponse, StopReason},
///     transport,
/// };
///
/// # async fn next_words() -> String { String::new() }
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let agent = Agent::builder()
///         .on_new_session(|_request: NewSessionRequest, _cx| async move {
///             Ok(NewSessionResponse::new("session-1"))
///         })
///         .on_prompt(|_request, cx| async move {
///             while !cx.is_cancelled() {
///                 cx.send_message(next_words().await).await?;
///             }
///             Ok(PromptResponse::new(StopReason::EndTurn))
///         })
///         .build();
///     agent.serve(transport::stdio()?).await?;
///     Ok(())
/// }
/// ```
///
/// The prompt handler returns `end_turn`, and a cancelled turn is answered `cancelled` all the same.
#[derive(Clone)]
pub struct Agent {
    handlers: Arc<Handlers>,
}

impl Agent {
    /// An agent without handlers, to which they are added.
    pub fn builder() -> AgentBuilder {
        AgentBuilder::default()
    }

    /// An agent whose handlers are the methods of one type; limits may still be added.
    pub fn from_service(service: impl AgentService) -> AgentBuilder {
        service::builder(service)
    }

    /// Serves one client until the connection ends.
    ///
    /// When the client closes its end, every turn's context is cancelled, every handler is dropped, and what was already on its way is written; a client that does not read it is given two seconds.
    /// Serving needs a tokio runtime with its time driver enabled.
    ///
    /// # Errors
    ///
    /// If reading or writing fails.
    /// A client that goes away, with or without closing its end first, is no error.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the connection at once: handlers are dropped and nothing more is written.
    /// To end the turns first, use [`serve_until`](Self::serve_until).
    pub async fn serve(&self, transport: Transport) -> Result<(), Error> {
        self.serve_until(transport, std::future::pending()).await
    }

    /// Serves one client until the connection ends, or until `shutdown` completes and then the turns have ended.
    ///
    /// After `shutdown`, every turn is cancelled as by `session/cancel`, new requests are refused with error `-32600`, and the connection is closed when the last request is answered.
    /// The [grace period](AgentBuilder::cancel_grace_period) bounds how long that takes; without one, a handler that never returns holds it up for ever.
    /// This is a policy of this SDK.
    ///
    /// # Errors
    ///
    /// As for [`serve`](Self::serve).
    ///
    /// # Cancel safety
    ///
    /// As for [`serve`](Self::serve).
    pub async fn serve_until(
        &self,
        transport: Transport,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), Error> {
        let side = AgentSide::new(Arc::clone(&self.handlers));
        let connection = Connection::new(side, self.handlers.limits);
        let mut driving = std::pin::pin!(drive(connection.clone(), transport));
        tokio::select! {
            biased;
            result = &mut driving => return result,
            () = shutdown => turns::shut_down(&connection),
        }
        driving.await
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").finish_non_exhaustive()
    }
}
