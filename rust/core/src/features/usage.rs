//! Where the metadata of a table makes use of a feature.

use crate::actions::Metadata;
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
    True(&'static str),
    /// A property has this value.
    Is(&'static str, &'static str),
    /// A property has any value but this one.
    Not(&'static str, &'static str),
    /// A property begins so.
    Prefix(&'static str),
}

impl Use {
    /// What in the table makes use of the feature, for a message.
    pub fn find(self, metadata: &Metadata, schema: &StructType) -> Option<String> {
        let property = |key: &str| metadata.configuration.get(key);
        let is = |key: &str, value: &str| property(key).is_some_and(|v| v.eq_ignore_ascii_case(value));
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
            Use::True(key) => is(key, "true").then(|| key.to_owned()),
            Use::Is(key, value) => is(key, value).then(|| format!("{key} = {value}")),
            Use::Not(key, value) => {
                property(key).filter(|v| !v.eq_ignore_ascii_case(value)).map(|v| format!("{key} = {v}"))
            }
            Use::Prefix(prefix) => {
                let starts = |key: &&String| key.to_lowercase().starts_with(prefix);
                metadata.configuration.keys().find(starts).cloned()
            }
        }
    }
}
