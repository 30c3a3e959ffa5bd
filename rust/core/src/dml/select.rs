//! Reads of the rows for which an SQL condition is true.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::filter_record_batch;
use arrow::datatypes::SchemaRef;

use crate::actions::Add;
use crate::error::{Error, Result};
use crate::expr::{Evaluator, parse};
use crate::predicate::Predicate;
use crate::replay::FilesRequest;
use crate::scan::{ReadRequest, RowScan, RowStream, workers};
use crate::schema::StructType;
use crate::snapshot::Snapshot;
use crate::write::implied;

/// A predicate that is true wherever a condition in Spark SQL is: what it cannot express is unknown. It prunes files,
/// and is the claim of what a transaction read.
///
/// # Errors
/// [`Error::InvalidExpression`] for what is not a condition on this table.
pub fn implied_predicate(snapshot: &Snapshot, condition: &str) -> Result<Predicate> {
    Evaluator::condition(condition, snapshot.schema())?;
    Ok(implied(&parse(condition)?, condition))
}

/// Reads exactly the rows of a version for which a condition in Spark SQL is true, as [`crate::scan::read`] does it for a
/// predicate.
///
/// # Errors
/// [`Error::InvalidArgument`] for a request with a predicate of its own; [`Error::InvalidExpression`] for what is not a
/// condition on this table, and from the stream for a row that it cannot be computed for; as [`crate::scan::read`].
///
/// # Cost
/// As [`crate::scan::read`]. The columns of the condition are read, too.
pub fn select(snapshot: &Snapshot, condition: &str, request: ReadRequest) -> Result<SelectedRows> {
    if request.predicate.is_some() {
        let reason = "a read with a condition takes no predicate".into();
        return Err(Error::InvalidArgument { argument: "predicate".into(), reason });
    }
    let predicate = implied_predicate(snapshot, condition)?;
    let table = snapshot.schema();
    let all = Evaluator::condition(condition, table)?;
    let fields: Vec<_> = all.columns().iter().filter_map(|at| table.fields.get(*at).cloned()).collect();
    let same = |a: &str, b: &str| a.to_lowercase() == b.to_lowercase();
    let mut columns: Vec<String> = match request.columns {
        Some(columns) => columns,
        None => table.fields.iter().map(|field| field.name.clone()).collect(),
    };
    let requested = columns.len();
    for field in &fields {
        if !columns.iter().any(|column| same(column, &field.name)) {
            columns.push(field.name.clone());
        }
    }
    let places = fields.iter().filter_map(|f| columns.iter().position(|c| same(c, &f.name))).collect();
    let last = columns.len();
    let extended = request.row_ids;
    let scan = RowScan::of(snapshot, ReadRequest { columns: Some(columns), ..request })?;
    let scan = scan.pruned_by(&predicate)?;
    let read = scan.schema().clone();
    let output: Vec<usize> = (0..requested).chain(last..read.fields().len()).collect();
    let schema = Arc::new(read.project(&output).map_err(|e| Error::arrow("the columns of a read", e))?);
    let wanted = FilesRequest { predicate: Some(predicate), extended, ..FilesRequest::default() };
    let (files, scan) = (snapshot.files(wanted)?, Arc::new(scan));
    let batches = files.map(move |batch| Ok((scan.clone(), batch?.adds().collect::<Result<Vec<Add>>>()?)));
    let rows = RowStream::start(read, batches, workers(snapshot.location()))?;
    let condition = Evaluator::condition(condition, &StructType { fields })?;
    Ok(SelectedRows { rows, condition, places, output, schema, ended: false })
}

/// The rows for which a condition is true, batch by batch; an error is the last item.
pub struct SelectedRows {
    rows: RowStream,
    condition: Evaluator,
    /// The columns of the condition among those that are read.
    places: Vec<usize>,
    /// The requested columns among those that are read.
    output: Vec<usize>,
    schema: SchemaRef,
    ended: bool,
}

impl fmt::Debug for SelectedRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SelectedRows").field("condition", &self.condition.text()).finish_non_exhaustive()
    }
}

impl SelectedRows {
    /// The schema of every batch.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn matching(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let arrow = |e| Error::arrow("filtering rows", e);
        let truth = self.condition.truth(&batch.project(&self.places).map_err(arrow)?)?;
        filter_record_batch(&batch.project(&self.output).map_err(arrow)?, &truth).map_err(arrow)
    }
}

impl Iterator for SelectedRows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            match self.rows.next()?.and_then(|batch| self.matching(&batch)) {
                Ok(batch) if batch.num_rows() == 0 => {}
                Ok(batch) => return Some(Ok(batch)),
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}
