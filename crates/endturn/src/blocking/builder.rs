//! Putting a blocking client together.

use std::{fmt, io, sync::Arc, time::Duration};

use serde::{Serialize, de::DeserializeOwned};

#[cfg(feature = "process")]
use super::AgentProcess;
use super::{
    Client,
    client::HandlersClient,
    runtime::{Runtime, assert_may_block},
    thread::run_on_thread,
};
#[cfg(feature = "process")]
use crate::transport::AgentCommand;
use crate::{
    client,
    error::{HandlerError, HandlerResult},
    request::ToClient,
    schema::v1::{
        CreateElicitationRequest, CreateElicitationResponse, RequestPermissionRequest,
        RequestPermissionResponse, SessionNotification,
    },
    transport::Transport,
};

/// Collects a blocking client's handlers and limits; made by [`Client::builder`].
///
/// The same as [`client::ClientBuilder`](crate::client::ClientBuilder), with handlers that are plain functions.
/// They run on threads of their own and may block: the connection goes on meanwhile, and what they ask through the client that they are given is answered.
#[must_use]
pub struct ClientBuilder {
    builder: client::ClientBuilder,
    client: HandlersClient,
}

impl Default for ClientBuilder {
    fn default() -> Self {
        Self {
            builder: client::ClientBuilder::default().with_blocking_updates(),
            client: HandlersClient::default(),
        }
    }
}

impl ClientBuilder {
    /// Handles `session/update`, one after the other for each session, in the order of the wire.
    ///
    /// A [prompt](Client::prompt) returns only when this handler has finished all updates of its turn.
    /// Sessions do not wait for each other.
    /// What is said of a handler that falls behind, that panics, and of updates that cannot be read, is said at [`ClientBuilder::on_update`](crate::client::ClientBuilder::on_update).
    pub fn on_update<F>(mut self, handle: F) -> Self
    where
        F: Fn(SessionNotification, Client) + Send + Sync + 'static,
    {
        let handle = Arc::new(handle);
        let client = self.client.clone();
        self.builder = self.builder.on_update(move |notification, _client| {
            let handle = Arc::clone(&handle);
            let client = client.clone();
            // What polls this is a thread that may be blocked.
            async move {
                if let Some(client) = client.wait() {
                    handle(notification, client);
                }
            }
        });
        self
    }

    /// Handles `session/request_permission`: asks the user, on a thread of its own that is named after the session.
    ///
    /// It is called when the updates before the question were handled, and runs beside those that follow.
    ///
    /// When the turn is cancelled, the question is answered with the outcome `cancelled`.
    /// Nothing can drop a thread, so the handler runs on until its function returns, and what it returns is discarded.
    ///
    /// Source: [Requesting permission](https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission).
    pub fn on_permission<F>(mut self, handle: F) -> Self
    where
        F: Fn(RequestPermissionRequest, Client) -> HandlerResult<RequestPermissionResponse>
            + Send
            + Sync
            + 'static,
    {
        let handle = Arc::new(handle);
        let client = self.client.clone();
        self.builder =
            self.builder
                .on_permission(move |request: RequestPermissionRequest, _client| {
                    let name = request.session_id.to_string();
                    ask(name, Arc::clone(&handle), request, client.clone())
                });
        self
    }

    /// Handles `elicitation/create`: asks the user for input, on a thread of its own.
    ///
    /// One that belongs to a session comes in order with its updates, as a [permission request](Self::on_permission) does, and is answered with the action `cancel` when the turn is cancelled; the handler then runs on as described there.
    ///
    /// Source: [Elicitation](https://agentclientprotocol.com/protocol/v1/elicitation).
    pub fn on_elicitation<F>(mut self, handle: F) -> Self
    where
        F: Fn(CreateElicitationRequest, Client) -> HandlerResult<CreateElicitationResponse>
            + Send
            + Sync
            + 'static,
    {
        let handle = Arc::new(handle);
        let client = self.client.clone();
        self.builder = self.builder.on_elicitation(move |request, _client| {
            let name = "elicitation".to_owned();
            ask(name, Arc::clone(&handle), request, client.clone())
        });
        self
    }

    /// Handles any other request of the agent, by its type; see [`client::ClientBuilder::on_request`](crate::client::ClientBuilder::on_request).
    pub fn on_request<Q, F>(mut self, handle: F) -> Self
    where
        Q: ToClient + DeserializeOwned + Send + 'static,
        Q::Response: Serialize + Send,
        F: Fn(Q, Client) -> HandlerResult<Q::Response> + Send + Sync + 'static,
    {
        let handle = Arc::new(handle);
        let client = self.client.clone();
        self.builder = self.builder.on_request(move |request, _client| {
            ask(
                Q::METHOD.to_owned(),
                Arc::clone(&handle),
                request,
                client.clone(),
            )
        });
        self
    }

