//! What an editor shows of a session, made of its updates.

use std::collections::VecDeque;

use crate::schema::{
    MaybeUndefined,
    v1::{
        AvailableCommand, Plan, SessionConfigOption, SessionMode, SessionModeId, SessionModeState,
        SessionUpdate, ToolCall, ToolCallId, UsageUpdate,
    },
};

/// How many tool calls a state remembers.
///
/// More than a user scrolls back to, and an end to what a long session can make us keep.
const TOOL_CALLS_KEPT: usize = 1024;

/// What holds of a session after all its updates so far.
///
/// A client that [keeps track of its sessions](super::ClientBuilder::track_sessions) has one for each, from [`Session::state`](super::Session::state).
/// It can also be used by itself, from a handler of updates:
///
/// ```
/// use endturn::{client::SessionState, schema::v1::{CurrentModeUpdate, SessionUpdate}};
///
/// let mut state = SessionState::default();
/// state.apply(&SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new("plan")));
/// assert_eq!(state.mode().unwrap().to_string(), "plan");
/// ```
///
/// What was said is not part of it, since only the program knows how to keep that.
/// Nor are notices, compactions, subagents, and plans that have an id of their own.
/// Of tool calls it has the last 1,024.
///
/// ```
/// use endturn::client::SessionState;
///
/// fn show(state: &SessionState) {
///     println!("{}", state.title().unwrap_or("(no title)"));
///     for mode in state.modes() {
///         let here = state.mode() == Some(&mode.id);
///         println!("{} {}", if here { '*' } else { ' ' }, mode.name);
///     }
///     for option in state.config_options() {
///         println!("{}: {:?}", option.name, option.kind);
///     }
///     for command in state.commands() {
///         println!("/{}", command.name);
///     }
///     for entry in state.plan().into_iter().flat_map(|plan| &plan.entries) {
///         println!("{:?} {}", entry.status, entry.content);
///     }
///     for call in state.tool_calls().rev().take(10) {
///         println!("{} is {:?}", call.title, call.status);
///     }
///     if let Some(usage) = state.usage() {
///         println!("{} of {} tokens", usage.used, usage.size);
///     }
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionState {
    mode: Option<SessionModeId>,
    modes: Vec<SessionMode>,
    config_options: Vec<SessionConfigOption>,
    commands: Vec<AvailableCommand>,
    usage: Option<UsageUpdate>,
    title: Option<String>,
    updated_at: Option<String>,
    plan: Option<Plan>,
    /// Oldest first.
    tool_calls: VecDeque<ToolCall>,
}

impl SessionState {
    /// Takes in what a session was opened with.
    pub fn open(
        &mut self,
        modes: Option<SessionModeState>,
        config_options: Option<Vec<SessionConfigOption>>,
    ) {
        if let Some(modes) = modes {
            self.mode = Some(modes.current_mode_id);
            self.modes = modes.available_modes;
        }
        if let Some(config_options) = config_options {
            self.config_options = config_options;
        }
    }

    /// Takes in an update.
    pub fn apply(&mut self, update: &SessionUpdate) {
        match update {
            SessionUpdate::CurrentModeUpdate(update) => {
                self.mode = Some(update.current_mode_id.clone());
            }
            SessionUpdate::ConfigOptionUpdate(update) => {
                self.config_options.clone_from(&update.config_options);
            }
            SessionUpdate::AvailableCommandsUpdate(update) => {
                self.commands.clone_from(&update.available_commands);
            }
            SessionUpdate::UsageUpdate(update) => self.usage = Some(update.clone()),
            SessionUpdate::SessionInfoUpdate(update) => {
                assign(&mut self.title, &update.title);
                assign(&mut self.updated_at, &update.updated_at);
            }
            SessionUpdate::Plan(plan) => self.plan = Some(plan.clone()),
            SessionUpdate::ToolCall(call) => match self.tool_call_mut(&call.tool_call_id) {
                Some(known) => *known = call.clone(),
                None => self.add(call.clone()),
            },
            SessionUpdate::ToolCallUpdate(update) => {
                match self.tool_call_mut(&update.tool_call_id) {
                    Some(call) => call.update(update.fields.clone()),
                    // One that begins with an update needs at least a title.
                    None => {
                        if let Ok(call) = ToolCall::try_from(update.clone()) {
                            self.add(call);
                        }
                    }
                }
            }
            // What was said, and what newer agents say.
            SessionUpdate::UserMessageChunk(_)
            | SessionUpdate::AgentMessageChunk(_)
            | SessionUpdate::AgentThoughtChunk(_)
            | _ => {}
        }
    }

    /// Whether an update changes a state at all; most updates are pieces of text, and do not.
    pub(super) fn concerns(update: &SessionUpdate) -> bool {
        !matches!(
            update,
            SessionUpdate::UserMessageChunk(_)
                | SessionUpdate::AgentMessageChunk(_)
                | SessionUpdate::AgentThoughtChunk(_)
        )
    }

    pub(super) fn set_mode(&mut self, mode: SessionModeId) {
        self.mode = Some(mode);
    }

    pub(super) fn set_config_options(&mut self, options: Vec<SessionConfigOption>) {
        self.config_options = options;
    }

    /// The mode that the session is in, if it has modes.
    #[must_use]
    pub fn mode(&self) -> Option<&SessionModeId> {
        self.mode.as_ref()
    }

