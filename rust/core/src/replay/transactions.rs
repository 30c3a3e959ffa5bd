use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::commit_info::info_of;
use crate::error::{Error, Result};
use crate::log::commit_path;
use crate::store::Location;

/// Where a `commitInfo` names its transaction, as all writers but those with white space spell it.
static MEMBER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"txnId\":\""));

/// A hash of the identifier in the text of a `commitInfo`, without parsing it: it may be that of another member with the name.
pub(crate) fn transaction_in(info: &[u8]) -> Option<u64> {
    let rest = &info[MEMBER.find(info)? + MEMBER.needle().len()..];
    let id = &rest[..memchr::memchr(b'"', rest)?];
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    (!id.is_empty()).then(|| hasher.finish())
}

/// The transaction of one commit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TransactionOf {
    pub(crate) version: u64,
    /// A hash of its identifier.
    pub(crate) id: u64,
    /// Whether the commit can be in the log twice although nothing is damaged: a writer that got no answer for its
    /// append may repeat it. A commit that removes files, or changes the table or the version of an application, would
    /// have conflicted with itself.
    pub(crate) may_repeat: bool,
}

/// The transactions of the commits of a tail, by the hashes of their identifiers: 16 bytes a commit.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transactions {
    versions: HashMap<u64, u64>,
    /// Of a commit that must not repeat another one, that one and it.
    repeated: Option<(u64, u64)>,
}

impl Transactions {
    /// With the transactions of newer commits, in their order.
    pub(crate) fn with(&self, newer: &[TransactionOf]) -> Self {
        let mut out = self.clone();
        for transaction in newer {
            let before = out.versions.insert(transaction.id, transaction.version);
            if let Some(before) = before.filter(|_| !transaction.may_repeat && out.repeated.is_none()) {
                out.repeated = Some((before, transaction.version));
            }
        }
        out
    }

    /// Checks that no commit is in the log twice.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] for the second of two that are the same.
    ///
    /// # Cost
    /// Only where two seem to be, they are read again.
    pub(crate) fn check(&self, location: &Location) -> Result<()> {
        let Some((before, version)) = self.repeated else { return Ok(()) };
        let id = |version| -> Option<String> {
            let path = commit_path(location, version);
            let body = location.store().get(&path).ok()?;
            info_of(&body, &path.to_string(), version).ok()??.txn_id
        };
        if id(before).is_none_or(|before| id(version) != Some(before)) {
            return Ok(());
        }
        let path = commit_path(location, version).to_string();
        let reason = format!(
            "it has the `txnId` of version {before}, and a transaction that removes files or changes the table cannot be \
             committed twice: one of the two replaced another commit; `verify` reports more, and reading with `fast` accepts \
             the log as it is"
        );
        Err(Error::corrupt(path, Some(version), reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_identifier_identifies_nothing() {
        let id = |info: &str| transaction_in(info.as_bytes());
        for info in
            ["{}", r#"{"txnId":null}"#, r#"{"txnId":""}"#, r#"{"txnId":"a"#, r#"{"note":"\"txnId\":\"a\""}"#]
        {
            assert_eq!(id(info), None, "{info}");
        }
        assert_eq!(id(r#"{"txnId":"a","x":[1]}"#), id(r#"{"x":{},"txnId":"a"}"#));
        assert_ne!(id(r#"{"txnId":"a"}"#), id(r#"{"txnId":"b"}"#));
    }

    #[test]
    fn an_append_may_repeat_and_nothing_else() {
        let of = |version, id, may_repeat| TransactionOf { version, id, may_repeat };
        let known = Transactions::default().with(&[of(0, 7, false), of(1, 8, true)]);
        assert_eq!(known.with(&[of(2, 8, true), of(3, 9, false)]).repeated, None);
        assert_eq!(known.with(&[of(2, 9, true), of(3, 7, false)]).repeated, Some((0, 3)));
    }
}
