//! A shortcut for the message that a client gets most: a chunk of text.
//!
//! An agent streams hundreds of these for every other message, and the general way (envelope, parameters, an enum whose variant stands among its fields) takes ten times as long as the bytes are worth.
//! The shortcut takes a line only if it is, byte for byte, how the schema crate itself and most SDKs write such a chunk; everything else goes the general way, with the same outcome.

use std::borrow::Cow;

use crate::schema::v1::{
    ContentBlock, ContentChunk, MessageId, SessionId, SessionNotification, SessionUpdate,
    TextContent,
};

/// Reads a whole line that is a chunk of message or thought in its usual form.
pub(super) fn read(line: &[u8]) -> Option<SessionNotification> {
    let rest =
        line.strip_prefix(br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"#)?;
    let (session, rest) = string(rest)?;
    let rest = rest.strip_prefix(br#","update":{"sessionUpdate":"agent_"#)?;
    let (update, rest): (fn(ContentChunk) -> SessionUpdate, _) =
        if let Some(rest) = rest.strip_prefix(b"message_chunk") {
            (SessionUpdate::AgentMessageChunk, rest)
        } else {
            let rest = rest.strip_prefix(b"thought_chunk")?;
            (SessionUpdate::AgentThoughtChunk, rest)
        };
    let rest = rest.strip_prefix(br#"","content":{"type":"text","text":"#)?;
    let (text, rest) = string(rest)?;
    let rest = rest.strip_prefix(b"}")?;
    let (message, rest) = match rest.strip_prefix(br#","messageId":"#) {
        None => (None, rest),
        Some(rest) => {
            let (id, rest) = string(rest)?;
            (Some(MessageId::new(&*id)), rest)
        }
    };
    if rest != b"}}}" {
        return None;
    }
    let content = ContentBlock::Text(TextContent::new(text.into_owned()));
    let chunk = ContentChunk::new(content).message_id(message);
    Some(SessionNotification::new(
        SessionId::new(&*session),
        update(chunk),
    ))
}

/// A JSON string at the start of `input`, and what follows it.
fn string(input: &[u8]) -> Option<(Cow<'_, str>, &[u8])> {
    let inner = input.strip_prefix(b"\"")?;
    let mut end = 0;
    let mut escapes = false;
    loop {
        end += memchr::memchr2(b'"', b'\\', &inner[end..])?;
        if inner[end] == b'"' {
            break;
        }
        escapes = true;
        end += 2;
        if end > inner.len() {
            return None;
        }
    }
    let (literal, rest) = input.split_at(end + 2);
    let plain = &inner[..end];
    if escapes || plain.iter().any(u8::is_ascii_control) {
        // What may and may not stand in a string is decided in one place.
        return Some((Cow::Owned(serde_json::from_slice(literal).ok()?), rest));
    }
    Some((Cow::Borrowed(std::str::from_utf8(plain).ok()?), rest))
}

#[cfg(test)]
mod tests {
    use endturn_core::wire::{self, Message};
    use proptest::prelude::*;

    use super::*;

    /// The general way.
    fn read_generally(line: &[u8]) -> Option<SessionNotification> {
        let Ok(Message::Notification {
            method,
            params: Some(params),
        }) = wire::classify(line)
        else {
            return None;
        };
        (method == "session/update")
            .then(|| serde_json::from_str(params.get()).ok())
            .flatten()
    }

    /// How the schema crate writes an update.
    fn written(update: &SessionNotification) -> Vec<u8> {
        let params = serde_json::to_string(update).unwrap();
        format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{params}}}"#).into_bytes()
    }

    fn chunk() -> impl Strategy<Value = SessionNotification> {
        let text = prop_oneof![any::<String>(), "[ -~]{0,40}", "[\\\\\"\\[{}a\n]{0,8}"];
        let id = proptest::option::of("[a\"\\\\é]{0,4}");
        (any::<String>(), text, id, any::<bool>()).prop_map(|(session, text, id, thought)| {
            let content = ContentBlock::Text(TextContent::new(text));
            let chunk = ContentChunk::new(content).message_id(id.map(MessageId::new));
            let update = if thought {
                SessionUpdate::AgentThoughtChunk(chunk)
            } else {
                SessionUpdate::AgentMessageChunk(chunk)
            };
            SessionNotification::new(session, update)
        })
    }

    /// Pieces that matter to somebody who reads a chunk.
    fn piece() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            any::<u8>().prop_map(|byte| vec![byte]),
            prop::sample::select(vec![
                "\"",
                "\\",
                "\\u0000",
                "\\ud800",
                "{",
                "}",
                "[",
                "]",
                ",",
                ":",
                " ",
                "null",
                "\"_meta\":{}",
                ",\"_meta\":{}",
                "\"annotations\":null,",
                "\"messageId\":5",
                "message",
                "thought",
                "agent_",
                "user_message_chunk",
                "\"text\":\"b\",",
                "\u{1}",
                "\"type\":\"text\",",
            ])
            .prop_map(|text| text.as_bytes().to_vec()),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn a_chunk_in_its_usual_form_takes_the_shortcut(update in chunk()) {
            prop_assert_eq!(read(&written(&update)), Some(update));
        }

        #[test]
        fn the_shortcut_and_the_general_way_never_differ(
            update in chunk(),
            edits in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..6, piece()), 1..4),
        ) {
            let mut line = written(&update);
            for (at, removed, added) in edits {
                let at = at.index(line.len() + 1);
                let end = (at + removed).min(line.len());
                line.splice(at..end, added);
            }
            if let Some(short) = read(&line) {
                prop_assert_eq!(Some(short), read_generally(&line), "{}", String::from_utf8_lossy(&line));
            }
        }
    }

    #[test]
    fn other_messages_go_the_general_way() {
        for line in [
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}},"id":1}"#,
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}},"_meta":{}}}"#,
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}"#,
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a"#,
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a\"#,
            "",
        ] {
            assert_eq!(read(line.as_bytes()), None, "{line}");
        }
    }
}
