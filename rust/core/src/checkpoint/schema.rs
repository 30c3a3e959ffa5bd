//! The columns of a checkpoint, in the order, with the names and the nullability that delta-spark writes
//! (PROTOCOL.md, "Checkpoint Schema").

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};

use crate::actions::Metadata;
use crate::error::Result;
use crate::log::LogSettings;
use crate::schema::{ColumnMappingMode, StructType, arrow_type};
use crate::stats::{StatsColumns, StatsNode, has_bounds};

/// The fields of the `add` of a checkpoint besides those that every table has.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// `stats`, as JSON text.
    pub(super) json: bool,
    /// Fields of `stats_parsed`; none where it is not written.
    pub(super) stats: Fields,
    /// Partition columns by physical name, with the type in the table.
    pub(super) partitions: Vec<(String, crate::schema::DataType)>,
    /// Whether `partitionValues_parsed` is written.
    pub(super) parsed_partitions: bool,
    /// Clustering columns by physical path.
    pub(super) clustering: Vec<Vec<String>>,
}

impl Layout {
    /// The layout that the properties of a table ask for.
    ///
    /// # Errors
    /// [`crate::Error::InvalidArgument`] when a property of the statistics cannot be read.
    pub(super) fn of(
        settings: &LogSettings,
        metadata: &Metadata,
        schema: &StructType,
        mode: ColumnMappingMode,
        deletion_vectors: bool,
        clustering: Vec<Vec<String>>,
    ) -> Result<Self> {
        let partitions = metadata.partition_columns.iter().filter_map(|c| schema.field(c));
        let partitions: Vec<_> =
            partitions.map(|f| (f.physical_name(mode).to_owned(), f.data_type.clone())).collect();
        let mut layout = Layout {
            json: settings.stats_as_json,
            stats: Fields::empty(),
            parsed_partitions: settings.stats_as_struct && !partitions.is_empty(),
            partitions,
            clustering,
        };
        if !settings.stats_as_struct {
            return Ok(layout);
        }
        let is_partition = |name: &str| metadata.partition_columns.iter().any(|c| c == name);
        let data =
            StructType { fields: schema.fields.iter().filter(|f| !is_partition(&f.name)).cloned().collect() };
        let columns = StatsColumns::of(&data, metadata, mode, deletion_vectors)?;
        layout.stats = stats_fields(&columns, deletion_vectors);
        Ok(layout)
    }

    pub(super) fn partition_fields(&self) -> Fields {
        self.partitions.iter().map(|(name, kind)| Field::new(name, arrow_type(kind), true)).collect()
    }

    /// The type of `add`.
    pub(super) fn add(&self) -> DataType {
        let mut fields = vec![
            field("path", DataType::Utf8View),
            field("partitionValues", string_map()),
            field("size", DataType::Int64),
            field("modificationTime", DataType::Int64),
            field("dataChange", DataType::Boolean),
            field("tags", string_map()),
            field("deletionVector", deletion_vector()),
            field("baseRowId", DataType::Int64),
            field("defaultRowCommitVersion", DataType::Int64),
            field("clusteringProvider", DataType::Utf8),
        ];
        if self.json {
            fields.push(field("stats", DataType::Utf8View));
        }
        if self.parsed_partitions {
            fields.push(field("partitionValues_parsed", DataType::Struct(self.partition_fields())));
        }
        if !self.stats.is_empty() {
            fields.push(field("stats_parsed", DataType::Struct(self.stats.clone())));
        }
        DataType::Struct(fields.into())
    }

    /// The columns of a V1 checkpoint.
    pub(super) fn v1(&self) -> SchemaRef {
        self.schema(&["txn", "add", "remove", "metaData", "protocol", "domainMetadata"])
    }

    /// The columns of a sidecar.
    pub(super) fn sidecar(&self) -> SchemaRef {
        self.schema(&["add", "remove"])
    }

    /// The columns of the top-level file of a V2 checkpoint. The file actions exist and are null, as delta-spark writes
    /// it: a reader finds every column that it knows.
    pub(super) fn v2(&self) -> SchemaRef {
        let names = [
            "txn",
            "add",
            "remove",
            "metaData",
            "protocol",
            "checkpointMetadata",
            "sidecar",
            "domainMetadata",
        ];
        self.schema(&names)
    }

