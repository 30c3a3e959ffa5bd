//! The commits that take the traces of a feature out of a table, one a step.

use arrow::datatypes::{DataType as Arrow, Field, Schema};
use chrono::Utc;
use parquet::arrow::parquet_to_arrow_schema;
use rayon::prelude::*;
use serde_json::json;

use super::bins::Bin;
use super::feature_traces::{has_row_ids, unkept_vectors};
use super::optimize_plan::reorg;
use super::rewrite_files::{note, write_all};
use crate::actions::{Add, DomainMetadata, OperationName, Remove};
use crate::alter::drop_feature::{Step, clean_properties, unmapped, without_recorded_changes};
use crate::alter::{Definition, cluster_by};
use crate::checkpoint::checkpoint;
use crate::conflict::{IsolationLevel, RowRelocations};
use crate::error::{Error, Result};
use crate::features::check_writer;
use crate::schema::ColumnMappingMode;
use crate::snapshot::{At, Snapshot};
use crate::store::{Location, runtime};
use crate::txn::{Operation, Transaction, rewrite_metrics};
use crate::write::{Target, Uploads, WriteOptions, WritePlan, plan_existing, read_footer};

/// A step on a version, with what all steps have in common.
pub(super) struct StepJob<'a> {
    pub(super) snapshot: &'a Snapshot,
    /// The definition of the version.
    pub(super) table: &'a Definition,
    pub(super) user_metadata: Option<&'a str>,
}

