//! `scan`

mod file;

pub(crate) use file::DataFile;
