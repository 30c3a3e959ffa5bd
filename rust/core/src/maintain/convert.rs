//! From a folder of Parquet files to a table, without a copy.

use std::collections::BTreeMap;

use super::clone::{CloneOptions, Origin, Place, absolute, hadoop_uri};
use super::convert_files::{Found, data_files, inferred};
use super::convert_footers::Footers;
use super::convert_schema::of_name;
use crate::actions::{Add, Metadata, OperationName, Protocol};
use crate::error::{Error, Result, condition};
use crate::features::check_writer;
use crate::properties::TableProperty;
use crate::schema::{ColumnMappingMode, StructField, StructType, as_nullable};
use crate::snapshot::{At, Snapshot};
use crate::store::Location;
use crate::sums::SaturatingSum;
use crate::txn::{Operation, Transaction};
use crate::write::{WriteOptions, check_has_columns, new_table};

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

/// The table of a conversion that is made elsewhere, and refers to the files where they are.
#[derive(Debug, Clone)]
pub struct CloneTarget {
    /// Its place.
    pub location: Location,
    /// As of a clone of a table.
    pub options: CloneOptions,
}

/// How to convert.
#[derive(Debug, Clone)]
pub struct ConvertOptions {
    /// The partition columns.
    pub partitioning: Partitioning,
    /// Whether statistics of columns are taken from the footers. The number of rows always is.
    pub statistics: bool,
    /// Table properties.
    pub configuration: BTreeMap<String, String>,
    /// Text for `commitInfo.userMetadata`.
    pub user_metadata: Option<String>,
    /// The name by which a catalog knows the files, for the history.
    pub catalog_table: Option<String>,
    /// Where the table is made, if not in the folder of the files.
    pub clone_to: Option<CloneTarget>,
}

