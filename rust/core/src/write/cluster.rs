//! The rows of several data files in new ones, along a curve through some of their columns.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch};

use super::conform::{conform_batch, physical_schema};
use super::curve::Curve;
use super::one_file::write_file;
use super::partitions::partition_key;
use super::plan::WritePlan;
use super::range_ids::Sample;
use super::sorter::Sorter;
use super::source_rows::{SourceRows, Sources};
use super::uploads::Uploads;
use crate::actions::Add;
use crate::alter::physical_path;
use crate::error::{Error, Result};
use crate::expr::visible;
use crate::scan::{Job, ReadRequest, RowIds, RowScan, in_turn, read_file};
use crate::schema::StructType;
use crate::sums::SaturatingSum;

/// How rows are laid out.
#[derive(Debug, Clone)]
pub(crate) struct Clustering {
    pub(crate) curve: Curve,
    /// The columns, by path of logical names.
    pub(crate) columns: Vec<Vec<String>>,
    /// Bytes of a new file, about.
    pub(crate) target_size: u64,
    /// Bytes of rows that are sorted in memory.
    pub(crate) run_bytes: usize,
}

/// New files, and what their sources had.
#[derive(Debug)]
pub(crate) struct Clustered {
    /// The files, in the order of the curve; none where nothing was left of the sources.
    pub(crate) adds: Vec<Add>,
    /// The rows of each source.
    pub(crate) sources: Vec<SourceRows>,
}

/// Writes the rows that are left of these files of one partition into new ones of about equal numbers of rows, along a curve:
/// rows that are near each other in all of the columns are mostly in the same file. Nearness is measured in shares of
/// the rows, not in values: equal numbers of rows are equally far. Where rows have ids that they keep, the new files
/// say which.
///
/// # Errors
/// As [`super::compact`]; [`Error::InvalidArgument`] for a column that has no order, and [`Error::Storage`] when the
/// temporary folder of the system is full.
///
/// # Cost
/// The columns of the curve are read once to learn how their values are spread, then all columns once. Rows that are more
/// than a run go through a temporary file. Memory is about three times [`Clustering::run_bytes`], and for each run some
/// rows.
pub(crate) fn cluster(
    plan: &WritePlan,
    files: &[Add],
    clustering: &Clustering,
    number: usize,
    uploads: &Uploads,
) -> Result<Clustered> {
    let Some(first) = files.first() else { return Ok(Clustered { adds: Vec::new(), sources: Vec::new() }) };
    let row_ids = RowIds::of(&plan.metadata)?;
    let with_ids = row_ids.as_ref().map(|ids| plan.with_columns(ids.columns()));
    let ranges = sample(plan, files, &clustering.columns, None, uploads)?.map(Sample::into_ranges);
    let plan = with_ids.as_ref().unwrap_or(plan);
    let paths = physical_paths(plan, &clustering.columns);
    let mut rows = Sources::open((plan, plan), row_ids, files.to_vec())?;
    let mut sorter = Sorter::new(clustering.run_bytes);
    if let Some(ranges) = &ranges {
        for batch in &mut rows {
            uploads.check()?;
            let batch = batch?;
            sorter.push(&batch, ranges.keys(clustering.curve, &columns_at(&batch, &paths)?)?)?;
        }
    }
    let total = sorter.rows();
    let source_bytes = files.iter().map(|add| add.size.unsigned_abs()).saturating_sum();
    let count = count_of(source_bytes, clustering.target_size, total);
    let mut sorted = Limited::of(sorter.finish()?);
    let mut adds = Vec::new();
    for file in 0..count {
        sorted.allow((file + 1) * total / count - file * total / count);
        let key = partition_key(plan, &first.partition_values)?;
        adds.push(write_file(plan, key, number + file as usize, &mut sorted, uploads)?);
    }
    Ok(Clustered { adds, sources: rows.into_rows() })
}

