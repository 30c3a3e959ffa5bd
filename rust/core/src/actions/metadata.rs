use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::schema::{ColumnMappingMode, StructType};

/// `metaData`: identity, schema, partition columns and properties (PROTOCOL.md, "Change Metadata").
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// Unique id of the table.
    pub id: String,
    /// Name given by the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Description given by the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Encoding of the data files.
    #[serde(default)]
    pub format: Format,
    /// Schema as JSON; see [`crate::schema::StructType::from_json`]. A few old writers left it out.
    #[serde(default)]
    pub schema_string: String,
    /// Names of the partition columns, in order.
    #[serde(default)]
    pub partition_columns: Vec<String>,
    /// Table properties.
    #[serde(default)]
    pub configuration: BTreeMap<String, String>,
    /// Creation time of this action, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_time: Option<i64>,
}

impl Metadata {
    /// Whether a property is `true`, in any case.
    pub fn is_true(&self, key: &str) -> bool {
        self.configuration.get(key).is_some_and(|v| v.eq_ignore_ascii_case("true"))
    }

    /// The mode of column mapping, from `delta.columnMapping.mode`.
    pub fn column_mapping(&self) -> ColumnMappingMode {
        match self.configuration.get("delta.columnMapping.mode").map(String::as_str) {
            Some("name") => ColumnMappingMode::Name,
            Some("id") => ColumnMappingMode::Id,
            _ => ColumnMappingMode::None,
        }
    }

    /// The schema; without columns where a writer left it out, as a few old ones did.
    ///
    /// # Errors
    /// [`Error::InvalidSchema`](crate::Error::InvalidSchema) for a schema string that is no schema.
    pub(crate) fn schema(&self) -> Result<StructType> {
        match self.schema_string.as_str() {
            "" => Ok(StructType::default()),
            text => StructType::from_json(text),
        }
    }
}

/// Encoding of data files; `parquet` is the only one in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Format {
    /// `parquet`.
    pub provider: String,
    /// Options of the format.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
}

impl Default for Format {
    fn default() -> Self {
        Format { provider: "parquet".into(), options: BTreeMap::new() }
    }
}
