//! One history: it is made, and then everything that can be said of it is checked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use chrono::Utc;
use deltaic_core::actions::{Metadata, Protocol};
use deltaic_core::checkpoint::{read_checksum, validate_checksum};
use deltaic_core::replay::FilesRequest;
use deltaic_core::scan::{ReadRequest, read};
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::{Error, Result};
use deltaic_testkit::{Fault, FaultStore};

use crate::disk::{DAY, Disk};
use crate::oracle::{Rows, Told, rows_of_versions};
use crate::script::{Action, Phase, Script, Step};
use crate::stage::{Director, Stage};
use crate::work::{self, Done};

/// How often something was.
pub(crate) type Counts = BTreeMap<String, u64>;

fn count(counts: &mut Counts, what: String) {
    *counts.entry(what).or_default() += 1;
}

/// A history that was made.
pub(crate) struct History {
    disk: Disk,
    reported: Vec<(Step, Told)>,
    /// The oldest version whose data files must all be there.
    data_from: u64,
    pub(crate) counts: Counts,
}

impl History {
    /// Plays a script on an empty place. `overwrites` breaks the store: it forgets the condition of put-if-absent.
    ///
    /// # Errors
    /// A panic of a writer.
    pub(crate) fn play(script: &Script, overwrites: bool) -> Result<History, String> {
        let disk = Disk::new(overwrites);
        let store = FaultStore::new(Arc::new(disk.clone()));
        work::create(&disk.location(), &script.properties)
            .map_err(|e| format!("the table was not made: {e}"))?;
        let mut history = History { disk, reported: Vec::new(), data_from: 0, counts: Counts::new() };
        for (at, phase) in script.phases.iter().enumerate() {
            // whoever wrote before is long gone
            store.deliver();
            history.disk.age(phase.days * DAY);
            history.phase(phase, &store, script.seed ^ ((at as u64) << 32), script.faults)?;
        }
        store.deliver();
        let calls = store.calls();
        history.counts.insert("requests".to_owned(), calls.len() as u64);
        for call in calls {
            if let Some(fault) = call.fault {
                let fault = match fault {
                    Fault::Torn(_) => "Torn".to_owned(),
                    Fault::Late(_) => "Late".to_owned(),
                    Fault::StaleList(_) => "StaleList".to_owned(),
                    other => format!("{other:?}"),
                };
                count(&mut history.counts, format!("fault {:?} {fault}", call.op));
            }
        }
        Ok(history)
    }

    fn phase(&mut self, phase: &Phase, store: &FaultStore, seed: u64, faults: f64) -> Result<(), String> {
        let stage = Stage::new(seed, phase.writers.len());
        let reported = Mutex::new(Vec::new());
        let data_from = Mutex::new(self.data_from);
        let disk = &self.disk;
        let panicked = std::thread::scope(|scope| {
            let writers: Vec<_> = phase
                .writers
                .iter()
                .enumerate()
                .map(|(writer, steps)| {
                    let (stage, reported, data_from) = (stage.clone(), &reported, &data_from);
                    scope.spawn(move || {
                        let director = Director::new(stage.clone(), writer, seed, faults);
                        let _leave = Leave(&stage, writer);
                        stage.enter(writer);
                        for step in steps {
                            if let Action::VacuumAll { .. } = step.action {
                                if store.under_way() > 0 {
                                    continue;
                                }
                                *data_from.lock().unwrap() = disk.head();
                            }
                            let end = one(step, &director, store);
                            reported.lock().unwrap().push((step.clone(), end));
                        }
                    })
                })
                .collect();
            writers.into_iter().filter_map(|w| w.join().err()).next()
        });
        if let Some(panic) = panicked {
            let text = panic.downcast_ref::<String>().cloned();
            return Err(format!("a writer panicked: {}", text.unwrap_or_default()));
        }
        self.data_from = data_from.into_inner().unwrap();
        let reported = reported.into_inner().unwrap();
        for (step, reported) in &reported {
            let end = match reported {
                Told::Done(Done::Committed(_)) => "committed".to_owned(),
                Told::Done(Done::Nothing) => "done".to_owned(),
                Told::Failed(kind, _) => format!("failed {kind}"),
                Told::Doubt if step.crash_after.is_some() => "doubt or crashed".to_owned(),
                Told::Doubt => "doubt".to_owned(),
            };
            count(&mut self.counts, format!("{} {end}", step.action.name()));
        }
        self.reported.extend(reported);
        Ok(())
    }

    /// Checks everything: see the module.
    ///
    /// # Errors
    /// What is wrong.
    pub(crate) fn check(&self) -> Result<(), String> {
        if let Some(wrong) = self.disk.wrong().first() {
            return Err(wrong.clone());
        }
        let versions = rows_of_versions(&self.disk, &self.reported)?;
        let kept_from = self.kept_from();
        let bare = self.disk.commits_only();
        for (version, rows) in versions.iter().enumerate() {
            let version = version as u64;
            self.check_version(version, rows, version >= kept_from, &bare)
                .map_err(|e| format!("version {version} of {}: {e}", versions.len() - 1))?;
        }
        let newest = Snapshot::open(self.disk.location(), At::Latest).map_err(|e| e.to_string())?;
        match newest.version() + 1 == versions.len() as u64 {
            true => Ok(()),
            false => Err(format!("the newest version opens as {}", newest.version())),
        }
    }

