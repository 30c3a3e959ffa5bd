//! The writer of a checkpoint dies: the table is as readable as it was.

use std::sync::Arc;

use deltaic_core::checkpoint::checkpoint;
use deltaic_core::log::LastCheckpoint;
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::store::{LocalStore, Location};
use deltaic_testkit::{Fault, FaultStore, Op, Rule};

use super::{V1, V2, add, create, fill};
use crate::load::{expected, files, open};

#[test]
fn t13_a_crash_after_each_file_of_a_checkpoint_leaves_the_table_loading() {
    for properties in [V1, V2] {
        for torn in [false, true] {
            for k in 1.. {
                let mut table = create(properties);
                fill(&mut table);
                // an older checkpoint whose hint must not mislead
                checkpoint(&open(&table, At::Version(4)).unwrap()).unwrap();
                table.commit(&[add(40)]);
                let store = FaultStore::new(Arc::new(LocalStore::default()));
                let location = Location::with_store(table.location(), Arc::new(store.clone()));
                let snapshot = Snapshot::open(location, At::Latest).unwrap();
                store.forget();
                let fault = if torn { Fault::Torn(100) } else { Fault::LostAnswer };
                store.rule(Rule::new(fault).on(Op::Put).nth(k));
                store.rule(Rule::new(Fault::Crash).on(Op::Put).nth(k + 1).always());
                let died = checkpoint(&snapshot).is_err();
                let after = open(&table, At::Latest).unwrap();
                assert_eq!(files(&after).unwrap(), expected(&table, 8), "put {k}, torn {torn}");
                // and the next writer finishes the work
                checkpoint(&after).unwrap();
                let last = open(&table, At::Latest).unwrap();
                assert_eq!(files(&last).unwrap(), expected(&table, 8));
                assert_eq!(last.report().checkpoint_version, Some(8), "put {k}, torn {torn}");
                // a half of a file under a name of its own is ignored until a cleanup takes it
                assert!(torn || last.report().fallbacks.is_empty(), "{:?}", last.report().fallbacks);
                if !died {
                    break;
                }
            }
        }
    }
}

#[test]
fn t17_the_hint_never_moves_back() {
    for properties in [V1, V2] {
        let mut table = create(properties);
        fill(&mut table);
        let location = open(&table, At::Latest).unwrap().location().clone();
        let hint = || LastCheckpoint::read(&location).unwrap().unwrap();
        checkpoint(&open(&table, At::Version(6)).unwrap()).unwrap();
        checkpoint(&open(&table, At::Version(3)).unwrap()).unwrap();
        assert_eq!((hint().version, hint().num_of_add_files), (6, Some(12)));
        assert!(hint().checksum.is_some() && hint().checkpoint_schema.is_some());
        assert_eq!(hint().v2_checkpoint.is_some(), !properties.is_empty());
        checkpoint(&open(&table, At::Latest).unwrap()).unwrap();
        assert_eq!(hint().version, 7);
    }
}
