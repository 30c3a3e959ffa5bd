//! A table like another one: its definition and none of its rows.

use deltaic_core::maintain::{LikeOptions, create_like};

use super::*;

fn like(source: &Location, target: &Location, options: &LikeOptions) -> Result<u64> {
    create_like(&open(source), target, options).map(|done| done.version)
}

#[test]
fn definition_and_features_come_with_it_and_files_do_not() {
    let (store, location) = place();
    let target = beside(&store, "/like");
    let properties =
        [("delta.columnMapping.mode", "name"), ("delta.enableRowTracking", "true"), ("mine", "1")];
    write(&location, &[("a", 1)], &with_properties(&properties)).unwrap();
    assert_eq!(like(&location, &target, &LikeOptions { managed: true, ..Default::default() }).unwrap(), 0);
    assert!(adds(&target).is_empty());
    let (ours, theirs) = (open(&target), open(&location));
    assert_eq!(ours.protocol(), theirs.protocol());
    assert_eq!(ours.schema(), theirs.schema());
    assert_ne!(ours.metadata().id, theirs.metadata().id);
    assert_eq!(ours.metadata().configuration["mine"], "1");
    let name = "delta.rowTracking.materializedRowIdColumnName";
    assert_ne!(ours.metadata().configuration[name], theirs.metadata().configuration[name]);
    let info = info(&target, 0);
    assert_eq!(info.operation.as_deref(), Some("CREATE TABLE"));
    assert_eq!(info.operation_parameters.unwrap()["isManaged"], "true");
    assert_eq!(like(&location, &target, &LikeOptions::default()).unwrap_err().kind(), "TableAlreadyExists");
}

#[test]
fn properties_that_are_given_go_before_those_of_the_source_and_these_before_defaults() {
    let (store, location) = place();
    let target = beside(&store, "/like");
    write(&location, &[("a", 1)], &with_properties(&[("delta.appendOnly", "true"), ("mine", "1")])).unwrap();
    let map = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    let options = LikeOptions {
        properties: map(&[("mine", "2")]),
        defaults: map(&[("delta.appendonly", "false"), ("delta.checkpointInterval", "7")]),
        ..Default::default()
    };
    like(&location, &target, &options).unwrap();
    let found = open(&target).metadata().configuration.clone();
    let expected = map(&[("delta.appendOnly", "true"), ("delta.checkpointInterval", "7"), ("mine", "2")]);
    assert_eq!(found, expected);
}

#[test]
fn what_cannot_be_leaves_no_trace() {
    let (store, location) = place();
    let target = beside(&store, "/like");
    write(&location, &[("a", 1)], &with_properties(&[("delta.columnMapping.mode", "name")])).unwrap();
    for (key, value) in [("delta.columnMapping.mode", "none"), ("delta.nope", "1")] {
        let properties = [(key.to_owned(), value.to_owned())].into();
        assert!(like(&location, &target, &LikeOptions { properties, ..Default::default() }).is_err());
    }
    assert_eq!(like(&location, &target, &LikeOptions::default()).unwrap(), 0);
}
