use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::datatypes::{DataType as Arrow, Field, Fields, Schema};
use deltaic_core::schema::{ColumnMappingMode, DataType, StructType, arrow_type};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use serde_json::{Map, Value, json};

/// The files that a checkpoint is made of (PROTOCOL.md, "Checkpoint Naming Scheme").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckpointForm {
    /// `n.checkpoint.parquet`, V1.
    Single,
    /// `n.checkpoint.o.p.parquet`, V1 in this many parts.
    MultiPart(usize),
    /// `n.checkpoint.<uuid>.parquet`, V2, with this many sidecars; 0 keeps the file actions in the file itself.
    V2Parquet(usize),
    /// `n.checkpoint.<uuid>.json`, V2, with this many sidecars.
    V2Json(usize),
    /// `n.checkpoint.parquet` with the content of a V2 checkpoint.
    V2Classic(usize),
}

/// How [`crate::TableBuilder::checkpoint`] writes a checkpoint.
#[derive(Debug, Clone)]
pub struct CheckpointSpec {
    /// Files.
    pub form: CheckpointForm,
    /// Whether adds carry `stats` as JSON text.
    pub json_stats: bool,
    /// Whether adds carry `stats_parsed`.
    pub struct_stats: bool,
    /// Whether adds carry `partitionValues_parsed`.
    pub struct_partitions: bool,
    /// Whether tombstones are written.
    pub tombstones: bool,
    /// Whether `_last_checkpoint` is written.
    pub hint: bool,
    /// Rows of a Parquet row group.
    pub row_group: usize,
}

impl Default for CheckpointSpec {
    fn default() -> Self {
        CheckpointSpec {
            form: CheckpointForm::Single,
            json_stats: true,
            struct_stats: false,
            struct_partitions: false,
            tombstones: true,
            hint: true,
            row_group: 1024,
        }
    }
}

impl CheckpointSpec {
    /// The defaults with these files: JSON statistics, tombstones and a hint.
    pub fn of(form: CheckpointForm) -> Self {
        CheckpointSpec { form, ..Self::default() }
    }
}

/// The Arrow type of a column. The decoder of JSON knows no zones by name.
fn value_type(data_type: &DataType) -> Arrow {
    match arrow_type(data_type) {
        Arrow::Timestamp(unit, Some(_)) => Arrow::Timestamp(unit, Some("+00:00".into())),
        other => other,
    }
}

/// The table schema as far as a checkpoint depends on it.
#[derive(Debug, Clone)]
pub(crate) struct TableShape {
    schema: StructType,
    partition_columns: Vec<String>,
    mode: ColumnMappingMode,
}

impl TableShape {
    /// From a `metaData` body.
    pub(crate) fn of(metadata: &Value) -> Self {
        let metadata: deltaic_core::actions::Metadata =
            serde_json::from_value(metadata.clone()).expect("a metaData action");
        TableShape {
            schema: StructType::from_json(&metadata.schema_string).expect("a schema string"),
            mode: metadata.column_mapping(),
            partition_columns: metadata.partition_columns,
        }
    }

    fn is_partition(&self, name: &str) -> bool {
        self.partition_columns.iter().any(|c| c == name)
    }

    fn partition_fields(&self) -> Fields {
        let fields = self.partition_columns.iter().filter_map(|c| self.schema.field(c));
        fields.map(|f| Field::new(f.physical_name(self.mode), value_type(&f.data_type), true)).collect()
    }

    fn stats_type(&self) -> Arrow {
        let data = StructType {
            fields: self.schema.fields.iter().filter(|f| !self.is_partition(&f.name)).cloned().collect(),
        };
        let bounds = stats_fields(&data, self.mode, &|t| {
            (!matches!(t, DataType::Boolean | DataType::Binary | DataType::Void | DataType::Variant))
                .then(|| value_type(t))
        });
        let nulls = stats_fields(&data, self.mode, &|_| Some(Arrow::Int64));
        let mut fields = vec![Field::new("numRecords", Arrow::Int64, true)];
        for (name, inner) in [("minValues", &bounds), ("maxValues", &bounds), ("nullCount", &nulls)] {
            if !inner.is_empty() {
                fields.push(Field::new(name, Arrow::Struct(inner.clone()), true));
            }
        }
        Arrow::Struct(fields.into())
    }

