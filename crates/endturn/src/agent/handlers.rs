//! The builder's methods for the requests that need nothing but a handler.

use std::sync::Arc;

use super::{AgentBuilder, RequestContext};
use crate::{
    blocking,
    error::HandlerResult,
    request::Request,
    schema::v1::{
        AuthenticateRequest, CloseSessionRequest, DeleteSessionRequest, ListSessionsRequest,
        LoadSessionRequest, LogoutRequest, NewSessionRequest, ResumeSessionRequest,
        SetSessionConfigOptionRequest, SetSessionModeRequest,
    },
};

/// Makes an async and a blocking method for each request.
macro_rules! handlers {
    ($($(#[$attribute:meta])* $request:ident: $on:ident, $on_blocking:ident;)*) => {
        impl AgentBuilder {
            $(
                $(#[$attribute])*
                pub fn $on<F, Fut>(self, handle: F) -> Self
                where
                    F: Fn($request, RequestContext) -> Fut + Send + Sync + 'static,
                    Fut: Future<Output = HandlerResult<<$request as Request>::Response>>
                        + Send
                        + 'static,
                {
                    self.on(<$request>::METHOD, handle)
                }

                #[doc = concat!(
                    "Handles the same with a blocking function; see [`", stringify!($on), "`](Self::",
                    stringify!($on), ") and [`blocking`](crate::blocking)."
                )]
                pub fn $on_blocking<F>(self, handle: F) -> Self
                where
                    F: Fn(
                            $request,
                            blocking::RequestContext,
                        ) -> HandlerResult<<$request as Request>::Response>
                        + Send
                        + Sync
                        + 'static,
                {
                    let handle = Arc::new(handle);
                    self.$on(move |request, cx| {
                        let cx = blocking::RequestContext::new(cx);
                        blocking::on_thread(Arc::clone(&handle), request, cx)
                    })
                }
            )*
        }
    };
}

handlers! {
    /// Handles `authenticate`: logs the user in, by one of the [ways that were offered](Self::auth_methods).
    ///
    /// An agent that wants it first answers other requests with [`Error::auth_required`](crate::schema::v1::Error::auth_required).
    ///
    /// ```
    /// use endturn::{Agent, schema::v1::*};
    ///
    /// let builder = Agent::builder().on_authenticate(|request, _cx| async move {
    ///     if request.method_id.0.as_ref() != "key" {
    ///         Err(Error::invalid_params())?;
    ///     }
    ///     Ok(AuthenticateResponse::new())
    /// });
    /// ```
    ///
    /// Source: [Authentication](https://agentclientprotocol.com/protocol/v1/authentication).
    AuthenticateRequest: on_authenticate, on_authenticate_blocking;

    /// Handles `logout`: forgets who the user is. The agent offers `auth.logout` with it.
    ///
    /// ```
    /// use endturn::{Agent, schema::v1::*};
    ///
    /// let builder = Agent::builder().on_logout(|_request, _cx| async {
    ///     Ok(LogoutResponse::new())
    /// });
    /// ```
    ///
    /// Source: [Authentication](https://agentclientprotocol.com/protocol/v1/authentication).
    LogoutRequest: on_logout, on_logout_blocking;

    /// Handles `session/new`.
    ///
    /// ```
    /// use endturn::{Agent, schema::v1::*};
    ///
    /// let builder = Agent::builder().on_new_session(|request, _cx| async move {
    ///     if !request.cwd.is_dir() {
    ///         Err(Error::invalid_params().data("cwd is no directory"))?;
    ///     }
    ///     let modes = vec![SessionMode::new("ask", "Ask"), SessionMode::new("act", "Act")];
    ///     Ok(NewSessionResponse::new("session-1").modes(SessionModeState::new("ask", modes)))
    /// });
    /// ```
    ///
    /// Source: [Session setup](https://agentclientprotocol.com/protocol/v1/session-setup).
    NewSessionRequest: on_new_session, on_new_session_blocking;

    /// Handles `session/load`: takes up a saved session, and shows its history. The agent offers `loadSession` with it.
    ///
    /// The history is sent as updates of the [session](RequestContext::session) before the handler returns; the client has it then when it reads the answer.
    ///
    /// ```
    /// use endturn::{Agent, schema::v1::*};
    ///
    /// let builder = Agent::builder().on_load_session(|request, cx| async move {
    ///     let session = cx.session(request.session_id);
    ///     session.send_user_message("What is 6 times 7?").await?;
    ///     session.send_message("42").await?;
    ///     Ok(LoadSessionResponse::new())
    /// });
    /// ```
    ///
    /// Source: [Loading sessions](https://agentclientprotocol.com/protocol/v1/session-setup#loading-sessions).
    LoadSessionRequest: on_load_session, on_load_session_blocking;

    /// Handles `session/list`: the saved sessions, page by page. The agent offers `sessionCapabilities.list` with it.
    ///
    /// ```
    /// use endturn::{Agent, schema::v1::*};
    ///
    /// let builder = Agent::builder().on_list_sessions(|request, _cx| async move {
    ///     Ok(match request.cursor.as_deref() {
    ///         None => ListSessionsResponse::new(vec![SessionInfo::new("session-1", "/work")])
    ///             .next_cursor("2".to_owned()),
    ///         Some(_) => ListSessionsResponse::new(vec![SessionInfo::new("session-2", "/work")]),
    ///     })
    /// });
    /// ```
    ///
    /// Source: [Session list](https://agentclientprotocol.com/protocol/v1/session-list).
    ListSessionsRequest: on_list_sessions, on_list_sessions_blocking;

    /// Handles `session/delete`: forgets a saved session. The agent offers `sessionCapabilities.delete` with it.
    ///
    /// ```
    /// use endturn::{Agent, schema::v1::*};
    ///
    /// let builder = Agent::builder().on_delete_session(|request, _cx| async move {
    ///     std::fs::remove_file(format!("/var/lib/my-agent/{}", request.session_id))?;
    ///     Ok(DeleteSessionResponse::new())
    /// });
    /// ```
    ///
    /// Source: [Session list](https://agentclientprotocol.com/protocol/v1/session-list).
    DeleteSessionRequest: on_delete_session, on_delete_session_blocking;

    /// Handles `session/resume`: takes up a saved session without showing its history. The agent offers `sessionCapabilities.resume` with it.
    ///
    /// ```
    /// use endturn::{Agent, schema::v1::*};
    ///
    /// let builder = Agent::builder().on_resume_session(|request, _cx| async move {
    ///     if request.session_id.0.as_ref() != "session-1" {
    ///         Err(Error::session_not_found(request.session_id))?;
    ///     }
    ///     Ok(ResumeSessionResponse::new())
    /// });
    /// ```
    ///
    /// Source: [Session setup](https://agentclientprotocol.com/protocol/v1/session-setup).
    ResumeSessionRequest: on_resume_session, on_resume_session_blocking;

    /// Handles `session/close`: frees what the agent holds for a session. The agent offers `sessionCapabilities.close` with it.
    ///
    /// The session's turn is cancelled first, as by `session/cancel`, and the handler runs when the turn has ended and its answer has its place on the wire; the grace period bounds that.
    /// A prompt that arrives meanwhile is answered `-32600`, and the session is free for another life when the close is answered.
    ///
    /// ```
    /// use endturn::{Agent, schema::v1::*};
    ///
    /// let builder = Agent::builder().on_close_session(|request, _cx| async move {
    ///     println!("{} is closed", request.session_id);
    ///     Ok(CloseSessionResponse::new())
    /// });
    /// ```
    ///
    /// Source: [Closing active sessions](https://agentclientprotocol.com/protocol/v1/session-setup).
    CloseSessionRequest: on_close_session, on_close_session_blocking;

    /// Handles `session/set_mode`: the user has chosen one of the modes that the session was opened with.
    ///
    /// ```
    /// use endturn::{Agent, schema::v1::*};
    ///
    /// let builder = Agent::builder().on_set_mode(|request, _cx| async move {
    ///     println!("{} is in {} now", request.session_id, request.mode_id);
    ///     Ok(SetSessionModeResponse::new())
    /// });
    /// ```
    ///
    /// Source: [Session modes](https://agentclientprotocol.com/protocol/v1/session-modes).
    SetSessionModeRequest: on_set_mode, on_set_mode_blocking;

    /// Handles `session/set_config_option`: the user has chosen a value, and the answer has all options as they are then.
    ///
    /// ```
    /// use endturn::{Agent, schema::v1::*};
    ///
    /// let builder = Agent::builder().on_set_config_option(|request, _cx| async move {
    ///     let think = request.value.as_bool().unwrap_or_default();
    ///     let options = vec![SessionConfigOption::boolean("think", "Think", think)];
    ///     Ok(SetSessionConfigOptionResponse::new(options))
    /// });
    /// ```
    ///
    /// Source: [Session config options](https://agentclientprotocol.com/protocol/v1/session-config-options).
    SetSessionConfigOptionRequest: on_set_config_option, on_set_config_option_blocking;
}
