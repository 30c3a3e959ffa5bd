//! What a table is: protocol, metadata and schema, changed together.

use serde_json::Value;

use super::generated::in_force;
use crate::actions::{Metadata, Protocol};
use crate::error::{Error, Result};
use crate::properties::TableProperty;
use crate::schema::{ColumnMappingMode, StructField, StructType};

/// Protocol, metadata and schema of a table at one version, and its clustering columns. Operations take one and give a
/// new one; [`Definition::metadata`] then has the new schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// `protocol`.
    pub protocol: Protocol,
    /// `metaData`.
    pub metadata: Metadata,
    /// The schema of `metadata`.
    pub schema: StructType,
    /// Clustering columns, as paths of physical names.
    pub clustering: Vec<Vec<String>>,
}

impl Definition {
    /// The definition of a table without clustering columns.
    ///
    /// # Errors
    /// [`Error::InvalidSchema`] for a schema that is not known here; [`Error::Unsupported`] for one that would lose
    /// something when it is written again.
    pub fn of(protocol: &Protocol, metadata: &Metadata) -> Result<Self> {
        let table = Self::read(protocol, metadata)?;
        let value = serde_json::from_str(&metadata.schema_string).unwrap_or_default();
        if let Some(name) = lossy_type(&value) {
            return Err(Error::Unsupported {
                path: metadata.name.clone().unwrap_or_else(|| metadata.id.clone()),
                what: format!("a change of a table whose schema holds the type `{name}`"),
            });
        }
        let schema = in_force(protocol, table.schema.clone());
        if schema == table.schema {
            return Ok(table);
        }
        let metadata = Metadata { schema_string: schema.to_json(), ..table.metadata };
        Ok(Definition { metadata, schema, ..table })
    }

    /// The definition for a look only, not to be written again.
    pub(super) fn read(protocol: &Protocol, metadata: &Metadata) -> Result<Self> {
        Ok(Definition {
            protocol: protocol.clone(),
            metadata: metadata.clone(),
            schema: metadata.schema()?,
            clustering: Vec::new(),
        })
    }

    /// The definition of a new table, before [`super::finalize::finalize`] gives it protocol and schema string.
    pub fn new(metadata: Metadata, schema: StructType) -> Self {
        let protocol = Protocol {
            min_reader_version: 1,
            min_writer_version: 2,
            reader_features: None,
            writer_features: None,
        };
        Definition { protocol, metadata, schema, clustering: Vec::new() }
    }

    /// How columns are mapped.
    pub fn column_mapping(&self) -> ColumnMappingMode {
        self.metadata.column_mapping()
    }

    /// Whether a property is `true`.
    pub fn is_true(&self, property: TableProperty) -> bool {
        self.metadata.is_true(property)
    }

    /// The value of a property.
    pub fn property(&self, property: TableProperty) -> Option<&str> {
        self.metadata.property(property)
    }

    /// Whether the column of this logical name is a partition column.
    pub(super) fn is_partition_column(&self, name: &str) -> bool {
        self.metadata.partition_columns.iter().any(|c| c.to_lowercase() == name.to_lowercase())
    }
}

/// The columns of a schema in the form of the protocol, to be added or compared with those of a table.
///
/// # Errors
/// [`Error::InvalidSchema`] for a type that is not known here, or that would lose its length or collation.
pub fn columns_from_json(json: &str) -> Result<Vec<StructField>> {
    let value = serde_json::from_str(json).unwrap_or_default();
    if let Some(name) = lossy_type(&value) {
        return Err(Error::InvalidSchema {
            reason: format!("the type `{name}` cannot be written; use `string`"),
        });
    }
    Ok(StructType::from_json(json)?.fields)
}

/// A type that is read as text and would be written as such: its length or collation would be gone.
fn lossy_type(value: &Value) -> Option<&str> {
    let lossy = |name: &&str| ["char(", "varchar(", "string collate "].iter().any(|p| name.starts_with(p));
    match value {
        Value::Object(object) => ["type", "elementType", "keyType", "valueType"]
            .iter()
            .filter_map(|key| object.get(*key))
            .find_map(|inner| inner.as_str().filter(lossy).or_else(|| lossy_type(inner)))
            .or_else(|| object.get("fields").and_then(lossy_type)),
        Value::Array(values) => values.iter().find_map(lossy_type),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::testing::{protocol, table};
    use crate::schema::GENERATION_EXPRESSION;

    #[test]
    fn an_expression_that_the_protocol_does_not_have_goes() {
        let mut t = table("a int, g int", &[]);
        t.schema.fields[1].metadata.insert(GENERATION_EXPRESSION.into(), "a * 2".into());
        t.metadata.schema_string = t.schema.to_json();
        let of = |protocol| Definition::of(&protocol, &t.metadata).unwrap();
        let has = |t: &Definition| t.schema.fields[1].metadata.contains_key(GENERATION_EXPRESSION);
        assert!(has(&of(protocol(1, 4))));
        let plain = of(protocol(1, 2));
        assert!(!has(&plain) && !plain.metadata.schema_string.contains(GENERATION_EXPRESSION));
    }

    #[test]
    fn a_type_whose_length_would_be_lost_is_refused() {
        for name in ["varchar(3)", "char(1)", "string collate UNICODE"] {
            let schema_string = format!(
                r#"{{"type":"struct","fields":[{{"name":"m","type":{{"type":"map","keyType":"string","valueType":
                {{"type":"struct","fields":[{{"name":"x","type":"{name}"}}]}}}}}}]}}"#
            );
            let metadata = Metadata { schema_string, ..Default::default() };
            let error = Definition::of(&protocol(1, 2), &metadata).unwrap_err();
            assert_eq!(error.kind(), "Unsupported");
            assert!(error.to_string().contains(name), "{error}");
            let error = columns_from_json(&metadata.schema_string).unwrap_err();
            assert_eq!(error.kind(), "InvalidSchema");
        }
    }
}
