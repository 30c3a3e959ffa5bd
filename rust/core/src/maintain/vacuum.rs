//! Deleting files that no version within the retention needs.

use std::time::Duration;

use chrono::Utc;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::vacuum_plan::{Inventoried, ListedTree, VacuumMode, VacuumPlan, plan};
use crate::actions::{ObjectPath, OperationName};
use crate::cancel::Cancel;
use crate::error::{Error, Result, condition};
use crate::features::check_writer;
use crate::log::LogSettings;
use crate::snapshot::{At, Snapshot};
use crate::store::{Location, runtime};
use crate::sums::SaturatingSum;
use crate::txn::warnings::warn;
use crate::txn::{Committed, Operation, Route, Transaction};

/// Files that one thread deletes in one call.
const CHUNK: usize = 1000;

/// How to vacuum.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VacuumOptions {
    /// Where files are looked for.
    pub mode: VacuumMode,
    /// Instead of a listing of the store, such as an inventory that the store itself makes: only files of it are deleted,
    /// which the store and it say to be old. Nothing else of it is trusted: files that versions need, that are not
    /// below the table, or that are below a table in it, are ignored.
    pub inventory: Option<Vec<Inventoried>>,
    /// Files that were removed longer ago are deleted; none takes `delta.deletedFileRetentionDuration` of the table, which
    /// is a week where it is not set.
    pub retention: Option<Duration>,
    /// Allows a retention below that of the table. Readers and writers that take longer than it fail then, and what they
    /// write may be lost.
    pub allow_short_retention: bool,
    /// Deletes nothing and commits nothing.
    pub dry_run: bool,
    /// Text for `commitInfo.userMetadata`.
    pub user_metadata: Option<String>,
}

/// What a vacuum did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VacuumDone {
    /// Files that were deleted, or that a dry run would delete: absolute paths.
    pub files: Vec<String>,
    /// Their bytes.
    pub bytes: u64,
    /// Files that could not be deleted, and why.
    pub failed: Vec<(String, String)>,
    /// Files that were last changed, or removed from the table, after this time are kept; milliseconds since the Unix
    /// epoch.
    pub cutoff: i64,
    /// Version of the commit `VACUUM END`.
    pub version: Option<u64>,
    /// What went wrong after the files were deleted.
    pub warnings: Vec<String>,
}

/// Deletes the files that no version within the retention has, and that are older than it. A file is never deleted that a
/// version within the retention needs, or a commit under way that began within it: its files are young. What is returned
/// is what the store confirmed. `VACUUM START` and `VACUUM END` record it in the history.
///
/// # Errors
/// [`Error::InvalidArgument`] for a retention below that of the table, [`Error::UnsupportedFeature`] for a table that asks
/// more of a writer; what the log and the store say before the first file is deleted. A file that cannot be deleted is no
/// error: it is in [`VacuumDone::failed`].
///
/// # Cost
/// Full: one listing of the table, its live files, the commits within the retention and the tombstones of the checkpoint.
/// With an inventory a HEAD for each file of it to delete and a listing of the log of another table in each of their folders.
/// Lite: the commits of the log, and a HEAD for each file that they name as removed.
/// In memory: some 20 bytes for each file that is kept, the names of the listing, and the tombstones.
pub fn vacuum(location: &Location, options: &VacuumOptions) -> Result<VacuumDone> {
    VacuumWork::of(location, options, None)?.run(location.cancel())
}

/// A vacuum that knows which files it deletes.
#[derive(Debug)]
pub(crate) struct VacuumWork {
    snapshot: Snapshot,
    options: VacuumOptions,
    /// Milliseconds: the retention that is asked for, and that of the table.
    asked: Option<i64>,
    default: i64,
    cutoff: i64,
    plan: VacuumPlan,
    /// Who deletes the files, for the history.
    pub(crate) route: Option<Route>,
}

/// What became of a file that was to be deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Deletion {
    Done,
    /// Another vacuum was faster.
    Missing,
    Failed(String),
}

impl VacuumWork {
    /// Of the newest version. Where the store was listed before, with what it has.
    ///
    /// # Errors
    /// As [`vacuum`] before the first file is deleted.
    pub(crate) fn of(
        location: &Location,
        options: &VacuumOptions,
        listed: Option<ListedTree>,
    ) -> Result<Self> {
        let snapshot = Snapshot::open(location.clone(), At::Latest)?;
        let path = location.root().to_string();
        if options.inventory.is_some() && options.mode == VacuumMode::Lite {
            let reason = "a lite vacuum reads the log only: leave one of them out".into();
            return Err(Error::InvalidArgument { argument: "inventory".into(), reason });
        }
        check_writer(&path, snapshot.protocol())?;
        let settings = LogSettings::of(snapshot.protocol(), snapshot.metadata())?;
        let default = settings.tombstone_retention;
        let asked = options.retention.map(|r| i64::try_from(r.as_millis()).unwrap_or(i64::MAX));
        let retention = asked.unwrap_or(default);
        if retention < default && !options.allow_short_retention {
            return Err(Error::InvalidArgument {
                argument: "retention".into(),
                reason: format!(
                    "{} h is less than the {} h of `delta.deletedFileRetentionDuration`: readers and writers that take longer \
                     would lose their files; allow it only when there are none",
                    retention / 3_600_000,
                    default / 3_600_000
                ),
            }
            .of_condition(&condition::VACUUM_RETENTION_PERIOD_TOO_SHORT));
        }
        let cutoff = Utc::now().timestamp_millis().saturating_sub(retention);
        let plan = plan(&snapshot, options.mode, options.inventory.as_deref(), cutoff, listed)?;
        Ok(VacuumWork { snapshot, options: options.clone(), asked, default, cutoff, plan, route: None })
    }

