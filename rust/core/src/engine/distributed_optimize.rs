//! An optimize that is spread over processes: a plan of bins, tasks that rewrite them, and one commit.

use std::collections::{BTreeMap, HashSet};

use uuid::Uuid;

use super::documents::{from_json, to_json, wrong};
use super::optimize_task::{OPTIMIZE, OptimizeTask, RangesOfBin, TaskResult, TaskWork, WorkKind};
use crate::actions::{Add, ObjectPath};
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::maintain::{
    BinDone, OptimizeDone, OptimizeOptions, OptimizePlan, Partitions, attempt, of_compaction,
};
use crate::progress::Progress;
use crate::stats::num_records;
use crate::store::{Location, StorageOptions};
use crate::sums::SaturatingSum;
use crate::txn::{Retries, Route};
use crate::write::{Compactions, Sampled, SampledRows, Uploads, WritePlan, count_of};

/// Least bytes of files that one task reads of a bin that many tasks read.
const PART_BYTES: u64 = 128 << 20;

/// An optimize whose bins are rewritten here or by tasks, and that is retried where it lost a race.
#[derive(Debug)]
pub struct DistributedOptimize {
    location: Location,
    storage: StorageOptions,
    options: OptimizeOptions,
    /// Only these partitions.
    these: Option<Partitions>,
    retries: Retries,
    planned: Option<Planned>,
}

/// One attempt.
#[derive(Debug)]
struct Planned {
    plan: OptimizePlan,
    /// Folder of the files of its tasks.
    folder: String,
    /// The bins that many tasks rewrite.
    divided: BTreeMap<usize, Divided>,
}

/// A bin that many tasks rewrite.
#[derive(Debug, Default)]
struct Divided {
    sampled: Sampled,
    /// Where its ranges begin among all.
    first: usize,
    ranges: usize,
    rows: u64,
}

/// What there is to do, in texts for [`OptimizeTask`].
#[derive(Debug, Default)]
pub struct OptimizeWorks {
    /// Bins that one task rewrites each: [`OptimizeTask::run`].
    pub whole: Vec<String>,
    /// Parts of bins that many tasks rewrite, of which rows are chosen first: [`OptimizeTask::sample`].
    pub samples: Vec<String>,
}

/// The bins that many tasks rewrite, by ranges.
#[derive(Debug, Default)]
pub struct OptimizeRanges {
    /// For [`OptimizeTask::with_ranges`].
    pub document: String,
    /// How many ranges there are: [`OptimizeTask::gather`].
    pub count: usize,
    /// Parts of the bins: [`OptimizeTask::spread`].
    pub parts: Vec<String>,
}

/// The compaction that a commit leaves to an engine, where the table asks for one and it is large.
#[derive(Debug)]
pub struct CompactionAfter {
    location: Location,
    storage: StorageOptions,
    left: Compactions,
}

impl CompactionAfter {
    /// Of the commit of this plan, from so many bytes of small files on. The smaller ones are a part of the commit, as ever.
    pub(super) fn of(plan: &mut WritePlan, storage: &StorageOptions, from: u64) -> Self {
        let left = Compactions::from(from);
        plan.compactions = Some(left.clone());
        CompactionAfter { location: plan.location.clone(), storage: storage.clone(), left }
    }

    /// After the commit: what is left to do, if there is any.
    pub fn optimize(&self) -> Option<DistributedOptimize> {
        let (options, partitions) = of_compaction(self.left.take()?);
        let (location, storage) = (self.location.clone(), self.storage.clone());
        Some(DistributedOptimize::of(location, storage, options, Some(partitions)))
    }
}

/// Rows that a task chose of a part of a bin.
#[derive(Debug)]
pub struct OptimizeSample {
    /// The bin.
    pub bin: usize,
    /// Rows that are left of the part.
    pub rows: u64,
    /// The chosen ones, as an Arrow stream.
    pub chosen: Option<Vec<u8>>,
}

impl DistributedOptimize {
    /// Nothing is read yet.
    ///
    /// # Errors
    /// As [`Location::open`].
    pub fn new(uri: &str, storage: StorageOptions, options: OptimizeOptions) -> Result<Self> {
        Ok(Self::of(Location::open(uri, &storage)?, storage, options, None))
    }

    fn of(
        location: Location,
        storage: StorageOptions,
        options: OptimizeOptions,
        these: Option<Partitions>,
    ) -> Self {
        let retries = Retries::new(options.commit_budget);
        DistributedOptimize { location, storage, options, these, retries, planned: None }
    }

