//! The command line.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::{CommandFactory, Parser, Subcommand, error::ErrorKind};

/// Run ACP agents and see their turns end.
///
/// ACP, the Agent Client Protocol, connects editors and other clients with coding agents.
/// This program is both sides: `run` starts an agent, gives it one prompt and shows what comes; `agent` is an agent without a model, to try a client with.
#[derive(Debug, Parser)]
#[command(name = "endturn", version, max_term_width = 100, after_help = OVERVIEW)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start an agent, send it one prompt and show the turn
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
    after_help = RUN_SHORT,
    after_long_help = RUN_LONG,
)]
pub(crate) struct RunArgs {
    /// What to send; `-` reads it from standard input, and so does leaving it out in a pipe
    pub(crate) prompt: Option<String>,

    /// Cancel the turn this long after the prompt was sent [500ms, 60s, 30m]
    #[arg(long, value_name = "D", value_parser = duration, allow_hyphen_values = true)]
    pub(crate) cancel_after: Option<Duration>,

    /// The session's working directory [default: the current one]
    ///
    /// The agent itself starts in the current one, so that paths in COMMAND and ARGS mean what they say.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// Write JSON lines instead of text for people
    #[arg(long)]
    pub(crate) json: bool,

    /// Grant every permission the agent asks for
    ///
    /// Otherwise they are asked on the terminal; without a terminal they are refused.
    #[arg(long)]
    pub(crate) allow: bool,

    /// How long the agent may take to answer before the turn; `0s` is for ever
    ///
    /// It holds for each of `initialize` and `session/new`.
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
#[command(after_help = AGENT)]
pub(crate) struct AgentArgs {
    /// How long a turn may go on after a cancel until it is ended by force; `0s` is for ever
    #[arg(long, value_name = "D", value_parser = duration, allow_hyphen_values = true, default_value = "60s")]
    pub(crate) cancel_grace_period: Duration,

    /// How long a turn may take in all; `0s` is for ever
    #[arg(long, value_name = "D", value_parser = duration, allow_hyphen_values = true, default_value = "0s")]
    pub(crate) max_prompt_duration: Duration,
}

const OVERVIEW: &str = "\
Examples:
  endturn run --cancel-after 1500ms \"Do a long task\"
  endturn run \"Tidy up\" -- npx --yes some-agent --acp
  endturn help run

RUST_LOG=endturn=trace shows every message on standard error.";

const RUN_SHORT: &str = "\
Examples:
  endturn run --cancel-after 1500ms \"Do a long task\"
  endturn run \"Tidy up\" -- npx --yes some-agent --acp

Exit codes: 0 end_turn, 3 cancelled, 4 refusal, 5 a limit was reached, 6 the agent answered with an
error, 7 the agent is gone or did not answer, 1 other failures, 2 bad usage, 130 ended by Ctrl-C.
`--help` says more, and shows the JSON lines.";

const RUN_LONG: &str = "\
Ctrl-C cancels the turn, and the agent still has its say; a second Ctrl-C ends the agent; a third \
one kills it and leaves at once. TERM ends the agent at once.

Examples:
  endturn run --cancel-after 1500ms \"Do a long task\"
  endturn run \"Tidy up\" -- npx --yes some-agent --acp
  git diff | endturn run --cwd ../project --allow -- some-agent
  endturn run --json \"ask May I?\" | jq -r .type

Exit codes:
    0  the turn ended with end_turn; also when nobody reads the output any more
    1  this program failed, for example to write its output
    2  bad usage
    3  the turn was cancelled
    4  the agent refused to go on (stop reason refusal)
    5  the turn reached a limit (max_tokens, max_turn_requests)
    6  the agent answered with an error, or with something that cannot be understood
    7  the agent could not be started, is gone, or did not answer in time
  130  ended by Ctrl-C before there was an answer (143 by TERM, 129 by the terminal's end)

JSON lines (--json), one object a line, of these types:
  {\"type\":\"session\",\"sessionId\":…,\"agentInfo\":{\"name\":…,\"version\":…},\"protocolVersion\":1}
  {\"type\":\"update\",\"update\":{\"sessionUpdate\":…}}     the protocol's own object
  {\"type\":\"permission\",\"toolCall\":{…},\"options\":[…],\"outcome\":{\"outcome\":…}}
  {\"type\":\"cancel\",\"cause\":\"interrupt\"}              the turn is being cancelled; or \"cancel_after\"
  {\"type\":\"stray\",\"line\":…,\"advice\":…}              a line of the agent's that is no message
  {\"type\":\"error\",\"kind\":…,\"message\":…,\"hint\":…,\"error\":{\"code\":…}}
  {\"type\":\"end\",\"exitCode\":3,\"stopReason\":\"cancelled\"}
The end is always there and always last, except after bad usage. Without an answer its stopReason is \
null and an error comes before it, of one of these kinds: start, lost, timeout, agent, interrupted, \
internal. Its `error` is the agent's own, or null. The agent's standard error is passed on.";

const AGENT: &str = "\
Steps of a script:
  steps N D          say `Step i/N... ` N times with a pause, stop when cancelled
  say TEXT           one piece of message          think TEXT      one piece of thought
  sleep D            wakes early when cancelled    ignore D        sleeps through a cancel
  wait               wait until cancelled          hang            never return
  flood N BYTES      N messages at once            tool TITLE D    run a tool call
  ask TITLE          ask for a permission          late TEXT       send after the turn's end
  end STOP_REASON    end the turn so               error CODE MESSAGE, fail MESSAGE, panic
  meta JSON_OBJECT   the _meta of the answer

INT and TERM cancel the running turns and end the agent when they are answered; a second signal ends \
it at once. So does the end of its input.";

/// A duration such as `500ms`, `60s` or `1h 30m`.
fn duration(text: &str) -> Result<Duration, String> {
    const FORMAT: &str = "write a number with its unit, for example 500ms, 60s, 30m or \"1h 30m\"";
    let duration: jiff::SignedDuration = text.parse().map_err(|_| FORMAT)?;
    Duration::try_from(duration).map_err(|_| "it is negative; ".to_owned() + FORMAT)
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
