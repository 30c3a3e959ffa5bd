use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch, RecordBatchReader};
use roaring::RoaringTreemap;
use serde::Serialize;

use super::bitmaps::{Bitmaps, invalid};
use super::distributed_optimize::CompactionAfter;
use super::distributed_write::DistributedWrite;
use crate::actions::{Add, Cdc, FilePath, ObjectPath, PartitionValues};
use crate::alter::{Definition, merge_source_schema};
use crate::conflict::IdentityValues;
use crate::deletion_vector::DeletionVector;
use crate::dml::{
    DmlAttempt, DmlOptions, KeyPairs, Touched, candidates, change_data, check_removable, find, mark, rows_of,
};
use crate::error::{Error, Result};
use crate::features::check_writer;
use crate::operations::{DmlJob, marks_of};
use crate::parquet::DataFile;
use crate::predicate::Predicate;
use crate::scan::{RowIds, distinct_partitions, partition_columns};
use crate::schema::{StructField, StructType};
use crate::snapshot::Snapshot;
use crate::stats::num_records;
use crate::store::{Location, StorageOptions};
use crate::sums::SaturatingSum;
use crate::txn::{Operation, Route, Transaction};
use crate::write::{Filled, RowCondition, RowRules, Target, check_assignable, definition, plan_existing};

/// A delete, update or merge whose rows an engine reads and writes. It works on one version, finds the files with rows
/// that match, and ends in one commit with conflict detection, or in none. Files that it wrote are deleted with it,
/// unless the table refers to them or may do so.
#[derive(Debug)]
pub struct DistributedDml {
    pub(super) job: DmlJob,
    storage: StorageOptions,
    operation: Operation,
    options: DmlOptions,
    /// A predicate that every matching row makes true; `None` if none is known.
    predicate: Option<Predicate>,
    /// Whether it depends on every row of the table.
    reads_all: bool,
    /// What its queries read of the table besides the matching rows: see [`DistributedDml::read_rows_of`].
    reads: Vec<Option<Predicate>>,
    /// Files with rows that were read and stay: see [`DistributedDml::read_files`].
    read_files: HashSet<String>,
    /// Files in which every row matches, as far as that is known without reading them.
    pub(super) whole: Vec<Add>,
    pub(super) touched: Vec<Touched>,
    /// Files that may have rows with the keys of a source, and these rows: see [`DistributedDml::find_pairs`].
    pub(super) pair_files: Vec<Add>,
    pub(super) pairs: KeyPairs,
    pub(super) adds: Vec<Add>,
    cdc: Vec<Cdc>,
    /// Folders of the table that contain only files of this operation.
    folders: Vec<String>,
    /// Identity columns (logical names) whose values were made for new rows.
    identities: Vec<String>,
}

/// What [`DistributedDml::take_rows`] found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TakenRows {
    /// Rows of the table that match.
    pub rows: u64,
    /// Number of matches: more than the rows if one row matched twice.
    pub matches: u64,
}

/// What the operation does so far, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DmlCounts {
    /// Files with matching rows.
    pub touched_files: u64,
    /// Their bytes.
    pub touched_bytes: u64,
    /// Those that have a deletion vector.
    pub touched_vectors: u64,
    /// Their rows that are not deleted; `None` if statistics lack the number.
    pub touched_rows: Option<u64>,
    /// Matching rows; `None` if statistics lack the number.
    pub matched_rows: Option<u64>,
    /// Files of which no row would be left.
    pub emptied_files: u64,
    /// Their bytes.
    pub emptied_bytes: u64,
    /// Those that have a deletion vector.
    pub emptied_vectors: u64,
    /// Files of which rows would be left, without a deletion vector.
    pub first_vectors: u64,
    /// Files of which rows would be left, with a deletion vector.
    pub next_vectors: u64,
    /// Data files that were written.
    pub added_files: u64,
    /// Their bytes.
    pub added_bytes: u64,
    /// Their rows.
    pub added_rows: u64,
    /// Files of row-level changes that were written.
    pub change_files: u64,
    /// Their bytes.
    pub change_bytes: u64,
}

