//! One Parquet file of a checkpoint: its footer, and columns of its row groups.

use std::sync::{Arc, OnceLock};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StructArray};
use arrow::datatypes::{DataType, Field, SchemaRef};
use arrow::error::ArrowError;
use parquet::DecodeResult;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, RowSelection};
use parquet::arrow::push_decoder::{ParquetPushDecoder, ParquetPushDecoderBuilder};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::decoded_schema::{with_codes, with_views};
use crate::actions::{ObjectPath, Sidecar};
use crate::error::{Error, Result};
use crate::parquet::{Calendar, DataFile, guarded};
use crate::store::Location;

/// Rows of a decoded batch.
const BATCH_ROWS: usize = 65_536;

/// One Parquet file of a checkpoint.
#[derive(Debug)]
pub(crate) struct CheckpointFile {
    /// The action that links the file, where it is a sidecar.
    pub(crate) sidecar: Option<Sidecar>,
    pub(super) file: DataFile,
    pub(super) version: u64,
    /// Of dates and instants in parsed columns.
    calendar: Calendar,
    reader: ArrowReaderMetadata,
    /// For [`CheckpointFile::start_coded`], once it was asked for.
    coded: OnceLock<ArrowReaderMetadata>,
}

/// A row group that is being decoded.
pub(super) struct Decoding {
    decoder: ParquetPushDecoder,
    row_group: usize,
}

impl CheckpointFile {
    pub(super) fn open(location: &Location, path: ObjectPath, size: i64, version: u64) -> Result<Self> {
        let name = path.to_string();
        let broken = |reason: String| Error::corrupt(&name, Some(version), reason);
        // an error of the store is not a fact about the content: the next try may read it
        let unreadable = |error: Error| match error {
            Error::Storage { .. } | Error::OutsideTable { .. } => error,
            Error::DataFile { reason, .. } => broken(reason),
            other => broken(other.to_string()),
        };
        let file = DataFile::open(location, path, size).map_err(unreadable)?;
        let metadata = file.metadata(true).map_err(unreadable)?;
        let rows = metadata.row_groups().iter().try_fold(0_i64, |sum, g| sum.checked_add(g.num_rows()));
        if rows != Some(metadata.file_metadata().num_rows()) {
            return Err(broken("its footer is damaged: its row groups have other rows than the file".into()));
        }
        let options = || ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let plain = guarded(|| ArrowReaderMetadata::try_new(metadata.clone(), options())).map_err(broken)?;
        let options = options().with_schema(with_views(plain.schema()));
        let calendar = Calendar::of(metadata.file_metadata());
        let reader = guarded(|| ArrowReaderMetadata::try_new(metadata, options)).map_err(broken)?;
        Ok(CheckpointFile { sidecar: None, file, version, calendar, reader, coded: OnceLock::new() })
    }

    /// Whether dates and instants mean what they are, also in the bounds of row groups and pages. In a file of Spark's legacy
    /// mode they mean others before 1900.
    pub(super) fn is_in_todays_calendar(&self) -> bool {
        !self.calendar.is_hybrid()
    }

    pub(crate) fn metadata(&self) -> &ParquetMetaData {
        self.reader.metadata()
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        self.reader.schema()
    }

    /// The field of a top-level action column, by path; `None` where the file has none.
    pub(crate) fn field(&self, path: &[&str]) -> Option<&Field> {
        let (first, rest) = path.split_first()?;
        let mut field = self.reader.schema().field_with_name(first).ok()?;
        for name in rest {
            let DataType::Struct(children) = field.data_type() else { return None };
            field = children.iter().find(|f| f.name() == name)?;
        }
        Some(field)
    }

    /// Whether a row group holds an action, by the null count of a leaf that is never null in it.
    pub(crate) fn may_hold(&self, row_group: usize, action: &str, leaf: &str) -> bool {
        let group = self.metadata().row_group(row_group);
        let column = group.columns().iter().find(|c| {
            let parts = c.column_path().parts();
            matches!(parts, [a, b] if a == action && b == leaf)
        });
        let Some(column) = column else { return false };
        let nulls = column.statistics().and_then(|s| s.null_count_opt());
        nulls.is_none_or(|n| n < column.num_values().max(0) as u64)
    }

