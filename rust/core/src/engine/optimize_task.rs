//! What a task of a distributed optimize does. It knows nothing of the log: what it needs travelled.

use serde::{Deserialize, Serialize};

use super::documents::{from_json, to_json, wrong};
use crate::actions::{Add, Metadata, PartitionValues, Protocol};
use crate::cancel::Cancel;
use crate::error::Result;
use crate::maintain::{Bin, BinWork, Layout, PackedBinDone};
use crate::store::{Location, StorageOptions};
use crate::write::{Gather, Ranges, Spread, Target, Uploads, WriteOptions, plan_existing as plan, sampled};

pub(super) const OPTIMIZE: &str = "optimize";

/// The task of any work of one optimize.
#[derive(Debug)]
pub struct OptimizeTask {
    work: BinWork,
    storage: StorageOptions,
    /// Folder of the table for all new files.
    folder: String,
    run_bytes: usize,
    ranges: Vec<RangesOfBin>,
}

/// A task that travels.
#[derive(Serialize, Deserialize)]
struct Packed {
    root: String,
    storage: StorageOptions,
    version: u64,
    protocol: Protocol,
    metadata: Metadata,
    encoding: WriteOptions,
    layout: Layout,
    target_size: u64,
    folder: String,
    run_bytes: usize,
}

/// What is done with files of a bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum WorkKind {
    Whole,
    Sample,
    Spread,
}

/// Files of a bin, and what is done with them.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TaskWork {
    pub(super) bin: usize,
    pub(super) kind: WorkKind,
    pub(super) files: Vec<Add>,
    /// Rows of the bin before these.
    pub(super) before: u64,
    /// Rows of the bin.
    pub(super) total: u64,
}

/// The ranges of a bin.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RangesOfBin {
    pub(super) bin: usize,
    /// Number of the first range.
    pub(super) first: usize,
    pub(super) values: PartitionValues,
    pub(super) ranges: Ranges,
}

/// What a task answers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum TaskResult {
    Bin { bin: usize, done: PackedBinDone },
    Range { range: usize, adds: Vec<Add> },
}

impl OptimizeTask {
    pub(super) fn new(work: &BinWork, storage: &StorageOptions, folder: &str, run_bytes: usize) -> Self {
        let (work, storage, folder) = (work.clone(), storage.clone(), folder.to_owned());
        OptimizeTask { work, storage, folder, run_bytes, ranges: Vec::new() }
    }

    pub(super) fn to_json(&self) -> Result<String> {
        let plan = &self.work.plan;
        to_json(
            OPTIMIZE,
            &Packed {
                root: plan.location.root().to_uri(),
                storage: self.storage.clone(),
                version: match plan.target {
                    Target::Existing(version) | Target::Skip(version) => version,
                    Target::New => return Err(wrong(OPTIMIZE, "there is no table")),
                },
                protocol: plan.protocol.clone(),
                metadata: plan.metadata.clone(),
                encoding: self.work.encoding.clone(),
                layout: self.work.layout.clone(),
                target_size: self.work.target_size,
                folder: self.folder.clone(),
                run_bytes: self.run_bytes,
            },
        )
    }

    /// From [`super::DistributedOptimize::task`]. Nothing is read.
    ///
    /// # Errors
    /// [`crate::Error::InvalidArgument`] for something else.
    pub fn from_json(text: &str) -> Result<Self> {
        let packed: Packed = from_json(OPTIMIZE, text)?;
        let location = Location::open(&packed.root, &packed.storage)?;
        let Packed { storage, version, protocol, metadata, encoding, layout, .. } = packed;
        let plan = plan(&location, Target::Existing(version), protocol, metadata, &encoding)?;
        let work = BinWork { plan, encoding, layout, target_size: packed.target_size };
        let (folder, run_bytes) = (packed.folder, packed.run_bytes);
        Ok(OptimizeTask { work, storage, folder, run_bytes, ranges: Vec::new() })
    }

    /// The same with the ranges of bins: [`super::OptimizeRanges::document`].
    ///
    /// # Errors
    /// [`crate::Error::InvalidArgument`] for something else.
    pub fn with_ranges(mut self, document: &str) -> Result<Self> {
        self.ranges = from_json(OPTIMIZE, document)?;
        Ok(self)
    }

    fn uploads(&self, cancel: &Cancel) -> Uploads {
        Uploads::below(&self.work.plan.location.stopped_by(cancel), &self.folder)
    }

