//! The words that can be completed, and the rules of the line that is typed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use endturn::schema::v1::{
    AvailableCommand, SessionConfigKind, SessionConfigOption, SessionConfigSelectOptions,
    SessionModeState,
};
use rustyline::{
    Context, Helper,
    completion::Completer,
    highlight::Highlighter,
    hint::Hinter,
    validate::{ValidationContext, ValidationResult, Validator},
};

use super::command::NAMES;

/// What can be completed, as it is at the moment; clones are the same.
#[derive(Clone, Default)]
pub(in crate::run) struct Words(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    /// The agent's commands as they are typed, with descriptions.
    commands: Vec<(String, String)>,
    modes: Vec<String>,
    /// The config options with their values.
    options: Vec<(String, Vec<String>)>,
}

impl Words {
    /// These are the agent's commands now.
    pub(in crate::run) fn set_commands(&self, commands: &[AvailableCommand]) {
        let typed = commands.iter().map(|command| {
            let own = format!("/{}", command.name);
            // One that this program has too needs a second slash.
            let name = if NAMES.contains(&own.as_str()) {
                format!("/{own}")
            } else {
                own
            };
            (name, command.description.clone())
        });
        self.known().commands = typed.collect();
    }

    /// These are the session's modes and options now.
    pub(super) fn set_choices(
        &self,
        modes: Option<SessionModeState>,
        options: &[SessionConfigOption],
    ) {
        let modes = modes.map_or_else(Vec::new, |modes| modes.available_modes);
        let mut known = self.known();
        known.modes = modes.iter().map(|mode| mode.id.to_string()).collect();
        known.options = options
            .iter()
            .map(|option| (option.id.to_string(), values(option)))
            .collect();
    }

    pub(super) fn commands(&self) -> Vec<(String, String)> {
        self.known().commands.clone()
    }

    /// Where the word begins that the text ends with, and what it can become.
    fn completions(&self, text: &str) -> (usize, Vec<String>) {
        let begin = text.rfind(' ').map_or(0, |space| space + 1);
        let known = self.known();
        let before: Vec<_> = text[..begin].split_whitespace().collect();
        let candidates: Vec<&str> = match before[..] {
            [] if text.starts_with('/') => {
                let own = NAMES.into_iter();
                let commands = known.commands.iter();
                own.chain(commands.map(|(name, _)| name.as_str())).collect()
            }
            ["/mode"] => known.modes.iter().map(String::as_str).collect(),
            ["/set"] => known.options.iter().map(|(key, _)| key.as_str()).collect(),
            ["/set", key] => known
                .options
                .iter()
                .filter(|(known, _)| known == key)
                .flat_map(|(_, values)| values.iter().map(String::as_str))
                .collect(),
            _ => Vec::new(),
        };
        let fitting = candidates
            .into_iter()
            .filter(|word| word.starts_with(&text[begin..]));
        (begin, fitting.map(str::to_owned).collect())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn values(option: &SessionConfigOption) -> Vec<String> {
    let select = match &option.kind {
        SessionConfigKind::Boolean(_) => return vec!["true".to_owned(), "false".to_owned()],
        SessionConfigKind::Select(select) => select,
        _ => return Vec::new(),
    };
    match &select.options {
        SessionConfigSelectOptions::Ungrouped(options) => {
            options.iter().map(|it| it.value.to_string()).collect()
        }
        SessionConfigSelectOptions::Grouped(groups) => groups
            .iter()
            .flat_map(|group| group.options.iter().map(|it| it.value.to_string()))
            .collect(),
        _ => Vec::new(),
    }
}

impl Completer for Words {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.completions(&line[..position]))
    }
}

impl Validator for Words {
    /// A backslash at the end continues the line.
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if context.input().ends_with('\\') {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {}

impl Helper for Words {}

#[cfg(test)]
mod tests {
    use endturn::schema::v1::{SessionConfigSelectOption, SessionMode};

    use super::*;

    #[test]
    fn commands_modes_and_options_are_completed() {
        let words = Words::default();
        words.set_commands(&[
            AvailableCommand::new("compact", "Forget the details"),
            AvailableCommand::new("help", "Help"),
        ]);
        let models = ["small", "large"].map(|id| SessionConfigSelectOption::new(id, id));
        words.set_choices(
            Some(SessionModeState::new(
                "plan",
                vec![
                    SessionMode::new("plan", "Plan"),
                    SessionMode::new("play", "Play"),
                ],
            )),
            &[
                SessionConfigOption::select("model", "Model", "small", Vec::from(models)),
                SessionConfigOption::boolean("thinking", "Thinking", true),
            ],
        );
        for (text, begin, candidates) in [
            (
                "/",
                0,
                &[
                    "/help", "/list", "/mode", "/quit", "/set", "/compact", "//help",
                ][..],
            ),
            ("/c", 0, &["/compact"]),
            ("//", 0, &["//help"]),
            ("/mode p", 6, &["plan", "play"]),
            ("/set ", 5, &["model", "thinking"]),
            ("/set model l", 11, &["large"]),
            ("/set thinking ", 14, &["true", "false"]),
            ("say /", 4, &[]),
            ("sa", 0, &[]),
            ("", 0, &[]),
        ] {
            assert_eq!(
                words.completions(text),
                (
                    begin,
                    candidates.iter().map(|it| (*it).to_owned()).collect()
                ),
                "{text:?}"
            );
        }
    }
}
