//! Compaction after a commit, for tables that ask for it.

use std::collections::BTreeMap;
use std::time::Duration;

use super::optimize::optimize_partitions;
use super::optimize_options::{OptimizeOptions, Partitions};
use crate::actions::{Add, Metadata};
use crate::error::Result;
use crate::progress::Progress;
use crate::properties::TableProperty;
use crate::replay::FilesRequest;
use crate::snapshot::{At, Snapshot};
use crate::store::Location;
use crate::sums::SaturatingSum;
use crate::txn::warnings::warn;
use crate::write::{
    CompactionRules, Compactions, LeftCompaction, ParquetOptions, WriteOptions, WritePlan, canonical,
    plan_snapshot, rows_of_partitions,
};

/// How long lost races are repeated.
const BUDGET: Duration = Duration::from_secs(60);

/// The files to compact after a commit.
#[derive(Debug)]
pub(crate) struct AutoCompact {
    location: Location,
    /// Those that the commit adds files to.
    partitions: Partitions,
    rules: CompactionRules,
    /// How its files are encoded: as those of the commit.
    compression: Option<String>,
    parquet: ParquetOptions,
    others: Option<Compactions>,
}

impl AutoCompact {
    /// `None` if neither the write nor the table sets it, or no file is added.
    pub(crate) fn of(plan: &WritePlan, adds: &[Add]) -> Option<Self> {
        if adds.is_empty() || !plan.auto_compact.unwrap_or_else(|| is_asked_for(&plan.metadata)) {
            return None;
        }
        let partitions = adds.iter().map(|add| canonical(plan, &add.partition_values)).collect::<Result<_>>();
        let (compression, parquet) = plan.files.asked();
        Some(AutoCompact {
            // the files that were asked for are done
            location: plan.location.followed_by(&Progress::default()),
            partitions: partitions.ok()?,
            rules: plan.compaction.clone(),
            compression,
            parquet,
            others: plan.compactions.clone(),
        })
    }

    /// Compacts the small files of the partitions that have as many of them as the rules demand, or leaves it to others
    /// where it is large. A failure is a warning: it does not undo the commit.
    ///
    /// # Cost
    /// The list of files of the partitions is read, and the small files are where there are many.
    pub(crate) fn run(&self, version: u64) -> Vec<String> {
        let warnings = match self.compact() {
            Ok(()) => Vec::new(),
            Err(error) => vec![format!(
                "version {version} is committed; the compaction after it failed, and the next one tries again: {error}"
            )],
        };
        warn(&warnings);
        warnings
    }

    fn compact(&self) -> Result<()> {
        let snapshot = Snapshot::open(self.location.clone(), At::Latest)?;
        let plan = plan_snapshot(&snapshot, &WriteOptions::default())?;
        let rules = &self.rules;
        let small_size = rules.small_size.unwrap_or(rules.target_size / 2);
        let mut small: BTreeMap<Vec<Option<String>>, Small> = BTreeMap::new();
        let predicate = Some(rows_of_partitions(&plan, &self.partitions));
        for add in snapshot.each_add(FilesRequest { predicate, ..FilesRequest::default() })? {
            let add = add?;
            if add.size.unsigned_abs() <= small_size {
                let of = small.entry(canonical(&plan, &add.partition_values)?).or_default();
                of.files += 1;
                of.bytes = of.bytes.saturating_add(add.size.unsigned_abs());
            }
        }
        small.retain(|partition, of| of.files >= rules.min_files && self.partitions.contains(partition));
        let mut chosen: Vec<_> = small.into_iter().collect();
        chosen.sort_by_key(|(_, of)| std::cmp::Reverse(of.files));
        chosen.truncate(rules.most_partitions);
        if chosen.is_empty() {
            return Ok(());
        }
        let bytes = chosen.iter().map(|(_, of)| of.bytes).saturating_sum();
        let work = LeftCompaction {
            partitions: chosen.into_iter().map(|(partition, _)| partition).collect(),
            target_size: rules.target_size,
            small_size,
            compression: self.compression.clone(),
            parquet: self.parquet.clone(),
        };
        match &self.others {
            Some(others) if bytes >= others.from => {
                others.leave(work);
                Ok(())
            }
            _ => {
                let (options, partitions) = of_compaction(work);
                optimize_partitions(&self.location, &options, &partitions).map(drop)
            }
        }
    }
}

/// The small files of a partition.
#[derive(Debug, Default)]
struct Small {
    files: usize,
    bytes: u64,
}

/// The optimize that a compaction is, and its partitions.
pub(crate) fn of_compaction(work: LeftCompaction) -> (OptimizeOptions, Partitions) {
    let options = OptimizeOptions {
        target_size: Some(work.target_size),
        min_size: Some(work.small_size),
        compression: work.compression,
        parquet: work.parquet,
        auto: true,
        commit_budget: BUDGET,
        ..Default::default()
    };
    (options, work.partitions)
}

/// Whether the table asks for it: by its property, or by the older one that asks for all of this kind.
fn is_asked_for(metadata: &Metadata) -> bool {
    let property = metadata.property(TableProperty::AutoOptimizeAutoCompact).map(str::to_lowercase);
    metadata.is_true(TableProperty::AutoOptimize)
        || property.is_some_and(|value| value == "true" || value == "auto")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_property_asks_for_it() {
        for (key, value, asked) in [
            ("delta.autoOptimize.autoCompact", "true", true),
            ("delta.autoOptimize.autoCompact", "AUTO", true),
            ("delta.autoOptimize.autoCompact", "false", false),
            ("delta.autoOptimize", "true", true),
            ("delta.autoOptimize.optimizeWrite", "true", false),
        ] {
            let configuration = [(key.to_owned(), value.to_owned())].into();
            assert_eq!(
                is_asked_for(&Metadata { configuration, ..Default::default() }),
                asked,
                "{key} {value}"
            );
        }
    }
}