/// Files of about the target size.
pub(crate) fn count_of(source_bytes: u64, target_size: u64, rows: u64) -> u64 {
    let target = target_size.max(1);
    (source_bytes.saturating_add(target / 2) / target).max(1).min(rows)
}

/// The values of the columns in the files; none where there is no row. Where the files are a part, `part` has the number of
/// rows before them, and that of all.
pub(super) fn sample(
    plan: &WritePlan,
    files: &[Add],
    columns: &[Vec<String>],
    part: Option<(u64, u64)>,
    uploads: &Uploads,
) -> Result<Option<Sample>> {
    let mut narrow = StructType { fields: Vec::new() };
    for path in columns {
        let field = path.first().and_then(|name| plan.schema.field(name));
        if let Some(field) = field.filter(|f| !narrow.fields.contains(f)) {
            narrow.fields.push(field.clone());
        }
    }
    let request = ReadRequest {
        columns: Some(narrow.fields.iter().map(|f| f.name.clone()).collect()),
        ..Default::default()
    };
    let (location, partitions) = (plan.location.clone(), &plan.partition_columns);
    let scan = RowScan::new(location, &plan.schema, partitions, plan.column_mapping, request)?;
    let scan = Arc::new(scan.reading_ahead());
    let paths = physical_paths(plan, columns);
    let (table, physical) = (plan.location.root().to_string(), physical_schema(&narrow, plan.column_mapping));
    let mut sample: Option<Sample> = None;
    let files = files.iter().map(|add| Narrow { scan: scan.clone(), add: add.clone() }).collect();
    for batch in in_turn(&plan.location, files)? {
        uploads.check()?;
        let batch = conform_batch(&table, &batch?, &narrow, &physical)?;
        let columns = columns_at(&batch, &paths)?;
        let sample = match (&mut sample, part) {
            (Some(sample), _) => sample,
            (none, None) => none.insert(Sample::of(&columns)?),
            (none, Some((before, total))) => none.insert(Sample::of(&columns)?.following(before, total)),
        };
        sample.add(&columns)?;
    }
    Ok(sample)
}

/// A file of which some columns are read.
struct Narrow {
    scan: Arc<RowScan>,
    add: Add,
}

impl Job for Narrow {
    type Item = RecordBatch;

    fn name(&self) -> String {
        self.add.path.to_string()
    }

    fn bytes(&self) -> u64 {
        self.add.size.unsigned_abs()
    }

    fn open(self) -> Result<impl Iterator<Item = Result<RecordBatch>> + Send> {
        read_file(&self.scan, &self.add)
    }
}

pub(super) fn physical_paths(plan: &WritePlan, columns: &[Vec<String>]) -> Vec<Vec<String>> {
    columns.iter().map(|path| physical_path(&plan.schema, path, plan.column_mapping)).collect()
}

/// The columns at paths of physical names.
pub(super) fn columns_at(batch: &RecordBatch, paths: &[Vec<String>]) -> Result<Vec<ArrayRef>> {
    let column = |path: &Vec<String>| {
        let (first, rest) = path.split_first()?;
        let mut column = batch.column_by_name(first)?.clone();
        for name in rest {
            let parent = column;
            let of = parent.as_struct_opt()?;
            column = visible(of, of.column_by_name(name)?).ok()?;
        }
        Some(column)
    };
    let find = |path: &Vec<String>| {
        column(path).ok_or_else(|| Error::InvalidSchema {
            reason: format!("the rows have no column `{}`", path.join(".")),
        })
    };
    paths.iter().map(find).collect()
}

/// So many of the next rows.
pub(super) struct Limited<I> {
    rows: I,
    /// Rows that were read and are of the next file.
    rest: Option<RecordBatch>,
    left: u64,
}

impl<I> Limited<I> {
    /// None of them yet.
    pub(super) fn of(rows: I) -> Self {
        Limited { rows, rest: None, left: 0 }
    }

    /// Gives this many of the next rows.
    pub(super) fn allow(&mut self, rows: u64) {
        self.left = rows;
    }
}

