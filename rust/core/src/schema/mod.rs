//! The table schema: types, their JSON form, column mapping, and the Arrow schema they become.

mod arrow_schema;
mod cdf_columns;
mod column_list;
mod column_mapping;
mod difference;
mod from_arrow;
mod json;
mod metadata_keys;
mod physical;
mod raw_type;
mod text_limits;
mod type_changes;
mod types;
mod user_defined;
mod void;
mod walk;

pub use arrow_schema::{arrow_type, to_arrow_schema};
pub use cdf_columns::{CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION};
pub(crate) use cdf_columns::{by_name, with_change_columns};
pub(crate) use column_list::{format_column_list, in_backticks, parse_column_list};
pub use column_mapping::ColumnMappingMode;
pub use difference::{Nullability, physical_difference, read_difference};
pub use from_arrow::{as_nullable, from_arrow};
pub(crate) use metadata_keys::{BY_NAME, INVARIANTS, KEY_PREFIX, NESTED_IDS, TYPE_CHANGES};
pub use metadata_keys::{
    CURRENT_DEFAULT, FIELD_ID, GENERATION_EXPRESSION, IDENTITY_ALLOW_EXPLICIT_INSERT,
    IDENTITY_HIGH_WATER_MARK, IDENTITY_START, IDENTITY_STEP, PHYSICAL_NAME,
};
pub use physical::{SPARK_FIELD_ID, stored_schema};
pub use raw_type::TextLimit;
pub(crate) use text_limits::{Limits, limit_batch, limits_of, renew_limits};
pub(crate) use type_changes::{check as check_type_changes, is_widening, type_from_name};
pub(crate) use types::COLLATIONS;
pub use types::{ArrayType, CHAR_VARCHAR, DataType, MapType, StructField, StructType, UserDefinedType};
pub(crate) use void::check_storable;
