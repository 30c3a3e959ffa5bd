//! The rows of one logical file: its Parquet rows without the deleted ones, in the table's types, with partition
//! values, filtered.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Field, Schema, SchemaRef};

use super::decode::Rows;
use super::pages;
use super::positions::Positions;
use super::project::Projection;
use super::request::{ReadRequest, resolve};
use super::row_filter::{BoundFilter, RowFilter};
use super::row_ids::{ROW_COMMIT_VERSION, ROW_ID, RowIds, Tracked};
use super::selection::{check_vector, left, positions, row_count, select};
use super::skip::row_groups;
use crate::actions::Add;
use crate::deletion_vector::{DeletionVector, Shared};
use crate::error::{Error, Result};
use crate::parquet::DataFile;
use crate::partition;
use crate::predicate::Predicate;
use crate::prune::Pruner;
use crate::schema::{ColumnMappingMode, StructType, to_arrow_schema};
use crate::snapshot::Snapshot;
use crate::store::Location;

/// What all files of a read have in common: the columns, the filter, and where the table is.
#[derive(Debug)]
pub struct RowScan {
    location: Location,
    mode: ColumnMappingMode,
    /// The requested columns, then those that only the filter needs.
    columns: StructType,
    arrow: SchemaRef,
    /// For each column whether data files can have it.
    in_files: Vec<bool>,
    requested: usize,
    output: SchemaRef,
    filter: Option<BoundFilter>,
    pruner: Option<Pruner>,
    /// Their columns are the last ones that are read.
    row_ids: Option<RowIds>,
    batch_size: usize,
    /// Whether the next row group is fetched while one is decoded.
    ahead: bool,
}

impl RowScan {
    /// Plans a read of a version. Nothing is read.
    ///
    /// # Errors
    /// As [`RowScan::new`]; [`Error::InvalidArgument`] for row ids of a table without row tracking, or with a column of
    /// their name.
    pub fn of(snapshot: &Snapshot, request: ReadRequest) -> Result<Self> {
        let row_ids = if request.row_ids { Some(RowIds::asked(snapshot.metadata())?) } else { None };
        let scan = RowScan::new(
            snapshot.location().clone(),
            snapshot.schema(),
            snapshot.partition_columns(),
            snapshot.column_mapping(),
            request,
        )?;
        match row_ids {
            Some(row_ids) => scan.tracked(row_ids),
            None => Ok(scan),
        }
    }

    fn tracked(mut self, row_ids: RowIds) -> Result<Self> {
        let made = [ROW_ID, ROW_COMMIT_VERSION];
        let is_made = |name: &str| made.iter().any(|m| m.eq_ignore_ascii_case(name));
        if let Some(field) = self.output.fields().iter().find(|f| is_made(f.name())) {
            return Err(Error::InvalidArgument {
                argument: "row_ids".into(),
                reason: format!("the table has a column `{}` of its own: read without it", field.name()),
            });
        }
        self.columns.fields.extend(row_ids.columns());
        self.in_files.extend([true; 2]);
        self.arrow = Arc::new(to_arrow_schema(&self.columns));
        let made = made.map(|name| Arc::new(Field::new(name, arrow::datatypes::DataType::Int64, false)));
        let output = self.output.fields().iter().cloned().chain(made);
        self.output = Arc::new(Schema::new(output.collect::<Vec<_>>()));
        self.row_ids = Some(row_ids);
        Ok(self)
    }

