//! A snapshot and its files in the forms that Spark takes over: schemas as Spark's JSON, and the files as one block of
//! bytes, because a call for each file across the JVM boundary would take minutes where this takes milliseconds.
//!
//! The block, integers big-endian, a text or byte string as its `i32` length (-1 is null) and its bytes:
//!
//! | part | content |
//! |---|---|
//! | root | text: URI of the table |
//! | row ids | one byte: 1 if each file has them, else 0 |
//! | groups | `i32` count; for each one the partition values, in the order of the partition columns, as text |
//! | files | `i32` count; for each one group `i32`, size `i64`, modification time `i64` (ms), 1 if the path follows the root and 0 if it is a whole URI, path as text, deletion vector as a serialized 32-bit roaring bitmap or null; with row ids, `baseRowId` `i64` and `defaultRowCommitVersion` `i64`, -1 where there is none |

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::{Array, AsArray, Int64Array, MapArray, StringArray};
use arrow::datatypes::Int64Type;
use foldhash::fast::RandomState;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::spark_schema::{schema_json, unprinted_defaults};
use crate::actions::{Add, DeletionVectorDescriptor, FilePath, ObjectPath, Protocol};
use crate::alter::generated::expression;
use crate::deletion_vector::{DeletionVector, Shared as SharedVectors};
use crate::error::{Error, Result, condition};
use crate::features::TableFeature;
use crate::predicate::Predicate;
use crate::properties::{FEATURE_PREFIX, TableProperty};
use crate::replay::{FileBatch, FilesRequest};
use crate::scan::RowIds;
use crate::schema::{
    ColumnMappingMode, IDENTITY_START, Nullability, StructType, physical_difference, read_difference,
};
use crate::snapshot::{Snapshot, Verify};
use crate::store::ALLOWED_LOCATIONS;
use crate::sums::SaturatingSum;

/// What Spark must know before it plans, without a look at the files: URI, version, an identity that differs whenever
/// the content may differ, logical schema, physical schema (null where they are the same), partition columns,
/// properties, those by which the protocol is shown, whether files may have deletion vectors, the defaults that only
/// Spark knows, and the columns that the table makes itself.
pub fn describe(snapshot: &Snapshot) -> Value {
    let mode = snapshot.column_mapping();
    let metadata = snapshot.metadata();
    let uri = spark_uri(snapshot.location().root());
    let vectors = snapshot.protocol().lists_for_readers(TableFeature::DeletionVectors);
    let physical = match mode {
        ColumnMappingMode::None => Value::Null,
        _ => schema_json(snapshot.schema(), Some(mode)),
    };
    json!({
        "identity": identity(snapshot),
        "uri": uri,
        "version": snapshot.version(),
        "schema": schema_json(snapshot.schema(), None),
        "physical": physical,
        "mapping": match mode {
            ColumnMappingMode::None => "none",
            ColumnMappingMode::Name => "name",
            ColumnMappingMode::Id => "id",
        },
        "partitionColumns": snapshot.partition_columns(),
        "properties": metadata.configuration,
        "protocolProperties": protocol_properties(snapshot.protocol()),
        "deletionVectors": vectors,
        "unprintedDefaults": unprinted_defaults(snapshot.schema()),
        "made": made(snapshot.schema()),
    })
}

/// The generated columns with their expressions, and the identity columns with null.
fn made(schema: &StructType) -> BTreeMap<&str, Option<&str>> {
    let made =
        schema.fields.iter().filter(|f| expression(f).is_some() || f.metadata.contains_key(IDENTITY_START));
    made.map(|field| (field.name.as_str(), expression(field))).collect()
}

/// A schema as Spark gets it: without internal metadata, and with no SQL that the core did not print.
pub fn schema(schema: &StructType) -> Value {
    schema_json(schema, None)
}

/// Differs whenever the content may differ.
pub fn identity(snapshot: &Snapshot) -> String {
    let (uri, (size, modified)) =
        (spark_uri(snapshot.location().root()), snapshot.commit_stamp().unwrap_or_default());
    // a reading that looks closer may refuse what another one answers
    let level =
        if snapshot.level() == Verify::default() { String::new() } else { format!("@{}", snapshot.level()) };
    let allowed = snapshot.location().option(ALLOWED_LOCATIONS).map_or_else(String::new, |a| format!("@{a}"));
    format!("{uri}@{}@{}@{size}@{modified}{level}{allowed}", snapshot.version(), snapshot.metadata().id)
}

