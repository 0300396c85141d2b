//! Putting a client together.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{
    Client, Handle,
    side::{ClientSide, Handlers, UpdateHandler},
};
use crate::{
    connection::{Connection, drive, handler, notification_handler},
    error::HandlerResult,
    request::{NotifiesClient, ToClient},
    schema::v1::{ClientCapabilities, Implementation, SessionId, SessionNotification},
    transport::Transport,
};

/// Collects a client's handlers and limits; made by [`Client::builder`].
///
/// Handlers never hold up the connection.
/// They get a [`Client`] to make requests of their own with.
/// A request of the agent without a handler is answered `-32601`.
///
/// ```
/// use std::time::Duration;
///
/// use endturn::{Client, schema::v1::*, transport};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let (near, far) = transport::memory();
/// let client = Client::builder()
///     .info(Implementation::new("my-editor", "2.0"))
///     .on_update(|notification, _client| async move { println!("{:?}", notification.update) })
///     .on_permission(|_question, _client| async {
///         Ok(RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled))
///     })
///     .on_stray_output(|line, advice| eprintln!("{line} ({advice})"))
///     .track_sessions()
///     .request_timeout(Duration::from_secs(30))
///     .prompt_timeout(Duration::from_secs(3600))
///     .cancel_timeout(Duration::from_secs(10))
///     .line_limit(16 * 1024 * 1024)
///     .connect(near);
/// # drop((client, far));
/// # }
/// ```
#[derive(Default)]
#[must_use]
pub struct ClientBuilder {
    handlers: Handlers,
}

