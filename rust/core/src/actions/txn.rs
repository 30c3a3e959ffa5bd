use serde::{Deserialize, Serialize};

/// `txn`: how far an application has come (PROTOCOL.md, "Transaction Identifiers").
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Txn {
    /// Application.
    pub app_id: String,
    /// Its own version.
    pub version: i64,
    /// Time of this action, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_updated: Option<i64>,
}