    /// Partition values as the JSON decoder takes them for their types.
    fn parsed_partitions(&self, values: &Value) -> Value {
        let fields = self.partition_columns.iter().filter_map(|c| self.schema.field(c));
        let parsed = fields.map(|f| {
            let name = f.physical_name(self.mode);
            let value = match (values.get(name).unwrap_or(&Value::Null), &f.data_type) {
                (Value::String(s), DataType::Boolean) => json!(s == "true"),
                (Value::String(s), t) if s.is_empty() && *t != DataType::Binary => Value::Null,
                (value, _) => value.clone(),
            };
            (name.to_owned(), value)
        });
        Value::Object(parsed.collect::<Map<_, _>>())
    }
}

fn stats_fields(
    schema: &StructType,
    mode: ColumnMappingMode,
    leaf: &dyn Fn(&DataType) -> Option<Arrow>,
) -> Fields {
    let fields = schema.fields.iter().filter_map(|f| {
        let kind = match &f.data_type {
            DataType::Struct(inner) => {
                let inner = stats_fields(inner, mode, leaf);
                (!inner.is_empty()).then_some(Arrow::Struct(inner))
            }
            DataType::Array(_) | DataType::Map(_) => None,
            other => leaf(other),
        };
        kind.map(|kind| Field::new(f.physical_name(mode), kind, true))
    });
    fields.collect()
}

fn text_map() -> Arrow {
    let entries = vec![Field::new("key", Arrow::Utf8, false), Field::new("value", Arrow::Utf8, true)];
    Arrow::Map(Arc::new(Field::new("key_value", Arrow::Struct(entries.into()), false)), false)
}

fn structure(fields: Vec<(&str, Arrow)>) -> Arrow {
    Arrow::Struct(fields.into_iter().map(|(name, kind)| Field::new(name, kind, true)).collect())
}

