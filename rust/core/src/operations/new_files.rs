//! Data to files, and what a commit says of them.

use std::collections::BTreeMap;

use arrow::array::RecordBatchReader;

use super::overwrite::check_rows;
use crate::actions::Add;
use crate::error::{Error, Result};
use crate::write::{
    RowCondition, Rules, TableWriter, Uploads, WriteOptions, WritePlan, WrittenData, conform_rows,
};

/// Written files, and the facts that belong to them.
#[derive(Clone, Default)]
pub(super) struct NewFiles {
    pub(super) adds: Vec<Add>,
    pub(super) rows: u64,
    /// The farthest identities in them, by physical name.
    pub(super) marks: BTreeMap<String, i64>,
}

impl NewFiles {
    pub(super) fn of(written: Vec<WrittenData>, rules: &Rules) -> Self {
        let rows = written.iter().map(|w| w.rows).sum();
        let adds = written.into_iter().map(|w| w.add).collect();
        NewFiles { adds, rows, marks: rules.marks() }
    }
}

/// Writes the data into files, all below `folder` of the table where one is given.
pub(crate) fn fill(
    plan: &WritePlan,
    data: impl RecordBatchReader,
    rules: &mut Rules,
    uploads: &Uploads,
    options: &WriteOptions,
    folder: Option<&str>,
) -> Result<Vec<WrittenData>> {
    let mut files = TableWriter::new(plan, uploads, options, folder);
    let checks = options.check_replaced && !options.engine_replaces;
    let checked = options.replace_where.as_deref().filter(|_| checks);
    let replaced = checked.map(|text| RowCondition::new(Some(text), plan)).transpose()?;
    for batch in data {
        let given = batch.map_err(|e| Error::arrow("reading the data to write", e))?;
        let batch = conform_rows(plan, rules, &given)?;
        if let Some(replaced) = &replaced {
            check_rows(plan, replaced, &given, &batch, rules)?;
        }
        files.write(&batch)?;
    }
    files.finish()
}