    /// From now on this follows how far it is, where it is done in this process.
    pub fn follow(&mut self, progress: &Progress) {
        self.location = self.location.followed_by(progress);
    }

    /// Looks for what there is to do in the newest version: bytes of the files to rewrite, none of which are read.
    ///
    /// # Errors
    /// As [`crate::maintain::optimize`] before it writes.
    pub fn plan(&mut self, cancel: &Cancel) -> Result<u64> {
        let plan = OptimizePlan::of(&self.location.stopped_by(cancel), &self.options, self.these.as_ref())?;
        let bytes = plan.bins.iter().map(|bin| bin.bytes()).saturating_sum();
        self.planned = Some(Planned { plan, folder: Uuid::new_v4().to_string(), divided: BTreeMap::new() });
        Ok(bytes)
    }

    /// Does it in this process, what was planned first. The history says by which route where one is given.
    ///
    /// # Errors
    /// As [`crate::maintain::optimize`].
    pub fn run(&mut self, route: Option<Route>, cancel: &Cancel) -> Result<OptimizeDone> {
        let location = self.location.stopped_by(cancel);
        loop {
            let mut plan = match self.planned.take() {
                Some(planned) => planned.plan,
                None => OptimizePlan::of(&location, &self.options, self.these.as_ref())?,
            };
            plan.route = route;
            match attempt(&plan, &location, self.retries.left()) {
                Err(error) if self.retries.begins_again(&error) => {}
                other => return other,
            }
        }
    }

    fn planned(&self) -> Result<&Planned> {
        self.planned.as_ref().ok_or_else(|| wrong(OPTIMIZE, "nothing is planned"))
    }

    /// What tasks do. It holds the storage options. A task sorts so many bytes of rows in memory at a time; its memory is
    /// about three times as much.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where nothing is planned.
    pub fn task(&self, run_bytes: usize) -> Result<String> {
        let planned = self.planned()?;
        OptimizeTask::new(&planned.plan.work, &self.storage, &planned.folder, run_bytes).to_json()
    }

    /// The works of the tasks. A bin of at least so many bytes whose rows get another order, and that becomes more than one
    /// file, is rewritten by many.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where nothing is planned.
    pub fn works(&mut self, divided_from: Option<u64>) -> Result<OptimizeWorks> {
        let planned = self.planned.as_mut().ok_or_else(|| wrong(OPTIMIZE, "nothing is planned"))?;
        let work = &planned.plan.work;
        let mut works = OptimizeWorks::default();
        for (number, bin) in planned.plan.bins.iter().enumerate() {
            let bytes = bin.bytes();
            let is_large = divided_from.is_some_and(|from| bytes >= from);
            let files = count_of(bytes, work.target_size, u64::MAX);
            if work.layout.curve().is_some() && is_large && files > 1 {
                planned.divided.insert(number, Divided::default());
                for part in parts(number, &bin.files, WorkKind::Sample) {
                    works.samples.push(to_json(OPTIMIZE, &part)?);
                }
            } else {
                let whole = TaskWork {
                    bin: number,
                    kind: WorkKind::Whole,
                    files: bin.files.iter().map(bare).collect(),
                    before: 0,
                    total: 0,
                };
                works.whole.push(to_json(OPTIMIZE, &whole)?);
            }
        }
        Ok(works)
    }

    /// Divides bins by what was chosen of them.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a sample of something else.
    pub fn divide(&mut self, samples: Vec<OptimizeSample>) -> Result<OptimizeRanges> {
        let planned = self.planned.as_mut().ok_or_else(|| wrong(OPTIMIZE, "nothing is planned"))?;
        for sample in samples {
            let of = planned
                .divided
                .get_mut(&sample.bin)
                .ok_or_else(|| wrong(OPTIMIZE, "a sample of another bin"))?;
            of.sampled.add(&SampledRows { chosen: sample.chosen, rows: sample.rows })?;
        }
        let work = &planned.plan.work;
        let mut out = OptimizeRanges::default();
        let mut documents = Vec::new();
        let Some((curve, columns)) = work.layout.curve() else { return Ok(out) };
        for (number, divided) in &mut planned.divided {
            let bin =
                planned.plan.bins.get(*number).ok_or_else(|| wrong(OPTIMIZE, "a sample of another bin"))?;
            let sampled = std::mem::take(&mut divided.sampled);
            divided.rows = sampled.rows;
            if divided.rows == 0 {
                continue;
            }
            let files = count_of(bin.bytes(), work.target_size, divided.rows);
            let ranges = sampled.divided(curve, columns.paths.clone(), files);
            (divided.first, divided.ranges) = (out.count, ranges.count());
            out.count += divided.ranges;
            let values = bin.files.first().map(|add| add.partition_values.clone()).unwrap_or_default();
            documents.push(RangesOfBin { bin: *number, first: divided.first, values, ranges });
            for part in parts(*number, &bin.files, WorkKind::Spread) {
                out.parts.push(to_json(OPTIMIZE, &part)?);
            }
        }
        out.document = to_json(OPTIMIZE, &documents)?;
        Ok(out)
    }

