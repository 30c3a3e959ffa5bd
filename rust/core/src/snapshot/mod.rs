//! One version of a table: opened without reading a file action, advanced without reading what is known, and able to
//! say what it cost.

mod applications;
mod at;
mod blame;
mod clock;
mod history;
mod level;
mod load;
mod recent;
mod recount;
mod report;
mod state;
mod times;

pub use at::{At, format_timestamp, resolve_table_path};
pub(crate) use clock::{in_commit_since, info_of, monotonic};
pub use history::Commit;
pub use level::Verify;
pub(crate) use report::Counters;
pub use report::Report;
pub(crate) use state::ReplayedLog;
pub use state::Snapshot;
pub(crate) use times::CommitTimes;
