//! Deletion vectors: which rows of a data file are deleted (PROTOCOL.md, "Deletion Vectors").

mod bitmap;

pub(crate) use bitmap::Shared;
pub use bitmap::{DeletionVector, file_path, write_file};
