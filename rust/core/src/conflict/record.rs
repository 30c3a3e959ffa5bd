use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::{Changes, IsolationLevel, Reads, ReadsRecord, Vectors};
use crate::actions::{Add, ObjectPath, Remove};
use crate::error::{Error, Result};

/// What a transaction read and does, as far as conflicts go: enough to ask later, or elsewhere, which commits it may
/// follow. A commit that lost has its JSON form in the error.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TransactionRecord {
    /// Version that it began at.
    pub read_version: u64,
    /// Newest commit to check it against; `None` checks against all commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_winner: Option<u64>,
    /// Its operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Its isolation level; none takes the one that such a transaction has in the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation_level: Option<IsolationLevel>,
    /// What it read.
    #[serde(default)]
    pub reads: ReadsRecord,
    /// What it does. Files have neither statistics nor partition values: no rule asks for those of its own files.
    #[serde(default)]
    pub changes: Changes,
}

impl TransactionRecord {
    /// Of a transaction that lost. Deletion vectors of the files in `touched` (by identity) are in the record itself:
    /// their own files are deleted when the commit is not made.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] for a path that cannot be decoded.
    pub(crate) fn of(
        read_version: u64,
        reads: &Reads,
        changes: &Changes,
        (root, touched, vectors): (&ObjectPath, &HashSet<String>, &dyn Vectors),
    ) -> Result<Self> {
        let mut adds = Vec::with_capacity(changes.adds.len());
        for add in &changes.adds {
            let mut slim = Add {
                path: add.path.clone(),
                data_change: add.data_change,
                deletion_vector: add.deletion_vector.clone(),
                ..Default::default()
            };
            if let Some(vector) = &add.deletion_vector
                && touched.contains(&add.path.identity(root)?)
                && let Ok(rows) = vectors.load(vector)
            {
                slim.deletion_vector = Some(rows.to_inline());
            }
            adds.push(slim);
        }
        let removes = changes.removes.iter().map(|remove| Remove {
            path: remove.path.clone(),
            data_change: remove.data_change,
            deletion_vector: remove.deletion_vector.clone(),
            ..Default::default()
        });
        Ok(TransactionRecord {
            read_version,
            reads: reads.record(),
            changes: Changes {
                adds,
                removes: removes.collect(),
                protocol: changes.protocol.clone(),
                metadata: changes.metadata.clone(),
                cdc: Vec::new(),
                txns: changes.txns.clone(),
                domains: changes.domains.clone(),
                identities: changes.identities.clone(),
                moves: changes.moves.clone(),
            },
            ..Default::default()
        })
    }

    /// From its JSON form.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for what is none.
    pub fn from_json(text: &str) -> Result<Self> {
        serde_json::from_str(text)
            .map_err(|e| Error::InvalidArgument { argument: "transaction".into(), reason: e.to_string() })
    }

    /// Its JSON form, in one line.
    ///
    /// # Errors
    /// None that is known: every part has a JSON form.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self)
            .map_err(|e| Error::InvalidArgument { argument: "transaction".into(), reason: e.to_string() })
    }
}
