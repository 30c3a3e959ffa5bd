//! One data file in its store: the footer by one request for its tail, then the ranges that are asked for.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use parquet::DecodeResult;
use parquet::arrow::ProjectionMask;
use parquet::errors::ParquetError;
use parquet::file::metadata::page_index::PageIndexProvider;
use parquet::file::metadata::{
    ColumnChunkMask, PageIndexPolicy, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataPushDecoder,
    ParquetStatisticsPolicy,
};

use super::guard::guarded;
use super::page_sizes::{DEFAULT_MAX_PAGE_BYTES, MAX_PAGE_BYTES, too_large};
use crate::actions::ObjectPath;
use crate::error::{Error, Result};
use crate::store::{Location, Store};

/// Bytes that are first read from the end of a file: most footers fit.
const TAIL: u64 = 64 << 10;
/// A file up to this size is read whole: a second request costs more than the bytes.
const WHOLE: u64 = 256 << 10;
/// A page index that is larger, or lies scattered over more, costs more than it saves.
const MOST_INDEX: u64 = 16 << 20;

/// Rows of a row group: writers count them in 32 bits. Sums over the row groups of a file then fit into 64.
const MOST_ROWS: i64 = i32::MAX as i64;

/// A data file that is being read.
#[derive(Debug, Clone)]
pub(crate) struct DataFile {
    store: Arc<dyn Store>,
    path: ObjectPath,
    size: u64,
    /// Bytes of a page, once it is decompressed.
    most_of_page: u64,
    /// The end of the file, from `size - tail.len()` on.
    tail: Bytes,
}

impl DataFile {
    /// Opens the file that the log lists at `path` with `size` bytes. One request.
    ///
    /// # Errors
    /// [`Error::DataFile`] when it is missing or is not as large as the log says.
    pub(crate) fn open(location: &Location, path: ObjectPath, size: i64) -> Result<Self> {
        let store = location.store_for(&path)?;
        let size = u64::try_from(size).map_err(|_| Error::DataFile {
            path: path.to_string(),
            reason: format!("the log states {size} bytes"),
        })?;
        let most_of_page = match location.option(MAX_PAGE_BYTES) {
            Some(text) => text.parse().map_err(|_| Error::InvalidArgument {
                argument: MAX_PAGE_BYTES.into(),
                reason: format!("`{text}` is not a number of bytes"),
            })?,
            None => DEFAULT_MAX_PAGE_BYTES,
        };
        let mut file = DataFile { store, path, size, most_of_page, tail: Bytes::new() };
        if size == 0 {
            // no store has a range of nothing
            return Err(file.error("it is empty (0 bytes)"));
        }
        let tail = if size <= WHOLE { size } else { TAIL };
        let end = size - tail..size;
        file.tail = match file.get(std::slice::from_ref(&end)) {
            Ok(mut got) => got.pop().unwrap_or_default(),
            // stores report a range after the end of a file in different ways
            Err(error @ Error::Storage { .. }) => return Err(file.resized().unwrap_or(error)),
            Err(error) => return Err(error),
        };
        if file.tail.len() as u64 != tail {
            return Err(file.resized().unwrap_or_else(|| file.error("it ends before its size in the log")));
        }
        Ok(file)
    }

    /// The file, for errors.
    pub(crate) fn path(&self) -> String {
        self.path.to_string()
    }

    /// An error about this file.
    pub(crate) fn error(&self, reason: impl ToString) -> Error {
        Error::DataFile { path: self.path(), reason: reason.to_string() }
    }

    /// Reads the footer; statistics only if they are wanted.
    pub(crate) fn metadata(&self, statistics: bool) -> Result<Arc<ParquetMetaData>> {
        self.decode_metadata(statistics).map_err(|error| match error {
            Error::DataFile { .. } => self.resized().unwrap_or(error),
            other => other,
        })
    }

