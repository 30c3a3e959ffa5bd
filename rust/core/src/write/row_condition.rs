//! The condition of a delete, update or overwrite, bound to the table.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::datatypes::{Field, Schema};

use super::failing_row::first_not_true;
use crate::actions::{Add, PartitionValues};
use crate::error::{Error, Result};
use crate::expr::{Evaluator, implied, parse};
use crate::partition;
use crate::predicate::Predicate;
use crate::scan::{ReadRequest, RowScan};
use crate::schema::{StructType, arrow_type};
use crate::write::WritePlan;

/// Selects rows: those for which it is true, not unknown.
#[derive(Debug)]
pub(crate) struct RowCondition<'a> {
    table: &'a WritePlan,
    /// None means every row.
    given: Option<Given>,
}

#[derive(Debug)]
struct Given {
    /// Over all columns.
    whole: Evaluator,
    /// Over those that it reads.
    narrow: Evaluator,
    columns: Vec<String>,
    predicate: Predicate,
    by_partitions: bool,
}

impl<'a> RowCondition<'a> {
    /// From SQL text; without it every row matches.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`] for what is not a condition on this table.
    pub(crate) fn new(text: Option<&str>, table: &'a WritePlan) -> Result<Self> {
        let Some(text) = text else { return Ok(RowCondition { table, given: None }) };
        let schema = &table.schema;
        let whole = Evaluator::condition(text, schema)?;
        let fields: Vec<_> =
            whole.columns().iter().filter_map(|at| schema.fields.get(*at).cloned()).collect();
        let columns: Vec<String> = fields.iter().map(|f| f.name.clone()).collect();
        let narrow = Evaluator::condition(text, &StructType { fields })?;
        let predicate = implied(&parse(text)?, text);
        let by_partitions = columns.iter().all(|c| table.partition_columns.contains(c));
        Ok(RowCondition { table, given: Some(Given { whole, narrow, columns, predicate, by_partitions }) })
    }

    /// As it was given; none for every row.
    pub(crate) fn text(&self) -> Option<&str> {
        self.given.as_ref().map(|g| g.whole.text())
    }

    /// Prunes files, and is the claim of what was read; `None` for every row.
    pub(crate) fn predicate(&self) -> Option<&Predicate> {
        self.given.as_ref().map(|g| &g.predicate)
    }

    /// Whether partition values alone decide.
    pub(crate) fn is_by_partitions(&self) -> bool {
        self.given.as_ref().is_none_or(|g| g.by_partitions)
    }

    /// The first column of it that the table is not partitioned by.
    pub(crate) fn other_column(&self) -> Option<&str> {
        let columns = self.given.iter().flat_map(|g| &g.columns);
        columns.map(String::as_str).find(|name| !self.table.partition_columns.iter().any(|p| p == name))
    }

    /// Of these files, those in which every row matches, by partition values.
    ///
    /// # Errors
    /// [`Error::InvalidSchema`] for a partition value that cannot be read, [`Error::InvalidExpression`] for one that the
    /// condition cannot be computed for.
    pub(crate) fn whole_files(&self, files: Vec<Add>) -> Result<Vec<Add>> {
        if self.given.is_none() {
            return Ok(files);
        }
        let mut judged: HashMap<PartitionValues, bool> = HashMap::new();
        let mut out = Vec::new();
        for file in files {
            let matches = match judged.get(&file.partition_values) {
                Some(matches) => *matches,
                None => {
                    let matches = self.is_of_all_rows(&file.partition_values)?;
                    judged.insert(file.partition_values.clone(), matches);
                    matches
                }
            };
            if matches {
                out.push(file);
            }
        }
        Ok(out)
    }

    /// Whether every row of a file with these partition values matches.
    ///
    /// # Errors
    /// As [`Self::whole_files`].
    pub(crate) fn is_of_all_rows(&self, values: &PartitionValues) -> Result<bool> {
        let Some(given) = &self.given else { return Ok(true) };
        let truth = given.whole.truth(&self.row_of(values)?)?;
        Ok(truth.is_valid(0) && truth.value(0))
    }

    /// A read of the columns of the condition, without what cannot match; none are read of where partition values decide.
    ///
    /// # Errors
    /// As [`RowScan::new`].
    pub(crate) fn scan(&self) -> Result<Arc<RowScan>> {
        let columns = match &self.given {
            Some(given) if !given.by_partitions => given.columns.clone(),
            _ => Vec::new(),
        };
        let table = self.table;
        let scan = RowScan::new(
            table.location.clone(),
            &table.schema,
            &table.partition_columns,
            table.column_mapping,
            ReadRequest { columns: Some(columns), ..Default::default() },
        )?;
        match &self.given {
            Some(given) if !given.by_partitions => scan.pruned_by(&given.predicate).map(Arc::new),
            _ => Ok(Arc::new(scan)),
        }
    }

    /// Calls `found` with the number of each row of a batch of [`RowCondition::scan`] that matches.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`] for a row that the condition cannot be computed for.
    pub(crate) fn for_each_match(&self, batch: &RecordBatch, mut found: impl FnMut(usize)) -> Result<()> {
        match &self.given {
            Some(given) if !given.by_partitions => {
                let truth = given.narrow.truth(batch)?;
                (0..truth.len()).filter(|row| truth.is_valid(*row) && truth.value(*row)).for_each(found);
            }
            _ => (0..batch.num_rows()).for_each(&mut found),
        }
        Ok(())
    }

    /// The first row of a batch of all columns of the table that does not match, and what the condition reads of it.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`] for a row that the condition cannot be computed for.
    pub(crate) fn first_other(&self, batch: &RecordBatch) -> Result<Option<(usize, &[usize])>> {
        let Some(given) = &self.given else { return Ok(None) };
        let truth = given.whole.truth(batch)?;
        Ok(first_not_true(&truth).map(|row| (row, given.whole.columns())))
    }

    /// A row of all columns of which only the partition columns have values.
    fn row_of(&self, values: &PartitionValues) -> Result<RecordBatch> {
        let (schema, mode) = (&self.table.schema, self.table.column_mapping);
        let partitions = &self.table.partition_columns;
        let columns = schema.fields.iter().map(|field| match partitions.contains(&field.name) {
            true => {
                let text = values.get(field.physical_name(mode)).and_then(Option::as_deref);
                partition::parse(&field.name, text, &field.data_type)
            }
            false => Ok(new_null_array(&arrow_type(&field.data_type), 1)),
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let fields: Vec<Field> = schema
            .fields
            .iter()
            .zip(&columns)
            .map(|(f, c)| Field::new(&f.name, c.data_type().clone(), true))
            .collect();
        let one = RecordBatchOptions::new().with_row_count(Some(1));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &one)
            .map_err(|e| Error::arrow("the partition values of a file", e))
    }
}
