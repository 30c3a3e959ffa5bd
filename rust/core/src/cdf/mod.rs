//! The change data feed (PROTOCOL.md, "Change Data Files", "Add CDC File"): the row-level changes of a range of versions.
//!
//! | file | says |
//! |---|---|
//! | `range` | which versions a request means |
//! | `plan` | the range with its schema: whether the feed was on, and one schema fits all of it |
//! | `compatible` | which changes of the schema leave earlier rows readable |
//! | `files` | the files of one commit that hold its changes |
//! | `read` | the rows |

mod compatible;
mod files;
mod plan;
mod range;
mod read;

pub use files::{ChangeFile, ChangeKind};
pub use plan::ChangeDataFeed;
pub use range::{CdfBound, CdfRequest};
