use super::Subject;
use crate::error::{Error, Result};
use crate::schema::StructType;

/// Schema and partition columns of new metadata fit each other.
pub(super) fn check(subject: &Subject<'_>) -> Result<()> {
    let Some(metadata) = &subject.changes.metadata else { return Ok(()) };
    let schema = match metadata.schema_string.as_str() {
        "" => StructType::default(),
        text => StructType::from_json(text)?,
    };
    match metadata.partition_columns.iter().find(|c| !schema.fields.iter().any(|f| f.name == **c)) {
        None => Ok(()),
        Some(column) => Err(Error::InvalidSchema {
            reason: format!("the partition column `{column}` is no column of the table"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use crate::txn::checks::testing::{Case, error};

    #[test]
    fn partition_columns_are_columns() {
        let mut case = Case::new_table();
        let metadata = case.changes.metadata.as_mut().unwrap();
        metadata.partition_columns = vec!["p".into()];
        assert!(error(case.clone()).is_none());
        case.changes.metadata.as_mut().unwrap().partition_columns = vec!["q".into()];
        assert_eq!(error(case).map(|e| e.kind()), Some("InvalidSchema"));
    }
}
