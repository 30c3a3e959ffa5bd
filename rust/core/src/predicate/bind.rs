use crate::schema::DataType;

/// A column that a predicate names, found in the schema of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundColumn {
    /// Logical path, as the schema spells it.
    pub logical: Vec<String>,
    /// Physical path: the names in statistics and partition values.
    pub physical: Vec<String>,
    /// Type.
    pub data_type: DataType,
    /// Whether it is a partition column.
    pub partition: bool,
}
