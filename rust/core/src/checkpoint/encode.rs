//! Columns to the Parquet files of a checkpoint.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, new_null_array};
use arrow::datatypes::{DataType, FieldRef, Fields, Schema, SchemaRef};
use arrow_json::ReaderBuilder;
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriterOptions, compute_leaves,
};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;

use crate::actions::Action;
use crate::error::{Error, Result};
use crate::parquet::calendar_note;

/// Rows of a row group: small enough that a reader who wants few rows skips most of them.
pub(super) const ROW_GROUP_ROWS: usize = 16 * 1024;
/// Rows of a page, the unit of the page index.
const PAGE_ROWS: usize = 2 * 1024;
/// Characters of a statistic that are kept.
const STATISTICS_LENGTH: usize = 64;

/// One Parquet file of actions in the making. Bytes can be taken before it is finished.
pub(super) struct Encoder {
    writer: SerializedFileWriter<Vec<u8>>,
    columns: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    name: String,
    pub(super) rows: u64,
}

/// A row group that is encoded, and not in its file yet.
pub(super) struct Group {
    chunks: Vec<ArrowColumnChunk>,
    rows: usize,
}

impl Encoder {
    /// A file of these columns; `name` is for errors.
    pub(super) fn new(schema: SchemaRef, compression: Compression, name: String) -> Result<Self> {
        let options = ArrowWriterOptions::new()
            .with_properties(properties(&schema, compression))
            .with_skip_arrow_metadata(true)
            .with_schema_root("spark_schema".to_owned());
        let (writer, columns) = ArrowWriter::try_new_with_options(Vec::new(), schema.clone(), options)
            .and_then(ArrowWriter::into_serialized_writer)
            .map_err(|e| failed(&name, e))?;
        Ok(Encoder { writer, columns, schema, name, rows: 0 })
    }

    /// Encodes rows of one action, given as its column, as one row group. Several can be encoded at once.
    pub(super) fn group(&self, action: &str, column: &ArrayRef) -> Result<Group> {
        let columns = self.columns_of(column.len(), &[(action, column.clone())]);
        let batch = RecordBatch::try_new(self.schema.clone(), columns)
            .map_err(|e| Error::arrow(format!("writing `{}`", self.name), e))?;
        self.encoded(&batch).map_err(|e| failed(&self.name, e))
    }

    /// Writes a row group.
    pub(super) fn append(&mut self, group: Group) -> Result<()> {
        self.rows += group.rows as u64;
        let append = || {
            let mut writer = self.writer.next_row_group()?;
            for chunk in group.chunks {
                chunk.append_to_row_group(&mut writer)?;
            }
            writer.close()?;
            Ok(())
        };
        append().map_err(|e| failed(&self.name, e))
    }

    /// Writes rows of one action, given as its column, in row groups of their own.
    pub(super) fn write(&mut self, action: &str, column: &ArrayRef) -> Result<()> {
        for start in (0..column.len()).step_by(ROW_GROUP_ROWS) {
            let part = column.slice(start, ROW_GROUP_ROWS.min(column.len() - start));
            self.append(self.group(action, &part)?)?;
        }
        Ok(())
    }

    /// Writes actions that are no files, in one row group.
    pub(super) fn write_actions(&mut self, actions: &[Action]) -> Result<()> {
        let to_columns = |e| Error::arrow(format!("writing `{}`", self.name), e);
        let fields = self.schema.fields().iter().filter(|f| f.name() != "add" && f.name() != "remove");
        let schema = Arc::new(Schema::new(fields.cloned().collect::<Fields>()));
        let mut decoder = ReaderBuilder::new(schema)
            .with_batch_size(actions.len().max(1))
            .build_decoder()
            .map_err(to_columns)?;
        decoder.serialize(actions).map_err(to_columns)?;
        let Some(batch) = decoder.flush().map_err(to_columns)? else { return Ok(()) };
        let given: Vec<(&str, ArrayRef)> = batch
            .schema_ref()
            .fields()
            .iter()
            .map(|f| f.name().as_str())
            .zip(batch.columns().iter().cloned())
            .collect();
        let whole = RecordBatch::try_new(self.schema.clone(), self.columns_of(batch.num_rows(), &given));
        let group = self.encoded(&whole.map_err(to_columns)?).map_err(|e| failed(&self.name, e))?;
        self.append(group)
    }

