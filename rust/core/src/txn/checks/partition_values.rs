use std::collections::BTreeSet;

use super::Subject;
use crate::error::{Error, Result};
use crate::schema::StructType;

/// Every file has a value for every partition column, and for nothing else (PROTOCOL.md, "Consistency Between Table
/// Metadata and Data Files").
pub(crate) fn check(subject: &Subject<'_>) -> Result<()> {
    let (adds, cdc) = (&subject.changes.adds, &subject.changes.cdc);
    if adds.is_empty() && cdc.is_empty() {
        return Ok(());
    }
    let metadata = subject.metadata;
    let names = match metadata.partition_columns.as_slice() {
        [] => Vec::new(),
        columns => {
            let schema = StructType::from_json(&metadata.schema_string)?;
            schema.physical_names(columns, metadata.column_mapping())
        }
    };
    let expected: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let files = adds.iter().map(|a| (&a.path, &a.partition_values));
    for (path, values) in files.chain(cdc.iter().map(|c| (&c.path, &c.partition_values))) {
        if values.len() != expected.len() || !values.keys().all(|k| expected.contains(k.as_str())) {
            let has: Vec<&str> = values.keys().map(String::as_str).collect();
            let reason = format!(
                "its partition values are for [{}], the table is partitioned by [{}]",
                has.join(", "),
                names.join(", ")
            );
            let table = subject.root.to_string();
            return Err(Error::InvalidAction { path: table, action: path.as_str().to_owned(), reason });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::txn::checks::testing::{Case, error};

    #[test]
    fn a_file_has_a_value_for_each_partition_column() {
        let with = |columns: &[&str], keys: &[&str]| {
            let mut case = Case::append();
            case.metadata.partition_columns = columns.iter().map(|c| (*c).to_owned()).collect();
            case.changes.adds[0].partition_values = keys.iter().map(|k| ((*k).to_owned(), None)).collect();
            error(case).map(|e| e.kind())
        };
        assert_eq!(with(&[], &[]), None);
        assert_eq!(with(&["p"], &["p"]), None);
        assert_eq!(with(&["p"], &[]), Some("InvalidAction"));
        assert_eq!(with(&[], &["p"]), Some("InvalidAction"));
        assert_eq!(with(&["p"], &["P"]), Some("InvalidAction"));
    }
}
