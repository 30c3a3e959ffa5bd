use super::Subject;
use crate::error::{Error, Result, condition};
use crate::features::TableFeature;
use crate::properties::TableProperty;

/// A table that is append-only loses no rows (PROTOCOL.md, "Append-only Tables"). Rearranging them is allowed. The
/// table before the commit counts: a commit that unsets the property may not yet delete rows.
pub(crate) fn check(subject: &Subject<'_>) -> Result<()> {
    let (protocol, metadata) = subject.before.unwrap_or((subject.protocol, subject.metadata));
    if !metadata.is_true(TableProperty::AppendOnly) || !protocol.supports(TableFeature::AppendOnly) {
        return Ok(());
    }
    match subject.changes.removes.iter().find(|r| r.data_change) {
        None => Ok(()),
        Some(remove) => {
            let file = Some(remove.path.as_str().to_owned());
            Err(Error::AppendOnly { path: subject.root.to_string(), file }
                .named(&condition::CANNOT_MODIFY_APPEND_ONLY, [("config", TableProperty::AppendOnly.name())]))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::txn::checks::testing::{Case, error, remove};

    #[test]
    fn an_append_only_table_loses_no_rows_but_may_be_rearranged() {
        let mut case = Case::append();
        case.metadata.configuration.insert("delta.appendOnly".into(), "true".into());
        assert!(error(case.clone()).is_none());
        case.changes.removes = vec![remove("a", false)];
        assert!(error(case.clone()).is_none());
        case.changes.removes = vec![remove("a", true)];
        assert_eq!(error(case.clone()).map(|e| e.kind()), Some("AppendOnly"));
        case.metadata.configuration.clear();
        assert!(error(case).is_none());
    }
}
