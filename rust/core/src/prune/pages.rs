//! Pages of a row group of a checkpoint: the page index of the parsed leaves, as facts that are true for every file in them.
//!
//! Each leaf has pages of its own. Every page boundary ends a stretch of rows, and each stretch is judged by its pages.

use std::collections::BTreeSet;

use arrow::array::{Array, UInt64Array};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::metadata::page_index::PageIndexProvider;

use super::pruner::{Pruner, Verdict};
use super::row_groups::{StatsColumns, leaf_field, leaf_index, other_rows};
use crate::predicate::canonical::{Canonical, canonical};
use crate::predicate::scalar::Scalar;
use crate::schema::DataType;

/// The pages of one leaf in all row groups.
struct LeafPages {
    /// The first row of each page of each row group.
    starts: Vec<Vec<usize>>,
    /// The number of the first page of each row group.
    first: Vec<usize>,
    least: Canonical,
    most: Canonical,
    nulls: UInt64Array,
}

impl LeafPages {
    /// Nothing where a row group has no page index of the leaf, or one of other pages.
    fn find(metadata: &ParquetMetaData, path: &[&str], data_type: &DataType) -> Option<Self> {
        let leaf = leaf_index(metadata, path)?;
        let index: &dyn PageIndexProvider = metadata.page_index()?.as_ref();
        let groups: Vec<usize> = (0..metadata.num_row_groups()).collect();
        let (mut starts, mut first, mut pages) = (Vec::new(), Vec::new(), 0);
        for group in &groups {
            let places = index.offset_index(*group, leaf)?.page_locations();
            if index.column_index(*group, leaf)?.num_pages() != places.len() as u64 {
                return None;
            }
            let rows = places.iter().map(|page| usize::try_from(page.first_row_index).ok());
            starts.push(rows.collect::<Option<_>>()?);
            first.push(pages);
            pages += places.len();
        }
        let field = leaf_field(metadata, leaf)?;
        let schema = metadata.file_metadata().schema_descr();
        let converter = StatisticsConverter::from_column_index(leaf, &field, schema).ok()?;
        // an absent null count is unknown
        let converter = converter.with_missing_null_counts_as_zero(false);
        let least = converter.data_page_mins(index, &groups).ok()?;
        let most = converter.data_page_maxes(index, &groups).ok()?;
        let nulls = converter.data_page_null_counts(index, &groups).ok()?;
        if [least.len(), most.len(), nulls.len()].iter().any(|found| *found != pages) {
            return None;
        }
        let (least, most) = (canonical(&least, data_type)?, canonical(&most, data_type)?);
        Some(LeafPages { starts, first, least, most, nulls })
    }

    /// The smallest and largest value of the page of a row, if they speak for every `add` in it: a null leaf leaves its file
    /// unknown.
    fn extremes(&self, group: usize, row: usize) -> Option<(Scalar<'_>, Scalar<'_>)> {
        let page = self.starts[group].partition_point(|start| *start <= row).checked_sub(1)?;
        let page = self.first[group] + page;
        if self.nulls.is_null(page) || self.nulls.value(page) != 0 {
            return None;
        }
        Some((self.least.value(page)?, self.most.value(page)?))
    }
}

impl Pruner {
    /// The leaves of a checkpoint file whose statistics [`Pruner::row_groups`] and [`Pruner::rows_of_pages`] look at.
    pub(crate) fn judged_leaves(&self, metadata: &ParquetMetaData) -> BTreeSet<usize> {
        let leaf = |path: &[&str], _: &DataType| leaf_index(metadata, path);
        StatsColumns::new(self.partition_columns(), self.stats_leaves(), leaf).leaves().copied().collect()
    }

    /// The rows of each row group of a checkpoint in whose pages there can be an `add` whose file may match. Nothing where
    /// that is all of them, where rows are other actions, and without a page index.
    pub(crate) fn rows_of_pages(&self, metadata: &ParquetMetaData) -> Vec<Option<BooleanBuffer>> {
        let pages = StatsColumns::new(self.partition_columns(), self.stats_leaves(), |path, data_type| {
            LeafPages::find(metadata, path, data_type)
        });
        let of_group = |(group, others): (usize, Option<u64>)| {
            let rows = usize::try_from(metadata.row_group(group).num_rows()).ok()?;
            if others != Some(0) {
                return None;
            }
            let starts = pages.leaves().flat_map(|leaf| leaf.starts[group].iter().copied());
            let starts: BTreeSet<usize> = starts.collect();
            let ends = starts.iter().skip(1).copied().chain([rows]);
            let mut keep = BooleanBufferBuilder::new(0);
            for (start, end) in starts.iter().copied().zip(ends) {
                let mut facts = pages.facts(|leaf| leaf.extremes(group, start));
                keep.append_n(end.saturating_sub(start), self.judge(&mut facts) == Verdict::Keep);
            }
            let keep = keep.finish();
            (keep.len() == rows && keep.count_set_bits() < rows).then_some(keep)
        };
        other_rows(metadata).into_iter().enumerate().map(of_group).collect()
    }
}
