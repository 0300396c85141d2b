//! The client for programs without a runtime.

use std::{
    borrow::Cow,
    fmt,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use serde::{Serialize, de::DeserializeOwned};

use super::{
    ClientBuilder,
    runtime::{Runtime, block_on, finish},
};
use crate::{
    CancellationSignal,
    capabilities::AgentPeer,
    client,
    error::Error,
    request::{NotifiesAgent, Request, ToAgent},
    schema::v1::{
        AuthenticateRequest, CloseSessionRequest, DeleteSessionRequest, InitializeRequest,
        InitializeResponse, ListSessionsRequest, LoadSessionRequest, LogoutRequest,
        NewSessionRequest, PromptRequest, PromptResponse, ResumeSessionRequest, SessionId,
        SetSessionConfigOptionRequest, SetSessionModeRequest,
    },
    transport::Transport,
};

/// A connection to an agent for programs without an async runtime: what [`endturn::Client`](crate::Client) is to one with it, with the same names.
///
/// Each method blocks the thread that it is called on until its result is there; any number of threads can use one client at the same time, through clones or by reference.
/// Behind it stands one thread with a runtime of its own, which reads, writes and keeps the time.
///
/// # What dropping it does
///
/// Clones are the same connection.
/// When the last of them is dropped, the connection is closed: what has its place on the wire is written, the agent reads the end of its input, and the thread behind it ends.
/// The drop waits for that, for up to two seconds if the agent does not read.
/// It does not wait for handlers that are still running: their calls fail from then on, and the thread ends with the last of them.
/// The client that a handler is given does not keep the connection open, nor do clones of it, so a handler that never returns cannot keep the agent from learning that the program has left.
///
/// # Panics
///
/// Methods that block panic on a thread that drives async tasks, because every task on it would have to wait.
/// A thread of [`tokio::task::spawn_blocking`] may block.
///
/// # Examples
///
/// The calls are those of the async client, without `.await`:
///
/// ```
/// # fn example(client: endturn::blocking::Client) -> Result<(), endturn::Error> {
/// use endturn::schema::v1::*;
///
/// println!("{:?}", client.agent()?.info());
/// for session in client.list_sessions(ListSessionsRequest::new())?.sessions {
///     println!("{}", session.session_id);
/// }
/// client.load_session(LoadSessionRequest::new("session-1", "/work"))?;
/// client.set_mode(SetSessionModeRequest::new("session-1", "plan"))?;
/// client.close_session(CloseSessionRequest::new("session-1"))?;
/// let answer: serde_json::Value = client.request_raw("_example.com/stats", &serde_json::json!({}))?;
/// client.notify_raw("_example.com/seen", &answer)?;
/// # Ok(())
/// # }
/// ```
///
/// A whole program:
///
/// ```no_run
/// use endturn::{
///     CancellationSignal,
///     blocking::Client,
///     schema::{ProtocolVersion, v1::*},
///     transport::AgentCommand,
/// };
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let (agent, client) = Client::builder()
///         .on_update(|notification, _client| println!("{:?}", notification.update))
///         .spawn(&AgentCommand::new("my-agent"))?;
///     client.initialize(InitializeRequest::new(ProtocolVersion::V1))?;
///     let session = client.new_session(NewSessionRequest::new("/work"))?;
///
///     let stop = CancellationSignal::new();
///     let response = std::thread::scope(|threads| {
///         threads.spawn(|| {
///             std::io::stdin().read_line(&mut String::new()).ok();
///             stop.cancel(); // The user has pressed Enter.
///         });
///         let text = ContentBlock::Text(TextContent::new("Tidy up"));
///         client.prompt(PromptRequest::new(session.session_id, vec![text]), &stop)
///     })?;
///     println!("{:?}", response.stop_reason);
///
///     drop(client);
///     agent.stop()?;
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Client {
    connection: Arc<Connection>,
    /// A handler's client has none.
    _open: Option<Arc<Open>>,
}

/// The connection and what it runs on, which are there until nobody can use them any more.
struct Connection {
    client: client::Client,
    runtime: Arc<Runtime>,
    /// The program has dropped its last client.
    left: AtomicBool,
}

/// Closes the connection when the last client of the program is dropped.
///
/// No handler has one even for a moment: the program's last would not be the last then, and would not wait.
struct Open(Arc<Connection>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.left.store(true, Ordering::Relaxed);
        self.0.client.close();
        // A program can have its last client dropped anywhere, and on the runtime's own thread the end would never come.
        if !self.0.runtime.is_on_this_thread() {
            drop(finish(self.0.client.closed()));
        }
    }
}

