//! Writes that are spread over processes: a plan that travels, files that each task writes, and one commit.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatchReader;
use serde::{Deserialize, Serialize};

use super::distributed_optimize::CompactionAfter;
use crate::actions::{Add, Cdc, FilePath, Metadata, ObjectPath, Protocol};
use crate::commit::{check_store, is_trusted, trust_store};
use crate::error::{Error, Result};
use crate::features::TableFeature;
use crate::operations::{commit_made, fill, make_durable, operation};
use crate::predicate::Predicate;
use crate::properties::TableProperty;
use crate::schema::{StructField, StructType, from_arrow};
use crate::store::{Location, StorageOptions, options_to_send};
use crate::txn::Operation;
use crate::write::{
    FrameColumns, RowRules, Rules, Target, Uploads, WriteOptions, WritePlan, WriteResult,
    plan_existing as plan, plan_write,
};

/// A checked write whose files are written by other means than [`write`](crate::operations::write): by tasks, or by Spark.
#[derive(Debug, Clone)]
pub struct DistributedWrite {
    /// The checked plan.
    pub plan: WritePlan,
    /// The demands of the table's rules on the rows. With [`WriteOptions::rules_held`] the engine applies them, otherwise
    /// [`DistributedWrite::write_files`] does it.
    pub rules: RowRules,
    storage: StorageOptions,
    options: WriteOptions,
    /// Columns after those of the table.
    more: Vec<StructField>,
    /// Files that this process wrote, which are durable.
    written: Arc<Mutex<HashSet<FilePath>>>,
}

/// What travels.
#[derive(Serialize, Deserialize)]
struct Packed {
    root: String,
    storage: StorageOptions,
    version: Option<u64>,
    skip: bool,
    /// Whether the process that planned has tried the store.
    tried: bool,
    protocol: Protocol,
    metadata: Metadata,
    rules: RowRules,
    options: WriteOptions,
    /// JSON of a schema.
    more: String,
}

impl DistributedWrite {
    /// Checks a write of data of this schema. Nothing is written.
    ///
    /// # Errors
    /// As [`plan_write`]; [`Error::Unsupported`] for an identity column whose values are to be made, unless the engine
    /// generates them.
    pub fn plan(
        uri: &str,
        storage: StorageOptions,
        data: &StructType,
        options: WriteOptions,
    ) -> Result<Self> {
        let location = Location::open(uri, &storage)?;
        let plan = plan_write(&location, data, &options)?;
        if matches!(plan.target, Target::Skip(_)) {
            return Ok(DistributedWrite {
                plan,
                rules: RowRules::default(),
                storage,
                options,
                more: Vec::new(),
                written: Arc::default(),
            });
        }
        let rules = RowRules::of(&plan, data)?;
        if let (false, [first, ..]) = (options.rules_held, rules.identities.as_slice()) {
            let what = format!("making values of the identity column `{}` in many tasks", first.column);
            return Err(Error::Unsupported { path: uri.to_owned(), what });
        }
        check_store(&location)?;
        Ok(DistributedWrite { plan, rules, storage, options, more: Vec::new(), written: Arc::default() })
    }

    /// A write of rows that an engine derived from those of the table, or new ones, with `more` columns after those of the
    /// table, which have neither statistics nor rules. The engine checks them against the rules.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a store that cannot hold a log.
    pub(crate) fn of_rows(
        plan: &WritePlan,
        storage: StorageOptions,
        options: WriteOptions,
        rules: RowRules,
        more: Vec<StructField>,
    ) -> Result<Self> {
        check_store(&plan.location)?;
        let options = WriteOptions { rules_held: true, ..options };
        let mut plan = plan.with_columns(more.clone());
        plan.rules_held = true;
        Ok(DistributedWrite { plan, rules, storage, options, more, written: Arc::default() })
    }

    /// What an engine needs that commits the write by other means: the plan, the options, how the location was opened, and
    /// what the history shows.
    pub(crate) fn into_parts(self) -> (WritePlan, WriteOptions, StorageOptions, Operation) {
        let shown = operation(&self.plan, &self.options);
        (self.plan, self.options, self.storage, shown)
    }