impl StepJob<'_> {
    /// Makes the commit of a step. The files that it wrote again.
    ///
    /// # Errors
    /// As [`Transaction::commit`]; as [`crate::scan::read_file`] for a file that is written again.
    pub(super) fn run(&self, step: &Step) -> Result<u64> {
        match step {
            Step::Properties { set, unset } if set.is_empty() && unset.is_empty() => self.barrier(),
            Step::Properties { set, unset } => {
                let new = clean_properties(self.table, set, unset)?;
                let mut txn = self.begin(match set.is_empty() {
                    false => {
                        Operation::new(OperationName::SetProperties).with_encoded("properties", json!(set))
                    }
                    true => Operation::new(OperationName::UnsetProperties)
                        .with_encoded("properties", unset.clone())
                        .with_json("ifExists", true),
                });
                txn.set_metadata(new.metadata);
                txn.commit().map(|_| 0)
            }
            Step::PurgeDeletionVectors => {
                let files = self.snapshot.adds_where(|add| add.deletion_vector.is_some())?;
                self.rewrite(reorg(Vec::new()), files, None)
            }
            Step::KeepVectors => {
                let mut txn = self.begin(Operation::new(OperationName::DeletionVectorTombstones));
                let deletion_timestamp = Some(Utc::now().timestamp_millis());
                for path in unkept_vectors(self.snapshot)? {
                    txn.remove(Remove { path, deletion_timestamp, ..Default::default() });
                }
                txn.commit().map(|_| 0)
            }
            Step::RewriteWidenedFiles => {
                let files = self.widened()?;
                self.rewrite(reorg(Vec::new()), files, Some(without_recorded_changes(self.table)))
            }
            Step::RewriteMappedFiles => self.unmap(unmapped(self.table)?),
            Step::ClearRowIds => self.clear_row_ids(),
            Step::RemoveDomains(names) => {
                let operation = Operation::new(OperationName::DomainMetadataCleanup)
                    .with_json("domainMetadataRemovedCount", names.len());
                let mut txn = self.begin(operation);
                remove_domains(&mut txn, self.snapshot, names)?;
                txn.commit().map(|_| 0)
            }
            // no commit: the drop does it, with its barriers
            Step::TruncateHistory => Ok(0),
        }
    }

    /// Writes all files again by the names of the columns, and makes the table one without column mapping. The number of
    /// files.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(super) fn unmap(&self, new: Definition) -> Result<u64> {
        let files = self.snapshot.adds(None)?;
        self.rewrite(Operation::new(OperationName::RemoveColumnMapping), files, Some(new))
    }

    fn barrier(&self) -> Result<u64> {
        barrier(self.snapshot.location(), self.user_metadata).map(|()| 0)
    }

    fn begin(&self, operation: Operation) -> Transaction {
        let mut txn = Transaction::begin(self.snapshot, operation);
        txn.set_user_metadata(self.user_metadata.map(str::to_owned));
        txn
    }

    /// Adds the files again that have row ids, without them.
    fn clear_row_ids(&self) -> Result<u64> {
        let operation = Operation::new(OperationName::RowTrackingUnbackfill).with("batchId", "0");
        let mut txn = self.begin(operation);
        let files = self.snapshot.adds_where(has_row_ids)?;
        // a file that another writer removes meanwhile must not be added again
        txn.read_files(files.iter().map(|add| &add.path))?;
        for add in files {
            let cleared = Add { base_row_id: None, default_row_commit_version: None, ..add };
            txn.add(Add { data_change: false, ..cleared });
        }
        txn.commit().map(|_| 0)
    }

    /// Rewrites files, each by itself, and changes the definition of the table in the same commit.
    fn rewrite(&self, operation: Operation, files: Vec<Add>, new: Option<Definition>) -> Result<u64> {
        let location = self.snapshot.location();
        check_writer(&location.root().to_string(), &self.table.protocol)?;
        let from = self.plan(self.table)?;
        let to = new.as_ref().map(|new| self.plan(new)).transpose()?;
        let bins: Vec<Bin> =
            files.into_iter().map(|add| Bin { partition: Vec::new(), files: vec![add] }).collect();
        let uploads = Uploads::new(location);
        let written = write_all((&from, to.as_ref().unwrap_or(&from)), &bins, &uploads)?;
        let (mut adds, mut moves) = (Vec::new(), RowRelocations::default());
        for (bin, new) in bins.iter().zip(written) {
            note(location, bin, (new.add.as_ref(), &new.sources), &mut moves)?;
            adds.extend(new.add);
        }
        let mut txn = self.begin(operation);
        if let Some(new) = new {
            if new.column_mapping() != self.table.column_mapping() {
                // files of others would have the names that go
                txn.read_whole_table();
                txn.set_isolation(IsolationLevel::Serializable);
                txn.replaces_all_files();
                if !self.table.clustering.is_empty() {
                    txn.domain(cluster_by(&new, &self.table.clustering)?.1);
                }
            }
            txn.set_metadata(new.metadata);
        }
        txn.rewrite(bins.iter().flat_map(|bin| &bin.files), adds, moves);
        let metrics = rewrite_metrics(txn.changes());
        txn.operation_mut().set_metrics(metrics);
        txn.set_row_ids_preserved(true);
        let landed = txn.commit();
        if matches!(&landed, Ok(_) | Err(Error::CommitStateUnknown { .. })) {
            uploads.keep();
        }
        landed.map(|_| bins.len() as u64)
    }

    fn plan(&self, table: &Definition) -> Result<WritePlan> {
        let target = Target::Existing(self.snapshot.version());
        let (protocol, metadata) = (table.protocol.clone(), table.metadata.clone());
        plan_existing(self.snapshot.location(), target, protocol, metadata, &WriteOptions::default())
    }

    /// The files that have a type which the schema no longer has. With columns found by id, all of them.
    fn widened(&self) -> Result<Vec<Add>> {
        let files = self.snapshot.adds(None)?;
        if self.table.column_mapping() == ColumnMappingMode::Id {
            return Ok(files);
        }
        let expected = self.plan(self.table)?.file_schema();
        let location = self.snapshot.location();
        let older = |add: &Add| is_older(location, add, &expected);
        let found: Vec<bool> =
            runtime::pool()?.install(|| files.par_iter().map(older).collect::<Result<_>>())?;
        Ok(files.into_iter().zip(found).filter_map(|(add, older)| older.then_some(add)).collect())
    }
}

