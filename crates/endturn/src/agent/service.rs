//! An agent as one type.

use std::sync::Arc;

use super::{AgentBuilder, PromptContext, RequestContext};
use crate::{
    error::HandlerResult,
    schema::{
        ProtocolVersion,
        v1::{
            AgentCapabilities, CancelNotification, CloseSessionRequest, CloseSessionResponse,
            Error, Implementation, InitializeRequest, InitializeResponse, NewSessionRequest,
            NewSessionResponse, PromptRequest, PromptResponse,
        },
    },
};

/// An agent as a type with one method per method of the protocol, instead of closures on a [builder](AgentBuilder).
///
/// A method that is not written answers as the protocol wants it of an agent that does not have it, with error `-32601`.
/// Rust cannot tell which methods were written, so what is optional has to be declared in [`capabilities`](Self::capabilities).
///
/// ```
/// use endturn::{
///     Agent, HandlerResult, PromptContext, RequestContext,
///     agent::AgentService,
///     schema::v1::{NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse, StopReason},
/// };
///
/// struct Echo;
///
/// impl AgentService for Echo {
///     async fn new_session(
///         &self,
///         _request: NewSessionRequest,
///         _cx: RequestContext,
///     ) -> HandlerResult<NewSessionResponse> {
///         Ok(NewSessionResponse::new("session-1"))
///     }
///
///     async fn prompt(&self, request: PromptRequest, cx: PromptContext) -> HandlerResult<PromptResponse> {
///         cx.send_message(format!("{:?}", request.prompt)).await?;
///         Ok(PromptResponse::new(StopReason::EndTurn))
///     }
/// }
///
/// let agent = Agent::from_service(Echo).build();
/// ```
pub trait AgentService: Send + Sync + 'static {
    /// The agent's name and version; none by default.
    fn info(&self) -> Option<Implementation> {
        None
    }

    /// What the agent offers beyond the protocol's minimum; nothing by default.
    fn capabilities(&self) -> AgentCapabilities {
        AgentCapabilities::new()
    }

    /// Answers `initialize`: by default with protocol version 1, [`info`](Self::info) and [`capabilities`](Self::capabilities).
    fn initialize(
        &self,
        _request: InitializeRequest,
        _cx: RequestContext,
    ) -> impl Future<Output = HandlerResult<InitializeResponse>> + Send {
        async {
            Ok(InitializeResponse::new(ProtocolVersion::V1)
                .agent_info(self.info())
                .agent_capabilities(self.capabilities()))
        }
    }

    /// Answers `session/new`.
    fn new_session(
        &self,
        request: NewSessionRequest,
        cx: RequestContext,
    ) -> impl Future<Output = HandlerResult<NewSessionResponse>> + Send;

    /// Runs one turn; see [`AgentBuilder::on_prompt`].
    fn prompt(
        &self,
        request: PromptRequest,
        cx: PromptContext,
    ) -> impl Future<Output = HandlerResult<PromptResponse>> + Send;

    /// Is told of every `session/cancel` and `session/close`; see [`AgentBuilder::on_cancel`].
    fn cancel(&self, _notification: CancelNotification) -> impl Future<Output = ()> + Send {
        async {}
    }

    /// Answers `session/close` when the session's turn has ended; see [`AgentBuilder::on_close_session`].
    ///
    /// It is asked only if [`capabilities`](Self::capabilities) declares it.
    fn close_session(
        &self,
        _request: CloseSessionRequest,
        _cx: RequestContext,
    ) -> impl Future<Output = HandlerResult<CloseSessionResponse>> + Send {
        async { Err(Error::method_not_found())? }
    }
}

/// A builder whose handlers are the methods of a service.
pub(super) fn builder(service: impl AgentService) -> AgentBuilder {
    let service = Arc::new(service);
    /// A handler that calls one method of the service.
    macro_rules! call {
        ($method:ident, $($argument:ident),+) => {{
            let service = Arc::clone(&service);
            move |$($argument),+| {
                let service = Arc::clone(&service);
                async move { service.$method($($argument),+).await }
            }
        }};
    }
    let builder = AgentBuilder::default()
        .on_initialize(call!(initialize, request, cx))
        .on_new_session(call!(new_session, request, cx))
        .on_prompt(call!(prompt, request, cx))
        .on_cancel(call!(cancel, notification));
    // Without this, closing a session would cancel its turn and then fail.
    if service.capabilities().session_capabilities.close.is_none() {
        return builder;
    }
    builder.on_close_session(call!(close_session, request, cx))
}
