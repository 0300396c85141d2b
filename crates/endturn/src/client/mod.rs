//! Driving an agent: sessions, prompts, and what the agent asks in return.
//!
//! ```text
//!   reader ─► inbox of the session ─► update handler, permission handler, prompt's answer
//!                                     in the order of the wire
//! ```
//!
//! Each session has an inbox.
//! The reader puts updates, questions and the answer of a prompt into it and reads on; a task takes them out in order.
//! So an update handler sees one update after the other, a question comes up only after the updates that lead to it were handled, and a prompt returns when all of its turn's updates were.

mod builder;
mod calls;
mod chunk;
mod handlers;
mod inbox;
#[cfg(any(feature = "files", feature = "process"))]
mod local;
mod prompt;
mod prompts;
mod session;
mod side;
mod state;
mod states;
mod turn;
mod updates;

use std::{borrow::Cow, fmt, sync::Arc, time::Duration};

use serde::{Serialize, de::DeserializeOwned};

pub use builder::{ClientBuilder, UnknownUpdate};
#[cfg(feature = "files")]
pub use local::LocalFiles;
#[cfg(feature = "process")]
pub use local::{LocalTerminals, TerminalView};
pub use prompt::Prompt;
pub use session::{PromptContent, Session};
pub use state::SessionState;
pub use turn::Turn;

use crate::{
    CancellationSignal,
    capabilities::{AgentPeer, PROTOCOL_VERSION},
    connection::Connection,
    error::Error,
    request::{Call, NotifiesAgent, ToAgent, limit_of, write},
    schema::v1::{
        AGENT_METHOD_NAMES, InitializeRequest, InitializeResponse, PromptRequest, SessionId,
    },
};
use side::ClientSide;

/// A connection to an agent, from the side of the user.
///
/// Clones are the same connection.
/// When the last of them is dropped, the connection is closed: what has its place on the wire is written, and the agent reads the end of its input.
///
/// ```no_run
/// use endturn::{
///     CancellationSignal, Client,
///     schema::{ProtocolVersion, v1::*},
///     transport::AgentCommand,
/// };
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let (agent, transport) = AgentCommand::new("my-agent").spawn()?;
///     let client = Client::builder()
///         .on_update(|notification, _client| async move { println!("{:?}", notification.update) })
///         .connect(transport);
///
///     client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
///     let session = client.new_session(NewSessionRequest::new("/work")).await?;
///
///     let stop = CancellationSignal::new();
///     tokio::spawn({
///         let stop = stop.clone();
///         async move {
///             tokio::signal::ctrl_c().await.ok();
///             stop.cancel();
///         }
///     });
///     let text = ContentBlock::Text(TextContent::new("Tidy up"));
///     let request = PromptRequest::new(session.session_id, vec![text]);
///     let response = client.prompt(request, &stop).await?;
///     println!("{:?}", response.stop_reason);
///
///     drop(client);
///     agent.stop().await?;
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Client {
    handle: Arc<Handle>,
}

/// What the clones of a client share; the connection closes with the last of them.
struct Handle {
    connection: Connection<ClientSide>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.connection.close();
    }
}

impl Client {
    /// A client without handlers, to which they are added.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Opens the conversation: versions, capabilities, and who is who.
    ///
    /// It comes first; until it is answered, everything else fails and sends nothing.
    ///
    /// ```
    /// # use endturn::{Client, Error, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// use endturn::schema::ProtocolVersion;
    ///
    /// let agent = client.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
    /// println!("{:?}", agent.agent_info);
    /// # Ok(())
    /// # }
    /// ```
    /// A request without [capabilities](InitializeRequest::client_capabilities) offers what the registered handlers make possible, [adjusted](ClientBuilder::adjust_capabilities) or not, and one without an [info](InitializeRequest::client_info) says the builder's.
    ///
    /// Source: [Initialization](https://agentclientprotocol.com/protocol/v1/initialization).
    ///
    /// # Errors
    ///
    /// As for [`request`](Self::request).
    /// If the request names another protocol version than 1, the only one that this library speaks, nothing is sent.
    /// If the agent answers with another one, the connection is closed and the error's kind is [`UnsupportedVersion`](crate::ErrorKind::UnsupportedVersion).
    pub fn initialize(&self, request: InitializeRequest) -> Call<InitializeResponse> {
        let method = AGENT_METHOD_NAMES.initialize;
        let connection = self.handle.connection.clone();
        let handlers = &connection.side().handlers;
        let params = if request.protocol_version == PROTOCOL_VERSION {
            write(method, &handlers.introduce(request))
        } else {
            let reason = format!("this library speaks version {PROTOCOL_VERSION} of the protocol");
            Err(Error::invalid_input(method, reason))
        };
        let limit = handlers.request_timeout;
        let answer: Call<InitializeResponse> =
            Call::new(&connection, method.into(), params, limit, None);
        answer.and_then(async move |response: InitializeResponse| {
            if response.protocol_version != PROTOCOL_VERSION {
                connection.close();
                return Err(Error::unsupported_version(response.protocol_version));
            }
            let agent = AgentPeer::new(response.clone());
            connection.apply(|state, _| state.peer = Some(agent));
            Ok(response)
        })
    }

