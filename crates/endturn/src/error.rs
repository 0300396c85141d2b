//! What can go wrong, and whose doing it is.

use std::{borrow::Cow, error::Error as StdError, fmt, io, sync::Arc, time::Duration};

use crate::{
    capabilities::PROTOCOL_VERSION,
    schema::{
        ProtocolVersion,
        v1::{self, SessionId},
    },
};

/// Why a call did not give what was asked for.
///
/// One opaque type for the whole crate: ask it with [`kind`](Error::kind) or with a predicate, and show it with `Display`.
///
/// ```
/// # fn show(error: endturn::Error) {
/// if error.is_connection_lost() {
///     eprintln!("the agent is gone: {error}");
/// } else if error.is_capability() {
///     eprintln!("the agent does not offer {}", error.capability().unwrap_or("that"));
/// } else if error.is_auth_required() {
///     eprintln!("please log in");
/// } else if error.is_busy() || error.is_timeout() || error.is_cancelled() {
///     eprintln!("try again: {error}");
/// } else if let Some(code) = error.code() {
///     eprintln!("the agent answered with error {code}, and {:?}", error.data());
/// }
/// # }
/// ```
#[derive(thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Inner>);

/// What kind of thing went wrong.
///
/// ```
/// # fn show(error: endturn::Error) {
/// use endturn::ErrorKind;
///
/// match error.kind() {
///     ErrorKind::NotInitialized => println!("`initialize` was forgotten"),
///     ErrorKind::CancelTimedOut => println!("the agent does not stop"),
///     _ => println!("{error}"),
/// }
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The peer answered with a protocol error.
    Protocol,
    /// The peer's answer could not be read.
    InvalidAnswer,
    /// The caller passed something that cannot be sent.
    InvalidInput,
    /// The session already has a turn, and nothing was sent.
    Busy,
    /// The peer does not offer what was asked for, and nothing was sent.
    MissingCapability,
    /// `initialize` has not been answered, and nothing was sent.
    NotInitialized,
    /// The agent speaks another version of the protocol only, and the connection was closed.
    UnsupportedVersion,
    /// The turn, or other request, was cancelled and is over, so nothing more can be done through its context.
    Cancelled,
    /// The turn, or other request, has been answered, so nothing more can be done through its context.
    TurnEnded,
    /// The peer did not answer in time.
    Timeout,
    /// The agent did not answer in time after it was asked to stop.
    CancelTimedOut,
    /// The connection is gone.
    ConnectionLost,
}

/// Which side an error comes from.
///
/// ```
/// # fn show(error: endturn::Error) {
/// use endturn::ErrorOrigin;
///
/// if error.origin() == ErrorOrigin::Peer {
///     println!("this is for the maker of the agent: {error}");
/// }
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorOrigin {
    /// This side: a wrong argument, a limit that was set here, a turn that is over.
    Local,
    /// The other side: it answered with an error, or with something unreadable.
    Peer,
    /// Neither: the connection between them.
    Connection,
}

#[derive(Debug, thiserror::Error)]
enum Inner {
    #[error("{method} was answered with error {}: {}", i32::from(error.code), error.message)]
    Protocol {
        method: Cow<'static, str>,
        error: v1::Error,
    },
    #[error("the answer to {method} cannot be read")]
    InvalidAnswer {
        method: Cow<'static, str>,
        source: Box<dyn StdError + Send + Sync>,
    },
    #[error("the parameters of {method} cannot be sent: {reason}")]
    InvalidInput {
        method: Cow<'static, str>,
        reason: Cow<'static, str>,
    },
    #[error("session {session} already has a turn")]
    Busy { session: SessionId },
    #[error("the peer does not offer `{capability}`")]
    MissingCapability { capability: Cow<'static, str> },
    #[error("initialize has not been answered")]
    NotInitialized,
    #[error(
        "the agent speaks version {0} of the protocol, and this library only version {PROTOCOL_VERSION}"
    )]
    UnsupportedVersion(ProtocolVersion),
    #[error("cancelled")]
    Cancelled,
    #[error("the turn or request it belongs to has been answered")]
    TurnEnded,
    #[error("no answer to {method} within {limit:?}")]
    Timeout {
        method: Cow<'static, str>,
        limit: Duration,
    },
    #[error("the agent did not answer within {limit:?} of being asked to stop")]
    CancelTimedOut { limit: Duration },
    #[error("connection lost: {0}")]
    ConnectionLost(Lost),
    #[error("connection lost before {method} was answered: {lost}")]
    LostCall {
        method: Cow<'static, str>,
        lost: Lost,
    },
}

/// How a connection came to its end.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Lost {
    #[error("the peer closed it")]
    EndOfInput,
    #[error("it was closed on this side")]
    Closed,
    #[error("{0}")]
    Io(Arc<io::Error>),
}

