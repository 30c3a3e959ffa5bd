//! What two checksums of one version say differently.

use std::fmt;

use super::next::index;
use super::version_checksum::Checksum;

/// A fact that differs between a checksum and the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChecksumDifference {
    /// Name of the fact in the checksum.
    pub field: &'static str,
    /// What the checksum says.
    pub said: String,
    /// What the log gives.
    pub found: String,
}

impl fmt::Display for ChecksumDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: the checksum states {}, the log gives {}", self.field, self.said, self.found)
    }
}

/// The facts of `said` that differ from `found`, of those that both have.
pub(crate) fn checksum_differences(said: &Checksum, found: &Checksum) -> Vec<ChecksumDifference> {
    let mut out = Vec::new();
    fn compare<T: PartialEq + fmt::Debug>(
        out: &mut Vec<ChecksumDifference>,
        field: &'static str,
        said: Option<&T>,
        found: Option<&T>,
    ) {
        if let (Some(said), Some(found)) = (said, found)
            && said != found
        {
            out.push(ChecksumDifference { field, said: format!("{said:?}"), found: format!("{found:?}") });
        }
    }
    macro_rules! fields {
        ($($name:literal $field:ident),*) => {
            $(compare(&mut out, $name, said.$field.as_ref(), found.$field.as_ref());)*
        };
    }
    compare(&mut out, "numFiles", Some(&said.num_files), Some(&found.num_files));
    compare(&mut out, "tableSizeBytes", Some(&said.table_size_bytes), Some(&found.table_size_bytes));
    fields!(
        "protocol" protocol,
        "metadata" metadata,
        "txnId" txn_id,
        "numDeletionVectorsOpt" num_deletion_vectors_opt,
        "numDeletedRecordsOpt" num_deleted_records_opt,
        "deletedRecordCountsHistogramOpt" deleted_record_counts_histogram_opt,
        "inCommitTimestampOpt" in_commit_timestamp_opt
    );
    let txns = |c: &Checksum| index(c.set_transactions.clone(), |t| t.app_id.clone());
    compare(&mut out, "setTransactions", txns(said).as_ref(), txns(found).as_ref());
    let domains = |c: &Checksum| index(c.domain_metadata.clone(), |d| d.domain.clone());
    compare(&mut out, "domainMetadata", domains(said).as_ref(), domains(found).as_ref());
    // other bins cannot be compared one by one
    let bins = |c: &Checksum| c.file_size_histogram.as_ref().map(|h| h.sorted_bin_boundaries.clone());
    if bins(said) == bins(found) {
        fields!("fileSizeHistogram" file_size_histogram);
    }
    out
}
