use arrow::array::{Array, MapArray, StringViewArray, StructArray};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use parquet::file::metadata::ParquetMetaData;

use super::bounds::has_null_count;
use super::held_facts::HeldFacts;
use super::interval::Interval;
use super::partition::{MapReader, StructReader};
use super::plan::PrunePlan;
use super::range::Facts;
use super::row_groups::RowGroupReader;
use super::stats_json::{JsonReader, ShapedReader};
use super::stats_struct::StatsReader;
use crate::error::Result;
use crate::predicate::bind::{TableColumns, bind};
use crate::predicate::{BoundColumn, Predicate};
use crate::schema::{ColumnMappingMode, DataType, StructType};

/// The result of pruning for one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Some row may match. Not a promise that one does.
    Keep,
    /// No row matches.
    Drop,
}

/// A predicate bound to a table, ready to judge files.
///
/// A file is dropped only where no row of it can make the predicate TRUE, for every statistic and partition value that
/// the protocol allows. A kept file may still hold rows that do not match: the rows are to be filtered as well, by
/// partition columns too.
#[derive(Debug)]
pub struct Pruner {
    plan: PrunePlan,
    /// Partition columns, then data columns with statistics, then the others.
    columns: Vec<BoundColumn>,
    partitions: usize,
    leaves: usize,
    json: JsonReader,
    /// What columns with statistics must hold.
    intervals: Vec<Interval>,
    /// What partition columns must hold.
    of_partitions: Vec<Interval>,
}

