//! `deltaic._core`: merges of rows. The result crosses as JSON.

use deltaic_core::dml::{self, MergeAction, MergeSource, MergeWhen};
use deltaic_core::{Error, Result};
use pyo3::prelude::*;
use serde_json::json;

use crate::dml::DmlOptions;
use crate::document::Document;
use crate::errors::to_python;
use crate::runtime;
use crate::table::Table;
use crate::write::taking;

/// What a merge does.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct MergeRequest {
    condition: String,
    target_alias: String,
    source_alias: String,
    clauses: Vec<MergeClause>,
    with_schema_evolution: bool,
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct MergeClause {
    when: String,
    action: String,
    condition: Option<String>,
    values: Option<Vec<(String, String)>>,
}

impl MergeRequest {
    fn into_core(self) -> Result<dml::MergeRequest> {
        Ok(dml::MergeRequest {
            condition: self.condition,
            target_alias: self.target_alias,
            source_alias: self.source_alias,
            clauses: self.clauses.into_iter().map(MergeClause::into_core).collect::<Result<_>>()?,
            with_schema_evolution: self.with_schema_evolution,
        })
    }
}

impl MergeClause {
    fn into_core(self) -> Result<dml::MergeClause> {
        let unknown = |given: &str| Error::InvalidArgument {
            argument: "clauses".into(),
            reason: format!("`{given}` is no kind of clause"),
        };
        let when = match self.when.as_str() {
            "matched" => MergeWhen::Matched,
            "not_matched" => MergeWhen::NotMatched,
            "not_matched_by_source" => MergeWhen::NotMatchedBySource,
            other => return Err(unknown(other)),
        };
        let action = match self.action.as_str() {
            "update" => MergeAction::Update,
            "delete" => MergeAction::Delete,
            "insert" => MergeAction::Insert,
            other => return Err(unknown(other)),
        };
        Ok(dml::MergeClause { when, action, condition: self.condition, values: self.values })
    }
}

/// The rows of an upsert: their key, and which of those with one key counts.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct UpsertRequest {
    id_cols: Vec<String>,
    order_by: Vec<String>,
    with_schema_evolution: bool,
}

/// Merges the rows of Arrow data; what it did as JSON. Ctrl-C stops it until it commits. `tell` is called with how far it
/// is.
#[pyfunction]
#[pyo3(signature = (table, data, request, options, tell=None))]
pub(crate) fn merge_rows(
    py: Python<'_>,
    table: &Table,
    data: &Bound<'_, PyAny>,
    request: Document<MergeRequest>,
    options: Document<DmlOptions>,
    tell: Option<Py<PyAny>>,
) -> PyResult<String> {
    let path = table.location().root().to_string();
    let source = taking(py, data, |data| MergeSource::read(&path, data))?;
    let request = request.0.into_core().map_err(|e| to_python(py, &e))?;
    merged(py, table, (&source, &request), &options.into(), tell.as_ref())
}

/// Updates or adds the rows of Arrow data by their key; what it did as JSON. Ctrl-C stops it until it commits. `tell` is
/// called with how far it is.
#[pyfunction]
#[pyo3(signature = (table, data, request, options, tell=None))]
pub(crate) fn upsert_rows(
    py: Python<'_>,
    table: &Table,
    data: &Bound<'_, PyAny>,
    request: Document<UpsertRequest>,
    options: Document<DmlOptions>,
    tell: Option<Py<PyAny>>,
) -> PyResult<String> {
    let UpsertRequest { id_cols, order_by, with_schema_evolution } = request.0;
    let path = table.location().root().to_string();
    let source = taking(py, data, |data| {
        MergeSource::read(&path, data)?.one_for_each_key(&path, &id_cols, &order_by)
    })?;
    let request = dml::MergeRequest::upsert(&id_cols, with_schema_evolution);
    merged(py, table, (&source, &request), &options.into(), tell.as_ref())
}

fn merged(
    py: Python<'_>,
    table: &Table,
    (source, request): (&MergeSource, &dml::MergeRequest),
    options: &dml::DmlOptions,
    tell: Option<&Py<PyAny>>,
) -> PyResult<String> {
    let done = runtime::followed(py, tell, |cancel, progress| {
        let location = table.location().stopped_by(cancel).followed_by(progress);
        deltaic_core::operations::merge(&location, source, request, options)
    })?;
    Ok(json!({
        "version": done.version, "source_rows": done.source_rows, "inserted_rows": done.inserted_rows,
        "updated_rows": done.updated_rows, "deleted_rows": done.deleted_rows, "copied_rows": done.copied_rows,
        "touched_files": done.touched_files, "added_files": done.added_files,
        "vectors_added": done.vectors_added, "vectors_removed": done.vectors_removed,
        "change_files": done.change_files, "warnings": done.warnings
    })
    .to_string())
}
