use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::PartitionValues;
use super::file_path::FilePath;

/// `cdc`: a file of row-level changes of one version (PROTOCOL.md, "Add CDC File").
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cdc {
    /// Path as written.
    pub path: FilePath,
    /// Serialized partition values.
    #[serde(default)]
    pub partition_values: PartitionValues,
    /// Size in bytes.
    pub size: i64,
    /// Always false.
    pub data_change: bool,
    /// Free metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, Option<String>>>,
}
