use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::file_path::FilePath;
use super::{DeletionVectorDescriptor, PartitionValues};

/// `remove`: a logical file is removed from the table and kept as a tombstone (PROTOCOL.md, "Add File and Remove File").
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Remove {
    /// Path as written: percent-encoded, relative to the table root or absolute.
    pub path: FilePath,
    /// Time of the removal, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<i64>,
    /// Whether the rows are deleted, not only rearranged.
    pub data_change: bool,
    /// Whether `partitionValues` and `size` are present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extended_file_metadata: Option<bool>,
    /// Serialized partition values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_values: Option<PartitionValues>,
    /// Size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    /// Statistics as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stats: Option<String>,
    /// Free metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, Option<String>>>,
    /// Deletion vector of the removed logical file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_vector: Option<DeletionVectorDescriptor>,
    /// Row id of the first row (row tracking).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_row_id: Option<i64>,
    /// First version that added this path (row tracking).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_row_commit_version: Option<i64>,
}
