//! Partition values: as the log serializes them, as columns, and as folders of data files (PROTOCOL.md, "Partition Value
//! Serialization").

mod deserialize;
pub(crate) mod path;
mod serialize;

pub use deserialize::parse;
pub(crate) use deserialize::repeat;
pub(crate) use path::{folder as partition_folder, values_of as partition_folder_values};
pub(crate) use serialize::{PartitionText, date_text, partition_text, timestamp_from_folder};
