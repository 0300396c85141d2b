//! A session, as one thing to hold.

use std::{fmt, sync::Arc};

use super::{Client, Prompt, SessionState, Turn, side};
use crate::{
    CancellationSignal,
    request::Call,
    schema::v1::{
        CloseSessionRequest, CloseSessionResponse, ContentBlock, LoadSessionRequest,
        NewSessionRequest, PromptRequest, ResumeSessionRequest, SessionConfigId,
        SessionConfigOption, SessionConfigOptionValue, SessionId, SessionModeId,
        SetSessionConfigOptionRequest, SetSessionModeRequest,
    },
};

/// One session of an agent.
///
/// Clones are the same session.
/// Dropping it changes nothing at the agent; to have it free what it holds, [`close`](Self::close) it.
///
/// ```no_run
/// # async fn example(client: endturn::Client) -> Result<(), endturn::Error> {
/// use endturn::{client::Session, schema::v1::{NewSessionRequest, SessionUpdate}};
///
/// let session = Session::open(&client, NewSessionRequest::new("/work")).await?;
/// let mut turn = session.turn("Tidy up", None);
/// while let Some(update) = turn.next().await {
///     if let SessionUpdate::AgentMessageChunk(chunk) = update {
///         println!("{:?}", chunk.content);
///     }
/// }
/// println!("{:?}", turn.response().await?.stop_reason);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Session {
    client: Client,
    id: SessionId,
}

impl Session {
    /// Opens a new session; see [`Client::new_session`].
    ///
    /// ```
    /// # use endturn::{Client, Error, client::Session, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// let session = Session::open(&client, NewSessionRequest::new("/work")).await?;
    /// println!("{}", session.id());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Client::request`].
    pub fn open(client: &Client, request: NewSessionRequest) -> Call<Self> {
        let (client, from) = (client.clone(), side::handling_session());
        client.new_session(request).and_then(async move |response| {
            let session = Self::of(&client, response.session_id);
            client.caught_up(&session.id, from).await;
            Ok(session)
        })
    }

    /// Takes up a saved session; its history comes as updates before this is done. See [`Client::load_session`].
    ///
    /// ```
    /// # use endturn::{Client, Error, client::Session, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// let session = Session::load(&client, LoadSessionRequest::new("session-1", "/work")).await?;
    /// # drop(session);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Client::request`].
    pub fn load(client: &Client, request: LoadSessionRequest) -> Call<Self> {
        let session = Self::of(client, request.session_id.clone());
        client
            .load_session(request)
            .and_then(async move |_response| Ok(session))
    }

    /// Takes up a saved session without its history; see [`Client::resume_session`].
    ///
    /// ```
    /// # use endturn::{Client, Error, client::Session, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// let session = Session::resume(&client, ResumeSessionRequest::new("session-1", "/work")).await?;
    /// # drop(session);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Client::request`].
    pub fn resume(client: &Client, request: ResumeSessionRequest) -> Call<Self> {
        let session = Self::of(client, request.session_id.clone());
        session
            .after(client.resume_session(request))
            .and_then(async move |_response| Ok(session))
    }

