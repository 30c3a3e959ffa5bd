use std::sync::{Arc, LazyLock};

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int64Array, MapArray, RecordBatch, StringViewArray, StructArray,
    new_null_array,
};
use arrow::compute::{cast, concat_batches, filter_record_batch};
use arrow::datatypes::{DataType, Field, Fields, Int32Type, Int64Type, Schema, SchemaRef};
use arrow::error::ArrowError;

use crate::actions::{Add, DeletionVectorDescriptor, DvStorage, FilePath, PartitionValues};
use crate::error::{Error, Result};
use crate::predicate::Predicate;
use crate::stats::num_records_in;

/// What a listing of files asks for. The less it asks, the less is read of a checkpoint.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FilesRequest {
    /// Only files that may hold a matching row.
    pub predicate: Option<Predicate>,
    /// With the statistics as JSON text.
    pub stats: bool,
    /// With `dataChange`, tags, row-tracking and clustering fields.
    pub extended: bool,
}

impl FilesRequest {
    /// All fields of the files that may hold a row of the predicate.
    pub(crate) fn whole(predicate: Option<&Predicate>) -> Self {
        FilesRequest { predicate: predicate.cloned(), stats: true, extended: true }
    }
}

/// Live files as columns:
///
/// | column | type |
/// |---|---|
/// | `path` | Utf8View, as written in the log |
/// | `partition_values` | Map<Utf8, Utf8>, physical name to serialized value |
/// | `size` | Int64, bytes |
/// | `modification_time` | Int64, milliseconds since the Unix epoch |
/// | `deletion_vector` | Struct of the descriptor, null where no row is deleted |
/// | `stats` | Utf8View, JSON (only with [`FilesRequest::stats`]) |
/// | `data_change`, `tags`, `base_row_id`, `default_row_commit_version`, `clustering_provider` | only with [`FilesRequest::extended`] |
#[derive(Debug, Clone)]
pub struct FileBatch {
    batch: RecordBatch,
}

/// Map of strings as the log has it.
pub(crate) static STRING_MAP: LazyLock<DataType> = LazyLock::new(|| {
    let entries = Fields::from(vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", DataType::Utf8, true),
    ]);
    DataType::Map(Arc::new(Field::new("key_value", DataType::Struct(entries), false)), false)
});

pub(crate) static VECTOR: LazyLock<Fields> = LazyLock::new(|| {
    Fields::from(vec![
        Field::new("storageType", DataType::Utf8, false),
        Field::new("pathOrInlineDv", DataType::Utf8, false),
        Field::new("offset", DataType::Int32, true),
        Field::new("sizeInBytes", DataType::Int32, false),
        Field::new("cardinality", DataType::Int64, false),
    ])
});

/// A column of a [`FileBatch`]: its name, its field in a checkpoint's `add`, its type.
pub(super) struct FileColumn {
    pub(super) name: &'static str,
    pub(super) field: &'static str,
    pub(super) data_type: DataType,
}

/// The columns of a batch, in order.
pub(super) fn file_columns(stats: bool, extended: bool) -> Vec<FileColumn> {
    let column = |name, field, data_type| FileColumn { name, field, data_type };
    let mut out = vec![
        column("path", "path", DataType::Utf8View),
        column("partition_values", "partitionValues", STRING_MAP.clone()),
        column("size", "size", DataType::Int64),
        column("modification_time", "modificationTime", DataType::Int64),
        column("deletion_vector", "deletionVector", DataType::Struct(VECTOR.clone())),
    ];
    if stats {
        out.push(column("stats", "stats", DataType::Utf8View));
    }
    if extended {
        out.extend([
            column("data_change", "dataChange", DataType::Boolean),
            column("tags", "tags", STRING_MAP.clone()),
            column("base_row_id", "baseRowId", DataType::Int64),
            column("default_row_commit_version", "defaultRowCommitVersion", DataType::Int64),
            column("clustering_provider", "clusteringProvider", DataType::Utf8),
        ]);
    }
    out
}

pub(super) fn schema_of(columns: &[FileColumn]) -> SchemaRef {
    Arc::new(Schema::new(
        columns.iter().map(|c| Field::new(c.name, c.data_type.clone(), true)).collect::<Vec<_>>(),
    ))
}

/// A field of a struct in the type it must have; null where the struct does not have it. Writers differ in the names of
/// map entries and the width of integers and strings.
pub(crate) fn conform(parent: &StructArray, field: &str, to: &DataType) -> Result<ArrayRef, ArrowError> {
    match parent.column_by_name(field) {
        None => Ok(new_null_array(to, parent.len())),
        Some(array) => conform_array(array, to),
    }
}

