//! Updates on their way out.
//!
//! Around its text, all of a chunk but the session is known beforehand, so it is written as the bytes it will be.
//! The schema's types with their tags and optional members would take three times as long, and chunks of text are nearly all that an agent sends.

use crate::{
    connection::Outbox,
    error::Error,
    schema::v1::{CLIENT_METHOD_NAMES, SessionId, SessionUpdate},
};

/// An update of a session.
pub(super) struct Update<'a> {
    pub(super) session: &'a SessionId,
    pub(super) of: Of<'a>,
}

/// What an update is about.
pub(super) enum Of<'a> {
    /// A chunk of message, without anything optional.
    Message(&'a str),
    /// A chunk of thought, the same.
    Thought(&'a str),
    Any(&'a SessionUpdate),
}

impl Update<'_> {
    /// Gives the update its place on the wire.
    pub(super) fn put(&self, outbox: &mut Outbox) -> Result<(), Error> {
        let written = outbox.message(|out| self.write(out));
        written.map_err(|error| Error::unwritable(CLIENT_METHOD_NAMES.session_update, &error))
    }

    /// Writes the `session/update`, all but the brace that ends it.
    fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        const BEGIN: &[u8] =
            br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"#;
        const MESSAGE: &[u8] =
            br#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"#;
        const THOUGHT: &[u8] =
            br#"{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"#;

        out.extend_from_slice(BEGIN);
        serde_json::to_writer(&mut *out, &*self.session.0)?;
        out.extend_from_slice(br#","update":"#);
        let (update, text) = match self.of {
            Of::Message(text) => (MESSAGE, text),
            Of::Thought(text) => (THOUGHT, text),
            Of::Any(update) => {
                serde_json::to_writer(&mut *out, update)?;
                out.push(b'}');
                return Ok(());
            }
        };
        out.extend_from_slice(update);
        serde_json::to_writer(&mut *out, text)?;
        out.extend_from_slice(b"}}}");
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
        fn an_update_is_written_as_the_schema_writes_it(
            session in prop_oneof![any::<String>(), "[ -~]{0,20}"],
            text in prop_oneof![any::<String>(), "[ -~]{0,40}", "[\\\\\"\u{0}-\u{20}é]{0,8}"],
            thought in any::<bool>(),
        ) {
            let session = SessionId::new(session);
            let content = ContentChunk::new(ContentBlock::Text(TextContent::new(text.as_str())));
            let (of, update) = if thought {
                (Of::Thought(&text), SessionUpdate::AgentThoughtChunk(content))
            } else {
                (Of::Message(&text), SessionUpdate::AgentMessageChunk(content))
            };
            let general = SessionNotification::new(session.clone(), update.clone());
            let general = written(|outbox| outbox.notification("session/update", &general));
            for of in [of, Of::Any(&update)] {
                let update = Update { session: &session, of };
                prop_assert_eq!(&written(|outbox| outbox.message(|out| update.write(out))), &general);
            }
        }
    }
}