    fn schema(&self, names: &[&str]) -> SchemaRef {
        let typed = |name: &&str| field(name, if *name == "add" { self.add() } else { action(name) });
        Arc::new(Schema::new(names.iter().map(typed).collect::<Vec<_>>()))
    }
}

fn field(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, true)
}

pub(super) fn string_map() -> DataType {
    crate::replay::STRING_MAP.clone()
}

fn deletion_vector() -> DataType {
    // every field may be null in a checkpoint of delta-spark
    DataType::Struct(crate::replay::VECTOR.iter().map(|f| f.as_ref().clone().with_nullable(true)).collect())
}

/// The type of an action other than `add`. Tombstones have neither `stats` nor `tags`.
pub(super) fn action(name: &str) -> DataType {
    use DataType::{Boolean, Int32, Int64, Utf8};
    let texts = || DataType::List(Arc::new(Field::new("element", Utf8, true)));
    let structure = |fields: Vec<(&str, DataType)>| {
        DataType::Struct(fields.into_iter().map(|(name, kind)| field(name, kind)).collect())
    };
    structure(match name {
        "txn" => vec![("appId", Utf8), ("version", Int64), ("lastUpdated", Int64)],
        "remove" => vec![
            ("path", Utf8),
            ("deletionTimestamp", Int64),
            ("dataChange", Boolean),
            ("extendedFileMetadata", Boolean),
            ("partitionValues", string_map()),
            ("size", Int64),
            ("deletionVector", deletion_vector()),
            ("baseRowId", Int64),
            ("defaultRowCommitVersion", Int64),
        ],
        "metaData" => vec![
            ("id", Utf8),
            ("name", Utf8),
            ("description", Utf8),
            ("format", structure(vec![("provider", Utf8), ("options", string_map())])),
            ("schemaString", Utf8),
            ("partitionColumns", texts()),
            ("configuration", string_map()),
            ("createdTime", Int64),
        ],
        "protocol" => vec![
            ("minReaderVersion", Int32),
            ("minWriterVersion", Int32),
            ("readerFeatures", texts()),
            ("writerFeatures", texts()),
        ],
        "checkpointMetadata" => vec![("version", Int64), ("tags", string_map())],
        "sidecar" => {
            vec![("path", Utf8), ("sizeInBytes", Int64), ("modificationTime", Int64), ("tags", string_map())]
        }
        _ => vec![("domain", Utf8), ("configuration", Utf8), ("removed", Boolean)],
    })
}

/// `stats_parsed`: bounds for the types that have them, null counts for every leaf.
fn stats_fields(columns: &StatsColumns, tight_bounds: bool) -> Fields {
    // the zone that the JSON decoder knows; Parquet keeps that it is UTC, and not its name
    let stats_type = |kind: &crate::schema::DataType| match arrow_type(kind) {
        DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(unit, Some("+00:00".into())),
        other => other,
    };
    fn of(nodes: &[StatsNode], leaf: &dyn Fn(&crate::schema::DataType) -> Option<DataType>) -> Fields {
        let kept = nodes.iter().filter_map(|node| match node {
            StatsNode::Struct { name, children, .. } => {
                let children = of(children, leaf);
                (!children.is_empty()).then(|| field(name, DataType::Struct(children)))
            }
            StatsNode::Leaf { name, data_type, .. } => leaf(data_type).map(|kind| field(name, kind)),
        });
        kept.collect()
    }
    let bounds = of(columns.nodes(), &|t| has_bounds(t).then(|| stats_type(t)));
    let nulls = of(columns.nodes(), &|_| Some(DataType::Int64));
    let mut out = vec![field("numRecords", DataType::Int64)];
    for (name, fields) in [("minValues", bounds.clone()), ("maxValues", bounds), ("nullCount", nulls)] {
        if !fields.is_empty() {
            out.push(field(name, DataType::Struct(fields)));
        }
    }
    if tight_bounds {
        out.push(field("tightBounds", DataType::Boolean));
    }
    out.into()
}
