//! `deltaic._core`: verification of tables and stores. Reports cross as JSON.

use std::collections::BTreeMap;

use deltaic_core::Result;
use deltaic_core::commit;
use deltaic_core::snapshot::Verify;
use deltaic_core::store::Location;
use deltaic_core::verify::{VerifyOptions, verify as verify_table};
use pyo3::prelude::*;
use serde_json::json;

use crate::runtime;

/// The level of a reading by its name; the default where there is none.
pub(crate) fn level(name: Option<&str>) -> Result<Verify> {
    name.map_or(Ok(Verify::default()), str::parse)
}

/// Compares a table with itself, from its log to its files; what was found as JSON.
#[pyfunction]
pub(crate) fn verify(
    py: Python<'_>,
    uri: String,
    storage_options: BTreeMap<String, String>,
    version: Option<u64>,
    deep: bool,
) -> PyResult<String> {
    runtime::read(py, move || {
        let options = VerifyOptions { version, deep };
        let report = verify_table(&Location::open(&uri, &storage_options.into())?, &options)?;
        let findings = report.findings.iter().map(|f| {
            json!({
                "kind": f.kind.name(), "version": f.version, "path": f.path,
                "expected": f.expected, "found": f.found, "advice": f.advice()
            })
        });
        Ok(json!({
            "version": report.version, "first_version": report.first_version,
            "findings": findings.collect::<Vec<_>>(), "more_findings": report.more_findings,
            "commits": report.commits, "checkpoints": report.checkpoints,
            "compacted_files": report.compacted_files, "checksums": report.checksums,
            "files": report.files, "deletion_vectors": report.deletion_vectors
        })
        .to_string())
    })
}

/// Tries the store of a table; what it answered as JSON.
#[pyfunction]
pub(crate) fn probe_store(
    py: Python<'_>,
    uri: String,
    storage_options: BTreeMap<String, String>,
) -> PyResult<String> {
    runtime::read(py, move || {
        let probe = commit::probe_store(&Location::open(&uri, &storage_options.into())?)?;
        Ok(json!({
            "list_millis": probe.list_millis, "put_if_absent": probe.put_if_absent, "refused": probe.refused,
            "clock_ahead_millis": probe.clock_ahead_millis
        })
        .to_string())
    })
}