    /// The agent: who it is and what it offers.
    ///
    /// ```
    /// # use endturn::{Client, Error, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// let agent = client.agent()?;
    /// println!("{:?}: saved sessions: {}", agent.info(), agent.supports_load_session());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If [`initialize`](Self::initialize) has not been answered, or the connection is lost.
    pub fn agent(&self) -> Result<AgentPeer, Error> {
        self.handle.connection.peer()
    }

    /// Sends any request but a prompt.
    ///
    /// ```
    /// # use endturn::{Client, Error, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// use std::time::Duration;
    ///
    /// let list = client.request(&ListSessionsRequest::new()).timeout(Duration::from_secs(5));
    /// println!("{} sessions", list.await?.sessions.len());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The call fails, and nothing is sent, if [`initialize`](Self::initialize) has not been answered, the agent [does not offer it](Error::is_capability), or the request is wrong in itself, with a relative path for example; the [guide](crate::guide::methods#what-is-looked-at-before-sending) lists what is looked at.
    /// It fails if the agent answers with an error or with something unreadable, does not answer within the [request timeout](ClientBuilder::request_timeout), or the connection is lost.
    ///
    /// # Cancel safety
    ///
    /// Dropping the call sends one `$/cancel_request` if the request is on the wire.
    pub fn request<Q: ToAgent>(&self, request: &Q) -> Call<Q::Response> {
        let connection = &self.handle.connection;
        let limit = limit_of::<Q>(connection.side().handlers.request_timeout);
        let params = connection
            .peer()
            .and_then(|agent| request.check(&agent))
            .and_then(|()| write(Q::METHOD, request));
        self.call(Q::METHOD.into(), params, limit)
    }