    /// Does it in this process.
    ///
    /// # Errors
    /// As [`vacuum`].
    pub(crate) fn run(&self, cancel: &Cancel) -> Result<VacuumDone> {
        if self.options.dry_run {
            return Ok(self.not_done());
        }
        let warnings = self.begin()?;
        let outcomes = self.delete(cancel)?;
        Ok(self.finish(outcomes, warnings))
    }

    /// The files to delete.
    pub(crate) fn files(&self) -> impl Iterator<Item = &ObjectPath> {
        self.plan.files.iter().map(|(path, _)| path)
    }

    /// What a dry run says.
    fn not_done(&self) -> VacuumDone {
        VacuumDone {
            cutoff: self.cutoff,
            bytes: self.bytes(),
            files: self.files().map(ToString::to_string).collect(),
            ..Default::default()
        }
    }

    fn bytes(&self) -> u64 {
        self.plan.files.iter().map(|(_, size)| *size).saturating_sum()
    }

    fn commit(&self, snapshot: &Snapshot, mut operation: Operation) -> Result<Committed> {
        operation.routes = self.route.into_iter().collect();
        let mut txn = Transaction::begin(snapshot, operation);
        txn.set_user_metadata(self.options.user_metadata.clone());
        txn.commit()
    }

    /// Commits `VACUUM START`, and returns its warnings.
    ///
    /// # Errors
    /// As [`Transaction::commit`].
    pub(crate) fn begin(&self) -> Result<Vec<String>> {
        let mut start = Operation::new(OperationName::VacuumStart)
            .with_json("retentionCheckEnabled", !self.options.allow_short_retention)
            .with_json("defaultRetentionMillis", self.default)
            .metric("numFilesToDelete", self.plan.files.len() as u64)
            .metric("sizeOfDataToDelete", self.bytes());
        if let Some(asked) = self.asked {
            start = start.with_json("specifiedRetentionMillis", asked);
        }
        Ok(self.commit(&self.snapshot, start)?.warnings)
    }

    /// Deletes the files in this process.
    ///
    /// # Errors
    /// [`Error::Interrupted`] where it was asked to stop.
    pub(crate) fn delete(&self, cancel: &Cancel) -> Result<Vec<Deletion>> {
        let location = self.snapshot.location();
        let progress = location.progress();
        progress.expect(self.plan.files.len() as u64, self.bytes());
        let delete = |chunk: &[(ObjectPath, u64)]| {
            cancel.check()?;
            let paths: Vec<ObjectPath> = chunk.iter().map(|(path, _)| path.clone()).collect();
            let outcomes = delete_files(location, &paths);
            progress.done(chunk.len() as u64, chunk.iter().map(|(_, size)| *size).saturating_sum());
            Ok(outcomes)
        };
        let files = &self.plan.files;
        let outcomes: Vec<Vec<Deletion>> =
            runtime::pool()?.install(|| files.par_chunks(CHUNK).map(delete).collect::<Result<_>>())?;
        Ok(outcomes.concat())
    }

    /// Commits `VACUUM END` after the files were deleted; what became of each, in their order.
    pub(crate) fn finish(&self, outcomes: Vec<Deletion>, warnings: Vec<String>) -> VacuumDone {
        let mut done = VacuumDone { cutoff: self.cutoff, warnings, ..Default::default() };
        for ((path, size), outcome) in self.plan.files.iter().zip(outcomes) {
            match outcome {
                Deletion::Done => {
                    done.bytes += size;
                    done.files.push(path.to_string());
                }
                Deletion::Missing => {}
                Deletion::Failed(reason) => done.failed.push((path.to_string(), reason)),
            }
        }
        let end = Operation::new(OperationName::VacuumEnd)
            .with("status", if done.failed.is_empty() { "COMPLETED" } else { "FAILED" })
            .metric("numDeletedFiles", done.files.len() as u64)
            .metric("numVacuumedDirectories", self.plan.folders);
        let landed = self.snapshot.update().and_then(|newest| self.commit(&newest, end));
        match landed {
            Ok(landed) => {
                done.version = Some(landed.version);
                done.warnings.extend(landed.warnings);
            }
            Err(error) => {
                let warning = format!("`VACUUM END` was not committed: {error}");
                warn(std::slice::from_ref(&warning));
                done.warnings.push(warning);
            }
        }
        done
    }
}

/// Deletes files; what became of each.
pub(crate) fn delete_files(location: &Location, paths: &[ObjectPath]) -> Vec<Deletion> {
    let outcome = |outcome: Result<()>| match outcome {
        Ok(()) => Deletion::Done,
        Err(Error::NotFound { .. }) => Deletion::Missing,
        Err(error) => Deletion::Failed(error.to_string()),
    };
    location.store().delete_many(paths).into_iter().map(outcome).collect()
}
