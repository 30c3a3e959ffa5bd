use std::fmt;

use super::fact::{AsFact, Fact};
use super::rule::ConflictRule;

/// Why a commit lost against another one. The names are those of `delta.exceptions`, without `Exception`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConflictKind {
    /// Rows or files were added that the transaction should have seen.
    ConcurrentAppend,
    /// Both removed or rewrote one file.
    ConcurrentDeleteDelete,
    /// Rows were removed that the transaction read.
    ConcurrentDeleteRead,
    /// An application transaction or metadata domain that the transaction depends on was recorded.
    ConcurrentTransaction,
    /// Time ran out while others won every race.
    ConcurrentWrite,
    /// Schema, partition columns or properties changed.
    MetadataChanged,
    /// The protocol changed.
    ProtocolChanged,
}

/// The facts of a commit that lost: against whom, over what, by which rule, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// Table location.
    pub path: String,
    /// Version of the winner.
    pub version: u64,
    /// Operation of the winner, where it wrote one.
    pub winner: Option<String>,
    /// Files that the two disagree about, as the log writes them.
    pub files: Vec<String>,
    /// Read predicate that the files may match.
    pub predicate: Option<String>,
    /// Rule by which it is one.
    pub rule: ConflictRule,
    /// Isolation level by which it is one.
    pub level: Option<&'static str>,
    /// What happened and what to do.
    pub reason: String,
    /// What to do, alone.
    pub advice: &'static str,
    /// What the transaction read and does, as the JSON of [`TransactionRecord`](crate::conflict::TransactionRecord): why it lost can
    /// be asked again.
    pub transaction: Option<String>,
}

impl Conflict {
    /// The names of the fields.
    pub(crate) const FIELDS: [&'static str; 10] = [
        "path",
        "version",
        "winner",
        "files",
        "predicate",
        "rule",
        "level",
        "reason",
        "advice",
        "transaction",
    ];

    /// The fields by name.
    pub(crate) fn facts(&self) -> Vec<(&'static str, Fact)> {
        let facts = [
            self.path.as_fact(),
            self.version.as_fact(),
            self.winner.as_fact(),
            self.files.as_fact(),
            self.predicate.as_fact(),
            self.rule.as_fact(),
            self.level.as_fact(),
            self.reason.as_fact(),
            self.advice.as_fact(),
            self.transaction.as_fact(),
        ];
        Self::FIELDS.into_iter().zip(facts).collect()
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "version {} of `{}` was committed by another writer", self.version, self.path)?;
        if let Some(winner) = &self.winner {
            write!(f, " ({winner})")?;
        }
        write!(f, ": {}", self.reason)?;
        if let Some(predicate) = &self.predicate {
            write!(f, "; read predicate `{predicate}`")?;
        }
        match self.files.as_slice() {
            [] => Ok(()),
            [one] => write!(f, "; file `{one}`"),
            [first, rest @ ..] => write!(f, "; file `{first}` and {} more", rest.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_stands_under_its_name() {
        let conflict = Conflict {
            path: "t".into(),
            version: 7,
            winner: Some("DELETE".into()),
            files: vec!["a".into(), "b".into()],
            predicate: None,
            rule: ConflictRule::FileRewritten,
            level: Some("Serializable"),
            reason: "why".into(),
            advice: "again",
            transaction: Some("{}".into()),
        };
        let text = |text: &str| Fact::Text(text.into());
        let facts = [
            ("path", text("t")),
            ("version", Fact::Number(7)),
            ("winner", text("DELETE")),
            ("files", Fact::Names(vec!["a".into(), "b".into()])),
            ("predicate", Fact::Absent),
            ("rule", text("file-rewritten")),
            ("level", text("Serializable")),
            ("reason", text("why")),
            ("advice", text("again")),
            ("transaction", text("{}")),
        ];
        assert_eq!(conflict.facts(), facts);
    }
}
