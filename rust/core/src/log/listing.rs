use super::{LogFile, LogFileKind};
use crate::error::Result;
use crate::store::Location;

/// The files of the log from a version on: one listing, ordered by name.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Files of the protocol, ordered by name.
    pub files: Vec<LogFile>,
    /// First version that was listed; files before it may exist.
    pub from: u64,
}

impl Listing {
    /// Lists the log from a version on. One listing request.
    ///
    /// # Errors
    /// [`crate::Error::Storage`] when the store cannot list.
    pub fn read(location: &Location, from: u64) -> Result<Self> {
        // every name of the protocol starts with a digit: from version 0 on, start at the first digit
        let start = if from == 0 { "0".to_owned() } else { format!("{from:020}.") };
        let listed = location.store().list_from(&location.log_dir(), &start)?;
        let files = listed.into_iter().filter_map(LogFile::classify).collect();
        Ok(Listing { files, from })
    }

    /// The commits, oldest first.
    pub fn commits(&self) -> impl DoubleEndedIterator<Item = &LogFile> {
        self.files.iter().filter(|f| f.kind == LogFileKind::Commit)
    }
}