/// Checks that a query that was analyzed with the columns of `analyzed` ([`describe`] of another version) reads the rows of
/// this version as they are.
///
/// # Errors
/// [`Error::SchemaChanged`] where it does not: a column is missing, has another type, may be null now, or is another
/// one of the same name. [`Error::InvalidSchema`] for what [`describe`] did not make.
pub fn check_analyzed(snapshot: &Snapshot, analyzed: &str) -> Result<()> {
    check_fits(snapshot, &describe(snapshot), analyzed)
}

/// [`check_analyzed`] of the facts `now` of the snapshot, or of changes that have its schema.
pub(crate) fn check_fits(snapshot: &Snapshot, now: &Value, analyzed: &str) -> Result<()> {
    let invalid = |reason: String| Error::InvalidSchema { reason };
    let then: Value = serde_json::from_str(analyzed).map_err(|e| invalid(e.to_string()))?;
    let same = |key: &str| then[key] == now[key];
    if same("schema") && same("physical") && same("partitionColumns") {
        return Ok(());
    }
    let schema = |facts: &Value, key: &str| match &facts[key] {
        Value::Null => StructType::from_json(&facts["schema"].to_string()),
        schema => StructType::from_json(&schema.to_string()),
    };
    let (old, new) = (schema(&then, "schema")?, schema(now, "schema")?);
    let (old_physical, new_physical) = (schema(&then, "physical")?, schema(now, "physical")?);
    let difference = read_difference(&old, &new, Nullability::MayTighten)
        .or_else(|| physical_difference((&old, &old_physical), (&new, &new_physical)))
        .or_else(|| (!same("partitionColumns")).then(|| "the partition columns differ".to_owned()));
    match difference {
        None => Ok(()),
        Some(columns) => Err(Error::SchemaChanged { path: snapshot.location().root().to_string(), columns }),
    }
}

/// The protocol as properties of a table are shown: its versions, and the features that it names.
fn protocol_properties(protocol: &Protocol) -> BTreeMap<String, String> {
    let versions = [
        (TableProperty::MinReaderVersion.to_string(), protocol.min_reader_version.to_string()),
        (TableProperty::MinWriterVersion.to_string(), protocol.min_writer_version.to_string()),
    ];
    let features = protocol.reader_features.iter().chain(&protocol.writer_features).flatten();
    let features = features.map(|name| (format!("{FEATURE_PREFIX}{name}"), "supported".to_owned()));
    versions.into_iter().chain(features).collect()
}

/// The columns in which files keep the row ids and row commit versions of rows that came from other files, as `rowId` and
/// `rowCommitVersion`; null where rows have no ids.
pub fn row_tracking(snapshot: &Snapshot) -> Value {
    match tracked(snapshot).map(|ids| ids.columns()) {
        Some([row_id, version]) => json!({"rowId": row_id.name, "rowCommitVersion": version.name}),
        None => Value::Null,
    }
}

/// A table that does not name the columns can be read, without row ids.
fn tracked(snapshot: &Snapshot) -> Option<RowIds> {
    RowIds::of(snapshot.metadata()).ok().flatten()
}

/// Refuses to read the rows of a table that has no columns yet.
///
/// # Errors
/// [`Error::InvalidSchema`].
pub fn check_has_columns(snapshot: &Snapshot) -> Result<()> {
    if !snapshot.schema().fields.is_empty() {
        return Ok(());
    }
    let path = snapshot.location().root();
    let reason = format!("`{path}` has no columns yet: add columns, or write rows with `mergeSchema`");
    let table = [("tableName", format!("`delta`.`{path}`"))];
    Err(Error::InvalidSchema { reason }.named(&condition::READ_TABLE_WITHOUT_COLUMNS, table))
}

/// Bytes of all files of the snapshot.
///
/// # Errors
/// Those of [`Snapshot::files`].
pub fn total_size(snapshot: &Snapshot) -> Result<i64> {
    let mut total = 0_i64;
    for batch in snapshot.files(FilesRequest::default())? {
        total = total.saturating_add(batch?.sizes().values().iter().copied().saturating_sum());
    }
    Ok(total)
}

