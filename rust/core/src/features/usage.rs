//! Where the metadata of a table makes use of a feature.

use crate::actions::Metadata;
use crate::properties::TableProperty;
use crate::schema::{DataType, StructType};

/// A use of a feature that the metadata of a table shows.
#[derive(Debug, Clone, Copy)]
pub enum Use {
    /// A column, at any depth, carries this metadata key.
    Column(&'static str),
    /// A column or field of a struct cannot be null.
    NotNull,
    /// A column, at any depth, has such a type.
    Type(fn(&DataType) -> bool),
    /// A property is `true`.
    True(TableProperty),
    /// A property has this value.
    Is(TableProperty, &'static str),
    /// A property has any value but this one.
    Not(TableProperty, &'static str),
    /// A property begins so.
    Prefix(&'static str),
}

impl Use {
    /// What in the table makes use of the feature, for a message.
    pub fn find(self, metadata: &Metadata, schema: &StructType) -> Option<String> {
        let is = |property: TableProperty, value: &str| {
            metadata.property(property).is_some_and(|v| v.eq_ignore_ascii_case(value))
        };
        let column = |path: Vec<&str>| format!("column `{}`", path.join("."));
        match self {
            Use::Column(key) => {
                let found = schema.explode().into_iter().find(|(_, f)| f.metadata.contains_key(key));
                found.map(|(path, _)| column(path))
            }
            Use::NotNull => schema.explode().into_iter().find(|(_, f)| !f.nullable).map(|(p, _)| column(p)),
            Use::Type(test) => {
                let found = schema.explode().into_iter().find(|(_, f)| f.data_type.any(&test));
                found.map(|(path, _)| column(path))
            }
            Use::True(property) => is(property, "true").then(|| property.to_string()),
            Use::Is(property, value) => is(property, value).then(|| format!("{property} = {value}")),
            Use::Not(property, value) => {
                let other = metadata.property(property).filter(|v| !v.eq_ignore_ascii_case(value));
                other.map(|v| format!("{property} = {v}"))
            }
            Use::Prefix(prefix) => {
                let starts = |key: &&String| key.to_lowercase().starts_with(prefix);
                metadata.configuration.keys().find(starts).cloned()
            }
        }
    }
}
