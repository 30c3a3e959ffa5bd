use serde::{Deserialize, Serialize};

use super::{FIELD_ID, PHYSICAL_NAME, StructField, StructType};

/// How logical columns find physical ones (PROTOCOL.md, "Column Mapping").
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ColumnMappingMode {
    /// By logical name. Annotations that are left over are ignored.
    #[default]
    None,
    /// By physical name.
    Name,
    /// By the field id in the Parquet file; names in the log are physical names.
    Id,
}

impl ColumnMappingMode {
    /// Its name in the table property.
    pub fn name(self) -> &'static str {
        match self {
            ColumnMappingMode::None => "none",
            ColumnMappingMode::Name => "name",
            ColumnMappingMode::Id => "id",
        }
    }
}

impl StructField {
    /// The name of the column in statistics, partition values and (by name) data files.
    pub fn physical_name(&self, mode: ColumnMappingMode) -> &str {
        match mode {
            ColumnMappingMode::None => &self.name,
            _ => self.metadata.get(PHYSICAL_NAME).and_then(|v| v.as_str()).unwrap_or(&self.name),
        }
    }

    /// The column id, where the field has one.
    pub fn field_id(&self) -> Option<i32> {
        self.metadata.get(FIELD_ID).and_then(|v| v.as_i64()).and_then(|v| i32::try_from(v).ok())
    }
}

impl StructType {
    /// The physical names of columns given by logical name, in the same order.
    pub fn physical_names(&self, columns: &[String], mode: ColumnMappingMode) -> Vec<String> {
        columns
            .iter()
            .map(|c| self.field(c).map_or_else(|| c.clone(), |f| f.physical_name(mode).to_owned()))
            .collect()
    }
}
