//! Does one piece of log work in a process of its own and prints what it took as JSON; the benches compare it with
//! peers.
//!
//! `log TABLE MODE` with MODE one of `snap`, `list`, `list_stats`, `part COLUMN VALUE`, `stats COLUMN LOW HIGH`,
//! `checkpoint` (which writes one into the table), `update` (from the version before the newest, whose files are loaded).
//! With `verify=LEVEL` before the mode the table is read at this level.
//!
//! `log FILE leaves LEAF...` decodes leaves of a Parquet file, and does nothing with them: what listing a checkpoint costs at
//! least.

#![allow(clippy::print_stdout)]

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::datatypes::{DataType, Field, Schema};
use deltaic_core::checkpoint::checkpoint;
use deltaic_core::predicate::{CompareOp, Literal, Predicate};
use deltaic_core::replay::FilesRequest;
use deltaic_core::snapshot::{At, Snapshot, Verify};
use deltaic_core::store::{Location, StorageOptions};
use deltaic_core::{Error, Result};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};

type Done = std::result::Result<(), Box<dyn std::error::Error>>;

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
                "snap | list | list_stats | part COLUMN VALUE | stats COLUMN LOW HIGH | checkpoint | update",
            ));
        }
    })
}

/// Advances a loaded snapshot by the newest commit, and makes its files ready to be listed.
fn update(table: &str) -> Result<()> {
    const TIMES: u32 = 100;
    let location = || Location::open(table, &StorageOptions::new());
    let newest = Snapshot::open(location()?, At::Latest)?.version();
    let before = Snapshot::open(location()?, At::Version(newest.saturating_sub(1)))?;
    for batch in before.files(FilesRequest::default())? {
        batch?;
    }
    let (mut updates, mut all) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..TIMES {
        let started = Instant::now();
        let after = before.update()?;
        updates += started.elapsed();
        after.files(FilesRequest::default())?;
        all += started.elapsed();
    }
    let each = |sum: Duration| (sum / TIMES).as_secs_f64() * 1e6;
    println!(
        "{}",
        serde_json::json!({"version": newest, "update_us": each(updates), "update_and_replay_us": each(all), "files": 0})
    );
    Ok(())
}

/// Decodes leaves with arrow-rs alone, texts as views.
fn leaves(path: &str, leaves: &[String]) -> Done {
    fn views(data_type: &DataType) -> DataType {
        match data_type {
            DataType::Utf8 => DataType::Utf8View,
            DataType::Struct(fields) => {
                let field = |f: &Arc<Field>| f.as_ref().clone().with_data_type(views(f.data_type()));
                DataType::Struct(fields.iter().map(field).collect())
            }
            other => other.clone(),
        }
    }
    let file = File::open(path)?;
    let plain = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new().with_skip_arrow_metadata(true))?;
    let DataType::Struct(fields) = views(&DataType::Struct(plain.schema().fields().clone())) else {
        return Ok(());
    };
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let options = options.with_schema(Arc::new(Schema::new(fields)));
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)?;
    let mask = ProjectionMask::columns(builder.parquet_schema(), leaves.iter().map(String::as_str));
    let mut rows = 0;
    for batch in builder.with_projection(mask).with_batch_size(8192).build()? {
        rows += batch?.num_rows();
    }
    println!("{}", serde_json::json!({"files": rows}));
    Ok(())
}

fn main() -> Done {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (table, mode) = args.split_first().ok_or_else(|| Error::InvalidArgument {
        argument: "TABLE".into(),
        reason: "give the path of a table and a mode".into(),
    })?;
    if mode == ["update"] {
        return Ok(update(table)?);
    }
    if let [first, rest @ ..] = mode
        && first == "leaves"
    {
        return leaves(table, rest);
    }
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
