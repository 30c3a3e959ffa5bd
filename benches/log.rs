//! Work on logs: open, list, prune, advance.

// a bench that cannot do its work must stop
#![allow(clippy::expect_used, missing_docs)]

use std::fs;
use std::hint::black_box;
use std::path::Path;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use deltaic_core::Snapshot;
use deltaic_core::predicate::{CompareOp, Literal, Predicate};
use deltaic_core::replay::FilesRequest;
use deltaic_core::snapshot::At;
use deltaic_core::store::{Location, StorageOptions};
use deltaic_testkit::{LogGen, actions};

const FILES: u64 = 100_000;
const COMMITS: u64 = 100;

fn open(root: &Path) -> Snapshot {
    let uri = root.to_str().expect("a path in UTF-8");
    let location = Location::open(uri, &StorageOptions::new()).expect("a location");
    Snapshot::open(location, At::Latest).expect("a snapshot")
}

fn count(snapshot: &Snapshot, request: FilesRequest) -> usize {
    let files = snapshot.files(request).expect("files");
    files.map(|batch| batch.expect("a batch").num_files()).sum()
}

fn compare(column: &str, op: CompareOp, value: Literal) -> Predicate {
    Predicate::Compare { op, column: vec![column.to_owned()], value }
}

fn loads(c: &mut Criterion) {
    let dir = tempfile::tempdir().expect("a folder");
    LogGen { files: FILES, commits: COMMITS, adds: 20, removes: 10, ..LogGen::default() }.write(dir.path());
    let day = compare("date", CompareOp::Eq, Literal::String(LogGen::date(500)));
    let low = compare("id", CompareOp::Ge, Literal::Long(50_000_000));
    let high = compare("id", CompareOp::Lt, Literal::Long(50_100_000));
    let pruned =
        |predicate: Predicate| FilesRequest { predicate: Some(predicate), ..FilesRequest::default() };

    let mut group = c.benchmark_group("checkpoint of 100k files, 100 commits");
    group.sample_size(20).throughput(Throughput::Elements(FILES));
    group.bench_function("open", |b| b.iter(|| black_box(open(dir.path()).version())));
    group.bench_function("list", |b| b.iter(|| count(&open(dir.path()), FilesRequest::default())));
    group.bench_function("list with statistics", |b| {
        b.iter(|| count(&open(dir.path()), FilesRequest { stats: true, ..FilesRequest::default() }))
    });
    group.bench_function("prune by partition", |b| b.iter(|| count(&open(dir.path()), pruned(day.clone()))));
    let between = Predicate::And(vec![low, high]);
    group.bench_function("prune by statistics", |b| {
        b.iter(|| count(&open(dir.path()), pruned(between.clone())))
    });
    group.finish();
}

fn advances(c: &mut Criterion) {
    let dir = tempfile::tempdir().expect("a folder");
    let (version, _) = LogGen { files: FILES, commits: COMMITS, ..LogGen::default() }.write(dir.path());
    let snapshot = open(dir.path());
    count(&snapshot, FilesRequest::default());
    let next = dir.path().join(format!("_delta_log/{:020}.json", version + 1));
    fs::write(&next, format!("{}\n", actions::add("date=2001-01-01/new.parquet"))).expect("a commit");

    let mut group = c.benchmark_group("advance");
    group.sample_size(20);
    group.bench_function("by one commit", |b| {
        b.iter_batched(
            || snapshot.clone(),
            |s| s.update().expect("an update").version(),
            BatchSize::SmallInput,
        )
    });
    fs::remove_file(&next).expect("remove the commit");
    group.bench_function("by nothing", |b| b.iter(|| snapshot.update().expect("an update").version()));
    group.finish();
}

criterion_group!(benches, loads, advances);
criterion_main!(benches);
