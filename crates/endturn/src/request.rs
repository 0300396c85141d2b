//! Requests by their type.

use std::{
    borrow::Cow,
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    CancellationSignal,
    connection::{BoxFuture, CallOptions, Connection, Parent, Side},
    error::Error,
    schema::v1::{
        AGENT_METHOD_NAMES, AuthenticateRequest, AuthenticateResponse, CLIENT_METHOD_NAMES,
        CloseSessionRequest, CloseSessionResponse, CreateElicitationRequest,
        CreateElicitationResponse, CreateTerminalRequest, CreateTerminalResponse,
        DeleteSessionRequest, DeleteSessionResponse, InitializeRequest, InitializeResponse,
        KillTerminalRequest, KillTerminalResponse, ListSessionsRequest, ListSessionsResponse,
        LoadSessionRequest, LoadSessionResponse, LogoutRequest, LogoutResponse, NewSessionRequest,
        NewSessionResponse, ReadTextFileRequest, ReadTextFileResponse, ReleaseTerminalRequest,
        ReleaseTerminalResponse, RequestPermissionRequest, RequestPermissionResponse,
        ResumeSessionRequest, ResumeSessionResponse, SetSessionConfigOptionRequest,
        SetSessionConfigOptionResponse, SetSessionModeRequest, SetSessionModeResponse,
        TerminalOutputRequest, TerminalOutputResponse, WaitForTerminalExitRequest,
        WaitForTerminalExitResponse, WriteTextFileRequest, WriteTextFileResponse,
    },
};

/// A request whose type says which method it is for and what it is answered with.
///
/// The protocol's own requests implement it.
/// Implement it, and [`ToClient`] or [`ToAgent`], to use an extension of the protocol with types:
///
/// ```
/// use endturn::request::{Request, ToClient};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize)]
/// struct ShowDiagram {
///     source: String,
/// }
///
/// #[derive(Deserialize)]
/// struct Shown {
///     width: u32,
/// }
///
/// impl Request for ShowDiagram {
///     const METHOD: &'static str = "_example.com/show_diagram";
///     type Response = Shown;
/// }
/// impl ToClient for ShowDiagram {}
/// ```
///
/// Source: [Extensibility](https://agentclientprotocol.com/protocol/v1/extensibility).
pub trait Request: Serialize {
    /// The method's name on the wire; an extension's begins with an underscore.
    const METHOD: &'static str;

    /// Whether a person answers it, in a time that nobody can foresee; then no request timeout applies.
    const ASKS_A_PERSON: bool = false;

    /// What it is answered with.
    type Response: DeserializeOwned + Send + 'static;
}

/// A request that an agent sends to its client.
pub trait ToClient: Request {}

/// A request that a client sends to its agent; a prompt is not among them, because [`Client::prompt`](crate::Client::prompt) does more.
pub trait ToAgent: Request {}

macro_rules! requests {
    ($direction:ident, $names:ident: $($request:ident => $response:ident, $name:ident;)*) => {
        $(
            impl Request for $request {
                const METHOD: &'static str = $names.$name;
                type Response = $response;
            }
            impl $direction for $request {}
        )*
    };
}

requests! { ToClient, CLIENT_METHOD_NAMES:
    ReadTextFileRequest => ReadTextFileResponse, fs_read_text_file;
    WriteTextFileRequest => WriteTextFileResponse, fs_write_text_file;
    CreateTerminalRequest => CreateTerminalResponse, terminal_create;
    TerminalOutputRequest => TerminalOutputResponse, terminal_output;
    WaitForTerminalExitRequest => WaitForTerminalExitResponse, terminal_wait_for_exit;
    KillTerminalRequest => KillTerminalResponse, terminal_kill;
    ReleaseTerminalRequest => ReleaseTerminalResponse, terminal_release;
}

requests! { ToAgent, AGENT_METHOD_NAMES:
    InitializeRequest => InitializeResponse, initialize;
    AuthenticateRequest => AuthenticateResponse, authenticate;
    LogoutRequest => LogoutResponse, logout;
    NewSessionRequest => NewSessionResponse, session_new;
    LoadSessionRequest => LoadSessionResponse, session_load;
    ListSessionsRequest => ListSessionsResponse, session_list;
    DeleteSessionRequest => DeleteSessionResponse, session_delete;
    ResumeSessionRequest => ResumeSessionResponse, session_resume;
    CloseSessionRequest => CloseSessionResponse, session_close;
    SetSessionModeRequest => SetSessionModeResponse, session_set_mode;
    SetSessionConfigOptionRequest => SetSessionConfigOptionResponse, session_set_config_option;
}

