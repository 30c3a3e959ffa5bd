//! A table as a stream of the files that are added to it, with the offsets of delta-spark: the checkpoint of a query can be
//! taken over in both directions.
//!
//! A new stream begins with the files of the table as it is, ordered by modification time and path; then it follows the
//! commits. Each file has an index in its version, and an offset records how far a query came: so a version can be
//! spread over many batches, and every split into batches gives each file exactly once.

mod admission;
mod commit;
mod known;
mod offset;
mod options;
mod schema_changes;
mod source;
mod start;
mod tracking;
mod walk;

pub use admission::ReadLimit;
pub use offset::Offset;
pub use options::{SourceOptions, Start};
pub use source::{BatchPart, Source};
pub use tracking::{Place, TrackingOptions, check_places};