fn conform_array(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    match (array.data_type(), to) {
        (from, to) if from == to => Ok(array.clone()),
        (DataType::Map(..), DataType::Map(entry, ordered)) => {
            let map = array.as_map();
            let DataType::Struct(fields) = entry.data_type() else {
                return Err(ArrowError::SchemaError("a map without entries".into()));
            };
            let keys = cast(map.keys(), fields[0].data_type())?;
            let values = cast(map.values(), fields[1].data_type())?;
            let entries = StructArray::try_new(fields.clone(), vec![keys, values], None)?;
            let map = MapArray::try_new(
                entry.clone(),
                map.offsets().clone(),
                entries,
                map.nulls().cloned(),
                *ordered,
            )?;
            Ok(Arc::new(map))
        }
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let parent = array.as_struct();
            // an empty, non-null struct (Snowflake, old writers) counts as null
            let vector = parent.column_by_name("pathOrInlineDv").and(parent.column_by_name("storageType"));
            let nulls = match vector {
                Some(child) => arrow::buffer::NullBuffer::union(parent.nulls(), child.nulls()),
                None => parent.nulls().cloned(),
            };
            let columns = fields
                .iter()
                .map(|f| conform(parent, f.name(), f.data_type()))
                .collect::<Result<Vec<_>, _>>()?;
            Ok(Arc::new(StructArray::try_new(fields.clone(), columns, nulls)?))
        }
        (_, to) => cast(array, to),
    }
}

/// A column whose texts are in memory of their own; others are as they were.
pub(super) fn own_texts(column: &ArrayRef) -> ArrayRef {
    match column.as_string_view_opt() {
        Some(texts) => Arc::new(texts.gc()),
        None => column.clone(),
    }
}

impl FileBatch {
    pub(crate) fn new(batch: RecordBatch) -> Self {
        FileBatch { batch }
    }

    /// Number of files.
    pub fn num_files(&self) -> usize {
        self.batch.num_rows()
    }

    /// The columns.
    pub fn record_batch(&self) -> &RecordBatch {
        &self.batch
    }

    /// The columns, owned. Nothing is copied.
    ///
    /// # Errors
    /// None today; the signature leaves room for columns that are made on demand.
    pub fn to_record_batch(&self) -> Result<RecordBatch> {
        Ok(self.batch.clone())
    }

    /// Paths as written in the log.
    pub fn paths(&self) -> &StringViewArray {
        self.batch.column(0).as_string_view()
    }

    /// Serialized partition values by physical name.
    pub fn partition_values(&self) -> &MapArray {
        self.batch.column(1).as_map()
    }

    /// The serialized value of a partition column, by its physical name; null where it is null or absent.
    pub(crate) fn partition_value(&self, row: usize, name: &str) -> Option<String> {
        self.values(row).remove(name).flatten()
    }

    /// Sizes in bytes.
    pub fn sizes(&self) -> &Int64Array {
        self.batch.column(2).as_primitive::<Int64Type>()
    }

    /// Rows of each file by its statistics, deleted ones included; null where these do not say it. None where the files
    /// were listed without statistics.
    pub fn num_records(&self) -> Option<Int64Array> {
        Some(num_records_in(self.batch.column_by_name("stats")?.as_string_view_opt()?))
    }

    /// The files of several batches in one.
    pub(super) fn joined(batches: &[FileBatch]) -> Result<Self> {
        let failed = |e| Error::arrow("joining files", e);
        let Some(first) = batches.first() else {
            return Err(failed(ArrowError::ComputeError("no batch".into())));
        };
        let all = batches.iter().map(FileBatch::record_batch);
        concat_batches(first.batch.schema_ref(), all).map(FileBatch::new).map_err(failed)
    }

    /// The same files, whose texts hold no memory of those that they were read with.
    pub(super) fn with_own_texts(&self) -> Result<Self> {
        let columns = self.batch.columns().iter().map(own_texts).collect();
        RecordBatch::try_new(self.batch.schema(), columns)
            .map(FileBatch::new)
            .map_err(|e| Error::arrow("copying texts of files", e))
    }

    /// Some of the files.
    pub(crate) fn slice(&self, start: usize, length: usize) -> Self {
        FileBatch { batch: self.batch.slice(start, length) }
    }

    pub(super) fn filter(&self, keep: &BooleanArray) -> Result<Self> {
        if keep.true_count() == keep.len() {
            return Ok(self.clone());
        }
        filter_record_batch(&self.batch, keep)
            .map(FileBatch::new)
            .map_err(|e| Error::arrow("selecting files", e))
    }

