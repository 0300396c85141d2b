//! What the handler of one request can learn about its own cancellation.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
};

use endturn_core::turn::agent::CancelCause;
use tokio::{sync::Notify, task::AbortHandle};

/// Something to run once, when a request is cancelled.
pub(crate) type Callback = Box<dyn FnOnce() + Send>;

/// Whether one request is cancelled, shared by the connection and the handler's contexts.
///
/// The cause is written under the connection's lock only, and read anywhere.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// Zero while nobody has cancelled; else one more than the cause's place in [`CancelCause::ALL`].
    cause: AtomicU8,
    cancelled: Notify,
}

impl Scope {
    pub(crate) fn cause(&self) -> Option<CancelCause> {
        let place = usize::from(self.cause.load(Ordering::Acquire)).checked_sub(1)?;
        Some(CancelCause::ALL[place])
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cause.load(Ordering::Acquire) != 0
    }

    pub(crate) async fn cancelled(&self) {
        loop {
            let mut cancelled = std::pin::pin!(self.cancelled.notified());
            cancelled.as_mut().enable();
            if self.is_cancelled() {
                return;
            }
            cancelled.await;
        }
    }
}

/// What has to wait until the connection's lock is free, because it runs code of the program or of the runtime.
///
/// Most steps leave nothing here, so that making and running it has to cost nothing then: it is one list and not one for each kind.
#[derive(Default)]
#[must_use]
pub(crate) struct After(Vec<Deferred>);

/// In the order in which they are carried out.
enum Deferred {
    Call(Callback),
    Wake(Arc<Scope>),
    Abort(AbortHandle),
    Drop(Box<dyn Send>),
}

impl Deferred {
    fn rank(&self) -> u8 {
        match self {
            Self::Call(_) => 0,
            Self::Wake(_) => 1,
            Self::Abort(_) => 2,
            Self::Drop(_) => 3,
        }
    }
}

impl After {
    /// Cancels a scope, or raises its cause; the first time its callbacks run too.
    pub(crate) fn cancel(
        &mut self,
        scope: &Arc<Scope>,
        callbacks: &mut Vec<Callback>,
        cause: CancelCause,
    ) {
        let place = CancelCause::ALL
            .iter()
            .position(|known| *known == cause)
            .and_then(|place| u8::try_from(place + 1).ok())
            .expect("every cause has its place");
        if scope.cause.fetch_max(place, Ordering::AcqRel) == 0 {
            self.0.extend(callbacks.drain(..).map(Deferred::Call));
            self.0.push(Deferred::Wake(Arc::clone(scope)));
        }
    }

    /// Drops a handler.
    pub(crate) fn abort(&mut self, task: Option<AbortHandle>) {
        self.0.extend(task.map(Deferred::Abort));
    }

    /// Drops something that holds parts of the program, which may have opinions about that.
    pub(crate) fn discard(&mut self, what: impl Send + 'static) {
        self.0.push(Deferred::Drop(Box::new(what)));
    }

    /// Drops callbacks that will never run.
    pub(crate) fn discard_all(&mut self, callbacks: Vec<Callback>) {
        if !callbacks.is_empty() {
            self.discard(callbacks);
        }
    }

    /// Runs a callback.
    pub(crate) fn call(&mut self, callback: Option<Callback>) {
        self.0.extend(callback.map(Deferred::Call));
    }

    pub(crate) fn run(mut self) {
        if self.0.is_empty() {
            return;
        }
        self.0.sort_by_key(Deferred::rank);
        for deferred in self.0 {
            match deferred {
                // One program's mistake must not cost the connection its reader.
                Deferred::Call(callback) => {
                    if catch_unwind(AssertUnwindSafe(callback)).is_err() {
                        tracing::error!("a cancellation callback panicked");
                    }
                }
                Deferred::Wake(scope) => scope.cancelled.notify_waiters(),
                Deferred::Abort(task) => task.abort(),
                Deferred::Drop(what) => drop(what),
            }
        }
    }
}