impl ClientBuilder {
    /// Handles `session/update`, one after the other for each session, in the order of the wire.
    ///
    /// A prompt returns only when this handler has finished all updates of its turn.
    /// While a handler falls behind by a mebibyte, reading pauses, so that memory stays bounded; it goes on when the handler makes a request of its own, since the answer has to be read.
    /// A handler that panics loses that one update.
    /// An update that cannot be read (its kind is newer than this library, or it breaks the schema) goes to [`on_unknown_update`](Self::on_unknown_update).
    ///
    /// ```
    /// use endturn::{Client, schema::v1::{ContentBlock, SessionUpdate}};
    ///
    /// let builder = Client::builder().on_update(|notification, _client| async move {
    ///     if let SessionUpdate::AgentMessageChunk(chunk) = notification.update
    ///         && let ContentBlock::Text(text) = chunk.content
    ///     {
    ///         print!("{}", text.text);
    ///     }
    /// });
    /// ```
    ///
    /// Source: [Agent reports output](https://agentclientprotocol.com/protocol/v1/prompt-turn#3-agent-reports-output).
    pub fn on_update<F, Fut>(mut self, handle: F) -> Self
    where
        F: Fn(SessionNotification, Client) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let handle: UpdateHandler =
            Box::new(move |notification, client| Box::pin(handle(notification, client)));
        self.handlers.update = Some(handle);
        self
    }

    /// Keeps what holds of each session after its updates, for [`Session::state`](super::Session::state).
    ///
    /// It is off by default because not every program shows it, and it takes memory: what the agent has said last of each thing, and the last 1,024 tool calls, for up to 1,024 sessions.
    /// A session is forgotten when it is closed or deleted.
    ///
    /// ```
    /// use endturn::{Client, client::Session};
    ///
    /// let builder = Client::builder().track_sessions().on_update(|notification, client| async move {
    ///     let session = Session::of(&client, notification.session_id);
    ///     if let Some(plan) = session.state().and_then(|state| state.plan().cloned()) {
    ///         println!("{} steps", plan.entries.len());
    ///     }
    /// });
    /// ```
    pub fn track_sessions(mut self) -> Self {
        self.handlers.tracks_sessions = true;
        self
    }

    /// Lets the update handler block the thread that it runs on.
    pub(crate) fn with_blocking_updates(mut self) -> Self {
        self.handlers.update_blocks = true;
        self
    }

    /// Handles any other request of the agent, by its type: one of the protocol's, or an extension.
    ///
    /// ```
    /// use endturn::{Client, schema::v1::{ReadTextFileRequest, ReadTextFileResponse}};
    ///
    /// let builder = Client::builder().on_request(|request: ReadTextFileRequest, _client| async move {
    ///     Ok(ReadTextFileResponse::new(std::fs::read_to_string(request.path)?))
    /// });
    /// ```
    ///
    /// One that names a session comes in order with its updates.
    /// What an extension wants to be announced in `initialize` is added with [`adjust_capabilities`](Self::adjust_capabilities).
    pub fn on_request<Q, F, Fut>(self, handle: F) -> Self
    where
        Q: ToClient + DeserializeOwned + Send + 'static,
        Q::Response: Serialize,
        F: Fn(Q, Client) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = HandlerResult<Q::Response>> + Send + 'static,
    {
        self.on(Q::METHOD, handle)
    }

    /// Handles the requests of a method by its name, with parameters of any type: [`Value`](serde_json::Value) or [`Box<RawValue>`](serde_json::value::RawValue) for all that is in them.
    ///
    /// ```
    /// use endturn::Client;
    /// use serde_json::{Value, json};
    ///
    /// let builder = Client::builder().on_request_raw("_example.com/lint", |params: Value, _client| async move {
    ///     println!("{}", params["path"]);
    ///     Ok(json!({ "warnings": 0 }))
    /// });
    /// ```
    pub fn on_request_raw<P, R, F, Fut>(self, method: &'static str, handle: F) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        R: Serialize,
        F: Fn(P, Client) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = HandlerResult<R>> + Send + 'static,
    {
        self.on(method, handle)
    }

    /// Handles a notification of the agent, by its type: one of the protocol's, or an extension.
    ///
    /// One that names a session comes in order with its updates; any other runs on a task of its own, so nothing is promised about the order of two of them.
    ///
    /// ```
    /// use endturn::{Client, schema::v1::CompleteElicitationNotification};
    ///
    /// let builder = Client::builder().on_notification(
    ///     |done: CompleteElicitationNotification, _client| async move {
    ///         println!("the user is back from {}", done.elicitation_id);
    ///     },
    /// );
    /// ```
    pub fn on_notification<N, F, Fut>(self, handle: F) -> Self
    where
        N: NotifiesClient + DeserializeOwned + Send + 'static,
        F: Fn(N, Client) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.on_notification_raw(N::METHOD, handle)
    }

    /// Handles the notifications of a method by its name, with parameters of any type; see [`on_notification`](Self::on_notification).
    ///
    /// One for `session/update` sees each update as it came, with fields and kinds that this library does not know, right before [`on_update`](Self::on_update) does.
    ///
    /// ```
    /// use endturn::Client;
    /// use serde_json::Value;
    ///
    /// let builder = Client::builder().on_notification_raw("session/update", |params: Value, _client| async move {
    ///     println!("{}", params["update"]["_meta"]);
    /// });
    /// ```
    pub fn on_notification_raw<P, F, Fut>(mut self, method: &'static str, handle: F) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        F: Fn(P, Client) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let handle = notification_handler(handle);
        self.handlers.notifications.insert(method, handle);
        self
    }

    /// Handles updates that this library cannot read, because their kind is newer or because they break the schema; in order with those that [`on_update`](Self::on_update) sees.
    ///
    /// Without it they are logged and skipped.
    ///
    /// ```
    /// use endturn::Client;
    ///
    /// let builder = Client::builder().on_unknown_update(|unread, _client| async move {
    ///     println!("{} says {}", unread.session_id, unread.update);
    /// });
    /// ```
    ///
    /// Policy of this SDK.
    pub fn on_unknown_update<F, Fut>(mut self, handle: F) -> Self
    where
        F: Fn(UnknownUpdate, Client) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.handlers.unknown_update = Some(notification_handler(handle));
        self
    }

    /// The client's name and version, for a request to [initialize](Client::initialize) that does not say them itself.
    ///
    /// Source: [Initialization](https://agentclientprotocol.com/protocol/v1/initialization).
    pub fn info(mut self, info: Implementation) -> Self {
        self.handlers.info = Some(info);
        self
    }

    /// What the client offers, instead of what its handlers show; for a request to [initialize](Client::initialize) that does not say it itself.
    ///
    /// ```
    /// use endturn::{Client, schema::v1::ClientCapabilities};
    ///
    /// let builder = Client::builder().capabilities(ClientCapabilities::new().terminal(true));
    /// ```
    ///
    /// Source: [Initialization](https://agentclientprotocol.com/protocol/v1/initialization#client-capabilities).
    pub fn capabilities(self, capabilities: ClientCapabilities) -> Self {
        self.adjust_capabilities(move |_derived| capabilities.clone())
    }

    /// What the client offers, made from what its handlers show; for a request to [initialize](Client::initialize) that does not say it itself.
    ///
    /// A client offers to read files, or to write them, if there is a handler for it; terminals, if there is one for each of their methods; forms, if there is one for [elicitations](Self::on_elicitation); and web pages, if there is one for their [completion](Self::on_elicitation_complete) too.
    ///
    /// ```
    /// use endturn::{Client, schema::v1::{ClientSessionCapabilities, NoticeCapabilities}};
    ///
    /// let builder = Client::builder().adjust_capabilities(|derived| {
    ///     let session = ClientSessionCapabilities::new().notices(NoticeCapabilities::new());
    ///     derived.session(session)
    /// });
    /// ```
    ///
    /// Source: [Initialization](https://agentclientprotocol.com/protocol/v1/initialization#client-capabilities).
    pub fn adjust_capabilities(
        mut self,
        adjust: impl Fn(ClientCapabilities) -> ClientCapabilities + Send + Sync + 'static,
    ) -> Self {
        self.handlers.adjust_capabilities = Box::new(adjust);
        self
    }

    /// Is shown each line of the agent's output that is no message, a log line for example, with one sentence on what is most likely wrong.
    ///
    /// Such lines are skipped and otherwise do no harm; one that was over the [limit](Self::line_limit) is shown as an empty one.
    /// It runs on the task that reads, so it must be quick and must not block.
    pub fn on_stray_output(
        mut self,
        show: impl Fn(&str, &'static str) + Send + Sync + 'static,
    ) -> Self {
        self.handlers.stray = Some(Box::new(show));
        self
    }

    /// How long a request to the agent may take; zero is for ever, the default is 60 s.
    ///
    /// It does not apply to prompts, nor to requests that are [open-ended](crate::request::Request::OPEN_ENDED), such as `authenticate`.
    ///
    /// When it has passed, the agent is sent one `$/cancel_request` and the call fails with a [timeout](crate::Error::is_timeout).
    ///
    /// Policy of this SDK.
    pub fn request_timeout(mut self, limit: Duration) -> Self {
        self.handlers.request_timeout = limit;
        self
    }

    /// How long a prompt may take; zero, the default, is for ever.
    ///
    /// When it has passed, the agent is sent one `$/cancel_request` and the prompt fails with a [timeout](crate::Error::is_timeout).
    /// It is off by default because nobody can tell a long turn from one that hangs.
    ///
    /// Policy of this SDK.
    pub fn prompt_timeout(mut self, limit: Duration) -> Self {
        self.handlers.prompt_timeout = limit;
        self
    }

    /// How long to wait for the answer to a prompt after `session/cancel`; zero, the default, is for ever.
    ///
    /// When it has passed, the agent is sent one `$/cancel_request` and the prompt fails with [`ErrorKind::CancelTimedOut`](crate::ErrorKind::CancelTimedOut).
    /// The session takes the next prompt then.
    ///
    /// Policy of this SDK.
    pub fn cancel_timeout(mut self, limit: Duration) -> Self {
        self.handlers.cancel_timeout = limit;
        self
    }

    /// How long a line from the agent may be, in bytes; the default is 64 MiB.
    ///
    /// That is room for some images in one message, and an end to what a broken peer can make this side hold.
    /// A longer line is dropped up to its end; the connection goes on.
    ///
    /// Policy of this SDK.
    pub fn line_limit(mut self, bytes: usize) -> Self {
        self.handlers.limits.line = bytes;
        self
    }

    /// Starts the connection on a task of its own, and gives the client.
    ///
    /// Nothing is sent yet; [`Client::initialize`] comes next.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    #[must_use = "dropping the client closes the connection"]
    pub fn connect(self, transport: Transport) -> Client {
        let limits = self.handlers.limits;
        let handle = Arc::new_cyclic(|handle| {
            let side = ClientSide::new(self.handlers, handle.clone());
            Handle {
                connection: Connection::new(side, limits),
            }
        });
        let driving = drive(handle.connection.clone(), transport);
        tokio::spawn(async move {
            if let Err(error) = driving.await {
                tracing::warn!(%error, "the connection to the agent failed");
            }
        });
        Client { handle }
    }

    pub(super) fn on<P, R, F, Fut>(mut self, method: &'static str, handle: F) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        R: Serialize,
        F: Fn(P, Client) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = HandlerResult<R>> + Send + 'static,
    {
        self.handlers
            .requests
            .insert(method, handler(method, handle));
        self
    }
}

/// An update that this library has no type for; see [`ClientBuilder::on_unknown_update`].
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UnknownUpdate {
    /// The session it is about.
    pub session_id: SessionId,
    /// What it says, as it came.
    pub update: Box<RawValue>,
}
