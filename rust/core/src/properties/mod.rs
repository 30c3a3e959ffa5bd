//! Values of table properties: intervals and sizes as the settings of Spark write them.

mod byte_size;
mod interval;

pub(crate) use byte_size::parse_byte_size;
pub(crate) use interval::parse_interval;