/// Rows of the snapshot that are not deleted; `None` where the statistics of a file lack its number of rows.
///
/// # Errors
/// Those of [`Snapshot::files`].
pub fn total_rows(snapshot: &Snapshot) -> Result<Option<u64>> {
    let mut total = 0_u64;
    for batch in snapshot.files(FilesRequest { stats: true, ..FilesRequest::default() })? {
        let batch = batch?;
        let Some(counts) = batch.num_records() else { return Ok(None) };
        for file in 0..batch.num_files() {
            let live = live_rows(&batch, &counts, file);
            let Some(sum) = live.and_then(|live| total.checked_add(live)) else { return Ok(None) };
            total = sum;
        }
    }
    Ok(Some(total))
}

/// Rows of a file that are not deleted; `None` where its statistics lack their number.
fn live_rows(batch: &FileBatch, counts: &Int64Array, file: usize) -> Option<u64> {
    let rows = counts.is_valid(file).then(|| counts.value(file))?;
    let deleted = batch.deleted(file).map_or(0, |rows| rows.max(0));
    u64::try_from(rows.checked_sub(deleted)?).ok()
}

/// The files that may hold a row for which `predicate` is true, as the block that the module describes, with row ids where
/// rows have them. With a limit these end where the statistics count so many rows, as far as they count them.
///
/// # Errors
/// Those of [`Snapshot::files`] and [`DeletionVector::load`]; [`Error::Unsupported`] for more than 2³¹ files or bytes of
/// a value, and for a deletion vector with positions of more than 32 bits.
pub fn encode(snapshot: &Snapshot, predicate: Option<Predicate>, limit: Option<u64>) -> Result<Vec<u8>> {
    let mut encoder = Encoder::new(snapshot);
    encoder.row_ids = tracked(snapshot).is_some();
    let request = FilesRequest { predicate, stats: limit.is_some(), extended: encoder.row_ids };
    let mut lacking = limit;
    for batch in snapshot.files(request)? {
        let mut batch = batch?;
        if let Some(rows) = &mut lacking {
            batch = batch.first(files_with(&batch, rows));
        }
        encoder.add(&batch)?;
        if lacking == Some(0) {
            break;
        }
    }
    Ok(encoder.finish())
}

/// How many files of a batch it takes to hold the rows that are lacking, which are fewer then.
fn files_with(batch: &FileBatch, lacking: &mut u64) -> usize {
    let counts = batch.num_records();
    for file in 0..batch.num_files() {
        if *lacking == 0 {
            return file;
        }
        let live = counts.as_ref().and_then(|counts| live_rows(batch, counts, file));
        *lacking = lacking.saturating_sub(live.unwrap_or(0));
    }
    batch.num_files()
}

/// [`encode`] of any files, which need not be of the snapshot: they are read in its schema.
///
/// # Errors
/// Those of [`DeletionVector::load`], and [`Error::Unsupported`] as [`encode`].
pub fn encode_adds(snapshot: &Snapshot, files: &[Add]) -> Result<Vec<u8>> {
    let (schema, mode) = (snapshot.schema(), snapshot.column_mapping());
    encode_valued(snapshot, files, &schema.physical_names(snapshot.partition_columns(), mode))
}

/// [`encode_adds`] with the values of these columns, by their names in the log.
///
/// # Errors
/// As [`encode_adds`].
pub(crate) fn encode_valued(snapshot: &Snapshot, files: &[Add], columns: &[String]) -> Result<Vec<u8>> {
    let mut encoder = Encoder::new(snapshot);
    let vectors = files.iter().enumerate().filter_map(|(i, f)| Some((i, f.deletion_vector.clone()?)));
    let vectors = encoder.vectors(vectors.collect())?;
    let mut key = Vec::new();
    for (i, file) in files.iter().enumerate() {
        key.clear();
        for name in columns {
            match file.partition_values.get(name).and_then(Option::as_deref).filter(|v| !v.is_empty()) {
                Some(value) => put(&mut key, value.as_bytes())?,
                None => key.extend_from_slice(&NULL),
            }
        }
        let group = encoder.group(&key)?;
        encoder.file(group, file.size, file.modification_time, file.path.as_str(), vectors.get(&i))?;
    }
    Ok(encoder.finish())
}

struct Encoder<'a> {
    snapshot: &'a Snapshot,
    root: String,
    row_ids: bool,
    /// Physical names of the partition columns, as the log has them.
    columns: Arc<[String]>,
    /// Number of each group, by its encoded values.
    groups: HashMap<Vec<u8>, u32, RandomState>,
    group_bytes: Vec<u8>,
    files: u32,
    file_bytes: Vec<u8>,
}

