use serde::{Deserialize, Serialize};

use crate::actions::{DomainMetadata, Metadata, Protocol, Txn};
use crate::error::{Error, Result};
use crate::log::LogFile;
use crate::store::Location;

/// `n.crc`: facts about a version that save reading it (PROTOCOL.md, "Version Checksum File").
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checksum {
    /// Transaction that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub txn_id: Option<String>,
    /// Sum of the sizes of all live files.
    pub table_size_bytes: i64,
    /// Number of live files.
    pub num_files: i64,
    /// Rows that deletion vectors delete; absent means unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_deleted_records_opt: Option<i64>,
    /// Live files with a deletion vector; absent means unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_deletion_vectors_opt: Option<i64>,
    /// Always 1.
    #[serde(default = "one")]
    pub num_metadata: i64,
    /// Always 1.
    #[serde(default = "one")]
    pub num_protocol: i64,
    /// In-commit timestamp of the version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_commit_timestamp_opt: Option<i64>,
    /// Live transaction identifiers; absent means unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_transactions: Option<Vec<Txn>>,
    /// Live domains; absent means unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain_metadata: Option<Vec<DomainMetadata>>,
    /// Metadata of the version. Old writers left it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Protocol of the version. Old writers left it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// How the sizes of the live files are distributed; absent means unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_size_histogram: Option<FileSizeHistogram>,
    /// The same under its older name, which some writers use, or write beside the other one.
    #[serde(default, skip_serializing)]
    pub(crate) histogram_opt: Option<FileSizeHistogram>,
    /// How the deleted rows are distributed over the files; absent means unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_record_counts_histogram_opt: Option<DeletedRecordCounts>,
}

/// Files and bytes by size of file (PROTOCOL.md, "File Size Histogram Schema").
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileSizeHistogram {
    /// Where each bin begins, ascending, from 0.
    pub sorted_bin_boundaries: Vec<i64>,
    /// Files of each bin.
    pub file_counts: Vec<i64>,
    /// Bytes of each bin.
    pub total_bytes: Vec<i64>,
}

impl FileSizeHistogram {
    /// Files and bytes of all bins.
    pub(crate) fn sums(&self) -> (i64, i64) {
        let sum = |counts: &[i64]| counts.iter().fold(0, |sum: i64, count| sum.wrapping_add(*count));
        (sum(&self.file_counts), sum(&self.total_bytes))
    }
}

/// Files by number of deleted rows (PROTOCOL.md, "Deleted Record Counts Histogram Schema").
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeletedRecordCounts {
    /// Files of each of the ten bins.
    pub deleted_record_counts: Vec<i64>,
}

fn one() -> i64 {
    1
}

impl Checksum {
    /// Reads a checksum file.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] when it is not the JSON of a checksum. It is a cache: no reason to refuse the table.
    pub(crate) fn read(location: &Location, file: &LogFile) -> Result<Self> {
        let path = location.log_dir().join(&file.name);
        Self::parse(&location.store().get(&path)?, &path.to_string(), file.version)
    }

    /// Parses a checksum file.
    ///
    /// # Errors
    /// As [`Checksum::read`].
    pub(crate) fn parse(body: &[u8], path: &str, version: u64) -> Result<Self> {
        let mut checksum: Self =
            serde_json::from_slice(body).map_err(|e| Error::corrupt(path, Some(version), e.to_string()))?;
        let older = checksum.histogram_opt.take();
        checksum.file_size_histogram = checksum.file_size_histogram.or(older);
        Ok(checksum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_histogram_has_two_names_and_may_have_both() {
        let one = r#"{"sortedBinBoundaries":[0],"fileCounts":[1],"totalBytes":[7]}"#;
        for names in [&["fileSizeHistogram"][..], &["histogramOpt"], &["histogramOpt", "fileSizeHistogram"]] {
            let fields: String = names.iter().map(|name| format!(r#","{name}":{one}"#)).collect();
            let body = format!(r#"{{"tableSizeBytes":7,"numFiles":1{fields}}}"#);
            let read = Checksum::parse(body.as_bytes(), "0.crc", 0).unwrap();
            assert_eq!(read.file_size_histogram.as_ref().map(FileSizeHistogram::sums), Some((1, 7)));
            let written = serde_json::to_string(&read).unwrap();
            assert!(written.contains("fileSizeHistogram") && !written.contains("histogramOpt"), "{written}");
        }
    }
}