    fn decode_metadata(&self, statistics: bool) -> Result<Arc<ParquetMetaData>> {
        let damaged = |e: ParquetError| self.error(e);
        let mut options = ParquetMetaDataOptions::new();
        options.set_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll);
        options.set_size_stats_policy(ParquetStatisticsPolicy::SkipAll);
        if !statistics {
            options.set_column_stats_policy(ParquetStatisticsPolicy::SkipAll);
        }
        let mut decoder = ParquetMetaDataPushDecoder::try_new(self.size)
            .map_err(damaged)?
            .with_page_index_policy(PageIndexPolicy::Skip)
            .with_metadata_options(Some(Arc::new(options)));
        decoder
            .push_range(self.size - self.tail.len() as u64..self.size, self.tail.clone())
            .map_err(damaged)?;
        loop {
            match guarded(|| decoder.try_decode()).map_err(|e| self.error(e))? {
                DecodeResult::Data(metadata) => {
                    self.check_footer(&metadata)?;
                    return Ok(Arc::new(metadata));
                }
                DecodeResult::NeedsData(ranges) => {
                    let bytes = self.ranges(&ranges)?;
                    decoder.push_ranges(ranges, bytes).map_err(damaged)?;
                }
                DecodeResult::Finished => return Err(self.error("it has no footer")),
            }
        }
    }

    /// A footer whose bits were flipped may still decode: its numbers must be possible, because `parquet` panics where they are
    /// not.
    fn check_footer(&self, metadata: &ParquetMetaData) -> Result<()> {
        let damaged = |what: &str| self.error(format!("its footer is damaged: {what}"));
        for group in metadata.row_groups() {
            if !(0..=MOST_ROWS).contains(&group.num_rows()) {
                return Err(damaged(&format!("a row group has {} rows", group.num_rows())));
            }
            for column in group.columns() {
                let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
                let end = start.checked_add(column.compressed_size());
                let within = end.and_then(|end| u64::try_from(end).ok()).is_some_and(|end| end <= self.size);
                if start < 0 || column.compressed_size() < 0 || !within || column.num_values() < 0 {
                    return Err(damaged(&format!(
                        "column `{}` lies outside of the file",
                        column.column_path()
                    )));
                }
            }
        }
        Ok(())
    }

    /// Adds the page index to what `metadata(true)` gave, for these row groups: the statistics of the pages of the leaves
    /// `judged`, and where the pages of the leaves that are `read` lie. It is left out where the file has none or one
    /// that cannot be right. At most one request, and none where the tail has it.
    ///
    /// # Errors
    /// [`Error::Storage`] and [`Error::DataFile`] when the file cannot be read.
    pub(crate) fn page_index(
        &self,
        metadata: Arc<ParquetMetaData>,
        groups: &[usize],
        judged: &BTreeSet<usize>,
        read: &ProjectionMask,
    ) -> Result<Arc<ParquetMetaData>> {
        let leaves = metadata.file_metadata().schema_descr().num_columns();
        let read: Vec<usize> = (0..leaves).filter(|leaf| read.leaf_included(*leaf)).collect();
        let has_index = |group: &usize, leaf: &usize| {
            metadata.row_group(*group).column(*leaf).column_index_range().is_some()
        };
        if !groups.iter().any(|group| judged.iter().any(|leaf| has_index(group, leaf))) {
            return Ok(metadata);
        }
        let of = |leaves: Vec<usize>| ColumnChunkMask::row_groups_and_columns(groups.to_vec(), leaves);
        let decoder =
            ParquetMetaDataPushDecoder::try_new_with_metadata(self.size, Arc::unwrap_or_clone(metadata))
                .map(|d| d.with_page_index_policy(PageIndexPolicy::Optional))
                .map(|d| d.with_column_index_mask(of(judged.iter().copied().collect())))
                .map(|d| d.with_offset_index_mask(of(read.clone())))
                .map_err(|e| self.error(e))?;
        match self.decode_page_index(decoder)? {
            Some(found) if places_are_sound(&found, groups, &read) => Ok(Arc::new(found)),
            // the rows can be read without it
            _ => self.metadata(true),
        }
    }

    /// `None` for a page index that is damaged or too large.
    fn decode_page_index(&self, mut decoder: ParquetMetaDataPushDecoder) -> Result<Option<ParquetMetaData>> {
        loop {
            match guarded(|| decoder.try_decode()) {
                Ok(DecodeResult::Data(metadata)) => return Ok(Some(metadata)),
                Ok(DecodeResult::NeedsData(ranges)) => {
                    let unfit = |r: &Range<u64>| r.end > self.size || r.end - r.start > MOST_INDEX;
                    if ranges.iter().any(unfit) {
                        return Ok(None);
                    }
                    let bytes = self.ranges(&ranges)?;
                    if decoder.push_ranges(ranges, bytes).is_err() {
                        return Ok(None);
                    }
                }
                Ok(DecodeResult::Finished) | Err(_) => return Ok(None),
            }
        }
    }

    /// Checks the pages of which these ranges consist before they are decompressed.
    ///
    /// # Errors
    /// [`Error::DataFile`] where one is larger than [`MAX_PAGE_BYTES`] allows.
    pub(crate) fn check_pages(&self, ranges: &[Bytes]) -> Result<()> {
        match ranges.iter().find_map(|bytes| too_large(bytes, self.most_of_page)) {
            Some(size) => Err(self.error(format!(
                "a page has {size} bytes once it is decompressed, and `{MAX_PAGE_BYTES}` allows {}",
                self.most_of_page
            ))),
            None => Ok(()),
        }
    }

    /// Ranges of the file, in order: from its tail where that has them, the rest with one call to the store.
    pub(crate) fn ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let start = self.size - self.tail.len() as u64;
        let here = |r: &Range<u64>| r.start >= start && r.end <= self.size && r.start <= r.end;
        let wanted: Vec<Range<u64>> = ranges.iter().filter(|r| !here(r)).cloned().collect();
        let mut fetched = if wanted.is_empty() { Vec::new() } else { self.get(&wanted)? }.into_iter();
        ranges
            .iter()
            .map(|r| {
                if here(r) {
                    return Ok(self.tail.slice((r.start - start) as usize..(r.end - start) as usize));
                }
                let bytes = fetched.next().filter(|b| b.len() as u64 == r.end - r.start);
                bytes.ok_or_else(|| self.error(format!("bytes {} to {} are missing", r.start, r.end)))
            })
            .collect()
    }

    fn get(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.store.get_ranges(&self.path, ranges).map_err(|error| match error {
            Error::NotFound { .. } => self.error(
                "it does not exist, but the log lists it: VACUUM or another writer may have removed it. \
                 Read a newer version",
            ),
            other => other,
        })
    }

    /// The error that the file has another size than the log says, if that is so.
    fn resized(&self) -> Option<Error> {
        let meta = self.store.head(&self.path).ok()?;
        // a log may name any file: how large it is, is nobody's business
        let reason = || {
            format!("it does not have the {} bytes that the log states: it was replaced or cut", self.size)
        };
        (meta.size != self.size).then(|| self.error(reason()))
    }
}

/// Whether the pages of each column begin at the first row of their row group, ascend, and lie within the column.
fn places_are_sound(metadata: &ParquetMetaData, groups: &[usize], leaves: &[usize]) -> bool {
    let sound = |index: &dyn PageIndexProvider, group: usize, leaf: usize| {
        let Some(pages) = index.offset_index(group, leaf) else { return true };
        let pages = pages.page_locations();
        let row_group = metadata.row_group(group);
        let (start, length) = row_group.column(leaf).byte_range();
        let within = pages.iter().all(|page| {
            let (from, bytes) = (u64::try_from(page.offset), u64::try_from(page.compressed_page_size));
            matches!((from, bytes), (Ok(from), Ok(bytes))
                if from >= start && from.checked_add(bytes).is_some_and(|end| end <= start + length))
        });
        let rows = pages.iter().map(|page| page.first_row_index);
        within
            && rows.clone().next() == Some(0)
            && rows.chain([row_group.num_rows()]).is_sorted_by(|a, b| a < b)
    };
    metadata.page_index().is_none_or(|index| {
        groups.iter().all(|group| leaves.iter().all(|leaf| sound(index.as_ref(), *group, *leaf)))
    })
}