    /// A session that was opened in another way.
    ///
    /// ```
    /// # use endturn::{Client, Error, client::Session, schema::v1::*};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// let opened = client.new_session(NewSessionRequest::new("/work")).await?;
    /// let session = Session::of(&client, opened.session_id);
    /// # drop(session);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn of(client: &Client, id: impl Into<SessionId>) -> Self {
        Self {
            client: client.clone(),
            id: id.into(),
        }
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// The client that it belongs to.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Runs one turn, and gives the agent's answer; see [`Client::prompt`].
    ///
    /// ```
    /// # use endturn::{Error, client::Session, schema::v1::*};
    /// # async fn example(session: Session) -> Result<(), Error> {
    /// use endturn::CancellationSignal;
    ///
    /// session.prompt("Tidy up", None).await?;
    ///
    /// let stop = CancellationSignal::new();
    /// let blocks = vec!["What is this?".into(), ContentBlock::ResourceLink(ResourceLink::new("a", "file:///a"))];
    /// let response = session.prompt(blocks, &stop).await?;
    /// println!("{:?}", response.stop_reason);
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
    pub fn prompt<'a>(
        &self,
        prompt: impl Into<PromptContent>,
        signal: impl Into<Option<&'a CancellationSignal>>,
    ) -> Prompt {
        self.client.prompt(self.request(prompt), signal)
    }

    /// Runs one turn, and gives its updates as they come, besides to the [update handler](super::ClientBuilder::on_update).
    ///
    /// It is sent when it is polled, as a [`Prompt`] is.
    ///
    /// ```
    /// # use endturn::{Error, client::Session, schema::v1::*};
    /// # async fn example(session: Session) -> Result<(), Error> {
    /// let mut turn = session.turn("Tidy up", None);
    /// while let Some(update) = turn.next().await {
    ///     println!("{update:?}");
    /// }
    /// println!("{:?}", turn.response().await?.stop_reason);
    /// # Ok(())
    /// # }
    /// ```
    pub fn turn<'a>(
        &self,
        prompt: impl Into<PromptContent>,
        signal: impl Into<Option<&'a CancellationSignal>>,
    ) -> Turn {
        Turn::new(
            self.client.clone(),
            self.request(prompt),
            signal.into().cloned(),
        )
    }

    fn request(&self, prompt: impl Into<PromptContent>) -> PromptRequest {
        PromptRequest::new(self.id.clone(), prompt.into().0)
    }

    /// Sends `session/cancel` for the session's turn; see [`Client::cancel`].
    pub fn cancel(&self) {
        self.client.cancel(&self.id);
    }

    /// Puts the session into another one of its modes; see [`Client::set_mode`].
    ///
    /// ```
    /// # use endturn::{Error, client::Session, schema::v1::*};
    /// # async fn example(session: Session) -> Result<(), Error> {
    /// session.set_mode("plan").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Client::request`].
    pub fn set_mode(&self, mode: impl Into<SessionModeId>) -> Call<()> {
        let request = SetSessionModeRequest::new(self.id.clone(), mode);
        self.after(self.client.set_mode(request))
            .and_then(async |_response| Ok(()))
    }

    /// Sets one of the session's config options, and gives all of them as they are then; see [`Client::set_config_option`].
    ///
    /// ```
    /// # use endturn::{Error, client::Session, schema::v1::*};
    /// # async fn example(session: Session) -> Result<(), Error> {
    /// session.set_config_option("model", "small").await?; // one of several values
    /// session.set_config_option("think", true).await?; // on or off
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Client::request`].
    pub fn set_config_option(
        &self,
        option: impl Into<SessionConfigId>,
        value: impl Into<SessionConfigOptionValue>,
    ) -> Call<Vec<SessionConfigOption>> {
        let request = SetSessionConfigOptionRequest::new(self.id.clone(), option, value);
        self.after(self.client.set_config_option(request))
            .and_then(async |response| Ok(response.config_options))
    }

    /// Closes the session: its turn is cancelled, and the agent frees what it holds for it; see [`Client::close_session`].
    ///
    /// ```
    /// # use endturn::{Error, client::Session, schema::v1::*};
    /// # async fn example(session: Session) -> Result<(), Error> {
    /// session.close().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Client::request`].
    pub fn close(&self) -> Call<CloseSessionResponse> {
        let request = CloseSessionRequest::new(self.id.clone());
        self.after(self.client.close_session(request))
    }

    /// What holds of the session after the updates that the update handler has seen; `None` unless the client [keeps track](super::ClientBuilder::track_sessions), or when there was nothing to be known yet.
    ///
    /// ```
    /// # use endturn::{Error, client::Session, schema::v1::*};
    /// # async fn example(session: Session) -> Result<(), Error> {
    /// if let Some(state) = session.state() {
    ///     println!("{:?} in mode {:?}", state.title(), state.mode());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn state(&self) -> Option<Arc<SessionState>> {
        let connection = &self.client.handle.connection;
        connection.apply(|state, _| state.side.states.get(&self.id))
    }

    /// Has a call be done when everything before its answer was handled, and so is in the state.
    fn after<R: Send + 'static>(&self, call: Call<R>) -> Call<R> {
        let (session, from) = (self.clone(), side::handling_session());
        call.and_then(async move |response| {
            session.client.caught_up(&session.id, from).await;
            Ok(response)
        })
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// What a prompt says: a text, or blocks of content.
///
/// ```
/// use endturn::{client::PromptContent, schema::v1::{ContentBlock, ResourceLink}};
///
/// let link = ContentBlock::ResourceLink(ResourceLink::new("main.rs", "file:///work/src/main.rs"));
/// let text = PromptContent::from("Tidy up");
/// let blocks = PromptContent::from(vec!["Look at".into(), link]);
/// # drop((text, blocks));
/// ```
#[derive(Debug, Clone)]
pub struct PromptContent(Vec<ContentBlock>);

impl From<&str> for PromptContent {
    fn from(text: &str) -> Self {
        Self(vec![text.into()])
    }
}

impl From<String> for PromptContent {
    fn from(text: String) -> Self {
        Self(vec![text.into()])
    }
}

impl From<ContentBlock> for PromptContent {
    fn from(block: ContentBlock) -> Self {
        Self(vec![block])
    }
}

impl From<Vec<ContentBlock>> for PromptContent {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self(blocks)
    }
}
