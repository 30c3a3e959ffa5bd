//! What is done with the files of one bin: the same in this process and in tasks of an engine.

use serde::{Deserialize, Serialize};

use super::bins::Bin;
use super::layout::Layout;
use super::rewrite_files::{several_at_once, workers};
use crate::actions::{Add, DeletionVectorDescriptor};
use crate::deletion_vector::DeletionVector;
use crate::error::Result;
use crate::store::Location;
use crate::sums::SaturatingSum;
use crate::write::{Clustering, SourceRows, Uploads, WriteOptions, WritePlan, cluster, compact};

/// Bytes of rows that are sorted in memory, for all bins that are written at once.
const RUN_BYTES: usize = 128 << 20;

/// What is done with a bin.
#[derive(Debug, Clone)]
pub(crate) struct BinWork {
    /// How files are read and written.
    pub(crate) plan: WritePlan,
    /// What the plan was made with.
    pub(crate) encoding: WriteOptions,
    /// The order of the rows.
    pub(crate) layout: Layout,
    /// Bytes of a new file, about.
    pub(crate) target_size: u64,
}

/// What became of a bin.
#[derive(Debug, Default)]
pub(crate) struct BinDone {
    /// The new files.
    pub(crate) adds: Vec<Add>,
    /// The rows of each of its files; none where the order of rows is another.
    pub(crate) sources: Vec<SourceRows>,
    /// Rows that were left of its files.
    pub(crate) rows: u64,
}

impl BinDone {
    /// Of files that tasks wrote of ranges of the bin, which has so many rows.
    pub(crate) fn of_ranges(adds: Vec<Add>, rows: u64) -> Self {
        BinDone { adds, sources: Vec::new(), rows }
    }

    fn of(adds: Vec<Add>, sources: Vec<SourceRows>) -> Self {
        let left = |source: &SourceRows| source.total.saturating_sub(source.deleted.cardinality());
        let rows = sources.iter().map(left).saturating_sum();
        BinDone { adds, sources, rows }
    }

    /// The form in which a task answers.
    pub(crate) fn packed(&self) -> PackedBinDone {
        let source = |source: &SourceRows| {
            let deleted = (source.deleted.cardinality() > 0).then(|| source.deleted.to_inline());
            (source.total, deleted)
        };
        let sources = self.sources.iter().map(source).collect();
        PackedBinDone { adds: self.adds.clone(), sources, rows: self.rows }
    }
}

/// A [`BinDone`] that travels.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PackedBinDone {
    pub(crate) adds: Vec<Add>,
    sources: Vec<(u64, Option<DeletionVectorDescriptor>)>,
    rows: u64,
}

impl PackedBinDone {
    /// What the task did.
    ///
    /// # Errors
    /// [`crate::Error::DeletionVector`] for one that is damaged.
    pub(crate) fn unpacked(self, location: &Location) -> Result<BinDone> {
        let source = |(total, deleted): (u64, Option<DeletionVectorDescriptor>)| {
            let deleted = match &deleted {
                Some(vector) => DeletionVector::load(vector, location)?,
                None => DeletionVector::default(),
            };
            Ok(SourceRows { total, deleted })
        };
        let sources = self.sources.into_iter().map(source).collect::<Result<_>>()?;
        Ok(BinDone { adds: self.adds, sources, rows: self.rows })
    }
}

impl BinWork {
    /// Writes the rows of a bin into new files, whose names begin with a number. So many bytes of rows are sorted in memory.
    ///
    /// # Errors
    /// As [`compact`] and [`cluster`].
    pub(crate) fn run(
        &self,
        bin: &Bin,
        number: usize,
        run_bytes: usize,
        uploads: &Uploads,
    ) -> Result<BinDone> {
        let Some((curve, columns)) = self.layout.curve() else {
            let new = compact((&self.plan, &self.plan), &bin.files, number, uploads)?;
            return Ok(BinDone::of(new.add.into_iter().collect(), new.sources));
        };
        let columns = columns.paths.clone();
        let clustering = Clustering { curve, columns, target_size: self.target_size, run_bytes };
        let new = cluster(&self.plan, &bin.files, &clustering, number, uploads)?;
        Ok(BinDone::of(new.adds, new.sources))
    }
}

/// Runs all bins in this process, several at a time.
///
/// # Errors
/// As [`BinWork::run`].
pub(super) fn run_all(work: &BinWork, bins: &[Bin], uploads: &Uploads) -> Result<Vec<BinDone>> {
    let files = bins.iter().map(|bin| bin.files.len() as u64).saturating_sum();
    let bytes = bins.iter().map(Bin::bytes).saturating_sum();
    work.plan.location.progress().expect(files, bytes);
    let run_bytes = RUN_BYTES / workers(bins.len()).max(1);
    several_at_once(bins.len(), |at| work.run(&bins[at], at, run_bytes, uploads))
}
