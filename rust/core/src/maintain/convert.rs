//! From a folder of Parquet files to a table, without a copy.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::convert_files::{Found, data_files, inferred, partition_values};
use super::convert_schema::merge;
use crate::actions::{Add, FilePath, Metadata, OperationName, Protocol};
use crate::alter::SetOptions;
use crate::alter::properties::for_new_table;
use crate::error::{Error, Result, condition};
use crate::features::check_writer;
use crate::properties::TableProperty;
use crate::schema::{ColumnMappingMode, DataType, StructField, StructType, as_nullable};
use crate::snapshot::{At, Snapshot};
use crate::stats::StatsColumns;
use crate::store::{Location, runtime};
use crate::txn::{Operation, Transaction};
use crate::write::{WriteOptions, footer_schema, footer_statistics, new_table, read_footer};

/// Files whose footers are in memory at once.
const CHUNK: usize = 256;

/// How the files of a folder are partitioned.
#[derive(Debug, Clone, PartialEq)]
pub enum Partitioning {
    /// By these columns, which the folders name in this order; not at all where there are none.
    Columns(StructType),
    /// As the folders say: integers, dates and timestamps where every value reads so, and else text.
    Inferred,
}

impl Default for Partitioning {
    /// Not partitioned: folders that name columns are refused.
    fn default() -> Self {
        Partitioning::Columns(StructType::default())
    }
}

/// How to convert.
#[derive(Debug, Clone, PartialEq)]
pub struct ConvertOptions {
    /// The partition columns.
    pub partitioning: Partitioning,
    /// Whether statistics of columns are taken from the footers. The number of rows always is.
    pub statistics: bool,
    /// Table properties.
    pub configuration: BTreeMap<String, String>,
    /// Text for `commitInfo.userMetadata`.
    pub user_metadata: Option<String>,
}

impl Default for ConvertOptions {
    fn default() -> Self {
        ConvertOptions {
            partitioning: Partitioning::default(),
            statistics: true,
            configuration: BTreeMap::new(),
            user_metadata: None,
        }
    }
}

/// What a conversion did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConvertDone {
    /// Version of the table: 0, or the newest one where there was a table already.
    pub version: u64,
    /// Whether there was a table already, so that nothing was done.
    pub existed: bool,
    /// Files of the new table.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their rows.
    pub rows: u64,
    /// What failed after the commit. The commit is not undone.
    pub warnings: Vec<String>,
}

/// Makes a table of the Parquet files of a folder, in one commit: before it there is no table, and after it all files are
/// in it. No data is read, copied or changed. Where there is a Delta table already, nothing is done.
///
/// All columns can be null. Files need not have the same columns; those that one lacks are null in its rows. Hidden files
/// (`_…`, `.…`) are left out. Instants in the names of folders are taken to be in UTC.
///
/// # Errors
/// All before anything is written:
/// * [`Error::InvalidArgument`] where there are no files, where folders name other partition columns than are given, and for
///   properties that ask for column mapping, which the files do not have.
/// * [`Error::DataFile`] with the name of a file that is not Parquet, or holds a type that no table has.
/// * [`Error::SchemaMismatch`] with the file and column whose type is not that of other files.
/// * [`Error::InvalidSchema`] for a partition value that does not have its type, and names that a table cannot have.
/// * [`Error::TableAlreadyExists`] when another writer makes a table meanwhile.
/// * As [`Transaction::commit`].
///
/// # Cost
/// A listing, and one or two requests for the footer of each file, several at a time.
pub fn convert(location: &Location, options: &ConvertOptions) -> Result<ConvertDone> {
    match Snapshot::open(location.clone(), At::Latest) {
        Ok(table) => {
            return Ok(ConvertDone { version: table.version(), existed: true, ..Default::default() });
        }
        Err(Error::TableNotFound { .. }) => {}
        Err(error) => return Err(error),
    }
    let files = data_files(location)?;
    let partitions = match &options.partitioning {
        Partitioning::Columns(columns) => as_nullable(columns),
        Partitioning::Inferred => inferred(location.root(), &files)?,
    };
    let (adds, schema) = read_files(location, &files, &partitions, options)?;
    let (protocol, metadata) = table_of(location, &schema, &partitions, options)?;
    let names: Vec<String> = partitions.fields.iter().map(|f| f.name.clone()).collect();
    let operation = Operation::new(OperationName::Convert)
        .with_json("numFiles", adds.len() as u64)
        .with_encoded("partitionedBy", names)
        .with_json("collectStats", options.statistics)
        .with("sourceFormat", "parquet")
        .metric("numConvertedFiles", adds.len() as u64);
    let mut done = ConvertDone { files: adds.len() as u64, ..Default::default() };
    let mut txn = Transaction::create(location, protocol, metadata, operation);
    txn.set_user_metadata(options.user_metadata.clone());
    for (add, rows) in adds {
        done.bytes += add.size.unsigned_abs();
        done.rows += rows;
        txn.add(add);
    }
    let landed = txn.commit()?;
    done.version = landed.version;
    done.warnings = landed.warnings;
    Ok(done)
}

