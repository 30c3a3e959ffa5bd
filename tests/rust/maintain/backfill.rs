//! Row tracking for a table that has files: ids first, then the property, and each step leaves a valid table.

use deltaic_core::Error;
use deltaic_core::conflict::Changes;
use deltaic_core::dml::DmlOptions;
use deltaic_core::features::TableFeature;
use deltaic_core::maintain::alter_table;
use deltaic_core::operations::delete;
use deltaic_core::properties::TableProperty;
use deltaic_core::verify::{VerifyOptions, verify};
use deltaic_testkit::{Fault, Op, Rule};

use super::alter::set;
use super::*;
use crate::rivals::overtaken;

pub(super) const VECTORS: (&str, &str) = ("delta.enableDeletionVectors", "true");

/// Versions 0 and 1: three files of six rows, without row ids.
pub(super) fn table(properties: &[(&str, &str)]) -> (FaultStore, Location) {
    let (store, location) = place();
    write(&location, &[("a", 1), ("a", 2), ("b", 3)], &with_properties(properties)).unwrap();
    write(&location, &[("a", 4), ("a", 5), ("a", 6)], &partitioned()).unwrap();
    (store, location)
}

/// What another writer commits first.
pub(super) type Rival<'a> = &'a dyn Fn(&Location);

pub(super) fn enable(location: &Location) -> Result<u64> {
    alter_table(location, &set(&[("delta.enableRowTracking", "true")]), None)
}

/// Stops where a version would be committed.
pub(super) fn stopped_at(store: &FaultStore, location: &Location, version: u64) {
    store.rule(Rule::new(Fault::Crash).on(Op::PutIfAbsent).named(&format!("{version:020}.json")));
    enable(location).unwrap_err();
    store.heal();
    assert_eq!(open(location).version(), version - 1);
    whole(location, "after a crash");
}

/// Nothing of the table contradicts itself.
pub(super) fn whole(location: &Location, context: &str) {
    let report = verify(location, &VerifyOptions { deep: true, ..Default::default() }).unwrap();
    assert_eq!(report.findings, Vec::new(), "{context}");
}

/// Row tracking is on, and every file has ids.
pub(super) fn tracked(location: &Location, context: &str) {
    assert!(open(location).metadata().is_true(TableProperty::EnableRowTracking), "{context}");
    let known = |add: &Add| add.base_row_id.is_some() && add.default_row_commit_version.is_some();
    assert!(adds(location).iter().all(known), "{context}");
    whole(location, context);
}

