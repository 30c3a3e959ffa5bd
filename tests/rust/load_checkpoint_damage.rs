//! A footer of a checkpoint that contradicts itself.

use std::fs;

use deltaic_core::Error;
use deltaic_core::snapshot::At;
use deltaic_testkit::{CheckpointSpec, TableBuilder, actions};

use crate::load::{expected, files, open};

/// Five rows in a checkpoint whose footer says six: `num_rows`, the third field of the footer, is a zigzag number, and the
/// list of one row group follows it (parquet.thrift, `FileMetaData`, in the compact protocol).
fn one_row_more(body: &mut [u8]) {
    let length = body.len();
    let size: [u8; 4] = body[length - 8..length - 4].try_into().unwrap();
    let footer = length - 8 - u32::from_le_bytes(size) as usize;
    let field = [0x16, 2 * 5, 0x19, 0x1c];
    let places: Vec<usize> = (footer..length - 4).filter(|at| body[*at..].starts_with(&field)).collect();
    assert_eq!(places.len(), 1);
    body[places[0] + 1] = 2 * 6;
}

#[test]
fn a_footer_whose_rows_are_not_those_of_its_row_groups_is_damaged() {
    let mut table = TableBuilder::temp();
    table.create(&actions::schema(&[("id", "long")]), &[], &[]);
    table.commit(&["a", "b", "c"].map(actions::add));
    table.checkpoint(1, &CheckpointSpec::default());
    let name = "00000000000000000001.checkpoint.parquet";
    let path = table.root().join("_delta_log").join(name);
    let mut body = fs::read(&path).unwrap();
    one_row_more(&mut body);
    fs::write(&path, body).unwrap();
    // the commits say the same
    let snapshot = open(&table, At::Latest).unwrap();
    assert_eq!(files(&snapshot).unwrap(), expected(&table, 1));
    let fallbacks = snapshot.report().fallbacks;
    assert!(fallbacks.iter().any(|f| f.contains("its row groups have other rows")), "{fallbacks:?}");
    // without them there is nothing else to read
    table.remove_log_file("00000000000000000000.json");
    let error = open(&table, At::Latest).and_then(|snapshot| files(&snapshot)).unwrap_err();
    assert!(matches!(error, Error::LogGap { .. }), "{error:?}");
}
