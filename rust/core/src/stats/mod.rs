//! Statistics of files (PROTOCOL.md, "Per-file Statistics"): which columns have them, and what they say.

mod bounds;
mod columns;
mod num_records;

pub(crate) use bounds::wide_bounds;
pub(crate) use columns::StatsColumns;
pub(crate) use columns::{Node as StatsNode, has_bounds};
pub(crate) use num_records::{num_records, num_records_in};
