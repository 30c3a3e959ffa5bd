use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::file_path::FilePath;
use super::{DeletionVectorDescriptor, PartitionValues};

/// `add`: a logical file is added to the table (PROTOCOL.md, "Add File and Remove File").
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Add {
    /// Path as written: percent-encoded, relative to the table root or absolute.
    pub path: FilePath,
    /// Serialized partition values.
    #[serde(default)]
    pub partition_values: PartitionValues,
    /// Size in bytes.
    pub size: i64,
    /// Creation time, in milliseconds since the Unix epoch.
    pub modification_time: i64,
    /// Whether the rows are new, not only rearranged.
    pub data_change: bool,
    /// Statistics as JSON text (PROTOCOL.md, "Per-file Statistics").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stats: Option<String>,
    /// Free metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, Option<String>>>,
    /// Rows that are deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_vector: Option<DeletionVectorDescriptor>,
    /// Row id of the first row (row tracking).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_row_id: Option<i64>,
    /// First version that added this path (row tracking).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_row_commit_version: Option<i64>,
    /// Name of the clustering implementation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clustering_provider: Option<String>,
}
