//! Request ids, which are echoed with the type and the value they came with.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::fmt;

use serde_json::value::RawValue;

/// The id of a JSON-RPC request.
///
/// `1` and `"1"` are two ids.
/// Numbers beyond `i64`, or with a fraction, are kept as they are written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Id {
    /// `null`, which JSON-RPC discourages and allows.
    Null,
    /// An integer.
    Number(i64),
    /// A string, unescaped.
    String(Box<str>),
    /// Any other number, in the peer's own spelling.
    OtherNumber(Box<str>),
}

impl Id {
    /// Reads an id; `None` if the JSON value is of a type that no id has.
    #[must_use]
    pub fn parse(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        match text.as_bytes().first()? {
            b'"' => {
                let value: String = serde_json::from_str(text).ok()?;
                Some(Self::String(value.into()))
            }
            b'n' => Some(Self::Null),
            b'-' | b'0'..=b'9' => Some(match text.parse() {
                // `-0` would come back as `0`.
                Ok(number) if text != "-0" => Self::Number(number),
                Ok(_) | Err(_) => Self::OtherNumber(text.into()),
            }),
            _ => None,
        }
    }

    /// Appends the id as JSON.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Number(number) => {
                out.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes())
            }
            Self::String(text) => match serde_json::to_vec(text) {
                Ok(json) => out.extend_from_slice(&json),
                Err(_) => unreachable!("a string always serialises"),
            },
            Self::OtherNumber(text) => out.extend_from_slice(text.as_bytes()),
        }
    }
}

impl fmt::Display for Id {
    /// As in JSON, so that `1` and `"1"` look different in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Number(number) => number.fmt(f),
            Self::String(text) => write!(f, "{text:?}"),
            Self::OtherNumber(text) => f.write_str(text),
        }
    }
}

impl From<i64> for Id {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Id {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

#[cfg(test)]
mod tests {
    use alloc::{borrow::ToOwned, string::ToString};

    use super::*;

    fn parse(text: &str) -> Option<Id> {
        Id::parse(&RawValue::from_string(text.to_owned()).unwrap())
    }

    fn echo(text: &str) -> alloc::string::String {
        let mut out = Vec::new();
        parse(text).unwrap().write(&mut out);
        alloc::string::String::from_utf8(out).unwrap()
    }

    #[test]
    fn ids_are_echoed_as_they_came() {
        for text in [
            "1",
            "-1",
            "0",
            "-0",
            "null",
            "\"1\"",
            "\"\"",
            "\"a\\nb\\\"\"",
            "1.5",
            "1e3",
            "9223372036854775807",
            "9223372036854775808",
            "18446744073709551616",
        ] {
            assert_eq!(echo(text), text);
        }
    }

    #[test]
    fn ids_compare_by_type_and_value() {
        assert_ne!(parse("1"), parse("\"1\""));
        assert_eq!(parse("\"\\u0061\""), parse("\"a\""));
        assert_eq!(parse("1"), Some(Id::from(1)));
        assert_eq!(parse("\"1\"").unwrap().to_string(), "\"1\"");
    }

    #[test]
    fn other_types_are_no_ids() {
        for text in ["true", "false", "{}", "[]"] {
            assert_eq!(parse(text), None);
        }
    }
}
