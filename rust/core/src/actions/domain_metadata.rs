use serde::{Deserialize, Serialize};

/// `domainMetadata`: configuration of one named domain (PROTOCOL.md, "Domain Metadata").
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DomainMetadata {
    /// Domain; `delta.` domains belong to the protocol.
    pub domain: String,
    /// Its configuration, free text.
    pub configuration: String,
    /// Whether the domain is a tombstone.
    pub removed: bool,
}
