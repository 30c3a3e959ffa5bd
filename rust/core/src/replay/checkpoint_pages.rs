//! The page index of a checkpoint file, for the row groups that a predicate leaves.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arrow::buffer::BooleanBuffer;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, RowSelection};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaDataBuilder;

use super::checkpoint_file::{CheckpointFile, Decoding};
use crate::error::{Error, Result};
use crate::parquet::guarded;
use crate::prune::Pruner;
use crate::sums::SaturatingSum;

/// The page index of the row groups of one file that are read, once the first of them is.
#[derive(Default)]
pub(super) struct FilePages {
    groups: Vec<usize>,
    read: OnceLock<Option<CheckpointPages>>,
    reading: Mutex<()>,
}

impl FilePages {
    /// Of these row groups, in their order.
    pub(super) fn of(groups: Vec<usize>) -> Self {
        FilePages { groups, ..FilePages::default() }
    }

    /// The page index; nothing where the row groups have fewer rows than `least`, and as [`CheckpointPages::of`].
    ///
    /// # Errors
    /// As [`CheckpointPages::of`].
    pub(super) fn get(
        &self,
        file: &CheckpointFile,
        pruner: &Pruner,
        least: usize,
    ) -> Result<Option<&CheckpointPages>> {
        // the other cores wait for the one that reads it
        let _one = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if self.read.get().is_none() {
            let rows = |group: &usize| file.metadata().row_group(*group).num_rows().unsigned_abs();
            let worth = self.groups.iter().map(rows).saturating_sum() >= least as u64;
            let found = if worth { CheckpointPages::of(file, &self.groups, pruner)? } else { None };
            // under the lock nobody was first
            let _ = self.read.set(found);
        }
        Ok(self.read.get().and_then(Option::as_ref))
    }
}

/// Row groups of a checkpoint file with their page index.
#[derive(Debug)]
pub(super) struct CheckpointPages {
    reader: ArrowReaderMetadata,
    /// The row groups of the file that the reader has, in their order.
    groups: Vec<usize>,
    /// Their rows in pages that may match; nothing where that is all.
    kept: Vec<Option<BooleanBuffer>>,
}

impl CheckpointPages {
    /// Of these row groups; nothing where the file has no page index of what the predicate looks at, or a damaged one.
    ///
    /// # Errors
    /// [`Error::Storage`] when the file cannot be read.
    ///
    /// # Cost
    /// One request, and the bytes of the page index.
    fn of(file: &CheckpointFile, groups: &[usize], pruner: &Pruner) -> Result<Option<Self>> {
        let metadata = file.metadata();
        let judged = pruner.judged_leaves(metadata);
        if judged.is_empty() {
            return Ok(None);
        }
        // what is not asked for is not copied
        let chosen = groups.iter().map(|group| metadata.row_group(*group).clone()).collect();
        let chosen = ParquetMetaDataBuilder::new(metadata.file_metadata().clone()).set_row_groups(chosen);
        let schema = metadata.file_metadata().schema_descr();
        let of_adds = schema
            .columns()
            .iter()
            .enumerate()
            .filter(|(_, leaf)| leaf.path().parts().first().is_some_and(|action| action == "add"));
        let read = ProjectionMask::leaves(schema, of_adds.map(|(index, _)| index));
        let numbers: Vec<usize> = (0..groups.len()).collect();
        let found = match file.file.page_index(Arc::new(chosen.build()), &numbers, &judged, &read) {
            Ok(found) => found,
            Err(error @ Error::Storage { .. }) => return Err(error),
            // the rows can be read without it
            Err(_) => return Ok(None),
        };
        if found.page_index().is_none() {
            return Ok(None);
        }
        let options =
            ArrowReaderOptions::new().with_skip_arrow_metadata(true).with_schema(file.schema().clone());
        let opened = guarded(|| {
            let reader = ArrowReaderMetadata::try_new(found, options)?;
            let kept = pruner.rows_of_pages(reader.metadata());
            Ok::<_, ParquetError>(CheckpointPages { reader, groups: groups.to_vec(), kept })
        });
        Ok(opened.ok())
    }

    /// The number that a row group of the file has in the reader.
    fn number(&self, group: usize) -> Option<usize> {
        self.groups.binary_search(&group).ok()
    }

    /// The rows of a row group of the file in pages that may match; nothing where that is all of them.
    pub(super) fn kept(&self, group: usize) -> Option<&BooleanBuffer> {
        self.kept.get(self.number(group)?)?.as_ref()
    }

    /// As [`CheckpointFile::start`]; only the pages of the selection are fetched.
    ///
    /// # Errors
    /// As [`CheckpointFile::decode`].
    pub(super) fn start(
        &self,
        file: &CheckpointFile,
        group: usize,
        columns: &[Vec<&str>],
        selection: Option<RowSelection>,
        rows: usize,
    ) -> Result<Decoding> {
        match self.number(group) {
            Some(number) => file.start_with((&self.reader, number), group, columns, selection, rows),
            None => file.start(group, columns, selection, rows),
        }
    }
}
