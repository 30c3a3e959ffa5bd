//! The first commit.

use deltaic_core::Error;

use super::*;

#[test]
fn a_table_is_made_whole() {
    let (_, location) = place();
    let mut txn = Transaction::create(
        &location,
        protocol(&FEATURES),
        metadata(&[("delta.enableInCommitTimestamps", "true")]),
        Operation::new("CREATE TABLE AS SELECT").with("isManaged", "false"),
    );
    txn.add(file("a", "x", 0));
    let committed = txn.commit().unwrap();
    assert_eq!((committed.version, committed.attempts, committed.already_recorded), (0, 1, false));
    assert_eq!(names(&location), ["a"]);
    let first = &commits(&location)[0];
    let info = first.info().unwrap();
    assert_eq!(info.in_commit_timestamp, committed.in_commit_timestamp);
    assert!(info.in_commit_timestamp.is_some());
    assert_eq!(info.read_version, None);
    assert_eq!(info.isolation_level.as_deref(), Some("Serializable"));
    // in a table that never was without them there is no moment of enablement
    assert_eq!(first.metadata().unwrap().configuration.len(), 1);
}

#[test]
fn t10_of_many_creators_one_makes_the_table() {
    let (_, location) = place();
    let barrier = std::sync::Barrier::new(8);
    let results: Vec<_> = std::thread::scope(|scope| {
        let (location, barrier) = (&location, &barrier);
        let creators: Vec<_> = (0..8)
            .map(|n| {
                scope.spawn(move || {
                    let operation = Operation::new("CREATE TABLE");
                    let mut txn = Transaction::create(location, protocol(&[]), metadata(&[]), operation);
                    txn.add(file(&format!("f{n}"), "x", n));
                    barrier.wait();
                    txn.commit()
                })
            })
            .collect();
        creators.into_iter().map(|c| c.join().unwrap()).collect()
    });
    assert_eq!(results.iter().filter(|r| r.is_ok()).count(), 1);
    let refused = results.iter().filter(|r| matches!(r, Err(Error::TableAlreadyExists { version: 0, .. })));
    assert_eq!(refused.count(), 7);
    assert_eq!((names(&location).len(), commits(&location).len()), (1, 1));
}
