//! Serving an agent from a program without a runtime.

use std::io;

use super::runtime::{Unwaited, assert_may_block};
use crate::{Agent, CancellationSignal, transport::Transport};

/// Serves one client on this thread until the connection ends; what [`Agent::serve`] is to a program with a runtime.
///
/// `open` is called once, in the context of the runtime that serves, because most transports need one: [`transport::stdio`](crate::transport) itself is such a function, and one that exists already is `|| Ok(transport)`.
/// The agent's handlers may be blocking ones or async ones; the latter run on this thread.
///
/// It returns at the end of the connection even if a blocking handler's thread still runs, or if a read from a terminal is under way that nothing can take back; neither is waited for.
///
/// ```no_run
/// use endturn::{
///     Agent, blocking,
///     schema::v1::{NewSessionResponse, PromptResponse, StopReason},
///     transport,
/// };
///
/// # fn next_words() -> String { String::new() }
/// fn main() -> std::io::Result<()> {
///     let agent = Agent::builder()
///         .on_new_session_blocking(|_request, _cx| Ok(NewSessionResponse::new("session-1")))
///         .on_prompt_blocking(|_request, cx| {
///             while !cx.is_cancelled() {
///                 cx.send_message(next_words())?;
///             }
///             Ok(PromptResponse::new(StopReason::EndTurn))
///         })
///         .build();
///     blocking::serve(&agent, transport::stdio)
/// }
/// ```
///
/// # Errors
///
/// If `open` fails, the system refuses what a runtime needs, or reading or writing fails; the latter is an [`Error`](crate::Error) inside of the [`io::Error`].
/// A client that goes away, with or without closing its end first, is no error.
///
/// # Panics
///
/// On a thread that drives async tasks.
#[track_caller]
pub fn serve(agent: &Agent, open: impl FnOnce() -> io::Result<Transport>) -> io::Result<()> {
    serve_until(agent, open, &CancellationSignal::new())
}

/// Serves one client on this thread until the connection ends, or until another thread cancels `shutdown` and then the turns have ended.
///
/// What happens after that is described at [`Agent::serve_until`]; the rest is as for [`serve`].
///
/// ```no_run
/// use endturn::{Agent, CancellationSignal, blocking, transport};
///
/// fn main() -> std::io::Result<()> {
///     let agent = Agent::builder().build();
///     let shutdown = CancellationSignal::new();
///     let button = shutdown.clone();
///     std::thread::spawn(move || {
///         std::thread::sleep(std::time::Duration::from_secs(60));
///         button.cancel();
///     });
///     blocking::serve_until(&agent, transport::stdio, &shutdown)
/// }
/// ```
///
/// # Errors
///
/// As for [`serve`].
///
/// # Panics
///
/// As for [`serve`].
#[track_caller]
pub fn serve_until(
    agent: &Agent,
    open: impl FnOnce() -> io::Result<Transport>,
    shutdown: &CancellationSignal,
) -> io::Result<()> {
    assert_may_block();
    let runtime = Unwaited::build()?;
    let transport = {
        let _context = runtime.get().enter();
        open()?
    };
    let serving = agent.serve_until(transport, shutdown.cancelled());
    runtime.get().block_on(serving).map_err(io::Error::other)
}
