//! What a blocking handler can learn and do while it runs.

use std::{borrow::Cow, fmt, time::Duration};

use endturn_core::turn::agent::CancelCause;
use serde::{Serialize, de::DeserializeOwned};
use tokio::runtime::Handle;

use super::{SessionHandle, ThreadName, runtime::block_on};
use crate::{
    agent::{
        self,
        senders::{blocking_senders, for_each_update},
    },
    capabilities::ClientPeer,
    error::Error,
    request::{NotifiesClient, ToClient},
    schema::v1::{
        AvailableCommand, MessageId, PlanEntry, RequestPermissionRequest,
        RequestPermissionResponse, SessionConfigOption, SessionId, SessionModeId, SessionUpdate,
    },
};

/// A blocking handler's view of its own turn: what [`agent::PromptContext`] is to an async one, with the same names.
///
/// Its methods block the thread they are called on, and panic on a thread of an async runtime.
/// Once the turn is over, each of them fails at once.
///
/// ```
/// # use endturn::{HandlerResult, blocking::PromptContext, schema::v1::*};
/// # fn handler(cx: PromptContext) -> HandlerResult<()> {
/// use std::time::Duration;
/// use endturn::agent::TerminalCommand;
///
/// let notes = cx.read_text_file("/work/notes.md")?;
/// cx.send_message(format!("{} bytes of notes.", notes.len()))?;
/// let call = ToolCall::new("call-1", "Wait").kind(ToolKind::Other);
/// if cx.confirm(call.clone())?.is_allowed() {
///     cx.start_tool_call(call)?.run(|| cx.sleep(Duration::from_secs(1)))?;
/// }
/// let tests = cx.run_command(TerminalCommand::new("make").args(["test"]))?;
/// cx.send_message(tests.output)?;
/// while !cx.is_cancelled() {
///     cx.send_thought("Hm.")?;
///     cx.sleep(Duration::from_secs(1))?; // fails when the turn is cancelled
/// }
///
/// // What has no method here, or a limit of its own:
/// let read = ReadTextFileRequest::new(cx.session_id().clone(), "/work/a");
/// let read = cx.as_async().request(&read).timeout(Duration::from_secs(5));
/// cx.wait(read)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PromptContext {
    turn: agent::PromptContext,
    runtime: Handle,
}

impl PromptContext {
    /// For use on another thread than the current one.
    pub(crate) fn new(turn: agent::PromptContext) -> Self {
        let runtime = Handle::current();
        Self { turn, runtime }
    }

    /// The session this turn belongs to.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        self.turn.session_id()
    }

    /// Sends an update of this turn; see [`agent::PromptContext::send_update`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn send_update(&self, update: SessionUpdate) -> Result<(), Error> {
        self.wait(self.turn.send_update(update))
    }

    for_each_update!(blocking_senders);

    /// This turn's session, for updates that may come after the turn.
    #[must_use]
    pub fn session(&self) -> SessionHandle {
        SessionHandle::new(self.turn.session(), self.runtime.clone())
    }

    /// The client: who it is and what it offers; see [`agent::PromptContext::client`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn client(&self) -> Result<ClientPeer, Error> {
        self.turn.client()
    }

    /// Asks the user for a permission; see [`agent::PromptContext::request_permission`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn request_permission(
        &self,
        request: RequestPermissionRequest,
    ) -> Result<RequestPermissionResponse, Error> {
        self.wait(self.turn.request_permission(request))
    }

    /// Sends any request to the client on behalf of this turn; see [`agent::PromptContext::request`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn request<Q: ToClient>(&self, request: &Q) -> Result<Q::Response, Error> {
        self.wait(self.turn.request(request))
    }

    /// Sends a request whose method and types this library does not know; see [`agent::PromptContext::request_raw`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn request_raw<R: DeserializeOwned + Send + 'static>(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &impl Serialize,
    ) -> Result<R, Error> {
        self.wait(self.turn.request_raw(method, params))
    }

    /// Sends a notification; see [`agent::RequestContext::notify`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn notify<N: NotifiesClient>(&self, notification: &N) -> Result<(), Error> {
        self.wait(self.turn.notify(notification))
    }

    /// Sends a notification whose method and type this library does not know; see [`agent::RequestContext::notify_raw`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn notify_raw(&self, method: &str, params: &impl Serialize) -> Result<(), Error> {
        self.wait(self.turn.notify_raw(method, params))
    }

    /// Waits for anything the [async context](Self::as_async) does, a call with a timeout of its own for example.
    #[track_caller]
    pub fn wait<F: Future>(&self, future: F) -> F::Output {
        block_on(&self.runtime, future)
    }

    /// The async context of the same turn, for what has no method here; [`wait`](Self::wait) for what it gives.
    #[must_use]
    pub fn as_async(&self) -> &agent::PromptContext {
        &self.turn
    }

    /// Sleeps, and wakes up when the turn is cancelled.
    ///
    /// # Errors
    ///
    /// If the turn is cancelled, before or meanwhile, so that `?` ends the handler.
    #[track_caller]
    pub fn sleep(&self, duration: Duration) -> Result<(), Error> {
        self.wait(sleep_until_cancelled(duration, self.turn.cancelled()))
    }

    /// Whether the turn is cancelled; once true, it stays true.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.turn.is_cancelled()
    }

    /// Why the turn is cancelled, if it is; see [`agent::PromptContext::cause`].
    #[must_use]
    pub fn cause(&self) -> Option<CancelCause> {
        self.turn.cause()
    }

    /// Waits until the turn is cancelled; for a turn that never is, for ever.
    #[track_caller]
    pub fn cancelled(&self) {
        self.wait(self.turn.cancelled());
    }

    /// Has `callback` run once when the turn is cancelled, or at once if it is cancelled already; see [`agent::PromptContext::on_cancel`].
    pub fn on_cancel(&self, callback: impl FnOnce() + Send + 'static) {
        self.turn.on_cancel(callback);
    }
}

