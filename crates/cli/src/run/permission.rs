//! Who decides what an agent may do: the user, a flag, or nobody.

use std::io::{self, IsTerminal};

use super::{
    answer::{Terminal, discard_typed, read_line},
    show::{DecidedBy, Event, Show},
};
use crate::style::one_line;
use endturn::schema::v1::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    SelectedPermissionOutcome,
};

/// How questions are decided.
pub(super) enum Decision {
    /// The flag `--allow`.
    Allow,
    /// By whoever sits at the terminal.
    Ask(Terminal),
    /// There is nobody to ask.
    Refuse,
}

impl Decision {
    pub(super) fn new(allow: bool, terminal: &Terminal) -> Self {
        if allow {
            Self::Allow
        } else if io::stdin().is_terminal() && io::stderr().is_terminal() {
            Self::Ask(terminal.clone())
        } else {
            Self::Refuse
        }
    }
}

/// A question of the agent's, which is shown as cancelled when it is dropped without an answer.
pub(super) struct Question {
    request: Option<RequestPermissionRequest>,
    show: Show,
}

impl Question {
    pub(super) fn new(request: RequestPermissionRequest, show: Show) -> Self {
        Self {
            request: Some(request),
            show,
        }
    }

    /// Gets an answer and shows it.
    pub(super) async fn ask(mut self, decision: &Decision) -> RequestPermissionOutcome {
        let Some(request) = &self.request else {
            return RequestPermissionOutcome::Cancelled;
        };
        let (chosen, by) = match decision {
            Decision::Allow => (allowing(request), DecidedBy::Flag),
            Decision::Ask(terminal) => (ask(terminal, request, &self.show).await, DecidedBy::User),
            Decision::Refuse => (None, DecidedBy::Nobody),
        };
        let outcome = match chosen.or_else(|| refusing(request)) {
            Some(option) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(
                option.option_id.clone(),
            )),
            // There is no way to say no, and this is not a yes.
            None => RequestPermissionOutcome::Cancelled,
        };
        self.settle(outcome.clone(), by);
        outcome
    }

    fn settle(&mut self, outcome: RequestPermissionOutcome, by: DecidedBy) {
        if let Some(request) = self.request.take() {
            self.show.tell(Event::Permission {
                request,
                outcome,
                by,
            });
        }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        self.settle(RequestPermissionOutcome::Cancelled, DecidedBy::Cancel);
    }
}

fn first_of(
    request: &RequestPermissionRequest,
    kinds: [PermissionOptionKind; 2],
) -> Option<&PermissionOption> {
    kinds
        .iter()
        .find_map(|kind| request.options.iter().find(|option| option.kind == *kind))
}

/// The option that allows the least.
fn allowing(request: &RequestPermissionRequest) -> Option<&PermissionOption> {
    use PermissionOptionKind::{AllowAlways, AllowOnce};
    first_of(request, [AllowOnce, AllowAlways])
}

/// The option that rejects the least.
fn refusing(request: &RequestPermissionRequest) -> Option<&PermissionOption> {
    use PermissionOptionKind::{RejectAlways, RejectOnce};
    first_of(request, [RejectOnce, RejectAlways])
}

/// What the user chooses; `None` if there will be no answer.
async fn ask<'a>(
    terminal: &Terminal,
    request: &'a RequestPermissionRequest,
    show: &Show,
) -> Option<&'a PermissionOption> {
    if request.options.is_empty() {
        return None;
    }
    let _terminal = terminal.have().await;
    discard_typed();
    show.tell(Event::Question(question(request)));
    loop {
        let line = read_line().await?;
        let option = choice(&line, request);
        if option.is_some() {
            return option;
        }
        show.tell(Event::Question(ask_again(request)));
    }
}

