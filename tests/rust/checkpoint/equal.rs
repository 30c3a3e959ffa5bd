//! A version is the same from its commits and from our checkpoint of it.

use deltaic_core::Error;
use deltaic_core::checkpoint::checkpoint;
use deltaic_core::predicate::{CompareOp, Literal, Predicate};
use deltaic_core::replay::FilesRequest;
use deltaic_core::snapshot::At;
use deltaic_testkit::{TableBuilder, actions};

use super::{V1, V2, add, create, fill, names, remove};
use crate::load::{expected, files, open};

#[test]
fn t21_the_state_from_our_checkpoint_is_that_of_the_commits() {
    for properties in [V1, V2] {
        for (json, parsed) in [("true", "true"), ("true", "false"), ("false", "true")] {
            let mut all = properties.to_vec();
            all.push(("delta.checkpoint.writeStatsAsJson", json));
            all.push(("delta.checkpoint.writeStatsAsStruct", parsed));
            let mut table = create(&all);
            fill(&mut table);
            let before = open(&table, At::Latest).unwrap();
            let done = checkpoint(&before).unwrap();
            assert_eq!((done.version, done.existed, done.num_files), (7, false, 10));
            // the commits are not needed any more, and the checksum is not looked at
            for name in names(&table, "") {
                if name.ends_with("0.json") || name.ends_with(".crc") {
                    table.remove_log_file(&name);
                }
            }
            let after = open(&table, At::Latest).unwrap();
            assert_eq!((after.report().opened_from.as_str(), after.version()), ("checkpoint", 7));
            assert_eq!((after.protocol(), after.metadata()), (before.protocol(), before.metadata()));
            if json == "true" {
                assert_eq!(files(&after).unwrap(), expected(&table, 7));
            }
            assert_eq!(files(&after).unwrap().len(), 10);
            assert_eq!(after.app_transaction("app").unwrap().unwrap().version, 5);
            let domains = after.domain_metadata().unwrap().into_iter().map(|d| d.domain);
            assert_eq!(domains.collect::<Vec<_>>(), ["kept"]);
            assert_eq!(after.report().fallbacks, Vec::<String>::new());
            assert!(checkpoint(&after).unwrap().existed, "a whole checkpoint is left alone");
        }
    }
}

#[test]
fn parsed_statistics_are_taken_over_from_the_checkpoint_before() {
    for properties in [V1, V2] {
        // without text, what is read is what was parsed
        let parsed = [("delta.checkpoint.writeStatsAsJson", "false")];
        let mut table = create(&[properties, &parsed].concat());
        fill(&mut table);
        let read = |table: &TableBuilder| {
            checkpoint(&open(table, At::Latest).unwrap()).unwrap();
            files(&open(table, At::Latest).unwrap()).unwrap()
        };
        let first = read(&table);
        assert!(first.iter().any(|f| f.contains("2026-01-01T00:00:00.001000Z")), "{first:?}");
        table.commit(&[remove(4), add(50)]);
        let second = read(&table);
        assert_eq!(second.difference(&first).count(), 1);
        assert_eq!(first.difference(&second).count(), 1);
        assert!(second.iter().all(|f| f.contains("numRecords")));
    }
}

#[test]
fn a_predicate_finds_its_files_in_our_checkpoint() {
    for properties in [V1, V2] {
        let mut table = create(properties);
        fill(&mut table);
        let found = |column: &str, value: Literal| {
            let predicate = Predicate::Compare { op: CompareOp::Eq, column: vec![column.into()], value };
            let request = FilesRequest { predicate: Some(predicate), ..FilesRequest::default() };
            let batches = open(&table, At::Latest).unwrap().files(request).unwrap();
            let mut paths: Vec<String> = batches
                .flat_map(|b| b.unwrap().paths().iter().map(|p| p.unwrap().to_owned()).collect::<Vec<_>>())
                .collect();
            paths.sort();
            paths
        };
        let asked = || (found("p", Literal::String("é".into())), found("id", Literal::Long(8)));
        let before = asked();
        checkpoint(&open(&table, At::Latest).unwrap()).unwrap();
        let after = asked();
        assert_eq!(after.1, before.1);
        // a null among the parsed values says nothing to a reader
        assert!(before.0.iter().all(|p| after.0.contains(p)) && after.0.len() <= 6, "{after:?}");
        assert_eq!((before.0.len(), before.1.len()), (3, 1));
    }
}

#[test]
fn t18_a_checkpoint_that_contradicts_the_checksum_is_not_written() {
    for properties in [V1, V2] {
        let mut table = create(properties);
        fill(&mut table);
        table.crc(7);
        let crc = table.root().join("_delta_log/00000000000000000007.crc");
        let text = std::fs::read_to_string(&crc).unwrap().replace("\"numFiles\":10", "\"numFiles\":11");
        table.log_file("00000000000000000007.crc", text.as_bytes());
        let error = checkpoint(&open(&table, At::Latest).unwrap()).unwrap_err();
        assert!(
            matches!(&error, Error::LogCorrupt { version: Some(7), reason, .. } if reason.contains("11 files")),
            "{error}"
        );
        assert!(!names(&table, "").iter().any(|n| n.contains("checkpoint")));
    }
}

#[test]
fn a_table_that_needs_more_of_a_writer_gets_no_checkpoint() {
    let mut table = create(V1);
    table.commit(&[actions::protocol_features(&[], &["timeMachine"]), add(1)]);
    let error = checkpoint(&open(&table, At::Latest).unwrap()).unwrap_err();
    assert!(matches!(error, Error::UnsupportedFeature { role: "writer", .. }), "{error}");
}

#[test]
fn a_protected_version_gets_no_checkpoint() {
    let mut table = create(&[("delta.requireCheckpointProtectionBeforeVersion", "3")]);
    table.commit(&[actions::protocol_features(&[], &["checkpointProtection"]), add(1)]);
    let error = checkpoint(&open(&table, At::Latest).unwrap()).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    table.commit(&[add(2)]);
    table.commit(&[add(3)]);
    assert_eq!(checkpoint(&open(&table, At::Latest).unwrap()).unwrap().version, 3);
}