impl ThreadName for PromptContext {
    fn thread_name(&self) -> String {
        self.session_id().to_string()
    }
}

impl fmt::Debug for PromptContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.turn.fmt(f)
    }
}

/// A blocking handler's view of a request that is not a prompt; see [`agent::RequestContext`].
///
/// ```
/// use endturn::{Agent, schema::v1::NewSessionResponse};
///
/// let agent = Agent::builder().on_new_session_blocking(|_request, cx| {
///     println!("{:?}", cx.client()?.info());
///     cx.session("session-1").send_title("New")?;
///     Ok(NewSessionResponse::new("session-1"))
/// });
/// ```
#[derive(Clone)]
pub struct RequestContext {
    request: agent::RequestContext,
    runtime: Handle,
}

impl RequestContext {
    /// For use on another thread than the current one.
    pub(crate) fn new(request: agent::RequestContext) -> Self {
        let runtime = Handle::current();
        Self { request, runtime }
    }

    /// The client: who it is and what it offers; see [`agent::RequestContext::client`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn client(&self) -> Result<ClientPeer, Error> {
        self.request.client()
    }

    /// A session, for its updates; see [`agent::RequestContext::session`].
    #[must_use]
    pub fn session(&self, id: impl Into<SessionId>) -> SessionHandle {
        SessionHandle::new(self.request.session(id), self.runtime.clone())
    }

    /// Sends any request to the client on behalf of this one; see [`agent::RequestContext::request`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn request<Q: ToClient>(&self, request: &Q) -> Result<Q::Response, Error> {
        self.wait(self.request.request(request))
    }

    /// Sends a request whose method and types this library does not know; see [`agent::RequestContext::request_raw`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn request_raw<R: DeserializeOwned + Send + 'static>(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &impl Serialize,
    ) -> Result<R, Error> {
        self.wait(self.request.request_raw(method, params))
    }

    /// Sends a notification; see [`agent::RequestContext::notify`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn notify<N: NotifiesClient>(&self, notification: &N) -> Result<(), Error> {
        self.wait(self.request.notify(notification))
    }

    /// Sends a notification whose method and type this library does not know; see [`agent::RequestContext::notify_raw`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn notify_raw(&self, method: &str, params: &impl Serialize) -> Result<(), Error> {
        self.wait(self.request.notify_raw(method, params))
    }

    /// Waits for anything the [async context](Self::as_async) does, a call with a timeout of its own for example.
    #[track_caller]
    pub fn wait<F: Future>(&self, future: F) -> F::Output {
        block_on(&self.runtime, future)
    }

    /// The async context of the same request, for what has no method here; [`wait`](Self::wait) for what it gives.
    #[must_use]
    pub fn as_async(&self) -> &agent::RequestContext {
        &self.request
    }

    /// Sleeps, and wakes up when the request is cancelled.
    ///
    /// # Errors
    ///
    /// If the request is cancelled, before or meanwhile.
    #[track_caller]
    pub fn sleep(&self, duration: Duration) -> Result<(), Error> {
        self.wait(sleep_until_cancelled(duration, self.request.cancelled()))
    }

    /// Whether the request is cancelled; once true, it stays true.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.request.is_cancelled()
    }

    /// Why the request is cancelled, if it is.
    #[must_use]
    pub fn cause(&self) -> Option<CancelCause> {
        self.request.cause()
    }

    /// Waits until the request is cancelled; for one that never is, for ever.
    #[track_caller]
    pub fn cancelled(&self) {
        self.wait(self.request.cancelled());
    }

    /// Has `callback` run once when the request is cancelled; see [`agent::PromptContext::on_cancel`].
    pub fn on_cancel(&self, callback: impl FnOnce() + Send + 'static) {
        self.request.on_cancel(callback);
    }
}

impl ThreadName for RequestContext {
    fn thread_name(&self) -> String {
        self.request.method().to_owned()
    }
}

impl fmt::Debug for RequestContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.request.fmt(f)
    }
}

async fn sleep_until_cancelled(
    duration: Duration,
    cancelled: impl Future<Output = ()>,
) -> Result<(), Error> {
    tokio::select! {
        biased;
        () = cancelled => Err(Error::turn_over(true)),
        () = tokio::time::sleep(duration) => Ok(()),
    }
}
