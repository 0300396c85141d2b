//! The command line.

mod help;

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::{CommandFactory, Parser, Subcommand, error::ErrorKind};

/// Run ACP agents and see their turns end.
///
/// ACP, the Agent Client Protocol, connects editors and other clients with coding agents.
/// This program is both sides: `run` starts an agent, talks to it and shows what it does; `agent` is an agent without a model, to try a client with.
#[derive(Debug, Parser)]
#[command(name = "endturn", version, max_term_width = 100, after_help = help::OVERVIEW)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start an agent, send it a prompt and show the turn; without a prompt, talk to it on the terminal
    ///
    /// Without a COMMAND, the scripted agent of `endturn agent` runs as a process of its own.
    Run(RunArgs),
    /// Serve the scripted agent on standard input and output
    ///
    /// It has no model: the text of a prompt is a script, one step a line, and any other text runs `steps 10 500ms`.
    /// A client starts it, as `endturn run` does.
    Agent(AgentArgs),
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = help::RUN_SHORT,
    after_long_help = help::RUN_LONG,
)]
pub(crate) struct RunArgs {
    /// What to send; `-` reads it from standard input, and so does leaving it out in a pipe
    ///
    /// Without it, on a terminal, prompts are typed, one after the other.
    pub(crate) prompt: Option<String>,

    /// Go on with a saved session: with its history if the agent loads sessions, or else without
    #[arg(long, value_name = "ID")]
    pub(crate) resume: Option<String>,

    /// List the agent's saved sessions instead of sending a prompt
    ///
    /// One line each, those used last first: the session's id, when it was used, its directory and its title.
    /// Only those in the directory that --cwd names, if it is given.
    #[arg(long, conflicts_with_all = ["prompt", "resume", "mode", "set", "cancel_after"])]
    pub(crate) list: bool,

    /// Put the session into this mode first
    #[arg(long, value_name = "ID")]
    pub(crate) mode: Option<String>,

    /// Set a config option of the session first; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    pub(crate) set: Vec<Setting>,

    /// Cancel the turn this long after the prompt was sent [500ms, 60s, 30m]; in a conversation, each turn
    #[arg(long, value_name = "D", value_parser = duration, allow_hyphen_values = true)]
    pub(crate) cancel_after: Option<Duration>,

    /// The session's working directory [default: the current one]
    ///
    /// Files are served below it, and commands run there.
    /// The agent itself starts in the current one, so that paths in COMMAND and ARGS mean what they say.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// Write JSON lines instead of text for people
    #[arg(long)]
    pub(crate) json: bool,

    /// Grant every permission the agent asks for
    ///
    /// Otherwise they are asked on the terminal; without a terminal they are refused.
    /// Files that the agent reads or writes through this program, and commands that it runs through it, are served without a question, in the working directory and below: to ask first is the agent's part.
    #[arg(long)]
    pub(crate) allow: bool,

    /// Offer the agent no files
    #[arg(long)]
    pub(crate) no_fs: bool,

    /// Offer the agent no terminals, in which it could run commands
    #[arg(long)]
    pub(crate) no_terminal: bool,

    /// Keep no history of the prompts that are typed
    ///
    /// It is kept in the state directory, `$XDG_STATE_HOME/endturn` or `~/.local/state/endturn`.
    #[arg(long)]
    pub(crate) no_history: bool,

    /// How long the agent may take to answer before the turn; `0s` is for ever
    ///
    /// It holds for each request but the prompt.
    /// The default leaves time for a launcher such as npx to download the agent first.
    #[arg(long, value_name = "D", value_parser = duration, allow_hyphen_values = true, default_value = "60s")]
    pub(crate) handshake_timeout: Duration,

    /// How long the agent may take to answer a cancelled turn; `0s` is for ever
    ///
    /// The default is longer than the 60 s that agents on this SDK give a handler by default.
    #[arg(long, value_name = "D", value_parser = duration, allow_hyphen_values = true, default_value = "90s")]
    pub(crate) cancel_timeout: Duration,

    /// The agent's command and its arguments, after `--` [default: endturn agent]
    #[arg(last = true, value_names = ["COMMAND", "ARGS"])]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = help::agent(false), after_long_help = help::agent(true))]
pub(crate) struct AgentArgs {
    /// How long a turn may go on after a cancel until it is ended by force; `0s` is for ever
    #[arg(long, value_name = "D", value_parser = duration, allow_hyphen_values = true, default_value = "60s")]
    pub(crate) cancel_grace_period: Duration,

    /// How long a turn may take in all; `0s` is for ever
    #[arg(long, value_name = "D", value_parser = duration, allow_hyphen_values = true, default_value = "0s")]
    pub(crate) max_prompt_duration: Duration,
}

/// A duration such as `500ms`, `60s` or `1h 30m`.
fn duration(text: &str) -> Result<Duration, String> {
    const FORMAT: &str = "write a number with its unit, for example 500ms, 60s, 30m or \"1h 30m\"";
    let duration: jiff::SignedDuration = text.parse().map_err(|_| FORMAT)?;
    Duration::try_from(duration).map_err(|_| "it is negative; ".to_owned() + FORMAT)
}

/// A config option and its value, as they are written on a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) key: String,
    pub(crate) value: String,
}

fn setting(text: &str) -> Result<Setting, &'static str> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok(Setting {
            key: key.to_owned(),
            value: value.to_owned(),
        }),
        Some(_) | None => Err("write KEY=VALUE"),
    }
}

/// Ends the program with the usage of a subcommand, as for any other mistake in the arguments.
pub(crate) fn bad_usage(subcommand: &str, message: &str) -> ! {
    let mut args = Args::command();
    // Names the subcommand in the usage line.
    args.build();
    let command = args
        .find_subcommand_mut(subcommand)
        .expect("the program knows its subcommands");
    command.error(ErrorKind::ValueValidation, message).exit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn a_setting_is_a_key_and_a_value() {
        let pair = |key: &str, value: &str| {
            let (key, value) = (key.to_owned(), value.to_owned());
            Ok(Setting { key, value })
        };
        assert_eq!(setting("model=large"), pair("model", "large"));
        assert_eq!(setting("a=b=c"), pair("a", "b=c"));
        assert_eq!(setting("a="), pair("a", ""));
        assert!(setting("a").is_err());
        assert!(setting("=a").is_err());
    }

    #[test]
    fn durations_are_numbers_with_units() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("0s"), Ok(Duration::ZERO));
        assert_eq!(duration("1h 30m"), Ok(Duration::from_secs(5400)));
        for wrong in [
            "",
            "5",
            "soon",
            "-1s",
            "1 s ago",
            "5 parsecs",
            "1e9s",
            "99999999999999999999s",
        ] {
            let error = duration(wrong).unwrap_err();
            assert!(error.contains("500ms"), "{wrong:?}: {error}");
        }
    }
}
