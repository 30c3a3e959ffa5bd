use std::fmt;

use serde::{Deserialize, Serialize};

use super::Changes;
use crate::actions::Metadata;
use crate::error::{Error, Result};
use crate::properties::TableProperty;

/// What a transaction is guaranteed against others that commit while it is at work. The names are delta-spark's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum IsolationLevel {
    /// The history of versions is the one serial order: whatever a transaction read is as it would read it at its commit.
    Serializable,
    /// Some serial order of the writes explains the table, though maybe not the order of the versions: a blind append that
    /// landed first counts as if it came later.
    #[default]
    WriteSerializable,
    /// What a transaction rewrites nobody else has touched. For transactions that change no data this is serializable.
    SnapshotIsolation,
}

impl IsolationLevel {
    /// All levels, strictest first.
    pub const ALL: [IsolationLevel; 3] =
        [IsolationLevel::Serializable, IsolationLevel::WriteSerializable, IsolationLevel::SnapshotIsolation];

    /// The level of a table, from `delta.isolationLevel`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a value that is neither `Serializable` nor `WriteSerializable`.
    pub fn of(metadata: &Metadata) -> Result<Self> {
        let Some(value) = metadata.property(TableProperty::IsolationLevel) else {
            return Ok(Self::default());
        };
        let levels = [IsolationLevel::Serializable, IsolationLevel::WriteSerializable];
        levels.into_iter().find(|l| l.name().eq_ignore_ascii_case(value)).ok_or_else(|| {
            Error::InvalidArgument {
                argument: TableProperty::IsolationLevel.to_string(),
                reason: format!("`{value}` is neither Serializable nor WriteSerializable"),
            }
        })
    }

    /// The level of a transaction that asks for none: that of the table, or where it changes neither data nor metadata,
    /// [`IsolationLevel::SnapshotIsolation`].
    ///
    /// # Errors
    /// As [`IsolationLevel::of`].
    pub fn for_changes(metadata: &Metadata, changes: &Changes) -> Result<Self> {
        match changes.changes_data() || changes.metadata.is_some() {
            true => Self::of(metadata),
            false => Ok(IsolationLevel::SnapshotIsolation),
        }
    }

    /// The name that the log uses.
    pub fn name(self) -> &'static str {
        match self {
            IsolationLevel::Serializable => "Serializable",
            IsolationLevel::WriteSerializable => "WriteSerializable",
            IsolationLevel::SnapshotIsolation => "SnapshotIsolation",
        }
    }
}

impl fmt::Display for IsolationLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
