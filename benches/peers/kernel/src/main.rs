//! Does one piece of log work with delta_kernel in a process of its own, as the example `log` of deltaic does.
//!
//! `peer-kernel TABLE MODE` with MODE one of `snap`, `list`, `list_stats`, `part COLUMN DAYS`, `stats COLUMN LOW HIGH`,
//! `checkpoint` (which writes one into the table). TABLE is a folder or a URL, whose store takes its options from the
//! environment: `STORE_OPTIONS` has lines of `key=value`. The work is done `RUNS` times with one engine.
//! Where the kernel has a leaner way to the same answer, that is the one used: no statistics unless asked for, no row
//! transforms, files counted in columns.

use std::sync::Arc;
use std::time::Instant;

use delta_kernel::expressions::{ColumnName, Expression, Predicate, Scalar};
use delta_kernel::scan::StatsOptions;
use delta_kernel::{Engine, Snapshot};
use delta_kernel_default_engine::DefaultEngineBuilder;
use delta_kernel_default_engine::executor::tokio::TokioMultiThreadExecutor;
use delta_kernel_default_engine::storage::store_from_url_opts;

type Failure = Box<dyn std::error::Error>;

fn column(name: &str) -> Expression {
    Expression::Column(ColumnName::new([name]))
}

fn predicate(mode: &[&str]) -> Result<Option<Predicate>, Failure> {
    Ok(match mode {
        ["list" | "list_stats"] => None,
        ["part", name, days] => Some(Predicate::eq(column(name), Expression::literal(Scalar::Date(days.parse()?)))),
        ["stats", name, low, high] => {
            let (low, high): (i64, i64) = (low.parse()?, high.parse()?);
            let low = Predicate::ge(column(name), Expression::literal(low));
            Some(Predicate::and(low, Predicate::lt(column(name), Expression::literal(high))))
        }
        _ => return Err("snap | list | list_stats | part COLUMN DAYS | stats COLUMN LOW HIGH | checkpoint".into()),
    })
}

/// What the store is to be opened with.
fn options() -> Vec<(String, String)> {
    let lines = std::env::var("STORE_OPTIONS").unwrap_or_default();
    lines.lines().filter_map(|line| line.split_once('=')).map(|(key, value)| (key.into(), value.into())).collect()
}

/// Opens the table and does the work; the version, and how many files were found.
fn work(engine: &Arc<dyn Engine>, url: &url::Url, mode: &[&str]) -> Result<(u64, usize), Failure> {
    let snapshot = Snapshot::builder_for(url.as_str()).build(engine.as_ref())?;
    let mut files = 0;
    if mode == ["checkpoint"] {
        snapshot.clone().checkpoint(engine.as_ref(), None)?;
    } else if mode != ["snap"] {
        let predicate = predicate(mode)?;
        let mut scan = snapshot.clone().scan_builder().without_row_transforms();
        if matches!(mode[0], "list" | "part") {
            scan = scan.with_stats(StatsOptions::none());
        }
        if let Some(predicate) = predicate {
            scan = scan.with_predicate(Arc::new(predicate));
        }
        for batch in scan.build()?.scan_metadata(engine.as_ref())? {
            let found = batch?.scan_files;
            let kept = found.selection_vector();
            // rows behind the end of the vector are selected
            files += kept.iter().filter(|k| **k).count() + found.data().len().saturating_sub(kept.len());
        }
    }
    Ok((snapshot.version(), files))
}

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let [table, mode @ ..] = args.as_slice() else { return Err("give the path of a table and a mode".into()) };
    let url = if table.contains("://") {
        url::Url::parse(&format!("{}/", table.trim_end_matches('/')))?
    } else {
        url::Url::from_directory_path(std::fs::canonicalize(table)?).map_err(|()| "not a folder")?
    };
    let executor = Arc::new(TokioMultiThreadExecutor::new_owned_runtime(None, None)?);
    let store = store_from_url_opts(&url, options())?;
    let engine: Arc<dyn Engine> = Arc::new(DefaultEngineBuilder::new(store).with_task_executor(executor).build());
    let runs: usize = std::env::var("RUNS").map_or(Ok(1), |runs| runs.parse())?;
    let (mut told, mut took) = ((0, 0), Vec::new());
    for _ in 0..runs {
        let begin = Instant::now();
        told = work(&engine, &url, mode)?;
        took.push(begin.elapsed().as_millis());
    }
    println!("{{\"version\": {}, \"files\": {}, \"ms\": {took:?}}}", told.0, told.1);
    Ok(())
}
