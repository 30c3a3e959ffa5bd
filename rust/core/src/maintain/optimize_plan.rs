//! What an optimize will rewrite, from one version, and the commit of what became of it.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use foldhash::fast::RandomState;

use super::bin_work::{BinDone, BinWork};
use super::bins::{Bin, FilesOfPartitions, Worth, groups, whole_partitions};
use super::cubes::{CubeRules, CurveStats, FileCount};
use super::layout::{Columns, Layout};
use super::optimize_done::OptimizeDone;
use super::optimize_options::{OptimizeOptions, Partitions};
use super::purge::to_be_purged;
use super::rewrite_files::note;
use crate::actions::{OperationName, PartitionValues};
use crate::conflict::RowRelocations;
use crate::error::{Error, Result, condition};
use crate::expr::has_subquery;
use crate::features::check_writer;
use crate::properties::{TableProperty, parse_byte_size};
use crate::replay::FilesRequest;
use crate::snapshot::{At, Snapshot};
use crate::stats::num_records;
use crate::store::Location;
use crate::sums::SaturatingSum;
use crate::txn::{Operation, Route, Transaction, rewrite_metrics};
use crate::write::{
    RowCondition, Uploads, WriteOptions, WritePlan, canonical, plan_snapshot, rows_of_partitions,
};

/// An optimize of one version: the bins, and what is done with each.
#[derive(Debug)]
pub(crate) struct OptimizePlan {
    snapshot: Snapshot,
    options: OptimizeOptions,
    /// What the history shows.
    predicates: Vec<String>,
    /// What is done with a bin.
    pub(crate) work: BinWork,
    /// The files to rewrite. Without one there is nothing to do.
    pub(crate) bins: Vec<Bin>,
    found: OptimizeDone,
    /// Who rewrites the files, for the history.
    pub(crate) route: Option<Route>,
}

impl OptimizePlan {
    /// Of the newest version.
    ///
    /// # Errors
    /// Those of an optimize before a file is read.
    pub(crate) fn of(
        location: &Location,
        options: &OptimizeOptions,
        these: Option<&Partitions>,
    ) -> Result<Self> {
        let snapshot = Snapshot::open(location.clone(), At::Latest)?;
        check_writer(&location.root().to_string(), snapshot.protocol())?;
        let encoding = WriteOptions {
            compression: options.compression.clone(),
            parquet: options.parquet.clone(),
            ..Default::default()
        };
        let plan = plan_snapshot(&snapshot, &encoding)?;
        let layout = Layout::of(&snapshot, &plan, options)?;
        let wanted = Wanted::of(&plan, options, these)?;
        let own = snapshot
            .metadata()
            .property(TableProperty::TargetFileSize)
            .and_then(|text| parse_byte_size(text).ok());
        let target_size = options.target_size.or(own).unwrap_or(1 << 30);
        let worth =
            Worth { min: options.min_size.unwrap_or(target_size), max_deleted: options.max_deleted_ratio };
        let joined = matches!(layout, Layout::Joined) && !options.purge;
        let (considered, files) = wanted.files(&snapshot, joined.then_some(&worth))?;
        let mut found = OptimizeDone { considered, ..Default::default() };
        let bins = match &layout {
            Layout::Joined if options.purge => groups(to_be_purged(&plan, files)?, target_size, &|_| true),
            Layout::Joined => groups(files, target_size, &|add| worth.of_deleted_rows(add)),
            Layout::ZOrdered(_) => whole_partitions(files),
            Layout::Clustered(columns) => {
                let rules = cube_rules(columns, target_size, options);
                let (bins, stats) = rules.choose(files.into_values().flatten().collect());
                found.clustering = Some(stats);
                bins
            }
        };
        let predicates = wanted.predicates();
        let work = BinWork { plan, encoding, layout, target_size };
        Ok(OptimizePlan { snapshot, options: options.clone(), predicates, work, bins, found, route: None })
    }

