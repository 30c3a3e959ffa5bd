//! `deltaic._core`: operations on whole tables. Results cross as JSON.

use std::collections::BTreeMap;

use deltaic_core::maintain::{self, CloneOptions, RestoreOptions};
use deltaic_core::snapshot::At;
use deltaic_core::store::Location;
use pyo3::prelude::*;
use serde_json::json;

use crate::runtime;
use crate::table::{Table, uri_of};

/// Makes the table what it was at a version or time (one of them is given); what it did as JSON. `tell` is called with how
/// far it is.
#[pyfunction]
#[pyo3(signature = (table, version, timestamp, ignore_missing_files, user_metadata, tell=None))]
pub(crate) fn restore(
    py: Python<'_>,
    table: &Table,
    version: Option<u64>,
    timestamp: Option<i64>,
    ignore_missing_files: bool,
    user_metadata: Option<String>,
    tell: Option<Py<PyAny>>,
) -> PyResult<String> {
    runtime::followed(py, tell.as_ref(), |cancel, progress| {
        let at = At::given(&uri_of(table.location().root()), version, timestamp)?;
        let location = table.location().stopped_by(cancel).followed_by(progress);
        let done = maintain::restore(&location, at, &RestoreOptions { ignore_missing_files, user_metadata })?;
        Ok(json!({
            "version": done.version, "restored_version": done.restored_version,
            "restored_files": done.restored, "restored_bytes": done.restored_bytes,
            "removed_files": done.removed, "removed_bytes": done.removed_bytes,
            "files": done.files, "bytes": done.bytes, "warnings": done.warnings
        })
        .to_string())
    })
}

/// Makes the table forget how far an application came.
#[pyfunction]
pub(crate) fn reset_application(py: Python<'_>, table: &Table, app_id: &str) -> PyResult<Option<u64>> {
    runtime::write(py, || maintain::reset_application(table.location(), app_id))
}

/// Takes files out of the log that are not in the store; what it did as JSON.
#[pyfunction]
pub(crate) fn fsck(
    py: Python<'_>,
    uri: &str,
    storage_options: BTreeMap<String, String>,
    dry_run: bool,
) -> PyResult<String> {
    runtime::stoppable(py, |cancel| {
        let location = Location::open(uri, &storage_options.into())?.stopped_by(cancel);
        let done = maintain::fsck(&location, dry_run)?;
        Ok(json!({
            "missing": done.missing, "missing_vectors": done.missing_vectors, "version": done.version,
            "warnings": done.warnings
        })
        .to_string())
    })
}

/// Writes the symlink manifests of the newest version; what it did as JSON.
#[pyfunction]
pub(crate) fn generate_manifest(
    py: Python<'_>,
    uri: &str,
    storage_options: BTreeMap<String, String>,
) -> PyResult<String> {
    runtime::stoppable(py, |cancel| {
        let location = Location::open(uri, &storage_options.into())?.stopped_by(cancel);
        let done = deltaic_core::after_commit::generate_manifest(&location)?;
        Ok(json!({"version": done.version, "written": done.written, "deleted": done.deleted}).to_string())
    })
}

/// `_CloneOptions` of the stub.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct CloneRequest {
    properties: BTreeMap<String, String>,
    replace: bool,
    user_metadata: Option<String>,
    source_name: Option<String>,
}

impl From<CloneRequest> for CloneOptions {
    fn from(request: CloneRequest) -> Self {
        let CloneRequest { properties, replace, user_metadata, source_name } = request;
        CloneOptions { properties, replace, user_metadata, source_name }
    }
}

/// Makes a table at `target` that refers to the files of a version; what it did as JSON. `tell` is called with how far it
/// is.
#[pyfunction]
#[pyo3(signature = (table, target, options, tell=None))]
pub(crate) fn shallow_clone(
    py: Python<'_>,
    table: &Table,
    target: &str,
    options: CloneRequest,
    tell: Option<Py<PyAny>>,
) -> PyResult<String> {
    let options = options.into();
    runtime::followed(py, tell.as_ref(), |cancel, progress| {
        let target = Location::open(target, table.options())?.stopped_by(cancel).followed_by(progress);
        let at = At::Version(table.snapshot().version());
        let done = maintain::shallow_clone(table.location(), at, &target, &options)?;
        Ok(json!({
            "uri": uri_of(target.root()), "version": done.version, "source_version": done.source_version,
            "files": done.files, "bytes": done.bytes, "warnings": done.warnings
        })
        .to_string())
    })
}