    /// Decodes columns of one row group, named by path (all leaves below it).
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] when a page is damaged, [`Error::Storage`] when it cannot be read.
    pub(crate) fn decode(&self, row_group: usize, columns: &[Vec<&str>]) -> Result<Vec<RecordBatch>> {
        let mut decoding = self.start(row_group, columns, None, BATCH_ROWS)?;
        let mut out = Vec::new();
        while let Some(batch) = self.next(&mut decoding)? {
            out.push(batch);
        }
        Ok(out)
    }

    /// Begins to decode columns of one row group, in batches of so many rows; with a selection only the rows in it. What a
    /// small batch is done with is freed, and the next one finds the memory in the cache.
    ///
    /// # Errors
    /// As [`CheckpointFile::decode`].
    pub(super) fn start(
        &self,
        row_group: usize,
        columns: &[Vec<&str>],
        selection: Option<RowSelection>,
        rows: usize,
    ) -> Result<Decoding> {
        self.start_with((&self.reader, row_group), row_group, columns, selection, rows)
    }

    /// As [`CheckpointFile::start`] of all rows, with the texts of `add.partitionValues` as dictionaries, as most files have
    /// them: each distinct one is there once in a batch.
    ///
    /// # Errors
    /// As [`CheckpointFile::decode`].
    pub(super) fn start_coded(
        &self,
        row_group: usize,
        columns: &[Vec<&str>],
        rows: usize,
    ) -> Result<Decoding> {
        let coded = self.coded.get_or_init(|| {
            let schema = with_codes(self.reader.schema());
            let options = ArrowReaderOptions::new().with_schema(schema);
            let coded = guarded(|| ArrowReaderMetadata::try_new(self.reader.metadata().clone(), options));
            // a file of another kind is read as it is
            coded.unwrap_or_else(|_| self.reader.clone())
        });
        self.start_with((coded, row_group), row_group, columns, None, rows)
    }

    /// As [`CheckpointFile::start`], by a reader of the file that may have the row group under another number.
    ///
    /// # Errors
    /// As [`CheckpointFile::decode`].
    pub(super) fn start_with(
        &self,
        (reader, number): (&ArrowReaderMetadata, usize),
        row_group: usize,
        columns: &[Vec<&str>],
        selection: Option<RowSelection>,
        rows: usize,
    ) -> Result<Decoding> {
        let schema = reader.parquet_schema();
        let leaves = schema.columns().iter().enumerate().filter(|(_, leaf)| {
            let parts = leaf.path().parts();
            columns.iter().any(|c| c.len() <= parts.len() && c.iter().zip(parts).all(|(a, b)| a == b))
        });
        let mask = ProjectionMask::leaves(schema, leaves.map(|(index, _)| index));
        let mut builder = ParquetPushDecoderBuilder::new_with_metadata(reader.clone())
            .with_projection(mask)
            .with_row_groups(vec![number])
            .with_batch_size(rows);
        if let Some(selection) = selection {
            builder = builder.with_row_selection(selection);
        }
        let decoder = guarded(|| builder.build()).map_err(|e| self.broken(row_group, &e))?;
        Ok(Decoding { decoder, row_group })
    }

    /// The next batch; none at the end.
    ///
    /// # Errors
    /// As [`CheckpointFile::decode`]. What failed must not be asked again.
    pub(super) fn next(&self, decoding: &mut Decoding) -> Result<Option<RecordBatch>> {
        let Decoding { decoder, row_group } = decoding;
        let broken = |e: String| self.broken(*row_group, &e);
        loop {
            match guarded(|| decoder.try_decode()).map_err(broken)? {
                DecodeResult::Data(batch) if self.is_in_todays_calendar() => return Ok(Some(batch)),
                DecodeResult::Data(batch) => {
                    return self.moved(&batch).map(Some).map_err(|e| broken(e.to_string()));
                }
                DecodeResult::NeedsData(ranges) => {
                    let unfit = |e| match e {
                        Error::DataFile { reason, .. } => {
                            Error::corrupt(self.file.path(), Some(self.version), reason)
                        }
                        other => other,
                    };
                    let bytes = self.file.ranges(&ranges).map_err(unfit)?;
                    self.file.check_pages(&bytes).map_err(unfit)?;
                    guarded(|| decoder.push_ranges(ranges, bytes)).map_err(broken)?;
                }
                DecodeResult::Finished => return Ok(None),
            }
        }
    }

    /// Rows with `add.stats_parsed` in today's calendar.
    fn moved(&self, rows: &RecordBatch) -> std::result::Result<RecordBatch, ArrowError> {
        let moved = |field: &Field, column: &ArrayRef| match column.as_struct_opt() {
            Some(add) if field.name() == "add" => {
                let of_add = add.fields().iter().zip(add.columns()).map(|(field, column)| {
                    if field.name() == "stats_parsed" {
                        self.calendar.moved(column)
                    } else {
                        Ok(column.clone())
                    }
                });
                let columns = of_add.collect::<std::result::Result<_, _>>()?;
                let add = StructArray::try_new(add.fields().clone(), columns, add.nulls().cloned())?;
                Ok(Arc::new(add) as ArrayRef)
            }
            _ => Ok(column.clone()),
        };
        let columns =
            rows.schema_ref().fields().iter().zip(rows.columns()).map(|(f, column)| moved(f, column));
        RecordBatch::try_new(rows.schema(), columns.collect::<std::result::Result<_, ArrowError>>()?)
    }

    fn broken(&self, row_group: usize, reason: &str) -> Error {
        Error::corrupt(self.file.path(), Some(self.version), format!("row group {row_group}: {reason}"))
    }

    /// How many actions of a kind the file holds, by the null counts of a leaf that is never null in it; `None` if the
    /// file does not record it.
    pub(crate) fn count(&self, action: &str, leaf: &str) -> Option<u64> {
        self.count_at(&[action, leaf])
    }

    /// [`CheckpointFile::count`] of a leaf at any depth.
    pub(crate) fn count_at(&self, path: &[&str]) -> Option<u64> {
        if self.field(path).is_none() {
            return Some(0);
        }
        let in_group = |group: &RowGroupMetaData| {
            let column = group.columns().iter().find(|c| c.column_path().parts() == path)?;
            let nulls = column.statistics()?.null_count_opt()?;
            Some(column.num_values().unsigned_abs().saturating_sub(nulls))
        };
        self.metadata().row_groups().iter().map(in_group).sum()
    }
}