    /// The oldest version that no cleanup may have taken: the newest one at the cutoff.
    fn kept_from(&self) -> u64 {
        let days = if self.reported.is_empty() { 0 } else { 30 };
        let now = Utc::now().timestamp_millis() - days * DAY;
        let cutoff = now - now.rem_euclid(DAY);
        let commits = self.disk.commits();
        commits.iter().filter(|(_, c)| c.modified <= cutoff).map(|(v, _)| *v).max().unwrap_or(0)
    }

    fn check_version(&self, version: u64, rows: &Rows, must_open: bool, bare: &Disk) -> Result<(), String> {
        let location = self.disk.location();
        let snapshot = match Snapshot::open(location.clone(), At::Version(version)) {
            Ok(snapshot) => snapshot,
            Err(error) if must_open => return Err(format!("it must open: {error}")),
            Err(Error::VersionNotFound { .. } | Error::LogGap { .. }) => return Ok(()),
            Err(error) => return Err(format!("it fails with an odd error: {error:?}")),
        };
        match rows_of(&snapshot) {
            Ok(found) if found == *rows => {}
            Ok(found) => return Err(format!("its rows are {found:?}, and should be {rows:?}")),
            Err(Error::DataFile { .. } | Error::NotFound { .. } | Error::DeletionVector { .. })
                if version < self.data_from => {}
            Err(error) => return Err(format!("it cannot be read: {error:?}")),
        }
        let replayed = Snapshot::open(Disk::through(Arc::new(bare.clone())), At::Version(version));
        let (ours, all) = (State::of(&snapshot), replayed.and_then(|s| State::of(&s)));
        let (ours, all) = (ours.map_err(|e| e.to_string())?, all.map_err(|e| e.to_string())?);
        if ours != all {
            return Err(format!("its state is {ours:?}, and replay of all commits gives {all:?}"));
        }
        if let Some(checksum) = read_checksum(&location, version).map_err(|e| e.to_string())? {
            let lies = validate_checksum(&snapshot, &checksum).map_err(|e| e.to_string())?;
            if !lies.is_empty() {
                return Err(format!("its checksum is wrong: {lies:?}"));
            }
        }
        Ok(())
    }

    /// What was asked and reported, in order.
    pub(crate) fn trace(&self) -> Vec<String> {
        self.reported.iter().map(|(step, reported)| format!("{step:?}: {reported:?}")).collect()
    }

    /// The same without what is random, texts of errors.
    pub(crate) fn outline(&self) -> Vec<String> {
        let line = |(step, reported): &(Step, Told)| match reported {
            Told::Failed(kind, _) => format!("{step:?}: failed {kind}"),
            reported => format!("{step:?}: {reported:?}"),
        };
        self.reported.iter().map(line).collect()
    }
}

/// A writer leaves the stage also when it panics.
struct Leave<'a>(&'a Stage, usize);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.leave(self.1);
    }
}

fn one(step: &Step, director: &Arc<Director>, store: &FaultStore) -> Told {
    use Action::{Cleanup, Restore, Vacuum, VacuumAll};
    let deletes = matches!(step.action, Cleanup | Restore(_) | Vacuum | VacuumAll { .. });
    director.begin(!deletes, step.crash_after);
    let result = work::run(step, &Disk::through(Arc::new(director.over(store))));
    match result {
        Ok(done) => Told::Done(done),
        Err(_) if director.crashed() => Told::Doubt,
        Err(Error::CommitStateUnknown { .. }) => Told::Doubt,
        Err(error) => Told::Failed(error.kind(), error.to_string()),
    }
}

fn rows_of(snapshot: &Snapshot) -> Result<Rows> {
    let mut rows = Rows::new();
    for batch in read(snapshot, ReadRequest::default())? {
        let batch = batch?;
        let (ids, values) =
            (batch.column(0).as_primitive::<Int64Type>(), batch.column(2).as_primitive::<Int64Type>());
        let partitions = batch.column(1).as_string::<i32>();
        for at in 0..batch.num_rows() {
            let row = (partitions.value(at).to_owned(), values.value(at));
            if rows.insert(ids.value(at), row).is_some() {
                let reason = format!("row {} is there twice", ids.value(at));
                return Err(Error::InvalidPredicate { predicate: String::new(), reason });
            }
        }
    }
    Ok(rows)
}

/// What replay gives.
#[derive(Debug, PartialEq)]
struct State {
    files: BTreeSet<String>,
    protocol: Protocol,
    metadata: Metadata,
    txns: Vec<String>,
}

impl State {
    fn of(snapshot: &Snapshot) -> Result<State> {
        let mut files = BTreeSet::new();
        for batch in snapshot.files(FilesRequest::default())? {
            for add in batch?.adds() {
                let add = add?;
                let vector = add.deletion_vector.as_ref().map(|v| v.unique_id());
                files.insert(format!("{} {:?} {:?} {}", add.path, add.partition_values, vector, add.size));
            }
        }
        let txns =
            snapshot.app_transactions()?.iter().map(|t| format!("{} {}", t.app_id, t.version)).collect();
        let (protocol, metadata) = (snapshot.protocol().clone(), snapshot.metadata().clone());
        Ok(State { files, protocol, metadata, txns })
    }
}
