//! Dropping a table feature: its traces first, then the history that shows it or the protection of that, then the feature.

use std::time::Duration;

use chrono::Utc;

use super::feature_steps::{StepJob, barrier, remove_domains};
use super::feature_traces::{checkpoints, clean_from, oldest, protected_before, state};
use crate::actions::OperationName;
use crate::alter::drop_feature::{BARRIER_CHECKPOINTS, DropPlan, History, Step, downgraded, plan_drop};
use crate::checkpoint::{checkpoint, cleanup_before};
use crate::error::{Error, Result, condition};
use crate::features::TableFeature;
use crate::log::{Listing, LogSettings};
use crate::properties::TableProperty;
use crate::snapshot::{At, Snapshot, format_timestamp, monotonic};
use crate::store::Location;
use crate::txn::warnings::warn;
use crate::txn::{Operation, Transaction, retried};

/// More steps than any feature has: needing them all means that another writer uses the feature again and again.
const MOST_STEPS: u64 = 20;
/// How long the history is kept that a drop truncates.
const TRUNCATED_RETENTION: TableProperty = TableProperty::DropFeatureTruncateHistoryRetentionDuration;

/// How to drop a feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropOptions {
    /// Text for `commitInfo.userMetadata` of every commit.
    pub user_metadata: Option<String>,
    /// How long lost races are repeated, those of each commit by themselves.
    pub commit_budget: Duration,
}

impl Default for DropOptions {
    fn default() -> Self {
        DropOptions { user_metadata: None, commit_budget: Duration::from_secs(300) }
    }
}

/// What dropping a feature did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DropDone {
    /// Version that no longer has the feature.
    pub version: u64,
    /// Steps that took its traces away before, each a commit.
    pub steps: u64,
    /// Data files that were written again.
    pub rewritten: u64,
    /// The version that checkpoints before are protected of, where older versions still have the feature.
    pub protected_before: Option<u64>,
    /// Log files that were deleted with the history.
    pub deleted: u64,
    /// What failed after the last commit. The commits are not undone.
    pub warnings: Vec<String>,
}

/// Drops a table feature. No row changes, rows keep their row ids unless that is what is dropped, and at every point the
/// table is whole: the traces of the feature are removed by commits of their own, each all or nothing, and an
/// interrupted drop continues from there when it is called again.
///
/// Where readers needed the feature, older versions are protected from readers that do not know it: by checkpoints that
/// must not be removed one by one (the feature `checkpointProtection` takes its place), or with `truncate_history` by
/// removing these versions, as soon as `delta.dropFeatureTruncateHistory.retentionDuration` (24 hours unless set) has
/// passed since the last of them.
///
/// # Errors
/// * Before anything is written, as [`plan_drop`].
/// * [`Error::FeatureInHistory`] with `truncate_history`, until the time has passed: the newest version has no traces
///   any more, and the error says when to drop it again.
/// * [`Error::InvalidFeatureChange`] where another writer uses the feature again meanwhile.
/// * [`Error::DataFile`] and the like for a file that is rewritten; as [`Transaction::commit`].
///
/// # Cost
/// The files that show the feature are read and written once. With protection three empty commits and four checkpoints;
/// with truncation one of each, and the commits of the history.
pub fn drop_feature(
    location: &Location,
    name: &str,
    truncate_history: bool,
    options: &DropOptions,
) -> Result<DropDone> {
    let mut job = DropJob { location, name, truncate_history, options, done: DropDone::default() };
    let plan = job.clean()?;
    match plan.history {
        History::Stays => {}
        History::Protected => {
            for _ in 0..BARRIER_CHECKPOINTS {
                job.barrier()?;
            }
        }
        History::Truncated => job.truncate(&plan)?,
    }
    retried(options.commit_budget, |_| job.last_commit())?;
    if plan.history == History::Protected {
        // without it, a reader that checks the protocol of each commit finds that of the dropped feature
        if let Err(error) = job.newest().and_then(|newest| checkpoint(&newest)) {
            let warning = format!("checkpoint of version {}: {error}", job.done.version);
            warn(std::slice::from_ref(&warning));
            job.done.warnings.push(warning);
        }
    }
    Ok(job.done)
}

struct DropJob<'a> {
    location: &'a Location,
    name: &'a str,
    truncate_history: bool,
    options: &'a DropOptions,
    done: DropDone,
}

