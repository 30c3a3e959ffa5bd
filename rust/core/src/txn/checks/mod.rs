//! The rules that every commit keeps, each a typed error before anything is written to the log.

mod app_transactions;
mod append_only;
mod create;
mod domains;
mod features;
mod files;
mod partition_values;
mod table_schema;
mod universal_format;

use crate::actions::{Metadata, ObjectPath, Protocol};
use crate::conflict::Changes;
use crate::error::Result;

/// What is checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    /// Root of the table.
    pub(super) root: &'a ObjectPath,
    /// Protocol after the commit.
    pub(super) protocol: &'a Protocol,
    /// Metadata after the commit.
    pub(super) metadata: &'a Metadata,
    /// Protocol and metadata before it; none where it makes the table.
    pub(super) before: Option<(&'a Protocol, &'a Metadata)>,
    /// What it does.
    pub(super) changes: &'a Changes,
    /// Whether metadata of other formats may be left behind.
    pub(super) allows_stale_formats: bool,
    /// What only this operation may remove.
    pub(super) leave: &'a Leave,
}

/// What an operation may remove and no other operation may.
#[derive(Debug, Clone, Default)]
pub(super) struct Leave {
    /// All files of the table, removed or written again.
    pub(super) all_files: bool,
    /// Table features.
    pub(super) features: Vec<String>,
}

/// All of them.
///
/// # Errors
/// Those of each.
pub(super) fn all(subject: &Subject<'_>) -> Result<()> {
    create::check(subject)?;
    features::check(subject)?;
    universal_format::check(subject)?;
    table_schema::check(subject)?;
    append_only::check(subject)?;
    files::check(subject)?;
    partition_values::check(subject)?;
    app_transactions::check(subject)?;
    domains::check(subject)
}

#[cfg(test)]
mod testing;
