//! What a typed line means.

use crate::args::Setting;

/// The commands of this program, for `/help`.
pub(super) const HELP: &str = "  /mode [ID]         show the modes, or change the mode
  /set [KEY VALUE]   show the config options, or change one
  /list              list the saved sessions
  /help              show this
  /quit              leave, as Ctrl-D does
Any other line goes to the agent; with // at its beginning also one that looks like these.
A \\ at the end of a line continues it on the next one. Ctrl-C stops the agent's turn.
";

/// The names of the commands.
pub(super) const NAMES: [&str; 5] = ["/help", "/list", "/mode", "/quit", "/set"];

/// What a line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command {
    Nothing,
    Quit,
    Mode(Option<String>),
    Set(Option<Setting>),
    List,
    Help,
    Prompt(String),
    /// A command with arguments that it does not have.
    Wrong(&'static str),
}

impl Command {
    pub(super) fn read(line: &str) -> Self {
        let line = line.trim();
        if line.is_empty() {
            return Self::Nothing;
        }
        if line.starts_with("//") {
            return Self::Prompt(line[1..].to_owned());
        }
        let words: Vec<_> = line.split_whitespace().collect();
        match words[..] {
            ["/quit"] => Self::Quit,
            ["/list"] => Self::List,
            ["/help"] => Self::Help,
            ["/mode"] => Self::Mode(None),
            ["/mode", mode] => Self::Mode(Some(mode.to_owned())),
            ["/set"] => Self::Set(None),
            ["/set", key, value] => Self::Set(Some(Setting {
                key: key.to_owned(),
                value: value.to_owned(),
            })),
            ["/quit", ..] => Self::Wrong("/quit"),
            ["/list", ..] => Self::Wrong("/list"),
            ["/help", ..] => Self::Wrong("/help"),
            ["/mode", ..] => Self::Wrong("/mode [ID]"),
            ["/set", ..] => Self::Wrong("/set [KEY VALUE]"),
            _ => Self::Prompt(line.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_command_or_goes_to_the_agent() {
        let setting = Setting {
            key: "model".to_owned(),
            value: "large".to_owned(),
        };
        let prompt = |text: &str| Command::Prompt(text.to_owned());
        for (line, command) in [
            ("", Command::Nothing),
            ("  ", Command::Nothing),
            ("/quit ", Command::Quit),
            ("/list", Command::List),
            ("/help", Command::Help),
            ("/mode", Command::Mode(None)),
            ("/mode plan", Command::Mode(Some("plan".to_owned()))),
            ("/set", Command::Set(None)),
            ("/set model  large", Command::Set(Some(setting))),
            ("/set model", Command::Wrong("/set [KEY VALUE]")),
            ("/quit now", Command::Wrong("/quit")),
            ("/modes", prompt("/modes")),
            ("/compact all", prompt("/compact all")),
            ("//help", prompt("/help")),
            ("say one\nsay two", prompt("say one\nsay two")),
        ] {
            assert_eq!(Command::read(line), command, "{line:?}");
        }
    }

    #[test]
    fn the_help_has_every_command() {
        for name in NAMES {
            assert!(HELP.contains(&format!("  {name} ")), "{name}");
            assert!(!matches!(Command::read(name), Command::Prompt(_)), "{name}");
        }
    }
}
