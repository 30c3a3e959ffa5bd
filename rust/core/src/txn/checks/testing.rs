use super::{Leave, Subject, all};
use crate::actions::{Add, DeletionVectorDescriptor, FilePath, Metadata, ObjectPath, Protocol, Remove};
use crate::conflict::Changes;
use crate::deletion_vector::DeletionVector;
use crate::error::Error;

/// A commit and the table that it is for.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) protocol: Protocol,
    pub(super) metadata: Metadata,
    pub(super) changes: Changes,
    pub(super) leave: Leave,
    creates: bool,
}

impl Case {
    /// One file for a table of the column `p`.
    pub(super) fn append() -> Self {
        let schema =
            r#"{"type":"struct","fields":[{"name":"p","type":"string","nullable":true,"metadata":{}}]}"#;
        let protocol = Protocol {
            min_reader_version: 1,
            min_writer_version: 2,
            reader_features: None,
            writer_features: None,
        };
        let metadata = Metadata { id: "t".into(), schema_string: schema.into(), ..Default::default() };
        Case {
            protocol,
            metadata,
            changes: Changes { adds: vec![add("x")], ..Default::default() },
            leave: Leave::default(),
            creates: false,
        }
    }

    /// A new table.
    pub(super) fn new_table() -> Self {
        let mut case = Case { creates: true, ..Self::append() };
        case.changes = Changes {
            protocol: Some(case.protocol.clone()),
            metadata: Some(case.metadata.clone()),
            ..Default::default()
        };
        case
    }
}

/// Why the commit of a case is refused.
pub(super) fn error(case: Case) -> Option<Error> {
    let subject = Subject {
        root: &ObjectPath::new("memory://", "/t"),
        protocol: case.changes.protocol.as_ref().unwrap_or(&case.protocol),
        metadata: case.changes.metadata.as_ref().unwrap_or(&case.metadata),
        before: (!case.creates).then_some((&case.protocol, &case.metadata)),
        changes: &case.changes,
        allows_stale_formats: false,
        leave: &case.leave,
    };
    all(&subject).err()
}

pub(super) fn add(path: &str) -> Add {
    Add { path: FilePath::from_log(path), data_change: true, ..Default::default() }
}

pub(super) fn remove(path: &str, data_change: bool) -> Remove {
    Remove { path: FilePath::from_log(path), data_change, ..Default::default() }
}

pub(super) fn vector(rows: &[u64]) -> DeletionVectorDescriptor {
    rows.iter().copied().collect::<DeletionVector>().to_inline()
}