    /// Whether there is nothing to write: see [`Target::Skip`].
    pub fn is_skipped(&self) -> bool {
        matches!(self.plan.target, Target::Skip(_))
    }

    /// Compression of data files that the write or else the table sets; `None` leaves it to the writer.
    pub fn compression(&self) -> Option<&str> {
        let table = self.plan.metadata.property(TableProperty::ParquetCompressionCodec);
        self.options.compression.as_deref().or(table)
    }

    /// Whether files may have fields of variants as columns of their own (PROTOCOL.md, "Variant Shredding").
    pub fn shreds_variants(&self) -> bool {
        let has = |feature: &TableFeature| self.plan.protocol.supports(*feature);
        self.plan.metadata.is_true(TableProperty::EnableVariantShredding)
            && [TableFeature::VariantShredding, TableFeature::VariantShreddingPreview].iter().any(has)
    }

    /// The settings of Parquet's writer that apply, by name, for any writer of the files.
    pub fn parquet(&self) -> &BTreeMap<String, String> {
        self.plan.files.parquet()
    }

    /// The names of those that the write asked for and [`DistributedWrite::write_files`] cannot follow.
    ///
    /// # Errors
    /// None that the plan has not raised before.
    pub fn unfollowed(&self) -> Result<Vec<&str>> {
        self.plan.files.unfollowed()
    }

    /// What a DataFrame of this schema must become.
    pub fn frame_columns(&self, data: &StructType) -> FrameColumns {
        let mut columns = FrameColumns::of(&self.plan, data);
        // nobody would hold the rules
        columns.direct &= self.options.rules_held || self.rules == RowRules::default();
        columns
    }

    /// The form that is sent to the tasks, as JSON. It contains the storage options, with credentials that are valid now.
    ///
    /// # Errors
    /// [`Error::Credentials`].
    pub fn to_json(&self) -> Result<String> {
        let (plan, options) = (&self.plan, &self.options);
        let packed = Packed {
            root: plan.location.root().to_uri(),
            storage: options_to_send(&plan.location.root().to_uri(), &self.storage)?,
            version: match plan.target {
                Target::New => None,
                Target::Existing(version) | Target::Skip(version) => Some(version),
            },
            skip: self.is_skipped(),
            tried: is_trusted(&plan.location),
            protocol: plan.protocol.clone(),
            metadata: plan.metadata.clone(),
            rules: self.rules.clone(),
            options: options.clone(),
            more: StructType { fields: self.more.clone() }.to_json(),
        };
        serde_json::to_string(&packed).map_err(|e| invalid(&e.to_string()))
    }

    /// From [`DistributedWrite::to_json`]. Nothing is read.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] when it is something else.
    pub fn from_json(text: &str) -> Result<Self> {
        let packed: Packed = serde_json::from_str(text).map_err(|e| invalid(&e.to_string()))?;
        let location = Location::open(&packed.root, &packed.storage)?;
        if packed.tried {
            trust_store(&location);
        }
        let target = match (packed.version, packed.skip) {
            (None, _) => Target::New,
            (Some(version), false) => Target::Existing(version),
            (Some(version), true) => Target::Skip(version),
        };
        let more = StructType::from_json(&packed.more)?.fields;
        let Packed { protocol, metadata, rules, options, storage, .. } = packed;
        let plan = plan(&location, target, protocol, metadata, &options)?.with_columns(more.clone());
        Ok(DistributedWrite { plan, rules, storage, options, more, written: Arc::default() })
    }

    /// Writes data into files, below `folder` of the table where one is given, and returns their actions with
    /// statistics. Nothing is committed. Files of a call that fails are deleted.
    ///
    /// # Errors
    /// [`Error::SchemaMismatch`] for a value that must not be null or does not fit, [`Error::InvariantViolation`] for a
    /// row that breaks a rule of the table, [`Error::Arrow`] from the data, and errors of the store.
    pub fn write_files(&self, data: impl RecordBatchReader, folder: Option<&str>) -> Result<Vec<Add>> {
        let uploads = Uploads::new(&self.plan.location);
        let mut rules = Rules::of(&self.plan, &from_arrow(&data.schema())?)?;
        let written = fill(&self.plan, data, &mut rules, &uploads, &self.options, folder)?;
        uploads.keep();
        let adds: Vec<Add> = written.into_iter().map(|w| w.add).collect();
        let mut known = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(adds.iter().map(|add| add.path.clone()));
        Ok(adds)
    }

