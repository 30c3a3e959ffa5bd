use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::predicate::Predicate;

/// [`Reads`](super::Reads) that are bound to no table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ReadsRecord {
    /// Whether all that the table is was read.
    pub state: bool,
    /// Whether every row was read.
    pub whole_table: bool,
    /// The rows that match these.
    pub predicates: Vec<PredicateRecord>,
    /// Every row of these files, by identity.
    pub files: BTreeSet<String>,
    /// The versions of these applications.
    pub apps: BTreeSet<String>,
}

/// A predicate by which rows were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PredicateRecord {
    /// The predicate.
    pub predicate: Predicate,
    /// All files that held such rows, by identity, where they are known.
    #[serde(default)]
    pub matched: Option<BTreeSet<String>>,
}