    /// Commits what tasks answered: each work once. `None` where another writer rewrote the files and the optimize is to be
    /// planned again. Files of tasks that are not part of the table then are deleted, as far as the store allows it.
    ///
    /// # Errors
    /// As [`crate::maintain::optimize`]; [`Error::Internal`] where an answer is missing or is there twice.
    pub fn commit(&mut self, answers: &[String]) -> Result<Option<OptimizeDone>> {
        let mut planned = self.planned.take().ok_or_else(|| wrong(OPTIMIZE, "nothing is planned"))?;
        planned.plan.route = Some(Route::Tasks);
        let landed = self.commit_planned(&planned, answers);
        match landed {
            Ok(done) => Ok(Some(done)),
            Err(error @ Error::CommitStateUnknown { .. }) => Err(error),
            Err(error) => {
                sweep(&self.location, &planned.folder, &HashSet::new());
                match self.retries.begins_again(&error) {
                    true => Ok(None),
                    false => Err(error),
                }
            }
        }
    }

    fn commit_planned(&self, planned: &Planned, answers: &[String]) -> Result<OptimizeDone> {
        let mut made: BTreeMap<usize, BinDone> = BTreeMap::new();
        let mut ranges: BTreeMap<usize, Vec<Add>> = BTreeMap::new();
        for answer in answers {
            let twice = || lost("a task answered twice");
            match from_json(OPTIMIZE, answer)? {
                TaskResult::Bin { bin, done } => {
                    if made.insert(bin, done.unpacked(&self.location)?).is_some() {
                        return Err(twice());
                    }
                }
                TaskResult::Range { range, adds } => {
                    if ranges.insert(range, adds).is_some() {
                        return Err(twice());
                    }
                }
            }
        }
        for (number, divided) in &planned.divided {
            let of = divided.first..divided.first + divided.ranges;
            let adds = of.filter_map(|range| ranges.remove(&range)).flatten().collect();
            made.insert(*number, BinDone::of_ranges(adds, divided.rows));
        }
        if made.keys().copied().ne(0..planned.plan.bins.len()) {
            return Err(lost("the answer of a task is missing"));
        }
        let files =
            made.values().flat_map(|done| &done.adds).map(|add| add.path.resolve(self.location.root()));
        let files: Vec<ObjectPath> = files.collect::<Result<_>>()?;
        let own: HashSet<ObjectPath> = files.iter().cloned().collect();
        let uploads = Uploads::taken_over(&self.location, files);
        let done = planned.plan.commit(made.into_values().collect(), self.retries.left(), &uploads)?;
        sweep(&self.location, &planned.folder, &own);
        Ok(done)
    }

    /// Deletes, as far as the store allows it, what tasks wrote that is not committed.
    pub fn discard(&mut self) {
        if let Some(planned) = self.planned.take() {
            sweep(&self.location, &planned.folder, &HashSet::new());
            self.planned = Some(planned);
        }
    }
}

/// Deletes the files of a folder but these. Best effort: what stays is an orphan that no log names.
fn sweep(location: &Location, folder: &str, but: &HashSet<ObjectPath>) {
    let own = location.root().join(folder);
    let found = location.store().list_all(&own).unwrap_or_default();
    let files: Vec<ObjectPath> =
        found.iter().map(|file| own.join(&file.name)).filter(|path| !but.contains(path)).collect();
    let _ = location.store().delete_many(&files);
    if but.is_empty()
        && let Some(local) = own.to_local().filter(|_| own.below(location.root()).is_some())
    {
        // only empty folders remain on a local disk
        let _ = std::fs::remove_dir_all(local);
    }
}

/// What a task needs to know of a file.
fn bare(add: &Add) -> Add {
    Add { stats: None, tags: None, ..add.clone() }
}

