//! What kind of message a line is.

use alloc::borrow::Cow;

use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::value::RawValue;

use super::Id;

/// A JSON-RPC message, its contents still text.
#[derive(Debug)]
pub enum Message<'a> {
    /// The peer wants an answer.
    Request {
        /// To be echoed in the answer.
        id: Id,
        /// What the peer wants.
        method: Cow<'a, str>,
        /// The parameters, if there are any.
        params: Option<&'a RawValue>,
    },
    /// The peer wants no answer.
    Notification {
        /// What the peer says.
        method: Cow<'a, str>,
        /// The parameters, if there are any.
        params: Option<&'a RawValue>,
    },
    /// The peer answers.
    Response {
        /// Which request it answers.
        id: Id,
        /// The result, or the error object.
        outcome: Result<&'a RawValue, &'a RawValue>,
    },
}

/// Why a line is not a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Malformed {
    /// It is not JSON: error `-32700`.
    NotJson,
    /// It is JSON, but not a message: error `-32600`.
    NotAMessage {
        /// The id to answer, when the line is a request whose id could be read.
        id: Option<Id>,
        /// What is wrong, in the words of the specification.
        reason: &'static str,
    },
}

/// The members of an envelope, in any order; all others are skipped.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// Keeps `null` apart from a member that is not there.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Reads the envelope of one line.
///
/// A missing `jsonrpc` member is forgiven, a wrong one is not.
/// A response with both members counts as an error, since that is the safer reading.
///
/// # Errors
///
/// [`Malformed`] says what to answer.
pub fn classify(line: &[u8]) -> Result<Message<'_>, Malformed> {
    let envelope: Envelope<'_> = serde_json::from_slice(line).map_err(|_| {
        // What stopped the reading may be the wrong JSON, or no JSON further on.
        match serde_json::from_slice::<IgnoredAny>(line) {
            Ok(_) => not_a_message(None, "a message is an object with each member once"),
            Err(_) => Malformed::NotJson,
        }
    })?;
    let is_request = envelope.method.is_some();
    let id = envelope.id.map(Id::parse);
    // Only the sender of a request waits for an answer to it.
    let answer_to = || id.clone().flatten().filter(|_| is_request);

    if envelope
        .jsonrpc
        .is_some_and(|version| version.get() != "\"2.0\"")
    {
        return Err(not_a_message(answer_to(), "jsonrpc must be \"2.0\""));
    }
    if let Some(method) = envelope.method {
        let Some(method) = string(method) else {
            return Err(not_a_message(answer_to(), "method must be a string"));
        };
        let params = envelope.params;
        return match id {
            None => Ok(Message::Notification { method, params }),
            Some(Some(id)) => Ok(Message::Request { id, method, params }),
            Some(None) => Err(not_a_message(None, "id must be a string, a number or null")),
        };
    }
    let outcome = match (envelope.error, envelope.result) {
        (Some(error), _) => Err(error),
        (None, Some(result)) => Ok(result),
        (None, None) => {
            return Err(not_a_message(
                None,
                "a message has a method, a result or an error",
            ));
        }
    };
    match id.flatten() {
        Some(id) => Ok(Message::Response { id, outcome }),
        None => Err(not_a_message(None, "a response has the id of its request")),
    }
}

fn not_a_message(id: Option<Id>, reason: &'static str) -> Malformed {
    Malformed::NotAMessage { id, reason }
}

/// The value of a JSON string, borrowed unless it has escapes.
fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str(raw.get()).ok().map(Cow::Owned)
}

/// What somebody most likely did wrong who wrote a line that is not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mistake {
    /// Headers as in the Language Server Protocol; ACP has none.
    ContentLength,
    /// One message spread over several lines; ACP wants each on one.
    PrettyPrinted,
    /// Several messages in an array; ACP has no batches.
    Batch,
    /// Text meant for people, which belongs on standard error.
    Text,
}

impl Mistake {
    /// One sentence for whoever has to repair it.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::ContentLength => "it sends LSP headers; ACP messages are lines without headers",
            Self::PrettyPrinted => "it spreads JSON over several lines; an ACP message is one line",
            Self::Batch => "it sends a batch; ACP has one message per line",
            Self::Text => "it prints text among the messages; logs belong on standard error",
        }
    }
}