    /// Plans a read of a table with this schema. Nothing is read.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a column that is unknown or named twice, [`Error::InvalidPredicate`] for a
    /// predicate on an unknown column or one that cannot be evaluated, [`Error::InvalidExpression`] for what is not a
    /// condition on these columns.
    pub fn new(
        location: Location,
        schema: &StructType,
        partition_columns: &[String],
        mode: ColumnMappingMode,
        request: ReadRequest,
    ) -> Result<Self> {
        let (columns, requested) = resolve(schema, request.columns.as_deref(), request.filter.as_ref())?;
        if request.batch_size == 0 {
            return Err(Error::InvalidArgument {
                argument: "batch_size".into(),
                reason: "0 rows: at least 1".into(),
            });
        }
        let arrow = Arc::new(to_arrow_schema(&columns));
        // within a file no column is a partition column, and columns are identified by their names in the table
        let bind = |p: &Predicate| Pruner::bind(p, &columns, &[], ColumnMappingMode::None);
        let implied = request.filter.as_ref().map(RowFilter::implied).transpose()?;
        let pruner = implied.as_ref().map(bind).transpose()?;
        let filter = request.filter.map(|filter| filter.bind(&columns)).transpose()?;
        let is_partition = |name: &str| partition_columns.iter().any(|p| p.eq_ignore_ascii_case(name));
        Ok(RowScan {
            in_files: columns.fields.iter().map(|f| !is_partition(&f.name)).collect(),
            output: Arc::new(Schema::new(arrow.fields()[..requested].to_vec())),
            location,
            mode,
            columns,
            arrow,
            requested,
            filter,
            pruner,
            row_ids: None,
            batch_size: request.batch_size,
            ahead: false,
        })
    }

    /// Skips row groups and pages in which a predicate cannot be true. Rows are not filtered by it.
    ///
    /// # Errors
    /// [`Error::InvalidPredicate`] for a column that is not read.
    pub(crate) fn pruned_by(mut self, predicate: &Predicate) -> Result<Self> {
        self.pruner = Some(Pruner::bind(predicate, &self.columns, &[], ColumnMappingMode::None)?);
        Ok(self)
    }

    /// As [`RowScan::pruned_by`]. A predicate on a column that is not read skips nothing.
    pub(super) fn pruned_where_known(mut self, predicate: &Predicate) -> Self {
        self.pruner = Pruner::bind(predicate, &self.columns, &[], ColumnMappingMode::None).ok();
        self
    }

    /// For rows that are all wanted: while a row group is decoded, the next one is fetched from a store that answers late,
    /// if it is not too large to be in memory, too.
    pub(crate) fn reading_ahead(mut self) -> Self {
        self.ahead = self.location.store().is_far();
        self
    }

    /// The schema of every batch.
    pub fn schema(&self) -> &SchemaRef {
        &self.output
    }

    /// The table's place.
    pub fn location(&self) -> &Location {
        &self.location
    }
}

/// The rows of one file, batch by batch.
#[derive(Debug)]
pub struct FileRows {
    scan: Arc<RowScan>,
    file: DataFile,
    columns: Vec<Source>,
    rows: Rows,
    tracked: Option<Tracked>,
}

/// Where a column of the read comes from.
#[derive(Debug)]
enum Source {
    File(usize, super::cast::Convert),
    /// The same in every row: an array of one row, and one of as many as a batch has needed so far.
    Constant(ArrayRef, ArrayRef),
}

/// Opens one logical file of a read.
///
/// # Errors
/// [`Error::DataFile`] when the file is missing, damaged, or holds what the table's types cannot;
/// [`Error::DeletionVector`] when its deletion vector is missing, damaged, or not of this file.
///
/// # Cost
/// One request for the end of the file (all of a small one), one for each deletion-vector file, one for a page index
/// that the end does not hold, if there is a predicate; then one for the needed columns of each row group. Row groups
/// and pages in which the predicate cannot be true are not read. A read of no column of the file reads its footer only.
pub fn read_file(scan: &Arc<RowScan>, add: &Add) -> Result<FileRows> {
    open(scan, add, &Shared::default())
}

/// [`read_file`] with deletion vectors that are read for many files at once.
pub(crate) fn open(scan: &Arc<RowScan>, add: &Add, vectors: &Shared) -> Result<FileRows> {
    let deleted = match &add.deletion_vector {
        Some(descriptor) => Some(vectors.load(descriptor, &scan.location)?),
        None => None,
    };
    open_without(scan, add, deleted.as_ref(), None)
}