/// The option that a line means: its number, its name, or `y` and `n`.
fn choice<'a>(line: &str, request: &'a RequestPermissionRequest) -> Option<&'a PermissionOption> {
    let line = line.trim().to_lowercase();
    if let Ok(number) = line.parse::<usize>() {
        return request.options.get(number.checked_sub(1)?);
    }
    match line.as_str() {
        "" => None,
        "y" | "yes" => allowing(request),
        "n" | "no" => refusing(request),
        name => {
            let mut options = request.options.iter();
            options.find(|option| option.name.to_lowercase() == name)
        }
    }
}

fn question(request: &RequestPermissionRequest) -> String {
    let call = &request.tool_call;
    let title = call.fields.title.as_deref();
    let title = title.unwrap_or("(it does not say for what)");
    let mut text = format!(
        "The agent asks for a permission: {}\n",
        one_line(title, 500)
    );
    // What the title leaves out may be what matters.
    if let Some(input) = &call.fields.raw_input {
        text += &format!("  with {}\n", one_line(&input.to_string(), 500));
    }
    for (number, option) in (1..).zip(&request.options) {
        text += &format!("  {number}  {}\n", one_line(&option.name, 100));
    }
    text + &ask_again(request)
}

fn ask_again(request: &RequestPermissionRequest) -> String {
    match request.options.len() {
        1 => "1, or Ctrl-C to cancel the turn: ".to_owned(),
        count => format!("1 to {count}, y or n; Ctrl-C cancels the turn: "),
    }
}

#[cfg(test)]
mod tests {
    use endturn::schema::v1::{ToolCallUpdate, ToolCallUpdateFields};

    use super::*;

    fn request(options: &[(&str, PermissionOptionKind)]) -> RequestPermissionRequest {
        let fields = ToolCallUpdateFields::new().title("Delete\x1b[2J everything".to_owned());
        let options = options
            .iter()
            .map(|(name, kind)| PermissionOption::new(name.to_lowercase(), *name, *kind))
            .collect();
        RequestPermissionRequest::new("s", ToolCallUpdate::new("t", fields), options)
    }

    fn names(
        request: &RequestPermissionRequest,
        choose: impl Fn(&RequestPermissionRequest) -> Option<&PermissionOption>,
    ) -> Option<String> {
        choose(request).map(|option| option.name.clone())
    }

    #[test]
    fn once_is_preferred_to_always() {
        use PermissionOptionKind::*;
        let all = request(&[
            ("Always", AllowAlways),
            ("Never", RejectAlways),
            ("Yes", AllowOnce),
            ("No", RejectOnce),
        ]);
        assert_eq!(names(&all, allowing).as_deref(), Some("Yes"));
        assert_eq!(names(&all, refusing).as_deref(), Some("No"));

        let always = request(&[("Always", AllowAlways), ("Never", RejectAlways)]);
        assert_eq!(names(&always, allowing).as_deref(), Some("Always"));
        assert_eq!(names(&always, refusing).as_deref(), Some("Never"));
        assert_eq!(names(&request(&[]), refusing), None);
    }

    #[test]
    fn an_option_is_chosen_by_number_name_or_letter() {
        use PermissionOptionKind::*;
        let request = request(&[("Go on", AllowOnce), ("Stop", RejectOnce)]);
        let chosen = |line: &str| names(&request, |request| choice(line, request));
        for line in ["1", " 1 ", "y", "YES", "go on"] {
            assert_eq!(chosen(line).as_deref(), Some("Go on"), "{line:?}");
        }
        for line in ["2", "n", "No", "STOP"] {
            assert_eq!(chosen(line).as_deref(), Some("Stop"), "{line:?}");
        }
        for line in ["", "0", "3", "-1", "maybe", "99999999999999999999"] {
            assert_eq!(chosen(line), None, "{line:?}");
        }
    }

    #[test]
    fn a_question_shows_no_escape_sequence_of_the_agents() {
        let text = question(&request(&[("Yes\x1b[8m", PermissionOptionKind::AllowOnce)]));
        assert!(!text.contains('\x1b'), "{text:?}");
    }
}
