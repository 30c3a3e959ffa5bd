//! Identities that another writer gave at the same time: the rows are written again, with the next ones.

use std::sync::Arc;

use super::new_files::{NewFiles, fill};
use crate::actions::Add;
use crate::error::{ConflictRule, Error, Result};
use crate::scan::{ReadRequest, RowScan};
use crate::schema::StructType;
use crate::write::{Rules, Target, Uploads, WriteMode, WriteOptions, WritePlan, plan_write, rows_of};

/// Whether a write lost because its identities were given to other rows, and rows that follow the others are as good.
pub(super) fn can_retry(error: &Error, options: &WriteOptions) -> bool {
    let taken = error.conflict().is_some_and(|c| c.rule == ConflictRule::IdentityTaken);
    taken && options.mode == WriteMode::Append
}

/// Rewrites the rows of files for the current table: generated identity values are generated again. `given` are the
/// given columns. Returns the new plan and files; the old ones are of no more use.
///
/// # Errors
/// As [`crate::operations::write`].
pub(super) fn retry(
    plan: &WritePlan,
    files: Vec<Add>,
    given: &StructType,
    uploads: &Uploads,
    options: &WriteOptions,
) -> Result<(WritePlan, NewFiles)> {
    let made = Rules::of(plan, given)?.made_of_rows();
    let fields = plan.schema.fields.iter().enumerate().filter(|(place, _)| !made.contains(place));
    let given = StructType { fields: fields.map(|(_, field)| field.clone()).collect() };
    let columns = Some(given.fields.iter().map(|f| f.name.clone()).collect());
    let request = ReadRequest { columns, ..Default::default() };
    let (location, partitions) = (plan.location.clone(), &plan.partition_columns);
    let scan = Arc::new(RowScan::new(location, &plan.schema, partitions, plan.column_mapping, request)?);
    let now = plan_write(&plan.location, &given, options)?;
    if let Target::Skip(_) = now.target {
        return Ok((now, NewFiles::default()));
    }
    let mut rules = Rules::of(&now, &given)?;
    let written = fill(&now, rows_of(&scan, files, Ok), &mut rules, uploads, options, None)?;
    let new = NewFiles::of(written, &rules);
    Ok((now, new))
}
