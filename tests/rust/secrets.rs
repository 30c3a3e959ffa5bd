//! Credentials do not print: not of the options of a store, nor of what was opened with them, nor in what went wrong.

use std::collections::BTreeMap;
use std::fmt::Debug;

use deltaic_core::dml::DmlOptions;
use deltaic_core::engine::{DistributedDml, DistributedWrite};
use deltaic_core::scan::{splits, surviving_files};
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::store::{Location, StorageOptions};
use deltaic_core::stream::{Source, SourceOptions};
use deltaic_core::txn::Operation;
use deltaic_core::write::{WriteMode, WriteOptions};
use deltaic_testkit::{TableBuilder, actions};

/// What no text may show.
const PLANTED: &str = "PLANTED";

fn options(more: &[(&str, &str)]) -> StorageOptions {
    let planted = [
        ("aws_secret_access_key", PLANTED),
        ("azure_storage_sas_key", PLANTED),
        ("google_service_account_key", PLANTED),
        ("aws_session_token", PLANTED),
        ("aws_endpoint", "http://user:PLANTED@host"),
    ];
    let all = planted.iter().chain(more);
    all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn shows_nothing(value: &dyn Debug) {
    for shown in [format!("{value:?}"), format!("{value:#?}")] {
        assert!(!shown.contains(PLANTED), "{shown}");
    }
}

#[test]
fn what_was_opened_with_options_does_not_show_them() {
    let mut table = TableBuilder::temp();
    let schema = actions::schema(&[("id", "long")]);
    table.commit(&[actions::protocol(1, 2), actions::metadata(&schema, &[], &[]), actions::add("a.parquet")]);
    let (uri, options) = (table.uri(), options(&[]));
    shows_nothing(&options);
    let location = Location::open(&uri, &options).unwrap();
    let snapshot = Snapshot::open(location.clone(), At::Latest).unwrap();
    let append = WriteOptions { mode: WriteMode::Append, ..Default::default() };
    let write = DistributedWrite::plan(&uri, options.clone(), snapshot.schema(), append).unwrap();
    let operation = Operation::new("DELETE");
    let dml = DistributedDml::begin(&location, options.clone(), operation, DmlOptions::default()).unwrap();
    let streamed = SourceOptions::parse(&uri, &BTreeMap::new(), None).unwrap();
    let stream = Source::open(&uri, &options, streamed).unwrap();
    let parts = splits(&snapshot, &options, &surviving_files(&snapshot, None, false).unwrap(), &[], i64::MAX);
    assert_eq!(parts.len(), 1);
    let all: [&dyn Debug; 6] = [&location, &snapshot, &write, &dml, &stream, &parts];
    all.into_iter().for_each(shows_nothing);
    // what does cross to other processes has them, or these could not open the store
    assert!(serde_json::to_string(&options).unwrap().contains(PLANTED));
}

#[test]
fn an_error_does_not_repeat_a_secret() {
    let refused = [
        ("s3://bucket/t", ("aws_secret_access_key", "PLANTED\n")),
        ("s3://user:PLANTED@bucket/t", ("aws_region", "eu-central-1")),
        ("s3://bucket/t?sig=PLANTED", ("aws_region", "eu-central-1")),
        ("gs://bucket/t", ("google_service_account_key", "{PLANTED")),
        ("nowhere://user:PLANTED@host/t", ("aws_region", "eu-central-1")),
    ];
    for (uri, more) in refused {
        let error = Location::open(uri, &options(&[more])).unwrap_err();
        assert!(!error.to_string().contains(PLANTED), "{error}");
        shows_nothing(&error);
    }
}
