//! A session of the blocking client, and its turns.

use std::{fmt, sync::Arc};

use super::Client;
use crate::{
    CancellationSignal,
    client::{self, PromptContent, SessionState},
    error::Error,
    schema::v1::{
        CloseSessionResponse, LoadSessionRequest, NewSessionRequest, PromptResponse,
        ResumeSessionRequest, SessionConfigId, SessionConfigOption, SessionConfigOptionValue,
        SessionId, SessionModeId, SessionUpdate,
    },
};

/// One session of an agent: what [`client::Session`] is to an async program, with the same names.
///
/// ```
/// # fn example(client: endturn::blocking::Client) -> Result<(), endturn::Error> {
/// use endturn::{blocking::Session, schema::v1::*};
///
/// let session = Session::load(&client, LoadSessionRequest::new("session-1", "/work"))?;
/// session.set_mode("plan")?;
/// session.set_config_option("model", "small")?;
/// session.prompt("Where were we?", None)?;
/// if let Some(state) = session.state() {
///     println!("{:?}", state.title());
/// }
/// session.close()?;
/// # Ok(())
/// # }
/// ```
///
/// ```no_run
/// # fn example(client: endturn::blocking::Client) -> Result<(), endturn::Error> {
/// use endturn::{blocking::Session, schema::v1::NewSessionRequest};
///
/// let session = Session::open(&client, NewSessionRequest::new("/work"))?;
/// let mut turn = session.turn("Tidy up", None);
/// for update in &mut turn {
///     println!("{update:?}");
/// }
/// println!("{:?}", turn.response()?.stop_reason);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Session {
    client: Client,
    session: client::Session,
}

impl Session {
    /// Opens a new session; see [`client::Session::open`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn open(client: &Client, request: NewSessionRequest) -> Result<Self, Error> {
        let session = client.wait(client::Session::open(client.as_async(), request))?;
        Ok(Self::new(client, session))
    }

    /// Takes up a saved session with its history; see [`client::Session::load`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn load(client: &Client, request: LoadSessionRequest) -> Result<Self, Error> {
        let session = client.wait(client::Session::load(client.as_async(), request))?;
        Ok(Self::new(client, session))
    }

    /// Takes up a saved session without its history; see [`client::Session::resume`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn resume(client: &Client, request: ResumeSessionRequest) -> Result<Self, Error> {
        let session = client.wait(client::Session::resume(client.as_async(), request))?;
        Ok(Self::new(client, session))
    }

    /// A session that was opened in another way.
    #[must_use]
    pub fn of(client: &Client, id: impl Into<SessionId>) -> Self {
        Self::new(client, client::Session::of(client.as_async(), id))
    }

    fn new(client: &Client, session: client::Session) -> Self {
        let client = client.clone();
        Self { client, session }
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        self.session.id()
    }

    /// The client that it belongs to.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Runs one turn, and gives the agent's answer; see [`Client::prompt`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn prompt<'a>(
        &self,
        prompt: impl Into<PromptContent>,
        signal: impl Into<Option<&'a CancellationSignal>>,
    ) -> Result<PromptResponse, Error> {
        self.client.wait(self.session.prompt(prompt, signal))
    }

    /// Runs one turn, and gives its updates as they come, besides to the update handler; see [`client::Session::turn`].
    ///
    /// It is sent with the first [`next`](Iterator::next) or [`response`](Turn::response).
    pub fn turn<'a>(
        &self,
        prompt: impl Into<PromptContent>,
        signal: impl Into<Option<&'a CancellationSignal>>,
    ) -> Turn {
        Turn {
            client: self.client.clone(),
            turn: self.session.turn(prompt, signal),
        }
    }

    /// Sends `session/cancel` for the session's turn; see [`Client::cancel`].
    pub fn cancel(&self) {
        self.session.cancel();
    }

    /// Puts the session into another one of its modes; see [`client::Session::set_mode`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn set_mode(&self, mode: impl Into<SessionModeId>) -> Result<(), Error> {
        self.client.wait(self.session.set_mode(mode))
    }

    /// Sets one of the session's config options, and gives all of them as they are then; see [`client::Session::set_config_option`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn set_config_option(
        &self,
        option: impl Into<SessionConfigId>,
        value: impl Into<SessionConfigOptionValue>,
    ) -> Result<Vec<SessionConfigOption>, Error> {
        self.client
            .wait(self.session.set_config_option(option, value))
    }

    /// Closes the session; see [`client::Session::close`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn close(&self) -> Result<CloseSessionResponse, Error> {
        self.client.wait(self.session.close())
    }

    /// What holds of the session after the updates that the update handler has seen; see [`client::Session::state`].
    #[must_use]
    pub fn state(&self) -> Option<Arc<SessionState>> {
        self.session.state()
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.session.fmt(f)
    }
}

/// A turn that is under way, as an iterator over its updates: what [`client::Turn`] is to an async program.
///
/// Dropping it gives the turn up: the agent is sent one `$/cancel_request`.
///
/// ```
/// # fn example(session: endturn::blocking::Session) -> Result<(), endturn::Error> {
/// let mut turn = session.turn("Tidy up", None);
/// let first = turn.next(); // `None` if the turn says nothing
/// for update in &mut turn {
///     println!("{update:?}");
/// }
/// println!("{:?}", turn.response()?.stop_reason);
/// # drop(first);
/// # Ok(())
/// # }
/// ```
pub struct Turn {
    client: Client,
    turn: client::Turn,
}

impl Turn {
    /// Waits for the turn's end, and gives the agent's answer; see [`client::Turn::response`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn response(self) -> Result<PromptResponse, Error> {
        self.client.wait(self.turn.response())
    }
}

impl Iterator for Turn {
    type Item = SessionUpdate;

    fn next(&mut self) -> Option<SessionUpdate> {
        self.client.wait(self.turn.next())
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.turn.fmt(f)
    }
}
