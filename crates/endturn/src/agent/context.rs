//! What a handler can learn and do while it runs.

use std::{borrow::Cow, fmt, sync::Arc};

use endturn_core::turn::agent::CancelCause;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    SessionHandle,
    senders::{async_senders, chunk, for_each_update, part},
    side::AgentSide,
    turns,
    update::{Of, Update},
};
use crate::{
    capabilities::ClientPeer,
    connection::{Callback, Connection, Key, Parent, Scope, Started, State},
    error::Error,
    request::{Call, NotifiesClient, ToClient, limit_of, write},
    schema::v1::{
        AGENT_METHOD_NAMES, AvailableCommand, AvailableCommandsUpdate, ConfigOptionUpdate,
        CurrentModeUpdate, MessageId, Plan, PlanEntry, RequestPermissionRequest,
        RequestPermissionResponse, SessionConfigOption, SessionId, SessionInfoUpdate,
        SessionModeId, SessionUpdate, UsageUpdate,
    },
};

/// A handler's view of its own turn: what it may send, and whether it shall stop.
///
/// Clones are the same turn, and may be moved to other tasks.
/// None of them outlives it: once the prompt is answered, updates are dropped and every call fails at once.
///
/// # Noticing a cancellation
///
/// Whatever cancels the turn, the handler learns of it in the same three ways: it asks [`is_cancelled`](Self::is_cancelled) between two steps, it waits for [`cancelled`](Self::cancelled) beside its work, or it registers a callback with [`on_cancel`](Self::on_cancel).
///
/// After `session/cancel` the handler runs on, may send final updates, and returns when it is ready; what it returns, an error too, is answered as `cancelled`.
/// The other [causes](CancelCause) end the turn by themselves and drop the handler.
///
/// ```no_run
/// # use endturn::{Agent, schema::v1::{PromptResponse, StopReason}};
/// # async fn answer() -> String { String::new() }
/// # let _ =
/// Agent::builder().on_prompt(|_request, cx| async move {
///     tokio::select! {
///         text = answer() => cx.send_message(text).await?,
///         () = cx.cancelled() => cx.send_message("Stopped.").await?,
///     }
///     Ok(PromptResponse::new(StopReason::EndTurn))
/// });
/// ```
///
/// # Telling the user
///
/// ```
/// # use endturn::{HandlerResult, PromptContext, schema::v1::*};
/// # async fn handler(cx: PromptContext) -> HandlerResult<()> {
/// cx.send_thought("Where could that be?").await?;
/// cx.send_message("It is in ").await?; // pieces of one answer
/// cx.send_message("`main.rs`.").await?;
/// cx.send_message_part("message-2", "Another message.").await?;
/// cx.send_plan(vec![
///     PlanEntry::new("Find it", PlanEntryPriority::High, PlanEntryStatus::Completed),
///     PlanEntry::new("Fix it", PlanEntryPriority::High, PlanEntryStatus::InProgress),
/// ])
/// .await?;
/// cx.send_commands(vec![AvailableCommand::new("test", "Run the tests")]).await?;
/// cx.send_mode("act").await?;
/// cx.send_config_options(vec![SessionConfigOption::boolean("think", "Think", true)]).await?;
/// cx.send_usage(12_000, 200_000).await?;
/// cx.send_title("A bug in main.rs").await?;
/// # Ok(())
/// # }
/// ```
///
/// Files, terminals, permissions and tool calls are in [the guide](crate::guide::tools).
#[derive(Clone)]
pub struct PromptContext {
    request: RequestContext,
    session: SessionId,
}

impl PromptContext {
    pub(super) fn new(
        connection: Connection<AgentSide>,
        started: &Started,
        session: SessionId,
    ) -> Self {
        let method = AGENT_METHOD_NAMES.session_prompt;
        let request = RequestContext::new(connection, started, method);
        Self { request, session }
    }

