use serde::{Deserialize, Serialize};

use super::IdentityValues;
use super::row_relocation::RowRelocations;
use crate::actions::{Action, Add, Cdc, DomainMetadata, Metadata, Protocol, Remove, Txn};

/// What a transaction does, sorted by kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Changes {
    /// New protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// New metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Files that are added.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub adds: Vec<Add>,
    /// Files that are removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removes: Vec<Remove>,
    /// Files of row-level changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cdc: Vec<Cdc>,
    /// Application transactions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub txns: Vec<Txn>,
    /// Metadata domains.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub domains: Vec<DomainMetadata>,
    /// Values of identity columns: if there are any, the metadata only moves their marks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identities: Option<IdentityValues>,
    /// The new positions of rows of rewritten files, which the log does not record.
    #[serde(skip_serializing_if = "RowRelocations::is_empty")]
    pub moves: RowRelocations,
}

impl Changes {
    /// Whether it changes the files of the table, or what the table is.
    pub(crate) fn is_of_formats(&self) -> bool {
        let files = !self.adds.is_empty() || !self.removes.is_empty();
        files || self.metadata.is_some() || self.protocol.is_some()
    }

    /// Sorts actions. Provenance and actions of checkpoints are left out; of two protocols or metadata the last counts.
    pub fn of(actions: &[Action]) -> Self {
        let mut out = Changes::default();
        for action in actions {
            match action.clone() {
                Action::Add(add) => out.adds.push(*add),
                Action::Remove(remove) => out.removes.push(*remove),
                Action::Cdc(cdc) => out.cdc.push(*cdc),
                Action::MetaData(metadata) => out.metadata = Some(*metadata),
                Action::Protocol(protocol) => out.protocol = Some(protocol),
                Action::Txn(txn) => out.txns.push(txn),
                Action::DomainMetadata(domain) => out.domains.push(domain),
                Action::CommitInfo(_) | Action::Sidecar(_) | Action::CheckpointMetadata(_) => {}
            }
        }
        out
    }

    /// Whether rows are added or removed.
    pub fn changes_data(&self) -> bool {
        self.adds.iter().any(|a| a.data_change) || self.removes.iter().any(|r| r.data_change)
    }

    /// Whether the metadata changes, except marks of identity columns.
    pub fn changes_metadata(&self) -> bool {
        self.metadata.is_some() && self.identities.is_none()
    }
}
