use super::Subject;
use crate::alter::{validate, validate_replacement};
use crate::error::Result;

/// New metadata and protocol keep the rules of the schema, and what must be kept of those before them. Whether files stay
/// that must fit is for the operation to know, which made them with [`crate::alter`].
pub(super) fn check(subject: &Subject<'_>) -> Result<()> {
    if subject.changes.metadata.is_none() && subject.changes.protocol.is_none() {
        return Ok(());
    }
    match subject.before {
        None => validate(None, (subject.protocol, subject.metadata)),
        Some(before) => validate_replacement(before, (subject.protocol, subject.metadata)),
    }
}

#[cfg(test)]
mod tests {
    use crate::txn::checks::testing::{Case, error};

    #[test]
    fn partition_columns_are_columns() {
        let mut case = Case::new_table();
        let metadata = case.changes.metadata.as_mut().unwrap();
        metadata.schema_string =
            r#"{"type":"struct","fields":[{"name":"p","type":"long"},{"name":"x","type":"long"}]}"#.into();
        metadata.partition_columns = vec!["p".into()];
        assert!(error(case.clone()).is_none());
        case.changes.metadata.as_mut().unwrap().partition_columns = vec!["q".into()];
        assert_eq!(error(case).map(|e| e.kind()), Some("InvalidArgument"));
    }

    #[test]
    fn metadata_uses_only_what_the_protocol_has() {
        let mut case = Case::append();
        let mut metadata = case.metadata.clone();
        metadata.configuration.insert("delta.enableDeletionVectors".into(), "true".into());
        case.changes.metadata = Some(metadata);
        assert_eq!(error(case).map(|e| e.kind()), Some("InvalidFeatureChange"));
    }
}
