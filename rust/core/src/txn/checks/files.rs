use std::collections::HashMap;

use super::Subject;
use crate::actions::{DeletionVectorDescriptor, FilePath};
use crate::alter::iceberg_compat;
use crate::error::{Error, Result};
use crate::features::TableFeature;
use crate::stats::num_records;

/// One commit says at most one thing of a file (PROTOCOL.md, "Add File and Remove File", "Delta Log Entries"), a deletion
/// vector is one that the table may have, and change files change nothing.
pub(crate) fn check(subject: &Subject<'_>) -> Result<()> {
    let changes = subject.changes;
    let adds = keys(subject, "add", changes.adds.iter().map(|a| (&a.path, &a.deletion_vector)))?;
    let removes = keys(subject, "remove", changes.removes.iter().map(|r| (&r.path, &r.deletion_vector)))?;
    if let Some((path, _)) = adds.iter().find(|(path, vector)| removes.get(*path) == Some(vector)) {
        return refuse(subject, path, "it is added and removed with one and the same deletion vector");
    }
    let vectors = subject.protocol.supports(TableFeature::DeletionVectors);
    for add in changes.adds.iter().filter(|a| a.deletion_vector.is_some()) {
        if !vectors {
            let reason =
                "it has a deletion vector, and the table does not have the feature `deletionVectors`";
            return refuse(subject, add.path.as_str(), reason);
        }
        if num_records(add).is_none() {
            let reason = "it has a deletion vector, and its statistics have no `numRecords`";
            return refuse(subject, add.path.as_str(), reason);
        }
    }
    for add in &changes.adds {
        if let Some(fault) = iceberg_compat::fault_of_file(subject.metadata, add) {
            return refuse(subject, add.path.as_str(), fault);
        }
    }
    match changes.cdc.iter().find(|c| c.data_change) {
        Some(cdc) => {
            refuse(subject, cdc.path.as_str(), "it is a change file, whose `dataChange` must be false")
        }
        None => Ok(()),
    }
}

/// The files of one kind of action: identity and vector.
fn keys<'a>(
    subject: &Subject<'_>,
    action: &str,
    files: impl Iterator<Item = (&'a FilePath, &'a Option<DeletionVectorDescriptor>)>,
) -> Result<HashMap<String, Option<String>>> {
    let mut out = HashMap::new();
    for (path, vector) in files {
        let vector = vector.as_ref().map(DeletionVectorDescriptor::unique_id);
        if out.insert(path.identity(subject.root)?, vector).is_some() {
            refuse(subject, path.as_str(), &format!("the commit has two `{action}` actions for it"))?;
        }
    }
    Ok(out)
}

fn refuse<T>(subject: &Subject<'_>, file: &str, reason: &str) -> Result<T> {
    Err(Error::InvalidAction {
        path: subject.root.to_string(),
        action: file.to_owned(),
        reason: reason.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use crate::actions::{Cdc, FilePath};
    use crate::txn::checks::testing::{Case, add, error, remove, vector};

    fn reason(change: impl FnOnce(&mut Case)) -> Option<String> {
        let mut case = Case::append();
        change(&mut case);
        error(case).map(|e| e.to_string())
    }

    #[test]
    fn a_file_is_added_once_and_removed_once_by_any_spelling() {
        let twice = |names: [&str; 2]| reason(|c| c.changes.adds = names.map(add).into());
        assert!(twice(["a b", "a%20b"]).is_some_and(|r| r.contains("two `add`")));
        assert_eq!(twice(["a", "b"]), None);
        let twice = reason(|c| c.changes.removes = vec![remove("a", true), remove("a", false)]);
        assert!(twice.is_some_and(|r| r.contains("two `remove`")));
        let both = reason(|c| {
            c.changes.removes = vec![remove("a", true)];
            c.changes.adds = vec![add("a")];
        });
        assert!(both.is_some_and(|r| r.contains("added and removed")));
    }

    #[test]
    fn a_deletion_vector_needs_the_feature_and_the_number_of_rows() {
        let with_vector = |features: &[&str], stats: Option<&str>| {
            reason(|c| {
                c.protocol.min_writer_version = 7;
                c.protocol.writer_features = Some(features.iter().map(|f| (*f).to_owned()).collect());
                c.changes.removes = vec![remove("a", true)];
                c.changes.adds = vec![add("a")];
                c.changes.adds[0].deletion_vector = Some(vector(&[1]));
                c.changes.adds[0].stats = stats.map(str::to_owned);
            })
        };
        let stats = Some(r#"{"numRecords":3}"#);
        assert_eq!(with_vector(&["deletionVectors"], stats), None);
        assert!(with_vector(&[], stats).is_some_and(|r| r.contains("feature `deletionVectors`")));
        assert!(with_vector(&["deletionVectors"], None).is_some_and(|r| r.contains("numRecords")));
    }

    #[test]
    fn a_change_file_changes_nothing() {
        let cdc = |data_change| Cdc { path: FilePath::from_log("c"), data_change, ..Default::default() };
        assert_eq!(reason(|c| c.changes.cdc = vec![cdc(false)]), None);
        assert!(reason(|c| c.changes.cdc = vec![cdc(true)]).is_some_and(|r| r.contains("dataChange")));
    }
}
