//! Shallow clones: the rows of the source, and nothing of the source ever changed.

use deltaic_core::maintain::{
    Alteration, CloneOptions, VacuumMode, VacuumOptions, alter_table, shallow_clone, vacuum,
};
use deltaic_testkit::{Fault, Op, Rule};

use super::*;

const ROWS: [(&str, i64); 3] = [("a b", 1), ("a b", 2), ("c", 3)];

/// A source of two versions, of which the second has a deletion vector, and the place of a clone beside it.
fn source() -> (FaultStore, Location, Location) {
    let (store, location) = place();
    write(&location, &ROWS, &with_properties(&[("delta.enableDeletionVectors", "true"), ("mine", "1")]))
        .unwrap();
    delete_first_row(&location);
    let target = Location::with_store(ObjectPath::new("memory://", "/clone"), Arc::new(store.clone()));
    (store, location, target)
}

fn clone(source: &Location, target: &Location, options: &CloneOptions) -> Result<u64> {
    shallow_clone(source, At::Latest, target, options).map(|done| done.version)
}

#[test]
fn a_clone_has_the_rows_properties_and_protocol_of_the_version() {
    let (_, location, target) = source();
    let done = shallow_clone(&location, At::Version(0), &target, &CloneOptions::default()).unwrap();
    assert_eq!((done.version, done.source_version, done.files), (0, 0, 2));
    assert_eq!(rows(&target), owned(&ROWS));
    assert_eq!(objects(&target), Vec::<String>::new());
    let (ours, theirs) = (open(&target), open(&location));
    assert_eq!(ours.protocol(), theirs.protocol());
    assert_eq!(ours.metadata().configuration, theirs.metadata().configuration);
    assert_ne!(ours.metadata().id, theirs.metadata().id);
    let info = info(&target, 0);
    assert_eq!(info.operation.as_deref(), Some("CLONE"));
    let parameters = info.operation_parameters.unwrap();
    assert_eq!(
        (&parameters["source"], &parameters["sourceVersion"]),
        (&"delta.`memory:///t`".into(), &0.into())
    );
    let metrics = info.operation_metrics.unwrap();
    assert_eq!((&metrics["sourceNumOfFiles"], &metrics["numCopiedFiles"]), (&"2".into(), &"0".into()));
    assert_eq!(metrics["sourceTableSize"], done.bytes.to_string());
}

#[test]
fn a_vacuum_of_the_clone_deletes_nothing_of_the_source() {
    let (_, location, target) = source();
    clone(&location, &target, &CloneOptions::default()).unwrap();
    let left = owned(&[("a b", 2), ("c", 3)]);
    assert_eq!(rows(&target), left, "the deletion vector came with it");
    let before = objects(&location);
    write(&target, &[("d", 4)], &WriteOptions { mode: WriteMode::Overwrite, ..Default::default() }).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(5));
    for mode in [VacuumMode::Lite, VacuumMode::Full] {
        let retention = Some(std::time::Duration::ZERO);
        let now = VacuumOptions {
            mode,
            retention,
            allow_short_retention: true,
            dry_run: false,
            inventory: None,
            user_metadata: None,
        };
        assert_eq!(vacuum(&target, &now).unwrap().files, Vec::<String>::new());
    }
    assert_eq!(objects(&location), before);
    assert_eq!(rows(&location), left);
    assert_eq!(rows(&target), owned(&[("d", 4)]));
}

#[test]
fn properties_can_be_others_and_row_ids_are_new() {
    let (store, location) = place();
    write(&location, &ROWS, &with_properties(&[("delta.enableRowTracking", "true")])).unwrap();
    let target = beside(&store, "/clone");
    let properties = [("delta.appendOnly".to_owned(), "true".to_owned())].into();
    clone(&location, &target, &CloneOptions { properties, ..Default::default() }).unwrap();
    let (ours, theirs) = (open(&target), open(&location));
    assert_eq!(ours.metadata().configuration["delta.appendOnly"], "true");
    let name = "delta.rowTracking.materializedRowIdColumnName";
    assert_ne!(ours.metadata().configuration[name], theirs.metadata().configuration[name]);
    assert!(adds(&target).iter().all(|a| a.default_row_commit_version == Some(0)));
    let mapped = [("delta.columnMapping.mode".to_owned(), "name".to_owned())].into();
    let other = beside(&store, "/other");
    let error =
        clone(&location, &other, &CloneOptions { properties: mapped, ..Default::default() }).unwrap_err();
    assert!(error.to_string().contains("column mapping"), "{error}");
}

