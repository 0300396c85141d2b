//! Config options: which of them have changed.

use std::collections::HashMap;

use endturn::schema::v1::{SessionConfigId, SessionConfigKind, SessionConfigOption};

use super::MOST;
use crate::style::one_line;

/// The values that were last heard of.
#[derive(Default)]
pub(super) struct Settings(HashMap<SessionConfigId, String>);

impl Settings {
    /// Takes note of all values, and gives those that are new.
    pub(super) fn learn(&mut self, options: &[SessionConfigOption]) -> Vec<String> {
        let mut changes = Vec::new();
        for option in options {
            let value = value_of(option);
            let old = self.0.insert(option.id.clone(), value.clone());
            if old.as_ref() != Some(&value) {
                changes.push(format!("{}: {value}", one_line(&option.id.0, MOST)));
            }
        }
        changes
    }
}

/// The value of an option, as one would write it in `--set`.
pub(in crate::run) fn value_of(option: &SessionConfigOption) -> String {
    match &option.kind {
        SessionConfigKind::Select(select) => one_line(&select.current_value.0, MOST),
        SessionConfigKind::Boolean(boolean) => boolean.current_value.to_string(),
        _ => "(unknown)".to_owned(),
    }
}