    fn encoded(&self, batch: &RecordBatch) -> Result<Group, ParquetError> {
        // the number of a row group is part of its encryption, of which there is none
        let mut writers = self.columns.create_column_writers(0)?;
        let mut next = writers.iter_mut();
        for (field, column) in self.schema.fields().iter().zip(batch.columns()) {
            for leaf in compute_leaves(field, column)? {
                if let Some(writer) = next.next() {
                    writer.write(&leaf)?;
                }
            }
        }
        let chunks = writers.into_iter().map(ArrowColumnWriter::close).collect::<Result<_, _>>()?;
        Ok(Group { chunks, rows: batch.num_rows() })
    }

    fn columns_of(&self, rows: usize, given: &[(&str, ArrayRef)]) -> Vec<ArrayRef> {
        let column = |field: &FieldRef| {
            let found = given.iter().find(|(name, _)| name == field.name());
            found.map_or_else(|| new_null_array(field.data_type(), rows), |(_, array)| array.clone())
        };
        self.schema.fields().iter().map(column).collect()
    }

    /// Bytes that can be taken.
    pub(super) fn ready(&mut self) -> usize {
        self.writer.inner().len()
    }

    /// Takes the bytes that are written so far.
    pub(super) fn take(&mut self) -> Bytes {
        std::mem::take(self.writer.inner_mut()).into()
    }

    /// The rest of the bytes.
    pub(super) fn finish(self) -> Result<Bytes> {
        self.writer.into_inner().map(Bytes::from).map_err(|e| failed(&self.name, e))
    }
}

/// What each leaf needs: the parsed leaves an index of their pages, texts that are all different no dictionary, and the
/// statistics in JSON no minimum and maximum.
fn properties(schema: &SchemaRef, compression: Compression) -> WriterProperties {
    let mut builder = WriterProperties::builder()
        .set_compression(compression)
        .set_created_by(concat!("deltaic ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(calendar_note()))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_statistics_truncate_length(Some(STATISTICS_LENGTH))
        .set_column_index_truncate_length(Some(STATISTICS_LENGTH))
        .set_statistics_enabled(EnabledStatistics::Chunk);
    let mut leaves = Vec::new();
    for field in schema.fields() {
        collect(field, &mut Vec::new(), &mut leaves);
    }
    for path in leaves {
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        let column = ColumnPath::new(path.clone());
        match parts.as_slice() {
            // nearly every value is another one
            ["add", "stats_parsed", "numRecords"]
            | ["add", "stats_parsed", "minValues" | "maxValues", ..] => {
                builder = builder
                    .set_column_dictionary_enabled(column.clone(), false)
                    .set_column_statistics_enabled(column, EnabledStatistics::Page);
            }
            ["add", "partitionValues_parsed" | "stats_parsed", ..] => {
                builder = builder.set_column_statistics_enabled(column, EnabledStatistics::Page);
            }
            ["add" | "remove", "path" | "size" | "modificationTime"] => {
                builder = builder.set_column_dictionary_enabled(column, false);
            }
            ["add", "stats"] => {
                builder = builder
                    .set_column_dictionary_enabled(column.clone(), false)
                    .set_column_statistics_enabled(column, EnabledStatistics::None);
            }
            _ => {}
        }
    }
    builder.build()
}

fn collect(field: &FieldRef, above: &mut Vec<String>, leaves: &mut Vec<Vec<String>>) {
    above.push(field.name().clone());
    match field.data_type() {
        DataType::Struct(fields) => fields.iter().for_each(|f| collect(f, above, leaves)),
        _ => leaves.push(above.clone()),
    }
    above.pop();
}

fn failed(name: &str, error: ParquetError) -> Error {
    Error::storage("encode", name, error)
}