impl Pruner {
    /// Binds a predicate to the columns of a table. `partition_columns` are logical names.
    ///
    /// # Errors
    /// [`Error::InvalidPredicate`](crate::Error::InvalidPredicate) when it names a column that the schema does not have;
    /// the error lists those that it has.
    pub fn bind(
        predicate: &Predicate,
        schema: &StructType,
        partition_columns: &[String],
        mode: ColumnMappingMode,
    ) -> Result<Pruner> {
        let mut found = TableColumns { schema, partition_columns, mode, found: Vec::new() };
        let bound = bind(predicate, &mut found)?;
        let rank = |column: &BoundColumn| match column {
            BoundColumn { partition: true, .. } => 0,
            BoundColumn { data_type, .. } if has_null_count(data_type) => 1,
            _ => 2,
        };
        let mut order: Vec<usize> = (0..found.found.len()).collect();
        order.sort_by_key(|i| rank(&found.found[*i]));
        let mut renumber = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            renumber[*old] = new;
        }
        let columns: Vec<BoundColumn> = order.iter().map(|i| found.found[*i].clone()).collect();
        let partitions = columns.partition_point(|c| rank(c) < 1);
        let leaves = columns.partition_point(|c| rank(c) < 2);
        let json = JsonReader::new(&columns[partitions..leaves]);
        let plan = PrunePlan::new(bound, &renumber);
        let (of_partitions, mut intervals): (Vec<_>, Vec<_>) =
            Interval::of(&plan, &columns).into_iter().partition(|i| i.column < partitions);
        intervals.retain(|i| i.column < leaves);
        Ok(Pruner { plan, columns, partitions, leaves, json, of_partitions, intervals })
    }

    /// Whether partition values alone can drop a file.
    pub fn uses_partitions(&self) -> bool {
        self.plan.can_drop(&|column| column < self.partitions)
    }

    /// Whether statistics can drop a file, alone or together with its partition values.
    pub fn uses_stats(&self) -> bool {
        self.leaves > self.partitions && self.plan.can_drop(&|column| column < self.leaves)
    }

    /// The partition columns that the predicate reads; `physical` has one part.
    pub fn partition_columns(&self) -> &[BoundColumn] {
        &self.columns[..self.partitions]
    }

    /// The data columns whose minimum, maximum and null count are useful.
    pub fn stats_leaves(&self) -> &[BoundColumn] {
        &self.columns[self.partitions..self.leaves]
    }

    /// Which files their raw partition values (physical name to text) let live: a set bit keeps.
    ///
    /// Each distinct combination of values is judged once; a file costs a look-up, and less where keys and values are
    /// dictionaries with 32-bit keys.
    pub fn by_partition_values(&self, values: &MapArray) -> BooleanBuffer {
        let all = BooleanBuffer::new_set(values.len());
        if !self.uses_partitions() {
            return all;
        }
        let Some(reader) = MapReader::new(self.partition_columns(), values) else { return all };
        let (combinations, mut verdicts) = (reader.combinations(&all), Vec::new());
        combinations.each(|facts| verdicts.push(self.judge(facts)));
        let of_rows = &combinations.of_rows;
        BooleanBuffer::collect_bool(values.len(), |row| verdicts[of_rows[row] as usize] == Verdict::Keep)
    }

    /// The same from `partitionValues_parsed`, whose fields have physical names. It may keep more: a null there need
    /// not be a null partition value, and a timestamp was parsed in a zone that is not known.
    pub fn by_partition_struct(&self, parsed: &StructArray) -> BooleanBuffer {
        if !self.uses_partitions() {
            return BooleanBuffer::new_set(parsed.len());
        }
        let reader = StructReader::new(self.partition_columns(), parsed);
        let mut facts = Vec::with_capacity(self.columns.len());
        BooleanBuffer::collect_bool(parsed.len(), |row| {
            let misses = |i: &Interval| reader.whole(i.column, row).is_some_and(|v| i.misses(v, v));
            if self.of_partitions.iter().any(misses) {
                return false;
            }
            facts.clear();
            facts.extend(reader.facts(row));
            self.judge(&mut facts) == Verdict::Keep
        })
    }

    /// Which of the files in `keep` their statistics (JSON text) and partition values let live. Parses only those rows,
    /// and of them only the columns of the predicate.
    pub fn by_stats_json(
        &self,
        stats: &StringViewArray,
        values: &MapArray,
        keep: &BooleanBuffer,
    ) -> BooleanBuffer {
        let partitions = self.map_reader(values);
        let (mut reader, mut leaves) = (ShapedReader::new(&self.json), self.json.leaves());
        self.by_stats(partitions.as_ref(), keep, |row, facts| {
            if stats.is_valid(row) && reader.read(stats.value(row), &mut leaves) {
                if self.misses(|column, kind| leaves.whole(column, kind)) {
                    return Verdict::Drop;
                }
                let columns = self.stats_leaves().iter().enumerate();
                facts.extend(columns.map(|(i, column)| leaves.facts(i, column)));
            }
            self.judge(facts)
        })
    }

    /// The same from `stats_parsed`. Timestamps are to be read as microseconds: INT96 overflows in nanoseconds, so these
    /// are not looked at.
    pub fn by_stats_struct(
        &self,
        parsed: &StructArray,
        values: &MapArray,
        keep: &BooleanBuffer,
    ) -> BooleanBuffer {
        let partitions = self.map_reader(values);
        let reader = StatsReader::new(self.stats_leaves(), parsed);
        self.by_stats(partitions.as_ref(), keep, |row, facts| {
            if self.misses(|column, _| reader.whole(column, row)) {
                return Verdict::Drop;
            }
            reader.facts(row, facts);
            self.judge(facts)
        })
    }

    /// Whether all that it asks of statistics can be held, and it asks for nothing else.
    pub(crate) fn can_be_held(&self) -> bool {
        let mut leaves = self.stats_leaves().iter();
        self.partitions == 0 && self.uses_stats() && leaves.all(|c| HeldFacts::can_hold(&c.data_type))
    }

    /// Adds what statistics (JSON text) say of the files in `keep`, and nothing of other rows, to what is held of each of
    /// [`Pruner::stats_leaves`].
    pub(crate) fn hold_json(&self, stats: &StringViewArray, keep: &BooleanBuffer, held: &mut [HeldFacts]) {
        let (mut reader, mut leaves) = (ShapedReader::new(&self.json), self.json.leaves());
        for row in 0..stats.len() {
            let known = keep.value(row) && stats.is_valid(row) && reader.read(stats.value(row), &mut leaves);
            for (i, (column, held)) in self.stats_leaves().iter().zip(held.iter_mut()).enumerate() {
                let facts = if known { leaves.facts(i, column) } else { Facts::default() };
                held.push(keep.value(row).then_some(&facts));
            }
        }
    }

    /// The same from `stats_parsed`.
    pub(crate) fn hold_struct(&self, parsed: &StructArray, keep: &BooleanBuffer, held: &mut [HeldFacts]) {
        let reader = StatsReader::new(self.stats_leaves(), parsed);
        let mut facts = Vec::new();
        for row in 0..parsed.len() {
            facts.clear();
            reader.facts(row, &mut facts);
            for (facts, held) in facts.iter().zip(held.iter_mut()) {
                held.push(keep.value(row).then_some(facts));
            }
        }
    }

    /// Which of the files in `keep` live by what is held of each of [`Pruner::stats_leaves`].
    pub(crate) fn by_held(&self, held: &[&HeldFacts], keep: &BooleanBuffer) -> BooleanBuffer {
        self.by_stats(None, keep, |row, facts| {
            if self.misses(|column, _| held[column].whole(row)) {
                return Verdict::Drop;
            }
            facts.extend(held.iter().map(|column| column.facts(row)));
            self.judge(facts)
        })
    }

    /// Which row groups of a checkpoint can hold an `add` whose file may match, from the Parquet statistics of
    /// `add.partitionValues_parsed` and `add.stats_parsed`. A row group without any `add` cannot.
    pub fn row_groups(&self, metadata: &ParquetMetaData) -> Vec<bool> {
        let reader = RowGroupReader::new(self.partition_columns(), self.stats_leaves(), metadata);
        let judge = |group| match reader.facts(group) {
            Some(mut facts) => self.judge(&mut facts) == Verdict::Keep,
            None => false,
        };
        (0..metadata.num_row_groups()).map(judge).collect()
    }

    fn map_reader<'a>(&'a self, values: &'a MapArray) -> Option<MapReader<'a>> {
        if self.partitions == 0 { None } else { MapReader::new(self.partition_columns(), values) }
    }

    /// The same without intervals: each file is judged by all facts.
    #[cfg(test)]
    pub(super) fn by_facts(mut self) -> Self {
        self.intervals.clear();
        self.of_partitions.clear();
        self
    }

    /// Whether the bounds of a file, by the number of a column with statistics and its type, miss an interval.
    fn misses(&self, bounds: impl Fn(usize, &DataType) -> Option<(i64, i64)>) -> bool {
        self.intervals.iter().any(|interval| {
            let kind = &self.columns[interval.column].data_type;
            let bounds = bounds(interval.column - self.partitions, kind);
            bounds.is_some_and(|(least, most)| interval.misses(least, most))
        })
    }

    /// `judge` judges a file by the facts of its partition columns, to which it adds those of the data columns.
    fn by_stats<'f>(
        &self,
        partitions: Option<&'f MapReader<'f>>,
        keep: &BooleanBuffer,
        mut judge: impl FnMut(usize, &mut Vec<Facts<'f>>) -> Verdict,
    ) -> BooleanBuffer {
        if !self.uses_stats() {
            return keep.clone();
        }
        let combinations = partitions.map(|reader| {
            let (found, mut facts) = (reader.combinations(keep), Vec::new());
            found.each(|of_one| facts.append(of_one));
            (found.of_rows, facts)
        });
        let mut kept = BooleanBufferBuilder::new(keep.len());
        kept.append_n(keep.len(), false);
        let mut facts = Vec::with_capacity(self.columns.len());
        for row in keep.set_indices() {
            facts.clear();
            match &combinations {
                Some((of_rows, of_all)) => {
                    let start = of_rows[row] as usize * self.partitions;
                    facts.extend_from_slice(&of_all[start..start + self.partitions]);
                }
                None => facts.resize_with(self.partitions, Facts::default),
            }
            if judge(row, &mut facts) == Verdict::Keep {
                kept.set_bit(row, true);
            }
        }
        kept.finish()
    }

    /// Judges a file by its facts; columns after the last one are unknown.
    pub(super) fn judge(&self, facts: &mut Vec<Facts<'_>>) -> Verdict {
        facts.resize_with(self.columns.len(), Facts::default);
        if self.plan.outcomes(facts).may_be_true() { Verdict::Keep } else { Verdict::Drop }
    }
}
