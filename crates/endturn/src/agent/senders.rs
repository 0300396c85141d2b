//! The updates that have a method of their own, on everything that can send updates.

use crate::schema::v1::{ContentBlock, ContentChunk, MessageId, TextContent};

/// Hands the list of updates to a macro that makes a method of each, on one of the types that can send them.
///
/// Each stands here with its documentation, its arguments, and the update that they make.
macro_rules! for_each_update {
    ($make:ident) => {
        $make! {
            /// Sends a piece of the agent's answer.
            send_message(text: impl Into<String>) => Of::Message(&text.into());

            /// Sends a piece of the agent's answer, and says which of its messages it belongs to.
            ///
            /// Pieces with the same id are one message, and another id begins the next one.
            send_message_part(message: impl Into<MessageId>, text: impl Into<String>) => Of::Any(&SessionUpdate::AgentMessageChunk(part(message, text)));

            /// Sends a piece of the agent's reasoning.
            send_thought(text: impl Into<String>) => Of::Thought(&text.into());

            /// Sends a piece of the agent's reasoning, and says which of its messages it belongs to.
            send_thought_part(message: impl Into<MessageId>, text: impl Into<String>) => Of::Any(&SessionUpdate::AgentThoughtChunk(part(message, text)));

            /// Sends a piece of what the user said, as a part of the history of a session that is loaded.
            send_user_message(text: impl Into<String>) => Of::Any(&SessionUpdate::UserMessageChunk(chunk(text)));

            /// Sends a piece of what the user said, and says which message it belongs to.
            send_user_message_part(message: impl Into<MessageId>, text: impl Into<String>) => Of::Any(&SessionUpdate::UserMessageChunk(part(message, text)));

            /// Sends the plan: all its entries, which replace those that were sent before.
            ///
            /// Source: [Agent plan](https://agentclientprotocol.com/protocol/v1/agent-plan).
            send_plan(entries: Vec<PlanEntry>) => Of::Any(&SessionUpdate::Plan(Plan::new(entries)));

            /// Sends the commands that the user can give: all of them, which replace those that were sent before.
            ///
            /// Source: [Slash commands](https://agentclientprotocol.com/protocol/v1/slash-commands).
            send_commands(commands: Vec<AvailableCommand>) => Of::Any(&SessionUpdate::AvailableCommandsUpdate(AvailableCommandsUpdate::new(commands)));

            /// Says that the session is in another mode now.
            ///
            /// Source: [Session modes](https://agentclientprotocol.com/protocol/v1/session-modes).
            send_mode(mode: impl Into<SessionModeId>) => Of::Any(&SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(mode)));

            /// Sends the config options: all of them, with their values, which replace those that were sent before.
            ///
            /// Source: [Session config options](https://agentclientprotocol.com/protocol/v1/session-config-options).
            send_config_options(options: Vec<SessionConfigOption>) => Of::Any(&SessionUpdate::ConfigOptionUpdate(ConfigOptionUpdate::new(options)));

            /// Says how many tokens of the context are in use, and how many there is room for.
            ///
            /// What it has cost is added with [`UsageUpdate::cost`](crate::schema::v1::UsageUpdate::cost) and `send_update`.
            send_usage(used: u64, size: u64) => Of::Any(&SessionUpdate::UsageUpdate(UsageUpdate::new(used, size)));

            /// Gives the session a title.
            send_title(title: impl Into<String>) => Of::Any(&SessionUpdate::SessionInfoUpdate(SessionInfoUpdate::new().title(title.into())));
        }
    };
}
pub(crate) use for_each_update;

/// Makes the async methods, with what sends an update.
macro_rules! async_senders {
    ($($(#[$attribute:meta])* $name:ident($($argument:ident: $type:ty),*) => $update:expr;)*) => {
        $(
            $(#[$attribute])*
            ///
            /// # Errors
            ///
            /// As for [`send_update`](Self::send_update).
            ///
            /// # Cancel safety
            ///
            /// As for [`send_update`](Self::send_update).
            pub async fn $name(&self, $($argument: $type),*) -> Result<(), Error> {
                self.send($update).await
            }
        )*
    };
}
pub(crate) use async_senders;

/// Makes the blocking methods, with the async ones.
macro_rules! blocking_senders {
    ($($(#[$attribute:meta])* $name:ident($($argument:ident: $type:ty),*) => $update:expr;)*) => {
        $(
            $(#[$attribute])*
            ///
            /// # Errors
            ///
            /// As for [`send_update`](Self::send_update).
            #[track_caller]
            pub fn $name(&self, $($argument: $type),*) -> Result<(), Error> {
                self.wait(self.as_async().$name($($argument),*))
            }
        )*
    };
}
pub(crate) use blocking_senders;

pub(super) fn chunk(text: impl Into<String>) -> ContentChunk {
    ContentChunk::new(ContentBlock::Text(TextContent::new(text)))
}

pub(super) fn part(message: impl Into<MessageId>, text: impl Into<String>) -> ContentChunk {
    chunk(text).message_id(message.into())
}