impl DistributedDml {
    /// Begins at the newest version. `storage` are the options that opened the location, for other processes;
    /// `operation` is what the history shows, except metrics.
    ///
    /// # Errors
    /// As [`Snapshot::open`]; [`Error::UnsupportedFeature`] when the table asks more of a writer than this one does.
    pub fn begin(
        location: &Location,
        storage: StorageOptions,
        operation: Operation,
        options: DmlOptions,
    ) -> Result<Self> {
        let job = DmlJob::begin(location, &options, options.commit_budget)?;
        Ok(Self::on(job, storage, operation, options))
    }

    /// A write that first removes the rows that the engine selects. It works on the version of the write's plan, with
    /// its options.
    ///
    /// # Errors
    /// [`Error::TableNotFound`] for a write that makes the table, and for one that has travelled.
    pub fn of_write(write: DistributedWrite) -> Result<Self> {
        let (plan, write, storage, operation) = write.into_parts();
        let options = DmlOptions::of_write(&write);
        Ok(Self::on(DmlJob::of_plan(plan, write)?, storage, operation, options))
    }

    fn on(job: DmlJob, storage: StorageOptions, operation: Operation, options: DmlOptions) -> Self {
        DistributedDml {
            job,
            storage,
            operation,
            options,
            predicate: None,
            reads_all: false,
            reads: Vec::new(),
            read_files: HashSet::new(),
            whole: Vec::new(),
            touched: Vec::new(),
            pair_files: Vec::new(),
            pairs: KeyPairs::default(),
            adds: Vec::new(),
            cdc: Vec::new(),
            folders: Vec::new(),
            identities: Vec::new(),
        }
    }

    /// Refuses the removal of rows, even if there are none.
    ///
    /// # Errors
    /// [`Error::AppendOnly`] in a table that loses no rows.
    pub fn check_removable(&self) -> Result<()> {
        check_removable(&self.job.attempt)
    }

    /// The version that it works on.
    pub fn snapshot(&self) -> &Snapshot {
        &self.job.snapshot
    }

    /// Whether the version that it works on has recorded the application transaction, or a newer one of the application:
    /// then there is nothing left to do.
    ///
    /// # Errors
    /// As [`Snapshot::app_transaction`].
    pub fn recorded(&self) -> Result<bool> {
        Ok(self.transaction().recorded()?.is_some())
    }

    /// The options by which the table was opened.
    pub fn storage(&self) -> &StorageOptions {
        &self.storage
    }

    /// The definition of the table after the commit.
    pub fn new_schema(&self) -> &StructType {
        &self.job.attempt.plan.schema
    }

    /// What fills a column of the new rows or of changed ones: see [`Filled`]; none where nothing does.
    ///
    /// # Errors
    /// As [`crate::expr::Rule::of`].
    pub fn filled(&self, column: &str) -> Result<Option<Filled>> {
        Filled::of(self.new_schema(), column)
    }

    /// With the commit the table gets the columns of this schema that it lacks, at any depth. Existing rows have nulls
    /// in them.
    ///
    /// # Errors
    /// As [`merge_source_schema`]; [`Error::UnsupportedFeature`] when the table would ask more of a writer than this one does.
    pub fn evolve(&mut self, data: &StructType) -> Result<()> {
        let snapshot = &self.job.snapshot;
        let (location, target) = (snapshot.location(), Target::Existing(snapshot.version()));
        let Definition { protocol, metadata, .. } = merge_source_schema(&definition(snapshot)?, data)?;
        check_writer(&location.root().to_string(), &protocol)?;
        let attempt = &mut self.job.attempt;
        attempt.plan = plan_existing(location, target, protocol, metadata, &attempt.write)?;
        Ok(())
    }

    /// Whether rows are marked as deleted where they are.
    pub fn uses_vectors(&self) -> bool {
        self.job.attempt.uses_vectors()
    }

    /// Whether the table wants files of row-level changes.
    pub fn has_change_feed(&self) -> bool {
        self.job.attempt.feeds_changes()
    }

