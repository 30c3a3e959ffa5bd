//! `deltaic._core` functions that change what a table is. Each works on the newest version, whichever the table shows.

use std::collections::BTreeMap;

use deltaic_core::alter::{self, ColumnChange, NewColumn, Position, SetOptions, columns_from_json};
use deltaic_core::maintain::{self, Alteration, DropOptions, alter_table};
use deltaic_core::schema::{CHAR_VARCHAR, StructField};
use pyo3::prelude::*;

use crate::errors::to_python;
use crate::runtime;
use crate::table::Table;

fn run(py: Python<'_>, table: &Table, alteration: Alteration, user_metadata: Option<&str>) -> PyResult<u64> {
    runtime::stoppable(py, |cancel| {
        alter_table(&table.location().stopped_by(cancel), &alteration, user_metadata)
    })
}

fn position(first: bool, after: Option<String>) -> Option<Position> {
    if first { Some(Position::First) } else { after.map(Position::After) }
}

#[pyfunction]
#[pyo3(signature = (table, properties, user_metadata, allow_arbitrary=false))]
pub(crate) fn set_properties(
    py: Python<'_>,
    table: &Table,
    properties: BTreeMap<String, String>,
    user_metadata: Option<&str>,
    allow_arbitrary: bool,
) -> PyResult<u64> {
    let options = SetOptions { allow_arbitrary };
    run(py, table, Alteration::SetProperties { properties, options }, user_metadata)
}

/// The properties `delta.*` that can be set.
#[pyfunction]
pub(crate) fn known_properties() -> Vec<&'static str> {
    alter::known_properties().collect()
}

#[pyfunction]
pub(crate) fn unset_properties(
    py: Python<'_>,
    table: &Table,
    keys: Vec<String>,
    if_exists: bool,
    user_metadata: Option<&str>,
) -> PyResult<u64> {
    run(py, table, Alteration::UnsetProperties { keys, if_exists }, user_metadata)
}

/// Columns to add, one after the other.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct AddedColumns {
    /// Their schema (JSON).
    schema: String,
    /// The path of the struct that they are added to; empty for the table itself.
    parent: Vec<String>,
    /// Whether they are before all others.
    first: bool,
    /// The column that they come after.
    after: Option<String>,
}

/// Adds columns, in order and in one commit.
#[pyfunction]
pub(crate) fn add_columns(
    py: Python<'_>,
    table: &Table,
    added: Vec<AddedColumns>,
    user_metadata: Option<&str>,
) -> PyResult<u64> {
    let mut columns = Vec::new();
    for AddedColumns { schema, parent, first, after } in added {
        let mut next = position(first, after);
        for field in columns_from_json(&schema).map_err(|e| to_python(py, &e))? {
            let then = next.is_some().then(|| Position::After(field.name.clone()));
            let position = std::mem::replace(&mut next, then);
            columns.push(NewColumn { parent: parent.clone(), field, position });
        }
    }
    run(py, table, Alteration::AddColumns(columns), user_metadata)
}

#[pyfunction]
pub(crate) fn cluster_by(
    py: Python<'_>,
    table: &Table,
    columns: Vec<Vec<String>>,
    user_metadata: Option<&str>,
) -> PyResult<u64> {
    run(py, table, Alteration::ClusterBy(columns), user_metadata)
}

#[pyfunction]
pub(crate) fn drop_columns(
    py: Python<'_>,
    table: &Table,
    paths: Vec<Vec<String>>,
    user_metadata: Option<&str>,
) -> PyResult<u64> {
    run(py, table, Alteration::DropColumns(paths), user_metadata)
}

#[pyfunction]
pub(crate) fn rename_column(
    py: Python<'_>,
    table: &Table,
    path: Vec<String>,
    name: String,
    user_metadata: Option<&str>,
) -> PyResult<u64> {
    run(py, table, Alteration::RenameColumn { path, name }, user_metadata)
}

/// How a column changes, as a dictionary. What is none stays.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ChangedColumn {
    path: Vec<String>,
    /// A schema (JSON) of one column, of the new type.
    schema: Option<String>,
    nullable: Option<bool>,
    /// Empty text takes it away.
    comment: Option<String>,
    /// Empty text takes it away.
    default: Option<String>,
    /// Whether it is before all others.
    first: bool,
    /// The column that it comes after.
    after: Option<String>,
}

/// Changes columns, in order and in one commit.
#[pyfunction]
pub(crate) fn change_columns(
    py: Python<'_>,
    table: &Table,
    changed: Vec<ChangedColumn>,
    user_metadata: Option<&str>,
) -> PyResult<u64> {
    let mut changes = Vec::new();
    for ChangedColumn { path, schema, nullable, comment, default, first, after } in changed {
        let fields = schema.as_deref().map(columns_from_json).transpose().map_err(|e| to_python(py, &e))?;
        let field = fields.into_iter().flatten().next();
        let length = |field: &StructField| field.metadata.get(CHAR_VARCHAR)?.as_str().map(str::to_owned);
        let length = field.as_ref().map(length);
        let data_type = field.map(|field| field.data_type);
        let comment = comment.map(|text| (!text.is_empty()).then_some(text));
        let default = default.map(|text| (!text.is_empty()).then_some(text));
        let position = position(first, after);
        changes.push(ColumnChange { path, data_type, length, nullable, comment, default, position });
    }
    run(py, table, Alteration::ChangeColumns(changes), user_metadata)
}

/// Brings the high-water mark of an identity column to the farthest value of the rows.
#[pyfunction]
pub(crate) fn sync_identity(
    py: Python<'_>,
    table: &Table,
    column: Vec<String>,
    lowered: bool,
    user_metadata: Option<&str>,
) -> PyResult<u64> {
    run(py, table, Alteration::SyncIdentity { column, lowered }, user_metadata)
}

/// Gives the table the columns of a schema (JSON).
#[pyfunction]
pub(crate) fn replace_columns(
    py: Python<'_>,
    table: &Table,
    schema: &str,
    user_metadata: Option<&str>,
) -> PyResult<u64> {
    let columns = columns_from_json(schema).map_err(|e| to_python(py, &e))?;
    run(py, table, Alteration::ReplaceColumns(columns), user_metadata)
}

#[pyfunction]
#[pyo3(signature = (table, name, expression, user_metadata, checked=None))]
pub(crate) fn add_constraint(
    py: Python<'_>,
    table: &Table,
    name: String,
    expression: String,
    user_metadata: Option<&str>,
    checked: Option<u64>,
) -> PyResult<u64> {
    run(py, table, Alteration::AddConstraint { name, expression, checked }, user_metadata)
}

#[pyfunction]
pub(crate) fn drop_constraint(
    py: Python<'_>,
    table: &Table,
    name: String,
    if_exists: bool,
    user_metadata: Option<&str>,
) -> PyResult<u64> {
    run(py, table, Alteration::DropConstraint { name, if_exists }, user_metadata)
}

/// Drops a table feature, with the history that shows it or behind protected checkpoints.
#[pyfunction]
pub(crate) fn drop_feature(
    py: Python<'_>,
    table: &Table,
    name: &str,
    truncate_history: bool,
    user_metadata: Option<String>,
) -> PyResult<u64> {
    runtime::stoppable(py, |cancel| {
        let options = DropOptions { user_metadata, ..Default::default() };
        let location = table.location().stopped_by(cancel);
        maintain::drop_feature(&location, name, truncate_history, &options).map(|done| done.version)
    })
}
