//! The columns that changes have beside those of the table.

use super::metadata_keys::BY_NAME;
use crate::schema::{DataType, StructField, StructType};

/// What happened to the row: `insert`, `delete`, `update_preimage` or `update_postimage`.
pub const CHANGE_TYPE: &str = "_change_type";
/// The version of the change.
pub const COMMIT_VERSION: &str = "_commit_version";
/// When the version was committed.
pub const COMMIT_TIMESTAMP: &str = "_commit_timestamp";

/// The columns of a table, followed by those of its changes.
pub(crate) fn with_change_columns(table: &StructType) -> StructType {
    let columns = [
        (CHANGE_TYPE, DataType::String),
        (COMMIT_VERSION, DataType::Long),
        (COMMIT_TIMESTAMP, DataType::Timestamp),
    ];
    let columns = columns.map(|(name, data_type)| StructField::new(name, data_type, true));
    StructType { fields: table.fields.iter().cloned().chain(columns).collect() }
}

/// The same, as a scan takes it: files have the column of the change by its name also where the table maps by id.
pub(crate) fn by_name(schema: &StructType) -> StructType {
    let mut schema = schema.clone();
    for field in schema.fields.iter_mut().filter(|f| f.name == CHANGE_TYPE) {
        field.metadata.insert(BY_NAME.into(), true.into());
    }
    schema
}
