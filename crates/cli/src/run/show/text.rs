//! A turn as text for people: what the agent says as it is, and a short line for what it does.

use std::{borrow::Cow, collections::HashMap};

use endturn::schema::v1::{
    ContentBlock, ContentChunk, MessageId, Plan, PlanEntryStatus, RequestPermissionOutcome,
    RequestPermissionRequest, SessionUpdate, ToolCallId, ToolCallStatus,
};
use serde::Serialize;

use super::{DecidedBy, Event, Render, page::Page};
use crate::{run::outcome::Outcome, style::one_line};

/// The longest that a piece of a line is.
const MOST: usize = 200;

/// Who is speaking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Voice {
    Agent,
    Thought,
    User,
}

/// Writes text.
#[derive(Default)]
pub(super) struct Text {
    /// The voice and the message that the last chunk belonged to.
    speaking: Option<(Voice, Option<MessageId>)>,
    calls: HashMap<ToolCallId, Call>,
}

struct Call {
    title: String,
    status: ToolCallStatus,
}

impl Render for Text {
    fn render(&mut self, event: &Event, page: &mut Page) {
        match event {
            Event::Update(update) => self.update(update, page),
            Event::Permission {
                request,
                outcome,
                by,
            } => {
                let decision = decision(request, outcome, *by);
                let title = request.tool_call.fields.title.as_deref();
                let title = title.unwrap_or_else(|| self.title(&request.tool_call.tool_call_id));
                let text = format!("{}: {decision}", one_line(title, MOST));
                self.aside("permission", &text, page);
            }
            Event::End(Outcome::Answered(answer)) => {
                let strong = page.styles.strong;
                let reason = name(&answer.stop_reason);
                self.speaking = None;
                page.line(&format!("{strong}stop reason: {reason}{strong:#}"));
            }
            Event::End(Outcome::Unread | Outcome::Failed(_)) => page.fresh_line(),
            Event::Session { .. }
            | Event::Cancel(_)
            | Event::Question(_)
            | Event::Stray { .. }
            | Event::Warning(_)
            | Event::Finish => {}
        }
    }
}

impl Text {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "every version of the schema adds kinds, and what can be shown of them is their name"
    )]
    fn update(&mut self, update: &SessionUpdate, page: &mut Page) {
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => self.chunk(Voice::Agent, chunk, page),
            SessionUpdate::AgentThoughtChunk(chunk) => self.chunk(Voice::Thought, chunk, page),
            SessionUpdate::UserMessageChunk(chunk) => self.chunk(Voice::User, chunk, page),
            SessionUpdate::ToolCall(call) => {
                let new = Call {
                    title: one_line(&call.title, MOST),
                    status: call.status,
                };
                self.call(&call.tool_call_id, new, page);
            }
            SessionUpdate::ToolCallUpdate(update) => {
                let id = &update.tool_call_id;
                let fields = &update.fields;
                let known = self.calls.get(id).map(|call| call.status);
                let title = fields.title.as_deref();
                let new = Call {
                    title: title
                        .map_or_else(|| self.title(id).to_owned(), |title| one_line(title, MOST)),
                    status: fields.status.or(known).unwrap_or_default(),
                };
                self.call(id, new, page);
            }
            SessionUpdate::Plan(plan) => self.plan(plan, page),
            SessionUpdate::CurrentModeUpdate(mode) => {
                self.aside("mode", &one_line(&mode.current_mode_id.0, MOST), page);
            }
            // What they say is for a user interface.
            SessionUpdate::AvailableCommandsUpdate(_)
            | SessionUpdate::ConfigOptionUpdate(_)
            | SessionUpdate::SessionInfoUpdate(_)
            | SessionUpdate::UsageUpdate(_) => {}
            other => self.aside("update", &name_of_update(other), page),
        }
    }

    /// Streams a piece of text: the agent's own as it is, any other with a mark on each line.
    fn chunk(&mut self, voice: Voice, chunk: &ContentChunk, page: &mut Page) {
        let speaking = Some((voice, chunk.message_id.clone()));
        if self.speaking != speaking {
            page.fresh_line();
            self.speaking = speaking;
        }
        let text = as_text(&chunk.content);
        let mark = match voice {
            Voice::Agent => return page.raw(&text),
            Voice::Thought => "~ ",
            Voice::User => "> ",
        };
        let aside = page.styles.aside;
        for line in text.split_inclusive('\n') {
            page.unseen(&aside.render().to_string());
            if !page.is_mid_line() {
                page.raw(mark);
            }
            page.raw(line.trim_end_matches('\n'));
            page.unseen(&aside.render_reset().to_string());
            if line.ends_with('\n') {
                page.raw("\n");
            }
        }
    }

    fn call(&mut self, id: &ToolCallId, new: Call, page: &mut Page) {
        let changed = self
            .calls
            .get(id)
            .is_none_or(|call| call.title != new.title || call.status != new.status);
        if changed {
            let text = format!("{}: {}", new.title, name(&new.status));
            self.calls.insert(id.clone(), new);
            self.aside("tool", &text, page);
        }
    }

    fn title<'a>(&'a self, id: &'a ToolCallId) -> &'a str {
        self.calls.get(id).map_or(&id.0, |call| &call.title)
    }

    fn plan(&mut self, plan: &Plan, page: &mut Page) {
        for entry in &plan.entries {
            let mark = match entry.status {
                PlanEntryStatus::Completed => "[x]",
                PlanEntryStatus::InProgress => "[>]",
                PlanEntryStatus::Pending | _ => "[ ]",
            };
            let text = format!("{mark} {}", one_line(&entry.content, MOST));
            self.aside("plan", &text, page);
        }
    }

    /// A line on what the agent does.
    fn aside(&mut self, label: &str, text: &str, page: &mut Page) {
        self.speaking = None;
        let aside = page.styles.aside;
        page.line(&format!("{aside}[{label}] {text}{aside:#}"));
    }
}