    /// The session this turn belongs to.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        &self.session
    }

    /// Sends an update of this turn.
    ///
    /// ```
    /// # use endturn::{HandlerResult, PromptContext, schema::v1::*};
    /// # async fn handler(cx: PromptContext) -> HandlerResult<()> {
    /// let usage = UsageUpdate::new(12_000, 200_000).cost(Cost::new(0.25, "EUR"));
    /// cx.send_update(SessionUpdate::UsageUpdate(usage)).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Updates of one turn reach the client in the order of these calls, and before the turn's answer.
    /// While the client reads more slowly than the agent sends, this waits, so that memory stays bounded.
    ///
    /// Source: [Agent reports output](https://agentclientprotocol.com/protocol/v1/prompt-turn#3-agent-reports-output).
    ///
    /// # Errors
    ///
    /// If the turn is over (the update is dropped then, and it [was cancelled](Error::is_cancelled) or not), if the connection is lost, or if the update cannot be written as JSON.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is done sends nothing.
    pub async fn send_update(&self, update: SessionUpdate) -> Result<(), Error> {
        self.send(Of::Any(&update)).await
    }

    /// Puts an update of this turn into the outbox, as soon as there is room for it.
    async fn send(&self, of: Of<'_>) -> Result<(), Error> {
        let session = &self.session;
        let update = Update { session, of };
        let RequestContext {
            connection,
            key,
            scope,
            ..
        } = &self.request;
        let sent = connection
            .apply_with_room(|state, _| {
                if let Err(lost) = state.alive() {
                    return Some(Err(lost));
                }
                if !turns::admits_update(state, *key) {
                    return Some(Err(Error::turn_over(scope.is_cancelled())));
                }
                if !state.outbox.has_room() {
                    return None;
                }
                Some(update.put(&mut state.outbox))
            })
            .await;
        if let Err(error) = &sent {
            tracing::debug!(session = %self.session, %error, "an update was dropped");
        }
        sent
    }

    /// Sends an update without waiting for room, if the turn admits one; for a destructor, of which there are few.
    pub(super) fn send_update_at_once(&self, update: &SessionUpdate) {
        self.request.connection.apply(|state, _| {
            if turns::admits_update(state, self.request.key) {
                let session = &self.session;
                let of = Of::Any(update);
                let written = Update { session, of }.put(&mut state.outbox);
                debug_assert!(written.is_ok(), "{written:?}");
            }
        });
    }

    for_each_update!(async_senders);

    /// This turn's session, for updates that may come after the turn.
    #[must_use]
    pub fn session(&self) -> SessionHandle {
        self.request.session(self.session.clone())
    }

    pub(super) fn connection(&self) -> &Connection<AgentSide> {
        &self.request.connection
    }

    /// An error if the turn is over.
    pub(super) fn ensure_open(&self) -> Result<(), Error> {
        let connection = &self.request.connection;
        connection.apply(|state, _| self.why_over(state).map_or(Ok(()), Err))
    }

    /// Waits until the turn is over, and says why.
    pub(super) async fn over(&self) -> Error {
        // The end of a turn is a message or the end of the connection, and both have this look again.
        let connection = &self.request.connection;
        connection
            .apply_with_room(|state, _| self.why_over(state))
            .await
    }

    fn why_over(&self, state: &mut State<AgentSide>) -> Option<Error> {
        let RequestContext { key, scope, .. } = &self.request;
        if let Err(lost) = state.alive() {
            return Some(lost);
        }
        let over = state.requests.get_mut(*key).is_none();
        over.then(|| Error::turn_over(scope.is_cancelled()))
    }

    /// Asks the user for a permission with a request of one's own, and waits for the decision however long it takes: no request timeout applies.
    ///
    /// On `session/cancel` the client answers with the outcome `cancelled`, which is not a rejection.
    /// [`confirm`](Self::confirm), [`ask_permission`](Self::ask_permission) and [`choose`](Self::choose) are the shorter ways.
    ///
    /// ```
    /// # use endturn::{HandlerResult, PromptContext, schema::v1::*};
    /// # async fn handler(cx: PromptContext) -> HandlerResult<()> {
    /// let call = ToolCallUpdate::new("call-1", ToolCallUpdateFields::new().title("Deploy".to_owned()));
    /// let options = vec![PermissionOption::new("go", "Go", PermissionOptionKind::AllowOnce)];
    /// let request = RequestPermissionRequest::new(cx.session_id().clone(), call, options);
    /// match cx.request_permission(request).await?.outcome {
    ///     RequestPermissionOutcome::Selected(it) => println!("{}", it.option_id),
    ///     RequestPermissionOutcome::Cancelled => println!("the turn was cancelled"),
    ///     _ => {}
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [Requesting permission](https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission).
    ///
    /// # Errors
    ///
    /// If the client answers with an error, the turn ends, or the connection is lost.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future sends the client one `$/cancel_request`, unless it has answered.
    pub fn request_permission(
        &self,
        request: RequestPermissionRequest,
    ) -> Call<RequestPermissionResponse> {
        self.request(&request)
    }

    /// Sends any request to the client on behalf of this turn; see [`RequestContext::request`].
    ///
    /// ```
    /// # use endturn::{HandlerResult, PromptContext, schema::v1::*};
    /// # async fn handler(cx: PromptContext) -> HandlerResult<()> {
    /// use std::time::Duration;
    ///
    /// let read = ReadTextFileRequest::new(cx.session_id().clone(), "/work/notes.md");
    /// let notes = cx.request(&read).timeout(Duration::from_secs(5)).await?.content;
    /// # drop(notes);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`RequestContext::request`].
    ///
    /// # Cancel safety
    ///
    /// As for [`RequestContext::request`].
    pub fn request<Q: ToClient>(&self, request: &Q) -> Call<Q::Response> {
        self.request.request(request)
    }

    /// Sends a request whose method and types this library does not know; see [`RequestContext::request_raw`].
    ///
    /// ```
    /// # async fn handler(cx: endturn::PromptContext) -> endturn::HandlerResult<()> {
    /// use serde_json::{Value, json};
    ///
    /// let answer: Value = cx.request_raw("_example.com/lint", &json!({"path": "/work"})).await?;
    /// println!("{}", answer["warnings"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`RequestContext::request`].
    ///
    /// # Cancel safety
    ///
    /// As for [`RequestContext::request`].
    pub fn request_raw<R: DeserializeOwned + Send + 'static>(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &impl Serialize,
    ) -> Call<R> {
        self.request.request_raw(method, params)
    }

    /// Sends a notification; see [`RequestContext::notify`].
    ///
    /// ```
    /// # async fn handler(cx: endturn::PromptContext) -> endturn::HandlerResult<()> {
    /// use endturn::schema::v1::CompleteElicitationNotification;
    /// use serde_json::json;
    ///
    /// cx.notify(&CompleteElicitationNotification::new("elicitation-1")).await?;
    /// cx.notify_raw("_example.com/progress", &json!({"percent": 50})).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As there.
    ///
    /// # Cancel safety
    ///
    /// As there.
    pub async fn notify<N: NotifiesClient>(&self, notification: &N) -> Result<(), Error> {
        self.request.notify(notification).await
    }

    /// Sends a notification whose method and type this library does not know; see [`RequestContext::notify`].
    ///
    /// # Errors
    ///
    /// As there.
    ///
    /// # Cancel safety
    ///
    /// As there.
    pub async fn notify_raw(&self, method: &str, params: &impl Serialize) -> Result<(), Error> {
        self.request.notify_raw(method, params).await
    }

    /// The client: who it is and what it offers.
    ///
    /// ```
    /// # fn handler(cx: endturn::PromptContext) -> endturn::HandlerResult<()> {
    /// let client = cx.client()?;
    /// let name = client.info().map_or("somebody", |info| &info.name);
    /// println!("{name} has terminals: {}", client.supports_terminal());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the connection is lost.
    pub fn client(&self) -> Result<ClientPeer, Error> {
        self.request.client()
    }

    /// Whether the turn is cancelled; once true, it stays true.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.request.is_cancelled()
    }

    /// Why the turn is cancelled, if it is.
    ///
    /// The cause can become a graver one, from `session/cancel` to the grace period for example.
    #[must_use]
    pub fn cause(&self) -> Option<CancelCause> {
        self.request.cause()
    }

    /// Waits until the turn is cancelled; for a turn that never is, for ever.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    pub async fn cancelled(&self) {
        self.request.cancelled().await;
    }

    /// Has `callback` run once when the turn is cancelled, or at once if it is cancelled already.
    ///
    /// It runs on the thread that delivers the cancellation, which is often the one that reads from the client: it must be quick and must not block.
    /// A callback that panics is logged.
    /// If the turn ends without being cancelled, the callback is dropped.
    pub fn on_cancel(&self, callback: impl FnOnce() + Send + 'static) {
        self.request.on_cancel(callback);
    }
}

