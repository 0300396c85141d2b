//! What is to be done: a prompt from the command line or from standard input, or prompts that are typed.

use std::io::{self, IsTerminal, Read};

use crate::args::RunArgs;

/// More than any agent takes, and little enough for memory: whoever pipes in more has made a mistake.
const LIMIT: u64 = 16 * 1024 * 1024;

/// What to do with an agent.
#[derive(Debug)]
pub(super) enum Task {
    /// List its sessions.
    List,
    /// Run one turn.
    Prompt(String),
    /// Talk to it on the terminal.
    Converse,
}

/// The task, or what is wrong with it.
pub(super) fn read(args: &RunArgs) -> Result<Task, String> {
    let prompt = match args.prompt.as_deref() {
        _ if args.list => return Ok(Task::List),
        Some("-") => from_stdin()?,
        Some(prompt) => prompt.to_owned(),
        None if !io::stdin().is_terminal() => from_stdin()?,
        None if io::stdout().is_terminal() && !args.json => return Ok(Task::Converse),
        None => {
            return Err(
                "there is no prompt: give one as the argument PROMPT, or pipe one in; \
                 with the argument - it is read from the terminal, and with standard output \
                 on the terminal and without --json prompts are typed"
                    .to_owned(),
            );
        }
    };
    if prompt.trim().is_empty() {
        return Err("the prompt is empty".to_owned());
    }
    Ok(Task::Prompt(prompt))
}

fn from_stdin() -> Result<String, String> {
    let mut prompt = Vec::new();
    io::stdin()
        .lock()
        .take(LIMIT + 1)
        .read_to_end(&mut prompt)
        .map_err(|error| format!("standard input cannot be read: {error}"))?;
    if prompt.len() as u64 > LIMIT {
        return Err("the prompt on standard input is longer than 16 MiB".to_owned());
    }
    if prompt.is_empty() {
        return Err(
            "standard input has no prompt; give one as the argument PROMPT, or pipe one in"
                .to_owned(),
        );
    }
    String::from_utf8(prompt).map_err(|_| "the prompt on standard input is not UTF-8".to_owned())
}
