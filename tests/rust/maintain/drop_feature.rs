//! Dropping features: the rows stay, the traces go, and what is cut off goes on from there.

use std::fs::File;
use std::time::{Duration, SystemTime};

use arrow::array::Int32Array;
use deltaic_core::Error;
use deltaic_core::actions::{Action, DomainMetadata};
use deltaic_core::alter::{ColumnChange, NewColumn, cluster_by};
use deltaic_core::deletion_vector::write_file;
use deltaic_core::log::{Listing, LogFileKind};
use deltaic_core::maintain::{Alteration, DropDone, DropOptions, alter_table, drop_feature};
use deltaic_core::schema::{DataType, StructField};
use deltaic_core::store::StorageOptions;
use deltaic_core::verify::{VerifyOptions, verify};
use uuid::Uuid;

use super::*;

pub(super) const VECTORS: (&str, &str) = ("delta.enableDeletionVectors", "true");
pub(super) const ROW_IDS: (&str, &str) = ("delta.enableRowTracking", "true");

/// Two partitions, three files, one after the other.
pub(super) fn table(properties: &[(&str, &str)]) -> (FaultStore, Location) {
    let (store, location) = place();
    fill(&location, properties);
    (store, location)
}

fn fill(location: &Location, properties: &[(&str, &str)]) {
    write(location, &[("a", 1), ("b", 2), ("a", 3)], &with_properties(properties)).unwrap();
    write(location, &[("a", 4), ("a", 5)], &partitioned()).unwrap();
}

pub(super) fn try_drop(location: &Location, name: &str, truncate: bool) -> Result<DropDone> {
    drop_feature(location, name, truncate, &DropOptions::default())
}

/// Drops a feature, and looks whether rows and history are whole, and the protocol is without it.
pub(super) fn dropped(location: &Location, name: &str) -> DropDone {
    let (before, at) = (rows(location), open(location).version());
    let done = try_drop(location, name, false).unwrap();
    assert_eq!(rows(location), before, "{name}");
    assert_eq!(rows_at(location, At::Version(at)), before, "{name}: the history loads");
    let snapshot = open(location);
    assert_eq!(snapshot.version(), done.version, "{name}");
    assert!(!features(location).contains(&name.to_owned()), "{name}");
    let said = info(location, done.version);
    let parameters = said.operation_parameters.unwrap();
    assert_eq!(said.operation.as_deref(), Some("DROP FEATURE"));
    assert_eq!(
        (parameters["featureName"].as_str(), parameters["truncateHistory"].as_bool()),
        (Some(name), Some(false))
    );
    is_whole(location);
    done
}

pub(super) fn features(location: &Location) -> Vec<String> {
    open(location).protocol().features().into_iter().map(|f| f.to_string()).collect()
}

pub(super) fn is_whole(location: &Location) {
    let report = verify(location, &VerifyOptions { deep: true, ..Default::default() }).unwrap();
    assert!(report.ok(), "{:?}", report.findings);
}

pub(super) fn property(location: &Location, key: &str) -> Option<String> {
    open(location).metadata().configuration.get(key).cloned()
}

fn checkpoints(location: &Location) -> Vec<(u64, LogFileKind)> {
    let listing = Listing::read(location, 0).unwrap();
    let found = listing.files.into_iter().filter(|f| f.is_checkpoint());
    found.map(|f| (f.version, f.kind)).collect()
}

#[test]
fn deletion_vectors_are_purged_and_the_history_stays_behind_checkpoints() {
    let (_, location) = table(&[VECTORS, ROW_IDS]);
    delete_first_row(&location);
    let done = dropped(&location, "deletionVectors");
    assert_eq!((done.steps, done.rewritten), (2, 1));
    assert!(adds(&location).iter().all(|a| a.deletion_vector.is_none() && !a.data_change));
    // the row ids went along
    assert_eq!(adds(&location).iter().filter(|a| a.base_row_id.is_some()).count(), 3);
    assert_eq!(property(&location, "delta.enableDeletionVectors"), None);
    assert!(features(&location).contains(&"checkpointProtection".to_owned()));
    let version = done.version;
    assert_eq!(done.protected_before, Some(version));
    let before = property(&location, "delta.requireCheckpointProtectionBeforeVersion");
    assert_eq!(before, Some(version.to_string()));
    let found: Vec<u64> = checkpoints(&location).into_iter().map(|(version, _)| version).collect();
    assert_eq!(found, [version - 3, version - 2, version - 1, version]);
    assert_eq!(info(&location, version - 1).operation.as_deref(), Some("Empty Commit"));
    assert_eq!(info(&location, version - 4).operation.as_deref(), Some("REORG"));
    assert_eq!(try_drop(&location, "deletionVectors", false).unwrap_err().kind(), "InvalidFeatureChange");
}

