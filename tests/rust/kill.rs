//! Writers that are killed (SIGKILL) at random points: what they acknowledged is there, and at most the commit in doubt.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, RecordBatchIterator};
use arrow::datatypes::Int64Type;
use deltaic_core::checkpoint::checkpoint;
use deltaic_core::dml::DmlOptions;
use deltaic_core::maintain::{VacuumMode, VacuumOptions, vacuum};
use deltaic_core::operations::{delete, write};
use deltaic_core::scan::{ReadRequest, read};
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::store::{Location, StorageOptions};
use deltaic_core::verify::{VerifyOptions, verify};
use deltaic_core::write::{WriteMode, WriteOptions};
use fastrand::Rng;

const TABLE: &str = "DELTAIC_KILL_TABLE";
const SEED: &str = "DELTAIC_KILL_SEED";
const RUNS: &str = "DELTAIC_KILL_RUNS";

/// Runs on one table: each goes on with what the one before left.
const RUNS_OF_A_TABLE: u64 = 20;

/// What a writer does, as it says it before: `append 100 3`, `delete 5 2`, `checkpoint`, `vacuum`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Work {
    Append(i64, i64),
    /// Rows whose id has this rest.
    Delete(i64, i64),
    Checkpoint,
    Vacuum,
}

impl Work {
    fn text(&self) -> String {
        match self {
            Work::Append(first, count) => format!("append {first} {count}"),
            Work::Delete(by, rest) => format!("delete {by} {rest}"),
            Work::Checkpoint => "checkpoint".to_owned(),
            Work::Vacuum => "vacuum".to_owned(),
        }
    }

    fn parse(text: &str) -> Work {
        let mut words = text.split(' ');
        let kind = words.next().unwrap();
        let mut number = || words.next().unwrap().parse().unwrap();
        match kind {
            "append" => Work::Append(number(), number()),
            "delete" => Work::Delete(number(), number()),
            "checkpoint" => Work::Checkpoint,
            "vacuum" => Work::Vacuum,
            other => panic!("no work is called {other}"),
        }
    }

    fn apply(&self, ids: &mut BTreeSet<i64>) {
        match *self {
            Work::Append(first, count) => ids.extend(first..first + count),
            Work::Delete(by, rest) => ids.retain(|id| id % by != rest),
            Work::Checkpoint | Work::Vacuum => {}
        }
    }

    /// Does it; the version that it committed, if it did.
    fn run(&self, location: &Location) -> deltaic_core::Result<Option<u64>> {
        match *self {
            Work::Append(first, count) => {
                let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(first..first + count));
                let batch = RecordBatch::try_from_iter_with_nullable([("id", ids, true)]).unwrap();
                let schema = batch.schema();
                let properties = [("delta.enableDeletionVectors", "true"), ("delta.checkpointInterval", "5")];
                let configuration = properties.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
                let options = WriteOptions { mode: WriteMode::Append, configuration, ..Default::default() };
                let data = RecordBatchIterator::new([Ok(batch)], schema);
                write(location, data, &options).map(|r| Some(r.version))
            }
            Work::Delete(by, rest) => {
                let condition = format!("id % {by} = {rest}");
                delete(location, Some(&condition), &DmlOptions::default()).map(|d| d.version)
            }
            Work::Checkpoint => checkpoint(&Snapshot::open(location.clone(), At::Latest)?).map(|_| None),
            Work::Vacuum => {
                let options = VacuumOptions {
                    mode: VacuumMode::Full,
                    retention: Some(Duration::ZERO),
                    allow_short_retention: true,
                    ..Default::default()
                };
                vacuum(location, &options).map(|_| None)
            }
        }
    }
}

fn open(path: &str) -> Location {
    Location::open(path, &StorageOptions::new()).unwrap()
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
    out.flush().unwrap();
}

/// The process that is killed: no test, unless it is given a table. It works until it dies.
#[test]
fn writer() {
    let (Ok(path), Ok(seed)) = (std::env::var(TABLE), std::env::var(SEED)) else { return };
    let seed: u64 = seed.parse().unwrap();
    let mut rng = Rng::with_seed(seed);
    let location = open(&path);
    let mut next = seed as i64 * 100_000;
    say("");
    loop {
        let work = match rng.u8(..10) {
            0..=4 => Work::Append(next, rng.i64(1..6)),
            5..=7 => Work::Delete(rng.i64(3..9), rng.i64(0..3)),
            8 => Work::Checkpoint,
            _ => Work::Vacuum,
        };
        next += 10;
        say(&format!("try {}", work.text()));
        let version = work.run(&location).unwrap();
        say(&format!("did {}", version.map_or(-1, |v| v as i64)));
    }
}