/// Protocol and metadata of the table.
fn table_of(
    location: &Location,
    schema: &StructType,
    partitions: &StructType,
    options: &ConvertOptions,
) -> Result<(Protocol, Metadata)> {
    let (protocol, metadata) = new_table(
        schema,
        &WriteOptions {
            partition_by: partitions.fields.iter().map(|f| f.name.clone()).collect(),
            configuration: options.configuration.clone(),
            ..Default::default()
        },
    )?;
    let mode = metadata.column_mapping();
    if mode != ColumnMappingMode::None {
        let said = [("config", TableProperty::ColumnMappingMode.name()), ("mode", mode.name())];
        return Err(Error::InvalidArgument {
            argument: "configuration".into(),
            reason:
                "column mapping cannot be converted to, as the files have neither its names nor its ids; set \
                     `delta.columnMapping.mode` afterwards"
                    .into(),
        }
        .named(&condition::CONVERSION_UNSUPPORTED_COLUMN_MAPPING, said));
    }
    check_writer(&location.root().to_string(), &protocol)?;
    Ok((protocol, metadata))
}

/// The actions of the files with their numbers of rows, and the schema of the table. Statistics of a chunk cover the
/// columns that are known so far: these files have none of the later ones.
fn read_files(
    location: &Location,
    files: &[Found],
    partitions: &StructType,
    options: &ConvertOptions,
) -> Result<(Vec<(Add, u64)>, StructType)> {
    let root = location.root();
    let mut schema: Option<StructType> = None;
    let mut adds = Vec::with_capacity(files.len());
    for chunk in files.chunks(CHUNK) {
        let footers: Vec<_> = runtime::pool()?.install(|| {
            let read = |file: &Found| {
                location.cancel().check()?;
                let path = root.join(&file.meta.name);
                let footer = read_footer(location.store().as_ref(), &path, file.meta.size)?;
                Ok((footer_schema(&footer, &path.to_string())?, footer))
            };
            chunk.par_iter().map(read).collect::<Result<_>>()
        })?;
        for (file, (columns, _)) in chunk.iter().zip(&footers) {
            schema = Some(match &schema {
                None => columns.clone(),
                Some(seen) => merge(seen, columns).map_err(|reason| Error::SchemaMismatch {
                    path: root.to_string(),
                    reason: format!(
                        "the files have no common schema: {}: {reason}",
                        root.join(&file.meta.name)
                    ),
                })?,
            });
        }
        let data = without(schema.as_ref().unwrap_or(&StructType::default()), partitions);
        let (configuration, _) = for_new_table(&options.configuration, SetOptions::default())?;
        let metadata = Metadata { configuration, ..Default::default() };
        let has_vectors = metadata.is_true(TableProperty::EnableDeletionVectors);
        let mut columns = StatsColumns::of(&data, &metadata, ColumnMappingMode::None, has_vectors)?;
        if !options.statistics {
            columns = StatsColumns::default();
        }
        for (file, (_, footer)) in chunk.iter().zip(&footers) {
            let rows: u64 = footer.row_groups().iter().map(|g| g.num_rows().unsigned_abs()).sum();
            let add = Add {
                path: FilePath::encode(&file.meta.name),
                partition_values: partition_values(root, file, partitions)?,
                size: i64::try_from(file.meta.size).unwrap_or(i64::MAX),
                modification_time: file.meta.modified,
                data_change: true,
                stats: Some(footer_statistics(footer, &columns)),
                ..Default::default()
            };
            adds.push((add, rows));
        }
    }
    Ok((adds, with_partitions(schema.unwrap_or_default(), partitions)))
}

fn without(schema: &StructType, partitions: &StructType) -> StructType {
    let fields = schema.fields.iter().filter(|f| of_name(partitions, &f.name).is_none());
    StructType { fields: fields.filter(|f| f.data_type != DataType::Void).cloned().collect() }
}

fn of_name<'a>(schema: &'a StructType, name: &str) -> Option<&'a StructField> {
    schema.fields.iter().find(|f| f.name.to_lowercase() == name.to_lowercase())
}

/// Columns of the files, then those that only folders have. What both have is of the folders, in its place among the columns
/// of the files.
fn with_partitions(schema: StructType, partitions: &StructType) -> StructType {
    let mut fields: Vec<StructField> = schema
        .fields
        .into_iter()
        .map(|field| of_name(partitions, &field.name).cloned().unwrap_or(field))
        .collect();
    for field in &partitions.fields {
        if !fields.iter().any(|f| f.name == field.name) {
            fields.push(field.clone());
        }
    }
    StructType { fields }
}