#[test]
fn files_of_vectors_get_tombstones_that_keep_them_for_older_versions() {
    let (_, location) = table(&[VECTORS]);
    let mut names = Vec::new();
    for (number, row) in [(1, 0u64), (2, 1)] {
        // the second vector takes the place of the first
        let rows: DeletionVector = (0..=row).collect();
        let id = Uuid::from_u128(number);
        let (body, descriptors) = write_file(&[rows], "a b", id).unwrap();
        names.push(format!("a b/deletion_vector_{id}.bin"));
        location.store().put(&location.root().join(&names[names.len() - 1]), body).unwrap();
        let mut txn = Transaction::begin(&open(&location), Operation::new("DELETE"));
        let file = adds(&location).into_iter().find(|add| rows_in(add) == 2).unwrap();
        txn.replace_vector(&file, descriptors[0].clone());
        txn.commit().unwrap();
    }
    let done = dropped(&location, "deletionVectors");
    assert_eq!((done.steps, done.rewritten), (3, 1));
    let kept = done.version - 4;
    assert_eq!(info(&location, kept).operation.as_deref(), Some("Deletion Vector Tombstones"));
    let winners = winners_from(&location, kept).unwrap();
    let removes = winners[0].actions.iter().filter_map(|action| match action {
        Action::Remove(remove) => Some((remove.path.resolve(location.root()).unwrap(), remove.data_change)),
        _ => None,
    });
    let expected: Vec<_> = names.iter().map(|name| (location.root().join(name), false)).collect();
    assert_eq!(removes.collect::<Vec<_>>(), expected);
}

fn rows_in(add: &Add) -> u64 {
    let stats: serde_json::Value = serde_json::from_str(add.stats.as_deref().unwrap()).unwrap();
    stats["numRecords"].as_u64().unwrap()
}

#[test]
fn column_mapping_goes_with_names_that_were_mapped() {
    for mode in ["name", "id"] {
        let (_, location) = table(&[("delta.columnMapping.mode", mode), VECTORS, ROW_IDS]);
        let new = NewColumn::of(StructField::new("x", DataType::Long, true));
        alter_table(&location, &Alteration::AddColumns(vec![new]), None).unwrap();
        let rename = Alteration::RenameColumn { path: vec!["x".into()], name: "y".into() };
        alter_table(&location, &rename, None).unwrap();
        delete_first_row(&location);
        let done = dropped(&location, "columnMapping");
        assert_eq!((done.steps, done.rewritten), (1, 3), "{mode}");
        assert_eq!(property(&location, "delta.columnMapping.mode"), None);
        let schema = open(&location).metadata().schema_string.clone();
        assert!(!schema.contains("columnMapping"), "{schema}");
        assert!(adds(&location).iter().all(|a| a.partition_values.contains_key("p")), "{mode}");
        write(&location, &[("c", 9)], &partitioned()).unwrap();
        assert_eq!(rows(&location).len(), 5);
    }
}

