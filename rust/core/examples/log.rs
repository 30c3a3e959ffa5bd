//! Does one piece of log work in a process of its own and prints what it took as JSON; the benches compare it with
//! peers.
//!
//! `log TABLE MODE` with MODE one of `snap`, `list`, `list_stats`, `part COLUMN VALUE`, `stats COLUMN LOW HIGH`,
//! `checkpoint` (which writes one into the table). With `verify=LEVEL` before the mode the table is read at this level.

#![allow(clippy::print_stdout)]

use std::time::Instant;

use deltaic_core::checkpoint::checkpoint;
use deltaic_core::predicate::{CompareOp, Literal, Predicate};
use deltaic_core::replay::FilesRequest;
use deltaic_core::snapshot::{At, Snapshot, Verify};
use deltaic_core::store::{Location, StorageOptions};
use deltaic_core::{Error, Result};

fn compare(column: &str, op: CompareOp, value: Literal) -> Predicate {
    Predicate::Compare { op, column: vec![column.to_owned()], value }
}

fn request(args: &[String]) -> Result<Option<FilesRequest>> {
    let bad = |reason: &str| Error::InvalidArgument { argument: "MODE".into(), reason: reason.into() };
    let long = |text: &str| text.parse().map(Literal::Long).map_err(|_| bad("not a number"));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    Ok(match args.as_slice() {
        ["snap"] => None,
        ["list"] => Some(FilesRequest::default()),
        ["list_stats"] => Some(FilesRequest { stats: true, ..FilesRequest::default() }),
        ["part", column, value] => {
            let predicate = compare(column, CompareOp::Eq, Literal::String((*value).to_owned()));
            Some(FilesRequest { predicate: Some(predicate), ..FilesRequest::default() })
        }
        ["stats", column, low, high] => {
            let low = compare(column, CompareOp::Ge, long(low)?);
            let high = compare(column, CompareOp::Lt, long(high)?);
            let predicate = Predicate::And(vec![low, high]);
            Some(FilesRequest { predicate: Some(predicate), ..FilesRequest::default() })
        }
        _ => {
            return Err(bad(
                "snap | list | list_stats | part COLUMN VALUE | stats COLUMN LOW HIGH | checkpoint",
            ));
        }
    })
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (table, mode) = args.split_first().ok_or_else(|| Error::InvalidArgument {
        argument: "TABLE".into(),
        reason: "give the path of a table and a mode".into(),
    })?;
    if mode == ["checkpoint"] {
        let started = Instant::now();
        let snapshot = Snapshot::open(Location::open(table, &StorageOptions::new())?, At::Latest)?;
        let done = checkpoint(&snapshot)?;
        println!(
            "{}",
            serde_json::json!({
                "version": done.version, "total_s": started.elapsed().as_secs_f64(), "files": done.num_files,
                "bytes": done.size, "written": done.written, "existed": done.existed,
                "sidecars_written": done.sidecars_written, "sidecars_reused": done.sidecars_reused,
            })
        );
        return Ok(());
    }
    let (level, mode) =
        match mode.split_first().and_then(|(first, rest)| Some((first.strip_prefix("verify=")?, rest))) {
            Some((level, rest)) => (level.parse()?, rest),
            None => (Verify::default(), mode),
        };
    let request = request(mode)?;
    let started = Instant::now();
    let snapshot = Snapshot::open_with(Location::open(table, &StorageOptions::new())?, At::Latest, level)?;
    let opened = started.elapsed();
    let (mut files, mut bytes) = (0, 0);
    if let Some(request) = request {
        for batch in snapshot.files(request)? {
            let batch = batch?;
            files += batch.num_files();
            bytes += batch.sizes().values().iter().sum::<i64>();
        }
    }
    let report = serde_json::to_value(snapshot.report()).unwrap_or_default();
    println!(
        "{}",
        serde_json::json!({
            "version": snapshot.version(), "open_s": opened.as_secs_f64(), "total_s": started.elapsed().as_secs_f64(),
            "files": files, "bytes": bytes, "report": report,
        })
    );
    Ok(())
}
