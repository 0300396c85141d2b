//! A turn as text for people: what the agent says as it is, and a short line for what it does.

mod calls;
mod settings;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use endturn::schema::{
    MaybeUndefined,
    v1::{
        ContentBlock, ContentChunk, MessageId, Plan, PlanEntryStatus, RequestPermissionOutcome,
        RequestPermissionRequest, SessionConfigOption, SessionInfo, SessionUpdate, StopReason,
        UsageUpdate,
    },
};
use serde::Serialize;

use super::{DecidedBy, Event, Render, page::Page};
use crate::{run::outcome::Outcome, style::one_line};
use calls::Calls;
use settings::Settings;
pub(in crate::run) use settings::value_of;

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
    calls: Calls,
    settings: Settings,
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
                let title =
                    title.unwrap_or_else(|| self.calls.title(&request.tool_call.tool_call_id));
                let text = format!("{}: {decision}", one_line(title, MOST));
                self.aside("permission", &text, page);
            }
            Event::Session { options, .. } => {
                // The history of a session that was loaded may have left a line open.
                self.speaking = None;
                page.fresh_line();
                self.settings.learn(options.as_deref().unwrap_or_default());
            }
            Event::Mode(mode) => self.aside("mode", &one_line(&mode.0, MOST), page),
            Event::Options(options) => self.options(options, page),
            Event::Listed(session) => page.line(&listed(session)),
            Event::End(Outcome::Answered(answer)) => self.end(answer.stop_reason, page),
            // In a conversation the next prompt says that a turn is over; any other end is worth a line.
            Event::TurnOver(Outcome::Answered(answer))
                if answer.stop_reason != StopReason::EndTurn =>
            {
                self.end(answer.stop_reason, page);
            }
            Event::End(_) | Event::TurnOver(_) => {
                self.speaking = None;
                page.fresh_line();
            }
            Event::Cancel(_)
            | Event::Question(_)
            | Event::Stray { .. }
            | Event::Warning(_)
            | Event::Notice(_)
            | Event::Typing
            | Event::Typed { .. }
            | Event::Reached(_)
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
                if let Some(line) = self.calls.begin(call) {
                    self.aside("tool", &line, page);
                }
            }
            SessionUpdate::ToolCallUpdate(update) => {
                if let Some(line) = self.calls.update(update) {
                    self.aside("tool", &line, page);
                }
            }
            SessionUpdate::Plan(plan) => self.plan(plan, page),
            SessionUpdate::CurrentModeUpdate(mode) => {
                self.aside("mode", &one_line(&mode.current_mode_id.0, MOST), page);
            }
            SessionUpdate::ConfigOptionUpdate(update) => self.options(&update.config_options, page),
            SessionUpdate::SessionInfoUpdate(info) => {
                if let MaybeUndefined::Value(title) = &info.title {
                    self.aside("title", &one_line(title, MOST), page);
                }
            }
            SessionUpdate::UsageUpdate(update) => self.aside("usage", &usage(update), page),
            // Who wants to see them asks for them.
            SessionUpdate::AvailableCommandsUpdate(_) => {}
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

    /// Shows which options have another value now.
    fn options(&mut self, options: &[SessionConfigOption], page: &mut Page) {
        for change in self.settings.learn(options) {
            self.aside("config", &change, page);
        }
    }

    fn end(&mut self, reason: StopReason, page: &mut Page) {
        let strong = page.styles.strong;
        let reason = name(&reason);
        self.speaking = None;
        page.line(&format!("{strong}stop reason: {reason}{strong:#}"));
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

/// A saved session in a line: what to name it by comes first, what may be long comes last.
fn listed(session: &SessionInfo) -> String {
    let updated = session.updated_at.as_deref().unwrap_or("-");
    let cwd = session.cwd.to_string_lossy();
    let title = session.title.as_deref().unwrap_or_default();
    let line = [&session.session_id.0, updated, &cwd, title]
        .map(|part| one_line(part, MOST))
        .join("  ");
    line.trim_end().to_owned()
}

fn usage(update: &UsageUpdate) -> String {
    let mut text = format!("{} of {} tokens", update.used, update.size);
    if let Some(cost) = &update.cost {
        text += &format!(", {} {}", cost.amount, one_line(&cost.currency, 8));
    }
    text
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
