//! The actions of the log, one a file, with every field of the protocol (PROTOCOL.md, "Actions").

mod action;
mod add;
mod cdc;
mod checkpoint_metadata;
mod commit_info;
mod deletion_vector;
mod domain_metadata;
mod encode;
mod file_path;
mod metadata;
mod operation_name;
mod protocol;
mod remove;
mod sidecar;
mod txn;

pub use action::Action;
pub use add::Add;
pub use cdc::Cdc;
pub use checkpoint_metadata::CheckpointMetadata;
pub use commit_info::CommitInfo;
pub(crate) use commit_info::{IDENTITY_MARKS_ONLY, ROUTE, ROW_IDS_PRESERVED};
pub use deletion_vector::{DeletionVectorDescriptor, DvStorage};
pub use domain_metadata::DomainMetadata;
pub use encode::ActionRef;
pub(crate) use encode::encode;
pub use file_path::{FilePath, ObjectPath};
pub use metadata::{Format, Metadata};
pub use operation_name::OperationName;
pub use protocol::Protocol;
pub use remove::Remove;
pub use sidecar::Sidecar;
pub use txn::Txn;

use std::collections::BTreeMap;

/// Partition column (physical name) to serialized value; `None` is null.
pub type PartitionValues = BTreeMap<String, Option<String>>;