/// The files of a bin in parts for tasks.
fn parts(bin: usize, files: &[Add], kind: WorkKind) -> Vec<TaskWork> {
    let left = |add: &Add| {
        let deleted = add.deletion_vector.as_ref().map_or(0, |vector| vector.cardinality.unsigned_abs());
        // where it is unknown the sample is another one, and as good
        num_records(add).map_or(0, |rows| rows.unsigned_abs().saturating_sub(deleted))
    };
    let total = files.iter().map(left).saturating_sum();
    let mut out: Vec<TaskWork> = Vec::new();
    let (mut before, mut bytes) = (0_u64, 0_u64);
    for file in files {
        match out.last_mut().filter(|_| bytes.saturating_add(file.size.unsigned_abs()) <= PART_BYTES) {
            Some(part) => part.files.push(bare(file)),
            None => {
                bytes = 0;
                out.push(TaskWork { bin, kind, files: vec![bare(file)], before, total });
            }
        }
        bytes = bytes.saturating_add(file.size.unsigned_abs());
        before = before.saturating_add(left(file));
    }
    out
}

fn lost(reason: &str) -> Error {
    Error::Internal { operation: "optimize".into(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, RecordBatchIterator};
    use arrow::datatypes::Int64Type;

    use super::*;
    use crate::operations::{delete, write};
    use crate::scan::{ReadRequest, read};
    use crate::snapshot::{At, Snapshot};
    use crate::write::{WriteMode, WriteOptions};

    const FILES: i64 = 6;
    const ROWS: i64 = 500;

    /// Rows of which many have the same value of `b`.
    fn table() -> (tempfile::TempDir, Location) {
        let dir = tempfile::tempdir().unwrap();
        let location = Location::open(dir.path().to_str().unwrap(), &StorageOptions::new()).unwrap();
        for file in 0..FILES {
            let numbers = file * ROWS..(file + 1) * ROWS;
            let a: ArrayRef =
                Arc::new(Int64Array::from_iter_values(numbers.clone().map(|n| n * 7919 % 4001)));
            let b: ArrayRef = Arc::new(Int64Array::from_iter_values(numbers.map(|n| n % 3)));
            let rows = RecordBatch::try_from_iter_with_nullable([("a", a, true), ("b", b, true)]).unwrap();
            let options = WriteOptions { mode: WriteMode::Append, ..Default::default() };
            let schema = rows.schema();
            write(&location, RecordBatchIterator::new([Ok(rows)], schema), &options).unwrap();
        }
        (dir, location)
    }

    fn optimize(location: &Location, zorder_by: &[&str], parts: u64) -> DistributedOptimize {
        let bytes = files(location).iter().map(|add| add.size.unsigned_abs()).saturating_sum();
        let zorder_by = zorder_by.iter().map(|name| (*name).to_owned()).collect();
        let options =
            OptimizeOptions { zorder_by, target_size: Some(bytes / parts + 1), ..Default::default() };
        DistributedOptimize::new(&location.root().to_uri(), StorageOptions::new(), options).unwrap()
    }

    fn files(location: &Location) -> Vec<Add> {
        Snapshot::open(location.clone(), At::Latest).unwrap().adds(None).unwrap()
    }

    fn rows(location: &Location) -> Vec<(i64, i64)> {
        let snapshot = Snapshot::open(location.clone(), At::Latest).unwrap();
        let mut out = Vec::new();
        for batch in read(&snapshot, ReadRequest::default()).unwrap() {
            let batch = batch.unwrap();
            let column = |at: usize| batch.column(at).as_primitive::<Int64Type>().values().to_vec();
            out.extend(column(0).into_iter().zip(column(1)));
        }
        out.sort_unstable();
        out
    }

    /// All works, each by a task that travelled.
    fn answers(optimize: &mut DistributedOptimize, divided_from: Option<u64>) -> Vec<String> {
        let cancel = Cancel::default();
        optimize.plan(&cancel).unwrap();
        let task = OptimizeTask::from_json(&optimize.task(4 << 10).unwrap()).unwrap();
        let works = optimize.works(divided_from).unwrap();
        let mut out: Vec<String> = works.whole.iter().map(|work| task.run(work, &cancel).unwrap()).collect();
        let sample = |work: &String| {
            let (bin, rows, chosen) = task.sample(work, &cancel).unwrap();
            OptimizeSample { bin, rows, chosen }
        };
        let ranges = optimize.divide(works.samples.iter().map(sample).collect()).unwrap();
        if ranges.count == 0 {
            return out;
        }
        let task = task.with_ranges(&ranges.document).unwrap();
        let mut gathers: BTreeMap<usize, _> = BTreeMap::new();
        for part in &ranges.parts {
            let mut spread = task.spread(part).unwrap();
            while let Some((range, rows)) = spread.next_rows().unwrap() {
                gathers.entry(range).or_insert_with(|| task.gather(range).unwrap()).push(&rows).unwrap();
            }
        }
        out.extend(gathers.into_values().map(|gather| gather.finish().unwrap()));
        out
    }

    fn data_files(dir: &std::path::Path) -> usize {
        std::fs::read_dir(dir)
            .unwrap()
            .map(|entry| match entry.unwrap().path() {
                path if path.is_dir() && !path.ends_with("_delta_log") => data_files(&path),
                path => usize::from(path.extension().is_some_and(|e| e == "parquet")),
            })
            .sum()
    }

    #[test]
    fn a_curve_that_is_divided_among_tasks_is_that_of_one_process() {
        for columns in [&["a"][..], &["b", "a"]] {
            let (_one, here) = table();
            let (_two, there) = table();
            let before = rows(&here);
            optimize(&here, columns, 5).run(None, &Cancel::default()).unwrap();
            let mut tasks = optimize(&there, columns, 5);
            let answered = answers(&mut tasks, Some(1));
            assert!(answered.len() >= 4, "{}", answered.len());
            let done = tasks.commit(&answered).unwrap().unwrap();
            assert_eq!((rows(&here), rows(&there)), (before.clone(), before));
            assert_eq!(done.zorder.unwrap().new_cubes, 1);
            // no file is much larger, and a condition on the first column reads as few
            let counts = |location: &Location| {
                let mut counts: Vec<i64> = files(location).iter().filter_map(num_records).collect();
                counts.sort_unstable();
                counts
            };
            let (one, many) = (counts(&here), counts(&there));
            assert_eq!(one.iter().sum::<i64>(), many.iter().sum::<i64>());
            assert_eq!((one.len(), many.len()), (5, 5));
            assert!(many[4] <= one[4] * 11 / 10, "{many:?}");
        }
    }

    #[test]
    fn one_value_that_is_most_of_the_rows_is_more_than_one_file() {
        let (_dir, location) = table();
        let before = rows(&location);
        let mut tasks = optimize(&location, &["b"], 12);
        let answered = answers(&mut tasks, Some(1));
        tasks.commit(&answered).unwrap().unwrap();
        assert_eq!(rows(&location), before);
        let largest = files(&location).iter().filter_map(num_records).max().unwrap();
        assert!(largest <= FILES * ROWS / 12 * 2, "{largest}");
    }

    #[test]
    fn an_answer_that_is_missing_or_twice_commits_nothing_and_leaves_nothing() {
        let (dir, location) = table();
        let lose: [fn(&mut Vec<String>); 2] = [|a| drop(a.pop()), |a| a.extend(a.clone())];
        for change in lose {
            for (columns, divided_from) in [(&[][..], None), (&["a"][..], Some(1))] {
                let mut tasks = optimize(&location, columns, 2);
                let mut answered = answers(&mut tasks, divided_from);
                assert!(answered.len() > 1);
                change(&mut answered);
                let error = tasks.commit(&answered).unwrap_err();
                assert!(matches!(error, Error::Internal { .. }), "{error}");
                assert_eq!((data_files(dir.path()), files(&location).len()), (6, 6));
            }
        }
    }

    #[test]
    fn files_of_lost_attempts_are_deleted_with_the_commit() {
        let (dir, location) = table();
        let mut tasks = optimize(&location, &[], 1);
        let answered = answers(&mut tasks, None);
        // the same work by another attempt that nobody hears of
        let again = OptimizeTask::from_json(&tasks.task(4 << 10).unwrap()).unwrap();
        again.run(&tasks.works(None).unwrap().whole[0], &Cancel::default()).unwrap();
        assert_eq!(data_files(dir.path()), 8);
        assert_eq!(tasks.commit(&answered).unwrap().unwrap().added.len(), 1);
        assert_eq!((data_files(dir.path()), files(&location).len()), (7, 1));
    }

    #[test]
    fn a_lost_race_asks_for_another_plan() {
        let (dir, location) = table();
        let mut tasks = optimize(&location, &[], 1);
        let answered = answers(&mut tasks, None);
        delete(&location, Some("a = 5"), &Default::default()).unwrap();
        let left = data_files(dir.path()) - 1;
        assert!(tasks.commit(&answered).unwrap().is_none());
        assert_eq!(data_files(dir.path()), left);
        let answered = answers(&mut tasks, None);
        assert_eq!(tasks.commit(&answered).unwrap().unwrap().added.len(), 1);
        assert_eq!(rows(&location).len() as i64, FILES * ROWS - 1);
    }
}