    /// Sends a request, and takes in what its answer says about a session if the client keeps track.
    fn call<R: DeserializeOwned + Send + 'static>(
        &self,
        method: Cow<'static, str>,
        params: Result<Vec<u8>, Error>,
        limit: Duration,
    ) -> Call<R> {
        let connection = &self.handle.connection;
        let sent = params.as_ref().ok().cloned();
        let known = method.clone();
        let call = Call::new(connection, method, params, limit, None);
        let Some(sent) = sent.filter(|_| connection.side().handlers.tracks_sessions) else {
            return call;
        };
        let connection = connection.clone();
        call.on_result(Box::new(move |result| {
            if let Some((session, change)) = states::change(&known, &sent, result.get()) {
                inbox::change(&connection, &session, change);
            }
        }))
    }

    /// Waits until everything was handled that has arrived for a session, unless this is done by one of its handlers, which would wait for itself.
    async fn caught_up(&self, session: &SessionId, from: Option<SessionId>) {
        if from.as_ref() != Some(session) {
            inbox::caught_up(&self.handle.connection, session).await;
        }
    }

    /// Sends a request whose method and types this library does not know, or one that the agent does not say it offers.
    ///
    /// A prompt that is sent so is a request like any other, and no turn for this client; [`Prompt::raw`] gives the answer to one that is, as it came.
    /// The [request timeout](ClientBuilder::request_timeout) applies, whatever the method is.
    /// A result of type [`Value`](serde_json::Value) has all that the agent answered, also what the protocol's own types have no field for.
    ///
    /// ```
    /// # use endturn::{Client, Error, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// use serde_json::{Value, json};
    ///
    /// let answer: Value = client.request_raw("_example.com/stats", &json!({"days": 7})).await?;
    /// println!("{}", answer["prompts"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`request`](Self::request), but what the agent offers is not looked at.
    ///
    /// # Cancel safety
    ///
    /// As for [`request`](Self::request).
    pub fn request_raw<R: DeserializeOwned + Send + 'static>(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &impl Serialize,
    ) -> Call<R> {
        let connection = &self.handle.connection;
        let limit = connection.side().handlers.request_timeout;
        let method = method.into();
        let params = connection.peer().and_then(|_| write(&method, params));
        self.call(method, params, limit)
    }

    /// Sends a notification: an extension's, since those of the protocol belong to a turn.
    ///
    /// ```
    /// # use endturn::{Client, Error, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// use endturn::request::{NotifiesAgent, Notification};
    ///
    /// #[derive(serde::Serialize)]
    /// struct ThemeChanged {
    ///     dark: bool,
    /// }
    /// impl Notification for ThemeChanged {
    ///     const METHOD: &'static str = "_example.com/theme_changed";
    /// }
    /// impl NotifiesAgent for ThemeChanged {}
    ///
    /// client.notify(&ThemeChanged { dark: true }).await?;
    /// client.notify_raw("_example.com/theme_changed", &serde_json::json!({"dark": false})).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// While the agent reads more slowly than this side sends, this waits, so that memory stays bounded.
    ///
    /// # Errors
    ///
    /// If it cannot be written as JSON, [`initialize`](Self::initialize) has not been answered, or the connection is lost.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is done sends nothing.
    pub async fn notify<N: NotifiesAgent>(&self, notification: &N) -> Result<(), Error> {
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
        self.handle.connection.notify(method, params, None).await
    }

    /// Runs one turn: sends the prompt and gives the agent's answer, when all updates of the turn have been handled.
    ///
    /// A `signal`, if one is given (`&stop`, or `None`), ends the turn when it is cancelled: the client sends `session/cancel`, answers open permission requests with the outcome `cancelled`, and this call still gives the agent's answer.
    /// A signal that is cancelled already lets the prompt out and the cancel right behind it.
    ///
    /// Nothing is sent until the future is polled.
    ///
    /// Source: [Prompt turn](https://agentclientprotocol.com/protocol/v1/prompt-turn).
    /// That a session takes one prompt at a time is checked here too, as a policy of this SDK: `session/cancel` names a session and not a turn, and with two prompts on the wire it could end the wrong one.
    ///
    /// # Errors
    ///
    /// If the session has a turn ([busy](Error::is_busy), nothing is sent), the agent answers with an error or with something unreadable, a [timeout](ClientBuilder::prompt_timeout) passes, or the connection is lost.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future sends one `$/cancel_request`, and the rest of the turn is discarded.
    /// To end a turn and keep its answer, use the signal; to leave it alone, [`detach`](Prompt::detach) it.
    pub fn prompt<'a>(
        &self,
        request: PromptRequest,
        signal: impl Into<Option<&'a CancellationSignal>>,
    ) -> Prompt {
        Prompt::new(self.clone(), request, signal.into().cloned(), None)
    }

    /// Sends `session/cancel` for the session's turn, as the signal of its prompt does; without a turn, or a second time, it does nothing.
    ///
    /// ```
    /// # use endturn::{Client, Error, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// let session = SessionId::new("session-1");
    /// let prompt = client.prompt(PromptRequest::new(session.clone(), vec!["Tidy up".into()]), None);
    /// let answer = tokio::spawn(prompt);
    /// client.cancel(&session);
    /// # drop(answer);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// It does not wait for anything: the turn ends with the answer to its prompt.
    ///
    /// Source: [Cancellation](https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation).
    pub fn cancel(&self, session: &SessionId) {
        prompts::cancel(&self.handle.connection, session);
    }

    /// Closes the connection: what has its place on the wire is written, open calls fail, and the agent reads the end of its input.
    ///
    /// It does not wait for that; [`closed`](Self::closed) does, for two seconds at most.
    ///
    /// ```
    /// # use endturn::{Client, Error, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// client.close();
    /// println!("{}", client.closed().await);
    /// # Ok(())
    /// # }
    /// ```
    pub fn close(&self) {
        self.handle.connection.close();
    }

    /// Waits for the end of the connection, and says how it came; then nothing more is read or written.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    pub async fn closed(&self) -> Error {
        self.handle.connection.finished().await
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}