fn decision(
    request: &RequestPermissionRequest,
    outcome: &RequestPermissionOutcome,
    by: DecidedBy,
) -> String {
    let chosen = match outcome {
        RequestPermissionOutcome::Selected(chosen) => request
            .options
            .iter()
            .find(|option| option.option_id == chosen.option_id)
            .map(|option| one_line(&option.name, MOST)),
        RequestPermissionOutcome::Cancelled | _ => None,
    };
    let chosen = chosen.unwrap_or_else(|| "cancelled".to_owned());
    match by {
        DecidedBy::Nobody => format!("{chosen} (nobody to ask; --allow grants it)"),
        DecidedBy::User | DecidedBy::Flag | DecidedBy::Cancel => chosen,
    }
}

/// The text of a piece of content, or what it is.
fn as_text(content: &ContentBlock) -> Cow<'_, str> {
    let what = match content {
        ContentBlock::Text(text) => return Cow::Borrowed(&text.text),
        ContentBlock::Image(image) => format!("image {}", image.mime_type),
        ContentBlock::Audio(audio) => format!("audio {}", audio.mime_type),
        ContentBlock::ResourceLink(link) => format!("link {}", link.uri),
        ContentBlock::Resource(_) | _ => "resource".to_owned(),
    };
    Cow::Owned(format!("[{}]", one_line(&what, MOST)))
}

/// The protocol's word for a value.
fn name(value: &impl Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(ToOwned::to_owned))
        .unwrap_or_default()
}

fn name_of_update(update: &SessionUpdate) -> String {
    let value = serde_json::to_value(update).unwrap_or_default();
    value["sessionUpdate"]
        .as_str()
        .unwrap_or("unknown")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use endturn::schema::v1::{
        PlanEntry, PlanEntryPriority, TextContent, ToolCall, ToolCallUpdate, ToolCallUpdateFields,
    };

    use super::*;
    use crate::style::Styles;

    fn text(text: &str) -> ContentChunk {
        ContentChunk::new(ContentBlock::Text(TextContent::new(text)))
    }

    fn shown(updates: Vec<SessionUpdate>) -> String {
        let mut renderer = Text::default();
        let mut page = Page::new(Styles::default());
        for update in updates {
            renderer.render(&Event::Update(update), &mut page);
        }
        String::from_utf8(page.take()).unwrap()
    }

    #[test]
    fn messages_are_not_modified() {
        let updates = ["Step 1... ", "\x1b[1mbold\n\n", "\tend"]
            .map(|piece| SessionUpdate::AgentMessageChunk(text(piece)));
        assert_eq!(shown(updates.into()), "Step 1... \x1b[1mbold\n\n\tend");
    }

    #[test]
    fn thoughts_are_marked_on_each_line_however_they_are_cut() {
        use SessionUpdate::{AgentMessageChunk, AgentThoughtChunk};
        let updates = vec![
            AgentMessageChunk(text("Well")),
            AgentThoughtChunk(text("one, t")),
            AgentThoughtChunk(text("wo\nthree\n")),
            AgentThoughtChunk(text("four")),
            AgentMessageChunk(text("Done.")),
        ];
        assert_eq!(shown(updates), "Well\n~ one, two\n~ three\n~ four\nDone.");
    }

    #[test]
    fn a_tool_call_is_a_line_for_each_status() {
        let update = |status| {
            let fields = ToolCallUpdateFields::new().status(status);
            SessionUpdate::ToolCallUpdate(ToolCallUpdate::new("1", fields))
        };
        let updates = vec![
            SessionUpdate::AgentMessageChunk(text("Now: ")),
            SessionUpdate::ToolCall(ToolCall::new("1", "Run\nall tests")),
            update(ToolCallStatus::InProgress),
            update(ToolCallStatus::InProgress),
            update(ToolCallStatus::Completed),
        ];
        assert_eq!(
            shown(updates),
            "Now: \n[tool] Run all tests: pending\n[tool] Run all tests: in_progress\n\
             [tool] Run all tests: completed\n"
        );
    }

    #[test]
    fn a_plan_is_a_list() {
        let entry = |text: &str, status| PlanEntry::new(text, PlanEntryPriority::Medium, status);
        let plan = Plan::new(vec![
            entry("look", PlanEntryStatus::Completed),
            entry("think", PlanEntryStatus::InProgress),
            entry("act", PlanEntryStatus::Pending),
        ]);
        assert_eq!(
            shown(vec![SessionUpdate::Plan(plan)]),
            "[plan] [x] look\n[plan] [>] think\n[plan] [ ] act\n"
        );
    }
}