    /// Leaves a compaction after the commit to the engine if it joins at least so many bytes.
    pub fn leave_compaction(&mut self, from: u64) -> CompactionAfter {
        CompactionAfter::of(&mut self.plan, &self.storage, from)
    }

    /// Commits the files of all tasks in one version. `reads` is what the query of the rows read of the table, in the version
    /// of the plan: for each scan a predicate, or `None` for every row. Without it the rows do not depend on the table.
    ///
    /// # Errors
    /// As [`commit_adds`](crate::operations::commit_adds); [`Error::InvalidPredicate`] for a column that the table does not have.
    pub fn commit(&self, adds: Vec<Add>, reads: Vec<Option<Predicate>>) -> Result<WriteResult> {
        let identities: Vec<String> = self.rules.identities.iter().map(|i| i.column.clone()).collect();
        let known = self.written.lock().unwrap_or_else(PoisonError::into_inner).clone();
        make_durable(&self.plan, adds.iter().filter(|add| !known.contains(&add.path)))?;
        let plan = WritePlan { reads, ..self.plan.clone() };
        commit_made(&plan, adds, &identities, &self.options)
    }

    /// Deletes, as far as the store allows it, files that are known not to be committed.
    pub(crate) fn discard_files(&self, adds: &[Add], cdc: &[Cdc]) {
        let root = self.plan.location.root();
        for path in adds.iter().map(|a| &a.path).chain(cdc.iter().map(|c| &c.path)) {
            if let Ok(file) = path.resolve(root) {
                let _ = self.plan.location.store().delete(&file);
            }
        }
    }

    /// Deletes, as far as the store allows it, the files of a write that is known not to be committed: all below `folder`,
    /// and those that are named.
    pub fn discard(&self, folder: &str, adds: &[Add]) {
        let root = self.plan.location.root();
        let store = self.plan.location.store();
        let mut files: Vec<ObjectPath> = adds.iter().filter_map(|a| a.path.resolve(root).ok()).collect();
        let own = root.join(folder);
        // best effort: what stays is an orphan that no log names
        files.extend(store.list_all(&own).unwrap_or_default().iter().map(|f| own.join(&f.name)));
        files.sort();
        files.dedup();
        for file in files {
            let _ = store.delete(&file);
        }
        if let Some(local) = own.to_local().filter(|_| own.below(root).is_some()) {
            // only empty folders remain on a local disk
            let _ = std::fs::remove_dir_all(local);
        }
    }
}

