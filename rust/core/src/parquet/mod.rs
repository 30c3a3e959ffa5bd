//! Parquet files: opened with limits on what their footers may ask for, and guarded against a decoder that panics.

mod calendar;
mod compression;
mod data_file;
mod guard;
mod page_sizes;
mod ranges_ahead;

pub(crate) use calendar::{Calendar, calendar_note, rebase_dates, rebase_instants};
pub(crate) use compression::{Codec, codec as parquet_codec};
pub(crate) use data_file::DataFile;
pub(crate) use guard::guarded;
pub use page_sizes::MAX_PAGE_BYTES;
pub(crate) use ranges_ahead::RangesAhead;
