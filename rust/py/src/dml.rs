//! `deltaic._core`: deletes and updates of rows. Results cross as JSON.

use deltaic_core::dml::DmlOptions;
use pyo3::prelude::*;
use serde_json::json;

use crate::runtime;
use crate::table::Table;

fn options(
    compression: Option<String>,
    target_file_size: Option<u64>,
    user_metadata: Option<String>,
    app_transaction: Option<(String, i64)>,
) -> DmlOptions {
    let defaults = DmlOptions::default();
    DmlOptions {
        target_file_size: target_file_size.unwrap_or(defaults.target_file_size),
        compression,
        user_metadata,
        app_transaction,
        ..defaults
    }
}

/// Deletes the rows for which a condition (SQL) is true; what it did as JSON.
#[pyfunction]
#[pyo3(signature = (table, condition, *, compression, target_file_size, user_metadata, app_transaction))]
pub(crate) fn delete_rows(
    py: Python<'_>,
    table: &Table,
    condition: Option<&str>,
    compression: Option<String>,
    target_file_size: Option<u64>,
    user_metadata: Option<String>,
    app_transaction: Option<(String, i64)>,
) -> PyResult<String> {
    let options = options(compression, target_file_size, user_metadata, app_transaction);
    let done = runtime::stoppable(py, |cancel| {
        deltaic_core::operations::delete(&table.location().stopped_by(cancel), condition, &options)
    })?;
    Ok(json!({
        "version": done.version, "deleted_rows": done.deleted_rows, "copied_rows": done.copied_rows,
        "removed_files": done.removed_files, "added_files": done.added_files,
        "vectors_added": done.vectors_added, "vectors_removed": done.vectors_removed,
        "change_files": done.change_files, "warnings": done.warnings
    })
    .to_string())
}

/// Sets columns to SQL expressions in the rows for which a condition (SQL) is true; what it did as JSON.
#[pyfunction]
#[pyo3(signature = (table, assignments, condition, *, compression, target_file_size, user_metadata, app_transaction))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn update_rows(
    py: Python<'_>,
    table: &Table,
    assignments: Vec<(String, String)>,
    condition: Option<&str>,
    compression: Option<String>,
    target_file_size: Option<u64>,
    user_metadata: Option<String>,
    app_transaction: Option<(String, i64)>,
) -> PyResult<String> {
    let options = options(compression, target_file_size, user_metadata, app_transaction);
    let done = runtime::stoppable(py, |cancel| {
        deltaic_core::operations::update(
            &table.location().stopped_by(cancel),
            &assignments,
            condition,
            &options,
        )
    })?;
    Ok(json!({
        "version": done.version, "updated_rows": done.updated_rows, "copied_rows": done.copied_rows,
        "touched_files": done.touched_files, "added_files": done.added_files,
        "vectors_added": done.vectors_added, "vectors_removed": done.vectors_removed,
        "change_files": done.change_files, "warnings": done.warnings
    })
    .to_string())
}
