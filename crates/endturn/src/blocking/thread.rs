//! Running a function on a thread of its own.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
    thread,
};

use tokio::sync::oneshot;

use super::PromptContext;
use crate::{
    agent,
    error::{HandlerError, HandlerResult},
};

/// What a handler's thread is called.
pub(crate) trait ThreadName {
    fn thread_name(&self) -> String;
}

impl agent::PromptContext {
    /// Runs a part of an async handler that blocks, on a thread of its own and with the context of a [blocking handler](agent::AgentBuilder::on_prompt_blocking).
    ///
    /// It is for handlers that learn only from the prompt whether they have to block.
    ///
    /// # Errors
    ///
    /// What `work` fails with, or if the system has no thread left.
    ///
    /// # Panics
    ///
    /// If `work` does.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future abandons the thread; a thread that goes on has no effect on the turn any more.
    pub async fn run_blocking<R: Send + 'static>(
        &self,
        work: impl FnOnce(PromptContext) -> HandlerResult<R> + Send + 'static,
    ) -> HandlerResult<R> {
        let cx = PromptContext::new(self.clone());
        run_on_thread(cx.thread_name(), move || work(cx)).await
    }
}

/// Runs a handler on a thread of its own; dropping the future abandons the thread.
///
/// A panic of the handler comes out of the future.
pub(crate) async fn on_thread<Q, C, R, F>(
    handle: Arc<F>,
    request: Q,
    context: C,
) -> HandlerResult<R>
where
    Q: Send + 'static,
    C: ThreadName + Send + 'static,
    R: Send + 'static,
    F: Fn(Q, C) -> HandlerResult<R> + Send + Sync + 'static,
{
    run_on_thread(context.thread_name(), move || handle(request, context)).await
}

/// Runs a function on a thread of its own; dropping the future abandons the thread.
///
/// A panic of the function comes out of the future.
pub(super) async fn run_on_thread<R: Send + 'static>(
    name: String,
    run: impl FnOnce() -> HandlerResult<R> + Send + 'static,
) -> HandlerResult<R> {
    let (sender, result) = oneshot::channel();
    // A name with a NUL byte would not start at all, and the peer chooses the session's id.
    let name = name.replace('\0', "");
    thread::Builder::new().name(name).spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(run));
        // Nobody listens to a handler that was abandoned.
        drop(sender.send(result));
    })?;
    match result.await {
        Ok(Ok(result)) => result,
        Ok(Err(panic)) => resume_unwind(panic),
        Err(_) => Err(HandlerError::internal("the handler's thread is gone")),
    }
}
