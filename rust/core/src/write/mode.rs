use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::compaction_rules::CompactionRules;
use super::file_settings::ParquetOptions;
use crate::alter::SetOptions;
use crate::error::{Error, Result};

/// What a write does when a table is, or is not, there. Every mode creates a table where there is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum WriteMode {
    /// Adds the rows.
    Append,
    /// Refuses with [`Error::TableAlreadyExists`]. Spark's own default.
    #[default]
    ErrorIfExists,
    /// Does nothing.
    Ignore,
    /// Replaces all rows, or those that [`WriteOptions::replace_where`] or [`WriteOptions::dynamic_partitions`] say.
    Overwrite,
}

impl WriteMode {
    /// From its name in any case: `append`, `error`, `errorifexists`, `default`, `ignore`, `overwrite`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for any other name.
    pub fn parse(name: &str) -> Result<Self> {
        match name.to_lowercase().as_str() {
            "append" => Ok(WriteMode::Append),
            "error" | "errorifexists" | "default" => Ok(WriteMode::ErrorIfExists),
            "ignore" => Ok(WriteMode::Ignore),
            "overwrite" => Ok(WriteMode::Overwrite),
            _ => Err(Error::InvalidArgument {
                argument: "mode".into(),
                reason: format!("`{name}` is none of append, overwrite, errorifexists, ignore"),
            }),
        }
    }

    /// The name that Spark and the log use.
    pub fn name(self) -> &'static str {
        match self {
            WriteMode::Append => "Append",
            WriteMode::ErrorIfExists => "ErrorIfExists",
            WriteMode::Ignore => "Ignore",
            WriteMode::Overwrite => "Overwrite",
        }
    }
}

/// How to write.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WriteOptions {
    /// What to do if the table exists.
    pub mode: WriteMode,
    /// In the mode [`WriteMode::Overwrite`]: the rows that are replaced, instead of all. The new rows must match, too. On
    /// partition columns whole files go; on other columns rows go as in [`crate::operations::delete`], and the others keep their
    /// row ids. A condition in Spark SQL.
    pub replace_where: Option<String>,
    /// In the mode [`WriteMode::Overwrite`]: replaces the partitions that the new rows are in, and no others.
    pub dynamic_partitions: bool,
    /// Adds the columns of the data that the table does not have, at any depth, and widens types where the table allows it:
    /// [`crate::alter::merge_schema`].
    pub merge_schema: bool,
    /// In the mode [`WriteMode::Overwrite`] of all rows: the table gets the columns and the partition columns of the write.
    /// With [`WriteOptions::replace_where`] it is ignored, as in delta-spark.
    pub overwrite_schema: bool,
    /// Whether rows that [`WriteOptions::replace_where`] would not replace are refused.
    pub check_replaced: bool,
    /// Whether an engine finds the rows of [`WriteOptions::replace_where`], removes them
    /// ([`crate::engine::DistributedDml::of_write`]) and checks the new ones. The condition may be one that only it knows, and
    /// is not looked at here.
    pub engine_replaces: bool,
    /// Whether rows change. `false` states that the same rows are only rearranged, so that streams skip the commit;
    /// nobody checks it.
    pub data_change: bool,
    /// Whether the source of the rows fills the columns that the table computes, and has checked the rows by the
    /// table's rules ([`super::RowRules`]): they are written as they come.
    pub rules_held: bool,
    /// Whether data that lack a partition column of the table are refused. Otherwise it is null, as where INSERT does not
    /// name a column.
    pub whole_partitions: bool,
    /// Partition columns. They are set at creation; on an existing table they may be left out, and must be its own.
    pub partition_by: Vec<String>,
    /// Table properties for creation. On an existing table they must be its own, or
    /// [`WriteOptions::creation_only`].
    pub configuration: BTreeMap<String, String>,
    /// On an existing table only the names and values of [`WriteOptions::configuration`] are checked, and nothing is
    /// set: Spark's writers give the same options to the first write and to each later one.
    pub creation_only: bool,
    /// Table properties for creation that [`WriteOptions::configuration`] does not name. They are ignored for an
    /// existing table. With `delta.ignoreProtocolDefaults` in either, those that are about the protocol are left out.
    pub defaults: BTreeMap<String, String>,
    /// Which properties are taken.
    pub properties: SetOptions,
    /// Name of the table, for creation.
    pub name: Option<String>,
    /// Description of the table, for creation.
    pub description: Option<String>,
    /// Makes every column nullable at creation, as Spark's writer does.
    pub all_nullable: bool,
    /// Size in bytes at which a data file is closed and the next begun.
    pub target_file_size: u64,
    /// Rows at which a data file is closed and the next begun.
    pub max_rows_per_file: Option<u64>,
    /// Whether the rows of a partition are gathered before they are written; `None` leaves it to
    /// `delta.autoOptimize.optimizeWrite` of the table.
    pub optimize_write: Option<bool>,
    /// Whether rows of files may be marked as deleted where they are, where the table has deletion vectors.
    pub vectors: bool,
    /// Whether small files are compacted after the commit; `None` leaves it to `delta.autoOptimize.autoCompact` of the
    /// table.
    pub auto_compact: Option<bool>,
    /// When they are.
    pub compaction: CompactionRules,
    /// Compression of data files; none takes `delta.parquet.compression.codec` of the table, or snappy.
    pub compression: Option<String>,
    /// How else data files are encoded.
    pub parquet: ParquetOptions,
    /// What the history shows of the write besides its options: parameters by their names.
    pub shown: BTreeMap<String, String>,
    /// Text for `commitInfo.userMetadata`.
    pub user_metadata: Option<String>,
    /// Application id and its version: a version that the table has already recorded, or an older one, is not written
    /// again.
    pub app_transaction: Option<(String, i64)>,
    /// Engine that `commitInfo.engineInfo` names before deltaic itself, such as `Apache-Spark/4.1.4`.
    pub engine: Option<String>,
    /// How long a commit that loses races tries again.
    pub commit_budget: Duration,
    /// The write says what the table is, too. [`WriteOptions::mode`] follows from it.
    pub defines: Option<Defines>,
    /// The version of the table that the rows were read from, which the write is planned for: it loses against later
    /// commits that changed what it read. None is the newest one.
    pub at_version: Option<u64>,
    /// The write is a batch of a stream, which the history shows: [`WriteOptions::app_transaction`] names the query and the
    /// batch.
    pub streams: bool,
    /// The write is an overwrite by `saveAsTable`, which the history shows, and whether a catalog owns the files.
    pub saved_as_table: Option<bool>,
}

