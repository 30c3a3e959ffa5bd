use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// `sidecar`: a file of file actions that a V2 checkpoint links (PROTOCOL.md, "Sidecar File Information").
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sidecar {
    /// File name in `_delta_log/_sidecars`, or a path.
    pub path: String,
    /// Size in bytes.
    pub size_in_bytes: i64,
    /// Modification time, in milliseconds since the Unix epoch.
    pub modification_time: i64,
    /// Free metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, Option<String>>>,
}