/// Plays each rival before each commit that enables row tracking, in tables with deletion vectors and without: all files get
/// ids, and the rows are what the rival left.
pub(super) fn before_each_step(rivals: &[(&str, Rival<'_>)]) {
    for properties in [&[][..], &[VECTORS]] {
        for (name, rival) in rivals {
            for version in [2, 3, 4] {
                let context = format!("{name} before version {version}, {properties:?}");
                let (store, location) = table(properties);
                if version > 2 {
                    stopped_at(&store, &location, version);
                }
                let mut expected = Vec::new();
                overtaken(&store, &location, version, |copy| {
                    rival(copy);
                    expected = rows(copy);
                });
                assert_eq!(enable(&location).unwrap(), 5, "{context}: {:?}", operations(&location));
                assert_eq!(rows(&location), expected, "{context}");
                tracked(&location, &context);
            }
        }
    }
}

pub(super) fn operations(location: &Location) -> Vec<String> {
    let winners = winners_from(location, 2).unwrap();
    winners.iter().map(|w| w.info().unwrap().operation.clone().unwrap()).collect()
}

fn changes(location: &Location, version: u64) -> Changes {
    Changes::of(&winners_from(location, version).unwrap()[0].actions)
}

#[test]
fn files_that_are_there_get_ids_before_the_property_is_set() {
    for properties in
        [&[][..], &[("delta.enableInCommitTimestamps", "true"), ("delta.checkpointInterval", "2")]]
    {
        let (_, location) = table(properties);
        let (before, old) = (rows(&location), adds(&location));
        assert_eq!(enable(&location).unwrap(), 4);
        assert_eq!(operations(&location), ["UPGRADE PROTOCOL", "ROW TRACKING BACKFILL", "SET TBLPROPERTIES"]);

        let upgrade = changes(&location, 2);
        let protocol = upgrade.protocol.unwrap();
        assert!(
            protocol.supports(TableFeature::RowTracking) && protocol.supports(TableFeature::DomainMetadata)
        );
        assert_eq!((upgrade.metadata, upgrade.adds.len()), (None, 0));
        let said = info(&location, 2).operation_parameters.unwrap();
        assert!(said["newProtocol"].as_str().unwrap().contains("\"minWriterVersion\":7"));

        let backfill = changes(&location, 3);
        assert_eq!(info(&location, 3).operation_parameters.unwrap()["batchId"], "0");
        assert_eq!(info(&location, 3).is_blind_append, Some(false));
        assert_eq!((backfill.removes.len(), backfill.metadata), (0, None));
        assert!(backfill.domains[0].configuration.contains(":5}"), "{:?}", backfill.domains);
        for (new, old) in adds(&location).into_iter().zip(old) {
            assert_eq!(new.default_row_commit_version, Some(3));
            let known = Add { base_row_id: None, default_row_commit_version: None, ..new };
            assert_eq!(known, Add { data_change: false, ..old });
        }
        assert_eq!(rows(&location), before);
        tracked(&location, "backfill");

        // there is nothing left to do, and files that join go on behind the ids
        assert_eq!(enable(&location).unwrap(), 4);
        write(&location, &[("z", 7)], &partitioned()).unwrap();
        assert_eq!(adds(&location).iter().filter_map(|add| add.base_row_id).max(), Some(6));
        tracked(&location, "append");
    }
}

#[test]
fn where_all_files_have_ids_the_property_is_all() {
    let (_, location) = place();
    write(&location, &[("a", 1)], &with_properties(&[("delta.feature.rowTracking", "supported")])).unwrap();
    assert_eq!(enable(&location).unwrap(), 1);
    tracked(&location, "supported");
}

#[test]
fn deletion_vectors_stay_with_their_files() {
    let (_, location) = table(&[VECTORS]);
    delete(&location, Some("id IN (1, 5)"), &DmlOptions::default()).unwrap();
    let (before, vectors) = (rows(&location), |location: &Location| {
        adds(location).into_iter().map(|add| (add.path, add.deletion_vector)).collect::<Vec<_>>()
    });
    let old = vectors(&location);
    assert_eq!(old.iter().filter(|(_, vector)| vector.is_some()).count(), 2);
    assert_eq!(enable(&location).unwrap(), 5);
    assert_eq!((rows(&location), vectors(&location)), (before, old));
    tracked(&location, "vectors");
}

#[test]
fn a_refusal_leaves_no_trace() {
    let (_, location) = table(&[]);
    let mut txn = Transaction::begin(&open(&location), Operation::new("COMPUTE STATS"));
    txn.add(Add { path: adds(&location)[0].path.clone(), stats: None, ..adds(&location)[0].clone() });
    txn.commit().unwrap();
    let error = enable(&location).unwrap_err();
    assert!(matches!(error, Error::DataFile { .. }), "{error}");
    assert_eq!(open(&location).version(), 2);

    let (_, location) = place();
    let suspended = [("delta.feature.rowTracking", "supported"), ("delta.rowTrackingSuspended", "true")];
    write(&location, &[("a", 1)], &with_properties(&suspended)).unwrap();
    let both = set(&[("delta.enableRowTracking", "true"), ("delta.rowTrackingSuspended", "false")]);
    assert_eq!(alter_table(&location, &both, None).unwrap_err().kind(), "InvalidFeatureChange");
    assert_eq!(open(&location).version(), 0);
}

#[test]
fn others_may_append_and_delete_before_each_step() {
    let appends = |copy: &Location| drop(write(copy, &[("b", 7), ("b", 8)], &partitioned()).unwrap());
    let deletes = |copy: &Location| drop(delete(copy, Some("id = 2"), &DmlOptions::default()).unwrap());
    let drops = |copy: &Location| drop(delete(copy, Some("p = 'a'"), &DmlOptions::default()).unwrap());
    let rivals: [(&str, Rival<'_>); 3] = [("append", &appends), ("delete", &deletes), ("drop", &drops)];
    before_each_step(&rivals);
}

#[test]
fn a_delete_that_began_before_removes_the_files_as_they_are() {
    let (store, location) = table(&[]);
    let mut txn = Transaction::begin(&open(&location), Operation::new("DELETE"));
    let gone = adds(&location).remove(0);
    txn.read_files([&gone.path]).unwrap();
    txn.remove_file(&gone, true);
    stopped_at(&store, &location, 4);
    assert_eq!(txn.commit().unwrap().version, 4);
    let ids = changes(&location, 3).adds.into_iter().find(|add| add.path == gone.path).unwrap().base_row_id;
    assert!(ids.is_some());
    assert_eq!(changes(&location, 4).removes[0].base_row_id, ids);
    assert_eq!(enable(&location).unwrap(), 5);
    tracked(&location, "delete");
}

#[test]
fn a_fault_at_any_step_leaves_a_table_that_the_next_call_finishes() {
    for op in [Op::Get, Op::GetRange, Op::ListFrom, Op::Put, Op::PutIfAbsent] {
        for fault in [Fault::Refused, Fault::LostAnswer, Fault::Crash] {
            for nth in 1.. {
                let (store, location) = table(&[]);
                let before = rows(&location);
                store.forget();
                store.rule(Rule::new(fault.clone()).on(op).nth(nth));
                let result = enable(&location);
                let struck = store.count(op, "") as u64 >= nth;
                store.heal();
                let context = format!("{op:?} {fault:?} {nth}: {result:?}");
                whole(&location, &context);
                assert_eq!(enable(&location).unwrap(), 4, "{context}");
                assert_eq!(rows(&location), before, "{context}");
                tracked(&location, &context);
                if !struck {
                    break;
                }
            }
        }
    }
}
