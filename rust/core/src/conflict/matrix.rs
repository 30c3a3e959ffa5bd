use super::IsolationLevel;
use crate::error::{ConflictKind, ConflictRule};

/// What follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The transaction cannot follow.
    Conflict(ConflictKind),
    /// It follows after it was changed to what it would be, had it begun later.
    Rebase,
    /// It follows as it is.
    Pass,
}

/// One rule of the matrix.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The rule.
    pub rule: ConflictRule,
    /// What the winner did.
    pub winner: &'static str,
    /// What this transaction did.
    pub ours: &'static str,
    /// What follows, by level in the order of [`IsolationLevel::ALL`].
    pub verdicts: [Verdict; 3],
    /// What to do, or what a rebase does.
    pub then: &'static str,
}

impl Row {
    /// What follows at a level.
    pub fn verdict(&self, level: IsolationLevel) -> Verdict {
        let [serializable, write_serializable, snapshot] = self.verdicts;
        match level {
            IsolationLevel::Serializable => serializable,
            IsolationLevel::WriteSerializable => write_serializable,
            IsolationLevel::SnapshotIsolation => snapshot,
        }
    }
}

const fn at_all_levels(verdict: Verdict) -> [Verdict; 3] {
    [verdict; 3]
}

const APPEND: Verdict = Verdict::Conflict(ConflictKind::ConcurrentAppend);
const DELETE_READ: Verdict = Verdict::Conflict(ConflictKind::ConcurrentDeleteRead);
const DELETE_DELETE: Verdict = Verdict::Conflict(ConflictKind::ConcurrentDeleteDelete);
const TRANSACTION: Verdict = Verdict::Conflict(ConflictKind::ConcurrentTransaction);
const METADATA: Verdict = Verdict::Conflict(ConflictKind::MetadataChanged);
const PROTOCOL: Verdict = Verdict::Conflict(ConflictKind::ProtocolChanged);
const WRITE: Verdict = Verdict::Conflict(ConflictKind::ConcurrentWrite);

const AGAIN: &str = "open the table again and repeat the operation";

