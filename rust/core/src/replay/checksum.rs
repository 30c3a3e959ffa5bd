use serde::Deserialize;

use crate::actions::{DomainMetadata, Metadata, Protocol, Txn};
use crate::error::{Error, Result};
use crate::log::LogFile;
use crate::store::Location;

/// `n.crc`: facts about a version that save reading it (PROTOCOL.md, "Version Checksum File").
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checksum {
    /// Transaction that wrote it.
    #[serde(default)]
    pub txn_id: Option<String>,
    /// Sum of the sizes of all live files.
    pub table_size_bytes: i64,
    /// Number of live files.
    pub num_files: i64,
    /// In-commit timestamp of the version.
    #[serde(default)]
    pub in_commit_timestamp_opt: Option<i64>,
    /// Live transaction identifiers; absent means unknown.
    #[serde(default)]
    pub set_transactions: Option<Vec<Txn>>,
    /// Live domains; absent means unknown.
    #[serde(default)]
    pub domain_metadata: Option<Vec<DomainMetadata>>,
    /// Metadata of the version. Old writers left it out.
    #[serde(default)]
    pub metadata: Option<Metadata>,
    /// Protocol of the version. Old writers left it out.
    #[serde(default)]
    pub protocol: Option<Protocol>,
}

impl Checksum {
    /// Reads a checksum file.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] when it is not the JSON of a checksum. It is a cache: no reason to refuse the table.
    pub(crate) fn read(location: &Location, file: &LogFile) -> Result<Self> {
        let path = location.log_dir().join(&file.name);
        let body = location.store().get(&path)?;
        serde_json::from_slice(&body)
            .map_err(|e| Error::corrupt(path.to_string(), Some(file.version), e.to_string()))
    }
}
