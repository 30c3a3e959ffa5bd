//! `deltaic._core`: deletes and updates of rows. Results cross as JSON.

use deltaic_core::dml;
use pyo3::prelude::*;
use serde_json::json;

use crate::document::Document;
use crate::runtime;
use crate::table::Table;

/// The options of a delete or update.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct DmlOptions {
    compression: Option<String>,
    target_file_size: Option<u64>,
    user_metadata: Option<String>,
    app_transaction: Option<(String, i64)>,
}

impl From<Document<DmlOptions>> for dml::DmlOptions {
    fn from(Document(options): Document<DmlOptions>) -> Self {
        let defaults = dml::DmlOptions::default();
        dml::DmlOptions {
            target_file_size: options.target_file_size.unwrap_or(defaults.target_file_size),
            compression: options.compression,
            user_metadata: options.user_metadata,
            app_transaction: options.app_transaction,
            ..defaults
        }
    }
}

/// Deletes the rows for which a condition (SQL) is true; what it did as JSON. `tell` is called with how far it is.
#[pyfunction]
#[pyo3(signature = (table, condition, options, tell=None))]
pub(crate) fn delete_rows(
    py: Python<'_>,
    table: &Table,
    condition: Option<&str>,
    options: Document<DmlOptions>,
    tell: Option<Py<PyAny>>,
) -> PyResult<String> {
    let options = options.into();
    let done = runtime::followed(py, tell.as_ref(), |cancel, progress| {
        let location = table.location().stopped_by(cancel).followed_by(progress);
        deltaic_core::operations::delete(&location, condition, &options)
    })?;
    Ok(json!({
        "version": done.version, "deleted_rows": done.deleted_rows, "copied_rows": done.copied_rows,
        "removed_files": done.removed_files, "added_files": done.added_files,
        "vectors_added": done.vectors_added, "vectors_removed": done.vectors_removed,
        "change_files": done.change_files, "warnings": done.warnings
    })
    .to_string())
}

/// Sets columns to SQL expressions in the rows for which a condition (SQL) is true; what it did as JSON. `tell` is called
/// with how far it is.
#[pyfunction]
#[pyo3(signature = (table, assignments, condition, options, tell=None))]
pub(crate) fn update_rows(
    py: Python<'_>,
    table: &Table,
    assignments: Vec<(String, String)>,
    condition: Option<&str>,
    options: Document<DmlOptions>,
    tell: Option<Py<PyAny>>,
) -> PyResult<String> {
    let options = options.into();
    let done = runtime::followed(py, tell.as_ref(), |cancel, progress| {
        let location = table.location().stopped_by(cancel).followed_by(progress);
        deltaic_core::operations::update(&location, &assignments, condition, &options)
    })?;
    Ok(json!({
        "version": done.version, "updated_rows": done.updated_rows, "copied_rows": done.copied_rows,
        "touched_files": done.touched_files, "added_files": done.added_files,
        "vectors_added": done.vectors_added, "vectors_removed": done.vectors_removed,
        "change_files": done.change_files, "warnings": done.warnings
    })
    .to_string())
}
