use super::Subject;
use crate::error::Result;
use crate::txn::universal_format;

/// No metadata of another format becomes stale without an error. Versions that change neither files nor the definition
/// of the table do not matter to it.
pub(crate) fn check(subject: &Subject<'_>) -> Result<()> {
    match subject.changes.is_of_formats() {
        true => {
            universal_format::check(&subject.root.to_string(), subject.allows_stale_formats, subject.metadata)
        }
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::txn::checks::testing::{Case, error};

    #[test]
    fn other_formats_are_not_left_behind_in_silence() {
        let mut case = Case::append();
        let property = ("delta.universalFormat.enabledFormats".to_owned(), "iceberg".to_owned());
        case.metadata.configuration = [property].into();
        assert!(error(case.clone()).is_some_and(|e| e.to_string().contains("`iceberg`")));
        let unset = Case::append().metadata;
        case.changes.metadata = Some(unset);
        assert!(error(case.clone()).is_none(), "the property goes with the commit");
        (case.changes.metadata, case.changes.adds) = (None, Vec::new());
        assert!(error(case).is_none(), "nothing that the formats have changes");
    }
}
