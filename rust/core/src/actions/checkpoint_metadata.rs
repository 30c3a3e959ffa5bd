use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// `checkpointMetadata`: head of a V2 checkpoint (PROTOCOL.md, "Checkpoint Metadata").
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointMetadata {
    /// Version of the checkpoint.
    pub version: i64,
    /// Free metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, Option<String>>>,
}