/// Guesses the mistake behind a line that [`classify`] refused.
#[must_use]
pub fn mistake(line: &[u8]) -> Mistake {
    const HEADER: &[u8] = b"content-";
    let line = line.trim_ascii();
    if line.len() > HEADER.len() && line[..HEADER.len()].eq_ignore_ascii_case(HEADER) {
        return Mistake::ContentLength;
    }
    match line {
        [b'[', .., b']'] if serde_json::from_slice::<IgnoredAny>(line).is_ok() => Mistake::Batch,
        [b'{' | b'}' | b']'] | [b'}' | b']', b','] | [b'"', ..] => Mistake::PrettyPrinted,
        _ => Mistake::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(line: &str) -> (Option<Id>, &'static str) {
        match classify(line.as_bytes()) {
            Err(Malformed::NotAMessage { id, reason }) => (id, reason),
            other => panic!("{line} gave {other:?}"),
        }
    }

    #[test]
    fn the_three_kinds_are_told_apart() {
        match classify(br#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1]}}"#) {
            Ok(Message::Request { id, method, params }) => {
                assert_eq!(id, Id::from(1));
                assert_eq!(method, "m");
                assert_eq!(params.unwrap().get(), r#"{"a":[1]}"#);
            }
            other => panic!("{other:?}"),
        }
        assert!(matches!(
            classify(br#"{"method":"m"}"#),
            Ok(Message::Notification { params: None, .. })
        ));
        assert!(matches!(
            classify(br#"{"id":"x","result":null}"#),
            Ok(Message::Response { outcome: Ok(result), .. }) if result.get() == "null"
        ));
        assert!(matches!(
            classify(br#"{"id":"x","result":null,"error":{"code":1}}"#),
            Ok(Message::Response {
                outcome: Err(_),
                ..
            })
        ));
        assert!(matches!(
            classify(br#"{"id":null,"method":"m"}"#),
            Ok(Message::Request { id: Id::Null, .. })
        ));
    }

    #[test]
    fn escapes_in_a_method_are_read() {
        assert!(matches!(
            classify(br#"{"method":"session\/c\u0061ncel"}"#),
            Ok(Message::Notification { method: Cow::Owned(method), .. }) if method == "session/cancel"
        ));
    }

    #[test]
    fn broken_json_is_told_apart_from_a_broken_message() {
        for line in [
            "",
            "{",
            "hello",
            "{\"a\":}",
            "{} x",
            "\"id\": 1,",
            "\u{1b}[31m",
        ] {
            assert!(
                matches!(classify(line.as_bytes()), Err(Malformed::NotJson)),
                "{line}"
            );
        }
        assert!(matches!(classify(b"\xff\xfe"), Err(Malformed::NotJson)));
        for line in [
            "[]",
            "1",
            "null",
            "\"x\"",
            "{}",
            r#"{"id":1}"#,
            r#"{"result":1}"#,
        ] {
            assert_eq!(reason(line).0, None, "{line}");
        }
    }

    #[test]
    fn a_broken_request_is_answered_under_its_id() {
        assert_eq!(reason(r#"{"id":7,"method":3}"#).0, Some(Id::from(7)));
        assert_eq!(
            reason(r#"{"jsonrpc":"1.0","id":"a","method":"m"}"#).0,
            Some(Id::from("a"))
        );
        assert_eq!(reason(r#"{"id":{},"method":"m"}"#).0, None);
        assert_eq!(reason(r#"{"id":1,"id":2,"method":"m"}"#).0, None);
        assert_eq!(reason(r#"{"jsonrpc":"1.0","id":1,"result":1}"#).0, None);
    }

    #[test]
    fn deep_nesting_is_only_text() {
        let depth = 100_000;
        let mut line = alloc::string::String::from(r#"{"id":1,"method":"m","params":"#);
        line.extend(core::iter::repeat_n('[', depth));
        line.extend(core::iter::repeat_n(']', depth));
        line.push('}');
        assert!(matches!(
            classify(line.as_bytes()),
            Ok(Message::Request { .. })
        ));
    }

    #[test]
    fn common_mistakes_are_named() {
        assert_eq!(mistake(b"Content-Length: 20"), Mistake::ContentLength);
        assert_eq!(mistake(b"{"), Mistake::PrettyPrinted);
        assert_eq!(mistake(b"  \"id\": 1,"), Mistake::PrettyPrinted);
        assert_eq!(mistake(b"  },"), Mistake::PrettyPrinted);
        assert_eq!(mistake(b"[{\"id\":1}]"), Mistake::Batch);
        assert_eq!(mistake(b"[info] ready"), Mistake::Text);
        assert_eq!(mistake(b"Loaded cached credentials."), Mistake::Text);
    }
}
