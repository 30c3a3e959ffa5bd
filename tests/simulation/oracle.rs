//! What the rows must be, from the order of the commits and what each was asked to do.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use deltaic_core::conflict::Winner;

use crate::disk::Disk;
use crate::script::{Action, Step};
use crate::work::Done;

/// Rows by id.
pub(crate) type Rows = BTreeMap<i64, (String, i64)>;

/// What a writer got as its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    Done(Done),
    /// It failed, and so is not in the log: the kind of the error, and its text.
    Failed(&'static str, String),
    /// Nobody can tell: the writer died, or its answer was that it is unknown.
    Doubt,
}

/// The history that the log tells: the rows of every version, checked against what writers asked for and got as their answers.
///
/// # Errors
/// What is wrong.
pub(crate) fn rows_of_versions(disk: &Disk, reported: &[(Step, Told)]) -> Result<Vec<Rows>, String> {
    let steps: HashMap<String, &Step> = reported.iter().map(|(step, _)| (step.tag(), step)).collect();
    let mut versions: Vec<Rows> = Vec::new();
    let mut at: BTreeMap<String, u64> = BTreeMap::new();
    let mut operations: Vec<String> = Vec::new();
    let mut app = 0;
    for (version, made) in disk.commits() {
        let commit = Winner::parse(version, "a commit", &made.body).map_err(|e| e.to_string())?;
        let info = commit.info().ok_or(format!("version {version} tells nothing of itself"))?;
        let operation = info.operation.clone().unwrap_or_default();
        let parameters = info.operation_parameters.clone().unwrap_or_default();
        let mut rows = versions.last().cloned().unwrap_or_default();
        let altered = || {
            let text = parameters.get("properties").map(ToString::to_string).unwrap_or_default();
            steps.keys().find(|tag| text.contains(&format!("{tag}\\\""))).cloned()
        };
        if let Some(tag) = info.user_metadata.clone().or_else(altered) {
            let step = steps.get(&tag).ok_or(format!("version {version}: nobody asked for {tag}"))?;
            apply(step, &mut rows).map_err(|e| format!("version {version}, {step:?}: {e}"))?;
            if let Some(before) = at.insert(tag.clone(), version) {
                return Err(format!("{tag} is in the log twice, as {before} and {version}"));
            }
        } else if operation == "RESTORE" {
            let restored =
                parameters.get("version").and_then(|v| v.to_string().trim_matches('"').parse().ok());
            let restored: usize = restored.ok_or(format!("version {version} restores {parameters:?}"))?;
            rows = versions.get(restored).cloned().ok_or(format!("version {version} restores {restored}"))?;
        } else if version > 0 && !operation.starts_with("VACUUM") {
            return Err(format!("version {version} is of nobody: {operation}"));
        }
        for txn in commit.txns() {
            if txn.version <= app {
                return Err(format!("version {version} records {} after {app}", txn.version));
            }
            app = txn.version;
        }
        operations.push(operation);
        versions.push(rows);
    }
    for (step, reported) in reported {
        check_reported(step, reported, at.get(&step.tag()).copied(), &operations, app)?;
    }
    Ok(versions)
}

fn check_reported(
    step: &Step,
    reported: &Told,
    at: Option<u64>,
    operations: &[String],
    app: i64,
) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("{step:?} got {reported:?}, and {what}"));
    match (reported, &step.action) {
        (Told::Doubt, _) => Ok(()),
        (Told::Done(Done::Committed(version)), Action::Restore(_)) => {
            match operations.get(*version as usize).map(String::as_str) {
                Some("RESTORE") => Ok(()),
                other => wrong(&format!("version {version} is {other:?}")),
            }
        }
        (Told::Done(Done::Committed(version)), _) if at == Some(*version) => Ok(()),
        (Told::Done(Done::Committed(_)), _) => wrong(&format!("it is at {at:?}")),
        (Told::Done(Done::Nothing), Action::Once(version)) if app < *version => {
            wrong("nobody recorded the version")
        }
        // of two tries, one may have been in doubt, and have landed
        (Told::Done(Done::Nothing) | Told::Failed(..), Action::Once(_)) => Ok(()),
        (Told::Done(Done::Nothing) | Told::Failed(..), _) => match at {
            None => Ok(()),
            Some(version) => wrong(&format!("it is version {version}")),
        },
    }
}

fn apply(step: &Step, rows: &mut Rows) -> Result<(), String> {
    let mut replaced = BTreeSet::new();
    match &step.action {
        Action::Append | Action::Once(_) => {}
        Action::Overwrite => rows.clear(),
        Action::ReplacePartition(p) => rows.retain(|_, row| row.0 != *p),
        Action::ReplaceBelow(value) => rows.retain(|_, row| row.1 >= *value),
        Action::Delete(value) | Action::Rewrite(value) => {
            rows.retain(|_, row| row.1 != *value);
            return Ok(());
        }
        Action::Update(value) => {
            rows.values_mut().filter(|row| row.1 == *value).for_each(|row| row.1 += 1);
            return Ok(());
        }
        Action::Optimize(_) | Action::Alter => return Ok(()),
        other => return Err(format!("{other:?} makes no such commit")),
    }
    for (id, partition, value) in &step.rows {
        if rows.insert(*id, (partition.clone(), *value)).is_some() || !replaced.insert(*id) {
            return Err(format!("row {id} is there twice"));
        }
    }
    Ok(())
}