    /// The columns by which files keep the row id and the row commit version of rows that came from other files, where
    /// rows keep them.
    ///
    /// # Errors
    /// [`Error::InvalidSchema`] when the table does not name the columns.
    pub fn row_id_columns(&self) -> Result<Vec<StructField>> {
        Ok(RowIds::of(&self.job.attempt.plan.metadata)?.map(|ids| ids.columns().to_vec()).unwrap_or_default())
    }

    /// Sets a predicate that every matching row makes true. Files without such rows are not read, and other writers may
    /// add and remove such files at the same time.
    pub fn set_predicate(&mut self, predicate: Option<Predicate>) {
        self.predicate = predicate;
    }

    /// Claims the rows that its queries read besides the matching ones: in subqueries and in the source of a merge. For
    /// each scan those that match a predicate, or every row for `None`.
    pub fn read_rows_of(&mut self, scans: impl IntoIterator<Item = Option<Predicate>>) {
        self.reads.extend(scans);
    }

    /// Claims rows of these files (URIs as Spark spells them) that stay as they are: rows that a source matched and
    /// that no clause of a merge changes.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] for a path that cannot be decoded.
    pub fn read_files<'u>(&mut self, uris: impl IntoIterator<Item = &'u str>) -> Result<()> {
        let root = self.job.snapshot.location().root().clone();
        for uri in uris {
            self.read_files.insert(place(&FilePath::from_log(uri).resolve(&root)?));
        }
        Ok(())
    }

    /// The files that may have matching rows.
    ///
    /// # Errors
    /// As [`Snapshot::files`].
    pub fn candidates(&self) -> Result<Vec<Add>> {
        self.job.snapshot.adds(self.predicate.as_ref())
    }

    /// The different partition values of all files: one row each, with typed values by logical name, and after them the
    /// number by which [`DistributedDml::take_partitions`] knows it, in the column `number`.
    ///
    /// # Errors
    /// As [`Snapshot::files`]; [`Error::InvalidSchema`] for a partition value that cannot be read.
    pub fn partitions(&self, number: &str) -> Result<RecordBatch> {
        let all = distinct_partitions(&self.job.snapshot)?;
        let mut columns = partition_columns(&self.job.snapshot, all.iter())?;
        columns.push((number.to_owned(), Arc::new(Int64Array::from_iter_values(0..all.len() as i64))));
        RecordBatch::try_from_iter_with_nullable(
            columns.iter().map(|(name, values)| (name, values.clone(), name != number)),
        )
        .map_err(|e| Error::arrow("partition values", e))
    }

    /// Selects every row.
    ///
    /// # Errors
    /// As [`Snapshot::files`]; [`Error::AppendOnly`] in a table that loses no rows.
    pub fn take_all(&mut self) -> Result<()> {
        self.reads_all = true;
        self.whole = candidates(&self.job.attempt, &self.job.snapshot, None)?;
        Ok(())
    }

    /// Selects every row of these partitions, by their number in [`DistributedDml::partitions`].
    ///
    /// # Errors
    /// As [`Snapshot::files`]; [`Error::AppendOnly`] in a table that loses no rows.
    pub fn take_partitions(&mut self, numbers: &[usize]) -> Result<()> {
        if numbers.is_empty() {
            return Ok(());
        }
        let all = distinct_partitions(&self.job.snapshot)?;
        let chosen: HashSet<&PartitionValues> = numbers.iter().filter_map(|n| all.get(*n)).collect();
        let files = candidates(&self.job.attempt, &self.job.snapshot, None)?;
        self.whole = files.into_iter().filter(|f| chosen.contains(&f.partition_values)).collect();
        Ok(())
    }

    /// Selects the rows that match a condition, if the files that may have them are of at most so many bytes: this process
    /// reads them. Returns whether they are. The condition takes the place of [`DistributedDml::set_predicate`].
    ///
    /// # Errors
    /// [`Error::InvalidExpression`] for what is not a condition on this table, and for a row that it cannot be computed for;
    /// [`Error::AppendOnly`] when the table loses no rows; as [`crate::scan::read_file`] and [`Snapshot::files`].
    ///
    /// # Cost
    /// The columns of the condition, in the row groups and pages that may match.
    pub fn take_where(&mut self, condition: &str, most_bytes: u64) -> Result<bool> {
        let attempt = &self.job.attempt;
        let condition = RowCondition::new(Some(condition), &attempt.plan)?;
        let files = candidates(attempt, &self.job.snapshot, condition.predicate())?;
        if condition.is_by_partitions() {
            self.whole = condition.whole_files(files)?;
        } else if files.iter().map(|add| add.size.unsigned_abs()).saturating_sum() > most_bytes {
            return Ok(false);
        } else {
            self.touched = find(attempt, &condition, files)?;
        }
        self.predicate = condition.predicate().cloned();
        Ok(true)
    }

    /// Selects the rows of a table of bitmaps: file (a URI as Spark spells it), bucket, bitmap and number of matches,
    /// as `bitmap_bucket_number`, `bitmap_construct_agg` and `count` give them for the row's position in its file plus
    /// one. A file may come several times.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a table of other columns and for a file that the version does not have,
    /// [`Error::AppendOnly`] when the table loses no rows, [`Error::DataFile`] and [`Error::DeletionVector`] for a file
    /// or vector that cannot be read, and as [`Snapshot::files`].
    pub fn take_rows(&mut self, table: impl RecordBatchReader) -> Result<TakenRows> {
        let root = self.job.snapshot.location().root().clone();
        let mut found: HashMap<String, RoaringTreemap> = HashMap::new();
        let mut taken = TakenRows::default();
        for batch in table {
            let batch = batch.map_err(|e| Error::arrow("rows that were found", e))?;
            let columns = Bitmaps::of(&batch)?;
            for row in 0..batch.num_rows() {
                let (uri, rows, matches) = columns.get(row)?;
                taken.matches += matches;
                let file = place(&FilePath::from_log(uri).resolve(&root)?);
                *found.entry(file).or_default() |= rows;
            }
        }
        if found.is_empty() {
            return Ok(taken);
        }
        for add in candidates(&self.job.attempt, &self.job.snapshot, self.predicate.as_ref())? {
            let Some(matched) = found.remove(&place(&add.path.resolve(&root)?)) else { continue };
            taken.rows += matched.len();
            self.touched.push(touched(self.job.snapshot.location(), add, matched)?);
        }
        match found.into_keys().next() {
            None => Ok(taken),
            Some(file) => {
                let version = self.job.snapshot.version();
                Err(invalid(format!("version {version} has no file `{file}` that may have such rows")))
            }
        }
    }

    /// A plan by which the engine writes rows into data files: the columns of the table and after them those of
    /// [`DistributedDml::row_id_columns`]. Rows with other values than before, `changed`, must be checked against its rules.
    ///
    /// # Errors
    /// As `DistributedWrite::of_rows`, and as [`DistributedDml::row_id_columns`].
    pub fn data_plan(&self, changed: bool) -> Result<DistributedWrite> {
        self.plan(changed, self.row_id_columns()?)
    }

    /// A plan by which the engine writes files of row-level changes: the columns of the table, and after them
    /// `_change_type`.
    ///
    /// # Errors
    /// As `DistributedWrite::of_rows`.
    pub fn change_plan(&self) -> Result<DistributedWrite> {
        self.plan(false, vec![change_data::column()])
    }

    fn plan(&self, changed: bool, columns: Vec<StructField>) -> Result<DistributedWrite> {
        let DmlAttempt { plan, write, .. } = &self.job.attempt;
        let rules = if changed { RowRules::of_table(plan)? } else { RowRules::default() };
        DistributedWrite::of_rows(plan, self.storage.clone(), write.clone(), rules, columns)
    }

    /// A plan by which the engine writes new rows of these columns into data files; the rules of the table fill the others.
    ///
    /// # Errors
    /// [`Error::SchemaMismatch`] for columns that are not the table's, and as [`RowRules::of`].
    pub fn insert_plan(&mut self, data: &StructType) -> Result<DistributedWrite> {
        let DmlAttempt { plan, write, .. } = &self.job.attempt;
        check_assignable(&plan.location.root().to_string(), data, &plan.schema)?;
        let rules = RowRules::of(plan, data)?;
        for identity in &rules.identities {
            if !self.identities.contains(&identity.column) {
                self.identities.push(identity.column.clone());
            }
        }
        DistributedWrite::of_rows(plan, self.storage.clone(), write.clone(), rules, Vec::new())
    }

    /// A folder of the table for files of this operation only. It is deleted if nothing is committed.
    pub fn own_folder(&mut self, folder: String) {
        self.folders.push(folder);
    }

    /// Adds data files.
    pub fn add_files(&mut self, adds: Vec<Add>) {
        self.adds.extend(adds);
    }

    /// Adds data files of new rows. With `as_changes` the rows are also written as row-level changes: if a commit has
    /// files of changes, readers of the change data feed read only these.
    ///
    /// # Errors
    /// Errors of the store, and [`Error::DataFile`] for a file that cannot be read.
    ///
    /// # Cost
    /// With `as_changes` the files are read and their rows written once more.
    pub fn add_inserts(&mut self, adds: Vec<Add>, as_changes: bool) -> Result<()> {
        if as_changes {
            self.cdc.extend(change_data::inserted(&self.job.attempt, &adds)?);
        }
        self.adds.extend(adds);
        Ok(())
    }

    /// Adds files of row-level changes.
    pub fn add_changes(&mut self, files: Vec<Add>) {
        self.cdc.extend(files.into_iter().map(change_data::cdc));
    }

    /// What the operation has done so far.
    pub fn counts(&self) -> DmlCounts {
        let bytes =
            |files: &mut dyn Iterator<Item = &Add>| files.map(|a| a.size.unsigned_abs()).saturating_sum();
        let vectors = |files: &mut dyn Iterator<Item = &Add>| {
            files.filter(|a| a.deletion_vector.is_some()).count() as u64
        };
        let files = || self.touched.iter().map(|t| &t.add).chain(&self.whole);
        let (emptied, left): (Vec<_>, Vec<_>) = self.touched.iter().partition(|t| t.is_whole());
        let emptied = || emptied.iter().map(|t| &t.add).chain(&self.whole);
        let whole_rows = rows_of(&self.whole);
        let live = |t: &Touched| t.rows - t.deleted.as_ref().map_or(0, DeletionVector::cardinality);
        let next_vectors = vectors(&mut left.iter().map(|t| &t.add));
        DmlCounts {
            touched_files: files().count() as u64,
            touched_bytes: bytes(&mut files()),
            touched_vectors: vectors(&mut files()),
            touched_rows: whole_rows.map(|n| n + self.touched.iter().map(live).sum::<u64>()),
            matched_rows: whole_rows.map(|n| n + self.touched.iter().map(|t| t.matched.len()).sum::<u64>()),
            emptied_files: emptied().count() as u64,
            emptied_bytes: bytes(&mut emptied()),
            emptied_vectors: vectors(&mut emptied()),
            first_vectors: left.len() as u64 - next_vectors,
            next_vectors,
            added_files: self.adds.len() as u64,
            added_bytes: bytes(&mut self.adds.iter()),
            added_rows: rows_of(&self.adds).unwrap_or_default(),
            change_files: self.cdc.len() as u64,
            change_bytes: self.cdc.iter().map(|c| c.size.unsigned_abs()).saturating_sum(),
        }
    }

    /// Who read and wrote the rows, for the history.
    pub fn set_routes(&mut self, routes: Vec<Route>) {
        self.operation.routes = routes;
    }

    /// As [`DistributedWrite::leave_compaction`].
    pub fn leave_compaction(&mut self, from: u64) -> CompactionAfter {
        CompactionAfter::of(&mut self.job.attempt.plan, &self.storage, from)
    }

    /// Commits: removes the matching rows, by deletion vectors with `by_vectors` or else with their files, and adds the
    /// new files. Returns the version; if the application transaction was recorded meanwhile, nothing is committed, and
    /// it is the version that the operation works on.
    ///
    /// # Errors
    /// As [`Transaction::commit`]. After every error but [`Error::CommitStateUnknown`] the table is as it was, and no
    /// file is left.
    pub fn commit(mut self, by_vectors: bool, metrics: Vec<(String, u64)>) -> Result<u64> {
        let mut txn = self.transaction();
        self.claim(&mut txn)?;
        self.define(&mut txn)?;
        txn.operation_mut().set_metrics(metrics);
        let data_change = self.job.attempt.write.data_change;
        self.whole.iter().for_each(|file| txn.remove_file(file, data_change));
        if by_vectors {
            mark(&self.job.attempt, &mut txn, &self.touched)?;
        } else {
            self.touched.iter().for_each(|t| txn.remove_file(&t.add, data_change));
        }
        self.adds.iter().for_each(|add| txn.add(Add { data_change, ..add.clone() }));
        self.cdc.iter().for_each(|cdc| txn.cdc(cdc.clone()));
        // the engine's files, too, survive a power cut before a commit names them
        let (store, root) = (self.job.snapshot.location().store(), self.job.snapshot.location().root());
        let files = self.adds.iter().map(|a| &a.path).chain(self.cdc.iter().map(|c| &c.path));
        store.make_durable(root, &files.map(|f| f.resolve(root)).collect::<Result<Vec<_>>>()?)?;
        let begun_at = self.job.snapshot.version();
        Ok(self.job.commit(txn)?.map_or(begun_at, |committed| committed.version))
    }

    fn transaction(&self) -> Transaction {
        let mut txn = self.job.begun(self.operation.clone(), &self.options);
        txn.set_row_ids_preserved(true);
        txn
    }

    /// The definition of the table, where it becomes another, and the marks of identities.
    fn define(&self, txn: &mut Transaction) -> Result<()> {
        let (snapshot, plan) = (&self.job.snapshot, &self.job.attempt.plan);
        if *snapshot.protocol() != plan.protocol {
            txn.set_protocol(plan.protocol.clone());
        }
        if *snapshot.metadata() != plan.metadata {
            txn.set_metadata(plan.metadata.clone());
        }
        let marks = marks_of(plan, &self.adds, &self.identities)?;
        let generated = marks.keys().cloned().collect();
        txn.advance_identities(IdentityValues { written: marks, generated })
    }

    fn claim(&self, txn: &mut Transaction) -> Result<()> {
        txn.read_rows_of(&self.reads)?;
        if self.reads_all {
            txn.read_whole_table();
            return Ok(());
        }
        let unknown = Predicate::Unknown("a condition that only the engine knows".into());
        let predicate = self.predicate.as_ref().unwrap_or(&unknown);
        let files = self.whole.iter().chain(self.touched.iter().map(|t| &t.add)).map(|f| &f.path);
        txn.read_matching(predicate, files)?;
        if self.read_files.is_empty() {
            return Ok(());
        }
        let root = self.job.snapshot.location().root();
        for add in self.candidates()? {
            if self.read_files.contains(&place(&add.path.resolve(root)?)) {
                txn.read_files([&add.path])?;
            }
        }
        Ok(())
    }
}

impl Drop for DistributedDml {
    fn drop(&mut self) {
        if self.job.is_kept() {
            return;
        }
        let Ok(write) = self.plan(false, Vec::new()) else { return };
        for folder in &self.folders {
            write.discard(folder, &[]);
        }
        write.discard_files(&self.adds, &self.cdc);
    }
}

/// A file whichever way its scheme is spelled: `s3` and `s3a` are one store.
fn place(path: &ObjectPath) -> String {
    let authority = path.prefix().split_once("://").map_or("", |(_, authority)| authority);
    format!("{authority}{}", path.key())
}

fn touched(location: &Location, add: Add, matched: RoaringTreemap) -> Result<Touched> {
    let deleted = add.deletion_vector.as_ref().map(|d| DeletionVector::load(d, location)).transpose()?;
    let rows = match num_records(&add).and_then(|n| u64::try_from(n).ok()) {
        Some(rows) => rows,
        None => {
            let file = DataFile::open(location, add.path.resolve(location.root())?, add.size)?;
            file.metadata(false)?.file_metadata().num_rows().unsigned_abs()
        }
    };
    Ok(Touched { add, matched, deleted, rows })
}
