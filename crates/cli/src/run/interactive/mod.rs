//! A conversation on the terminal: prompts are typed, one after the other.
//!
//! ```text
//!   editor (a thread) ─► line ─► command of this program's, or prompt ─► turn ─► all is shown ─┐
//!          ▲                                                                                   │
//!          └───────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! The terminal belongs to one side at a time.
//! While a line is typed, what comes from the agent is held back; the next line is asked for only when the agent has answered and everything that came before the answer is written, so a turn that ends late makes no prompt appear early.

mod command;
mod editor;
mod words;

use std::{cell::RefCell, fmt::Write};

use endturn::Client;

use super::{
    answer::Terminal,
    conversation::Conversation,
    list,
    outcome::{Outcome, Trouble},
    session::Session,
    show::{Event, value_of},
};
use crate::style::one_line;
use command::Command;
use editor::{Editor, Line};
pub(super) use words::Words;

/// How much of the agent's standard error is shown when it has failed.
const LOG_LINES: usize = 10;

/// Talks to the agent until the user leaves; fails when the agent is gone.
pub(super) async fn converse(
    conversation: &Conversation<'_>,
    client: &Client,
    session: &Session<'_>,
    words: &Words,
    terminal: &Terminal,
) -> Result<(), Trouble> {
    let Conversation { args, show, .. } = conversation;
    let editor = Editor::start(words.clone(), terminal.clone(), !args.no_history, show)
        .map_err(Trouble::Local)?;
    let dialogue = Dialogue {
        conversation,
        client,
        session,
        words,
        log: RefCell::default(),
    };
    show.tell(Event::Notice(dialogue.greeting()));
    loop {
        words.set_choices(session.modes(), &session.options());
        let line = tokio::select! {
            biased;
            line = editor.line(show) => line,
            error = client.closed() => {
                dialogue.show_log();
                return Err(Trouble::Gone(error));
            }
        };
        let text = match line {
            Line::Text(text) => text,
            Line::TakenBack => {
                show.tell(Event::Notice("Ctrl-D or /quit leaves.\n".to_owned()));
                continue;
            }
            Line::End => return Ok(()),
        };
        match dialogue.carry_out(Command::read(&text)).await {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(trouble) => {
                dialogue.show_log();
                if trouble.is_lost() {
                    return Err(trouble);
                }
                let failure = trouble.explain(conversation.agent, conversation.command);
                show.tell(Event::TurnOver(Outcome::Failed(failure.await)));
            }
        }
    }
}

/// What the commands work with.
struct Dialogue<'a> {
    conversation: &'a Conversation<'a>,
    client: &'a Client,
    session: &'a Session<'a>,
    words: &'a Words,
    /// The agent's standard error, as far as it was shown.
    log: RefCell<String>,
}

impl Dialogue<'_> {
    /// Does what a line says, and tells whether it is the end.
    async fn carry_out(&self, command: Command) -> Result<bool, Trouble> {
        let Conversation {
            args, show, turn, ..
        } = self.conversation;
        match command {
            Command::Nothing => {}
            Command::Quit => return Ok(true),
            Command::Prompt(text) => {
                let answer = self.session.prompt(&text, turn, args).await?;
                show.tell(Event::TurnOver(Outcome::Answered(answer)));
            }
            Command::Mode(Some(mode)) => self.session.set_mode(&mode).await?,
            Command::Mode(None) => show.tell(Event::Notice(self.modes())),
            Command::Set(Some(setting)) => self.session.set(&setting).await?,
            Command::Set(None) => show.tell(Event::Notice(self.options())),
            Command::List => {
                if list::list(self.client, show, None).await? == 0 {
                    show.tell(Event::Notice("There are no saved sessions.\n".to_owned()));
                }
            }
            Command::Help => show.tell(Event::Notice(self.help())),
            Command::Wrong(usage) => show.tell(Event::Notice(format!("Usage: {usage}\n"))),
        }
        Ok(false)
    }

    /// Shows the end of what the agent has written to its standard error since the last time.
    fn show_log(&self) {
        let tail = self.conversation.agent.stderr_tail();
        let old = self.log.replace(tail.clone());
        let new = tail.strip_prefix(old.as_str()).unwrap_or(&tail);
        let lines: Vec<_> = new.lines().collect();
        let last = lines.len().saturating_sub(LOG_LINES);
        let shown: String = lines[last..]
            .iter()
            .map(|line| format!("agent: {}\n", one_line(line, 500)))
            .collect();
        if !shown.is_empty() {
            self.conversation.show.tell(Event::Notice(shown));
        }
    }

    fn greeting(&self) -> String {
        let agent = self.client.agent().ok();
        let info = agent.as_ref().and_then(|agent| agent.info());
        let name = info.map_or_else(
            || "the agent".to_owned(),
            |info| {
                let name = info.title.as_deref().unwrap_or(&info.name);
                one_line(&format!("{name} {}", info.version), 80)
            },
        );
        format!("This is {name}. /help lists the commands; Ctrl-D leaves.\n")
    }

    fn modes(&self) -> String {
        let Some(modes) = self.session.modes() else {
            return "The agent has no modes.\n".to_owned();
        };
        let mut text = String::new();
        for mode in &modes.available_modes {
            let mark = if mode.id == modes.current_mode_id {
                '*'
            } else {
                ' '
            };
            let description = mode.description.as_deref().unwrap_or(&mode.name);
            entry(&mut text, mark, &mode.id.0, description);
        }
        text
    }

    fn options(&self) -> String {
        let mut text = String::new();
        for option in self.session.options() {
            let description = option.description.as_deref().unwrap_or(&option.name);
            let id = format!("{} {}", option.id, value_of(&option));
            entry(&mut text, ' ', &id, description);
        }
        if text.is_empty() {
            text += "The agent has no config options.\n";
        }
        text
    }

    fn help(&self) -> String {
        let mut text = command::HELP.to_owned();
        let commands = self.words.commands();
        if !commands.is_empty() {
            text += "The agent's commands:\n";
        }
        for (name, description) in commands {
            entry(&mut text, ' ', &name, &description);
        }
        text
    }
}

/// A line of a list, of the agent's words.
fn entry(text: &mut String, mark: char, name: &str, description: &str) {
    let (name, description) = (one_line(name, 60), one_line(description, 200));
    // Writing to a string does not fail.
    let _ = writeln!(text, "{mark} {name:<18} {description}");
}
