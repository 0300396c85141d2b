//! An agent as one type.

use std::sync::Arc;

use super::{AgentBuilder, PromptContext, RequestContext};
use crate::{
    capabilities::PROTOCOL_VERSION,
    connection::method_not_found,
    error::HandlerResult,
    schema::v1::{
        AGENT_METHOD_NAMES, AgentCapabilities, AuthMethod, AuthenticateRequest,
        AuthenticateResponse, CancelNotification, CloseSessionRequest, CloseSessionResponse,
        DeleteSessionRequest, DeleteSessionResponse, Implementation, InitializeRequest,
        InitializeResponse, ListSessionsRequest, ListSessionsResponse, LoadSessionRequest,
        LoadSessionResponse, LogoutRequest, LogoutResponse, NewSessionRequest, NewSessionResponse,
        PromptRequest, PromptResponse, ResumeSessionRequest, ResumeSessionResponse,
        SetSessionConfigOptionRequest, SetSessionConfigOptionResponse, SetSessionModeRequest,
        SetSessionModeResponse,
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
///
/// One that keeps sessions, and says so:
///
/// ```
/// use endturn::{Agent, HandlerResult, PromptContext, RequestContext, agent::AgentService};
/// use endturn::schema::v1::*;
///
/// struct Saving;
///
/// impl AgentService for Saving {
///     fn info(&self) -> Option<Implementation> {
///         Some(Implementation::new("saving", "1.0"))
///     }
///
///     fn capabilities(&self) -> AgentCapabilities {
///         AgentCapabilities::new().load_session(true)
///     }
///
///     async fn new_session(
///         &self,
///         _request: NewSessionRequest,
///         _cx: RequestContext,
///     ) -> HandlerResult<NewSessionResponse> {
///         Ok(NewSessionResponse::new("session-1"))
///     }
///
///     async fn load_session(
///         &self,
///         request: LoadSessionRequest,
///         cx: RequestContext,
///     ) -> HandlerResult<LoadSessionResponse> {
///         cx.session(request.session_id).send_message("42").await?;
///         Ok(LoadSessionResponse::new())
///     }
///
///     async fn prompt(&self, _request: PromptRequest, _cx: PromptContext) -> HandlerResult<PromptResponse> {
///         Ok(PromptResponse::new(StopReason::EndTurn))
///     }
/// }
///
/// // What a service has no method for, an extension or a limit, is added to the builder.
/// let agent = Agent::from_service(Saving)
///     .on_request_raw("_example.com/ping", |_: serde_json::Value, _cx| async { Ok("pong") })
///     .build();
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

    /// The ways in which the user can [authenticate](Self::authenticate); none by default.
    fn auth_methods(&self) -> Vec<AuthMethod> {
        Vec::new()
    }

    /// Answers `initialize`: by default with [`info`](Self::info), [`auth_methods`](Self::auth_methods) and [`capabilities`](Self::capabilities).
    fn initialize(
        &self,
        _request: InitializeRequest,
        _cx: RequestContext,
    ) -> impl Future<Output = HandlerResult<InitializeResponse>> + Send {
        async {
            Ok(InitializeResponse::new(PROTOCOL_VERSION)
                .agent_info(self.info())
                .auth_methods(self.auth_methods())
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

    /// Answers `authenticate`; see [`AgentBuilder::on_authenticate`].
    fn authenticate(
        &self,
        _request: AuthenticateRequest,
        _cx: RequestContext,
    ) -> impl Future<Output = HandlerResult<AuthenticateResponse>> + Send {
        async { Err(method_not_found(AGENT_METHOD_NAMES.authenticate))? }
    }

    /// Answers `logout`; see [`AgentBuilder::on_logout`].
    ///
    /// It is asked only if [`capabilities`](Self::capabilities) offers `auth.logout`.
    fn logout(
        &self,
        _request: LogoutRequest,
        _cx: RequestContext,
    ) -> impl Future<Output = HandlerResult<LogoutResponse>> + Send {
        async { Err(method_not_found(AGENT_METHOD_NAMES.logout))? }
    }

    /// Answers `session/load`; see [`AgentBuilder::on_load_session`].
    ///
    /// It is asked only if [`capabilities`](Self::capabilities) offers `loadSession`.
    fn load_session(
        &self,
        _request: LoadSessionRequest,
        _cx: RequestContext,
    ) -> impl Future<Output = HandlerResult<LoadSessionResponse>> + Send {
        async { Err(method_not_found(AGENT_METHOD_NAMES.session_load))? }
    }

    /// Answers `session/resume`; see [`AgentBuilder::on_resume_session`].
    ///
    /// It is asked only if [`capabilities`](Self::capabilities) offers `sessionCapabilities.resume`.
    fn resume_session(
        &self,
        _request: ResumeSessionRequest,
        _cx: RequestContext,
    ) -> impl Future<Output = HandlerResult<ResumeSessionResponse>> + Send {
        async { Err(method_not_found(AGENT_METHOD_NAMES.session_resume))? }
    }

    /// Answers `session/list`; see [`AgentBuilder::on_list_sessions`].
    ///
    /// It is asked only if [`capabilities`](Self::capabilities) offers `sessionCapabilities.list`.
    fn list_sessions(
        &self,
        _request: ListSessionsRequest,
        _cx: RequestContext,
    ) -> impl Future<Output = HandlerResult<ListSessionsResponse>> + Send {
        async { Err(method_not_found(AGENT_METHOD_NAMES.session_list))? }
    }

    /// Answers `session/delete`; see [`AgentBuilder::on_delete_session`].
    ///
    /// It is asked only if [`capabilities`](Self::capabilities) offers `sessionCapabilities.delete`.
    fn delete_session(
        &self,
        _request: DeleteSessionRequest,
        _cx: RequestContext,
    ) -> impl Future<Output = HandlerResult<DeleteSessionResponse>> + Send {
        async { Err(method_not_found(AGENT_METHOD_NAMES.session_delete))? }
    }

    /// Answers `session/set_mode`; see [`AgentBuilder::on_set_mode`].
    fn set_mode(
        &self,
        _request: SetSessionModeRequest,
        _cx: RequestContext,
    ) -> impl Future<Output = HandlerResult<SetSessionModeResponse>> + Send {
        async { Err(method_not_found(AGENT_METHOD_NAMES.session_set_mode))? }
    }

    /// Answers `session/set_config_option`; see [`AgentBuilder::on_set_config_option`].
    fn set_config_option(
        &self,
        _request: SetSessionConfigOptionRequest,
        _cx: RequestContext,
    ) -> impl Future<Output = HandlerResult<SetSessionConfigOptionResponse>> + Send {
        async {
            Err(method_not_found(
                AGENT_METHOD_NAMES.session_set_config_option,
            ))?
        }
    }

    /// Answers `session/close` when the session's turn has ended; see [`AgentBuilder::on_close_session`].
    ///
    /// It is asked only if [`capabilities`](Self::capabilities) offers `sessionCapabilities.close`.
    fn close_session(
        &self,
        _request: CloseSessionRequest,
        _cx: RequestContext,
    ) -> impl Future<Output = HandlerResult<CloseSessionResponse>> + Send {
        async { Err(method_not_found(AGENT_METHOD_NAMES.session_close))? }
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
    let offers = service.capabilities();
    let sessions = &offers.session_capabilities;
    let mut builder = AgentBuilder::default()
        .on_initialize(call!(initialize, request, cx))
        .on_authenticate(call!(authenticate, request, cx))
        .on_new_session(call!(new_session, request, cx))
        .on_set_mode(call!(set_mode, request, cx))
        .on_set_config_option(call!(set_config_option, request, cx))
        .on_prompt(call!(prompt, request, cx))
        .on_cancel(call!(cancel, notification));
    // A method that is not offered has no handler: closing a session, for example, would cancel its turn and then fail.
    if offers.auth.logout.is_some() {
        builder = builder.on_logout(call!(logout, request, cx));
    }
    if offers.load_session {
        builder = builder.on_load_session(call!(load_session, request, cx));
    }
    if sessions.resume.is_some() {
        builder = builder.on_resume_session(call!(resume_session, request, cx));
    }
    if sessions.list.is_some() {
        builder = builder.on_list_sessions(call!(list_sessions, request, cx));
    }
    if sessions.delete.is_some() {
        builder = builder.on_delete_session(call!(delete_session, request, cx));
    }
    if sessions.close.is_some() {
        builder = builder.on_close_session(call!(close_session, request, cx));
    }
    builder
}
