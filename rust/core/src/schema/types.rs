use serde_json::{Map, Value};

/// Field metadata key of text that compares otherwise than by its bytes.
pub(crate) const COLLATIONS: &str = "__COLLATIONS";
/// Field metadata key of the type that a column was declared with, where texts of limited length are in it.
pub const CHAR_VARCHAR: &str = "__CHAR_VARCHAR_TYPE_STRING";

/// The type of a column (PROTOCOL.md, "Schema Serialization Format").
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataType {
    /// UTF-8 text.
    String,
    /// 64-bit integer.
    Long,
    /// 32-bit integer.
    Integer,
    /// 16-bit integer.
    Short,
    /// 8-bit integer.
    Byte,
    /// 32-bit float.
    Float,
    /// 64-bit float.
    Double,
    /// Precision 1 to 38, scale 0 to precision.
    Decimal(u8, i8),
    /// True or false.
    Boolean,
    /// Bytes.
    Binary,
    /// Day.
    Date,
    /// Microseconds, an instant.
    Timestamp,
    /// Microseconds without a time zone.
    TimestampNtz,
    /// Only null.
    Void,
    /// Semi-structured value.
    Variant,
    /// Fields.
    Struct(Box<StructType>),
    /// List.
    Array(Box<ArrayType>),
    /// Keys and values.
    Map(Box<MapType>),
    /// What Spark calls a user-defined type.
    UserDefined(Box<UserDefinedType>),
}

/// `array`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayType {
    /// Type of the elements.
    pub element_type: DataType,
    /// Whether elements can be null.
    pub contains_null: bool,
}

/// `map`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapType {
    /// Type of the keys.
    pub key_type: DataType,
    /// Type of the values.
    pub value_type: DataType,
    /// Whether values can be null.
    pub value_contains_null: bool,
}

/// A type whose values are stored as those of another one.
#[derive(Debug, Clone, Eq)]
pub struct UserDefinedType {
    /// The type that the values are stored as.
    pub sql_type: DataType,
    /// The rest of its JSON form, as the schema has it. Classes that it names are data here.
    pub definition: Map<String, Value>,
}

/// `struct`: the schema of a table is one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StructType {
    /// Fields in order.
    pub fields: Vec<StructField>,
}

/// A field of a struct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructField {
    /// Logical name.
    pub name: String,
    /// Type.
    pub data_type: DataType,
    /// Whether it can be null.
    pub nullable: bool,
    /// Column metadata: column mapping, invariants, comments …
    pub metadata: Map<String, Value>,
}

impl DataType {
    /// Whether it is a struct, an array or a map.
    pub(crate) fn is_nested(&self) -> bool {
        matches!(self, DataType::Struct(_) | DataType::Array(_) | DataType::Map(_))
    }
}

impl StructType {
    /// The field of this name: the exact one, else the one that differs only in case.
    pub fn field(&self, name: &str) -> Option<&StructField> {
        self.fields
            .iter()
            .find(|f| f.name == name)
            .or_else(|| self.fields.iter().find(|f| f.name.to_lowercase() == name.to_lowercase()))
    }

    /// The field at a path through structs.
    pub(crate) fn field_at(&self, path: &[String]) -> Option<&StructField> {
        let (first, rest) = path.split_first()?;
        let field = self.field(first)?;
        match &field.data_type {
            _ if rest.is_empty() => Some(field),
            DataType::Struct(within) => within.field_at(rest),
            _ => None,
        }
    }
}

impl StructField {
    /// A field without metadata.
    pub fn new(name: impl Into<String>, data_type: DataType, nullable: bool) -> Self {
        StructField { name: name.into(), data_type, nullable, metadata: Map::new() }
    }
}
