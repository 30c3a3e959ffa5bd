//! `deltaic._core`: operations on whole tables. Results cross as JSON.

use std::time::Duration;

use deltaic::maintain::{self, RestoreOptions, VacuumMode, VacuumOptions};
use deltaic::snapshot::At;
use deltaic::store::{Location, StorageOptions};
use pyo3::prelude::*;
use serde_json::json;

use crate::runtime;

/// Deletes files that no version within the retention needs; what it did as JSON.
#[pyfunction]
pub(crate) fn vacuum(
    py: Python<'_>,
    uri: &str,
    storage_options: StorageOptions,
    mode: &str,
    retention_millis: Option<u64>,
    allow_short_retention: bool,
    dry_run: bool,
) -> PyResult<String> {
    runtime::write(py, || {
        let options = VacuumOptions {
            mode: VacuumMode::parse(mode)?,
            retention: retention_millis.map(Duration::from_millis),
            allow_short_retention,
            dry_run,
        };
        let done = maintain::vacuum(&Location::open(uri, &storage_options)?, &options)?;
        let failed: Vec<_> = done.failed.iter().map(|(path, reason)| json!([path, reason])).collect();
        Ok(json!({
            "files": done.files, "bytes": done.bytes, "failed": failed, "cutoff": done.cutoff,
            "version": done.version, "warnings": done.warnings
        })
        .to_string())
    })
}

/// Makes the table what it was at a version or time (one of them is given); what it did as JSON.
#[pyfunction]
pub(crate) fn restore(
    py: Python<'_>,
    uri: &str,
    storage_options: StorageOptions,
    version: Option<u64>,
    timestamp: Option<i64>,
    ignore_missing_files: bool,
) -> PyResult<String> {
    runtime::write(py, || {
        let at = version.map(At::Version).or(timestamp.map(At::Timestamp)).unwrap_or(At::Latest);
        let location = Location::open(uri, &storage_options)?;
        let done = maintain::restore(&location, at, &RestoreOptions { ignore_missing_files })?;
        Ok(json!({
            "version": done.version, "restored_version": done.restored_version,
            "restored_files": done.restored, "restored_bytes": done.restored_bytes,
            "removed_files": done.removed, "removed_bytes": done.removed_bytes,
            "files": done.files, "bytes": done.bytes
        })
        .to_string())
    })
}

/// Takes files out of the log that are not in the store; what it did as JSON.
#[pyfunction]
pub(crate) fn fsck(
    py: Python<'_>,
    uri: &str,
    storage_options: StorageOptions,
    dry_run: bool,
) -> PyResult<String> {
    runtime::write(py, || {
        let done = maintain::fsck(&Location::open(uri, &storage_options)?, dry_run)?;
        Ok(json!({
            "missing": done.missing, "missing_vectors": done.missing_vectors, "version": done.version
        })
        .to_string())
    })
}

/// Writes the symlink manifests of the newest version; what it did as JSON.
#[pyfunction]
pub(crate) fn generate_manifest(
    py: Python<'_>,
    uri: &str,
    storage_options: StorageOptions,
) -> PyResult<String> {
    runtime::write(py, || {
        let done = maintain::generate_manifest(&Location::open(uri, &storage_options)?)?;
        Ok(json!({"version": done.version, "written": done.written, "deleted": done.deleted}).to_string())
    })
}
