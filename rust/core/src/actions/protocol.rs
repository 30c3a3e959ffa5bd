use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// `protocol`: what a client must be able to do (PROTOCOL.md, "Protocol Evolution").
///
/// Two with the same features in another order are equal: delta-spark lists them in a checkpoint and in a checksum otherwise than
/// the commit does.
#[derive(Debug, Clone, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Protocol {
    /// Minimum reader version.
    pub min_reader_version: i32,
    /// Minimum writer version.
    pub min_writer_version: i32,
    /// Reader features; present exactly from reader version 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reader_features: Option<Vec<String>>,
    /// Writer features; present exactly from writer version 7.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer_features: Option<Vec<String>>,
}

impl PartialEq for Protocol {
    fn eq(&self, other: &Self) -> bool {
        let set = |features: &Option<Vec<String>>| -> BTreeSet<String> {
            features.iter().flatten().cloned().collect()
        };
        (self.min_reader_version, self.min_writer_version)
            == (other.min_reader_version, other.min_writer_version)
            && set(&self.reader_features) == set(&other.reader_features)
            && set(&self.writer_features) == set(&other.writer_features)
    }
}
