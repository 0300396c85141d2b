//! A shortcut for the message that an agent sends most: a chunk of text.
//!
//! Everything in it but the session and the text is known beforehand, so it is written as the bytes it will be.
//! The general way, through the schema's types with their tags and optional members, takes three times as long.

use crate::schema::v1::SessionId;

/// What a chunk is a piece of.
#[derive(Debug, Clone, Copy)]
pub(super) enum Of {
    Message,
    Thought,
}

/// A chunk of text for a session, without anything optional.
pub(super) struct Chunk<'a> {
    pub(super) of: Of,
    pub(super) session: &'a SessionId,
    pub(super) text: &'a str,
}

impl Chunk<'_> {
    /// Writes the `session/update`, all but the brace that ends it.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        const BEGIN: &[u8] =
            br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"#;
        const MESSAGE: &[u8] =
            br#","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"#;
        const THOUGHT: &[u8] =
            br#","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"#;
        const END: &[u8] = b"}}}";

        let update = match self.of {
            Of::Message => MESSAGE,
            Of::Thought => THOUGHT,
        };
        // Once, for text without escapes.
        out.reserve(BEGIN.len() + self.session.0.len() + update.len() + self.text.len() + 16);
        out.extend_from_slice(BEGIN);
        serde_json::to_writer(&mut *out, &*self.session.0)?;
        out.extend_from_slice(update);
        serde_json::to_writer(&mut *out, self.text)?;
        out.extend_from_slice(END);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        connection::Outbox,
        schema::v1::{ContentBlock, ContentChunk, SessionNotification, SessionUpdate, TextContent},
    };

    /// All that is in an outbox.
    fn written(write: impl FnOnce(&mut Outbox) -> serde_json::Result<()>) -> String {
        let mut outbox = Outbox::new(1024);
        write(&mut outbox).unwrap();
        let mut batch = Vec::new();
        outbox.take(&mut batch);
        String::from_utf8(batch).unwrap()
    }

    proptest! {
        #[test]
        fn a_chunk_is_written_as_the_schema_writes_it(
            session in prop_oneof![any::<String>(), "[ -~]{0,20}"],
            text in prop_oneof![any::<String>(), "[ -~]{0,40}", "[\\\\\"\u{0}-\u{20}é]{0,8}"],
            thought in any::<bool>(),
        ) {
            let session = SessionId::new(session);
            let content = ContentChunk::new(ContentBlock::Text(TextContent::new(text.as_str())));
            let (of, update) = if thought {
                (Of::Thought, SessionUpdate::AgentThoughtChunk(content))
            } else {
                (Of::Message, SessionUpdate::AgentMessageChunk(content))
            };
            let general = SessionNotification::new(session.clone(), update);
            let chunk = Chunk { of, session: &session, text: &text };
            prop_assert_eq!(
                written(|outbox| outbox.message(|out| chunk.write(out))),
                written(|outbox| outbox.notification("session/update", &general)),
            );
        }
    }
}