/// The Arrow schema of a checkpoint file.
pub(crate) fn checkpoint_schema(
    shape: &TableShape,
    spec: &CheckpointSpec,
    sidecar_file: bool,
) -> Arc<Schema> {
    use Arrow::{Boolean, Int32, Int64, Utf8};
    let texts = || Arrow::List(Arc::new(Field::new("element", Utf8, true)));
    let vector = || {
        structure(vec![
            ("storageType", Utf8),
            ("pathOrInlineDv", Utf8),
            ("offset", Int32),
            ("sizeInBytes", Int32),
            ("cardinality", Int64),
        ])
    };
    let mut add = vec![
        ("path", Utf8),
        ("partitionValues", text_map()),
        ("size", Int64),
        ("modificationTime", Int64),
        ("dataChange", Boolean),
        ("tags", text_map()),
        ("deletionVector", vector()),
        ("baseRowId", Int64),
        ("defaultRowCommitVersion", Int64),
        ("clusteringProvider", Utf8),
    ];
    if spec.json_stats {
        add.push(("stats", Utf8));
    }
    if spec.struct_stats {
        add.push(("stats_parsed", shape.stats_type()));
    }
    if spec.struct_partitions && !shape.partition_columns.is_empty() {
        add.push(("partitionValues_parsed", Arrow::Struct(shape.partition_fields())));
    }
    let remove = vec![
        ("path", Utf8),
        ("deletionTimestamp", Int64),
        ("dataChange", Boolean),
        ("extendedFileMetadata", Boolean),
        ("partitionValues", text_map()),
        ("size", Int64),
        ("deletionVector", vector()),
        ("baseRowId", Int64),
        ("defaultRowCommitVersion", Int64),
    ];
    let mut fields =
        vec![Field::new("add", structure(add), true), Field::new("remove", structure(remove), true)];
    if !sidecar_file {
        let format = structure(vec![("provider", Utf8), ("options", text_map())]);
        let others = [
            ("txn", vec![("appId", Utf8), ("version", Int64), ("lastUpdated", Int64)]),
            (
                "metaData",
                vec![
                    ("id", Utf8),
                    ("name", Utf8),
                    ("description", Utf8),
                    ("format", format),
                    ("schemaString", Utf8),
                    ("partitionColumns", texts()),
                    ("configuration", text_map()),
                    ("createdTime", Int64),
                ],
            ),
            (
                "protocol",
                vec![
                    ("minReaderVersion", Int32),
                    ("minWriterVersion", Int32),
                    ("readerFeatures", texts()),
                    ("writerFeatures", texts()),
                ],
            ),
            ("domainMetadata", vec![("domain", Utf8), ("configuration", Utf8), ("removed", Boolean)]),
        ];
        fields.extend(others.map(|(name, inner)| Field::new(name, structure(inner), true)));
        if matches!(spec.form, CheckpointForm::V2Parquet(_) | CheckpointForm::V2Classic(_)) {
            let head = vec![("version", Int64), ("tags", text_map())];
            let link = vec![
                ("path", Utf8),
                ("sizeInBytes", Int64),
                ("modificationTime", Int64),
                ("tags", text_map()),
            ];
            fields.push(Field::new("checkpointMetadata", structure(head), true));
            fields.push(Field::new("sidecar", structure(link), true));
        }
    }
    Arc::new(Schema::new(fields))
}

/// An action as a row of a checkpoint: tombstones and adds never change data, and parsed columns are added.
pub(crate) fn checkpoint_row(action: &Value, shape: &TableShape, spec: &CheckpointSpec) -> Value {
    let mut row = action.clone();
    if let Some(body) = row.get_mut("remove").and_then(Value::as_object_mut) {
        body.insert("dataChange".into(), false.into());
    }
    if let Some(body) = row.get_mut("add").and_then(Value::as_object_mut) {
        body.insert("dataChange".into(), false.into());
        if spec.struct_partitions {
            let values = body.get("partitionValues").cloned().unwrap_or_default();
            body.insert("partitionValues_parsed".into(), shape.parsed_partitions(&values));
        }
        let stats = body.get("stats").and_then(Value::as_str).and_then(|s| serde_json::from_str(s).ok());
        if let (true, Some(stats)) = (spec.struct_stats, stats) {
            body.insert("stats_parsed".into(), stats);
        }
        if !spec.json_stats {
            body.remove("stats");
        }
    }
    row
}

/// A Parquet file of actions, written in row groups as they come.
pub(crate) struct ActionWriter {
    schema: Arc<Schema>,
    writer: ArrowWriter<File>,
}

impl ActionWriter {
    pub(crate) fn create(path: &Path, schema: Arc<Schema>, row_group: usize) -> Self {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(row_group))
            .build();
        let file = File::create(path).unwrap_or_else(|e| panic!("create {}: {e}", path.display()));
        let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties)).expect("a Parquet writer");
        ActionWriter { schema, writer }
    }

    pub(crate) fn write(&mut self, rows: &[Value]) {
        let mut decoder = arrow_json::ReaderBuilder::new(self.schema.clone())
            .with_batch_size(rows.len().max(1))
            .build_decoder()
            .expect("a decoder");
        decoder.serialize(rows).expect("actions that fit the checkpoint schema");
        if let Some(batch) = decoder.flush().expect("actions that fit the checkpoint schema") {
            self.writer.write(&batch).expect("write Parquet");
        }
    }

    pub(crate) fn close(self) {
        self.writer.close().expect("close Parquet");
    }
}