impl<'a> Encoder<'a> {
    fn new(snapshot: &'a Snapshot) -> Self {
        Encoder {
            snapshot,
            root: spark_uri(snapshot.location().root()),
            row_ids: false,
            columns: snapshot
                .schema()
                .physical_names(snapshot.partition_columns(), snapshot.column_mapping())
                .into(),
            groups: HashMap::default(),
            group_bytes: Vec::new(),
            files: 0,
            file_bytes: Vec::new(),
        }
    }

    fn add(&mut self, batch: &FileBatch) -> Result<()> {
        let columns = batch.to_record_batch()?;
        let modified = columns.column(3).as_primitive::<Int64Type>();
        let rows = 0..batch.num_files();
        let vectors = rows.clone().filter_map(|row| Some((row, batch.deletion_vector(row)?)));
        let vectors = self.vectors(vectors.collect())?;
        let names = self.columns.clone();
        let values = Values::new(batch.partition_values(), &names);
        let mut key = Vec::new();
        let mut last: Option<(Vec<u8>, u32)> = None;
        let long = |name| Some(columns.column_by_name(name)?.as_primitive::<Int64Type>());
        let ids = ["base_row_id", "default_row_commit_version"].map(long);
        for row in rows {
            key.clear();
            values.encode(row, &mut key)?;
            let group = match &last {
                Some((known, group)) if *known == key => *group,
                _ => {
                    let group = self.group(&key)?;
                    last = Some((key.clone(), group));
                    group
                }
            };
            let (size, path) = (batch.sizes().value(row), batch.paths().value(row));
            self.file(group, size, modified.value(row), path, vectors.get(&row))?;
            for column in ids.iter().filter(|_| self.row_ids) {
                let known = column.filter(|c| c.is_valid(row)).map_or(-1, |c| c.value(row));
                self.file_bytes.extend_from_slice(&known.to_be_bytes());
            }
        }
        Ok(())
    }

    fn file(&mut self, group: u32, size: i64, time: i64, path: &str, vector: Option<&Vec<u8>>) -> Result<()> {
        self.file_bytes.extend_from_slice(&group.to_be_bytes());
        self.file_bytes.extend_from_slice(&size.to_be_bytes());
        self.file_bytes.extend_from_slice(&time.to_be_bytes());
        self.path(path)?;
        match vector {
            Some(vector) => put(&mut self.file_bytes, vector)?,
            None => self.file_bytes.extend_from_slice(&NULL),
        }
        self.files = next(self.files)?;
        Ok(())
    }

    /// The number of the group with these encoded values.
    fn group(&mut self, key: &[u8]) -> Result<u32> {
        if let Some(group) = self.groups.get(key) {
            return Ok(*group);
        }
        let group = self.groups.len() as u32;
        next(group)?;
        self.group_bytes.extend_from_slice(key);
        self.groups.insert(key.to_vec(), group);
        Ok(group)
    }

    fn path(&mut self, written: &str) -> Result<()> {
        let location = self.snapshot.location();
        if is_plain(written) && location.reads_any() {
            self.file_bytes.push(1);
            return put_joined(&mut self.file_bytes, b"/", written.as_bytes());
        }
        let uri = spark_uri(&location.readable(&FilePath::from_log(written))?);
        match uri.strip_prefix(&self.root) {
            Some(relative) if relative.starts_with('/') => {
                self.file_bytes.push(1);
                put(&mut self.file_bytes, relative.as_bytes())
            }
            _ => {
                self.file_bytes.push(0);
                put(&mut self.file_bytes, uri.as_bytes())
            }
        }
    }

    /// Deletion vectors in serialized form, by row.
    fn vectors(&self, wanted: Vec<(usize, DeletionVectorDescriptor)>) -> Result<HashMap<usize, Vec<u8>>> {
        let location = self.snapshot.location();
        let shared = SharedVectors::of_descriptors(wanted.iter().map(|(_, d)| d), location.root());
        wanted
            .par_iter()
            .map(|(row, descriptor)| {
                Ok((*row, bitmap(&shared.load(descriptor, location)?, location.root())?))
            })
            .collect()
    }

    fn finish(self) -> Vec<u8> {
        let mut out =
            Vec::with_capacity(self.root.len() + self.group_bytes.len() + self.file_bytes.len() + 16);
        // a URI is far below the limit that `put` checks
        out.extend_from_slice(&(self.root.len() as u32).to_be_bytes());
        out.extend_from_slice(self.root.as_bytes());
        out.push(self.row_ids.into());
        out.extend_from_slice(&(self.groups.len() as u32).to_be_bytes());
        out.extend_from_slice(&self.group_bytes);
        out.extend_from_slice(&self.files.to_be_bytes());
        out.extend_from_slice(&self.file_bytes);
        out
    }
}