/// Where handlers find the client, which is made after them.
#[derive(Clone, Default)]
pub(super) struct HandlersClient(Arc<OnceLock<Weak<Connection>>>);

impl HandlersClient {
    /// The client for a handler; `None` when the program has dropped its own.
    ///
    /// It blocks for the moment in which a first message can be there before the client.
    pub(super) fn wait(&self) -> Option<Client> {
        let connection = self.0.wait().upgrade()?;
        if connection.left.load(Ordering::Relaxed) {
            return None;
        }
        Some(Client {
            connection,
            _open: None,
        })
    }
}

impl Client {
    /// A client without handlers, to which they are added.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Starts the connection.
    pub(super) fn start(
        builder: client::ClientBuilder,
        handlers: &HandlersClient,
        runtime: Arc<Runtime>,
        transport: Transport,
    ) -> Self {
        let client = {
            let _context = runtime.handle().enter();
            builder.connect(transport)
        };
        // The runtime goes on until the end of the connection, even if nobody waits for it.
        let (connected, user) = (client.clone(), runtime.user());
        runtime.handle().spawn(async move {
            drop(connected.closed().await);
            drop(user);
        });
        let connection = Arc::new(Connection {
            client,
            runtime,
            left: AtomicBool::new(false),
        });
        // A builder is used once, so nobody has set it.
        drop(handlers.0.set(Arc::downgrade(&connection)));
        let open = Some(Arc::new(Open(Arc::clone(&connection))));
        Self {
            connection,
            _open: open,
        }
    }

    /// Opens the conversation: versions, capabilities, and who is who; see [`Client::initialize`](client::Client::initialize).
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn initialize(&self, request: InitializeRequest) -> Result<InitializeResponse, Error> {
        self.wait(self.as_async().initialize(request))
    }

