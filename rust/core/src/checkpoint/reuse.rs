use arrow::array::{Array, AsArray, StructArray};
use arrow::datatypes::DataType;
use parquet::file::statistics::Statistics;
use parquet::schema::types::SchemaDescriptor;

use super::job::Job;
use super::source::RUN_ROWS;
use crate::actions::Sidecar;
use crate::error::{Error, Result};
use crate::replay::{CheckpointFile, VECTOR, conform, key, vector_at};
use crate::sums::SaturatingSum;

/// A sidecar and what is in it.
#[derive(Debug, Clone)]
pub(super) struct Linked {
    pub(super) sidecar: Sidecar,
    pub(super) adds: u64,
    pub(super) rows: u64,
}

/// What happens to the files of the old checkpoint.
pub(super) struct ReusePlan {
    /// Sidecars that are linked again.
    pub(super) reused: Vec<Linked>,
    /// Files, by index, whose rows are read and written again.
    pub(super) rewritten: Vec<usize>,
}

/// Decides for every file of the old checkpoint. A sidecar is linked again if it has the columns that a new one would
/// have and the commits since mention none of its rows, and if it is not small against what is written anyway: small
/// ones are merged, so that their number grows with the logarithm of the table.
///
/// # Cost
/// The paths of the row groups that may hold one of the keys of the tail.
pub(super) fn plan(job: &Job<'_>, ours: &SchemaDescriptor, new_removes: usize) -> Result<ReusePlan> {
    let mut plan = ReusePlan { reused: Vec::new(), rewritten: Vec::new() };
    let Some(checkpoint) = &job.log.checkpoint else { return Ok(plan) };
    let mut new_adds: u64 = job.log.tail.batches.iter().map(|b| b.num_files() as u64).sum();
    let mut new_removes = new_removes as u64;
    let mut clean: Vec<(usize, Linked)> = Vec::new();
    for (index, file) in checkpoint.parquet.iter().enumerate() {
        let counts = file.count("add", "path").zip(file.count("remove", "path"));
        let (adds, removes) = counts.unwrap_or_else(|| (rows_of(file), 0));
        match &file.sidecar {
            // a tombstone that has expired is not worth a file
            Some(_) if counts.is_some() && adds == 0 && expired(file, job.expired_before) => {}
            Some(sidecar)
                if counts.is_some()
                    && !sidecar.path.contains('/')
                    && same(ours, file)
                    && !mentioned(job, file)? =>
            {
                clean.push((index, Linked { sidecar: sidecar.clone(), adds, rows: adds + removes }));
            }
            _ => {
                new_adds += adds;
                new_removes += removes;
                plan.rewritten.push(index);
            }
        }
    }
    clean.sort_by_key(|(_, linked)| linked.rows);
    for (index, linked) in clean {
        let new = if linked.adds > 0 { &mut new_adds } else { &mut new_removes };
        if linked.rows < RUN_ROWS as u64 / 2 && linked.rows <= 2 * *new {
            *new += linked.rows;
            plan.rewritten.push(index);
        } else {
            plan.reused.push(linked);
        }
    }
    Ok(plan)
}

fn rows_of(file: &CheckpointFile) -> u64 {
    file.metadata().row_groups().iter().map(|g| g.num_rows().unsigned_abs()).saturating_sum()
}

/// Whether a file has the leaves that ours have.
fn same(ours: &SchemaDescriptor, file: &CheckpointFile) -> bool {
    let theirs = file.metadata().file_metadata().schema_descr();
    let (ours, theirs) = (ours.columns(), theirs.columns());
    ours.len() == theirs.len()
        && ours.iter().zip(theirs).all(|(a, b)| {
            a.path() == b.path()
                && a.physical_type() == b.physical_type()
                && a.logical_type_ref() == b.logical_type_ref()
        })
}

/// Whether all tombstones of a file have expired, by its statistics.
fn expired(file: &CheckpointFile, expired_before: i64) -> bool {
    file.metadata().row_groups().iter().all(|group| {
        let column = group
            .columns()
            .iter()
            .find(|c| matches!(c.column_path().parts(), [a, b] if a == "remove" && b == "deletionTimestamp"));
        match column.and_then(|c| c.statistics()) {
            Some(Statistics::Int64(s)) => s.max_opt().is_some_and(|max| *max <= expired_before),
            _ => false,
        }
    })
}

/// Whether the commits since the checkpoint mention a row of a file.
fn mentioned(job: &Job<'_>, file: &CheckpointFile) -> Result<bool> {
    let keys = &job.log.tail.keys;
    if keys.is_empty() {
        return Ok(false);
    }
    let failed = |e| Error::arrow("reading the paths of a sidecar", e);
    let root = job.snapshot.location().root();
    for group in 0..file.metadata().num_row_groups() {
        for action in ["add", "remove"] {
            if !file.may_hold(group, action, "path") {
                continue;
            }
            let columns = [vec![action, "path"], vec![action, "deletionVector"]];
            for batch in file.decode(group, &columns)? {
                let batch = StructArray::from(batch);
                let Some(rows) = batch.column_by_name(action).and_then(|c| c.as_struct_opt()) else {
                    continue;
                };
                let paths = conform(rows, "path", &DataType::Utf8View).map_err(failed)?;
                let paths = paths.as_string_view();
                let vectors =
                    conform(rows, "deletionVector", &DataType::Struct(VECTOR.clone())).map_err(failed)?;
                for row in (0..rows.len()).filter(|r| rows.is_valid(*r) && paths.is_valid(*r)) {
                    let vector = vector_at(vectors.as_struct(), row);
                    if keys.contains(&key(paths.value(row), vector.as_ref(), root)?) {
                        return Ok(true);
                    }
                }
            }
        }
    }
    Ok(false)
}