    /// Is shown each line of the agent's output that is not JSON, a log line for example, with one sentence on what is most likely wrong.
    ///
    /// Such lines are skipped and otherwise do no harm.
    /// Unlike the other handlers it runs on the thread that reads, so it must be quick, and must not wait for anything that waits for this client.
    pub fn on_stray_output(
        mut self,
        show: impl Fn(&str, &'static str) + Send + Sync + 'static,
    ) -> Self {
        self.builder = self.builder.on_stray_output(show);
        self
    }

    /// How long a request to the agent may take; zero is for ever, and the default is that of [`ClientBuilder::request_timeout`](crate::client::ClientBuilder::request_timeout).
    pub fn request_timeout(mut self, limit: Duration) -> Self {
        self.builder = self.builder.request_timeout(limit);
        self
    }

    /// How long a prompt may take; zero, the default, is for ever. See [`ClientBuilder::prompt_timeout`](crate::client::ClientBuilder::prompt_timeout).
    pub fn prompt_timeout(mut self, limit: Duration) -> Self {
        self.builder = self.builder.prompt_timeout(limit);
        self
    }

    /// How long to wait for the answer to a prompt after `session/cancel`; zero, the default, is for ever. See [`ClientBuilder::cancel_timeout`](crate::client::ClientBuilder::cancel_timeout).
    pub fn cancel_timeout(mut self, limit: Duration) -> Self {
        self.builder = self.builder.cancel_timeout(limit);
        self
    }

    /// How long a line from the agent may be; see [`client::ClientBuilder::line_limit`](crate::client::ClientBuilder::line_limit).
    pub fn line_limit(mut self, bytes: usize) -> Self {
        self.builder = self.builder.line_limit(bytes);
        self
    }

    /// Has the async builder take something that does not block.
    #[cfg(any(feature = "files", feature = "process"))]
    pub(crate) fn with(
        mut self,
        change: impl FnOnce(client::ClientBuilder) -> client::ClientBuilder,
    ) -> Self {
        self.builder = change(self.builder);
        self
    }

    /// Starts the connection over the transport that `open` gives, and gives the client.
    ///
    /// `open` is called once, on this thread and in the context of the client's own runtime, because most transports need one:
    ///
    /// ```
    /// use endturn::{blocking, transport};
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let (near, far) = transport::memory();
    /// let client = blocking::Client::builder().connect(|| Ok(near))?;
    /// # drop((client, far));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// ```no_run
    /// use endturn::{blocking::Client, transport::Transport};
    /// use tokio::net::TcpStream;
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let socket = std::net::TcpStream::connect("localhost:4000")?;
    /// let client = Client::builder().connect(|| {
    ///     socket.set_nodelay(true)?;
    ///     socket.set_nonblocking(true)?;
    ///     let (reader, writer) = TcpStream::from_std(socket)?.into_split();
    ///     Ok(Transport::new(reader, writer))
    /// })?;
    /// # drop(client);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Nothing is sent yet; [`Client::initialize`] comes next.
    ///
    /// # Errors
    ///
    /// If `open` fails, or the system refuses a thread or what a runtime needs.
    ///
    /// # Panics
    ///
    /// On a thread that drives async tasks.
    #[track_caller]
    pub fn connect(self, open: impl FnOnce() -> io::Result<Transport>) -> io::Result<Client> {
        let ((), client) = self.start(|_runtime| Ok(((), open()?)))?;
        Ok(client)
    }

    /// Starts an agent as a child process, and the connection to it.
    ///
    /// To end both in good order, drop or [close](Client::close) the client, then [stop](AgentProcess::stop) the agent.
    /// If the two are simply dropped, in the order that Rust drops variables, the agent reads the end of its input and is then killed.
    ///
    /// # Errors
    ///
    /// If the program cannot be started, as [`AgentCommand::spawn`] says, or the system refuses a thread or what a runtime needs.
    ///
    /// # Panics
    ///
    /// On a thread that drives async tasks.
    #[cfg(feature = "process")]
    #[track_caller]
    pub fn spawn(self, command: &AgentCommand) -> io::Result<(AgentProcess, Client)> {
        self.start(|runtime| {
            let (process, transport) = command.spawn()?;
            Ok((AgentProcess::new(process, Arc::clone(runtime)), transport))
        })
    }

    /// Starts the connection; `open` gives its transport and what else comes of opening it.
    #[track_caller]
    fn start<T>(
        self,
        open: impl FnOnce(&Arc<Runtime>) -> io::Result<(T, Transport)>,
    ) -> io::Result<(T, Client)> {
        assert_may_block();
        let runtime = Arc::new(Runtime::start()?);
        let (opened, transport) = {
            let _context = runtime.handle().enter();
            open(&runtime)?
        };
        let client = Client::start(self.builder, &self.client, runtime, transport);
        Ok((opened, client))
    }
}

/// Has a question to the user answered on a thread of its own.
async fn ask<Q, R, F>(
    name: String,
    handle: Arc<F>,
    request: Q,
    client: HandlersClient,
) -> HandlerResult<R>
where
    Q: Send + 'static,
    R: Send + 'static,
    F: Fn(Q, Client) -> HandlerResult<R> + Send + Sync + 'static,
{
    run_on_thread(name, move || match client.wait() {
        Some(client) => handle(request, client),
        None => Err(HandlerError::internal("the program has dropped its client")),
    })
    .await
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("blocking::ClientBuilder")
            .finish_non_exhaustive()
    }
}
