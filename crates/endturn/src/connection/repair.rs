//! Values of a newer peer for which the protocol's types have no room.
//!
//! Most enumerations of the schema have a place for values that it does not know, and its lists leave out what they cannot read.
//! Three have neither, and one unknown word in them would cost the whole message: a turn its answer, a question its user.
//! Such a word is replaced by the known one that promises least, and kept under [`UNKNOWN_VALUES`] in the `_meta` of the object in which it stood.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::schema::v1::{
    AGENT_METHOD_NAMES, CLIENT_METHOD_NAMES, PermissionOptionKind, StopReason,
};

/// The key in `_meta` under which values stand that a newer peer has sent and that were replaced by known ones, by the name of their field.
///
/// - An unknown [stop reason](StopReason) counts as `end_turn`: the turn is over, and not because of the user.
/// - An unknown [kind](PermissionOptionKind) of a permission option counts as `reject_once`, so that nothing is allowed by a program that chooses by kind; its name is shown to the user as ever.
/// - An unknown [outcome](crate::schema::v1::RequestPermissionOutcome) of a permission request counts as `cancelled`: nothing was allowed.
///
/// ```
/// # use endturn::{UNKNOWN_VALUES, schema::v1::PromptResponse};
/// fn unknown_stop_reason(response: &PromptResponse) -> Option<&str> {
///     response.meta.as_ref()?.get(UNKNOWN_VALUES)?.get("stopReason")?.as_str()
/// }
/// ```
///
/// Policy of this SDK.
pub const UNKNOWN_VALUES: &str = "endturn.unknownValues";

/// Replaces unknown values in the parameters of a request; `None` if that changes nothing.
pub(super) fn params(method: &str, json: &str) -> Option<Value> {
    if method != CLIENT_METHOD_NAMES.session_request_permission {
        return None;
    }
    let mut params: Value = serde_json::from_str(json).ok()?;
    let mut changed = false;
    for option in params.get_mut("options")?.as_array_mut()? {
        let option = option.as_object_mut()?;
        changed |= replace::<PermissionOptionKind>(option, "kind", "reject_once");
    }
    changed.then_some(params)
}

/// Replaces an unknown value in the result of a request; `None` if that changes nothing.
pub(super) fn result(method: &str, json: &str) -> Option<Value> {
    let mut result: Value = serde_json::from_str(json).ok()?;
    let changed = if method == AGENT_METHOD_NAMES.session_prompt {
        replace::<StopReason>(result.as_object_mut()?, "stopReason", "end_turn")
    } else if method == CLIENT_METHOD_NAMES.session_request_permission {
        let outcome = result.get_mut("outcome")?;
        let word = outcome.get("outcome")?.as_str()?;
        if ["cancelled", "selected"].contains(&word) {
            return None;
        }
        let unknown = outcome["outcome"].take();
        *outcome = serde_json::json!({ "outcome": "cancelled" });
        remember(result.as_object_mut()?, "outcome", unknown);
        true
    } else {
        false
    };
    changed.then_some(result)
}

/// Replaces a string that is none of the values of `T`.
fn replace<T: DeserializeOwned>(
    object: &mut Map<String, Value>,
    field: &str,
    instead: &str,
) -> bool {
    let Some(value) = object.get_mut(field).filter(|value| value.is_string()) else {
        return false;
    };
    if serde_json::from_value::<T>(value.clone()).is_ok() {
        return false;
    }
    let unknown = std::mem::replace(value, instead.into());
    remember(object, field, unknown);
    true
}

fn remember(object: &mut Map<String, Value>, field: &str, unknown: Value) {
    let meta = object.entry("_meta").or_insert(Value::Null);
    if !meta.is_object() {
        *meta = Value::Object(Map::new());
    }
    meta[UNKNOWN_VALUES][field] = unknown;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_unknown_stop_reason_is_kept_beside_a_known_one() {
        let prompt = AGENT_METHOD_NAMES.session_prompt;
        let repaired = |result: Value| super::result(prompt, &result.to_string());
        assert_eq!(
            repaired(json!({"stopReason": "paused", "_meta": {"a": 1}})),
            Some(json!({"stopReason": "end_turn", "_meta": {
                "a": 1, UNKNOWN_VALUES: {"stopReason": "paused"},
            }}))
        );
        assert_eq!(
            repaired(json!({"stopReason": "paused", "_meta": null})),
            Some(json!({"stopReason": "end_turn", "_meta": {
                UNKNOWN_VALUES: {"stopReason": "paused"},
            }}))
        );
        // Anything else that is wrong stays wrong.
        for other in [
            json!({"stopReason": "refusal"}),
            json!({"stopReason": 1}),
            json!({}),
            json!(1),
        ] {
            assert_eq!(repaired(other.clone()), None, "{other}");
        }
    }

    #[test]
    fn an_unknown_permission_option_allows_nothing() {
        let permission = CLIENT_METHOD_NAMES.session_request_permission;
        let asked = json!({"options": [
            {"optionId": "1", "name": "Yes", "kind": "allow_once"},
            {"optionId": "2", "name": "For this session", "kind": "allow_session"},
        ]});
        assert_eq!(
            params(permission, &asked.to_string()),
            Some(json!({"options": [
                {"optionId": "1", "name": "Yes", "kind": "allow_once"},
                {"optionId": "2", "name": "For this session", "kind": "reject_once",
                    "_meta": {UNKNOWN_VALUES: {"kind": "allow_session"}}},
            ]}))
        );
        assert_eq!(params("session/prompt", &asked.to_string()), None);

        let answered = |result: Value| super::result(permission, &result.to_string());
        assert_eq!(
            answered(json!({"outcome": {"outcome": "postponed", "until": 5}})),
            Some(json!({"outcome": {"outcome": "cancelled"}, "_meta": {
                UNKNOWN_VALUES: {"outcome": "postponed"},
            }}))
        );
        for known in [
            json!({"outcome": {"outcome": "cancelled"}}),
            json!({"outcome": {"outcome": "selected", "optionId": "1"}}),
        ] {
            assert_eq!(answered(known.clone()), None, "{known}");
        }
        // What is wrong in another way stays wrong.
        for wrong in [
            json!({"outcome": {"outcome": 1}}),
            json!({"outcome": {"outcome": "selected"}}),
        ] {
            assert_eq!(answered(wrong.clone()), None, "{wrong}");
        }
    }
}
