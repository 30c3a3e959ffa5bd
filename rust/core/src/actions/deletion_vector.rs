use serde::{Deserialize, Serialize};

/// Where a deletion vector is (PROTOCOL.md, "Deletion Vector Descriptor Schema").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DvStorage {
    /// `u`: a file whose name is derived from a random prefix and a base85 UUID.
    #[serde(rename = "u")]
    UuidFile,
    /// `i`: in the action itself, base85.
    #[serde(rename = "i")]
    Inline,
    /// `p`: an absolute path.
    #[serde(rename = "p")]
    AbsolutePath,
}

/// Rows of a data file that are deleted (PROTOCOL.md, "Deletion Vectors").
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeletionVectorDescriptor {
    /// Where it is.
    pub storage_type: DvStorage,
    /// File name prefix and UUID, inline bytes, or absolute path, by `storage_type`.
    pub path_or_inline_dv: String,
    /// Offset in the file; none for inline vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<i32>,
    /// Size of the serialized vector in bytes, before base85.
    pub size_in_bytes: i32,
    /// Number of deleted rows.
    pub cardinality: i64,
}

impl DvStorage {
    /// The one-letter code of the log.
    pub fn code(self) -> &'static str {
        match self {
            DvStorage::UuidFile => "u",
            DvStorage::Inline => "i",
            DvStorage::AbsolutePath => "p",
        }
    }

    /// From the one-letter code of the log.
    pub fn from_code(code: &str) -> Option<Self> {
        match code {
            "u" => Some(DvStorage::UuidFile),
            "i" => Some(DvStorage::Inline),
            "p" => Some(DvStorage::AbsolutePath),
            _ => None,
        }
    }
}

impl DeletionVectorDescriptor {
    /// The id that, with the path, is the key of a logical file (PROTOCOL.md, "Derived Fields").
    pub fn unique_id(&self) -> String {
        match self.offset {
            Some(offset) => format!("{}{}@{offset}", self.storage_type.code(), self.path_or_inline_dv),
            None => format!("{}{}", self.storage_type.code(), self.path_or_inline_dv),
        }
    }
}