/// The rows of a file except these, whatever its action says. `places` is set to their known positions.
pub(super) fn open_without(
    scan: &Arc<RowScan>,
    add: &Add,
    deleted: Option<&DeletionVector>,
    places: Option<&mut Positions>,
) -> Result<FileRows> {
    let path = add.path.resolve(scan.location.root())?;
    let file = DataFile::open(&scan.location, path, add.size)?;
    let metadata = file.metadata(scan.pruner.is_some())?;
    check_vector(deleted, &metadata, &file)?;
    let mut unused = Positions::default();
    let wants_places = places.is_some() || scan.row_ids.is_some();
    let places = places.unwrap_or(&mut unused);
    places.rows = row_count(&metadata);

    let footer = metadata.file_metadata();
    let projection = Projection::new(&file.path(), &scan.columns, &scan.in_files, scan.mode, footer)?;
    let empty = projection.is_empty();
    let rows = if empty {
        if wants_places {
            places.ranges = left(places.rows, deleted);
        }
        Rows::Counted(places.rows.saturating_sub(deleted.map_or(0, DeletionVector::cardinality)))
    } else {
        let prunable = &projection.prunable;
        let may_match = scan.pruner.as_ref().map(|p| row_groups(p, prunable, &metadata));
        let wanted = |group: &usize| {
            metadata.row_group(*group).num_rows() > 0 && may_match.as_ref().is_none_or(|m| m.value(*group))
        };
        let wanted: Vec<usize> = (0..metadata.num_row_groups()).filter(wanted).collect();
        let metadata = match &scan.pruner {
            Some(p) => file.page_index(metadata, &wanted, &pages::judged(p, prunable), &projection.mask)?,
            None => metadata,
        };
        let in_pages = |group| pages::matching(scan.pruner.as_ref()?, prunable, &metadata, group);
        let selections = select(&metadata, &wanted, in_pages, deleted);
        if wants_places {
            places.ranges = positions(&metadata, &selections);
        }
        Rows::decode(&file, metadata, &projection, selections, (scan.batch_size, scan.ahead))?
    };
    let columns = sources(scan, add, projection)?;
    let tracked = scan.row_ids.as_ref().map(|ids| Tracked::of(ids, add, places)).transpose()?;
    Ok(FileRows { scan: scan.clone(), file, columns, rows, tracked })
}

/// Where each column comes from: the file, the log (partition values) or nowhere (null).
fn sources(scan: &RowScan, add: &Add, projection: Projection) -> Result<Vec<Source>> {
    projection
        .columns
        .into_iter()
        .zip(&scan.columns.fields)
        .zip(&scan.in_files)
        .map(|((found, field), in_files)| {
            let value = match found {
                Some((index, convert)) => return Ok(Source::File(index, convert)),
                None if *in_files => new_null_array(&crate::schema::arrow_type(&field.data_type), 1),
                None => {
                    let text =
                        add.partition_values.get(field.physical_name(scan.mode)).and_then(Option::as_deref);
                    partition::parse(&field.name, text, &field.data_type)?
                }
            };
            Ok(Source::Constant(value.clone(), value))
        })
        .collect()
}

impl FileRows {
    /// The schema of every batch.
    pub fn schema(&self) -> &SchemaRef {
        self.scan.schema()
    }

    /// A batch of the file as one of the table.
    fn logical(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let fields = self.scan.arrow.fields();
        let columns = self
            .columns
            .iter_mut()
            .zip(fields)
            .map(|(source, field)| match source {
                Source::File(index, convert) => convert
                    .apply(batch.column(*index))
                    .map_err(|e| self.file.error(format!("column `{}`: {e}", field.name()))),
                Source::Constant(value, cached) => {
                    if cached.len() < rows {
                        *cached = partition::repeat(value, rows)?;
                    }
                    Ok(cached.slice(0, rows))
                }
            })
            .collect::<Result<Vec<_>>>()?;
        if let Some((field, column)) = fields
            .iter()
            .zip(&columns)
            .find(|(field, column)| !field.is_nullable() && column.logical_null_count() > 0)
        {
            let nulls = column.logical_null_count();
            return Err(self
                .file
                .error(format!("column `{}` is NOT NULL and has {nulls} nulls", field.name())));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.scan.arrow.clone(), columns, &options)
            .map_err(|e| self.file.error(e))
    }