impl<I: Iterator<Item = Result<RecordBatch>>> Iterator for Limited<I> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let batch = match self.rest.take() {
            Some(batch) => batch,
            None => match self.rows.next()? {
                Ok(batch) => batch,
                Err(error) => return Some(Err(error)),
            },
        };
        let count = usize::try_from(self.left).map_or(batch.num_rows(), |left| left.min(batch.num_rows()));
        self.left -= count as u64;
        if count < batch.num_rows() {
            self.rest = Some(batch.slice(count, batch.num_rows() - count));
        }
        Some(Ok(batch.slice(0, count)))
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Int64Array, RecordBatchIterator, StringArray};
    use arrow::datatypes::Int64Type;

    use super::*;
    use crate::actions::ObjectPath;
    use crate::operations::write;
    use crate::snapshot::{At, Snapshot};
    use crate::store::{Location, ObjectAdapter};
    use crate::write::{WriteMode, WriteOptions, plan_snapshot};

    #[test]
    fn rows_that_are_more_than_memory_come_in_the_same_order() {
        let location =
            Location::with_store(ObjectPath::new("memory://", "/t"), Arc::new(ObjectAdapter::memory()));
        let options = WriteOptions { mode: WriteMode::Append, ..Default::default() };
        for part in 0..4 {
            let numbers = (part * 1000..part * 1000 + 1000).map(|n| (n * 7919) % 4001);
            let a: ArrayRef = Arc::new(Int64Array::from_iter_values(numbers.clone()));
            let b: ArrayRef = Arc::new(StringArray::from_iter_values(numbers.map(|n| format!("{}", n % 17))));
            let batch = RecordBatch::try_from_iter_with_nullable([("a", a, true), ("b", b, true)]).unwrap();
            let schema = batch.schema();
            write(&location, RecordBatchIterator::new([Ok(batch)], schema), &options).unwrap();
        }
        let snapshot = Snapshot::open(location.clone(), At::Latest).unwrap();
        let plan = plan_snapshot(&snapshot, &options).unwrap();
        let files = snapshot.adds(None).unwrap();
        let bytes: u64 = files.iter().map(|f| f.size.unsigned_abs()).sum();
        let request = || ReadRequest { columns: Some(vec!["a".into()]), ..Default::default() };
        let scan =
            || RowScan::new(location.clone(), &plan.schema, &[], plan.column_mapping, request()).unwrap();
        for curve in [Curve::ZOrder, Curve::Hilbert] {
            let files_of = |run_bytes: usize| {
                let columns = vec![vec!["b".to_owned()], vec!["a".to_owned()]];
                let clustering = Clustering { curve, columns, target_size: bytes / 5, run_bytes };
                let uploads = Uploads::new(&location);
                let clustered = cluster(&plan, &files, &clustering, 0, &uploads).unwrap();
                assert!(clustered.sources.iter().all(|source| source.total == 1000));
                let scan = Arc::new(scan());
                let values = |add: &Add| {
                    let batches = read_file(&scan, add).unwrap().map(|batch| batch.unwrap());
                    let values =
                        batches.flat_map(|b| b.column(0).as_primitive::<Int64Type>().values().to_vec());
                    values.collect::<Vec<i64>>()
                };
                clustered.adds.iter().map(values).collect::<Vec<_>>()
            };
            let (spilled, whole) = (files_of(4 << 10), files_of(usize::MAX));
            assert_eq!(spilled, whole);
            assert_eq!(whole.iter().map(Vec::len).collect::<Vec<_>>(), [800; 5]);
        }
    }

    #[test]
    fn files_are_near_the_target() {
        assert_eq!(count_of(0, 100, 10), 1);
        assert_eq!(count_of(149, 100, 10), 1);
        assert_eq!(count_of(150, 100, 10), 2);
        assert_eq!(count_of(1000, 100, 1000), 10);
        // no file without a row
        assert_eq!(count_of(1000, 100, 3), 3);
        assert_eq!(count_of(1000, 100, 0), 0);
        assert_eq!(count_of(10, 0, 100), 10);
    }
}