    /// The agent: who it is and what it offers; see [`Client::agent`](client::Client::agent).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn agent(&self) -> Result<AgentPeer, Error> {
        self.as_async().agent()
    }

    /// Sends any request but a prompt, and waits for its answer.
    ///
    /// # Errors
    ///
    /// As for [`Client::request`](client::Client::request).
    #[track_caller]
    pub fn request<Q: ToAgent>(&self, request: &Q) -> Result<Q::Response, Error> {
        self.wait(self.as_async().request(request))
    }

    /// Sends a request whose method and types this library does not know, and waits for its answer.
    ///
    /// # Errors
    ///
    /// As for [`request`](Self::request).
    #[track_caller]
    pub fn request_raw<R: DeserializeOwned + Send + 'static>(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &impl Serialize,
    ) -> Result<R, Error> {
        self.wait(self.as_async().request_raw(method, params))
    }

    /// Sends a notification; see [`Client::notify`](client::Client::notify).
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn notify<N: NotifiesAgent>(&self, notification: &N) -> Result<(), Error> {
        self.wait(self.as_async().notify(notification))
    }

    /// Sends a notification whose method and type this library does not know; see [`Client::notify_raw`](client::Client::notify_raw).
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn notify_raw(&self, method: &str, params: &impl Serialize) -> Result<(), Error> {
        self.wait(self.as_async().notify_raw(method, params))
    }

    /// Runs one turn: sends the prompt and gives the agent's answer, when the update handler has finished all updates of the turn.
    ///
    /// A `signal`, if one is given (`&stop`, or `None`), ends the turn when another thread cancels it: the client sends `session/cancel`, answers open permission requests with the outcome `cancelled`, and this call still gives the agent's answer.
    /// A signal that is cancelled already lets the prompt out and the cancel right behind it.
    ///
    /// Without a signal, and without a [prompt timeout](ClientBuilder::prompt_timeout), only the agent and the end of the connection can end it.
    ///
    /// Source: [Prompt turn](https://agentclientprotocol.com/protocol/v1/prompt-turn).
    ///
    /// # Errors
    ///
    /// As for [`Client::prompt`](client::Client::prompt): the session has a turn ([busy](Error::is_busy), nothing is sent), the agent answers with an error or with something unreadable, a timeout passes, or the connection is lost.
    #[track_caller]
    pub fn prompt<'a>(
        &self,
        request: PromptRequest,
        signal: impl Into<Option<&'a CancellationSignal>>,
    ) -> Result<PromptResponse, Error> {
        self.wait(self.as_async().prompt(request, signal))
    }

    /// Sends `session/cancel` for the session's turn, as the signal of its prompt does; see [`Client::cancel`](client::Client::cancel).
    ///
    /// It does not wait for anything, so it can be called anywhere: the turn ends with the answer to its prompt.
    pub fn cancel(&self, session: &SessionId) {
        self.as_async().cancel(session);
    }

    /// Closes the connection: open calls fail, what has its place on the wire is written, and the agent reads the end of its input.
    ///
    /// It waits for that, for up to two seconds if the agent does not read.
    #[track_caller]
    pub fn close(&self) {
        drop(self.wait(async {
            self.as_async().close();
            self.as_async().closed().await
        }));
    }

    /// Waits for the end of the connection, and says how it came.
    #[track_caller]
    #[must_use]
    pub fn closed(&self) -> Error {
        self.wait(self.as_async().closed())
    }

    /// Waits for anything the [async client](Self::as_async) does, a call with a timeout of its own for example.
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// use endturn::{Error, blocking::Client, schema::v1::*};
    ///
    /// fn sessions(client: &Client) -> Result<ListSessionsResponse, Error> {
    ///     let list = client.as_async().list_sessions(ListSessionsRequest::new());
    ///     client.wait(list.timeout(Duration::from_secs(5)))
    /// }
    /// ```
    #[track_caller]
    pub fn wait<F: Future>(&self, future: F) -> F::Output {
        block_on(self.connection.runtime.handle(), future)
    }

    /// The async client of the same connection, for what has no method here; [`wait`](Self::wait) for what it gives.
    ///
    /// Clones of it do not keep the connection open.
    #[must_use]
    pub fn as_async(&self) -> &client::Client {
        &self.connection.client
    }
}

/// Makes a method for each request that has one on the async client.
macro_rules! calls {
    ($($name:ident($request:ident), $does:literal;)*) => {
        impl Client {
            $(
                #[doc = concat!($does, "; see [`Client::", stringify!($name), "`](client::Client::", stringify!($name), ").")]
                #[doc = ""]
                #[doc = "# Errors"]
                #[doc = ""]
                #[doc = "As for [`request`](Self::request)."]
                #[track_caller]
                pub fn $name(
                    &self,
                    request: $request,
                ) -> Result<<$request as Request>::Response, Error> {
                    self.request(&request)
                }
            )*
        }
    };
}

calls! {
    authenticate(AuthenticateRequest), "Logs the user in";
    logout(LogoutRequest), "Logs the user out";
    new_session(NewSessionRequest), "Opens a session";
    load_session(LoadSessionRequest), "Takes up a saved session with its history";
    resume_session(ResumeSessionRequest), "Takes up a saved session without its history";
    list_sessions(ListSessionsRequest), "Gives one page of the saved sessions";
    delete_session(DeleteSessionRequest), "Forgets a saved session";
    set_mode(SetSessionModeRequest), "Puts a session into another one of its modes";
    set_config_option(SetSessionConfigOptionRequest), "Sets one of a session's config options";
    close_session(CloseSessionRequest), "Closes a session: its turn is cancelled, and the agent frees what it holds for it";
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("blocking::Client").finish_non_exhaustive()
    }
}