fn invalid(reason: &str) -> Error {
    Error::InvalidArgument { argument: "plan".into(), reason: format!("not what deltaic made: {reason}") }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, StringArray};

    use super::*;
    use crate::schema::{DataType, StructField};
    use crate::snapshot::{At, Snapshot};
    use crate::write::WriteMode;

    fn data() -> StructType {
        StructType {
            fields: vec![
                StructField::new("id", DataType::Long, true),
                StructField::new("p", DataType::String, true),
            ],
        }
    }

    fn rows(ids: &[i64]) -> impl RecordBatchReader + use<> {
        let id: ArrayRef = Arc::new(Int64Array::from(ids.to_vec()));
        let p: ArrayRef =
            Arc::new(StringArray::from_iter_values(ids.iter().map(|id| format!("p{}", id % 2))));
        let batch = RecordBatch::try_from_iter_with_nullable([("id", id, true), ("p", p, true)]).unwrap();
        RecordBatchIterator::new([Ok(batch.clone())], batch.schema())
    }

    fn options() -> WriteOptions {
        WriteOptions { mode: WriteMode::Append, partition_by: vec!["p".into()], ..WriteOptions::default() }
    }

    fn plan_at(dir: &tempfile::TempDir, options: WriteOptions) -> Result<DistributedWrite> {
        DistributedWrite::plan(dir.path().to_str().unwrap(), StorageOptions::new(), &data(), options)
    }

    fn data_files(dir: &std::path::Path) -> usize {
        let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
        entries
            .map(|entry| match entry.unwrap().path() {
                path if path.is_dir() && !path.ends_with("_delta_log") => data_files(&path),
                path => usize::from(path.extension().is_some_and(|e| e == "parquet")),
            })
            .sum()
    }

    #[test]
    fn tasks_write_by_a_plan_that_travelled_and_one_commit_adds_it_all() {
        let dir = tempfile::tempdir().unwrap();
        let given = WriteOptions {
            compression: Some("zstd".into()),
            user_metadata: Some("note".into()),
            app_transaction: Some(("app".into(), 7)),
            engine: Some("Engine/1".into()),
            ..options()
        };
        let driver = plan_at(&dir, given).unwrap();
        assert!(!driver.is_skipped());
        assert_eq!(driver.compression(), Some("zstd"));
        let text = driver.to_json().unwrap();
        let task = |ids: &[i64]| {
            let task = DistributedWrite::from_json(&text).unwrap();
            task.write_files(rows(ids), None).unwrap()
        };
        let adds = [task(&[1, 2, 3]), task(&[4])].concat();
        assert_eq!((adds.len(), data_files(dir.path())), (3, 3));
        assert!(
            Snapshot::open(driver.plan.location.clone(), At::Latest).is_err(),
            "nothing is committed yet"
        );

        // the returned plan commits as the one that was sent would have
        let result = DistributedWrite::from_json(&text).unwrap().commit(adds, Vec::new()).unwrap();
        assert_eq!((result.version, result.files, result.rows, result.created), (0, 3, 4, true));
        let log = std::fs::read_to_string(dir.path().join("_delta_log/00000000000000000000.json")).unwrap();
        for part in
            [r#""userMetadata":"note""#, "Engine/1", r#""appId":"app""#, r#""partitionColumns":["p"]"#]
        {
            assert!(log.contains(part), "{part} in {log}");
        }

        // the application's version is recorded: the write is skipped, also after a journey
        let again = WriteOptions { app_transaction: Some(("app".into(), 7)), ..options() };
        let again = plan_at(&dir, again).unwrap();
        assert!(again.is_skipped());
        let again = DistributedWrite::from_json(&again.to_json().unwrap()).unwrap();
        assert!(again.is_skipped());
        assert_eq!(again.plan.target, Target::Skip(0));
    }

    #[test]
    fn an_existing_table_says_its_version_and_compression() {
        let dir = tempfile::tempdir().unwrap();
        let property = |name: &str| ("delta.parquet.compression.codec".to_owned(), name.to_owned());
        let created = WriteOptions { configuration: [property("gzip")].into(), ..options() };
        let first = plan_at(&dir, created).unwrap();
        let adds = first.write_files(rows(&[1]), None).unwrap();
        first.commit(adds, Vec::new()).unwrap();
        let next = plan_at(&dir, options()).unwrap();
        let sent = DistributedWrite::from_json(&next.to_json().unwrap()).unwrap();
        assert_eq!((sent.plan.target, sent.compression()), (Target::Existing(0), Some("gzip")));
        assert_eq!(sent.plan.schema, next.plan.schema);
    }

    #[test]
    fn a_discarded_write_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let write = plan_at(&dir, options()).unwrap();
        let kept = write.write_files(rows(&[1, 2]), None).unwrap();
        let elsewhere = write.write_files(rows(&[3]), None).unwrap();
        write.write_files(rows(&[4, 5]), Some("_attempt")).unwrap();
        assert_eq!(data_files(dir.path()), 5);
        write.discard("_attempt", &elsewhere);
        assert_eq!(data_files(dir.path()), kept.len());
        assert!(!dir.path().join("_attempt").exists());
    }

    #[test]
    fn what_is_no_plan_is_refused() {
        let error = DistributedWrite::from_json("{}").unwrap_err();
        assert!(error.to_string().starts_with("plan: not what deltaic made: missing field"), "{error}");
    }
}
