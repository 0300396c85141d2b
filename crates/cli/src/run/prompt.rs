//! What is sent: from the command line or from standard input.

use std::io::{self, IsTerminal, Read};

/// More than any agent takes, and little enough for memory: whoever pipes in more has made a mistake.
const LIMIT: u64 = 16 * 1024 * 1024;

/// The prompt, or what is wrong with it.
pub(super) fn read(argument: Option<&str>) -> Result<String, String> {
    let prompt = match argument {
        Some("-") => from_stdin()?,
        Some(prompt) => prompt.to_owned(),
        None if io::stdin().is_terminal() => {
            return Err(
                "there is no prompt: give one as the argument PROMPT, or pipe one in; \
                 with the argument - it is read from the terminal"
                    .to_owned(),
            );
        }
        None => from_stdin()?,
    };
    if prompt.trim().is_empty() {
        return Err("the prompt is empty".to_owned());
    }
    Ok(prompt)
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
