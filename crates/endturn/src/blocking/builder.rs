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
    client::{self, UnknownUpdate},
    connection::BoxFuture,
    error::{HandlerError, HandlerResult},
    request::{NotifiesClient, ToClient},
    schema::v1::{ClientCapabilities, Implementation, SessionNotification},
    transport::Transport,
};

/// Collects a blocking client's handlers and limits; made by [`Client::builder`].
///
/// The same as [`client::ClientBuilder`](crate::client::ClientBuilder), with handlers that are plain functions.
/// They run on threads of their own and may block: the connection goes on meanwhile, and what they ask through the client that they are given is answered.
///
/// The examples there hold here, with closures that are not `async`.
///
/// ```no_run
/// use std::time::Duration;
///
/// use endturn::{blocking::Client, schema::v1::*, transport::AgentCommand};
///
/// # fn main() -> std::io::Result<()> {
/// let (agent, client) = Client::builder()
///     .info(Implementation::new("my-editor", "2.0"))
///     .on_update(|notification, _client| println!("{:?}", notification.update))
///     .on_permission(|question, _client| {
///         println!("{:?}", question.tool_call.fields.title);
///         Ok(RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled))
///     })
///     .on_read_text_file(|request, _client| {
///         Ok(ReadTextFileResponse::new(std::fs::read_to_string(request.path)?))
///     })
///     .on_request_raw("_example.com/ping", |_: serde_json::Value, _client| Ok("pong"))
///     .on_stray_output(|line, advice| eprintln!("{line} ({advice})"))
///     .request_timeout(Duration::from_secs(30))
///     .cancel_timeout(Duration::from_secs(10))
///     .spawn(&AgentCommand::new("my-agent"))?;
/// # drop((client, agent));
/// # Ok(())
/// # }
/// ```
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

    /// Handles any other request of the agent, by its type; see [`client::ClientBuilder::on_request`](crate::client::ClientBuilder::on_request).
    pub fn on_request<Q, F>(self, handle: F) -> Self
    where
        Q: ToClient + DeserializeOwned + Send + 'static,
        Q::Response: Serialize + Send,
        F: Fn(Q, Client) -> HandlerResult<Q::Response> + Send + Sync + 'static,
    {
        self.on(Q::METHOD, |_request| Q::METHOD.to_owned(), handle)
    }

    /// Handles the requests of a method by its name; see [`client::ClientBuilder::on_request_raw`](crate::client::ClientBuilder::on_request_raw).
    pub fn on_request_raw<P, R, F>(self, method: &'static str, handle: F) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        R: Serialize + Send + 'static,
        F: Fn(P, Client) -> HandlerResult<R> + Send + Sync + 'static,
    {
        self.on(method, |_request| method.to_owned(), handle)
    }

    /// Handles a notification of the agent, by its type, on a thread of its own; see [`client::ClientBuilder::on_notification`](crate::client::ClientBuilder::on_notification).
    pub fn on_notification<N, F>(self, handle: F) -> Self
    where
        N: NotifiesClient + DeserializeOwned + Send + 'static,
        F: Fn(N, Client) + Send + Sync + 'static,
    {
        self.on_notification_raw(N::METHOD, handle)
    }

    /// Handles the notifications of a method by its name, on a thread of its own; see [`client::ClientBuilder::on_notification_raw`](crate::client::ClientBuilder::on_notification_raw).
    pub fn on_notification_raw<P, F>(mut self, method: &'static str, handle: F) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        F: Fn(P, Client) + Send + Sync + 'static,
    {
        let handle = telling(method, handle, &self.client);
        self.builder = self.builder.on_notification_raw(method, handle);
        self
    }

    /// Handles updates that this library cannot read, on a thread of its own; see [`client::ClientBuilder::on_unknown_update`](crate::client::ClientBuilder::on_unknown_update).
    pub fn on_unknown_update<F>(mut self, handle: F) -> Self
    where
        F: Fn(UnknownUpdate, Client) + Send + Sync + 'static,
    {
        let handle = telling("unknown update", handle, &self.client);
        self.builder = self.builder.on_unknown_update(handle);
        self
    }

    /// The client's name and version; see [`client::ClientBuilder::info`](crate::client::ClientBuilder::info).
    pub fn info(mut self, info: Implementation) -> Self {
        self.builder = self.builder.info(info);
        self
    }

    /// What the client offers, instead of what its handlers show; see [`client::ClientBuilder::capabilities`](crate::client::ClientBuilder::capabilities).
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.builder = self.builder.capabilities(capabilities);
        self
    }

    /// What the client offers, made from what its handlers show; see [`client::ClientBuilder::adjust_capabilities`](crate::client::ClientBuilder::adjust_capabilities).
    pub fn adjust_capabilities(
        mut self,
        adjust: impl Fn(ClientCapabilities) -> ClientCapabilities + Send + Sync + 'static,
    ) -> Self {
        self.builder = self.builder.adjust_capabilities(adjust);
        self
    }

    /// Keeps what holds of each session after its updates; see [`client::ClientBuilder::track_sessions`](crate::client::ClientBuilder::track_sessions).
    pub fn track_sessions(mut self) -> Self {
        self.builder = self.builder.track_sessions();
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

    /// Handles a method, on threads that are named after what the request is about.
    pub(super) fn on<P, R, F>(
        mut self,
        method: &'static str,
        name: impl Fn(&P) -> String + Send + Sync + 'static,
        handle: F,
    ) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        R: Serialize + Send + 'static,
        F: Fn(P, Client) -> HandlerResult<R> + Send + Sync + 'static,
    {
        let handle = Arc::new(handle);
        let client = self.client.clone();
        self.builder = self
            .builder
            .on_request_raw(method, move |request, _client| {
                ask(name(&request), Arc::clone(&handle), request, client.clone())
            });
        self
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

/// Has a notification handled on a thread of its own.
fn telling<P, F>(
    name: &'static str,
    handle: F,
    client: &HandlersClient,
) -> impl Fn(P, client::Client) -> BoxFuture<()> + Send + Sync + use<P, F>
where
    P: Send + 'static,
    F: Fn(P, Client) + Send + Sync + 'static,
{
    let handle = Arc::new(move |params, client| -> HandlerResult<()> {
        handle(params, client);
        Ok(())
    });
    let client = client.clone();
    move |params, _client| {
        let told = ask(name.to_owned(), Arc::clone(&handle), params, client.clone());
        Box::pin(async move {
            if let Err(error) = told.await {
                tracing::warn!(name, %error, "a notification was not handled");
            }
        })
    }
}

/// Has a request handled on a thread of its own.
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
