//! Row ids for files that joined a table before it had row tracking.

use std::time::Duration;

use serde_json::json;

use crate::actions::{Add, OperationName, Protocol};
use crate::alter::properties::{SetOptions, set_properties};
use crate::error::{Error, Result};
use crate::features::TableFeature;
use crate::properties::{FEATURE_PREFIX, TableProperty};
use crate::snapshot::{At, Snapshot};
use crate::stats::num_records;
use crate::store::Location;
use crate::txn::{Operation, Transaction, retried};
use crate::write::definition;

/// Files of one commit, as in delta-spark: it keeps a commit below some 100 MB.
const MOST_FILES: usize = 100_000;

/// How long lost races of one step are repeated.
const BUDGET: Duration = Duration::from_secs(300);

/// The files without row ids or a commit version.
///
/// # Errors
/// As [`Snapshot::files`].
pub(super) fn without_row_ids(snapshot: &Snapshot) -> Result<Vec<Add>> {
    snapshot.adds_where(|file| file.base_row_id.is_none() || file.default_row_commit_version.is_none())
}

/// Gives row ids to every file, in commits of their own: one that makes row tracking supported, so that files added
/// from then on have ids, and as many as the files need. No row changes, each commit leaves a valid table, and what was
/// done need not be done again. Returns whether there was anything to do.
///
/// # Errors
/// Before anything is written, [`Error::DataFile`] for a file whose number of rows is not known, and
/// [`Error::InvalidFeatureChange`] where row tracking is suspended; as [`Transaction::commit`].
///
/// # Cost
/// The live files once a commit; no data is read.
pub(super) fn backfill(snapshot: &Snapshot, user_metadata: Option<&str>) -> Result<bool> {
    let files = without_row_ids(snapshot)?;
    if files.is_empty() {
        return Ok(false);
    }
    if snapshot.metadata().is_true(TableProperty::RowTrackingSuspended) {
        return Err(Error::InvalidFeatureChange {
            feature: TableFeature::RowTracking.into(),
            reason: "files get no row ids while `delta.rowTrackingSuspended` is set: unset it first, in a change of \
                     its own"
                .into(),
        });
    }
    let unknown = files.iter().find(|file| file.base_row_id.is_none() && num_records(file).is_none());
    if let Some(file) = unknown {
        return Err(Error::DataFile {
            path: file.path.as_str().to_owned(),
            reason:
                "row ids need the number of its rows, and its statistics have no `numRecords`; write the \
                     file again, then enable row tracking"
                    .into(),
        });
    }
    retried(BUDGET, |budget| support(snapshot.location(), user_metadata, budget))?;
    give_ids(snapshot.location(), MOST_FILES, user_metadata)?;
    Ok(true)
}

/// Adds the feature to the protocol. The metadata stays, so that writers under way may follow.
fn support(location: &Location, user_metadata: Option<&str>, budget: Duration) -> Result<()> {
    let snapshot = Snapshot::open(location.clone(), At::Latest)?;
    if snapshot.protocol().supports(TableFeature::RowTracking) {
        return Ok(());
    }
    let asked = [(format!("{FEATURE_PREFIX}{}", TableFeature::RowTracking), "supported".to_owned())].into();
    let protocol = set_properties(&definition(&snapshot)?, &asked, SetOptions::default())?.protocol;
    let mut txn = Transaction::begin(&snapshot, upgrade(&protocol));
    txn.set_protocol(protocol);
    txn.set_user_metadata(user_metadata.map(str::to_owned));
    txn.set_budget(budget);
    txn.commit()?;
    Ok(())
}

fn upgrade(protocol: &Protocol) -> Operation {
    let new = json!({
        "minReaderVersion": protocol.min_reader_version,
        "minWriterVersion": protocol.min_writer_version,
        "readerFeatures": protocol.reader_features,
        "writerFeatures": protocol.writer_features,
    });
    Operation::new(OperationName::UpgradeProtocol).with_encoded("newProtocol", new)
}

/// Commits files without ids again, at most so many at a time; the commit gives them ids.
fn give_ids(location: &Location, most: usize, user_metadata: Option<&str>) -> Result<()> {
    let mut batch = 0;
    // a batch that is not full was the last: files that are added meanwhile have ids
    while retried(BUDGET, |budget| give_batch(location, (batch, most), user_metadata, budget))? == most {
        batch += 1;
    }
    Ok(())
}

/// The number of files in the batch.
fn give_batch(
    location: &Location,
    (batch, most): (u64, usize),
    user_metadata: Option<&str>,
    budget: Duration,
) -> Result<usize> {
    let snapshot = Snapshot::open(location.clone(), At::Latest)?;
    let mut files = without_row_ids(&snapshot)?;
    files.truncate(most);
    if files.is_empty() {
        return Ok(0);
    }
    let operation = Operation::new(OperationName::RowTrackingBackfill).with("batchId", batch.to_string());
    let mut txn = Transaction::begin(&snapshot, operation);
    txn.set_user_metadata(user_metadata.map(str::to_owned));
    txn.read_files(files.iter().map(|file| &file.path))?;
    let given = files.len();
    files.into_iter().for_each(|file| txn.add(Add { data_change: false, ..file }));
    txn.set_budget(budget);
    txn.commit()?;
    Ok(given)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator};

    use super::*;
    use crate::actions::ObjectPath;
    use crate::operations::write;
    use crate::store::ObjectAdapter;
    use crate::write::{WriteMode, WriteOptions};

    #[test]
    fn files_get_their_ids_in_batches() {
        let location =
            Location::with_store(ObjectPath::new("memory://", "/t"), Arc::new(ObjectAdapter::memory()));
        let append = WriteOptions { mode: WriteMode::Append, ..Default::default() };
        for id in 0..5 {
            let ids: ArrayRef = Arc::new(Int64Array::from_iter_values([id, id]));
            let rows = RecordBatch::try_from_iter([("id", ids)]).unwrap();
            let schema = rows.schema();
            write(&location, RecordBatchIterator::new([Ok(rows)], schema), &append).unwrap();
        }
        support(&location, None, BUDGET).unwrap();
        give_ids(&location, 2, None).unwrap();
        let snapshot = Snapshot::open(location.clone(), At::Latest).unwrap();
        // the feature, and three batches: two, two, one
        assert_eq!((snapshot.version(), without_row_ids(&snapshot).unwrap()), (8, Vec::new()));
        let mut ids: Vec<_> = snapshot.adds(None).unwrap().iter().map(|add| add.base_row_id).collect();
        ids.sort_unstable();
        assert_eq!(ids, [0, 2, 4, 6, 8].map(Some));
        assert!(!backfill(&snapshot, None).unwrap());
    }
}
