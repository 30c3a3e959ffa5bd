//! What travels between the process that plans and its tasks, as JSON.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

pub(super) fn to_json<T: Serialize>(operation: &str, value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|e| wrong(operation, &e.to_string()))
}

pub(super) fn from_json<'a, T: Deserialize<'a>>(operation: &str, text: &'a str) -> Result<T> {
    serde_json::from_str(text).map_err(|e| wrong(operation, &format!("not what deltaic made: {e}")))
}

/// An operation got what is not of it.
pub(super) fn wrong(operation: &str, reason: &str) -> Error {
    Error::InvalidArgument { argument: operation.to_owned(), reason: reason.to_owned() }
}
