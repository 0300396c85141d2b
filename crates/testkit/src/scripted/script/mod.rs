//! What a script says.

mod line;
#[cfg(test)]
mod tests;

use std::{fmt, str::FromStr, time::Duration};

use endturn::schema::v1::{Meta, StopReason};

use super::sessions::{Mode, Setting};

/// The steps, as a person reads them: what the command `/help` answers.
pub const STEPS: &str =
    "  steps N D          say `Step i/N... ` N times with a pause, stop when cancelled
  say TEXT           one piece of message          think TEXT      one piece of thought
  sleep D            wakes early when cancelled    ignore D        sleeps through a cancel
  wait               wait until cancelled          hang            never return
  flood N BYTES      N messages at once            tool TITLE D    run a tool call
  ask TITLE          ask for a permission          elicit MESSAGE  ask for a line of text
  read PATH          read a file of the client     write PATH TEXT write one
  run COMMAND        run a shell command there     plan A; B; C    carry out a plan
  usage USED SIZE    report tokens                 title TEXT      name the session
  mode ID            change the mode               set KEY VALUE   change a config option
  late TEXT          send after the turn's end     meta JSON       the _meta of the answer
  end STOP_REASON    end the turn so               error CODE MESSAGE, fail MESSAGE, panic
  blocking           as the first line: run the rest on a thread that blocks
";

/// A script for the [scripted agent](super), read from a prompt's text.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    pub(super) blocking: bool,
    pub(super) steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    Steps { count: u32, pause: Duration },
    Say(String),
    Think(String),
    Sleep(Duration),
    Ignore(Duration),
    Wait,
    Hang,
    Flood { count: u64, bytes: usize },
    Ask(String),
    Elicit(String),
    Tool { title: String, duration: Duration },
    Read(String),
    Write { path: String, text: String },
    Run(String),
    Plan(Vec<String>),
    Usage { used: u64, size: u64 },
    Title(String),
    Mode(Mode),
    Set(Setting),
    Late(String),
    Fail(String),
    Error { code: i32, message: String },
    Panic,
    End(StopReason),
    Meta(Meta),
    Help,
}

/// Why a text that looks like a script is not one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidScript {
    line: usize,
    usage: &'static str,
}

impl fmt::Display for InvalidScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, usage } = self;
        write!(f, "line {line} of the script should be: {usage}")
    }
}

impl std::error::Error for InvalidScript {}

impl FromStr for Script {
    type Err = InvalidScript;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut lines = text
            .lines()
            .map(str::trim)
            .zip(1..)
            .filter(|(line, _)| !line.is_empty())
            .peekable();
        let blocking = lines.next_if(|(line, _)| *line == "blocking").is_some();
        let mut steps = Vec::new();
        for (line, number) in lines {
            match line::step(line) {
                Ok(Some(step)) => steps.push(step),
                // It is a text and no script.
                Ok(None) if steps.is_empty() => break,
                wrong => {
                    let usage = wrong.err().unwrap_or("a step");
                    return Err(InvalidScript {
                        line: number,
                        usage,
                    });
                }
            }
        }
        if steps.is_empty() {
            steps.push(Step::Steps {
                count: 10,
                pause: Duration::from_millis(500),
            });
        }
        Ok(Self { blocking, steps })
    }
}
