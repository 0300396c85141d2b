//! What makes calls and answers them at either end, with a note of it in the trace.

use std::{panic::resume_unwind, pin::pin, time::Duration};

use endturn::{
    Error, ErrorKind, HandlerError, HandlerResult,
    schema::v1::{self, Meta, PromptResponse},
};
use tokio::time::sleep;

use crate::{
    label,
    script::Reply,
    trace::{End, Event, Finish, Kind, Outcome, Trace},
};

/// The code of an error that a handler makes for its peer.
pub(crate) const REFUSED: i32 = -32042;

/// A call that is about to be made.
pub(crate) struct Caller {
    pub(crate) trace: Trace,
    pub(crate) end: End,
    pub(crate) call: String,
    pub(crate) session: String,
    pub(crate) kind: Kind,
    pub(crate) limit: u64,
}

impl Caller {
    /// Follows a call until it returns, its caller leaves, or its caller is dropped.
    pub(crate) async fn follow<R>(
        self,
        call: impl Future<Output = Result<R, Error>>,
        leaves: impl Future<Output = ()>,
        tell: impl FnOnce(&R) -> String,
    ) {
        let Self {
            trace,
            end,
            call: name,
            session,
            kind,
            limit,
        } = self;
        let calls = Event::Calls {
            call: name.clone(),
            session,
            kind,
            limit,
        };
        trace.record(end, calls);
        let left = trace.on_drop(end, Event::Left { call: name.clone() });
        let returned = {
            let call = pin!(call);
            tokio::select! {
                // The call comes first, so that nothing happens between the entry above and its first poll.
                biased;
                returned = call => returned,
                () = leaves => return,
            }
        };
        left.disarm();
        let outcome = outcome(returned.as_ref().map(tell));
        trace.record(
            end,
            Event::Returned {
                call: name,
                outcome,
            },
        );
    }
}

/// The stop reason, as it is on the wire.
pub(crate) fn stop_reason(response: &PromptResponse) -> String {
    let reason = serde_json::to_value(response.stop_reason).expect("a stop reason is a string");
    reason.as_str().unwrap_or_default().to_owned()
}

/// What a caller got, as the trace has it.
pub(crate) fn outcome(result: Result<String, &Error>) -> Outcome {
    let error = match result {
        Ok(answer) => return Outcome::Answered(answer),
        Err(error) => error,
    };
    match (error.kind(), error.code()) {
        (ErrorKind::Protocol, Some(code)) => Outcome::Error(code.into()),
        (ErrorKind::Busy, _) => Outcome::Busy,
        (ErrorKind::Timeout, _) => Outcome::TimedOut,
        (ErrorKind::CancelTimedOut, _) => Outcome::CancelTimedOut,
        (ErrorKind::Cancelled | ErrorKind::TurnEnded, _) => Outcome::TurnOver,
        (ErrorKind::ConnectionLost, _) => Outcome::Lost,
        (kind, code) => panic!("a script cannot lead to {kind:?} {code:?}: {error}"),
    }
}

/// Handles a request other than a prompt, as its label says.
pub(crate) async fn reply(trace: &Trace, end: End, meta: Option<Meta>) -> HandlerResult<()> {
    let label = label::read::<Reply>(meta);
    let request = label.call;
    let begins = Event::Begins {
        request: request.clone(),
        cancelled: false,
    };
    trace.record(end, begins);
    let gone = Event::Gone {
        request: request.clone(),
    };
    let _gone = trace.on_drop(end, gone);
    let finish = match label.does {
        Reply::Returns => Finish::Returns(String::new()),
        Reply::Later(time) => {
            sleep(Duration::from_millis(time)).await;
            Finish::Returns(String::new())
        }
        Reply::Refuses => Finish::Refuses(REFUSED.into()),
        Reply::Fails => Finish::Fails,
        Reply::Panics => Finish::Panics,
        Reply::Hangs => std::future::pending().await,
    };
    let finishes = Event::Finishes {
        request,
        finish: finish.clone(),
    };
    trace.record(end, finishes);
    end_with(&finish)
}

/// Ends a handler that does not return a response.
pub(crate) fn end_with(finish: &Finish) -> HandlerResult<()> {
    match finish {
        Finish::Returns(_) => Ok(()),
        Finish::Fails => Err(HandlerError::internal("as the script wants it")),
        Finish::Refuses(_) => Err(v1::Error::new(REFUSED, "as the script wants it"))?,
        // A panic without the hook, whose output would bury that of a failing test.
        Finish::Panics => resume_unwind(Box::new("as the script wants it")),
    }
}
