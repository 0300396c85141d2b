//! What an agent is told when it does not get what it asked for.

use std::{io, path::Path};

use crate::{client::local::invalid, schema::v1};

pub(super) fn too_large(field: &str, limit: u64) -> v1::Error {
    let reason = format!("the text has more than {limit} bytes");
    v1::Error::invalid_params()
        .data(serde_json::json!({ "field": field, "reason": reason, "limit": limit }))
}

pub(super) fn outside() -> v1::Error {
    invalid(
        "path",
        "it is outside the directories that this client serves",
    )
}

/// What an agent is told of an error of the system: its kind, and the path that the agent named itself.
pub(super) fn refused(path: &Path, error: &io::Error) -> v1::Error {
    let kind = error.kind();
    if kind == io::ErrorKind::NotFound {
        return v1::Error::resource_not_found(Some(path.display().to_string()));
    }
    if kind == io::ErrorKind::IsADirectory {
        return invalid("path", "it is a directory");
    }
    if kind == io::ErrorKind::NotADirectory {
        return invalid("path", "a part of it is not a directory");
    }
    if kind == io::ErrorKind::InvalidInput || kind == io::ErrorKind::InvalidFilename {
        return invalid("path", kind.to_string());
    }
    // This is how `cap-std` says that it would have had to leave the root.
    if kind == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
        return outside();
    }
    tracing::debug!(path = %path.display(), %error, "the agent's access to a file failed");
    v1::Error::internal_error()
        .data(serde_json::json!({ "path": path.display().to_string(), "reason": kind.to_string() }))
}
