use serde::{Serialize, Serializer};

use super::fact::{AsFact, Fact};
use crate::named::named;

// in the order of the matrix, and then those that are not about two commits
named! {
    /// The rule by which a commit and one that landed first go together or not. Those of two commits are explained in the
    /// conflict matrix.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    ConflictRule,
    /// The name of the rule, as messages, documentation and other languages have it.
    as_str:
    Overtaken = "overtaken",
    ProtocolChanged = "protocol-changed",
    FeaturesAdded = "features-added",
    MetadataChanged = "metadata-changed",
    PropertiesSet = "properties-set",
    IdentityAdvanced = "identity-advanced",
    IdentityTaken = "identity-taken",
    Transaction = "application-transaction",
    Domain = "metadata-domain",
    AppendRead = "append-read",
    BlindAppendRead = "blind-append-read",
    BlindAppendMetadata = "blind-append-metadata",
    AppendElsewhere = "append-elsewhere",
    RewriteAdded = "rewrite-added",
    RemoveRead = "remove-read",
    RewriteRead = "rewrite-read",
    FileRewritten = "file-rewritten",
    FileRestated = "file-restated",
    FileAdded = "file-added",
    OtherRows = "other-rows",
    SameRows = "same-rows",
    RowsMoved = "rows-moved",
    RowIds = "row-ids",
    InCommitTimestamps = "in-commit-timestamps",
    TableCreated = "table-created",
    TimeUsedUp = "time-used-up",
}

impl Serialize for ConflictRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl AsFact for ConflictRule {
    fn as_fact(&self) -> Fact {
        self.as_str().as_fact()
    }
}
