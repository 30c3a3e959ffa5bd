//! V2: a top-level file that links sidecars. A sidecar none of whose files changed is linked again instead of written
//! again, so that a checkpoint costs what changed.

use std::collections::BTreeMap;

use bytes::Bytes;
use parquet::arrow::ArrowSchemaConverter;
use parquet::schema::types::SchemaDescriptor;
use rayon::prelude::*;
use serde_json::Value;
use uuid::Uuid;

use super::encode::Encoder;
use super::hint::schema_json;
use super::job::{CheckpointDone, Job};
use super::reuse::{Linked, ReusePlan, plan};
use super::rows::AddRows;
use super::source::{Runs, checkpoint_removes, remove_column, tail_removes};
use crate::actions::{Action, CheckpointMetadata, Sidecar};
use crate::error::{Error, Result};
use crate::log::{LastCheckpoint, LastV2Checkpoint};
use crate::replay::{FileBatch, FilesRequest};
use crate::store::runtime;
use crate::sums::SaturatingSum;

/// More actions than this are not repeated in the hint, as delta-spark does.
const MOST_IN_HINT: usize = 30;
/// Tombstones of a sidecar.
const REMOVES: usize = 512 * 1024;

pub(super) fn write(job: &Job<'_>) -> Result<(CheckpointDone, LastCheckpoint)> {
    let version = job.snapshot.version();
    let location = job.snapshot.location();
    let mut removes = tail_removes(location, &job.log.segment.tail, job.expired_before)?;
    let ours = descriptor(job)?;
    let ReusePlan { reused, rewritten } = plan(job, &ours, removes.len())?;
    let mut written = write_adds(job, &rewritten)?;
    let remove_sidecars = write_removes(job, &rewritten, &mut removes)?;
    written.extend(remove_sidecars);

    let sum = |all: &[Linked], of: fn(&Linked) -> u64| all.iter().map(of).saturating_sum();
    let num_files = sum(&written, |l| l.adds) + sum(&reused, |l| l.adds);
    job.check_totals(num_files, None)?;
    let sidecar_actions = sum(&written, |l| l.rows) + sum(&reused, |l| l.rows);
    let bytes = |l: &Linked| l.sidecar.size_in_bytes.unsigned_abs();
    let (new_bytes, old_bytes) = (sum(&written, bytes), sum(&reused, bytes));
    let mut tags = BTreeMap::from([
        ("sidecarNumActions".to_owned(), Some(sidecar_actions.to_string())),
        ("sidecarSizeInBytes".to_owned(), Some((new_bytes + old_bytes).to_string())),
        ("numOfAddFiles".to_owned(), Some(num_files.to_string())),
    ]);
    if let Some(schema) = schema_json(&job.layout.sidecar()) {
        tags.insert("sidecarFileSchema".to_owned(), Some(schema.to_string()));
    }
    let head = CheckpointMetadata { version: version as i64, tags: Some(tags) };
    let others: Vec<Action> = [Action::from(head)].into_iter().chain(job.other_actions()?).collect();
    let sidecars: Vec<Sidecar> = reused.iter().chain(&written).map(|l| l.sidecar.clone()).collect();
    let all: Vec<Action> = others.iter().cloned().chain(sidecars.iter().cloned().map(Action::from)).collect();

    let name = format!("{version:020}.checkpoint.{}.parquet", Uuid::new_v4());
    let path = location.log_dir().join(&name);
    let mut encoder = Encoder::new(job.layout.v2(), job.compression, name.clone())?;
    encoder.write_actions(&all)?;
    let body = encoder.finish()?;
    let top_bytes = body.len() as u64;
    location.store().put(&path, body)?;
    still_there(job, &reused).inspect_err(|_| {
        // best effort: readers ignore a checkpoint whose sidecars are missing
        let _ = location.store().delete(&path);
    })?;

    let done = CheckpointDone {
        version,
        name: name.clone(),
        existed: false,
        num_files,
        num_actions: sidecar_actions + all.len() as u64,
        size: top_bytes + new_bytes + old_bytes,
        written: top_bytes + new_bytes,
        sidecars_written: written.len(),
        sidecars_reused: reused.len(),
    };
    let few = others.len() <= MOST_IN_HINT && sidecars.len() <= MOST_IN_HINT;
    let as_json = |a: &Action| serde_json::to_value(a).ok();
    let hint = LastCheckpoint {
        version,
        size: Some(done.num_actions as i64),
        size_in_bytes: Some(done.size as i64),
        num_of_add_files: Some(num_files as i64),
        checkpoint_schema: schema_json(&job.layout.v2()),
        v2_checkpoint: Some(LastV2Checkpoint {
            path: name,
            size_in_bytes: top_bytes as i64,
            modification_time: job.now,
            non_file_actions: if few {
                others.iter().map(as_json).collect::<Option<Vec<Value>>>()
            } else {
                None
            },
            sidecar_files: few.then_some(sidecars),
        }),
        ..Default::default()
    };
    Ok((done, hint))
}

