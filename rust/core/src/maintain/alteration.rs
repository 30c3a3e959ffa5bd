//! A change of what a table is, and what it makes of a definition.

use std::collections::BTreeMap;

use crate::alter::properties::{SetOptions, set_properties, unset_properties};
use crate::alter::{
    ColumnChange, Definition, NewColumn, add_columns, add_constraint, change_columns, cluster_by,
    drop_columns, drop_constraint, rename_column, replace_columns,
};
use crate::error::Result;
use crate::schema::StructField;

/// A change of what a table is.
#[derive(Debug, Clone, PartialEq)]
pub enum Alteration {
    /// Sets properties; see [`set_properties`]. `delta.feature.<name>` = `supported` adds a table feature.
    SetProperties {
        /// Keys and values.
        properties: BTreeMap<String, String>,
        /// What may be set beyond the rule.
        options: SetOptions,
    },
    /// Takes properties away; see [`unset_properties`].
    UnsetProperties {
        /// Their keys.
        keys: Vec<String>,
        /// Whether one that is not set is no error.
        if_exists: bool,
    },
    /// Adds columns, which are null in existing rows; see [`add_columns`].
    AddColumns(Vec<NewColumn>),
    /// Drops columns, in a table with column mapping; see [`drop_columns`].
    DropColumns(Vec<Vec<String>>),
    /// Renames a column, in a table with column mapping; see [`rename_column`].
    RenameColumn {
        /// Path of the column.
        path: Vec<String>,
        /// Another last name.
        name: String,
    },
    /// Changes comment, nullability, default, place or type of columns, one change after the other; see
    /// [`change_columns`].
    ChangeColumns(Vec<ColumnChange>),
    /// Gives the table another list of columns; see [`replace_columns`].
    ReplaceColumns(Vec<StructField>),
    /// Adds a CHECK constraint that every row of the table passes; see [`add_constraint`].
    AddConstraint {
        /// Its name.
        name: String,
        /// Its expression.
        expression: String,
        /// The version whose rows the caller has checked against it, for an expression that cannot be evaluated here. A
        /// commit that lands after it and adds rows is a lost race, which the caller repeats.
        checked: Option<u64>,
    },
    /// Gives a table that is not partitioned other clustering columns, as paths, or none; see [`cluster_by`]. Files are
    /// clustered when they are next optimized.
    ClusterBy(Vec<Vec<String>>),
    /// Moves the high-water mark of an identity column to the farthest value of any row.
    SyncIdentity {
        /// Path of the column, which is one of the table itself.
        column: Vec<String>,
        /// Whether the mark may move back, so that values may be generated again.
        lowered: bool,
    },
    /// Drops a CHECK constraint; see [`drop_constraint`].
    DropConstraint {
        /// Its name.
        name: String,
        /// Whether a missing one is not an error.
        if_exists: bool,
    },
}

pub(super) fn altered(table: &Definition, alteration: &Alteration) -> Result<Definition> {
    match alteration {
        Alteration::SetProperties { properties, options } => set_properties(table, properties, *options),
        Alteration::UnsetProperties { keys, if_exists } => unset_properties(table, keys, *if_exists),
        Alteration::AddColumns(columns) => add_columns(table, columns),
        Alteration::DropColumns(paths) => drop_columns(table, paths),
        Alteration::RenameColumn { path, name } => rename_column(table, path, name),
        Alteration::ChangeColumns(changes) => change_columns(table, changes),
        Alteration::ReplaceColumns(columns) => replace_columns(table, columns),
        Alteration::AddConstraint { name, expression, .. } => add_constraint(table, name, expression),
        // read from the rows before
        Alteration::SyncIdentity { .. } => Ok(table.clone()),
        Alteration::ClusterBy(columns)
            if columns.is_empty()
                && table.clustering.is_empty()
                && table.metadata.partition_columns.is_empty() =>
        {
            Ok(table.clone())
        }
        Alteration::ClusterBy(columns) => Ok(cluster_by(table, columns)?.0),
        Alteration::DropConstraint { name, if_exists } => drop_constraint(table, name, *if_exists),
    }
}