impl Error {
    /// What kind of thing went wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match &*self.0 {
            Inner::Protocol { .. } => ErrorKind::Protocol,
            Inner::InvalidAnswer { .. } => ErrorKind::InvalidAnswer,
            Inner::InvalidInput { .. } => ErrorKind::InvalidInput,
            Inner::Busy { .. } => ErrorKind::Busy,
            Inner::MissingCapability { .. } => ErrorKind::MissingCapability,
            Inner::NotInitialized => ErrorKind::NotInitialized,
            Inner::UnsupportedVersion(_) => ErrorKind::UnsupportedVersion,
            Inner::Cancelled => ErrorKind::Cancelled,
            Inner::TurnEnded => ErrorKind::TurnEnded,
            Inner::Timeout { .. } => ErrorKind::Timeout,
            Inner::CancelTimedOut { .. } => ErrorKind::CancelTimedOut,
            Inner::ConnectionLost(_) | Inner::LostCall { .. } => ErrorKind::ConnectionLost,
        }
    }

    /// Which side it comes from.
    #[must_use]
    pub fn origin(&self) -> ErrorOrigin {
        match self.kind() {
            ErrorKind::Protocol | ErrorKind::InvalidAnswer | ErrorKind::UnsupportedVersion => {
                ErrorOrigin::Peer
            }
            ErrorKind::InvalidInput
            | ErrorKind::Busy
            | ErrorKind::MissingCapability
            | ErrorKind::NotInitialized
            | ErrorKind::Cancelled
            | ErrorKind::TurnEnded
            | ErrorKind::Timeout
            | ErrorKind::CancelTimedOut => ErrorOrigin::Local,
            ErrorKind::ConnectionLost => ErrorOrigin::Connection,
        }
    }

    /// The error that the peer answered with, if it did: code, message and data.
    #[must_use]
    pub fn protocol(&self) -> Option<&v1::Error> {
        match &*self.0 {
            Inner::Protocol { error, .. } => Some(error),
            Inner::InvalidAnswer { .. }
            | Inner::InvalidInput { .. }
            | Inner::Busy { .. }
            | Inner::MissingCapability { .. }
            | Inner::NotInitialized
            | Inner::UnsupportedVersion(_)
            | Inner::Cancelled
            | Inner::TurnEnded
            | Inner::Timeout { .. }
            | Inner::CancelTimedOut { .. }
            | Inner::ConnectionLost(_)
            | Inner::LostCall { .. } => None,
        }
    }

    /// The code of the error that the peer answered with, if it did.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.protocol().map(|error| error.code.into())
    }

    /// The data of the error that the peer answered with, if there is some.
    #[must_use]
    pub fn data(&self) -> Option<&serde_json::Value> {
        self.protocol()?.data.as_ref()
    }

    /// Whether the peer has to be [authenticated](crate::Client::authenticate) with first (`-32000`).
    #[must_use]
    pub fn is_auth_required(&self) -> bool {
        self.code() == Some(v1::ErrorCode::AuthRequired.into())
    }

    /// Whether the peer does not offer what was asked for: found out here, or said by the peer (`-32601`).
    #[must_use]
    pub fn is_capability(&self) -> bool {
        self.kind() == ErrorKind::MissingCapability
            || self.code() == Some(v1::ErrorCode::MethodNotFound.into())
    }

    /// The capability that the peer would have to offer, as it is named on the wire.
    #[must_use]
    pub fn capability(&self) -> Option<&str> {
        if let Inner::MissingCapability { capability } = &*self.0 {
            Some(capability)
        } else {
            None
        }
    }

    /// Whether something was cancelled: a turn on this side, or a request by the peer (`-32800`).
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.kind() == ErrorKind::Cancelled
            || self.code() == Some(v1::ErrorCode::RequestCancelled.into())
    }

    /// Whether the session already has a turn.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.kind() == ErrorKind::Busy
    }

    /// Whether a time limit set on this side has passed: for an answer, or for one after a cancel.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self.kind(), ErrorKind::Timeout | ErrorKind::CancelTimedOut)
    }

    /// Whether the connection is gone.
    #[must_use]
    pub fn is_connection_lost(&self) -> bool {
        self.kind() == ErrorKind::ConnectionLost
    }

    /// An error that says which capability the peer would have to offer.
    ///
    /// For [requests](crate::request::ToClient::check) of extensions.
    ///
    /// ```
    /// let error = endturn::Error::missing_capability("_meta.example.com/diagrams");
    /// assert_eq!(error.capability(), Some("_meta.example.com/diagrams"));
    /// assert!(error.is_capability());
    /// ```
    pub fn missing_capability(capability: impl Into<Cow<'static, str>>) -> Self {
        let capability = capability.into();
        Self(Box::new(Inner::MissingCapability { capability }))
    }

    pub(crate) fn not_initialized() -> Self {
        Self(Box::new(Inner::NotInitialized))
    }

    pub(crate) fn unsupported_version(version: ProtocolVersion) -> Self {
        Self(Box::new(Inner::UnsupportedVersion(version)))
    }

    /// The connection is gone, and with it the answer to `method`.
    pub(crate) fn lost_call(method: impl Into<Cow<'static, str>>, lost: Lost) -> Self {
        let method = method.into();
        Self(Box::new(Inner::LostCall { method, lost }))
    }

    pub(crate) fn answered(method: impl Into<Cow<'static, str>>, error: v1::Error) -> Self {
        let method = method.into();
        Self(Box::new(Inner::Protocol { method, error }))
    }

    pub(crate) fn invalid_answer(
        method: impl Into<Cow<'static, str>>,
        source: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        let (method, source) = (method.into(), source.into());
        Self(Box::new(Inner::InvalidAnswer { method, source }))
    }

    pub(crate) fn invalid_input(
        method: impl Into<Cow<'static, str>>,
        reason: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (method, reason) = (method.into(), reason.into());
        Self(Box::new(Inner::InvalidInput { method, reason }))
    }

    /// Parameters that cannot be written as JSON.
    pub(crate) fn unwritable(
        method: impl Into<Cow<'static, str>>,
        source: &serde_json::Error,
    ) -> Self {
        Self::invalid_input(method, source.to_string())
    }

    pub(crate) fn busy(session: SessionId) -> Self {
        Self(Box::new(Inner::Busy { session }))
    }

    /// Why a context is of no use any more.
    pub(crate) fn turn_over(cancelled: bool) -> Self {
        Self(Box::new(if cancelled {
            Inner::Cancelled
        } else {
            Inner::TurnEnded
        }))
    }

    pub(crate) fn timeout(method: impl Into<Cow<'static, str>>, limit: Duration) -> Self {
        let method = method.into();
        Self(Box::new(Inner::Timeout { method, limit }))
    }

    pub(crate) fn cancel_timed_out(limit: Duration) -> Self {
        Self(Box::new(Inner::CancelTimedOut { limit }))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Lost> for Error {
    fn from(lost: Lost) -> Self {
        Self(Box::new(Inner::ConnectionLost(lost)))
    }
}

/// Why a handler failed, and whether the peer may know.
///
/// `?` turns every error into one of these.
/// A [`v1::Error`] is written for the peer and sent as it is.
/// Any other error is logged on this side and answered as `-32603` without its text, because an error's text is written for the people who run this program: it names paths, hosts and users.
///
/// ```
/// use endturn::{HandlerError, schema::v1};
///
/// fn find(id: &str) -> Result<(), HandlerError> {
///     std::fs::metadata(format!("/var/lib/agent/{id}"))?; // logged here, hidden from the peer
///     Err(v1::Error::session_not_found(id.to_owned()))? // sent
/// }
/// # assert!(find("1").is_err());
/// ```
///
/// Like `anyhow::Error` it is not itself a [`std::error::Error`]; the two could not both convert from every error.
pub struct HandlerError(Failure);

pub(crate) enum Failure {
    Protocol(Box<v1::Error>),
    Internal(Box<dyn StdError + Send + Sync>),
}

/// What a handler gives back.
pub type HandlerResult<T> = Result<T, HandlerError>;

impl HandlerError {
    /// An error that stays on this side, from a message or from an error type that `?` does not take.
    ///
    /// ```
    /// let error = endturn::HandlerError::internal("the model is not loaded");
    /// assert_eq!(error.to_string(), "the model is not loaded");
    /// ```
    pub fn internal(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self(Failure::Internal(error.into()))
    }

    /// Logs what must not be sent, and gives what is.
    ///
    /// That a cancelled handler fails is expected, so it is logged as no more than a detail.
    pub(crate) fn into_protocol(self, method: &str, cancelled: bool) -> v1::Error {
        match self.0 {
            Failure::Protocol(error) => *error,
            Failure::Internal(error) => {
                let error = &*error as &dyn StdError;
                if cancelled {
                    tracing::debug!(method, error, "a cancelled handler failed");
                } else {
                    tracing::error!(method, error, "a handler failed");
                }
                v1::Error::internal_error()
            }
        }
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for HandlerError {
    fn from(error: E) -> Self {
        let error: Box<dyn StdError + Send + Sync> = Box::new(error);
        Self(match error.downcast::<v1::Error>() {
            Ok(error) => Failure::Protocol(error),
            Err(error) => Failure::Internal(error),
        })
    }
}

impl fmt::Debug for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Failure::Protocol(error) => error.fmt(f),
            Failure::Internal(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Failure::Protocol(error) => error.fmt(f),
            Failure::Internal(error) => error.fmt(f),
        }
    }
}
