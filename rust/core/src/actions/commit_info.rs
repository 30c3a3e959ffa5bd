use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Tag of a commit: whether every row that moved kept its row id.
pub(crate) const ROW_IDS_PRESERVED: &str = "delta.rowTracking.preserved";

/// Tag of a commit whose metadata only moves marks of identity columns.
pub(crate) const IDENTITY_MARKS_ONLY: &str = "delta.identity.schemaUpdate";

/// Tag of a commit: who read and wrote the files of the operation, with commas.
pub(crate) const ROUTE: &str = "deltaic.route";

/// `commitInfo`: who committed what (PROTOCOL.md, "Commit Provenance Information"). Free-form by the protocol: the
/// fields in common use have names here, all others are kept in [`CommitInfo::other`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommitInfo {
    /// Timestamp of the commit where in-commit timestamps are on, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_commit_timestamp: Option<i64>,
    /// Clock of the writer, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient_millis")]
    pub timestamp: Option<i64>,
    /// User id, where the writer knows one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// User name, where the writer knows one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_name: Option<String>,
    /// Operation, such as `WRITE` or `MERGE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Parameters of the operation. delta-spark writes every value as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_parameters: Option<BTreeMap<String, Value>>,
    /// Version that the transaction read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_version: Option<i64>,
    /// `Serializable`, `WriteSerializable` or `SnapshotIsolation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation_level: Option<String>,
    /// Whether the commit only appends and read nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_blind_append: Option<bool>,
    /// Metrics of the operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_metrics: Option<BTreeMap<String, Value>>,
    /// Text given by the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_metadata: Option<String>,
    /// Engine that committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_info: Option<String>,
    /// Unique id of the transaction: distinguishes our own commit from a competitor's after a lost answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub txn_id: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}

/// Some writers store text or a float instead of milliseconds; provenance is never a reason to refuse a table.
fn lenient_millis<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Option<i64>, D::Error> {
    Ok(match Value::deserialize(d)? {
        Value::Number(n) => n.as_i64().or_else(|| n.as_f64().map(|f| f as i64)),
        Value::String(s) => s.parse().ok(),
        _ => None,
    })
}
