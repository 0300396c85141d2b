//! A request on its way.

use std::{
    borrow::Cow,
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use serde::{Serialize, de::DeserializeOwned};

use super::Request;
use crate::{
    CancellationSignal,
    connection::{BoxFuture, CallOptions, Connection, OnResult, Parent, Side},
    error::Error,
};

/// A request to the peer, as the future of its answer.
///
/// What it asks for, and whether the peer offers that, is looked at when it is made; nothing is sent until it is polled.
/// Dropping it sends one `$/cancel_request` if the request is on the wire and not answered, and nothing otherwise; a late answer is discarded.
///
/// ```
/// # use endturn::{Client, Error, schema::v1::*};
/// # async fn example(client: Client) -> Result<(), Error> {
/// use std::time::Duration;
/// use endturn::CancellationSignal;
///
/// let skip = CancellationSignal::new();
/// let list = client
///     .list_sessions(ListSessionsRequest::new())
///     .timeout(Duration::from_secs(5))
///     .cancel_when(&skip); // from a button, for example
/// match list.await {
///     Ok(page) => println!("{} sessions", page.sessions.len()),
///     Err(error) if error.is_timeout() || error.is_cancelled() => println!("no sessions"),
///     Err(error) => return Err(error),
/// }
/// # Ok(())
/// # }
/// ```
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
    on_result: Option<OnResult>,
}

impl<R: DeserializeOwned + Send + 'static> Call<R> {
    /// A request whose parameters were looked at and written already.
    pub(crate) fn new<S: Side>(
        connection: &Connection<S>,
        method: Cow<'static, str>,
        params: Result<Vec<u8>, Error>,
        timeout: Duration,
        parent: Option<Parent>,
    ) -> Self {
        let connection = connection.clone();
        Self::from_start(timeout, move |options| {
            let options = CallOptions {
                timeout: options.timeout,
                cancel_when: options.cancel_when,
                on_result: options.on_result,
                parent,
            };
            Box::pin(async move { connection.call(method, params?, options).await })
        })
    }
}

/// How long to wait for an answer to `Q`, if requests may take so long.
pub(crate) fn limit_of<Q: Request>(request_timeout: Duration) -> Duration {
    if Q::OPEN_ENDED {
        Duration::ZERO
    } else {
        request_timeout
    }
}

/// The parameters of a request, as they will be on the wire.
pub(crate) fn write(method: &str, params: &impl Serialize) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(params).map_err(|error| Error::unwritable(method.to_owned(), &error))
}

impl<R: Send + 'static> Call<R> {
    fn from_start(
        timeout: Duration,
        start: impl FnOnce(Options) -> BoxFuture<Result<R, Error>> + Send + 'static,
    ) -> Self {
        let options = Options {
            timeout,
            cancel_when: None,
            on_result: None,
        };
        Self(State::Unsent(Box::new(start), options))
    }

    /// Has a look at the result when it is read, before anything behind it is.
    pub(crate) fn on_result(mut self, look: OnResult) -> Self {
        if let State::Unsent(_, options) = &mut self.0 {
            options.on_result = Some(look);
        }
        self
    }

    /// Does something about the answer before the caller gets what is made of it.
    pub(crate) fn and_then<T, Fut>(self, then: impl FnOnce(R) -> Fut + Send + 'static) -> Call<T>
    where
        T: Send + 'static,
        Fut: Future<Output = Result<T, Error>> + Send,
    {
        let State::Unsent(start, options) = self.0 else {
            unreachable!("only a call that was just made is changed");
        };
        let start = |options| -> BoxFuture<Result<T, Error>> {
            let answer = start(options);
            Box::pin(async move { then(answer.await?).await })
        };
        Call(State::Unsent(Box::new(start), options))
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
