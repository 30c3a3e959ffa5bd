//! Version checksums (PROTOCOL.md, "Version Checksum File"): what they hold, and the next one from a commit.

mod differences;
mod histogram;
mod next;
mod version_checksum;

pub use differences::ChecksumDifference;
pub(crate) use differences::checksum_differences;
pub use next::next_checksum;
pub(crate) use next::{MOST_DOMAINS, MOST_TXNS, count, empty_checksum, finish_checksum};
pub use version_checksum::{Checksum, DeletedRecordCounts, FileSizeHistogram};
