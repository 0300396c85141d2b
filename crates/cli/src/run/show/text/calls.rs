//! Tool calls: a line whenever there is something new to say of one.

use std::collections::HashMap;

use endturn::schema::v1::{
    ContentBlock, Diff, ToolCall, ToolCallContent, ToolCallId, ToolCallStatus, ToolCallUpdate,
};

use super::{MOST, name};
use crate::style::one_line;

/// The longest that a piece of what a call has done is.
const MOST_OF_CONTENT: usize = 60;

/// The calls of a session, as they were last shown.
#[derive(Default)]
pub(super) struct Calls(HashMap<ToolCallId, Call>);

#[derive(Clone, PartialEq, Eq)]
struct Call {
    title: String,
    status: ToolCallStatus,
    content: String,
}

impl Calls {
    pub(super) fn begin(&mut self, call: &ToolCall) -> Option<String> {
        let new = Call {
            title: one_line(&call.title, MOST),
            status: call.status,
            content: briefly(&call.content),
        };
        self.show(&call.tool_call_id, new)
    }

    pub(super) fn update(&mut self, update: &ToolCallUpdate) -> Option<String> {
        let id = &update.tool_call_id;
        let fields = &update.fields;
        let known = self.0.get(id);
        let title = fields.title.as_deref();
        let status = known.map(|call| call.status);
        let content = fields.content.as_deref().map(briefly);
        let new = Call {
            title: title.map_or_else(|| self.title(id).to_owned(), |title| one_line(title, MOST)),
            status: fields.status.or(status).unwrap_or_default(),
            content: content
                .or_else(|| known.map(|call| call.content.clone()))
                .unwrap_or_default(),
        };
        self.show(id, new)
    }

    pub(super) fn title<'a>(&'a self, id: &'a ToolCallId) -> &'a str {
        self.0.get(id).map_or(&id.0, |call| &call.title)
    }

    /// The line, unless it would say nothing new.
    fn show(&mut self, id: &ToolCallId, new: Call) -> Option<String> {
        let old = self.0.insert(id.clone(), new.clone());
        if old.as_ref() == Some(&new) {
            return None;
        }
        let mut line = format!("{}: {}", new.title, name(&new.status));
        // It is shown once, however often the status changes after that.
        if !new.content.is_empty() && old.is_none_or(|old| old.content != new.content) {
            line += &format!("; {}", new.content);
        }
        Some(line)
    }
}

/// What a call works on or has found, in a few words.
fn briefly(content: &[ToolCallContent]) -> String {
    let pieces: Vec<_> = content.iter().map(piece).collect();
    pieces.join(", ")
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "versions of the schema add kinds, and not every one that is admitted has them"
)]
fn piece(content: &ToolCallContent) -> String {
    match content {
        ToolCallContent::Content(content) => {
            if let ContentBlock::Text(text) = &content.content {
                return format!("\"{}\"", one_line(&text.text, MOST_OF_CONTENT));
            }
            super::as_text(&content.content).into_owned()
        }
        ToolCallContent::Diff(diff) => changes(diff),
        ToolCallContent::Terminal(terminal) => {
            format!("terminal {}", one_line(&terminal.terminal_id.0, MOST))
        }
        _ => "[content]".to_owned(),
    }
}

/// A file, and how many lines come and go between the first and the last that differ.
fn changes(diff: &Diff) -> String {
    let old: Vec<_> = diff.old_text.as_deref().unwrap_or("").lines().collect();
    let new: Vec<_> = diff.new_text.lines().collect();
    let same = |(old, new): &(&str, &str)| old == new;
    let pairs = old.iter().copied().zip(new.iter().copied());
    let before = pairs.take_while(same).count();
    let (old, new) = (&old[before..], &new[before..]);
    let pairs = old.iter().rev().copied().zip(new.iter().rev().copied());
    let after = pairs.take_while(same).count();
    format!(
        "{} +{} -{}",
        one_line(&diff.path.to_string_lossy(), MOST),
        new.len() - after,
        old.len() - after
    )
}