    /// The requested columns of the rows that match.
    fn filtered(&self, batch: RecordBatch) -> Result<RecordBatch> {
        let scan = &self.scan;
        if scan.filter.is_none() && scan.row_ids.is_none() {
            return Ok(batch);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let made = if scan.row_ids.is_some() { 2 } else { 0 };
        let (requested, last) = (&batch.columns()[..scan.requested], batch.num_columns() - made);
        let columns = requested.iter().chain(&batch.columns()[last..]).cloned().collect();
        let requested = RecordBatch::try_new_with_options(scan.output.clone(), columns, &options);
        match &scan.filter {
            None => requested,
            Some(filter) => {
                let mask = filter.mask(&batch)?;
                requested.and_then(|requested| filter_record_batch(&requested, &mask))
            }
        }
        .map_err(|e| Error::arrow("filtering rows", e))
    }
}

impl Iterator for FileRows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let batch = match self.rows.next(&self.file, self.scan.batch_size) {
                Ok(Some(batch)) => batch,
                Ok(None) => return None,
                Err(error) => {
                    self.rows = Rows::Done;
                    return Some(Err(error));
                }
            };
            let batch = self.logical(&batch).and_then(|b| match &mut self.tracked {
                Some(tracked) => tracked.settle(&b),
                None => Ok(b),
            });
            match batch.and_then(|b| self.filtered(b)) {
                Ok(batch) if batch.num_rows() == 0 => {}
                Ok(batch) => return Some(Ok(batch)),
                Err(error) => {
                    self.rows = Rows::Done;
                    return Some(Err(error));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::predicate::{CompareOp, Literal};
    use crate::scan::testing::{Folder, field, lines, numbers, numbers_schema, only, read_all, schema};
    use arrow::array::Int64Array;

    fn ids(batch: &RecordBatch) -> Vec<i64> {
        let column = batch.column_by_name("id").unwrap();
        column.as_any().downcast_ref::<Int64Array>().unwrap().values().to_vec()
    }

    #[test]
    fn columns_come_in_the_order_asked_for_with_partition_values_in_place() {
        let folder = Folder::new();
        let mut add = folder.parquet("a b.parquet", &numbers(3), 2);
        add.partition_values.insert("p".into(), Some("7".into()));
        let with_partition = schema(
            &[field("id", r#""long""#), field("p", r#""integer""#), field("name", r#""string""#)].join(","),
        );
        let all = folder.scan(&with_partition, &["p"], ReadRequest::default());
        assert_eq!(lines(&read_all(&all, &add).unwrap()), ["0|7|", "1|7|n1", "2|7|n2"]);
        let some = folder.scan(&with_partition, &["p"], only(&["name", "P"]));
        let batch = read_all(&some, &add).unwrap();
        assert_eq!(lines(&batch), ["|7", "n1|7", "n2|7"]);
        assert_eq!(batch.schema().field(1).name(), "p");
    }

    #[test]
    fn a_partition_column_that_the_file_also_has_comes_from_the_log() {
        let folder = Folder::new();
        let mut add = folder.parquet("f.parquet", &numbers(2), 10);
        add.partition_values.insert("id".into(), None);
        let scan = folder.scan(&numbers_schema(), &["id"], ReadRequest::default());
        assert_eq!(lines(&read_all(&scan, &add).unwrap()), ["|", "|n1"]);
    }

    #[test]
    fn a_read_of_no_column_counts_the_rows() {
        let folder = Folder::new();
        let mut add = folder.parquet("f.parquet", &numbers(1000), 300);
        let scan = folder.scan(&numbers_schema(), &[], ReadRequest { batch_size: 64, ..only(&[]) });
        let count = |add: &Add| read_file(&scan, add).unwrap().map(|b| b.unwrap().num_rows()).sum::<usize>();
        assert_eq!(count(&add), 1000);
        add.deletion_vector = Some([0, 299, 300, 999].into_iter().collect::<DeletionVector>().to_inline());
        assert_eq!(count(&add), 996);
    }

    #[test]
    fn t32_deleted_rows_are_physical_positions_across_batches_and_row_groups() {
        let folder = Folder::new();
        let mut add = folder.parquet("f.parquet", &numbers(10_000), 777);
        // a whole row group, its neighbours' edges, and every fifth row of the rest
        let deleted: DeletionVector =
            (1554..2331).chain([1553, 2331]).chain((0..10_000).step_by(5)).collect();
        add.deletion_vector = Some(deleted.to_inline());
        for batch_size in [1, 100, 1000, 100_000] {
            let request = ReadRequest { batch_size, ..only(&["id"]) };
            let got = read_all(&folder.scan(&numbers_schema(), &[], request), &add).unwrap();
            let want: Vec<i64> = (0..10_000).filter(|i| !deleted.rows().contains(*i as u64)).collect();
            assert_eq!(got.num_rows() as u64, 10_000 - deleted.cardinality());
            assert_eq!(ids(&got), want, "batches of {batch_size}");
        }
    }

    #[test]
    fn t33_a_missing_deletion_vector_is_an_error_and_never_no_deletes() {
        let folder = Folder::new();
        let mut add = folder.parquet("f.parquet", &numbers(10), 10);
        let vector: DeletionVector = [3].into_iter().collect();
        let (body, descriptors) =
            crate::deletion_vector::write_file(&[vector], "", uuid::Uuid::from_u128(7)).unwrap();
        add.deletion_vector = Some(descriptors[0].clone());
        let scan = folder.scan(&numbers_schema(), &[], ReadRequest::default());
        let error = read_file(&scan, &add).unwrap_err();
        assert_eq!(error.kind(), "DeletionVector");
        assert!(error.to_string().ends_with("the file does not exist, but the log refers to it"), "{error}");
        // a count of rows is not answered from the file alone either
        let count = folder.scan(&numbers_schema(), &[], only(&[]));
        assert_eq!(read_file(&count, &add).unwrap_err().kind(), "DeletionVector");
        folder.put("deletion_vector_00000000-0000-0000-0000-000000000007.bin", &body);
        assert_eq!(read_all(&scan, &add).unwrap().num_rows(), 9);
    }

    #[test]
    fn a_deletion_vector_of_another_file_is_refused() {
        let folder = Folder::new();
        let mut add = folder.parquet("f.parquet", &numbers(10), 10);
        add.deletion_vector = Some([10].into_iter().collect::<DeletionVector>().to_inline());
        let error =
            read_file(&folder.scan(&numbers_schema(), &[], ReadRequest::default()), &add).unwrap_err();
        assert!(
            matches!(error.plain(), Error::DeletionVector { reason, .. }
            if reason == "it deletes row 10, but the data file has 10 rows"),
            "{error}"
        );
    }

    #[test]
    fn a_missing_a_cut_and_a_foreign_file_are_named() {
        let folder = Folder::new();
        let scan = folder.scan(&numbers_schema(), &[], ReadRequest::default());
        let mut add = folder.parquet("f.parquet", &numbers(10), 10);
        let reason = |add: &Add| match read_file(&scan, add).unwrap_err() {
            Error::DataFile { path, reason } => {
                assert!(path.ends_with(add.path.as_str()), "{path}");
                reason
            }
            other => other.to_string(),
        };
        add.size += 1;
        assert!(reason(&add).ends_with("it was replaced or cut"), "{}", reason(&add));
        add.size -= 2;
        assert!(reason(&add).ends_with("it was replaced or cut"), "{}", reason(&add));
        let text = folder.put("t.parquet", b"this is no Parquet file");
        assert!(reason(&text).contains("Parquet"), "{}", reason(&text));
        std::fs::remove_file(folder.dir.path().join("t.parquet")).unwrap();
        assert!(reason(&text).contains("VACUUM or another writer may have removed it"), "{}", reason(&text));
    }

    #[test]
    fn a_null_in_a_column_that_has_none_is_refused() {
        let folder = Folder::new();
        let add = folder.parquet("f.parquet", &numbers(10), 10);
        let mut strict = numbers_schema();
        strict.fields[1].nullable = false;
        let error = read_all(&folder.scan(&strict, &[], ReadRequest::default()), &add).unwrap_err();
        assert!(error.to_string().ends_with("column `name` is NOT NULL and has 4 nulls"), "{error}");
        // what is not read is not checked
        assert_eq!(read_all(&folder.scan(&strict, &[], only(&["id"])), &add).unwrap().num_rows(), 10);
    }

    #[test]
    fn only_matching_rows_come_and_the_columns_of_the_predicate_do_not() {
        let folder = Folder::new();
        let mut add = folder.parquet("f.parquet", &numbers(10), 4);
        add.deletion_vector = Some([7].into_iter().collect::<DeletionVector>().to_inline());
        let predicate =
            Predicate::Compare { op: CompareOp::Ge, column: vec!["ID".into()], value: Literal::Long(6) };
        let request = ReadRequest { filter: Some(predicate.into()), ..only(&["name"]) };
        let batch = read_all(&folder.scan(&numbers_schema(), &[], request), &add).unwrap();
        assert_eq!((batch.num_columns(), lines(&batch)), (1, vec!["".into(), "n8".into(), "".into()]));
    }

    #[test]
    fn text_with_a_collation_is_not_compared_by_its_bytes() {
        let folder = Folder::new();
        let mut schema = numbers_schema();
        schema.fields[1]
            .metadata
            .insert("__COLLATIONS".into(), serde_json::json!({"name": "spark.UTF8_LCASE"}));
        let plan = |predicate: Predicate| {
            let request = ReadRequest { filter: Some(predicate.into()), ..only(&["id"]) };
            RowScan::new(folder.location.clone(), &schema, &[], ColumnMappingMode::None, request)
        };
        let column = || vec!["name".to_owned()];
        let value = Literal::String("N1".into());
        let equal = Predicate::Compare { op: CompareOp::Eq, column: column(), value };
        for predicate in [equal.clone(), Predicate::Not(Box::new(equal))] {
            let error = plan(predicate).unwrap_err().to_string();
            assert_eq!(error, "predicate `name = 'N1'`: `name` has a collation: filter its rows with Spark");
        }
        assert!(plan(Predicate::IsNull { column: column() }).is_ok());
    }

    #[test]
    fn unknown_and_repeated_columns_are_refused() {
        let folder = Folder::new();
        let plan = |request| {
            let schema = numbers_schema();
            RowScan::new(folder.location.clone(), &schema, &[], ColumnMappingMode::None, request)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(plan(only(&["x"])), "columns: no column `x`. The table has id, name");
        assert_eq!(plan(only(&["id", "ID"])), "columns: `id` is requested twice");
        let on =
            |predicate: Predicate| ReadRequest { filter: Some(predicate.into()), ..ReadRequest::default() };
        let unknown = Predicate::IsNull { column: vec!["s".into(), "x".into()] };
        assert_eq!(plan(on(unknown)), "predicate `s.x`: no such column. The table has id, name");
        assert_eq!(
            plan(on(Predicate::Unknown("f(id)".into()))),
            "predicate `f(id)`: rows cannot be filtered by it"
        );
        assert_eq!(plan(ReadRequest { batch_size: 0, ..only(&[]) }), "batch_size: 0 rows: at least 1");
    }
}
