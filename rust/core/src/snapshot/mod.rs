//! One version of a table: opened without reading a file action, advanced without reading what is known, and able to
//! say what it cost.

mod at;
mod clock;
mod history;
mod load;
mod recent;
mod report;
mod state;

pub use at::{At, format_timestamp, parse_table_path};
pub(crate) use clock::info_of;
pub(crate) use clock::monotonic;
pub use history::Commit;
pub(crate) use report::Counters;
pub use report::Report;
pub(crate) use state::ReplayedLog;
pub use state::Snapshot;
