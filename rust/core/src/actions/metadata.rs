use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::properties::TableProperty;
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
    pub fn is_true(&self, property: TableProperty) -> bool {
        self.property_or_default(property).is_some_and(|v| v.eq_ignore_ascii_case("true"))
    }

    /// What the table sets a property to.
    pub fn property(&self, property: TableProperty) -> Option<&str> {
        self.configuration.get(property.name()).map(String::as_str)
    }

    /// What the table sets a property to, or else its default.
    pub fn property_or_default(&self, property: TableProperty) -> Option<&str> {
        self.property(property).or(property.default())
    }

    /// Sets a property.
    pub fn set_property(&mut self, property: TableProperty, value: impl Into<String>) {
        self.configuration.insert(property.name().to_owned(), value.into());
    }

    /// Takes a property away. The value that it had.
    pub fn unset_property(&mut self, property: TableProperty) -> Option<String> {
        self.configuration.remove(property.name())
    }

    /// The mode of column mapping, from `delta.columnMapping.mode`.
    pub fn column_mapping(&self) -> ColumnMappingMode {
        match self.property(TableProperty::ColumnMappingMode) {
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