const NULL: [u8; 4] = (-1_i32).to_be_bytes();

/// The partition values of a batch.
struct Values<'a> {
    map: &'a MapArray,
    keys: &'a StringArray,
    values: &'a StringArray,
    columns: &'a [String],
}

impl<'a> Values<'a> {
    fn new(map: &'a MapArray, columns: &'a [String]) -> Self {
        let keys = map.keys().as_string();
        let values = map.values().as_string();
        Values { map, keys, values, columns }
    }

    /// Appends the values of a row; absent and empty ones are null (PROTOCOL.md, "Partition Value Serialization").
    fn encode(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        let offsets = self.map.value_offsets();
        let (start, end) = (offsets[row] as usize, offsets[row + 1] as usize);
        for column in self.columns {
            let at = (start..end).find(|i| self.keys.value(*i) == column);
            match at.filter(|i| self.values.is_valid(*i) && !self.values.value(*i).is_empty()) {
                Some(i) => put(out, self.values.value(i).as_bytes())?,
                None => out.extend_from_slice(&NULL),
            }
        }
        Ok(())
    }
}

fn put(out: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    put_joined(out, b"", bytes)
}

fn put_joined(out: &mut Vec<u8>, prefix: &[u8], bytes: &[u8]) -> Result<()> {
    let length = i32::try_from(prefix.len() + bytes.len()).map_err(|_| too_large("a value of 2 GiB"))?;
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(prefix);
    out.extend_from_slice(bytes);
    Ok(())
}

fn next(count: u32) -> Result<u32> {
    match count.checked_add(1) {
        Some(n) if i32::try_from(n).is_ok() => Ok(n),
        _ => Err(too_large("more than 2147483647 files in one scan")),
    }
}

fn too_large(what: &str) -> Error {
    Error::Unsupported { path: String::new(), what: what.into() }
}

/// Whether a written path is relative and the same in every spelling, so that it can be taken over as it is.
fn is_plain(written: &str) -> bool {
    !written.starts_with(['/', '.'])
        && !written.contains("//")
        && !written.contains("/.")
        && written.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'=' | b'/'))
}

/// A place as Hadoop spells it: local paths with one slash after the scheme.
pub fn spark_uri(path: &ObjectPath) -> String {
    let uri = path.to_uri();
    match uri.strip_prefix("file://") {
        Some(local) => format!("file:{local}"),
        None => uri,
    }
}