/// The Parquet schema of our sidecars.
fn descriptor(job: &Job<'_>) -> Result<SchemaDescriptor> {
    let schema = job.layout.sidecar();
    let converted = ArrowSchemaConverter::new().schema_root("spark_schema").convert(&schema);
    converted.map_err(|e| Error::InvalidSchema { reason: format!("the schema of a sidecar: {e}") })
}

/// Writes the live files of the tail and of the old files that are not taken over, one run a sidecar, several at once.
fn write_adds(job: &Job<'_>, rewritten: &[usize]) -> Result<Vec<Linked>> {
    let request = FilesRequest { stats: true, extended: true, ..FilesRequest::default() };
    let files =
        job.snapshot.files(request)?.with_parsed(&job.layout.stats).only(|index| rewritten.contains(&index));
    let rows = AddRows::new(&job.layout);
    let pool = runtime::pool()?;
    let mut runs = Runs::new(files);
    let mut out = Vec::new();
    loop {
        let wave = runs.by_ref().take(pool.current_num_threads()).collect::<Result<Vec<_>>>()?;
        if wave.is_empty() {
            return Ok(out);
        }
        let written = pool.install(|| {
            let write = |run: Vec<FileBatch>| {
                let mut encoder = open(job)?;
                let adds = rows.run(&run)?;
                drop(run);
                for number in 0..adds.num_groups() {
                    encoder.append(encoder.group("add", &adds.group(number)?)?)?;
                }
                let adds = encoder.rows;
                put(job, encoder, adds)
            };
            wave.into_par_iter().map(write).collect::<Result<Vec<_>>>()
        });
        out.extend(written?);
    }
}

/// Writes the tombstones of the tail and of the old files that are not taken over.
fn write_removes(job: &Job<'_>, rewritten: &[usize], tail: &mut Vec<Action>) -> Result<Vec<Linked>> {
    let location = job.snapshot.location();
    let mut out = Vec::new();
    let mut encoder = open(job)?;
    let mut full = |encoder: &mut Encoder, last: bool| {
        if encoder.rows > 0 && (last || encoder.rows as usize >= REMOVES) {
            let done = std::mem::replace(encoder, open(job)?);
            out.push(put(job, done, 0)?);
        }
        Ok::<(), Error>(())
    };
    if let Some(checkpoint) = &job.log.checkpoint {
        for index in rewritten {
            let file = &checkpoint.parquet[*index];
            for group in 0..file.metadata().num_row_groups() {
                let keys = &job.log.tail.keys;
                if let Some(rows) = checkpoint_removes(location, file, group, keys, job.expired_before)? {
                    encoder.write("remove", &rows)?;
                    full(&mut encoder, false)?;
                }
            }
        }
    }
    if !tail.is_empty() {
        encoder.write("remove", &remove_column(tail)?)?;
        tail.clear();
    }
    full(&mut encoder, true)?;
    Ok(out)
}

fn open(job: &Job<'_>) -> Result<Encoder> {
    Encoder::new(job.layout.sidecar(), job.compression, "a sidecar".to_owned())
}

/// Stores a finished sidecar under a unique name.
fn put(job: &Job<'_>, encoder: Encoder, adds: u64) -> Result<Linked> {
    let location = job.snapshot.location();
    let rows = encoder.rows;
    let body: Bytes = encoder.finish()?;
    let name = format!("{}.parquet", Uuid::new_v4());
    let size = body.len() as i64;
    location.store().put(&location.log_dir().join("_sidecars").join(&name), body)?;
    let sidecar = Sidecar { path: name, size_in_bytes: size, modification_time: job.now, tags: None };
    Ok(Linked { sidecar, adds, rows })
}

/// Makes sure that no cleanup took a sidecar that the new checkpoint links again.
fn still_there(job: &Job<'_>, reused: &[Linked]) -> Result<()> {
    let location = job.snapshot.location();
    let dir = location.log_dir().join("_sidecars");
    for linked in reused {
        location.store().head(&dir.join(&linked.sidecar.path))?;
    }
    Ok(())
}