/// The conflict matrix: every rule with its verdict at each isolation level. The code, the documentation and the model
/// checker read this one table.
pub const MATRIX: [Row; 24] = [
    Row {
        rule: ConflictRule::Overtaken,
        winner: "committed",
        ours: "depends on the whole table (RESTORE, and CLONE onto a table)",
        verdicts: at_all_levels(WRITE),
        then: AGAIN,
    },
    Row {
        rule: ConflictRule::ProtocolChanged,
        winner: "changed the protocol",
        ours: "began with the old one",
        verdicts: at_all_levels(PROTOCOL),
        then: AGAIN,
    },
    Row {
        rule: ConflictRule::FeaturesAdded,
        winner: "only added table features that place no demand on a running transaction",
        ours: "does not change the protocol",
        verdicts: at_all_levels(Verdict::Rebase),
        then: "the commit is checked against the new protocol",
    },
    Row {
        rule: ConflictRule::MetadataChanged,
        winner: "changed schema, partition columns or properties",
        ours: "began with the old ones",
        verdicts: at_all_levels(METADATA),
        then: AGAIN,
    },
    Row {
        rule: ConflictRule::PropertiesSet,
        winner: "only changed name, description or properties that no data file depends on, or enabled column mapping by name",
        ours: "changes no metadata except high-water marks of identity columns",
        verdicts: at_all_levels(Verdict::Rebase),
        then: "the commit is checked against the new metadata",
    },
    Row {
        rule: ConflictRule::IdentityAdvanced,
        winner: "only moved high-water marks of identity columns",
        ours: "generated no values of these columns, and changes no metadata except such marks",
        verdicts: at_all_levels(Verdict::Rebase),
        then: "the farther high-water mark of each column is kept",
    },
    Row {
        rule: ConflictRule::IdentityTaken,
        winner: "moved the high-water mark of an identity column",
        ours: "generated values of the same column, starting at the same mark",
        verdicts: at_all_levels(METADATA),
        then: "write the rows again: they get the next values (an append of Arrow data does that itself)",
    },
    Row {
        rule: ConflictRule::Transaction,
        winner: "recorded an older version of an application",
        ours: "records or has read the version of that application",
        verdicts: at_all_levels(TRANSACTION),
        then: "let one process at a time write for an application, and continue from its newest version",
    },
    Row {
        rule: ConflictRule::Domain,
        winner: "changed a metadata domain",
        ours: "changes the same domain",
        verdicts: at_all_levels(TRANSACTION),
        then: AGAIN,
    },
    Row {
        rule: ConflictRule::AppendRead,
        winner: "added rows that a read predicate may match, and had read the table itself",
        ours: "read by that predicate",
        verdicts: [APPEND, APPEND, Verdict::Pass],
        then: AGAIN,
    },
    Row {
        rule: ConflictRule::BlindAppendRead,
        winner: "added rows that a read predicate may match, in a blind append",
        ours: "read by that predicate",
        verdicts: [APPEND, Verdict::Pass, Verdict::Pass],
        then: AGAIN,
    },
    Row {
        rule: ConflictRule::BlindAppendMetadata,
        winner: "added rows that a read predicate may match, in a blind append",
        ours: "read by that predicate, and changes the metadata",
        verdicts: at_all_levels(APPEND),
        then: AGAIN,
    },
    Row {
        rule: ConflictRule::AppendElsewhere,
        winner: "added rows that no read predicate can match, by partition values and statistics",
        ours: "does anything",
        verdicts: at_all_levels(Verdict::Pass),
        then: "",
    },
    Row {
        rule: ConflictRule::RewriteAdded,
        winner: "added files that only rearrange rows (`dataChange` false)",
        ours: "does anything",
        verdicts: at_all_levels(Verdict::Pass),
        then: "",
    },
    Row {
        rule: ConflictRule::RemoveRead,
        winner: "removed rows of a file",
        ours: "read that file, and does not write it",
        verdicts: [DELETE_READ, DELETE_READ, Verdict::Pass],
        then: AGAIN,
    },
    Row {
        rule: ConflictRule::RewriteRead,
        winner: "removed a file whose rows live on in others (`dataChange` false)",
        ours: "read that file, and does not write it",
        verdicts: at_all_levels(Verdict::Rebase),
        then: "the new files are read in its place",
    },
    Row {
        rule: ConflictRule::FileRewritten,
        winner: "removed or rewrote a file",
        ours: "removes, rewrites or adds the same file, or deletes rows of it",
        verdicts: at_all_levels(DELETE_DELETE),
        then: AGAIN,
    },
    Row {
        rule: ConflictRule::FileRestated,
        winner: "committed the same logical file again with other statistics, tags or row ids",
        ours: "removes, rewrites or states that file again",
        verdicts: at_all_levels(Verdict::Rebase),
        then: "row ids that the winner gave to the file are kept",
    },
    Row {
        rule: ConflictRule::FileAdded,
        winner: "added a file",
        ours: "adds a file of the same name",
        verdicts: at_all_levels(APPEND),
        then: AGAIN,
    },
    Row {
        rule: ConflictRule::OtherRows,
        winner: "deleted rows of a file by a deletion vector",
        ours: "deletes other rows of the same file by a deletion vector",
        verdicts: at_all_levels(Verdict::Rebase),
        then: "the deletion vectors are merged",
    },
    Row {
        rule: ConflictRule::SameRows,
        winner: "deleted rows of a file by a deletion vector",
        ours: "deletes some of the same rows",
        verdicts: at_all_levels(DELETE_DELETE),
        then: AGAIN,
    },
    Row {
        rule: ConflictRule::RowsMoved,
        winner: "deleted rows of a file, by a deletion vector or all of them with the file",
        ours: "moves the rows of that file and says which went where (a compaction), with deletion vectors enabled",
        verdicts: at_all_levels(Verdict::Rebase),
        then: "the rows are deleted in the new files",
    },
    Row {
        rule: ConflictRule::RowIds,
        winner: "assigned row ids",
        ours: "assigns row ids",
        verdicts: at_all_levels(Verdict::Rebase),
        then: "row ids begin after the winner's, and commit versions are the new version",
    },
    Row {
        rule: ConflictRule::InCommitTimestamps,
        winner: "has an in-commit timestamp",
        ours: "does anything",
        verdicts: at_all_levels(Verdict::Rebase),
        then: "the timestamp is later than the winner's",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_has_one_row_and_one_name() {
        for (at, row) in MATRIX.iter().enumerate() {
            assert_eq!(row.rule as usize, at, "{}", row.rule);
            assert_eq!(
                MATRIX.iter().filter(|r| r.rule.as_str() == row.rule.as_str()).count(),
                1,
                "{}",
                row.rule
            );
        }
    }

    #[test]
    fn a_stricter_level_never_lets_more_pass() {
        let strictness = |v: Verdict| match v {
            Verdict::Pass => 0,
            Verdict::Rebase => 1,
            Verdict::Conflict(_) => 2,
        };
        for row in MATRIX {
            assert!(row.verdicts.is_sorted_by_key(|v| std::cmp::Reverse(strictness(*v))), "{}", row.rule);
        }
    }
}
