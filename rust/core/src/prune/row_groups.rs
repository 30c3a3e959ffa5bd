//! Row groups of a checkpoint: the Parquet statistics of the parsed leaves, as facts that are true for every file in them.

use arrow::array::{Array, UInt64Array};
use arrow::datatypes::{DataType as Arrow, FieldRef};
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::arrow::{ProjectionMask, parquet_to_arrow_schema_by_columns};
use parquet::file::metadata::ParquetMetaData;

use super::bounds::{bound_of_many, has_bounds};
use super::partition::of_parsed;
use super::range::Facts;
use super::side::Side;
use crate::predicate::BoundColumn;
use crate::predicate::canonical::{Canonical, canonical};
use crate::predicate::scalar::Scalar;
use crate::schema::DataType;

/// The statistics of the leaves that a predicate reads, for all row groups.
pub(crate) struct RowGroupReader<'a> {
    columns: StatsColumns<'a, Leaf<'a>>,
    /// Rows without an `add`, for each row group.
    other_rows: Vec<Option<u64>>,
    metadata: &'a ParquetMetaData,
}

/// The columns of a predicate, each with its parsed leaves in a checkpoint.
pub(super) struct StatsColumns<'a, L> {
    partitions: Vec<(&'a BoundColumn, Option<L>)>,
    data: Vec<DataColumn<'a, L>>,
}

struct DataColumn<'a, L> {
    column: &'a BoundColumn,
    lower: Option<L>,
    upper: Option<L>,
    nulls: Option<L>,
}

/// One leaf column of the file.
struct Leaf<'a> {
    index: usize,
    least: Canonical,
    most: Canonical,
    nulls: UInt64Array,
    metadata: &'a ParquetMetaData,
}

pub(super) fn leaf_index(metadata: &ParquetMetaData, path: &[&str]) -> Option<usize> {
    let columns = metadata.file_metadata().schema_descr().columns();
    columns.iter().position(|c| c.path().parts().iter().map(String::as_str).eq(path.iter().copied()))
}

/// The Arrow field of a leaf.
pub(super) fn leaf_field(metadata: &ParquetMetaData, index: usize) -> Option<FieldRef> {
    let schema = metadata.file_metadata().schema_descr();
    let schema =
        parquet_to_arrow_schema_by_columns(schema, ProjectionMask::leaves(schema, [index]), None).ok()?;
    let mut field = schema.fields().first()?.clone();
    while let Arrow::Struct(inner) = field.data_type() {
        field = inner.first()?.clone();
    }
    Some(field)
}

impl<'a> Leaf<'a> {
    fn find(metadata: &'a ParquetMetaData, path: &[&str], data_type: &DataType) -> Option<Self> {
        let index = leaf_index(metadata, path)?;
        let schema = metadata.file_metadata().schema_descr();
        let field = leaf_field(metadata, index)?;
        let groups = || metadata.row_groups().iter();
        let converter = StatisticsConverter::from_column_index(index, &field, schema).ok()?;
        // an absent null count is unknown
        let converter = converter.with_missing_null_counts_as_zero(false);
        Some(Leaf {
            index,
            least: canonical(&converter.row_group_mins(groups()).ok()?, data_type)?,
            most: canonical(&converter.row_group_maxes(groups()).ok()?, data_type)?,
            nulls: converter.row_group_null_counts(groups()).ok()?,
            metadata,
        })
    }

    /// The smallest and largest value of a row group, if they speak for every `add` in it: a null leaf leaves its file
    /// unknown, so nulls may only be in rows that hold no `add`.
    fn extremes(&self, group: usize, other_rows: Option<u64>) -> Option<(Scalar<'_>, Scalar<'_>)> {
        let nulls = if self.nulls.is_valid(group) { self.nulls.value(group) } else { return None };
        if nulls != 0 && Some(nulls) != other_rows {
            return None;
        }
        // the old fields were filled in the wrong order for some types
        let statistics = self.metadata.row_group(group).column(self.index).statistics()?;
        if statistics.is_min_max_deprecated() {
            return None;
        }
        Some((self.least.value(group)?, self.most.value(group)?))
    }
}

