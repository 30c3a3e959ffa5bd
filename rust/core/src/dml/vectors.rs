//! Rows that are marked as deleted in the files where they are.

use std::collections::BTreeMap;

use serde_json::value::{RawValue, to_raw_value};

use super::attempt::DmlAttempt;
use super::touched::Touched;
use crate::actions::Add;
use crate::conflict::Vectors;
use crate::error::{Error, Result};
use crate::stats::num_records;
use crate::txn::Transaction;

/// Numbers of removed files and of new and removed vectors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Marked {
    /// Files that were removed, because no row of them is left.
    pub(crate) removed_files: u64,
    /// Their bytes.
    pub(crate) removed_bytes: u64,
    /// Files that got their first vector.
    pub(crate) added: u64,
    /// Vectors that were removed with their file.
    pub(crate) removed: u64,
    /// Vectors that replaced another one.
    pub(crate) updated: u64,
}

/// Stages the deletion of the matching rows: a vector that includes the old one, or the removal of a file without
/// remaining rows.
///
/// # Errors
/// Errors of the store for files of vectors.
pub(crate) fn mark(attempt: &DmlAttempt, txn: &mut Transaction, touched: &[Touched]) -> Result<Marked> {
    let mut done = Marked::default();
    let (whole, some): (Vec<&Touched>, Vec<&Touched>) = touched.iter().partition(|t| t.is_whole());
    for file in whole {
        done.removed_files += 1;
        done.removed_bytes = done.removed_bytes.saturating_add(file.add.size.unsigned_abs());
        done.removed += u64::from(file.add.deletion_vector.is_some());
        txn.remove_file(&file.add, true);
    }
    let vectors: Vec<_> = some.iter().map(|file| file.gone()).collect();
    for (file, vector) in some.into_iter().zip(attempt.vectors.store_all(&vectors)?) {
        match file.add.deletion_vector {
            Some(_) => done.updated += 1,
            None => done.added += 1,
        }
        txn.replace_vector(&counted(&file.add, file.rows)?, vector);
    }
    Ok(done)
}

/// The file with the number of its rows in its statistics: a file with a vector must have it (PROTOCOL.md, "Writer
/// Requirements for Deletion Vectors").
fn counted(add: &Add, rows: u64) -> Result<Add> {
    if num_records(add).is_some() {
        return Ok(add.clone());
    }
    let failed = |e: serde_json::Error| Error::DataFile { path: add.path.to_string(), reason: e.to_string() };
    let mut stats: BTreeMap<String, Box<RawValue>> =
        add.stats.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    stats.insert("numRecords".to_owned(), to_raw_value(&rows).map_err(failed)?);
    Ok(Add { stats: Some(serde_json::to_string(&stats).map_err(failed)?), ..add.clone() })
}
