use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanBuilder, Int32Builder, Int64Builder, MapBuilder, MapFieldNames, RecordBatch,
    StringBuilder, StringViewBuilder, StructBuilder,
};
use arrow::datatypes::Field;

use super::columns::{FileBatch, VECTOR, file_columns, schema_of};
use super::line::{AddLine, StringPairs};
use crate::error::{Error, Result};

/// Columns of `add`s that come from JSON, with every column. The statistics stay the raw JSON string of the line, with
/// its quotes and escapes, until somebody asks for them.
pub(crate) struct AddColumns {
    path: StringViewBuilder,
    partition_values: MapBuilder<StringBuilder, StringBuilder>,
    size: Int64Builder,
    modification_time: Int64Builder,
    vectors: StructBuilder,
    stats: StringViewBuilder,
    data_change: BooleanBuilder,
    tags: MapBuilder<StringBuilder, StringBuilder>,
    base_row_id: Int64Builder,
    default_row_commit_version: Int64Builder,
    clustering_provider: StringBuilder,
    len: usize,
}

fn string_map() -> MapBuilder<StringBuilder, StringBuilder> {
    let names = MapFieldNames { entry: "key_value".into(), key: "key".into(), value: "value".into() };
    MapBuilder::new(Some(names), StringBuilder::new(), StringBuilder::new())
        .with_keys_field(Field::new("key", arrow::datatypes::DataType::Utf8, false))
        .with_values_field(Field::new("value", arrow::datatypes::DataType::Utf8, true))
}

fn append_map(
    map: &mut MapBuilder<StringBuilder, StringBuilder>,
    pairs: Option<&StringPairs<'_>>,
) -> Result<()> {
    for (key, value) in pairs.iter().flat_map(|p| &p.0) {
        map.keys().append_value(key);
        map.values().append_option(value.as_deref());
    }
    map.append(pairs.is_some()).map_err(|e| Error::arrow("building a map of an `add`", e))
}

impl AddColumns {
    pub(crate) fn new() -> Self {
        AddColumns {
            path: StringViewBuilder::new(),
            partition_values: string_map(),
            size: Int64Builder::new(),
            modification_time: Int64Builder::new(),
            vectors: StructBuilder::new(
                VECTOR.clone(),
                vec![
                    Box::new(StringBuilder::new()),
                    Box::new(StringBuilder::new()),
                    Box::new(Int32Builder::new()),
                    Box::new(Int32Builder::new()),
                    Box::new(Int64Builder::new()),
                ],
            ),
            stats: StringViewBuilder::new(),
            data_change: BooleanBuilder::new(),
            tags: string_map(),
            base_row_id: Int64Builder::new(),
            default_row_commit_version: Int64Builder::new(),
            clustering_provider: StringBuilder::new(),
            len: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn push(&mut self, add: &AddLine<'_>) -> Result<()> {
        self.path.append_value(&add.path);
        let none = StringPairs::default();
        append_map(&mut self.partition_values, add.partition_values.as_ref().or(Some(&none)))?;
        self.size.append_value(add.size);
        self.modification_time.append_value(add.modification_time);
        self.push_vector(add);
        self.stats.append_option(add.stats.map(|s| s.get()));
        self.data_change.append_value(add.data_change);
        append_map(&mut self.tags, add.tags.as_ref())?;
        self.base_row_id.append_option(add.base_row_id);
        self.default_row_commit_version.append_option(add.default_row_commit_version);
        self.clustering_provider.append_option(add.clustering_provider.as_deref());
        self.len += 1;
        Ok(())
    }

    fn push_vector(&mut self, add: &AddLine<'_>) {
        let vector = add.deletion_vector.as_ref();
        let builders = &mut self.vectors;
        if let Some(b) = builders.field_builder::<StringBuilder>(0) {
            b.append_value(vector.map_or("", |v| v.storage_type.code()));
        }
        if let Some(b) = builders.field_builder::<StringBuilder>(1) {
            b.append_value(vector.map_or("", |v| v.path_or_inline_dv.as_str()));
        }
        if let Some(b) = builders.field_builder::<Int32Builder>(2) {
            b.append_option(vector.and_then(|v| v.offset));
        }
        if let Some(b) = builders.field_builder::<Int32Builder>(3) {
            b.append_value(vector.map_or(0, |v| v.size_in_bytes));
        }
        if let Some(b) = builders.field_builder::<Int64Builder>(4) {
            b.append_value(vector.map_or(0, |v| v.cardinality));
        }
        builders.append(vector.is_some());
    }

    /// A batch with all columns; the statistics are raw.
    pub(crate) fn finish(mut self) -> Result<FileBatch> {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.path.finish()),
            Arc::new(self.partition_values.finish()),
            Arc::new(self.size.finish()),
            Arc::new(self.modification_time.finish()),
            Arc::new(self.vectors.finish()),
            Arc::new(self.stats.finish()),
            Arc::new(self.data_change.finish()),
            Arc::new(self.tags.finish()),
            Arc::new(self.base_row_id.finish()),
            Arc::new(self.default_row_commit_version.finish()),
            Arc::new(self.clustering_provider.finish()),
        ];
        RecordBatch::try_new(schema_of(&file_columns(true, true)), columns)
            .map(FileBatch::new)
            .map_err(|e| Error::arrow("building the files of commits", e))
    }
}