/// An empty commit, and a checkpoint of the newest version after it.
///
/// # Errors
/// As [`Transaction::commit`] and [`checkpoint`].
pub(super) fn barrier(location: &Location, user_metadata: Option<&str>) -> Result<()> {
    let newest = || Snapshot::open(location.clone(), At::Latest);
    let mut txn = Transaction::begin(&newest()?, Operation::new(OperationName::EmptyCommit));
    txn.set_user_metadata(user_metadata.map(str::to_owned));
    txn.commit()?;
    checkpoint(&newest()?).map(|_| ())
}

/// Removes domains in a commit.
///
/// # Errors
/// Errors of the store.
pub(super) fn remove_domains(txn: &mut Transaction, snapshot: &Snapshot, names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    for domain in snapshot.domain_metadata()? {
        if names.contains(&domain.domain) {
            txn.domain(DomainMetadata { removed: true, ..domain });
        }
    }
    Ok(())
}

/// Whether a file has a type that the schema no longer has.
fn is_older(location: &Location, add: &Add, expected: &Schema) -> Result<bool> {
    let path = add.path.resolve(location.root())?;
    let size = add.size.unsigned_abs();
    let footer = read_footer(location.store_for(&path)?.as_ref(), &path, size)?;
    let found = parquet_to_arrow_schema(footer.file_metadata().schema_descr(), None)
        .map_err(|e| Error::DataFile { path: path.to_string(), reason: e.to_string() })?;
    Ok(!fields_fit(found.fields().iter().map(AsRef::as_ref), expected.fields().iter().map(AsRef::as_ref)))
}

/// Whether all fields that are in both have the same type.
fn fields_fit<'a>(
    found: impl Iterator<Item = &'a Field>,
    expected: impl Iterator<Item = &'a Field> + Clone,
) -> bool {
    let mut found = found;
    found.all(|f| {
        expected.clone().find(|e| e.name() == f.name()).is_none_or(|e| fits(f.data_type(), e.data_type()))
    })
}

fn fits(found: &Arrow, expected: &Arrow) -> bool {
    match (found, expected) {
        (Arrow::Struct(a), Arrow::Struct(b)) => {
            fields_fit(a.iter().map(AsRef::as_ref), b.iter().map(AsRef::as_ref))
        }
        (Arrow::List(a), Arrow::List(b)) => fits(a.data_type(), b.data_type()),
        (Arrow::Map(a, _), Arrow::Map(b, _)) => match (a.data_type(), b.data_type()) {
            // key and value, whatever their names are
            (Arrow::Struct(a), Arrow::Struct(b)) => {
                a.iter().zip(b).all(|(a, b)| fits(a.data_type(), b.data_type()))
            }
            _ => false,
        },
        _ => found == expected,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_type_that_was_widened_shows_at_any_depth() {
        let list = |t: Arrow| Arrow::List(Arc::new(Field::new("element", t, true)));
        let inner = |t: Arrow| Arrow::Struct(vec![Field::new("x", t, true)].into());
        let map = |name: &str, t: Arrow| {
            let entries = vec![Field::new("key", Arrow::Utf8, false), Field::new("value", t, true)];
            Arrow::Map(Arc::new(Field::new(name, Arrow::Struct(entries.into()), false)), false)
        };
        assert!(fits(&list(inner(Arrow::Int64)), &list(inner(Arrow::Int64))));
        assert!(!fits(&list(inner(Arrow::Int32)), &list(inner(Arrow::Int64))));
        assert!(fits(&map("entries", Arrow::Int64), &map("key_value", Arrow::Int64)));
        assert!(!fits(&map("entries", Arrow::Int32), &map("key_value", Arrow::Int64)));
        // a column that one of them does not have is no difference
        let other = Arrow::Struct(vec![Field::new("y", Arrow::Int32, true)].into());
        assert!(fits(&other, &inner(Arrow::Int64)));
    }
}