#[test]
fn clustering_columns_get_their_own_names_when_column_mapping_goes() {
    let (_, location) = place();
    let properties =
        with_properties(&[("delta.columnMapping.mode", "name"), ("delta.feature.clustering", "supported")]);
    write(&location, &[("a", 1)], &WriteOptions { partition_by: Vec::new(), ..properties }).unwrap();
    let definition = |location: &Location| {
        let snapshot = open(location);
        deltaic_core::alter::Definition::of(snapshot.protocol(), snapshot.metadata()).unwrap()
    };
    let mut txn = Transaction::begin(&open(&location), Operation::new("CLUSTER BY"));
    txn.domain(cluster_by(&definition(&location), &[vec!["id".into()]]).unwrap().1);
    txn.commit().unwrap();
    dropped(&location, "columnMapping");
    let domains = open(&location).domain_metadata().unwrap();
    let own = domains.iter().find(|d| d.domain == "delta.clustering").unwrap();
    assert!(own.configuration.contains(r#"[["id"]]"#), "{}", own.configuration);
}

#[test]
fn files_with_types_from_before_a_widening_are_written_again() {
    let (_, location) = place();
    let narrow = |id: i32| {
        let p: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
        let id: ArrayRef = Arc::new(Int32Array::from(vec![id]));
        RecordBatch::try_from_iter_with_nullable([("p", p, true), ("id", id, true)]).unwrap()
    };
    let batch = narrow(1);
    let schema = batch.schema();
    let options = with_properties(&[("delta.enableTypeWidening", "true")]);
    deltaic_core::operations::write(&location, RecordBatchIterator::new([Ok(batch)], schema), &options)
        .unwrap();
    let widened = ColumnChange { data_type: Some(DataType::Long), ..ColumnChange::of(vec!["id".into()]) };
    alter_table(&location, &Alteration::ChangeColumns(vec![widened]), None).unwrap();
    write(&location, &[("a", 1 << 40)], &partitioned()).unwrap();
    let name = features(&location).into_iter().find(|f| f.starts_with("typeWidening")).unwrap();
    let done = dropped(&location, &name);
    assert_eq!((done.steps, done.rewritten), (2, 1));
    assert!(!open(&location).metadata().schema_string.contains("typeChanges"));
}

#[test]
fn row_ids_are_cleared_and_the_domain_goes() {
    let (_, location) = table(&[ROW_IDS, VECTORS]);
    delete_first_row(&location);
    let done = dropped(&location, "rowTracking");
    assert_eq!((done.steps, done.protected_before), (2, None));
    assert!(
        adds(&location).iter().all(|a| a.base_row_id.is_none() && a.default_row_commit_version.is_none())
    );
    assert!(open(&location).domain_metadata().unwrap().is_empty());
    assert!(open(&location).metadata().configuration.keys().all(|key| !key.contains("rowTracking")));
    assert_eq!(dropped(&location, "domainMetadata").steps, 0);
}

#[test]
fn features_that_only_writers_know_go_in_place() {
    let (_, location) = table(&[("delta.enableInCommitTimestamps", "true")]);
    let done = dropped(&location, "inCommitTimestamp");
    assert_eq!((done.steps, done.version), (1, 3));
    assert_eq!(info(&location, 3).in_commit_timestamp, None);

    let (_, location) = table(&[]);
    let check =
        Alteration::AddConstraint { name: "small".into(), expression: "id < 100".into(), checked: None };
    alter_table(&location, &check, None).unwrap();
    let error = try_drop(&location, "checkConstraints", false).unwrap_err();
    assert!(error.to_string().contains("drop the constraints first: small"), "{error}");
    assert_eq!(open(&location).version(), 2);
    alter_table(&location, &Alteration::DropConstraint { name: "small".into(), if_exists: false }, None)
        .unwrap();
    assert_eq!(dropped(&location, "checkConstraints").version, 4);
}

#[test]
fn domains_go_with_the_feature_that_has_them_and_not_before() {
    let (_, location) = table(&[("delta.feature.clustering", "supported")]);
    let error = try_drop(&location, "domainMetadata", false).unwrap_err();
    assert!(error.to_string().contains("clustering requires it"), "{error}");
    assert_eq!(open(&location).version(), 1);

    let (_, location) = table(&[("delta.feature.domainMetadata", "supported")]);
    let mut txn = Transaction::begin(&open(&location), Operation::new("WRITE"));
    txn.domain(DomainMetadata { domain: "mine".into(), configuration: "{}".into(), removed: false });
    txn.commit().unwrap();
    let done = dropped(&location, "domainMetadata");
    assert_eq!((done.steps, done.version), (1, 4));
    assert_eq!(info(&location, 3).operation.as_deref(), Some("DOMAIN METADATA CLEANUP"));
    assert!(open(&location).domain_metadata().unwrap().is_empty());
}

#[test]
fn a_feature_without_traces_goes_behind_its_checkpoints() {
    let (_, location) = table(&[("delta.feature.vacuumProtocolCheck", "supported")]);
    let done = dropped(&location, "vacuumProtocolCheck");
    assert_eq!((done.steps, done.version, done.protected_before), (0, 5, Some(5)));
    assert_eq!(features(&location), ["appendOnly", "checkpointProtection", "invariants"]);
    // dropped in any case of its name, and the protection moves on
    alter_table(
        &location,
        &Alteration::SetProperties {
            properties: [("delta.feature.vacuumProtocolCheck".to_owned(), "supported".to_owned())].into(),
            options: Default::default(),
        },
        None,
    )
    .unwrap();
    let done = try_drop(&location, "VACUUMprotocolCHECK", false).unwrap();
    let before = property(&location, "delta.requireCheckpointProtectionBeforeVersion");
    assert_eq!((done.protected_before, before), (Some(10), Some("10".to_owned())));
}

#[test]
fn the_newest_checkpoints_are_classic_without_v2() {
    let (_, location) = table(&[("delta.checkpointPolicy", "v2")]);
    deltaic_core::checkpoint::checkpoint(&open(&location)).unwrap();
    let done = dropped(&location, "v2Checkpoint");
    let found = checkpoints(&location);
    assert!(matches!(found[0].1, LogFileKind::UuidCheckpoint(_)));
    assert!(found[1..].iter().all(|(_, kind)| *kind == LogFileKind::ClassicCheckpoint), "{found:?}");
    assert_eq!(property(&location, "delta.checkpointPolicy").as_deref(), Some("classic"));
    assert_eq!(found.last().map(|f| f.0), Some(done.version));
}

/// Makes all files of the log this old.
fn age(location: &Location, root: &std::path::Path, hours: u64) {
    let listing = Listing::read(location, 0).unwrap();
    let then = SystemTime::now() - Duration::from_secs(hours * 3600);
    for file in &listing.files {
        let age = Duration::from_millis(file.version * 1000);
        let path = root.join("_delta_log").join(&file.name);
        File::options().append(true).open(path).unwrap().set_modified(then + age).unwrap();
    }
}

#[test]
fn the_history_is_truncated_once_it_is_old_enough() {
    let dir = tempfile::tempdir().unwrap();
    let location = Location::open(dir.path().to_str().unwrap(), &StorageOptions::default()).unwrap();
    fill(&location, &[VECTORS]);
    delete_first_row(&location);
    let before = rows(&location);
    let error = try_drop(&location, "deletionVectors", true).unwrap_err();
    let Error::FeatureInHistory { feature, clean_from, come_again, .. } = &error else { panic!("{error}") };
    let purged = *clean_from - 1;
    assert_eq!(
        (feature.as_str(), info(&location, purged).operation.as_deref()),
        ("deletionVectors", Some("REORG"))
    );
    let tomorrow = chrono::Utc::now() + chrono::TimeDelta::hours(23);
    assert!(chrono::DateTime::parse_from_rfc3339(come_again).unwrap() > tomorrow, "{come_again}");
    // clean, and still with the feature
    assert!(adds(&location).iter().all(|a| a.deletion_vector.is_none()));
    assert!(features(&location).contains(&"deletionVectors".to_owned()));
    assert_eq!(try_drop(&location, "deletionVectors", true).unwrap_err().kind(), "FeatureInHistory");

    age(&location, dir.path(), 25);
    let done = try_drop(&location, "deletionVectors", true).unwrap();
    assert!(done.deleted > 0);
    assert_eq!((done.steps, done.protected_before), (0, None));
    assert_eq!(rows(&location), before);
    assert_eq!(features(&location), ["appendOnly", "invariants"]);
    let oldest = Listing::read(&location, 0).unwrap().commits().next().unwrap().version;
    assert!(oldest > purged, "{oldest}");
    is_whole(&location);
}

#[test]
fn protection_goes_with_the_history_that_it_protects() {
    let dir = tempfile::tempdir().unwrap();
    let location = Location::open(dir.path().to_str().unwrap(), &StorageOptions::default()).unwrap();
    fill(&location, &[VECTORS]);
    delete_first_row(&location);
    dropped(&location, "deletionVectors");
    let error = try_drop(&location, "checkpointProtection", true).unwrap_err();
    assert_eq!(error.kind(), "FeatureInHistory", "{error}");
    age(&location, dir.path(), 25);
    let before = rows(&location);
    try_drop(&location, "checkpointProtection", true).unwrap();
    assert_eq!(rows(&location), before);
    assert_eq!(features(&location), ["appendOnly", "invariants"]);
    assert_eq!(property(&location, "delta.requireCheckpointProtectionBeforeVersion"), None);
    is_whole(&location);
}

#[test]
fn what_cannot_be_dropped_is_refused_before_anything_is_written() {
    let (_, location) = table(&[VECTORS, ("delta.appendOnly", "true")]);
    for (name, truncate, said) in [
        ("appendOnly", false, "cannot be dropped"),
        ("timeMachine", false, "does not have it"),
        ("delta.enableDeletionVectors", false, "is a property"),
    ] {
        let error = try_drop(&location, name, truncate).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
    assert_eq!(open(&location).version(), 1);
    // a table that is append-only may be rearranged
    dropped(&location, "deletionVectors");
}