/// The standard 32-bit form, which RoaringBitmap in the JVM reads.
fn bitmap(vector: &DeletionVector, root: &ObjectPath) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut low = roaring::RoaringBitmap::new();
    for (high, rows) in vector.rows().bitmaps() {
        if high == 0 {
            low = rows.clone();
        } else if !rows.is_empty() {
            let what = "a deletion vector with row positions of more than 32 bits".into();
            return Err(Error::Unsupported { path: root.to_string(), what });
        }
    }
    // writing to memory does not fail
    let _ = low.serialize_into(&mut out);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::At;
    use crate::store::{Location, StorageOptions};

    const SCHEMA: &str = r#"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{\"delta.columnMapping.physicalName\":\"c1\",\"delta.columnMapping.id\":1,\"comment\":\"key\"}},{\"name\":\"p\",\"type\":\"string\",\"nullable\":true,\"metadata\":{\"delta.columnMapping.physicalName\":\"c2\",\"delta.columnMapping.id\":2}}]}"#;

    fn open(mode: &str, adds: &[String]) -> (tempfile::TempDir, Snapshot) {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("_delta_log");
        std::fs::create_dir(&log).unwrap();
        let protocol = r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["columnMapping","deletionVectors"],"writerFeatures":["columnMapping","deletionVectors"]}}"#;
        let metadata = format!(
            r#"{{"metaData":{{"id":"x","format":{{"provider":"parquet","options":{{}}}},"schemaString":"{SCHEMA}","partitionColumns":["p"],"configuration":{{"delta.columnMapping.mode":"{mode}"}}}}}}"#
        );
        let body = format!("{protocol}\n{metadata}\n{}\n", adds.join("\n"));
        std::fs::write(log.join("00000000000000000000.json"), body).unwrap();
        let location = Location::open(dir.path().to_str().unwrap(), &StorageOptions::new()).unwrap();
        let snapshot = Snapshot::open(location, At::Latest).unwrap();
        (dir, snapshot)
    }

    fn add(path: &str, value: &str, more: &str) -> String {
        format!(
            r#"{{"add":{{"path":"{path}","partitionValues":{{"c2":{value}}},"size":7,"modificationTime":9,"dataChange":true{more}}}}}"#
        )
    }

    struct Reader<'a>(&'a [u8]);

    impl Reader<'_> {
        fn bytes(&mut self, n: usize) -> Vec<u8> {
            let (head, rest) = self.0.split_at(n);
            self.0 = rest;
            head.to_vec()
        }

        fn int(&mut self) -> i32 {
            i32::from_be_bytes(self.bytes(4).try_into().unwrap())
        }

        fn long(&mut self) -> i64 {
            i64::from_be_bytes(self.bytes(8).try_into().unwrap())
        }

        fn value(&mut self) -> Option<Vec<u8>> {
            usize::try_from(self.int()).ok().map(|n| self.bytes(n))
        }

        fn text(&mut self) -> Option<String> {
            self.value().map(|v| String::from_utf8(v).unwrap())
        }
    }

    #[test]
    fn files_come_with_group_size_time_path_and_vector() {
        let vector: DeletionVector = [1, 3].into_iter().collect();
        let vector = serde_json::to_string(&vector.to_inline()).unwrap();
        let adds = [
            add("a.parquet", r#""x""#, ""),
            add("p=%25 y/b%20c.parquet", r#""""#, ""),
            add("/elsewhere/d.parquet", r#""x""#, &format!(r#","deletionVector":{vector}"#)),
        ];
        let (dir, snapshot) = open("name", &adds);
        let block = encode(&snapshot, None, None).unwrap();
        let mut reader = Reader(&block);
        let root = reader.text().unwrap();
        assert_eq!(root, format!("file:{}", dir.path().display()));
        assert_eq!(reader.bytes(1), [0]);
        let groups: Vec<_> = (0..reader.int()).map(|_| reader.text()).collect();
        assert_eq!(groups.len(), 2);
        let mut files = Vec::new();
        for _ in 0..reader.int() {
            let group = groups[reader.int() as usize].clone();
            assert_eq!((reader.long(), reader.long()), (7, 9));
            let relative = reader.bytes(1)[0];
            let path = reader.text().unwrap();
            let rows = reader.value().map(|v| {
                roaring::RoaringBitmap::deserialize_from(v.as_slice()).unwrap().iter().collect::<Vec<_>>()
            });
            files.push((group, relative, path, rows));
        }
        files.sort();
        let x = Some("x".to_owned());
        assert_eq!(
            files,
            [
                (None, 1, "/p=%25%20y/b%20c.parquet".to_owned(), None),
                (x.clone(), 0, "file:/elsewhere/d.parquet".to_owned(), Some(vec![1, 3])),
                (x, 1, "/a.parquet".to_owned(), None),
            ]
        );
        assert!(reader.0.is_empty());
        assert_eq!(total_size(&snapshot).unwrap(), 21);
    }

    #[test]
    fn schemas_are_logical_without_our_annotations_and_physical_with_field_ids() {
        let (_dir, snapshot) = open("id", &[add("a.parquet", r#""x""#, "")]);
        let facts = describe(&snapshot);
        assert_eq!(facts["schema"]["fields"][0]["name"], "id");
        assert_eq!(facts["schema"]["fields"][0]["metadata"], json!({"comment": "key"}));
        assert_eq!(facts["physical"]["fields"][0]["name"], "c1");
        assert_eq!(facts["physical"]["fields"][0]["metadata"], json!({"parquet.field.id": 1}));
        assert_eq!(facts["mapping"], "id");
        assert_eq!(facts["partitionColumns"], json!(["p"]));
        assert_eq!(facts["deletionVectors"], true);
    }

    #[test]
    fn annotations_of_another_mode_are_no_mapping() {
        let (_dir, snapshot) = open("none", &[]);
        let facts = describe(&snapshot);
        assert_eq!((&facts["physical"], &facts["mapping"]), (&Value::Null, &json!("none")));
    }

    #[test]
    fn positions_beyond_32_bits_are_refused() {
        let vector: DeletionVector = [1_u64 << 32].into_iter().collect();
        let error = bitmap(&vector, &ObjectPath::new("file://", "/t")).unwrap_err();
        assert_eq!(error.kind(), "Unsupported");
    }
}
