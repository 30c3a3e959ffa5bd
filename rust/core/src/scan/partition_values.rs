//! The partition values of files, as columns.

use std::collections::BTreeSet;

use arrow::array::{Array, ArrayRef};
use arrow::compute::concat;

use crate::actions::PartitionValues;
use crate::error::{Error, Result};
use crate::partition;
use crate::replay::FilesRequest;
use crate::schema::DataType;
use crate::snapshot::Snapshot;

/// The different partition values of all files, in the order of their texts.
///
/// # Errors
/// As [`Snapshot::files`].
pub fn distinct_partitions(snapshot: &Snapshot) -> Result<Vec<PartitionValues>> {
    let mut all = BTreeSet::new();
    for batch in snapshot.files(FilesRequest::default())? {
        let batch = batch?;
        all.extend((0..batch.num_files()).map(|file| batch.values(file)));
    }
    Ok(all.into_iter().collect())
}

/// The typed values of each partition column, by its logical name: one row for each of `values`.
///
/// # Errors
/// [`Error::InvalidSchema`] for a value that cannot be read.
pub fn partition_columns<'a>(
    snapshot: &Snapshot,
    values: impl Iterator<Item = &'a PartitionValues> + Clone,
) -> Result<Vec<(String, ArrayRef)>> {
    let schema = snapshot.schema();
    let physical = schema.physical_names(snapshot.partition_columns(), snapshot.column_mapping());
    let columns = snapshot.partition_columns().iter().zip(&physical).map(|(name, physical)| {
        let data_type = schema.field(name).map_or(&DataType::String, |f| &f.data_type);
        let texts = values.clone().map(|v| v.get(physical).and_then(Option::as_deref));
        Ok((name.clone(), column(name, texts, data_type)?))
    });
    columns.collect()
}

fn column<'a>(
    name: &str,
    texts: impl Iterator<Item = Option<&'a str>>,
    data_type: &DataType,
) -> Result<ArrayRef> {
    let parsed = texts.map(|text| partition::parse(name, text, data_type)).collect::<Result<Vec<_>>>()?;
    if parsed.is_empty() {
        return Ok(partition::parse(name, None, data_type)?.slice(0, 0));
    }
    let parsed: Vec<&dyn Array> = parsed.iter().map(AsRef::as_ref).collect();
    concat(&parsed).map_err(|e| Error::arrow("partition values", e))
}