impl DropJob<'_> {
    fn newest(&self) -> Result<Snapshot> {
        Snapshot::open(self.location.clone(), At::Latest)
    }

    /// Takes the traces away, step by step. The plan that has no steps left.
    fn clean(&mut self) -> Result<DropPlan> {
        let budget = self.options.commit_budget;
        while self.done.steps < MOST_STEPS {
            let plan = retried(budget, |_| self.step())?;
            if plan.steps.is_empty() {
                return Ok(plan);
            }
            self.done.steps += 1;
            if plan.steps.first() == Some(&Step::TruncateHistory) {
                self.truncate(&plan)?;
            }
        }
        Err(Error::InvalidFeatureChange {
            feature: self.name.to_owned(),
            reason: format!("other writers used it again after each of {MOST_STEPS} steps; end them first"),
        })
    }

    /// The first remaining step, if there is one, of the plan for the newest version.
    fn step(&mut self) -> Result<DropPlan> {
        let snapshot = self.newest()?;
        let (table, traces) = state(&snapshot, self.name)?;
        let plan = plan_drop(&table, self.name, self.truncate_history, &traces)?;
        if let Some(step) = plan.steps.first() {
            let user_metadata = self.options.user_metadata.as_deref();
            self.done.rewritten += StepJob { snapshot: &snapshot, table: &table, user_metadata }.run(step)?;
        }
        Ok(plan)
    }

    /// An empty commit and a checkpoint on it.
    fn barrier(&self) -> Result<()> {
        retried(self.options.commit_budget, |_| barrier(self.location, self.options.user_metadata.as_deref()))
    }

    /// Removes the history up to the retention of the drop, and refuses where something is left that shows the feature.
    fn truncate(&mut self, plan: &DropPlan) -> Result<()> {
        self.barrier()?;
        let snapshot = self.newest()?;
        let retention = LogSettings::of(snapshot.protocol(), snapshot.metadata())?.truncated_retention;
        let now = Utc::now().timestamp_millis();
        self.done.deleted +=
            cleanup_before(&snapshot, now.saturating_sub(retention), now, false)?.deleted.len() as u64;
        let listing = Listing::read(self.location, 0)?;
        let clean = match plan.feature {
            TableFeature::CheckpointProtection => protected_before(snapshot.metadata()),
            feature => clean_from(&snapshot, &listing, feature)?,
        };
        if oldest(&listing) >= clean {
            return Ok(());
        }
        // the history ends at the first checkpoint that shows nothing, once that is old enough
        let base = checkpoints(&listing).into_iter().map(|c| c.version).find(|version| *version >= clean);
        let times = monotonic(listing.commits());
        let base_time = base.and_then(|version| times.get(&version).copied()).unwrap_or(now);
        let retention_text = snapshot.metadata().property_or_default(TRUNCATED_RETENTION);
        let retention_text = retention_text.unwrap_or_default().to_owned();
        let parameter = [("truncateHistoryLogRetentionPeriod", retention_text.clone())];
        let error = Error::FeatureInHistory {
            path: self.location.root().to_string(),
            feature: plan.feature.into(),
            clean_from: clean,
            retention: retention_text,
            come_again: format_timestamp(base_time.saturating_add(retention)),
        };
        Err(match plan.feature {
            TableFeature::CheckpointProtection => error
                .named(&condition::FEATURE_DROP_CHECKPOINT_PROTECTION_WAIT_FOR_RETENTION_PERIOD, parameter),
            // nothing was left to clean: all traces are of the history
            _ if self.done.steps == 0 => {
                error.named(&condition::FEATURE_DROP_HISTORICAL_VERSIONS_EXIST, parameter)
            }
            _ => error,
        })
    }

    /// The commit that drops the feature, as the version after the newest one or not at all.
    fn last_commit(&mut self) -> Result<()> {
        let snapshot = self.newest()?;
        let (table, traces) = state(&snapshot, self.name)?;
        let plan = plan_drop(&table, self.name, self.truncate_history, &traces)?;
        let version = snapshot.version() + 1;
        let new = downgraded(&table, &plan, &traces, version)?;
        let operation = Operation::new(OperationName::DropFeature)
            .with("featureName", plan.feature)
            .with_json("truncateHistory", self.truncate_history);
        let mut txn = Transaction::begin(&snapshot, operation);
        txn.set_user_metadata(self.options.user_metadata.clone());
        remove_domains(&mut txn, &snapshot, &plan.domains)?;
        txn.drops_feature(plan.feature);
        txn.set_protocol(new.protocol);
        if new.metadata != *snapshot.metadata() {
            txn.set_metadata(new.metadata);
        }
        // what lands first may show the feature, and the protected version is this one: the commit follows nothing
        txn.set_budget(Duration::ZERO);
        let landed = txn.commit()?;
        self.done.version = landed.version;
        self.done.warnings = landed.warnings;
        self.done.protected_before = (plan.history == History::Protected).then_some(version);
        Ok(())
    }
}
