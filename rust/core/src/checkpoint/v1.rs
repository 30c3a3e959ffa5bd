//! V1: one Parquet file of all actions.

use std::vec;

use bytes::Bytes;
use rayon::prelude::*;

use super::encode::Encoder;
use super::hint::schema_json;
use super::job::{CheckpointDone, Job};
use super::rows::{AddRows, Run};
use super::source::{Runs, checkpoint_removes, remove_column, tail_removes};
use crate::actions::Action;
use crate::error::Result;
use crate::log::LastCheckpoint;
use crate::replay::{FileBatch, FilesRequest};
use crate::store::runtime;
use crate::sums::SaturatingSum;

/// Bytes that are handed to the store at once.
const PART: usize = 8 << 20;

pub(super) fn write(job: &Job<'_>) -> Result<(CheckpointDone, LastCheckpoint)> {
    let version = job.snapshot.version();
    let name = format!("{version:020}.checkpoint.parquet");
    let schema = job.layout.v1();
    let location = job.snapshot.location();
    let rows = AddRows::new(&job.layout);
    let mut parts = Parts::new(job, &rows, &name)?;
    location.store().put_parts(&location.log_dir().join(&name), &mut parts)?;
    let (num_files, num_actions, size) = (parts.num_files, parts.num_actions, parts.size);
    let hint = LastCheckpoint {
        version,
        size: Some(num_actions as i64),
        size_in_bytes: Some(size as i64),
        num_of_add_files: Some(num_files as i64),
        checkpoint_schema: schema_json(&schema),
        ..Default::default()
    };
    let done = CheckpointDone {
        version,
        name,
        existed: false,
        num_files,
        num_actions,
        size,
        written: size,
        sidecars_written: 0,
        sidecars_reused: 0,
    };
    Ok((done, hint))
}

/// The bytes of the file, produced on demand.
struct Parts<'a> {
    job: &'a Job<'a>,
    encoder: Option<Encoder>,
    rows: &'a AddRows<'a>,
    removes: vec::IntoIter<Action>,
    /// Row groups of the old checkpoint whose tombstones are still to come, by file.
    groups: vec::IntoIter<(usize, usize)>,
    runs: Runs,
    /// Files that are being written, and the row group that comes next.
    run: Option<(Run<'a>, usize)>,
    num_files: u64,
    num_bytes: i64,
    num_actions: u64,
    size: u64,
}

/// Tombstones that become columns at once.
const REMOVES: usize = 16 * 1024;

impl<'a> Parts<'a> {
    fn new(job: &'a Job<'a>, rows: &'a AddRows<'a>, name: &str) -> Result<Self> {
        let location = job.snapshot.location();
        let mut encoder = Encoder::new(job.layout.v1(), job.compression, name.to_owned())?;
        encoder.write_actions(&job.other_actions()?)?;
        let removes = tail_removes(location, &job.log.segment.tail, job.expired_before)?;
        let files = job.log.checkpoint.iter().flat_map(|c| c.parquet.iter().enumerate());
        let groups: Vec<_> =
            files.flat_map(|(i, f)| (0..f.metadata().num_row_groups()).map(move |g| (i, g))).collect();
        let request = FilesRequest { stats: true, extended: true, ..FilesRequest::default() };
        Ok(Parts {
            job,
            encoder: Some(encoder),
            rows,
            removes: removes.into_iter(),
            groups: groups.into_iter(),
            runs: Runs::new(job.snapshot.files(request)?.with_parsed(&job.layout.stats)),
            run: None,
            num_files: 0,
            num_bytes: 0,
            num_actions: 0,
            size: 0,
        })
    }

    /// Encodes the next rows; false when there are none.
    fn encode(&mut self, encoder: &mut Encoder) -> Result<bool> {
        let removes: Vec<Action> = self.removes.by_ref().take(REMOVES).collect();
        if !removes.is_empty() {
            encoder.write("remove", &remove_column(&removes)?)?;
            return Ok(true);
        }
        if let Some((file, group)) = self.groups.next() {
            if let Some(checkpoint) = &self.job.log.checkpoint {
                let (location, keys) = (self.job.snapshot.location(), &self.job.log.tail.keys);
                let file = &checkpoint.parquet[file];
                if let Some(rows) = checkpoint_removes(location, file, group, keys, self.job.expired_before)?
                {
                    encoder.write("remove", &rows)?;
                }
            }
            return Ok(true);
        }
        let Some((run, next)) = self.run.take() else {
            let Some(files) = self.runs.next().transpose()? else { return Ok(false) };
            self.num_files += files.iter().map(|b| b.num_files() as u64).sum::<u64>();
            self.num_bytes = self.num_bytes.saturating_add(files.iter().map(bytes_of).saturating_sum());
            self.run = Some((self.rows.run(&files)?, 0));
            return Ok(true);
        };
        // a row group a core at once
        let pool = runtime::pool()?;
        let end = run.num_groups().min(next + pool.current_num_threads());
        let writer: &Encoder = encoder;
        let encoded = |number| writer.group("add", &run.group(number)?);
        let groups: Vec<_> =
            pool.install(|| (next..end).into_par_iter().map(encoded).collect::<Result<_>>())?;
        groups.into_iter().try_for_each(|group| encoder.append(group))?;
        if end < run.num_groups() {
            self.run = Some((run, end));
        }
        Ok(true)
    }

    fn part(&mut self) -> Result<Option<Bytes>> {
        let Some(mut encoder) = self.encoder.take() else { return Ok(None) };
        while encoder.ready() < PART {
            if !self.encode(&mut encoder)? {
                self.job.check_totals(self.num_files, Some(self.num_bytes))?;
                self.num_actions = encoder.rows;
                let last = encoder.finish()?;
                self.size += last.len() as u64;
                return Ok(Some(last));
            }
        }
        let part = encoder.take();
        self.size += part.len() as u64;
        self.encoder = Some(encoder);
        Ok(Some(part))
    }
}

fn bytes_of(batch: &FileBatch) -> i64 {
    batch.sizes().values().iter().copied().saturating_sum()
}

impl Iterator for Parts<'_> {
    type Item = Result<Bytes>;

    fn next(&mut self) -> Option<Self::Item> {
        self.part().transpose()
    }
}
