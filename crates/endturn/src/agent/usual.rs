//! A shortcut for the two messages that turns are made of: prompts and cancels, read in one pass.
//!
//! The general way looks for the end of the parameters first, to learn what kind of message it is, and reads them after that; a prompt with a file in it is long, and every byte of it is read twice.
//! Nearly everybody writes the method before the parameters, and then one pass is enough.
//! The shortcut takes a line only if nothing in it is out of the ordinary; everything else goes the general way, which also finds the words for what is wrong.

use std::fmt;

use endturn_core::wire::Id;
use serde::{
    Deserializer as _,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::schema::v1::{AGENT_METHOD_NAMES, CancelNotification, PromptRequest};

/// A message of a turn, all of it read.
#[derive(Debug, PartialEq)]
pub(super) enum Usual {
    Prompt(Id, PromptRequest),
    Cancel(CancelNotification),
}

/// Reads a whole line that is a prompt or a cancel in its usual form.
pub(super) fn read(line: &[u8]) -> Option<Usual> {
    // All of the line, because values that are skipped would not be looked at.
    let line = std::str::from_utf8(line).ok()?;
    let mut deserializer = serde_json::Deserializer::from_str(line);
    let usual = deserializer.deserialize_map(Envelope).ok()?;
    deserializer.end().ok()?;
    usual
}

struct Envelope;

#[derive(Clone, Copy)]
enum Method {
    Prompt,
    Cancel,
}

enum Params {
    Prompt(PromptRequest),
    Cancel(CancelNotification),
}

impl<'de> Visitor<'de> for Envelope {
    type Value = Option<Usual>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a prompt or a cancel in its usual form")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<Usual>, A::Error> {
        let (mut version, mut id, mut method, mut params) = (None, None, None, None);
        // A key or a method with escapes is not borrowed, which is an error and so goes the general way.
        while let Some(key) = map.next_key::<&str>()? {
            match (key, method) {
                ("jsonrpc", _) if version.is_none() => {
                    version = Some(map.next_value::<&str>()?);
                }
                ("id", _) if id.is_none() => {
                    let raw: &RawValue = map.next_value()?;
                    let Some(parsed) = Id::parse(raw) else {
                        return Ok(None);
                    };
                    id = Some(parsed);
                }
                ("method", None) => {
                    let name = map.next_value::<&str>()?;
                    method = if name == AGENT_METHOD_NAMES.session_prompt {
                        Some(Method::Prompt)
                    } else if name == AGENT_METHOD_NAMES.session_cancel {
                        Some(Method::Cancel)
                    } else {
                        return Ok(None);
                    };
                }
                ("params", Some(method)) if params.is_none() => {
                    params = Some(match method {
                        Method::Prompt => Params::Prompt(map.next_value()?),
                        Method::Cancel => Params::Cancel(map.next_value()?),
                    });
                }
                _ => return Ok(None),
            }
        }
        if version.is_some_and(|version| version != "2.0") {
            return Ok(None);
        }
        match (params, id) {
            (Some(Params::Prompt(request)), Some(id)) => Ok(Some(Usual::Prompt(id, request))),
            (Some(Params::Cancel(notification)), None) => Ok(Some(Usual::Cancel(notification))),
            (Some(_) | None, _) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use endturn_core::wire::{self, Message};
    use proptest::prelude::*;

    use super::*;

    /// The general way.
    fn read_generally(line: &[u8]) -> Option<Usual> {
        match wire::classify(line).ok()? {
            Message::Request {
                id,
                method,
                params: Some(params),
            } if method == "session/prompt" => {
                let request = serde_json::from_str(params.get()).ok()?;
                Some(Usual::Prompt(id, request))
            }
            Message::Notification {
                method,
                params: Some(params),
            } if method == "session/cancel" => {
                Some(Usual::Cancel(serde_json::from_str(params.get()).ok()?))
            }
            Message::Request { .. } | Message::Notification { .. } | Message::Response { .. } => {
                None
            }
        }
    }

    const BLOCKS: [&str; 4] = [
        r#"{"type":"text","text":"Do a \"long\" task\n"}"#,
        r#"{"type":"resource","resource":{"uri":"file:///main.rs","text":"fn main() {}\n"}}"#,
        r#"{"type":"resource_link","name":"main.rs","uri":"file:///main.rs"}"#,
        r#"{"type":"image","data":"AAAA","mimeType":"image/png"}"#,
    ];

    /// The members of a message, in the order in which most write them.
    fn members() -> impl Strategy<Value = Vec<String>> {
        let id = prop::sample::select(vec!["1", "-0", "1.5", "null", r#""a\n""#, "[]"]);
        let blocks = prop::collection::vec(prop::sample::select(BLOCKS.to_vec()), 0..3);
        (id, "[a\"\\\\é]{0,4}", blocks, any::<bool>()).prop_map(|(id, session, blocks, prompt)| {
            let session = serde_json::to_string(&session).unwrap();
            let blocks = blocks.join(",");
            let mut members = vec![r#""jsonrpc":"2.0""#.to_owned()];
            if prompt {
                members.push(format!(r#""id":{id}"#));
                members.push(r#""method":"session/prompt""#.to_owned());
                members.push(format!(
                    r#""params":{{"sessionId":{session},"prompt":[{blocks}]}}"#
                ));
            } else {
                members.push(r#""method":"session/cancel""#.to_owned());
                members.push(format!(r#""params":{{"sessionId":{session}}}"#));
            }
            members
        })
    }

    fn line(members: &[String]) -> Vec<u8> {
        format!("{{{}}}", members.join(",")).into_bytes()
    }

    /// Pieces that matter to somebody who reads a message.
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
                "1.0",
                "cancel",
                "prompt",
                "\"id\":7,",
                "\"result\":null,",
                "\"error\":{},",
                "\"extra\":\"\u{e9}\",",
                "\"_meta\":{\"a\":[1,{}]},",
                "\"method\":\"session/prompt\",",
                "\"params\":null,",
                "\"sessionId\":\"b\",",
                "\"prompt\":[],",
            ])
            .prop_map(|text| text.as_bytes().to_vec()),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn a_message_in_its_usual_form_takes_the_shortcut(members in members()) {
            let line = line(&members);
            let short = read(&line);
            prop_assert_eq!(short.is_some(), !members.contains(&r#""id":[]"#.to_owned()));
            prop_assert_eq!(short, read_generally(&line));
        }

        #[test]
        fn the_shortcut_and_the_general_way_never_differ(
            members in members().prop_shuffle(),
            edits in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..6, piece()), 0..4),
        ) {
            let mut line = line(&members);
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
            r#"{"jsonrpc":"1.0","id":1,"method":"session/prompt","params":{"sessionId":"a","prompt":[]}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"session/cancel","params":{"sessionId":"a"}}"#,
            r#"{"jsonrpc":"2.0","method":"session/prompt","params":{"sessionId":"a","prompt":[]}}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"session/prompt","params":{"sessionId":"a","prompt":[]}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"a"}} x"#,
            r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"a"}"#,
            "[]",
            "",
        ] {
            assert_eq!(read(line.as_bytes()), None, "{line}");
        }
        assert_eq!(
            read(
                b"{\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"a\",\"b\":\"\xff\"}}"
            ),
            None,
            "not UTF-8, in a value that nobody reads"
        );
    }
}