impl<'a, L> StatsColumns<'a, L> {
    /// With the leaves that `leaf` finds by path and type.
    pub(super) fn new(
        partitions: &'a [BoundColumn],
        data: &'a [BoundColumn],
        leaf: impl Fn(&[&str], &DataType) -> Option<L>,
    ) -> Self {
        let leaf = |section: &[&str], column: &BoundColumn, data_type: &DataType| {
            let path = [section, &column.physical.iter().map(String::as_str).collect::<Vec<_>>()].concat();
            leaf(&path, data_type)
        };
        let partitions = partitions
            .iter()
            .map(|c| (c, leaf(&["add", "partitionValues_parsed"], c, &c.data_type)))
            .collect();
        let data = data
            .iter()
            .map(|c| {
                let bound = |section| match has_bounds(&c.data_type) {
                    true => leaf(&["add", "stats_parsed", section], c, &c.data_type),
                    false => None,
                };
                let nulls = leaf(&["add", "stats_parsed", "nullCount"], c, &DataType::Long);
                DataColumn { column: c, lower: bound("minValues"), upper: bound("maxValues"), nulls }
            })
            .collect();
        StatsColumns { partitions, data }
    }

    /// The leaves that there are.
    pub(super) fn leaves(&self) -> impl Iterator<Item = &L> {
        let of_data = self.data.iter().flat_map(|data| [&data.lower, &data.upper, &data.nulls]);
        self.partitions.iter().map(|(_, leaf)| leaf).chain(of_data).flatten()
    }

    /// What is true for every file of which `extremes` gives the smallest and the largest value of a leaf, partition columns
    /// first.
    pub(super) fn facts<'s>(
        &'s self,
        extremes: impl Fn(&'s L) -> Option<(Scalar<'s>, Scalar<'s>)>,
    ) -> Vec<Facts<'s>> {
        let extremes = |leaf: &'s Option<L>| leaf.as_ref().and_then(&extremes);
        let mut facts = Vec::with_capacity(self.partitions.len() + self.data.len());
        for (column, leaf) in &self.partitions {
            // Parquet leaves NaN out of its statistics
            let nan = matches!(column.data_type, DataType::Float | DataType::Double);
            facts.push(match extremes(leaf) {
                Some((least, most)) => Facts { nan, ..of_parsed(least, most, &column.data_type) }.checked(),
                None => Facts::default(),
            });
        }
        for data in &self.data {
            let lower = extremes(&data.lower).and_then(|(v, _)| bound_of_many(v, data.column, Side::Lower));
            let upper = extremes(&data.upper).and_then(|(_, v)| bound_of_many(v, data.column, Side::Upper));
            let no_nulls = matches!(extremes(&data.nulls), Some((Scalar::Integer(0), Scalar::Integer(0))));
            facts.push(Facts { null: !no_nulls, lower, upper, ..Facts::default() }.checked());
        }
        facts
    }
}

impl<'a> RowGroupReader<'a> {
    pub(crate) fn new(
        partitions: &'a [BoundColumn],
        data: &'a [BoundColumn],
        metadata: &'a ParquetMetaData,
    ) -> Self {
        let columns = StatsColumns::new(partitions, data, |path, of| Leaf::find(metadata, path, of));
        RowGroupReader { columns, other_rows: other_rows(metadata), metadata }
    }

    /// What is true for every file of a row group, partition columns first; `None` where it has no `add` at all.
    pub(crate) fn facts(&self, group: usize) -> Option<Vec<Facts<'_>>> {
        let other_rows = self.other_rows[group];
        if other_rows.is_some_and(|rows| i64::try_from(rows) == Ok(self.metadata.row_group(group).num_rows()))
        {
            return None;
        }
        Some(self.columns.facts(|leaf| leaf.extremes(group, other_rows)))
    }
}

/// Rows of each row group without an `add`, as far as it is known.
pub(super) fn other_rows(metadata: &ParquetMetaData) -> Vec<Option<u64>> {
    // every `add` has these fields
    let required = ["path", "size", "modificationTime", "dataChange"];
    let required: Vec<_> = required.iter().filter_map(|name| leaf_index(metadata, &["add", name])).collect();
    let nulls = |group: usize| {
        let columns = metadata.row_group(group).columns();
        required.iter().find_map(|index| columns[*index].statistics()?.null_count_opt())
    };
    (0..metadata.num_row_groups()).map(nulls).collect()
}