    /// The modes that it can be in.
    #[must_use]
    pub fn modes(&self) -> &[SessionMode] {
        &self.modes
    }

    /// The config options with their values.
    #[must_use]
    pub fn config_options(&self) -> &[SessionConfigOption] {
        &self.config_options
    }

    /// The commands that the user can give.
    #[must_use]
    pub fn commands(&self) -> &[AvailableCommand] {
        &self.commands
    }

    /// How much of the context is in use, and what the session has cost, if the agent says so.
    #[must_use]
    pub fn usage(&self) -> Option<&UsageUpdate> {
        self.usage.as_ref()
    }

    /// The session's title, if it has one.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// When the session was last active, in the agent's words: an ISO 8601 time.
    #[must_use]
    pub fn updated_at(&self) -> Option<&str> {
        self.updated_at.as_deref()
    }

    /// The plan, if the agent has made one.
    #[must_use]
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// The tool calls, in the order in which they began, each with all that was said of it.
    pub fn tool_calls(&self) -> impl DoubleEndedIterator<Item = &ToolCall> {
        self.tool_calls.iter()
    }

    /// One tool call.
    #[must_use]
    pub fn tool_call(&self, id: &ToolCallId) -> Option<&ToolCall> {
        // The one that is asked for is most often among the last.
        self.tool_calls
            .iter()
            .rev()
            .find(|call| call.tool_call_id == *id)
    }

    fn tool_call_mut(&mut self, id: &ToolCallId) -> Option<&mut ToolCall> {
        self.tool_calls
            .iter_mut()
            .rev()
            .find(|call| call.tool_call_id == *id)
    }

    fn add(&mut self, call: ToolCall) {
        if self.tool_calls.len() == TOOL_CALLS_KEPT {
            self.tool_calls.pop_front();
        }
        self.tool_calls.push_back(call);
    }
}

/// Takes over a field that may be left out, or be emptied.
fn assign(field: &mut Option<String>, new: &MaybeUndefined<String>) {
    match new {
        MaybeUndefined::Undefined => {}
        MaybeUndefined::Null => *field = None,
        MaybeUndefined::Value(value) => *field = Some(value.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn state_after(updates: impl IntoIterator<Item = Value>) -> SessionState {
        let mut state = SessionState::default();
        for update in updates {
            let update: SessionUpdate = serde_json::from_value(update).unwrap();
            let before = state.clone();
            state.apply(&update);
            assert!(SessionState::concerns(&update) || state == before);
        }
        state
    }

    #[test]
    fn the_last_word_on_each_thing_holds() {
        let chunk = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}});
        let state = state_after([
            json!({"sessionUpdate": "current_mode_update", "currentModeId": "a"}),
            json!({"sessionUpdate": "current_mode_update", "currentModeId": "b"}),
            json!({"sessionUpdate": "available_commands_update", "availableCommands": [
                {"name": "help", "description": "Help"},
            ]}),
            json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}),
            json!({"sessionUpdate": "session_info_update", "title": "One", "updatedAt": "2026"}),
            json!({"sessionUpdate": "session_info_update", "updatedAt": null}),
            json!({"sessionUpdate": "plan", "entries": [
                {"content": "x", "priority": "high", "status": "pending"},
            ]}),
            json!({"sessionUpdate": "config_option_update", "configOptions": [
                {"id": "o", "name": "O", "type": "boolean", "currentValue": true},
            ]}),
            chunk,
        ]);
        assert_eq!(state.mode().unwrap().to_string(), "b");
        assert_eq!(state.commands()[0].name, "help");
        assert_eq!(state.usage().unwrap().used, 1);
        assert_eq!((state.title(), state.updated_at()), (Some("One"), None));
        assert_eq!(state.plan().unwrap().entries[0].content, "x");
        assert_eq!(state.config_options()[0].name, "O");
    }

    #[test]
    fn a_tool_call_is_all_that_was_said_of_it() {
        let call = |id: &str, title: &str| json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": title});
        let update = |fields: Value| {
            let mut update = json!({"sessionUpdate": "tool_call_update"});
            update
                .as_object_mut()
                .unwrap()
                .extend(fields.as_object().unwrap().clone());
            update
        };
        let state = state_after([
            call("1", "One"),
            call("2", "Two"),
            update(json!({"toolCallId": "1", "status": "completed"})),
            // It begins with an update, which says enough.
            update(json!({"toolCallId": "3", "title": "Three"})),
            // This one does not.
            update(json!({"toolCallId": "4", "status": "failed"})),
            call("2", "Two again"),
        ]);
        let titles: Vec<&str> = state.tool_calls().map(|call| &*call.title).collect();
        assert_eq!(titles, ["One", "Two again", "Three"]);
        let one = state.tool_call(&ToolCallId::new("1")).unwrap();
        assert_eq!(serde_json::to_value(one.status).unwrap(), "completed");

        let many = (0..TOOL_CALLS_KEPT + 5).map(|number| call(&number.to_string(), "x"));
        let state = state_after(many);
        assert_eq!(state.tool_calls().count(), TOOL_CALLS_KEPT);
        assert_eq!(
            state.tool_calls().next().unwrap().tool_call_id.to_string(),
            "5"
        );
    }
}