impl Default for ConvertOptions {
    fn default() -> Self {
        ConvertOptions {
            partitioning: Partitioning::default(),
            statistics: true,
            configuration: BTreeMap::new(),
            user_metadata: None,
            catalog_table: None,
            clone_to: None,
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
/// With [`ConvertOptions::clone_to`] the table is at another place, and the folder stays what it is. A vacuum of the table
/// never deletes its files.
///
/// # Errors
/// All before anything is written:
/// * [`Error::InvalidArgument`] where there are no files, where folders name other partition columns than are given, and for
///   properties that ask for column mapping, which the files do not have.
/// * [`Error::DataFile`] with the name of a file that is not Parquet, or holds a type that no table has.
/// * [`Error::SchemaMismatch`] with the file and column whose type is not that of other files.
/// * [`Error::InvalidSchema`] for a partition value that does not have its type, and names that a table cannot have.
/// * [`Error::TableAlreadyExists`] when another writer makes a table meanwhile.
/// * As [`shallow_clone`](super::shallow_clone) for the place of a clone; [`Error::InvalidArgument`] where its source is a
///   Delta table.
/// * As [`Transaction::commit`].
///
/// # Cost
/// A listing, and one or two requests for the footer of each file, several at a time.
pub fn convert(location: &Location, options: &ConvertOptions) -> Result<ConvertDone> {
    match Conversion::of(location, options)? {
        Planned::Table(version) => Ok(ConvertDone { version, existed: true, ..Default::default() }),
        Planned::Folder(conversion) => conversion.run(),
    }
}

/// What is at a place that is to be converted.
#[derive(Debug)]
pub(crate) enum Planned {
    /// A table already, at this version.
    Table(u64),
    /// Files.
    Folder(Box<Conversion>),
}

/// The conversion of files that were listed.
#[derive(Debug)]
pub(crate) struct Conversion {
    /// The folder.
    pub(crate) location: Location,
    options: ConvertOptions,
    files: Vec<Found>,
    /// How footers are read.
    pub(crate) footers: Footers,
}

impl Conversion {
    /// Lists the files.
    ///
    /// # Errors
    /// As [`convert`] before a file is read.
    pub(crate) fn of(location: &Location, options: &ConvertOptions) -> Result<Planned> {
        match Snapshot::open(location.clone(), At::Latest) {
            Ok(table) if options.clone_to.is_none() => return Ok(Planned::Table(table.version())),
            Ok(_) => {
                return Err(Error::InvalidArgument {
                    argument: location.root().to_string(),
                    reason: "it is a Delta table, and not files alone: clone the table".into(),
                });
            }
            Err(Error::TableNotFound { .. }) => {}
            Err(error) => return Err(error),
        }
        if let Some(to) = &options.clone_to {
            Place::of(&to.location, &to.options)?;
        }
        let files = data_files(location)?;
        let partitions = match &options.partitioning {
            Partitioning::Columns(columns) => as_nullable(columns),
            Partitioning::Inferred => inferred(location.root(), &files)?,
        };
        let configuration = options.configuration.clone();
        let footers = Footers { partitions, configuration, statistics: options.statistics };
        let (location, options) = (location.clone(), options.clone());
        Ok(Planned::Folder(Box::new(Conversion { location, options, files, footers })))
    }

    /// How many files there are.
    pub(crate) fn files(&self) -> usize {
        self.files.len()
    }

    /// The files in parts that are read at once.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &[Found]> {
        self.files.chunks(CHUNK)
    }

    /// Does it in this process.
    ///
    /// # Errors
    /// As [`convert`].
    pub(crate) fn run(&self) -> Result<ConvertDone> {
        let bytes = self.files.iter().map(|file| file.meta.size).saturating_sum();
        self.location.progress().expect(self.files.len() as u64, bytes);
        let (mut schema, mut adds) = (None, Vec::with_capacity(self.files.len()));
        for part in self.parts() {
            let read = self.footers.read(&self.location, part, schema.as_ref())?;
            adds.extend(read.adds);
            schema = Some(read.schema);
        }
        self.commit(adds, schema.unwrap_or_default())
    }

    /// Commits the files, in their order, with the schema of all of them.
    ///
    /// # Errors
    /// As [`convert`].
    pub(crate) fn commit(&self, adds: Vec<(Add, u64)>, schema: StructType) -> Result<ConvertDone> {
        let (options, partitions) = (&self.options, &self.footers.partitions);
        let schema = with_partitions(schema, partitions);
        let (protocol, metadata) = table_of(&self.location, &schema, partitions, options)?;
        if let Some(to) = &options.clone_to {
            return self.clone_to(to, &protocol, &metadata, adds);
        }
        let names: Vec<String> = partitions.fields.iter().map(|f| f.name.clone()).collect();
        let mut operation = Operation::new(OperationName::Convert)
            .with_json("numFiles", adds.len() as u64)
            .with_encoded("partitionedBy", names)
            .with_json("collectStats", options.statistics)
            .with("sourceFormat", "parquet")
            .metric("numConvertedFiles", adds.len() as u64);
        if let Some(name) = &options.catalog_table {
            operation = operation.with("catalogTable", name);
        }
        let mut done = ConvertDone { files: adds.len() as u64, ..Default::default() };
        let mut txn = Transaction::create(&self.location, protocol, metadata, operation);
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

    /// Commits the files to a table elsewhere, which has this protocol and metadata.
    fn clone_to(
        &self,
        to: &CloneTarget,
        protocol: &Protocol,
        metadata: &Metadata,
        adds: Vec<(Add, u64)>,
    ) -> Result<ConvertDone> {
        let from = &self.location;
        let place = Place::of(&to.location, &to.options)?;
        let (protocol, metadata) = place.definition(protocol, metadata)?;
        let rows = adds.iter().map(|(_, rows)| *rows).saturating_sum();
        let own = from.root() == to.location.root();
        let stated = |(add, _)| if own { Ok(add) } else { absolute(add, from) };
        let adds = adds.into_iter().map(stated).collect::<Result<Vec<_>>>()?;
        let named = to.options.source_name.clone();
        let name = named.unwrap_or_else(|| format!("parquet.`{}`", hadoop_uri(from.root())));
        let done =
            place.commit(protocol, metadata, adds, Origin { name, version: -1, domains: Vec::new() })?;
        Ok(ConvertDone {
            version: done.version,
            existed: false,
            files: done.files,
            bytes: done.bytes,
            rows,
            warnings: done.warnings,
        })
    }
}

/// Protocol and metadata of the table.
fn table_of(
    location: &Location,
    schema: &StructType,
    partitions: &StructType,
    options: &ConvertOptions,
) -> Result<(Protocol, Metadata)> {
    check_has_columns(schema)?;
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
