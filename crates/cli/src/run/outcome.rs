//! What became of the turn, in words and as an exit code.

use std::{error::Error as _, ffi::OsString, io, time::Duration};

use endturn::{
    Error, ErrorKind,
    schema::v1::{self, ErrorCode, PromptResponse},
    transport::AgentProcess,
};
use tokio::time::timeout;

use crate::{exit::Code, signals::Signal, style::one_line};

/// How long to wait for the exit of an agent whose connection is gone, to be able to tell how it ended.
///
/// An agent that dies takes no time; one that lives on has only closed its output.
const EXIT_LIMIT: Duration = Duration::from_millis(500);

/// How the turn ended.
#[derive(Debug, Clone)]
pub(super) enum Outcome {
    /// The agent has answered the prompt.
    Answered(PromptResponse),
    /// What is shown cannot be written, mostly since nobody reads it any more.
    Unread,
    /// There is no answer.
    Failed(Failure),
}

/// Why there is no answer.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub(super) kind: Kind,
    pub(super) message: String,
    pub(super) hint: Option<String>,
    /// The agent's own error.
    pub(super) error: Option<Box<v1::Error>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// The agent could not be started.
    Start,
    /// The agent is gone.
    Lost,
    /// The agent did not answer in time.
    Timeout,
    /// The agent's answer is an error, or none that can be used.
    Agent,
    /// Somebody has ended this program.
    Interrupted(Signal),
    /// This program cannot do its work.
    Internal,
}

/// What went wrong in a conversation, before anybody has looked for the reason.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) method: &'static str,
    pub(super) error: Error,
}

impl Outcome {
    pub(super) fn interrupted(signal: Signal) -> Self {
        Self::Failed(Failure {
            kind: Kind::Interrupted(signal),
            message: format!("ended by {signal} before the agent had answered"),
            hint: None,
            error: None,
        })
    }

    pub(super) fn code(&self) -> Code {
        match self {
            Self::Answered(answer) => Code::of(answer.stop_reason),
            Self::Unread => Code::Ended,
            Self::Failed(failure) => failure.code(),
        }
    }
}

impl Kind {
    /// The kind's name in a JSON line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Lost => "lost",
            Self::Timeout => "timeout",
            Self::Agent => "agent",
            Self::Interrupted(_) => "interrupted",
            Self::Internal => "internal",
        }
    }
}

impl Failure {
    pub(super) fn start(error: &io::Error) -> Self {
        let kind = error.kind();
        let hint = if kind == io::ErrorKind::NotFound {
            "check that it is installed and spelled right; the agent's command comes after `--`, \
             as in: endturn run PROMPT -- COMMAND ARGS"
        } else if kind == io::ErrorKind::PermissionDenied {
            "check that the file is a program: chmod +x makes it one"
        } else {
            "start the same command in a shell to see whether it works there"
        };
        Self {
            kind: Kind::Start,
            message: error.to_string(),
            hint: Some(hint.to_owned()),
            error: None,
        }
    }

    fn code(&self) -> Code {
        match self.kind {
            Kind::Start | Kind::Lost | Kind::Timeout => Code::AgentGone,
            Kind::Agent => Code::AgentError,
            Kind::Interrupted(signal) => Code::Signal(signal),
            Kind::Internal => Code::Failed,
        }
    }
}

impl Trouble {
    /// Finds out what there is to say about it.
    pub(super) async fn explain(self, agent: &AgentProcess, command: &[OsString]) -> Failure {
        let Self { method, error } = self;
        let protocol = error.protocol().cloned();
        let (kind, message, hint) = match error.kind() {
            ErrorKind::Protocol => (
                Kind::Agent,
                error.to_string(),
                hint_on(method, protocol.as_ref()),
            ),
            ErrorKind::UnsupportedVersion => (
                Kind::Agent,
                error.to_string(),
                Some("look for another version of the agent, or of this program".to_owned()),
            ),
            ErrorKind::InvalidAnswer => (Kind::Agent, with_sources(&error), None),
            ErrorKind::ConnectionLost => (
                Kind::Lost,
                how_it_was_lost(method, &error, agent).await,
                Some(format!(
                    "it must speak ACP on its standard input and output; run it by itself to see what it says: {}",
                    shown(command)
                )),
            ),
            ErrorKind::Timeout => (
                Kind::Timeout,
                error.to_string(),
                Some(format!(
                    "the agent runs and says nothing; it may need an argument such as --acp, or more time \
                     (--handshake-timeout): {}",
                    shown(command)
                )),
            ),
            ErrorKind::CancelTimedOut => (
                Kind::Timeout,
                error.to_string(),
                Some(
                    "an agent has to answer a cancelled turn; --cancel-timeout gives it longer"
                        .to_owned(),
                ),
            ),
            ErrorKind::InvalidInput
            | ErrorKind::Busy
            | ErrorKind::MissingCapability
            | ErrorKind::NotInitialized
            | ErrorKind::Cancelled
            | ErrorKind::TurnEnded
            | _ => (Kind::Internal, with_sources(&error), None),
        };
        Failure {
            kind,
            message: describe_data(message, protocol.as_ref()),
            hint,
            error: protocol.map(Box::new),
        }
    }
}

fn hint_on(method: &str, error: Option<&v1::Error>) -> Option<String> {
    let code = error?.code;
    let hint = if code == ErrorCode::AuthRequired {
        "the agent wants you to log in: do so with its own command, or set the key it asks for"
    } else if code == ErrorCode::RequestCancelled {
        "the agent has given the turn up, perhaps at a limit of its own"
    } else if code == ErrorCode::MethodNotFound && method == "initialize" {
        "the command does not seem to be an ACP agent, or needs an argument to be one, such as --acp"
    } else {
        return None;
    };
    Some(hint.to_owned())
}

async fn how_it_was_lost(method: &str, error: &Error, agent: &AgentProcess) -> String {
    match timeout(EXIT_LIMIT, agent.wait()).await {
        Ok(Ok(status)) => format!("the agent ended ({status}) before it answered {method}"),
        Ok(Err(_)) => format!("the agent was lost before it answered {method}: {error}"),
        Err(_) => format!("the agent closed its output before it answered {method}"),
    }
}

/// The part of an agent's error that says what exactly it did not like.
fn describe_data(message: String, error: Option<&v1::Error>) -> String {
    const MOST: usize = 500;
    let Some(data) = error.and_then(|error| error.data.as_ref()) else {
        return one_line(&message, MOST);
    };
    let data = data
        .as_str()
        .map_or_else(|| data.to_string(), ToOwned::to_owned);
    format!("{}: {}", one_line(&message, MOST), one_line(&data, MOST))
}

fn with_sources(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text += &format!(": {error}");
        source = error.source();
    }
    text
}

/// A command as one would type it, more or less.
fn shown(command: &[OsString]) -> String {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    one_line(&words.join(" "), 200)
}