impl fmt::Debug for PromptContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptContext")
            .field("session_id", &self.session)
            .field("cause", &self.cause())
            .finish_non_exhaustive()
    }
}

/// A handler's view of a request that is not a prompt.
///
/// Such a handler is dropped when its request is cancelled by `$/cancel_request`, or when the connection is lost; this tells the parts of it that live on.
/// Clones are the same request.
///
/// ```
/// use endturn::{Agent, schema::v1::{NewSessionResponse, ReadTextFileRequest}};
///
/// let agent = Agent::builder().on_new_session(|_request, cx| async move {
///     cx.on_cancel(|| println!("not needed any more"));
///     if cx.client()?.supports_read_text_file() {
///         let read = ReadTextFileRequest::new("session-1", "/work/AGENTS.md");
///         println!("{}", cx.request(&read).await?.content);
///     }
///     cx.session("session-1").send_title("New").await?;
///     Ok(NewSessionResponse::new("session-1"))
/// });
/// ```
#[derive(Clone)]
pub struct RequestContext {
    connection: Connection<AgentSide>,
    key: Key,
    scope: Arc<Scope>,
    method: &'static str,
}

impl RequestContext {
    pub(super) fn new(
        connection: Connection<AgentSide>,
        started: &Started,
        method: &'static str,
    ) -> Self {
        Self {
            connection,
            key: started.key,
            scope: Arc::clone(&started.scope),
            method,
        }
    }

