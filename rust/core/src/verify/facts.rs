use std::sync::Arc;

use crate::schema::{ColumnMappingMode, StructType};
use crate::snapshot::Snapshot;
use crate::store::Location;

/// What is to be known of a table to look into its files.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(crate) location: Location,
    pub(crate) schema: Arc<StructType>,
    pub(crate) partition_columns: Vec<String>,
    pub(crate) mode: ColumnMappingMode,
}

impl Facts {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        Facts {
            location: snapshot.location().clone(),
            schema: snapshot.schema().clone(),
            partition_columns: snapshot.partition_columns().to_vec(),
            mode: snapshot.column_mapping(),
        }
    }
}
