use serde::Deserialize;

use crate::error::{Error, Result};
use crate::store::Location;

/// `_last_checkpoint`: where a recent checkpoint is. Only a hint: the log is the truth, and a hint that is broken or
/// points nowhere costs a longer listing and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastCheckpoint {
    /// Version of the checkpoint.
    pub version: u64,
    /// Number of actions in it.
    #[serde(default)]
    pub size: Option<i64>,
    /// Number of parts of a multi-part checkpoint.
    #[serde(default)]
    pub parts: Option<u32>,
    /// Size in bytes.
    #[serde(default)]
    pub size_in_bytes: Option<i64>,
    /// Number of `add` actions in it.
    #[serde(default)]
    pub num_of_add_files: Option<i64>,
}

impl LastCheckpoint {
    /// Name in `_delta_log`.
    pub const NAME: &'static str = "_last_checkpoint";

    /// Reads the hint; `None` where there is none.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] when it is not the JSON of a hint, [`Error::Storage`] when it cannot be read. Neither is
    /// a reason to refuse the table.
    pub fn read(location: &Location) -> Result<Option<Self>> {
        let path = location.log_dir().join(Self::NAME);
        let body = match location.store().get(&path) {
            Err(Error::NotFound { .. }) => return Ok(None),
            body => body?,
        };
        serde_json::from_slice(&body)
            .map(Some)
            .map_err(|e| Error::corrupt(path.to_string(), None, e.to_string()))
    }
}
