use std::collections::BTreeSet;

use super::Subject;
use crate::error::{Error, Result};

/// One commit records one version of an application (PROTOCOL.md, "Delta Log Entries").
pub(crate) fn check(subject: &Subject<'_>) -> Result<()> {
    let mut seen = BTreeSet::new();
    match subject.changes.txns.iter().find(|t| !seen.insert(&t.app_id)) {
        None => Ok(()),
        Some(txn) => Err(Error::InvalidAction {
            path: subject.root.to_string(),
            action: txn.app_id.clone(),
            reason: "the commit records two versions of this application".into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use crate::actions::Txn;
    use crate::txn::checks::testing::{Case, error};

    #[test]
    fn an_application_has_one_version_in_a_commit() {
        let txn = |app: &str| Txn { app_id: app.into(), version: 1, last_updated: None };
        let mut case = Case::append();
        case.changes.txns = vec![txn("a"), txn("b")];
        assert!(error(case.clone()).is_none());
        case.changes.txns.push(txn("a"));
        assert_eq!(error(case).map(|e| e.kind()), Some("InvalidAction"));
    }
}