/// What is known of a table.
#[derive(Default)]
struct Known {
    ids: BTreeSet<i64>,
    /// Acknowledged versions with their rows, as far as no vacuum took them.
    versions: Vec<(u64, BTreeSet<i64>)>,
    commits: u64,
}

impl Known {
    /// Starts a writer, kills it, and takes in what it said. What it tried last, without an answer, is returned.
    fn run(&mut self, path: &str, seed: u64) -> Option<Work> {
        let mut rng = Rng::with_seed(seed ^ 0x6b69_6c6c);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["kill::writer", "--exact", "--nocapture"])
            .env(TABLE, path)
            .env(SEED, seed.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // it dies some time after it said so many lines
        let (mut left, mut trying) = (rng.u32(2..24), None);
        while let Some(Ok(line)) = lines.next() {
            match line.split_once(' ') {
                Some(("try", work)) => {
                    trying = Some(Work::parse(work));
                    if trying == Some(Work::Vacuum) {
                        self.versions.clear();
                    }
                }
                Some(("did", version)) => {
                    trying.take().unwrap().apply(&mut self.ids);
                    if let Ok(version) = version.parse::<u64>() {
                        self.commits += 1;
                        self.versions.push((version, self.ids.clone()));
                    }
                }
                _ => continue,
            }
            left = left.saturating_sub(1);
            if left == 0 {
                std::thread::sleep(Duration::from_micros(rng.u64(..20_000)));
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert_eq!(left, 0, "seed {seed}: the writer ended by itself");
        trying
    }

    fn check(&mut self, path: &str, seed: u64, doubt: Option<Work>) {
        let location = open(path);
        let newest = match Snapshot::open(location.clone(), At::Latest) {
            Err(deltaic_core::Error::TableNotFound { .. }) if self.commits == 0 => return,
            newest => newest.unwrap(),
        };
        let found = ids(&newest);
        if let Some(work) = doubt.filter(|_| found != self.ids) {
            work.apply(&mut self.ids);
        }
        assert_eq!(found, self.ids, "seed {seed}");
        for (version, rows) in &self.versions {
            let snapshot = Snapshot::open(location.clone(), At::Version(*version)).unwrap();
            assert_eq!(ids(&snapshot), *rows, "seed {seed}: version {version}");
        }
        let report = verify(&location, &VerifyOptions { deep: true, ..Default::default() }).unwrap();
        assert!(report.ok(), "seed {seed}: {:?}", report.findings);
    }
}

fn ids(snapshot: &Snapshot) -> BTreeSet<i64> {
    let mut out = BTreeSet::new();
    for batch in read(snapshot, ReadRequest::default()).unwrap() {
        for id in batch.unwrap().column(0).as_primitive::<Int64Type>().values() {
            assert!(out.insert(*id), "row {id} is there twice");
        }
    }
    out
}

#[test]
fn a_killed_writer_leaves_what_it_acknowledged_and_at_most_the_commit_in_doubt() {
    let runs: u64 = std::env::var(RUNS).map_or(40, |runs| runs.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let (mut commits, mut doubts) = (0, 0);
    for table in 0..runs.div_ceil(RUNS_OF_A_TABLE) {
        let path = dir.path().join(table.to_string());
        let (path, mut known) = (path.to_str().unwrap(), Known::default());
        for run in 0..RUNS_OF_A_TABLE.min(runs - table * RUNS_OF_A_TABLE) {
            let seed = table * RUNS_OF_A_TABLE + run;
            // a delete needs a table
            if run == 0 {
                Work::Append(-3, 2).run(&open(path)).unwrap();
                known.ids = [-3, -2].into();
            }
            let doubt = known.run(path, seed);
            doubts += u64::from(doubt.is_some());
            known.check(path, seed, doubt);
        }
        commits += known.commits;
    }
    say(&format!("{runs} writers killed: {commits} commits acknowledged, {doubts} operations in doubt"));
}
