//! The definition of a table after a write that may change it.

use super::definition::definition;
use super::mode::{WriteMode, WriteOptions};
use crate::actions::{DomainMetadata, Metadata, Protocol};
use crate::alter::{cluster_by, merge_schema, overwrite_schema};
use crate::error::{Error, Result, condition};
use crate::schema::{StructType, as_nullable};
use crate::snapshot::Snapshot;

/// Protocol and metadata of the table that the data is written into: its own, or those that the options ask for, and the
/// action that ends the clustering of a table whose columns are replaced.
///
/// # Errors
/// As [`merge_schema`] and [`overwrite_schema`]; [`Error::InvalidArgument`] for options that contradict each other.
pub(super) fn evolved(
    snapshot: &Snapshot,
    data: &StructType,
    options: &WriteOptions,
) -> Result<(Protocol, Metadata, Option<DomainMetadata>)> {
    let mut unclustered = None;
    let own = (snapshot.protocol().clone(), snapshot.metadata().clone());
    let new = if options.replaces_schema() {
        if data.fields.is_empty() {
            let error =
                Error::InvalidSchema { reason: "no columns would be left: the rows have none".into() };
            return Err(error.of_condition(&condition::CANNOT_WRITE_EMPTY_SCHEMA_TABLE_NO_COLUMNS));
        }
        let data = if options.all_nullable { as_nullable(data) } else { data.clone() };
        let table = definition(snapshot)?;
        if !table.clustering.is_empty() {
            unclustered = Some(cluster_by(&table, &[])?.1);
        }
        let new = overwrite_schema(&table, &data, &options.partition_by)?;
        let partitioned = [&own.1, &new.metadata].iter().any(|m| !m.partition_columns.is_empty());
        if options.dynamic_partitions && partitioned {
            // files of partitions that stay would not have the new columns
            return Err(Error::InvalidArgument {
                argument: "overwriteSchema".into(),
                reason: "needs an overwrite of the whole table, not of some partitions".into(),
            }
            .of_condition(&condition::OVERWRITE_SCHEMA_WITH_DYNAMIC_PARTITION_OVERWRITE));
        }
        new
    } else if options.merge_schema && matches!(options.mode, WriteMode::Append | WriteMode::Overwrite) {
        merge_schema(&definition(snapshot)?, data)?
    } else {
        return Ok((own.0, own.1, None));
    };
    let new = (new.protocol, new.metadata);
    if new != own || unclustered.is_some() {
        check_no_definition(options, "change the columns of a table")?;
    }
    Ok((new.0, new.1, unclustered))
}

/// Refuses what a write that changes no rows cannot do.
///
/// # Errors
/// [`Error::InvalidArgument`] that names `what`.
pub(super) fn check_no_definition(options: &WriteOptions, what: &str) -> Result<()> {
    if options.data_change {
        return Ok(());
    }
    let reason = format!("`false` says that no rows change, so this write cannot {what}");
    Err(Error::InvalidArgument { argument: "dataChange".into(), reason }
        .named(&condition::DATA_CHANGE_FALSE, [("op", what)]))
}