    /// Commits what became of the bins, in their order, as long as no winner forbids it. The files are kept where they are
    /// committed, or may be. Without a bin nothing is committed.
    ///
    /// # Errors
    /// [`Error::Internal`] where the new files do not have as many rows as were left of the old ones; as
    /// [`Transaction::commit`].
    pub(crate) fn commit(
        &self,
        made: Vec<BinDone>,
        budget: Duration,
        uploads: &Uploads,
    ) -> Result<OptimizeDone> {
        let (bins, layout) = (&self.bins, &self.work.layout);
        let mut done = self.found.clone();
        if bins.is_empty() {
            return Ok(done);
        }
        if made.len() != bins.len() {
            return Err(lost(format!("{} of {} bins were rewritten", made.len(), bins.len())));
        }
        let (mut adds, mut moves) = (Vec::new(), RowRelocations::default());
        for (bin, mut new) in bins.iter().zip(made) {
            check_rows(&new)?;
            match layout {
                Layout::Joined => {
                    note(self.snapshot.location(), bin, (new.adds.first(), &new.sources), &mut moves)?
                }
                Layout::Clustered(columns) => {
                    cube_rules(columns, self.work.target_size, &self.options).mark(&mut new.adds);
                }
                Layout::ZOrdered(_) => {}
            }
            done.deleted_rows += deleted_rows(bin);
            adds.append(&mut new.adds);
        }
        done.partitions = bins.iter().map(|bin| &bin.partition).collect::<BTreeSet<_>>().len() as u64;
        if let Layout::ZOrdered(_) = layout {
            done.zorder = Some(zorder_stats(bins, done.partitions));
        }
        let operation = operation(&self.options, layout, self.predicates.clone());
        let mut txn = Transaction::begin(&self.snapshot, operation);
        txn.rewrite(bins.iter().flat_map(|bin| &bin.files), adds, moves);
        let metrics = rewrite_metrics(txn.changes());
        txn.operation_mut().set_metrics(metrics);
        txn.operation_mut().routes = self.route.into_iter().collect();
        txn.set_user_metadata(self.options.user_metadata.clone());
        txn.set_row_ids_preserved(true);
        txn.set_budget(budget);
        uploads.check()?;
        let landed = txn.commit_changes();
        if matches!(&landed, Ok(_) | Err(Error::CommitStateUnknown { .. })) {
            uploads.keep();
        }
        let (committed, changes) = landed?;
        done.version = Some(committed.version);
        done.warnings = committed.warnings;
        done.tell(&changes);
        Ok(done)
    }
}

/// Checks that no row was lost or doubled on the way.
fn check_rows(new: &BinDone) -> Result<()> {
    let written: Option<Vec<u64>> = new.adds.iter().map(|add| num_records(add).map(|n| n as u64)).collect();
    match written.map(|rows| rows.into_iter().saturating_sum()) {
        Some(rows) if rows != new.rows => {
            Err(lost(format!("{} rows were read and {rows} were written", new.rows)))
        }
        _ => Ok(()),
    }
}

fn lost(reason: String) -> Error {
    Error::Internal { operation: "optimize".into(), reason }
}

/// The rows of its files that are deleted.
fn deleted_rows(bin: &Bin) -> u64 {
    let vectors = bin.files.iter().filter_map(|add| add.deletion_vector.as_ref());
    vectors.map(|vector| vector.cardinality.unsigned_abs()).saturating_sum()
}

/// The partitions that are looked at.
struct Wanted<'a> {
    plan: &'a WritePlan,
    condition: RowCondition<'a>,
    these: Option<Cow<'a, Partitions>>,
    /// What the history shows, where an engine found them.
    shown: Option<String>,
}

impl<'a> Wanted<'a> {
    fn of(plan: &'a WritePlan, options: &OptimizeOptions, these: Option<&'a Partitions>) -> Result<Self> {
        if let Some(found) = &options.partitions {
            let condition = RowCondition::new(None, plan)?;
            let these: Partitions =
                found.iter().map(|values| canonical(plan, values)).collect::<Result<_>>()?;
            let shown = options.predicate.clone();
            return Ok(Wanted { plan, condition, these: Some(Cow::Owned(these)), shown });
        }
        let partitioning = || plan.partition_columns.join(", ");
        let refusal = |column: &str| {
            let partitioning = partitioning();
            let reason = format!(
                "Predicate references non-partition column '{column}'. Only the partition columns may be \
                 referenced: [{partitioning}]"
            );
            let parameters = [("columnName", column.to_string()), ("columnList", partitioning)];
            Error::InvalidArgument { argument: "where".into(), reason }
                .named(&condition::NON_PARTITION_COLUMN_REFERENCE, parameters)
        };
        let condition = RowCondition::new(options.predicate.as_deref(), plan).map_err(|error| {
            if options.predicate.as_deref().is_some_and(has_subquery) {
                return error.of_condition(&condition::UNSUPPORTED_SUBQUERY_IN_PARTITION_PREDICATES);
            }
            let unknown = error.message_parameters().into_iter().find(|(name, _)| *name == "objectName");
            match unknown {
                None => error,
                Some((_, name)) => {
                    let parameters = [("columnName", name), ("columnList", partitioning())];
                    error.named(&condition::NON_PARTITION_COLUMN_REFERENCE, parameters)
                }
            }
        })?;
        match condition.other_column() {
            None => Ok(Wanted { plan, condition, these: these.map(Cow::Borrowed), shown: None }),
            Some(column) => Err(refusal(column)),
        }
    }

