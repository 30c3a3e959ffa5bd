//! One version of a table: opened without reading a file action, advanced without reading what is known, and able to
//! say what it cost.

mod applications;
mod at;
mod blame;
mod cache;
mod clock;
mod history;
mod level;
mod load;
mod log_state;
mod recount;
mod reselected;
mod state;
mod times;

pub use at::{At, format_timestamp, resolve_table_path};
pub(crate) use clock::{in_commit_timestamp, monotonic};
pub use history::Commit;
pub(crate) use level::Checks;
pub use level::Verify;
pub(crate) use log_state::ReplayedLog;
pub use state::Snapshot;
pub(crate) use times::CommitTimes;
