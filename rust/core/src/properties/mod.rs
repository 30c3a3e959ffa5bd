//! Table properties: their names, what their values can be, and intervals and sizes as the settings of Spark write them.

mod byte_size;
mod interval;
mod prefixes;
mod table_property;
mod value;

pub(crate) use byte_size::parse_byte_size;
pub(crate) use interval::parse_interval;
pub(crate) use prefixes::{
    COLUMN_MAPPING_PREFIX, CONSTRAINT_PREFIX, COORDINATED_COMMITS_PREFIX, FEATURE_PREFIX, PREFIX,
    ROW_TRACKING_PREFIX,
};
pub use table_property::TableProperty;
pub(crate) use value::Value;
