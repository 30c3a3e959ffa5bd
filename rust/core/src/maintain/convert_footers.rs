//! The footers of files that become a table: one schema, and the action of each file.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::convert_files::{Found, partition_values};
use super::convert_schema::{merge, of_name};
use crate::actions::{Add, FilePath, Metadata};
use crate::alter::SetOptions;
use crate::alter::properties::for_new_table;
use crate::error::{Error, Result, condition};
use crate::partition::partition_folder_values;
use crate::properties::TableProperty;
use crate::schema::{ColumnMappingMode, DataType, StructType};
use crate::stats::StatsColumns;
use crate::store::{FileMeta, Location, runtime};
use crate::write::{footer_schema, footer_statistics, read_footer};

/// How footers are read.
#[derive(Debug, Clone)]
pub(crate) struct Footers {
    pub(crate) partitions: StructType,
    /// Table properties.
    pub(crate) configuration: BTreeMap<String, String>,
    /// Whether statistics of columns are taken.
    pub(crate) statistics: bool,
}

/// What was read of some files.
#[derive(Debug)]
pub(crate) struct Read {
    /// The columns of the files before and of these.
    pub(crate) schema: StructType,
    /// Those of these alone.
    pub(crate) own: StructType,
    /// The actions with their numbers of rows.
    pub(crate) adds: Vec<(Add, u64)>,
}

/// A file that travels: its name, bytes, and when it was changed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FoundFile(String, u64, i64);

impl From<&Found> for FoundFile {
    fn from(file: &Found) -> Self {
        FoundFile(file.meta.name.clone(), file.meta.size, file.meta.modified)
    }
}

impl From<FoundFile> for Found {
    fn from(FoundFile(name, size, modified): FoundFile) -> Self {
        Found { values: partition_folder_values(&name), meta: FileMeta { name, size, modified } }
    }
}

impl Footers {
    /// Reads files, several at a time, after files with the columns `before`. Statistics cover the columns that are known so
    /// far: these files have none of the later ones.
    ///
    /// # Errors
    /// Those of a conversion for a file.
    pub(crate) fn read(
        &self,
        location: &Location,
        files: &[Found],
        before: Option<&StructType>,
    ) -> Result<Read> {
        let root = location.root();
        let footers: Vec<_> = runtime::pool()?.install(|| {
            let read = |file: &Found| {
                location.cancel().check()?;
                let path = root.join(&file.meta.name);
                let footer = read_footer(location.store().as_ref(), &path, file.meta.size).map_err(
                    |error| match error {
                        Error::DataFile { .. } => error.of_condition(&condition::FAILED_READ_FILE_FOOTER),
                        error => error,
                    },
                )?;
                let columns = footer_schema(&footer, &path.to_string())?;
                location.progress().done(1, file.meta.size);
                Ok((columns, footer))
            };
            files.par_iter().map(read).collect::<Result<_>>()
        })?;
        let (mut schema, mut own) = (before.cloned(), None);
        for (file, (columns, _)) in files.iter().zip(&footers) {
            let joined = |seen: Option<StructType>| match seen {
                None => Ok(columns.clone()),
                Some(seen) => merge(&seen, columns).map_err(|reason| Error::SchemaMismatch {
                    path: root.to_string(),
                    reason: format!(
                        "the files have no common schema: {}: {reason}",
                        root.join(&file.meta.name)
                    ),
                }),
            };
            schema = Some(joined(schema)?);
            own = Some(joined(own)?);
        }
        let (schema, own) = (schema.unwrap_or_default(), own.unwrap_or_default());
        let columns = self.columns(&schema)?;
        let mut adds = Vec::with_capacity(files.len());
        for (file, (_, footer)) in files.iter().zip(&footers) {
            let rows: u64 = footer.row_groups().iter().map(|g| g.num_rows().unsigned_abs()).sum();
            let add = Add {
                path: FilePath::encode(&file.meta.name),
                partition_values: partition_values(root, file, &self.partitions)?,
                size: i64::try_from(file.meta.size).unwrap_or(i64::MAX),
                modification_time: file.meta.modified,
                data_change: true,
                stats: Some(footer_statistics(footer, &columns)),
                ..Default::default()
            };
            adds.push((add, rows));
        }
        Ok(Read { schema, own, adds })
    }

    /// The columns of which statistics are taken, of files with these columns.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for properties that make no sense.
    pub(crate) fn columns(&self, schema: &StructType) -> Result<StatsColumns> {
        let (configuration, _) = for_new_table(&self.configuration, SetOptions::default())?;
        let metadata = Metadata { configuration, ..Default::default() };
        let has_vectors = metadata.is_true(TableProperty::EnableDeletionVectors);
        let data = without(schema, &self.partitions);
        let columns = StatsColumns::of(&data, &metadata, ColumnMappingMode::None, has_vectors)?;
        Ok(if self.statistics { columns } else { StatsColumns::default() })
    }
}

fn without(schema: &StructType, partitions: &StructType) -> StructType {
    let fields = schema.fields.iter().filter(|f| of_name(partitions, &f.name).is_none());
    StructType { fields: fields.filter(|f| f.data_type != DataType::Void).cloned().collect() }
}
