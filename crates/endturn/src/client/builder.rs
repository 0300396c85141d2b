//! Putting a client together.

use std::{sync::Arc, time::Duration};

use serde::{Serialize, de::DeserializeOwned};

use super::{
    Client, Handle,
    side::{ClientSide, Handlers, UpdateHandler},
};
use crate::{
    connection::{Connection, drive, handler},
    error::HandlerResult,
    request::ToClient,
    schema::v1::{
        CLIENT_METHOD_NAMES, CreateElicitationRequest, CreateElicitationResponse,
        RequestPermissionRequest, RequestPermissionResponse, SessionNotification,
    },
    transport::Transport,
};

/// Collects a client's handlers and limits; made by [`Client::builder`].
///
/// Handlers never hold up the connection.
/// They get a [`Client`] to make requests of their own with.
/// A request of the agent without a handler is answered `-32601`.
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
    /// An update that cannot be read (its kind is newer than this library, or it breaks the schema) is logged and skipped.
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

    /// Lets the update handler block the thread that it runs on.
    pub(crate) fn with_blocking_updates(mut self) -> Self {
        self.handlers.update_blocks = true;
        self
    }

    /// Handles `session/request_permission`: asks the user.
    ///
    /// It is called when the updates before the question were handled, and runs beside those that follow.
    /// When the turn is cancelled, the question is answered with the outcome `cancelled` and the handler is dropped; a question that comes up later in that turn is answered so without asking.
    ///
    /// Source: [Requesting permission](https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission).
    pub fn on_permission<F, Fut>(mut self, handle: F) -> Self
    where
        F: Fn(RequestPermissionRequest, Client) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = HandlerResult<RequestPermissionResponse>> + Send + 'static,
    {
        let method = CLIENT_METHOD_NAMES.session_request_permission;
        self.handlers.requests.insert(method, handler(handle));
        self
    }

    /// Handles `elicitation/create`: asks the user for input.
    ///
    /// One that belongs to a session comes in order with its updates, as a [permission request](Self::on_permission) does, and is answered with the action `cancel` when the turn is cancelled.
    ///
    /// Source: [Elicitation](https://agentclientprotocol.com/protocol/v1/elicitation).
    pub fn on_elicitation<F, Fut>(mut self, handle: F) -> Self
    where
        F: Fn(CreateElicitationRequest, Client) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = HandlerResult<CreateElicitationResponse>> + Send + 'static,
    {
        let method = CLIENT_METHOD_NAMES.elicitation_create;
        self.handlers.requests.insert(method, handler(handle));
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
    /// What the protocol wants a client to offer before an agent may ask has to be declared in the request to [initialize](Client::initialize).
    pub fn on_request<Q, F, Fut>(mut self, handle: F) -> Self
    where
        Q: ToClient + DeserializeOwned + Send + 'static,
        Q::Response: Serialize,
        F: Fn(Q, Client) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = HandlerResult<Q::Response>> + Send + 'static,
    {
        self.handlers.requests.insert(Q::METHOD, handler(handle));
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

    /// How long a request to the agent may take, prompts excepted; zero is for ever, the default is 60 s.
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
}
