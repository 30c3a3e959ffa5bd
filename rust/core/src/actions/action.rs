use serde::Serialize;

use super::{
    Add, Cdc, CheckpointMetadata, CommitInfo, DomainMetadata, Metadata, Protocol, Remove, Sidecar, Txn,
};

/// One line of a commit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Action {
    /// `add`
    Add(Box<Add>),
    /// `remove`
    Remove(Box<Remove>),
    /// `cdc`
    Cdc(Box<Cdc>),
    /// `metaData`
    MetaData(Box<Metadata>),
    /// `protocol`
    Protocol(Protocol),
    /// `txn`
    Txn(Txn),
    /// `domainMetadata`
    DomainMetadata(DomainMetadata),
    /// `commitInfo`
    CommitInfo(Box<CommitInfo>),
    /// `sidecar`, in checkpoints only
    Sidecar(Sidecar),
    /// `checkpointMetadata`, in checkpoints only
    CheckpointMetadata(CheckpointMetadata),
}

impl From<Add> for Action {
    fn from(add: Add) -> Self {
        Action::Add(Box::new(add))
    }
}

impl From<Remove> for Action {
    fn from(remove: Remove) -> Self {
        Action::Remove(Box::new(remove))
    }
}

impl From<Cdc> for Action {
    fn from(cdc: Cdc) -> Self {
        Action::Cdc(Box::new(cdc))
    }
}

impl From<Metadata> for Action {
    fn from(metadata: Metadata) -> Self {
        Action::MetaData(Box::new(metadata))
    }
}

impl From<Protocol> for Action {
    fn from(protocol: Protocol) -> Self {
        Action::Protocol(protocol)
    }
}

impl From<Txn> for Action {
    fn from(txn: Txn) -> Self {
        Action::Txn(txn)
    }
}

impl From<DomainMetadata> for Action {
    fn from(domain: DomainMetadata) -> Self {
        Action::DomainMetadata(domain)
    }
}

impl From<CommitInfo> for Action {
    fn from(info: CommitInfo) -> Self {
        Action::CommitInfo(Box::new(info))
    }
}

impl From<Sidecar> for Action {
    fn from(sidecar: Sidecar) -> Self {
        Action::Sidecar(sidecar)
    }
}

impl From<CheckpointMetadata> for Action {
    fn from(metadata: CheckpointMetadata) -> Self {
        Action::CheckpointMetadata(metadata)
    }
}
