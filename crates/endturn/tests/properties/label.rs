//! How requests are known in a trace, and what they ask their handlers to do.

use endturn::schema::v1::Meta;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// Travels in the `_meta` of a request.
#[derive(Serialize, Deserialize)]
pub(crate) struct Label<T> {
    /// The request's name in the trace.
    pub(crate) call: String,
    /// What its handler shall do.
    pub(crate) does: T,
}

pub(crate) fn write(call: &str, does: &impl Serialize) -> Meta {
    let Value::Object(meta) = json!({ "call": call, "does": does }) else {
        unreachable!("it is written as an object");
    };
    meta
}

pub(crate) fn read<T: DeserializeOwned>(meta: Option<Meta>) -> Label<T> {
    let meta = Value::Object(meta.unwrap_or_default());
    serde_json::from_value(meta).expect("every request of a script has a label")
}
