use super::Subject;
use crate::alter::{validate, validate_replacement};
use crate::error::Result;

/// New metadata and protocol keep the rules of the schema, and fit the files that stay: types change only as they may
/// be widened, and no column is dropped without column mapping.
pub(crate) fn check(subject: &Subject<'_>) -> Result<()> {
    if subject.changes.metadata.is_none() && subject.changes.protocol.is_none() {
        return Ok(());
    }
    match subject.before {
        None => validate(None, (subject.protocol, subject.metadata)),
        Some(before) if subject.leave.all_files => {
            validate_replacement(before, (subject.protocol, subject.metadata))
        }
        Some(before) => validate(Some(before), (subject.protocol, subject.metadata)),
    }
}

#[cfg(test)]
mod tests {
    use crate::actions::Metadata;
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
    fn files_that_stay_fit_the_new_schema() {
        let with = |fields: &str, all_files: bool| {
            let mut case = Case::append();
            let schema_string = format!(r#"{{"type":"struct","fields":[{fields}]}}"#);
            case.changes.metadata = Some(Metadata { schema_string, ..case.metadata.clone() });
            case.leave.all_files = all_files;
            error(case).map(|e| e.kind())
        };
        let field = |name: &str, data_type: &str, nullable: bool| {
            format!(r#"{{"name":"{name}","type":"{data_type}","nullable":{nullable},"metadata":{{}}}}"#)
        };
        let kept = field("p", "string", true);
        assert_eq!(with(&kept, false), None);
        assert_eq!(with(&[kept.clone(), field("q", "long", true)].join(","), false), None);
        for (fields, kind) in [
            (field("p", "long", true), "InvalidColumnChange"),
            (field("q", "string", true), "InvalidSchema"),
            (field("P", "string", true), "InvalidSchema"),
            (field("p", "string", false), "InvalidSchema"),
            ([kept, field("q", "long", false)].join(","), "InvalidSchema"),
        ] {
            assert_eq!(with(&fields, false), Some(kind), "{fields}");
            assert_eq!(with(&fields, true), None, "{fields}");
        }
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