    /// The method of the request.
    #[must_use]
    pub fn method(&self) -> &'static str {
        self.method
    }

    /// Sends any request to the client on behalf of this one, and does not outlive it.
    ///
    /// When this request is over, what is still open is sent one `$/cancel_request` and fails at once.
    /// When a turn is cancelled by `session/cancel`, its open requests are sent one too, and the handler goes on waiting for the answers, unless that is [switched off](super::AgentBuilder::cascade_cancel).
    ///
    /// # Errors
    ///
    /// The call fails, and nothing is sent, if the client [does not offer it](Error::is_capability), or the request is wrong in itself, with a relative path for example.
    /// It fails if the request cannot be written as JSON, the client answers with an error or with something unreadable, does not answer within the [request timeout](super::AgentBuilder::request_timeout), the request this context belongs to is over, or the connection is lost.
    ///
    /// # Cancel safety
    ///
    /// Dropping the call sends the client one `$/cancel_request`, unless it has answered.
    pub fn request<Q: ToClient>(&self, request: &Q) -> Call<Q::Response> {
        let limit = limit_of::<Q>(self.connection.side().handlers.request_timeout);
        let params = self
            .connection
            .peer()
            .and_then(|client| request.check(&client))
            .and_then(|()| write(Q::METHOD, request));
        Call::new(
            &self.connection,
            Q::METHOD.into(),
            params,
            limit,
            Some(self.parent()),
        )
    }

    /// Sends a request whose method and types this library does not know, or one that the client does not say it offers; see [`request`](Self::request).
    ///
    /// The [request timeout](super::AgentBuilder::request_timeout) applies, whatever the method is.
    ///
    /// # Errors
    ///
    /// As for [`request`](Self::request), but what the client offers is not looked at.
    ///
    /// # Cancel safety
    ///
    /// As for [`request`](Self::request).
    pub fn request_raw<R: DeserializeOwned + Send + 'static>(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &impl Serialize,
    ) -> Call<R> {
        let limit = self.connection.side().handlers.request_timeout;
        let method = method.into();
        let params = self.connection.peer().and_then(|_| write(&method, params));
        Call::new(&self.connection, method, params, limit, Some(self.parent()))
    }

    /// Sends a notification: one of the protocol's, or an extension.
    ///
    /// While the client reads more slowly than the agent sends, this waits, so that memory stays bounded.
    ///
    /// # Errors
    ///
    /// If it cannot be written as JSON, the request this context belongs to is over, or the connection is lost.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is done sends nothing.
    pub async fn notify<N: NotifiesClient>(&self, notification: &N) -> Result<(), Error> {
        self.notify_raw(N::METHOD, notification).await
    }

    /// Sends a notification whose method and type this library does not know; see [`notify`](Self::notify).
    ///
    /// # Errors
    ///
    /// As for [`notify`](Self::notify).
    ///
    /// # Cancel safety
    ///
    /// As for [`notify`](Self::notify).
    pub async fn notify_raw(&self, method: &str, params: &impl Serialize) -> Result<(), Error> {
        let parent = self.parent();
        self.connection.notify(method, params, Some(&parent)).await
    }

    /// The client: who it is and what it offers.
    ///
    /// # Errors
    ///
    /// If the connection is lost.
    pub fn client(&self) -> Result<ClientPeer, Error> {
        self.connection.peer()
    }

    /// A session, for its updates: the history of one that is loaded, for example.
    #[must_use]
    pub fn session(&self, id: impl Into<SessionId>) -> SessionHandle {
        SessionHandle::new(self.connection.clone(), id.into())
    }

    fn parent(&self) -> Parent {
        Parent {
            key: self.key,
            scope: Arc::clone(&self.scope),
        }
    }

    /// Whether the request is cancelled; once true, it stays true.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.scope.is_cancelled()
    }

    /// Why the request is cancelled, if it is.
    #[must_use]
    pub fn cause(&self) -> Option<CancelCause> {
        self.scope.cause()
    }

    /// Waits until the request is cancelled; for one that never is, for ever.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    pub async fn cancelled(&self) {
        self.scope.cancelled().await;
    }

    /// Has `callback` run once when the request is cancelled; see [`PromptContext::on_cancel`].
    pub fn on_cancel(&self, callback: impl FnOnce() + Send + 'static) {
        let mut callback: Option<Callback> = Some(Box::new(callback));
        self.connection.apply(|state, after| {
            if self.scope.is_cancelled() {
                after.call(callback.take());
            } else if let Some(open) = state.requests.get_mut(self.key) {
                open.callbacks.extend(callback.take());
            }
        });
        // A callback that will never run is dropped here, outside the lock.
    }
}

impl fmt::Debug for RequestContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestContext")
            .field("cause", &self.cause())
            .finish_non_exhaustive()
    }
}
