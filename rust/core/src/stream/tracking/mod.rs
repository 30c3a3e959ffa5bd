//! The schemas that a stream reads with, kept in a log beside its checkpoint (`schemaTrackingLocation`): columns may be
//! renamed, dropped and widened in its table, and the stream ends there, is started again, and continues with the
//! schema that the log has then.

mod evolution;
mod options;
mod place;
mod schema_log;
mod source;
mod tracker;

pub use options::TrackingOptions;
pub use place::{Place, check_places};
pub(super) use tracker::Tracker;