    /// How many files they have, and by partition those that are worth it, or all of them. Memory is taken by these alone.
    fn files(&self, snapshot: &Snapshot, worth: Option<&Worth>) -> Result<(u64, FilesOfPartitions)> {
        let these = self.these.as_deref().map(|these| rows_of_partitions(self.plan, these));
        let predicate = these.as_ref().or(self.condition.predicate());
        let all = predicate.is_none();
        let mut partitions: HashMap<PartitionValues, Option<_>, RandomState> = HashMap::default();
        let (mut considered, mut out) = (0, FilesOfPartitions::new());
        for batch in snapshot.files(FilesRequest::whole(predicate))? {
            let mut batch = batch?;
            if all {
                considered += batch.num_files() as u64;
                let may_be = |file| worth.is_none_or(|worth| worth.may_be(&batch, file));
                batch = batch.kept(may_be)?;
            }
            for add in batch.adds() {
                let add = add?;
                let partition = match partitions.get(&add.partition_values) {
                    Some(known) => known,
                    None => {
                        let found = self.partition(&add.partition_values)?;
                        partitions.entry(add.partition_values.clone()).or_insert(found)
                    }
                };
                let Some(partition) = partition else { continue };
                considered += u64::from(!all);
                if worth.is_some_and(|worth| !worth.is_it(&add)) {
                    continue;
                }
                match out.get_mut(partition) {
                    Some(files) => files.push(add),
                    None => drop(out.insert(partition.clone(), vec![add])),
                }
            }
        }
        Ok((considered, out))
    }

    /// The partition of files with these values, in one spelling, where it is looked at.
    fn partition(&self, values: &PartitionValues) -> Result<Option<Vec<Option<String>>>> {
        if !self.condition.is_of_all_rows(values)? {
            return Ok(None);
        }
        let partition = canonical(self.plan, values)?;
        Ok(self.these.as_deref().is_none_or(|these| these.contains(&partition)).then_some(partition))
    }

    /// What the history shows.
    fn predicates(&self) -> Vec<String> {
        let partitioned = !self.plan.partition_columns.is_empty();
        let these = self.these.as_deref().filter(|_| partitioned && self.shown.is_none());
        let these = these.map(|these| rows_of_partitions(self.plan, these).to_string());
        let shown = self.shown.as_deref().or(self.condition.text()).map(str::to_owned);
        these.or(shown).into_iter().collect()
    }
}

/// The operation with delta-spark's parameters.
fn operation(options: &OptimizeOptions, layout: &Layout, predicates: Vec<String>) -> Operation {
    if options.purge {
        return reorg(predicates);
    }
    let (zorder_by, cluster_by) = match layout {
        Layout::Joined => (Vec::new(), Vec::new()),
        Layout::ZOrdered(columns) => (columns.names.clone(), Vec::new()),
        Layout::Clustered(columns) => (Vec::new(), columns.names.clone()),
    };
    let operation = Operation::new(OperationName::Optimize)
        .with_encoded("predicate", predicates)
        .with_encoded("zOrderBy", zorder_by)
        .with_encoded("clusterBy", cluster_by)
        .with_json("auto", options.auto);
    match layout {
        Layout::Clustered(_) => operation.with_json("isFull", options.full),
        _ => operation,
    }
}

/// What rewrites files for something that they should not have, with delta-spark's parameters.
pub(super) fn reorg(predicates: Vec<String>) -> Operation {
    Operation::new(OperationName::Reorg).with_encoded("predicate", predicates).with_json("applyPurge", true)
}

/// A cube is full from 100 files of the target size on, and a new one is half as large again, as those of delta-spark are.
fn cube_rules<'a>(columns: &'a Columns, target_size: u64, options: &OptimizeOptions) -> CubeRules<'a> {
    CubeRules {
        columns: &columns.names,
        full_size: target_size.saturating_mul(100),
        new_size: target_size.saturating_mul(150),
        all: options.full,
    }
}

/// All files count as files of no cube, and what became of each partition as one.
fn zorder_stats(bins: &[Bin], partitions: u64) -> CurveStats {
    let files = FileCount::of(bins.iter().flat_map(|bin| &bin.files));
    CurveStats { other_files: files, merged: files, new_cubes: partitions, ..Default::default() }
}
