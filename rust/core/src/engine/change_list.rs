//! The change data feed in the forms that Spark takes over, as [`file_list`] has those of a version.

use serde_json::{Value, json};

use super::file_list;
use super::spark_schema::schema_json;
use crate::cdf::{ChangeDataFeed, ChangeKind};
use crate::error::Result;
use crate::schema::{CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION, ColumnMappingMode};
use crate::sums::SaturatingSum;

/// What Spark must know before it plans: [`file_list::describe`] of the version with the schema, with the columns of
/// changes. Version and time are partition columns. `changeType` names the column of the change type of a row:
/// files have it, or a value for all of their rows, which is the last partition value of the block.
pub fn describe(changes: &ChangeDataFeed) -> Value {
    let snapshot = changes.snapshot();
    let mut facts = file_list::describe(snapshot);
    let within = changes.versions().map_or("none".to_owned(), |(start, end)| format!("{start}-{end}"));
    let identity = format!("{}@changes-{within}", facts["identity"].as_str().unwrap_or_default());
    let mode = snapshot.column_mapping();
    let columns = snapshot.partition_columns().iter().map(String::as_str);
    let columns: Vec<&str> = columns.chain([COMMIT_VERSION, COMMIT_TIMESTAMP]).collect();
    let physical = match mode {
        ColumnMappingMode::None => Value::Null,
        _ => schema_json(changes.schema(), Some(mode)),
    };
    let more = json!({
        "identity": identity,
        "schema": schema_json(changes.schema(), None),
        "physical": physical,
        "partitionColumns": columns,
        "deletionVectors": true,
        "changeType": CHANGE_TYPE,
    });
    if let (Some(facts), Value::Object(more)) = (facts.as_object_mut(), more) {
        facts.extend(more);
    }
    facts
}

/// As [`file_list::check_analyzed`], of changes.
///
/// # Errors
/// Those of [`file_list::check_analyzed`].
pub fn check_analyzed(changes: &ChangeDataFeed, analyzed: &str) -> Result<()> {
    file_list::check_fits(changes.snapshot(), &describe(changes), analyzed)
}

/// The files of the changes as the block that [`file_list`] describes. The partition values are those of the table's
/// columns, the version, the time, and what happened to all rows of the file, which is null for files that say it row by row. Beside it the bytes of
/// the files.
///
/// # Errors
/// Those of [`ChangeDataFeed::files`], and as [`file_list::encode`].
///
/// # Cost
/// As [`ChangeDataFeed::files`], and memory for all files.
pub fn encode(changes: &ChangeDataFeed) -> Result<(Vec<u8>, i64)> {
    let snapshot = changes.snapshot();
    let (schema, mode) = (snapshot.schema(), snapshot.column_mapping());
    let mut columns = schema.physical_names(snapshot.partition_columns(), mode);
    columns.extend([COMMIT_VERSION, COMMIT_TIMESTAMP, CHANGE_TYPE].map(String::from));
    let mut files = Vec::new();
    for commit in changes.files() {
        files.extend(commit?.into_iter().map(|change| change.file));
    }
    let bytes = files.iter().map(|file| file.size).saturating_sum();
    Ok((file_list::encode_valued(snapshot, &files, &columns)?, bytes))
}

/// The versions with what they are made of: `version`, `timestamp` (ms), `bytes`, and the number of files by kind,
/// `inserts`, `deletes` and `cdc`.
///
/// # Errors
/// Those of [`ChangeDataFeed::files`].
///
/// # Cost
/// As [`ChangeDataFeed::files`].
pub fn commits(changes: &ChangeDataFeed) -> impl Iterator<Item = Result<Value>> {
    let versions = changes.commits.clone();
    changes.timed_files().enumerate().map(move |(index, commit)| {
        let (timestamp, files) = commit?;
        let count = |kind| files.iter().filter(|file| file.kind == kind).count();
        Ok(json!({
            "version": versions[index].version,
            "timestamp": timestamp,
            "inserts": count(ChangeKind::Insert),
            "deletes": count(ChangeKind::Delete),
            "cdc": count(ChangeKind::Cdc),
            "bytes": files.iter().map(|file| file.file.size).saturating_sum(),
        }))
    })
}
