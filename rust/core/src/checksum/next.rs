//! The checksum of a version from the one before and the actions of the commit.

use std::collections::BTreeMap;

use super::histogram::{count_deletions, count_size, no_deletions, no_sizes};
use super::version_checksum::Checksum;
use crate::actions::{ActionRef, CommitInfo, OperationName};
use crate::features::{TableFeature, has_in_commit_timestamps};
use crate::properties::TableProperty;

/// More transaction identifiers or domains than this are left out, as delta-spark does: absent means unknown.
pub(crate) const MOST_TXNS: usize = 100;

pub(crate) const MOST_DOMAINS: usize = 100;

/// Operations that add files that exist already.
const ADDS_AGAIN: [OperationName; 4] = [
    OperationName::ComputeStats,
    OperationName::RowTrackingBackfill,
    OperationName::RowTrackingUnbackfill,
    OperationName::DropFeature,
];

/// Operations that remove missing files, or may do anything.
const REMOVES_NOTHING: [OperationName; 2] =
    [OperationName::DeletionVectorTombstones, OperationName::ManualUpdate];

/// The checksum of a version from that of the version before (none before version 0) and the actions of the commit.
/// `None` where these do not suffice: an operation that adds files again, a `remove` without a size, no protocol.
pub fn next_checksum(
    before: Option<&Checksum>,
    info: &CommitInfo,
    actions: &[ActionRef<'_>],
) -> Option<Checksum> {
    let operation = info.operation.as_deref().unwrap_or_default();
    if ADDS_AGAIN.iter().chain(&REMOVES_NOTHING).any(|name| name.name() == operation) {
        return None;
    }
    let mut next = match before {
        Some(before) => before.clone(),
        None => empty_checksum(),
    };
    next.txn_id.clone_from(&info.txn_id);
    next.in_commit_timestamp_opt = info.in_commit_timestamp;
    let mut txns = index(next.set_transactions.take(), |t| t.app_id.clone());
    let mut domains = index(next.domain_metadata.take(), |d| d.domain.clone());
    let removes = actions.iter().any(|a| matches!(a, ActionRef::Remove(_)));
    for action in actions {
        match action {
            // files that are only tagged or described again
            ActionRef::Add(add) if !add.data_change && !removes => return None,
            ActionRef::Add(add) => {
                count(&mut next, add.size, add.deletion_vector.as_ref().map(|v| v.cardinality), 1);
            }
            ActionRef::Remove(remove) => {
                count(&mut next, remove.size?, remove.deletion_vector.as_ref().map(|v| v.cardinality), -1);
            }
            ActionRef::MetaData(metadata) => next.metadata = Some((*metadata).clone()),
            ActionRef::Protocol(protocol) => next.protocol = Some((*protocol).clone()),
            ActionRef::Txn(txn) => {
                if let Some(known) = &mut txns {
                    known.insert(txn.app_id.clone(), (*txn).clone());
                }
            }
            ActionRef::DomainMetadata(domain) => {
                if let Some(known) = &mut domains {
                    match domain.removed {
                        true => known.remove(&domain.domain),
                        false => known.insert(domain.domain.clone(), (*domain).clone()),
                    };
                }
            }
            _ => {}
        }
    }
    next.set_transactions = txns.map(values).filter(|t| t.len() <= MOST_TXNS);
    next.domain_metadata = domains.map(values).filter(|d| d.len() <= MOST_DOMAINS);
    finish_checksum(next)
}

/// A version without anything.
pub(crate) fn empty_checksum() -> Checksum {
    Checksum {
        num_deleted_records_opt: Some(0),
        num_deletion_vectors_opt: Some(0),
        num_metadata: 1,
        num_protocol: 1,
        set_transactions: Some(Vec::new()),
        domain_metadata: Some(Vec::new()),
        file_size_histogram: Some(no_sizes()),
        deleted_record_counts_histogram_opt: Some(no_deletions()),
        ..Default::default()
    }
}

/// Counts a file in (`1`) or out (`-1`), in all that is known. Sizes that no file has may overflow on the way to a sum that
/// does not.
pub(crate) fn count(checksum: &mut Checksum, size: i64, deleted: Option<i64>, files: i64) {
    checksum.num_files += files;
    checksum.table_size_bytes = checksum.table_size_bytes.wrapping_add(files.wrapping_mul(size));
    if let Some(vectors) = &mut checksum.num_deletion_vectors_opt {
        *vectors += files * i64::from(deleted.is_some());
    }
    if let Some(rows) = &mut checksum.num_deleted_records_opt {
        *rows = rows.wrapping_add(files.wrapping_mul(deleted.unwrap_or(0)));
    }
    if checksum.file_size_histogram.as_mut().is_some_and(|h| !count_size(h, size, files)) {
        checksum.file_size_histogram = None;
    }
    let rows = deleted.unwrap_or(0);
    if checksum.deleted_record_counts_histogram_opt.as_mut().is_some_and(|h| !count_deletions(h, rows, files))
    {
        checksum.deleted_record_counts_histogram_opt = None;
    }
}

/// A checksum that is complete and not absurd, with the fields that its table has.
pub(crate) fn finish_checksum(mut checksum: Checksum) -> Option<Checksum> {
    let (protocol, metadata) = (checksum.protocol.as_ref()?, checksum.metadata.as_ref()?);
    if checksum.num_files < 0 || checksum.table_size_bytes < 0 {
        return None;
    }
    let vectors = protocol.lists_for_readers(TableFeature::DeletionVectors);
    if !has_in_commit_timestamps(metadata) {
        checksum.in_commit_timestamp_opt = None;
    }
    // which of them have expired depends on the clock of the reader
    if metadata.property(TableProperty::SetTransactionRetentionDuration).is_some() {
        checksum.set_transactions = None;
    }
    if !vectors {
        checksum.num_deleted_records_opt = None;
        checksum.num_deletion_vectors_opt = None;
        checksum.deleted_record_counts_histogram_opt = None;
    }
    Some(checksum)
}

pub(super) fn index<T>(list: Option<Vec<T>>, key: impl Fn(&T) -> String) -> Option<BTreeMap<String, T>> {
    list.map(|l| l.into_iter().map(|t| (key(&t), t)).collect())
}

fn values<T>(map: BTreeMap<String, T>) -> Vec<T> {
    map.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::{Add, DomainMetadata, Metadata, Protocol, Remove, Txn};

    fn by(operation: &str) -> CommitInfo {
        CommitInfo { operation: Some(operation.into()), ..CommitInfo::default() }
    }

    fn first() -> Checksum {
        let protocol = Protocol {
            min_reader_version: 1,
            min_writer_version: 2,
            reader_features: None,
            writer_features: None,
        };
        let actions = [ActionRef::Protocol(&protocol), ActionRef::MetaData(&Metadata::default())];
        next_checksum(None, &by("CREATE TABLE"), &actions).unwrap()
    }

    #[test]
    fn a_table_without_files_has_a_checksum() {
        assert_eq!((first().num_files, first().table_size_bytes), (0, 0));
        let gone = Remove { size: Some(5), ..Remove::default() };
        assert_eq!(next_checksum(Some(&first()), &by("DELETE"), &[ActionRef::Remove(&gone)]), None);
    }

    #[test]
    fn operations_that_say_nothing_of_the_files_give_none() {
        let add = Add { size: 5, data_change: true, ..Add::default() };
        let after = |operation| next_checksum(Some(&first()), &by(operation), &[ActionRef::Add(&add)]);
        assert_eq!(after("WRITE").unwrap().table_size_bytes, 5);
        for operation in ADDS_AGAIN.into_iter().chain(REMOVES_NOTHING) {
            assert_eq!(after(operation.name()), None, "{operation}");
        }
    }

    #[test]
    fn files_that_are_described_again_give_none() {
        let add = Add { size: 5, ..Add::default() };
        let remove = Remove { size: Some(3), ..Remove::default() };
        let before = Checksum { num_files: 1, table_size_bytes: 3, ..first() };
        let after = |actions: &[ActionRef<'_>]| next_checksum(Some(&before), &by("OPTIMIZE"), actions);
        assert_eq!(after(&[ActionRef::Add(&add)]), None);
        let next = after(&[ActionRef::Remove(&remove), ActionRef::Add(&add)]).unwrap();
        assert_eq!((next.num_files, next.table_size_bytes), (1, 5));
    }

    #[test]
    fn too_many_domains_are_left_out() {
        let domain =
            |n: usize| DomainMetadata { domain: n.to_string(), configuration: "{}".into(), removed: false };
        let domains: Vec<DomainMetadata> = (0..=MOST_DOMAINS).map(domain).collect();
        let known = |count: usize| {
            let actions: Vec<ActionRef<'_>> =
                domains[..count].iter().map(ActionRef::DomainMetadata).collect();
            next_checksum(Some(&first()), &by("WRITE"), &actions).unwrap().domain_metadata
        };
        assert_eq!(known(MOST_DOMAINS).unwrap().len(), MOST_DOMAINS);
        assert_eq!(known(MOST_DOMAINS + 1), None);
    }

    #[test]
    fn too_many_transaction_identifiers_are_left_out() {
        let txns: Vec<Txn> =
            (0..=MOST_TXNS).map(|n| Txn { app_id: n.to_string(), version: 1, last_updated: None }).collect();
        let known = |count: usize| {
            let actions: Vec<ActionRef<'_>> = txns[..count].iter().map(ActionRef::Txn).collect();
            next_checksum(Some(&first()), &by("WRITE"), &actions).unwrap().set_transactions
        };
        assert_eq!(known(MOST_TXNS).unwrap().len(), MOST_TXNS);
        assert_eq!(known(MOST_TXNS + 1), None);
    }

    #[test]
    fn a_checksum_has_the_fields_that_its_table_has() {
        let with = |properties: &[&str], features: &[&str]| {
            let mut checksum = Checksum {
                in_commit_timestamp_opt: Some(7),
                set_transactions: Some(Vec::new()),
                num_deletion_vectors_opt: Some(1),
                ..first()
            };
            let metadata = checksum.metadata.as_mut().unwrap();
            metadata.configuration =
                properties.iter().map(|p| ((*p).to_owned(), "true".to_owned())).collect();
            let features = features.iter().map(|f| (*f).to_owned()).collect();
            checksum.protocol.as_mut().unwrap().reader_features = Some(features);
            let done = finish_checksum(checksum).unwrap();
            (done.in_commit_timestamp_opt, done.set_transactions.is_some(), done.num_deletion_vectors_opt)
        };
        assert_eq!(with(&[], &[]), (None, true, None));
        assert_eq!(with(&["delta.enableInCommitTimestamps"], &[]), (Some(7), true, None));
        assert_eq!(with(&["delta.setTransactionRetentionDuration"], &[]), (None, false, None));
        assert_eq!(with(&[], &["deletionVectors"]), (None, true, Some(1)));
        for absurd in [(-1, 0), (0, -1)] {
            let checksum = Checksum { num_files: absurd.0, table_size_bytes: absurd.1, ..first() };
            assert_eq!(finish_checksum(checksum), None);
        }
    }
}