/// What happens to an existing table, and at a location without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DefineMode {
    /// Makes a table; [`Error::TableAlreadyExists`] where there is one.
    Create,
    /// Creates a table, or leaves an existing one alone.
    CreateIfNotExists,
    /// Replaces a table; [`Error::TableNotFound`] where there is none.
    Replace,
    /// Creates a table, or replaces the existing one.
    CreateOrReplace,
}

impl DefineMode {
    /// From its name: `create`, `create_if_not_exists`, `replace`, `create_or_replace`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for any other name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "create" => Ok(DefineMode::Create),
            "create_if_not_exists" => Ok(DefineMode::CreateIfNotExists),
            "replace" => Ok(DefineMode::Replace),
            "create_or_replace" => Ok(DefineMode::CreateOrReplace),
            _ => Err(Error::InvalidArgument {
                argument: "mode".into(),
                reason: format!(
                    "`{name}` is none of create, create_if_not_exists, replace, create_or_replace"
                ),
            }),
        }
    }
}

/// CREATE TABLE … AS SELECT and REPLACE TABLE … AS SELECT: the table gets the columns of the data, and partition columns,
/// properties and description from the options. A table that is replaced gets them as [`super::define_table`] does it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Defines {
    /// What happens to an existing table.
    pub mode: DefineMode,
    /// Clustering columns, as paths.
    pub cluster_by: Vec<Vec<String>>,
    /// Whether a catalog owns the files, for the history.
    pub managed: bool,
}

impl Defines {
    /// The mode of the write.
    pub fn write_mode(&self) -> WriteMode {
        match self.mode {
            DefineMode::Create => WriteMode::ErrorIfExists,
            DefineMode::CreateIfNotExists => WriteMode::Ignore,
            DefineMode::Replace | DefineMode::CreateOrReplace => WriteMode::Overwrite,
        }
    }
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions {
            mode: WriteMode::default(),
            replace_where: None,
            dynamic_partitions: false,
            merge_schema: false,
            overwrite_schema: false,
            check_replaced: true,
            engine_replaces: false,
            data_change: true,
            rules_held: false,
            whole_partitions: false,
            partition_by: Vec::new(),
            configuration: BTreeMap::new(),
            creation_only: false,
            defaults: BTreeMap::new(),
            properties: SetOptions::default(),
            name: None,
            description: None,
            all_nullable: false,
            target_file_size: 128 << 20,
            max_rows_per_file: None,
            optimize_write: None,
            vectors: true,
            auto_compact: None,
            compaction: CompactionRules::default(),
            compression: None,
            parquet: ParquetOptions::default(),
            shown: BTreeMap::new(),
            user_metadata: None,
            app_transaction: None,
            engine: None,
            commit_budget: Duration::from_secs(300),
            defines: None,
            at_version: None,
            streams: false,
            saved_as_table: None,
        }
    }
}

impl WriteOptions {
    /// Whether the table gets the columns of the data.
    pub(crate) fn replaces_schema(&self) -> bool {
        let all = self.mode == WriteMode::Overwrite && self.replace_where.is_none();
        all && (self.overwrite_schema || self.defines.is_some())
    }
}

/// What a write did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteResult {
    /// Version that was committed, or the newest one when nothing was.
    pub version: u64,
    /// Data files added.
    pub files: u64,
    /// Rows added.
    pub rows: u64,
    /// Bytes of the files added.
    pub bytes: u64,
    /// Data files removed.
    pub removed: u64,
    /// Whether the table was created.
    pub created: bool,
    /// Whether nothing was committed: the mode is [`WriteMode::Ignore`] and the table existed, the application
    /// transaction was already recorded, or there were no rows to append.
    pub skipped: bool,
    /// What went wrong after the commit point. None of it makes the commit undone.
    pub warnings: Vec<String>,
}

impl WriteResult {
    /// Nothing was committed; the table is at `version`.
    pub(crate) fn skipped(version: u64) -> Self {
        WriteResult { version, skipped: true, ..Default::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_have_the_names_of_spark() {
        for (name, mode) in [
            ("append", WriteMode::Append),
            ("ErrorIfExists", WriteMode::ErrorIfExists),
            ("IGNORE", WriteMode::Ignore),
            ("Overwrite", WriteMode::Overwrite),
        ] {
            assert_eq!(WriteMode::parse(name).unwrap(), mode);
            assert_eq!(WriteMode::parse(mode.name()).unwrap(), mode);
        }
        assert_eq!(WriteMode::parse("upsert").unwrap_err().kind(), "InvalidArgument");
    }
}