impl Request for RequestPermissionRequest {
    const METHOD: &'static str = CLIENT_METHOD_NAMES.session_request_permission;
    const ASKS_A_PERSON: bool = true;
    type Response = RequestPermissionResponse;
}
impl ToClient for RequestPermissionRequest {}

impl Request for CreateElicitationRequest {
    const METHOD: &'static str = CLIENT_METHOD_NAMES.elicitation_create;
    const ASKS_A_PERSON: bool = true;
    type Response = CreateElicitationResponse;
}
impl ToClient for CreateElicitationRequest {}

/// A request to the peer, as the future of its answer.
///
/// Nothing is sent until it is polled.
/// Dropping it sends one `$/cancel_request` if the request is on the wire and not answered, and nothing otherwise; a late answer is discarded.
#[must_use = "a request is sent when it is awaited, and given up when it is dropped"]
pub struct Call<R>(State<R>);

enum State<R> {
    Unsent(
        Box<dyn FnOnce(Options) -> BoxFuture<Result<R, Error>> + Send>,
        Options,
    ),
    Sent(BoxFuture<Result<R, Error>>),
    /// Only while it is being polled for the first time.
    Starting,
}

struct Options {
    timeout: Duration,
    cancel_when: Option<CancellationSignal>,
}

impl<R: DeserializeOwned + Send + 'static> Call<R> {
    pub(crate) fn new<S: Side, Q: Request<Response = R>>(
        connection: &Connection<S>,
        request: &Q,
        timeout: Duration,
        parent: Option<Parent>,
    ) -> Self {
        let timeout = if Q::ASKS_A_PERSON {
            Duration::ZERO
        } else {
            timeout
        };
        Self::raw(connection, Q::METHOD.into(), request, timeout, parent)
    }

    pub(crate) fn raw<S: Side>(
        connection: &Connection<S>,
        method: Cow<'static, str>,
        params: &impl Serialize,
        timeout: Duration,
        parent: Option<Parent>,
    ) -> Self {
        let connection = connection.clone();
        let params = serde_json::to_vec(params);
        let start = move |options: Options| -> BoxFuture<Result<R, Error>> {
            let options = CallOptions {
                timeout: options.timeout,
                cancel_when: options.cancel_when,
                parent,
            };
            Box::pin(async move {
                let params = params.map_err(|error| Error::invalid_input(method.clone(), error))?;
                connection.call(method, params, options).await
            })
        };
        let options = Options {
            timeout,
            cancel_when: None,
        };
        Self(State::Unsent(Box::new(start), options))
    }
}

impl<R> Call<R> {
    /// How long to wait for the answer, instead of the connection's request timeout; zero is for ever.
    ///
    /// When it has passed, the peer is sent one `$/cancel_request` and the call fails with a [timeout](Error::is_timeout).
    /// It has no effect on a call that was polled.
    pub fn timeout(mut self, limit: Duration) -> Self {
        if let State::Unsent(_, options) = &mut self.0 {
            options.timeout = limit;
        }
        self
    }

    /// Has `signal` ask the peer to stop: one `$/cancel_request` is sent, and the call still gives the peer's answer.
    ///
    /// The peer answers with its result or with error `-32800`, whichever comes first; one that does not know `$/cancel_request` answers as if it were not there.
    /// It has no effect on a call that was polled.
    ///
    /// Source: [Cancellation](https://agentclientprotocol.com/protocol/v1/cancellation).
    pub fn cancel_when(mut self, signal: &CancellationSignal) -> Self {
        if let State::Unsent(_, options) = &mut self.0 {
            options.cancel_when = Some(signal.clone());
        }
        self
    }
}

impl<R> Future for Call<R> {
    type Output = Result<R, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut running = match std::mem::replace(&mut self.0, State::Starting) {
            State::Unsent(start, options) => start(options),
            State::Sent(running) => running,
            State::Starting => panic!("a call was polled after a poll of it had panicked"),
        };
        let polled = running.as_mut().poll(context);
        self.0 = State::Sent(running);
        polled
    }
}

impl<R> fmt::Debug for Call<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").finish_non_exhaustive()
    }
}
