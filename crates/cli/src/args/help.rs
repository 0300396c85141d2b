//! The longer texts of `--help`.

use endturn_testkit::scripted;

pub(super) const OVERVIEW: &str = "\
Examples:
  endturn run --cancel-after 1500ms \"Do a long task\"
  endturn run \"Tidy up\" -- npx --yes some-agent --acp
  endturn run -- some-agent
  endturn help run

RUST_LOG=endturn=trace shows every message on standard error.";

pub(super) const RUN_SHORT: &str = "\
Examples:
  endturn run --cancel-after 1500ms \"Do a long task\"
  endturn run \"Tidy up\" -- npx --yes some-agent --acp
  endturn run -- some-agent

Exit codes: 0 end_turn, 3 cancelled, 4 refusal, 5 a limit was reached, 6 the agent answered with an
error or does not offer what was asked for, 7 the agent is gone or did not answer, 1 other failures,
2 bad usage, 130 ended by Ctrl-C.
`--help` says more, and shows the JSON lines.";

pub(super) const RUN_LONG: &str = "\
Ctrl-C cancels the turn, and the agent still has its say; a second Ctrl-C ends the agent; a third \
one kills it and leaves at once. TERM ends the agent at once.

Without a prompt, on a terminal, prompts are typed:
  a \\ at the end of a line continues it on the next one; Tab completes commands
  Ctrl-C takes the line back, Ctrl-D or /quit leaves
  /mode [ID]         show the modes, or change the mode
  /set [KEY VALUE]   show the config options, or change one
  /list              list the saved sessions
  /help              show these commands, and the agent's own
Any other line goes to the agent, its own commands too; //help is the agent's /help. What is typed \
while a turn runs is not taken for a prompt. The agent's standard error is kept back then, and its end is shown when the agent fails.

Examples:
  endturn run --cancel-after 1500ms \"Do a long task\"
  endturn run \"Tidy up\" -- npx --yes some-agent --acp
  git diff | endturn run --cwd ../project --allow -- some-agent
  endturn run --json \"ask May I?\" | jq -r .type
  endturn run --list -- some-agent
  endturn run --resume ID --mode plan --set model=large \"Go on\" -- some-agent

Exit codes:
    0  the turn ended with end_turn; also when nobody reads the output any more, after --list, and
       when a conversation is left
    1  this program failed, for example to write its output
    2  bad usage
    3  the turn was cancelled
    4  the agent refused to go on (stop reason refusal)
    5  the turn reached a limit (max_tokens, max_turn_requests)
    6  the agent answered with an error, or with something that cannot be understood, or does not
       offer what was asked for
    7  the agent could not be started, is gone, or did not answer in time
  130  ended by Ctrl-C before there was an answer (143 by TERM, 129 by the terminal's end)

JSON lines (--json), one object a line, of these types:
  {\"type\":\"session\",\"sessionId\":…,\"agentInfo\":{\"name\":…,\"version\":…},\"protocolVersion\":1,
   \"opened\":\"new\",\"modes\":{…},\"configOptions\":[…]}  opened is new, loaded or resumed
  {\"type\":\"update\",\"update\":{\"sessionUpdate\":…}}     the protocol's own object
  {\"type\":\"mode\",\"modeId\":…}                       --mode has been carried out
  {\"type\":\"config\",\"configOptions\":[…]}            --set has been carried out
  {\"type\":\"listed\",\"session\":{\"sessionId\":…}}      --list: the protocol's own object
  {\"type\":\"permission\",\"toolCall\":{…},\"options\":[…],\"outcome\":{\"outcome\":…}}
  {\"type\":\"cancel\",\"cause\":\"interrupt\"}              the turn is being cancelled; or \"cancel_after\"
  {\"type\":\"stray\",\"line\":…,\"advice\":…}              a line of the agent's that is no message
  {\"type\":\"error\",\"kind\":…,\"message\":…,\"hint\":…,\"error\":{\"code\":…}}
  {\"type\":\"end\",\"exitCode\":3,\"stopReason\":\"cancelled\"}
The history of a loaded session comes as updates before its session line. The end is always there \
and always last, except after bad usage. Without an answer its stopReason is null and, except after \
--list, an error comes before it, of one of these kinds: start, lost, timeout, agent, interrupted, \
internal. Its `error` is the agent's own, or null. The agent's standard error is passed on.";

/// On the scripted agent: its steps and signals, and in full also its sessions.
pub(super) fn agent(full: bool) -> String {
    let steps = scripted::STEPS;
    let mut text = format!(
        "Steps of a script, which the prompt /help lists too:\n{steps}\n\
         INT and TERM cancel the running turns and end the agent when they are answered; a second \
         signal ends it at once. So does the end of its input."
    );
    if full {
        text += &format!(
            "\n\n\
             Sessions are kept in memory: {} of them with {} KiB of history each, of which the oldest \
             go first, and a list has {} on a page. The modes are default and careful, which asks for \
             a permission before each write and run. The config options are model (small, large), \
             which has no effect, and thinking (true, false), whether `think` steps are sent.",
            scripted::SESSIONS_KEPT,
            scripted::HISTORY_BYTES / 1024,
            scripted::PAGE_SIZE,
        );
    }
    text
}