    /// Rewrites a bin, and answers for the commit. What a failed task wrote is deleted.
    ///
    /// # Errors
    /// As [`crate::maintain::optimize`].
    pub fn run(&self, work: &str, cancel: &Cancel) -> Result<String> {
        let work: TaskWork = of_kind(work, WorkKind::Whole)?;
        let uploads = self.uploads(cancel);
        let bin = Bin { partition: Vec::new(), files: work.files };
        let done = self.work.run(&bin, work.bin, self.run_bytes, &uploads)?;
        let answer = to_json(OPTIMIZE, &TaskResult::Bin { bin: work.bin, done: done.packed() })?;
        uploads.keep();
        Ok(answer)
    }

    /// Chooses rows of a part of a bin: the bin, the rows of the part, and the chosen ones.
    ///
    /// # Errors
    /// As [`crate::maintain::optimize`].
    pub fn sample(&self, work: &str, cancel: &Cancel) -> Result<(usize, u64, Option<Vec<u8>>)> {
        let work: TaskWork = of_kind(work, WorkKind::Sample)?;
        let Some((_, columns)) = self.work.layout.curve() else {
            return Err(wrong(OPTIMIZE, "there is no curve"));
        };
        let part = (work.before, work.total);
        let found = sampled(&self.work.plan, &work.files, &columns.paths, part, &self.uploads(cancel))?;
        Ok((work.bin, found.rows, found.chosen))
    }

    /// The rows of a part of a bin, by range.
    ///
    /// # Errors
    /// As [`crate::maintain::optimize`].
    pub fn spread(&self, work: &str) -> Result<OptimizeSpread> {
        let work: TaskWork = of_kind(work, WorkKind::Spread)?;
        let of = self
            .ranges
            .iter()
            .find(|of| of.bin == work.bin)
            .ok_or_else(|| wrong(OPTIMIZE, "a bin without ranges"))?;
        let rows = Spread::open(&self.work.plan, work.files, of.ranges.clone(), self.run_bytes)?;
        Ok(OptimizeSpread { first: of.first, rows })
    }

    /// Takes the rows of a range.
    ///
    /// # Errors
    /// [`crate::Error::InvalidArgument`] for a range that is none.
    pub fn gather(&self, range: usize) -> Result<OptimizeGather> {
        let of = self.ranges.iter().rfind(|of| of.first <= range);
        let of = of
            .filter(|of| range - of.first < of.ranges.count())
            .ok_or_else(|| wrong(OPTIMIZE, "an unknown range"))?;
        let rows = Gather::new(&self.work.plan, of.values.clone(), &of.ranges, self.run_bytes)?;
        let uploads = self.uploads(&Cancel::default());
        Ok(OptimizeGather { range, rows, uploads })
    }
}

fn of_kind(work: &str, kind: WorkKind) -> Result<TaskWork> {
    let work: TaskWork = from_json(OPTIMIZE, work)?;
    match work.kind == kind {
        true => Ok(work),
        false => Err(wrong(OPTIMIZE, "another kind of work")),
    }
}

/// The rows of a part of a bin, by range.
pub struct OptimizeSpread {
    first: usize,
    rows: Spread,
}

impl OptimizeSpread {
    /// Some rows of a range, for its [`OptimizeGather`]; none after the last. A range comes more than once.
    ///
    /// # Errors
    /// Those of the files.
    pub fn next_rows(&mut self) -> Result<Option<(usize, Vec<u8>)>> {
        let next = self.rows.next_rows()?;
        Ok(next.map(|(range, rows)| (self.first + range, rows)))
    }
}

/// The rows of a range.
pub struct OptimizeGather {
    range: usize,
    rows: Gather,
    uploads: Uploads,
}

impl OptimizeGather {
    /// Takes some.
    ///
    /// # Errors
    /// [`crate::Error::Storage`] when the temporary folder of the system is full.
    pub fn push(&mut self, rows: &[u8]) -> Result<()> {
        self.rows.push(rows)
    }

    /// Writes all of them, and answers for the commit. What it wrote is deleted where it fails.
    ///
    /// # Errors
    /// As [`crate::maintain::optimize`].
    pub fn finish(self) -> Result<String> {
        let adds = self.rows.finish(self.range, &self.uploads)?;
        let answer = to_json(OPTIMIZE, &TaskResult::Range { range: self.range, adds })?;
        self.uploads.keep();
        Ok(answer)
    }
}
