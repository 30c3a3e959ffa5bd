use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::actions::Metadata;
use crate::alter::identity::{advance_marks, first_moved};
use crate::error::Result;
use crate::schema::StructType;

/// Values of identity columns that a transaction writes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct IdentityValues {
    /// The farthest value of each column, by physical name.
    pub written: BTreeMap<String, i64>,
    /// Physical names of the columns whose values were made from the high-water mark on, and not brought.
    pub generated: Vec<String>,
}

impl IdentityValues {
    /// The metadata with the marks moved so far.
    ///
    /// # Errors
    /// As [`advance_marks`].
    pub(crate) fn advance(&self, metadata: &Metadata) -> Result<Metadata> {
        let schema = StructType::from_json(&metadata.schema_string)?;
        let moved = advance_marks(&schema, metadata.column_mapping(), &self.written)?;
        Ok(match moved == schema {
            true => metadata.clone(),
            false => Metadata { schema_string: moved.to_json(), ..metadata.clone() },
        })
    }

    /// The column whose values a winner gave, too; both began after the same mark.
    pub(super) fn taken(&self, before: &Metadata, after: &Metadata) -> Result<Option<String>> {
        let (old, new) =
            (StructType::from_json(&before.schema_string)?, StructType::from_json(&after.schema_string)?);
        first_moved(&old, &new, before.column_mapping(), &self.generated)
    }
}
