//! The rows of one Parquet file as its decoder gives them: as many as its footer and the selections say, or an error.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::Schema;
use bytes::Bytes;
use parquet::DecodeResult;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader};
use parquet::arrow::push_decoder::{ParquetPushDecoder, ParquetPushDecoderBuilder, RowGroupSelection};
use parquet::file::metadata::ParquetMetaData;

use super::project::Projection;
use super::selection::selected;
use crate::error::Result;
use crate::parquet::{DataFile, RangesAhead, guarded};

/// What produces the rows of a file.
#[derive(Debug)]
pub(super) enum Rows {
    /// No column of the file is needed: the number of rows that are left.
    Counted(u64),
    /// Some columns of some rows.
    Decoded(Box<Decoded>),
    /// Nothing more.
    Done,
}

/// A decoder at work.
#[derive(Debug)]
pub(super) struct Decoded {
    decoder: ParquetPushDecoder,
    reader: Option<ParquetRecordBatchReader>,
    /// Whether the next row group is fetched while one is decoded.
    ahead: bool,
    next: Option<Next>,
    /// Rows that must still come.
    left: u64,
}

/// The next row group.
#[derive(Debug)]
enum Next {
    Fetched(RangesAhead),
    Reader(ParquetRecordBatchReader),
}

impl Rows {
    /// Decodes columns of the rows that are selected, in batches of so many rows, and fetches the next row group ahead where
    /// that is asked for.
    ///
    /// # Errors
    /// [`crate::Error::DataFile`] for columns that cannot be decoded.
    pub(super) fn decode(
        file: &DataFile,
        metadata: Arc<ParquetMetaData>,
        projection: &Projection,
        selections: Vec<RowGroupSelection>,
        (batch_size, ahead): (usize, bool),
    ) -> Result<Self> {
        if selections.is_empty() {
            return Ok(Rows::Done);
        }
        let left = selected(&metadata, &selections);
        // the Arrow types of the writer are no matter: the table's schema says what the columns are
        let mut options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        if let Some(supplied) = &projection.supplied {
            options = options.with_schema(supplied.clone());
        }
        let reader =
            guarded(|| ArrowReaderMetadata::try_new(metadata, options)).map_err(|e| file.error(e))?;
        let decoder = ParquetPushDecoderBuilder::new_with_metadata(reader)
            .with_projection(projection.mask.clone())
            .with_batch_size(batch_size)
            .with_row_group_selections(selections)
            .build()
            .map_err(|e| file.error(e))?;
        Ok(Rows::Decoded(Box::new(Decoded { decoder, reader: None, ahead, next: None, left })))
    }

    /// The next batch; `None` after the last one.
    ///
    /// # Errors
    /// [`crate::Error::DataFile`] for what cannot be decoded, and if there are fewer rows than the footer states.
    pub(super) fn next(&mut self, file: &DataFile, batch_size: usize) -> Result<Option<RecordBatch>> {
        let next = match self {
            Rows::Done | Rows::Counted(0) => None,
            Rows::Counted(left) => {
                let rows = (*left).min(batch_size as u64);
                *left -= rows;
                let options = RecordBatchOptions::new().with_row_count(usize::try_from(rows).ok());
                let batch =
                    RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options);
                Some(batch.map_err(|e| file.error(e))?)
            }
            Rows::Decoded(decoded) => decoded.next(file)?,
        };
        if next.is_none() {
            *self = Rows::Done;
        }
        Ok(next)
    }
}

impl Decoded {
    fn next(&mut self, file: &DataFile) -> Result<Option<RecordBatch>> {
        loop {
            let next = self.reader.as_mut().map(|r| guarded(|| r.next().transpose())).transpose();
            if let Some(batch) = next.map_err(|e| file.error(e))?.flatten() {
                self.left = self.left.saturating_sub(batch.num_rows() as u64);
                return Ok(Some(batch));
            }
            self.reader = match self.next.take() {
                Some(Next::Reader(reader)) => Some(reader),
                Some(Next::Fetched(ranges)) => {
                    let (ranges, bytes) = ranges.wait()?;
                    self.push(file, ranges, bytes)?;
                    None
                }
                None => None,
            };
            if self.reader.is_some() {
                self.look_ahead(file)?;
                continue;
            }
            match guarded(|| self.decoder.try_next_reader()).map_err(|e| file.error(e))? {
                DecodeResult::Data(next) => {
                    self.reader = Some(next);
                    self.look_ahead(file)?;
                }
                DecodeResult::NeedsData(ranges) => {
                    let bytes = file.ranges(&ranges)?;
                    self.push(file, ranges, bytes)?;
                }
                DecodeResult::Finished if self.left > 0 => {
                    let reason = format!("{} rows are missing that its footer counts", self.left);
                    return Err(file.error(reason));
                }
                DecodeResult::Finished => return Ok(None),
            }
        }
    }

    fn push(&mut self, file: &DataFile, ranges: Vec<Range<u64>>, bytes: Vec<Bytes>) -> Result<()> {
        file.check_pages(&bytes)?;
        self.decoder.push_ranges(ranges, bytes).map_err(|e| file.error(e))
    }

    /// Begins to fetch the row group after the one that is decoded now.
    fn look_ahead(&mut self, file: &DataFile) -> Result<()> {
        if !self.ahead {
            return Ok(());
        }
        self.next = match guarded(|| self.decoder.try_next_reader()).map_err(|e| file.error(e))? {
            DecodeResult::Data(reader) => Some(Next::Reader(reader)),
            DecodeResult::NeedsData(ranges) => file.ranges_ahead(ranges).map(Next::Fetched),
            DecodeResult::Finished => None,
        };
        Ok(())
    }
}
