//! What a purge takes out of a table: rows that vectors hide, and columns that were dropped.

use std::collections::BTreeMap;

use parquet::arrow::parquet_to_arrow_schema;
use rayon::prelude::*;

use super::bins::deleted_ratio;
use crate::actions::Add;
use crate::alter::row_tracking::COLUMNS;
use crate::error::{Error, Result};
use crate::scan::has_other_fields;
use crate::schema::{BY_NAME, DataType, StructField};
use crate::store::runtime;
use crate::write::{WritePlan, read_footer};

/// The files with deleted rows, and those with fields that the table does not have.
///
/// # Errors
/// [`Error::DataFile`] for a file that cannot be read; errors of the store.
///
/// # Cost
/// The footer of each file without a deletion vector is read, several at a time.
pub(super) fn to_be_purged<P: Ord>(
    plan: &WritePlan,
    files: BTreeMap<P, Vec<Add>>,
) -> Result<BTreeMap<P, Vec<Add>>> {
    let columns = readable(plan);
    let wanted = |add: &Add| match deleted_ratio(add).is_none_or(|ratio| ratio > 0.0) {
        true => Ok(true),
        false => has_dropped_columns(plan, &columns, add),
    };
    let mut out = BTreeMap::new();
    for (partition, files) in files {
        let found: Vec<bool> =
            runtime::pool()?.install(|| files.par_iter().map(wanted).collect::<Result<_>>())?;
        let files: Vec<Add> =
            files.into_iter().zip(found).filter_map(|(add, found)| found.then_some(add)).collect();
        out.insert(partition, files);
    }
    Ok(out)
}

/// What is read from files: the columns of the table, and those of row tracking.
fn readable(plan: &WritePlan) -> Vec<StructField> {
    let tracked = COLUMNS.iter().filter_map(|(property, _)| plan.metadata.property(*property));
    let tracked = tracked.map(|name| {
        let mut field = StructField::new(name, DataType::Long, true);
        field.metadata.insert(BY_NAME.into(), true.into());
        field
    });
    plan.schema.fields.iter().cloned().chain(tracked).collect()
}

fn has_dropped_columns(plan: &WritePlan, columns: &[StructField], add: &Add) -> Result<bool> {
    let path = add.path.resolve(plan.location.root())?;
    let store = plan.location.store_for(&path)?;
    let footer = read_footer(store.as_ref(), &path, add.size.unsigned_abs())?;
    let found = parquet_to_arrow_schema(footer.file_metadata().schema_descr(), None)
        .map_err(|e| Error::DataFile { path: path.to_string(), reason: e.to_string() })?;
    has_other_fields(&path.to_string(), found.fields(), columns, plan.column_mapping)
}
