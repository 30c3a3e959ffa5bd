//! The rows of one Parquet file as its decoder gives them: as many as its footer and the selections say, or an error.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::Schema;
use parquet::DecodeResult;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader};
use parquet::arrow::push_decoder::{ParquetPushDecoder, ParquetPushDecoderBuilder, RowGroupSelection};
use parquet::file::metadata::ParquetMetaData;

use super::project::Projection;
use super::selection::selected;
use crate::error::Result;
use crate::parquet::{DataFile, guarded};

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
    /// Rows that must still come.
    left: u64,
}

impl Rows {
    /// Decodes columns of the rows that are selected.
    ///
    /// # Errors
    /// [`crate::Error::DataFile`] for columns that cannot be decoded.
    pub(super) fn decode(
        file: &DataFile,
        metadata: Arc<ParquetMetaData>,
        projection: &Projection,
        selections: Vec<RowGroupSelection>,
        batch_size: usize,
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
        Ok(Rows::Decoded(Box::new(Decoded { decoder, reader: None, left })))
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
            self.reader = None;
            match guarded(|| self.decoder.try_next_reader()).map_err(|e| file.error(e))? {
                DecodeResult::Data(next) => self.reader = Some(next),
                DecodeResult::NeedsData(ranges) => {
                    let bytes = file.ranges(&ranges)?;
                    file.check_pages(&bytes)?;
                    self.decoder.push_ranges(ranges, bytes).map_err(|e| file.error(e))?;
                }
                DecodeResult::Finished if self.left > 0 => {
                    let reason = format!("{} rows are missing that its footer counts", self.left);
                    return Err(file.error(reason));
                }
                DecodeResult::Finished => return Ok(None),
            }
        }
    }
}