#[test]
fn only_a_table_without_files_is_replaced() {
    let (_, location, target) = source();
    write(&target, &[("z", 9)], &partitioned()).unwrap();
    let id = open(&target).metadata().id.clone();
    let replace = CloneOptions { replace: true, ..Default::default() };
    assert_eq!(clone(&location, &target, &CloneOptions::default()).unwrap_err().kind(), "TableAlreadyExists");
    assert_eq!(clone(&location, &target, &replace).unwrap_err().kind(), "InvalidArgument");
    assert_eq!(clone(&location, &location, &replace).unwrap_err().kind(), "InvalidArgument");
    write(&target, &[], &WriteOptions { mode: WriteMode::Overwrite, ..Default::default() }).unwrap();
    assert_eq!(clone(&location, &target, &replace).unwrap(), 2);
    assert_eq!(rows(&target), owned(&[("a b", 2), ("c", 3)]));
    assert_eq!(open(&target).metadata().id, id);
    assert_eq!(rows_at(&target, At::Version(0)), owned(&[("z", 9)]));
}

#[test]
fn a_clone_without_files_may_become_one_of_an_older_version() {
    let (store, location) = place();
    let mapped = with_properties(&[("delta.columnMapping.mode", "name")]);
    write(&location, &[], &WriteOptions { partition_by: Vec::new(), ..mapped }).unwrap();
    alter_table(&location, &Alteration::DropColumns(vec![vec!["id".into()]]), None).unwrap();
    let target = beside(&store, "/clone");
    clone(&location, &target, &CloneOptions::default()).unwrap();
    let replace = CloneOptions { replace: true, ..Default::default() };
    shallow_clone(&location, At::Version(0), &target, &replace).unwrap();
    assert_eq!(open(&target).schema(), Snapshot::open(location, At::Version(0)).unwrap().schema());
}

#[test]
fn a_table_whose_rows_were_deleted_takes_them_back_from_an_older_version() {
    let (_, location, _) = source();
    let before = rows(&location);
    write(&location, &[], &WriteOptions { mode: WriteMode::Overwrite, ..Default::default() }).unwrap();
    let replace = CloneOptions { replace: true, ..Default::default() };
    clone(&location, &location, &replace).unwrap();
    assert!(rows(&location).is_empty());
    shallow_clone(&location, At::Version(0), &location, &replace).unwrap();
    assert_eq!(rows(&location), rows_at(&location, At::Version(0)));
    assert!(adds(&location).iter().all(|add| !add.path.as_str().contains("memory:")));
    assert!(!before.is_empty());
}

#[test]
fn a_fault_at_any_step_leaves_no_table_or_the_whole() {
    let calls = {
        let (store, location, target) = source();
        store.forget();
        clone(&location, &target, &CloneOptions::default()).unwrap();
        store.calls().len() as u64
    };
    for fault in [Fault::Refused, Fault::LostAnswer, Fault::Crash] {
        for nth in 1..=calls {
            let (store, location, target) = source();
            store.rule(Rule::new(fault.clone()).nth(nth));
            let done = clone(&location, &target, &CloneOptions::default());
            store.heal();
            assert_eq!(rows(&location).len(), 2, "the source is as it was");
            let made = Snapshot::open(target.clone(), At::Latest).is_ok();
            assert!(made || done.is_err(), "{fault:?} at {nth}");
            if let Err(error) = &done
                && error.kind() != "CommitStateUnknown"
            {
                assert!(!made, "{fault:?} at {nth}: {error}");
            }
            if made {
                assert_eq!(rows(&target), rows(&location), "{fault:?} at {nth}");
            }
        }
    }
}

#[test]
fn another_table_that_is_made_first_wins() {
    let (store, location, target) = source();
    let (_, other) = place();
    write(&other, &[("x", 9)], &partitioned()).unwrap();
    let commit = other.store().get(&other.log_dir().join("00000000000000000000.json")).unwrap();
    store.rule(
        Rule::new(Fault::Overtaken(commit))
            .on(Op::PutIfAbsent)
            .named("clone/_delta_log/00000000000000000000.json"),
    );
    let error = clone(&location, &target, &CloneOptions::default()).unwrap_err();
    assert_eq!(error.kind(), "TableAlreadyExists");
    assert_eq!(adds(&target).len(), 1);
}

#[test]
fn local_files_are_named_as_hadoop_names_them() {
    let dir = tempfile::tempdir().unwrap();
    let at =
        |name: &str| Location::open(dir.path().join(name).to_str().unwrap(), &Default::default()).unwrap();
    let (source, target) = (at("a b"), at("c"));
    write(&source, &ROWS, &with_properties(&[("delta.enableDeletionVectors", "true")])).unwrap();
    clone(&source, &target, &CloneOptions::default()).unwrap();
    for add in adds(&target) {
        let start = format!("file:{}/a%20b/p=", dir.path().display());
        assert!(add.path.as_str().starts_with(&start), "{}", add.path);
    }
    assert_eq!(rows(&target), owned(&ROWS));
}
