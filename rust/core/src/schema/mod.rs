//! The table schema: types, their JSON form, column mapping, and the Arrow schema they become.

mod arrow_schema;
mod column_list;
mod column_mapping;
mod difference;
mod json;
mod physical;
mod type_changes;
mod types;
mod void;
mod walk;

pub use arrow_schema::{arrow_type, to_arrow_schema};
pub(crate) use column_list::{format_column_list, parse_column_list};
pub use column_mapping::{ColumnMappingMode, FIELD_ID, PHYSICAL_NAME};
pub use difference::{Nullability, physical_difference, read_difference};
pub use physical::{SPARK_FIELD_ID, stored_schema};
pub(crate) use type_changes::{TYPE_CHANGES, check as check_type_changes, is_widening, type_from_name};
pub(crate) use types::COLLATIONS;
pub use types::{ArrayType, CHAR_VARCHAR, DataType, MapType, StructField, StructType};
pub(crate) use void::check_storable;