    /// The files whose numbers are kept.
    pub(crate) fn kept(&self, keep: impl FnMut(usize) -> bool) -> Result<Self> {
        let keep: Vec<bool> = (0..self.num_files()).map(keep).collect();
        self.filter(&BooleanArray::from(keep))
    }

    /// Deletion-vector descriptors, null where no row is deleted.
    pub(super) fn vectors(&self) -> &StructArray {
        self.batch.column(4).as_struct()
    }

    /// The first files of the batch. Nothing is copied.
    pub(crate) fn first(&self, files: usize) -> Self {
        FileBatch { batch: self.batch.slice(0, files.min(self.num_files())) }
    }

    /// Whether a file of the batch has a deletion vector.
    pub(crate) fn has_deletion_vectors(&self) -> bool {
        self.vectors().null_count() < self.num_files()
    }

    /// Rows of a file that its deletion vector deletes; none without one.
    pub(crate) fn deleted(&self, row: usize) -> Option<i64> {
        let vectors = self.vectors();
        vectors.is_valid(row).then(|| vectors.column(4).as_primitive::<Int64Type>().value(row))
    }

    /// The deletion vector of a row.
    pub fn deletion_vector(&self, row: usize) -> Option<DeletionVectorDescriptor> {
        vector_at(self.vectors(), row)
    }

    /// The partition values of a file, by physical name.
    pub(crate) fn values(&self, row: usize) -> PartitionValues {
        map_at(self.partition_values(), row)
    }

    /// The files one by one, as owned actions.
    pub fn adds(&self) -> impl Iterator<Item = Result<Add>> + '_ {
        let text = |name: &str| self.batch.column_by_name(name).map(|c| c.as_string_view().clone());
        let long =
            |name: &str| self.batch.column_by_name(name).map(|c| c.as_primitive::<Int64Type>().clone());
        let stats = text("stats");
        let (base, commit) = (long("base_row_id"), long("default_row_commit_version"));
        let modified = self.batch.column(3).as_primitive::<Int64Type>();
        let change = self.batch.column_by_name("data_change").map(|c| c.as_boolean().clone());
        let tags = self.batch.column_by_name("tags").map(|c| c.as_map().clone());
        let clustering =
            self.batch.column_by_name("clustering_provider").map(|c| c.as_string::<i32>().clone());
        (0..self.num_files()).map(move |row| {
            let at = |a: &Option<Int64Array>| a.as_ref().and_then(|a| a.is_valid(row).then(|| a.value(row)));
            Ok(Add {
                path: FilePath::from_log(self.paths().value(row)),
                partition_values: self.values(row),
                size: self.sizes().value(row),
                modification_time: modified.value(row),
                data_change: change.as_ref().is_none_or(|c| c.is_null(row) || c.value(row)),
                stats: stats.as_ref().and_then(|s| s.is_valid(row).then(|| s.value(row).to_owned())),
                tags: tags.as_ref().and_then(|t| t.is_valid(row).then(|| map_at(t, row))),
                deletion_vector: self.deletion_vector(row),
                base_row_id: at(&base),
                default_row_commit_version: at(&commit),
                clustering_provider: clustering
                    .as_ref()
                    .and_then(|c| c.is_valid(row).then(|| c.value(row).to_owned())),
            })
        })
    }
}

/// A string map of a row; null is empty.
pub(super) fn map_at(map: &MapArray, row: usize) -> PartitionValues {
    if map.is_null(row) {
        return PartitionValues::new();
    }
    let entries = map.value(row);
    let (keys, values) = (entries.column(0).as_string::<i32>(), entries.column(1).as_string::<i32>());
    (0..entries.len())
        .map(|i| (keys.value(i).to_owned(), values.is_valid(i).then(|| values.value(i).to_owned())))
        .collect()
}

/// The descriptor in a row of a [`VECTOR`] struct.
pub(crate) fn vector_at(vectors: &StructArray, row: usize) -> Option<DeletionVectorDescriptor> {
    if vectors.is_null(row) {
        return None;
    }
    let offset = vectors.column(2).as_primitive::<Int32Type>();
    Some(DeletionVectorDescriptor {
        storage_type: DvStorage::from_code(vectors.column(0).as_string::<i32>().value(row))?,
        path_or_inline_dv: vectors.column(1).as_string::<i32>().value(row).to_owned(),
        offset: offset.is_valid(row).then(|| offset.value(row)),
        size_in_bytes: vectors.column(3).as_primitive::<Int32Type>().value(row),
        cardinality: vectors.column(4).as_primitive::<Int64Type>().value(row),
    })
}
