//! Ranges of a data file that are fetched while others are decoded.

use std::ops::Range;
use std::sync::mpsc::{Receiver, sync_channel};

use bytes::Bytes;

use super::data_file::DataFile;
use crate::error::{Error, Result};
use crate::panics::caught;

/// Ranges of more bytes are not fetched ahead: they would be in memory beside those that are decoded.
const MOST: u64 = 64 << 20;

/// Ranges that a thread fetches.
#[derive(Debug)]
pub(crate) struct RangesAhead {
    ranges: Vec<Range<u64>>,
    bytes: Receiver<Result<Vec<Bytes>>>,
}

impl DataFile {
    /// Begins to fetch ranges; none where they are too large, or no thread can be started.
    pub(crate) fn ranges_ahead(&self, ranges: Vec<Range<u64>>) -> Option<RangesAhead> {
        if ranges.iter().fold(0_u64, |sum, r| sum.saturating_add(r.end.saturating_sub(r.start))) > MOST {
            return None;
        }
        let (sender, bytes) = sync_channel(1);
        let (file, wanted) = (self.clone(), ranges.clone());
        let fetch = move || {
            let found = caught(|| format!("read of {}", file.path()), || file.ranges(&wanted));
            // nobody may want them any more
            let _ = sender.send(found);
        };
        std::thread::Builder::new().name("deltaic-ahead".into()).spawn(fetch).ok()?;
        Some(RangesAhead { ranges, bytes })
    }
}

impl RangesAhead {
    /// Waits for the bytes.
    ///
    /// # Errors
    /// As [`DataFile::ranges`].
    pub(crate) fn wait(self) -> Result<(Vec<Range<u64>>, Vec<Bytes>)> {
        let bytes = self.bytes.recv().map_err(|gone| Error::storage("read", "a data file", gone))?;
        Ok((self.ranges, bytes?))
    }
}
