use super::Subject;
use crate::error::{Error, Result};

/// The first commit must have protocol and metadata (PROTOCOL.md, "Delta Log Entries").
pub(crate) fn check(subject: &Subject<'_>) -> Result<()> {
    let missing = |action| Err(Error::MissingAction { path: subject.root.to_string(), version: 0, action });
    match (subject.before, &subject.changes.protocol, &subject.changes.metadata) {
        (None, None, _) => missing("protocol"),
        (None, _, None) => missing("metaData"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::txn::checks::testing::{Case, error};

    #[test]
    fn a_table_begins_with_protocol_and_metadata() {
        assert!(error(Case::new_table()).is_none());
        let without = |change: fn(&mut Case)| {
            let mut case = Case::new_table();
            change(&mut case);
            error(case).map(|e| e.to_string())
        };
        assert!(without(|c| c.changes.protocol = None).is_some_and(|e| e.contains("`protocol`")));
        assert!(without(|c| c.changes.metadata = None).is_some_and(|e| e.contains("`metaData`")));
    }
}
