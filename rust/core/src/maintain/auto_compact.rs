//! Compaction after a commit, for tables that ask for it.

use std::collections::BTreeMap;
use std::time::Duration;

use super::optimize::{OptimizeOptions, Partitions, optimize_partitions};
use crate::actions::{Add, Metadata};
use crate::error::Result;
use crate::properties::TableProperty;
use crate::snapshot::{At, Snapshot};
use crate::store::Location;
use crate::txn::warnings::warn;
use crate::write::{
    CompactionRules, ParquetOptions, WriteOptions, WritePlan, canonical, plan_snapshot, rows_of_partitions,
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
            location: plan.location.clone(),
            partitions: partitions.ok()?,
            rules: plan.compaction.clone(),
            compression,
            parquet,
        })
    }

    /// Compacts the small files of the partitions that have as many of them as the rules demand. A failure is a
    /// warning: it does not undo the commit.
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
        let mut small: BTreeMap<Vec<Option<String>>, usize> = BTreeMap::new();
        for add in snapshot.adds(Some(&rows_of_partitions(&plan, &self.partitions)))? {
            if add.size.unsigned_abs() <= small_size {
                *small.entry(canonical(&plan, &add.partition_values)?).or_default() += 1;
            }
        }
        small.retain(|partition, files| *files >= rules.min_files && self.partitions.contains(partition));
        let mut chosen: Vec<_> = small.into_iter().collect();
        chosen.sort_by_key(|(_, files)| std::cmp::Reverse(*files));
        let chosen: Partitions =
            chosen.into_iter().take(rules.most_partitions).map(|(partition, _)| partition).collect();
        if chosen.is_empty() {
            return Ok(());
        }
        let options = OptimizeOptions {
            target_size: Some(rules.target_size),
            min_size: Some(small_size),
            compression: self.compression.clone(),
            parquet: self.parquet.clone(),
            auto: true,
            commit_budget: BUDGET,
            ..Default::default()
        };
        optimize_partitions(&self.location, &options, &chosen).map(drop)
    }
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
