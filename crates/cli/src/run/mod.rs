//! `endturn run`: one agent, one session, one turn or one after the other.
//!
//! ```text
//!   start the agent ─► conversation ──────────┐ the answer, or what is wrong
//!                      signals ───────────────┤ somebody wants it to end      ─► outcome
//!                      screen ────────────────┘ nobody reads the output
//!
//!   outcome ─► show the end ─► stop the agent ─► flush ─► exit code
//! ```
//!
//! Whatever happens becomes an [`Outcome`], and every outcome takes the second line. So no way out
//! leaves an agent behind, and none leaves a script without its last line.

mod answer;
mod client;
mod conversation;
mod interactive;
mod list;
mod outcome;
mod permission;
mod prompt;
mod session;
mod show;
mod turn;

use std::{ffi::OsString, io, path::PathBuf};

use endturn::transport::{AgentCommand, AgentProcess, Stderr, Transport};

use crate::{
    args::{RunArgs, bad_usage},
    exit::Code,
    signals::{Signal, Signals},
    style,
};
use conversation::Conversation;
use outcome::{Failure, Outcome};
use prompt::Task;
use show::{Event, Screen, Show};
use turn::Turn;

pub(crate) fn run(args: RunArgs) -> Code {
    let cwd = working_directory(args.cwd.clone()).unwrap_or_else(|why| bad_usage("run", &why));
    // Read before any signal is caught: until there is an agent, Ctrl-C just ends the program.
    let task = prompt::read(&args).unwrap_or_else(|why| bad_usage("run", &why));
    let started = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .and_then(|runtime| {
            let code = runtime.block_on(with_agent(&args, cwd, task));
            // A thread that is stuck in a write or on the terminal must not hold up the exit.
            runtime.shutdown_background();
            code
        });
    started.unwrap_or_else(|error| {
        style::complain(&error.to_string(), None);
        Code::Failed
    })
}

/// Does what is to be done, and returns when the agent is gone and everything is shown.
async fn with_agent(args: &RunArgs, cwd: PathBuf, task: Task) -> io::Result<Code> {
    let mut signals = Signals::catch()?;
    let (show, mut screen) = Screen::start(args.json);
    // The agent's log must not run into a line that is being typed.
    let stderr = match task {
        Task::Converse => Stderr::Capture,
        Task::List | Task::Prompt(_) => Stderr::Inherit,
    };

    let (outcome, agent) = match start(&args.command, stderr) {
        Err(failure) => (Outcome::Failed(failure), None),
        Ok((agent, transport, command)) => {
            let turn = Turn::new(show.clone());
            let conversation = Conversation {
                args,
                cwd,
                show: &show,
                turn: &turn,
                agent: &agent,
                command: &command,
            };
            let outcome = tokio::select! {
                biased;
                ended = conversation.hold(task, transport) => match ended {
                    Ok(outcome) => outcome,
                    Err(trouble) => Outcome::Failed(trouble.explain(&agent, &command).await),
                },
                signal = last_straw(&mut signals, &turn) => Outcome::interrupted(signal),
                () = screen.ended() => Outcome::Unread,
            };
            (outcome, Some(agent))
        }
    };
    let code = outcome.code();
    show.tell(Event::End(outcome));
    if let Some(agent) = agent {
        stop(&agent, &mut signals, &show).await;
    }
    show.tell(Event::Finish);
    finish(screen, code, &mut signals).await
}

/// Waits for a signal that ends more than the turn; the first Ctrl-C of a turn only cancels that.
async fn last_straw(signals: &mut Signals, turn: &Turn) -> Signal {
    loop {
        let signal = signals.next().await;
        if signal != Signal::Interrupt || !turn.interrupt() {
            return signal;
        }
    }
}

/// Ends the agent: in good order, which takes bounded time, or at once when somebody insists.
async fn stop(agent: &AgentProcess, signals: &mut Signals, show: &Show) {
    let stopped = tokio::select! {
        biased;
        _ = signals.next() => {
            agent.kill();
            return;
        }
        stopped = agent.stop() => stopped,
    };
    if let Err(error) = stopped {
        show.tell(Event::Warning(format!(
            "the agent may still be running as process {}: {error}",
            agent.id()
        )));
    }
}

/// Lets the screen write what it has, unless somebody insists on leaving.
async fn finish(mut screen: Screen, code: Code, signals: &mut Signals) -> io::Result<Code> {
    tokio::select! {
        biased;
        () = screen.ended() => {}
        _ = signals.next() => {}
    }
    match screen.into_result() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let message = format!("the output cannot be written: {error}");
            Err(io::Error::new(error.kind(), message))
        }
        // Nobody reading any more is not this program's trouble.
        Ok(()) | Err(_) => Ok(code),
    }
}

/// Starts the agent; without a command, this program's own one.
fn start(
    given: &[OsString],
    stderr: Stderr,
) -> Result<(AgentProcess, Transport, Vec<OsString>), Failure> {
    let command = if given.is_empty() {
        let this = std::env::current_exe().map_err(|error| Failure::start(&error))?;
        vec![this.into(), "agent".into()]
    } else {
        given.to_vec()
    };
    let (agent, transport) = AgentCommand::new(&command[0])
        .args(&command[1..])
        .stderr(stderr)
        .spawn()
        .map_err(|error| Failure::start(&error))?;
    Ok((agent, transport, command))
}

/// The session's working directory, which the protocol wants to be absolute.
fn working_directory(given: Option<PathBuf>) -> Result<PathBuf, String> {
    let Some(dir) = given else {
        return std::env::current_dir().map_err(|error| {
            format!("there is no current directory ({error}); name one with --cwd")
        });
    };
    if !dir.is_dir() {
        return Err(format!("--cwd: `{}` is not a directory", dir.display()));
    }
    std::path::absolute(&dir).map_err(|error| format!("--cwd: `{}`: {error}", dir.display()))
}
