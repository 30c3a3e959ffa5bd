//! How data files are encoded: what an operation, the table and a session say of it.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use arrow::array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::schema::types::ColumnPath;
use serde::{Deserialize, Serialize};

use crate::actions::Metadata;
use crate::error::{Error, Result};
use crate::parquet::{Codec, calendar_note, parquet_codec as codec};
use crate::properties::TableProperty;

const CODEC: TableProperty = TableProperty::ParquetCompressionCodec;
const FORMAT_VERSION: TableProperty = TableProperty::ParquetFormatVersion;
const WRITER_VERSION: &str = "parquet.writer.version";
const ENCRYPTION: [&str; 2] = ["parquet.encryption.", "parquet.crypto."];
/// Settings of footers that the log depends on, and those with an option of their own.
const OURS: [&str; 3] =
    ["parquet.compression", "parquet.column.statistics.enabled", "parquet.statistics.truncate.length"];
/// Rows of a row group.
const ROW_GROUP_ROWS: usize = 1 << 20;
/// Bytes of a row group.
const ROW_GROUP_BYTES: usize = 128 << 20;
/// Rows that are written at once where row groups are to be smaller.
const FEW_ROWS: usize = 1024;

/// Settings of Parquet's own writer, by their names there: `parquet.block.size`. After a `#` a name may have that of a
/// column.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParquetOptions {
    /// Settings of the operation. They take precedence over the properties of the table.
    pub own: BTreeMap<String, String>,
    /// Settings of all operations of a session. The properties of the table take precedence.
    pub session: BTreeMap<String, String>,
}

/// How the files of a plan are written.
#[derive(Debug, Clone)]
pub(crate) struct FileSettings {
    pub(crate) codec: Codec,
    pub(crate) properties: WriterProperties,
    /// The settings of Parquet's writer that hold, by name.
    parquet: BTreeMap<String, String>,
    /// Those of them that the operation sets.
    own: BTreeSet<String>,
    /// What the operation asked for, to do the same in another one after it.
    asked: (Option<String>, ParquetOptions),
}

impl FileSettings {
    /// What an operation asks for, the table next, then the session. `columns` are those of the table, and their names in
    /// the files: a setting of a column may have the name that the table has for it, in any case.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a value that makes no sense, [`Error::Unsupported`] for files that would be encrypted.
    pub(super) fn of(
        path: &str,
        metadata: &Metadata,
        columns: &[(String, String)],
        compression: Option<&str>,
        options: &ParquetOptions,
    ) -> Result<Self> {
        let table = &metadata.configuration;
        let mut codec = codec(compression.or(metadata.property(CODEC)).unwrap_or("snappy"))?;
        let mut parquet = options.session.clone();
        if let Some(version) = metadata.property(FORMAT_VERSION) {
            let writer = if is_second(version) { "v2" } else { "v1" };
            parquet.insert(WRITER_VERSION.into(), writer.into());
        }
        let given = |(name, value): (&String, &String)| (name.clone(), value.clone());
        parquet.extend(table.iter().filter(|(name, _)| name.starts_with("parquet.")).map(given));
        parquet.extend(options.own.iter().map(given));
        parquet.retain(|name, _| !OURS.contains(&setting_of(name).0));
        let parquet: BTreeMap<String, String> =
            parquet.into_iter().map(|(name, value)| (in_files(&name, columns), value)).collect();
        if let Some(name) = parquet.keys().find(|name| ENCRYPTION.iter().any(|e| name.starts_with(e))) {
            let what = format!("files that are encrypted, as `{name}` asks for");
            return Err(Error::Unsupported { path: path.to_owned(), what });
        }
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("deltaic ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(calendar_note()))
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
            .set_max_row_group_bytes(Some(ROW_GROUP_BYTES));
        for (name, value) in &parquet {
            let (setting, column) = setting_of(name);
            let column = column.map(|c| ColumnPath::new(c.split('.').map(str::to_owned).collect()));
            properties =
                set(properties, &mut codec, (name, setting), column, value)?.unwrap_or_else(|same| same);
        }
        let properties = properties.set_compression(codec.compression).build();
        let own = options.own.keys().map(|name| in_files(name, columns)).collect();
        let asked = (compression.map(str::to_owned), options.clone());
        Ok(FileSettings { codec, properties, parquet, own, asked })
    }

    /// Writes rows. Parquet's writer learns how large they are from those that it has: where row groups are to be small it
    /// gets a few at a time.
    pub(super) fn write(
        &self,
        writer: &mut ArrowWriter<Vec<u8>>,
        rows: &RecordBatch,
    ) -> std::result::Result<(), ParquetError> {
        if self.properties.max_row_group_bytes().is_none_or(|bytes| bytes >= ROW_GROUP_BYTES) {
            return writer.write(rows);
        }
        for start in (0..rows.num_rows()).step_by(FEW_ROWS) {
            writer.write(&rows.slice(start, FEW_ROWS.min(rows.num_rows() - start)))?;
        }
        Ok(())
    }

    /// The settings of Parquet's writer that hold, by name.
    pub(crate) fn parquet(&self) -> &BTreeMap<String, String> {
        &self.parquet
    }

    /// Those that the operation asked for and that the writer of this crate cannot follow.
    ///
    /// # Errors
    /// As [`FileSettings::of`].
    pub(crate) fn unfollowed(&self) -> Result<Vec<&str>> {
        let mut names = Vec::new();
        for (name, value) in self.parquet.iter().filter(|(name, _)| self.own.contains(*name)) {
            let (setting, column) = setting_of(name);
            let column = column.map(ColumnPath::from);
            let codec = &mut self.codec.clone();
            if set(WriterProperties::builder(), codec, (name, setting), column, value)?.is_err() {
                names.push(name.as_str());
            }
        }
        Ok(names)
    }

    /// What the operation asked for.
    pub(crate) fn asked(&self) -> (Option<String>, ParquetOptions) {
        self.asked.clone()
    }
}

/// The name of a setting as it is for the files.
fn in_files(name: &str, columns: &[(String, String)]) -> String {
    let (setting, Some(column)) = setting_of(name) else { return name.to_owned() };
    let (first, rest) = column.split_once('.').map_or((column, None), |(first, rest)| (first, Some(rest)));
    let Some((_, stored)) = columns.iter().find(|(known, _)| known.eq_ignore_ascii_case(first)) else {
        return name.to_owned();
    };
    match rest {
        Some(rest) => format!("{setting}#{stored}.{rest}"),
        None => format!("{setting}#{stored}"),
    }
}

/// A setting and the column that it is for.
fn setting_of(name: &str) -> (&str, Option<&str>) {
    match name.split_once('#') {
        Some((setting, column)) => (setting, Some(column)),
        None => (name, None),
    }
}

/// The properties with one more setting, or unchanged if it is not supported.
fn set(
    to: WriterPropertiesBuilder,
    codec: &mut Codec,
    (name, setting): (&str, &str),
    column: Option<ColumnPath>,
    value: &str,
) -> Result<std::result::Result<WriterPropertiesBuilder, WriterPropertiesBuilder>> {
    let count = || positive(name, value);
    Ok(Ok(match (setting, column) {
        (WRITER_VERSION, None) => to.set_writer_version(version(name, value)?),
        ("parquet.block.size", None) => to.set_max_row_group_bytes(Some(count()?)),
        ("parquet.block.row.count.limit", None) => to.set_max_row_group_row_count(Some(count()?)),
        ("parquet.page.size", None) => to.set_data_page_size_limit(count()?),
        ("parquet.page.row.count.limit", None) => to.set_data_page_row_count_limit(count()?),
        ("parquet.dictionary.page.size", None) => to.set_dictionary_page_size_limit(count()?),
        ("parquet.columnindex.truncate.length", None) => to.set_column_index_truncate_length(Some(count()?)),
        ("parquet.enable.dictionary", None) => to.set_dictionary_enabled(switch(name, value)?),
        ("parquet.enable.dictionary", Some(column)) => {
            to.set_column_dictionary_enabled(column, switch(name, value)?)
        }
        ("parquet.bloom.filter.enabled", None) => to.set_bloom_filter_enabled(switch(name, value)?),
        ("parquet.bloom.filter.enabled", Some(column)) => {
            to.set_column_bloom_filter_enabled(column, switch(name, value)?)
        }
        ("parquet.bloom.filter.expected.ndv", Some(column)) => {
            to.set_column_bloom_filter_max_ndv(column, count()? as u64)
        }
        ("parquet.bloom.filter.fpp", None) => to.set_bloom_filter_fpp(share(name, value)?),
        ("parquet.bloom.filter.fpp", Some(column)) => {
            to.set_column_bloom_filter_fpp(column, share(name, value)?)
        }
        ("parquet.compression.codec.zstd.level", None) => {
            let level =
                number(name, value).and_then(|n| ZstdLevel::try_new(n).map_err(|e| invalid(name, e)))?;
            if let Compression::ZSTD(_) = codec.compression {
                codec.compression = Compression::ZSTD(level);
            }
            to
        }
        _ => return Ok(Err(to)),
    }))
}

/// Whether a version of the Parquet format is one that has what Parquet's writer calls its second version.
fn is_second(version: &str) -> bool {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0_u32));
    (parts.next(), parts.next()) >= (Some(2), Some(12))
}

fn version(name: &str, value: &str) -> Result<WriterVersion> {
    match value {
        "v1" | "PARQUET_1_0" => Ok(WriterVersion::PARQUET_1_0),
        "v2" | "PARQUET_2_0" => Ok(WriterVersion::PARQUET_2_0),
        _ => Err(invalid(name, format!("`{value}` is none of v1, v2, PARQUET_1_0, PARQUET_2_0"))),
    }
}

fn number<T: FromStr>(name: &str, value: &str) -> Result<T> {
    value.trim().parse().map_err(|_| invalid(name, format!("`{value}` is not a number that it takes")))
}

fn positive(name: &str, value: &str) -> Result<usize> {
    match number(name, value)? {
        0 => Err(invalid(name, "0 is too little")),
        n => Ok(n),
    }
}

fn share(name: &str, value: &str) -> Result<f64> {
    match number(name, value)? {
        n if 0.0 < n && n < 1.0 => Ok(n),
        n => Err(invalid(name, format!("{n} is not between 0 and 1"))),
    }
}

/// As Hadoop reads it; but a value that is neither is an error here, and the default there.
fn switch(name: &str, value: &str) -> Result<bool> {
    match value.trim().to_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(invalid(name, format!("`{value}` is neither true nor false"))),
    }
}

fn invalid(name: &str, reason: impl ToString) -> Error {
    Error::InvalidArgument { argument: name.to_owned(), reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(all: &[(&str, &str)]) -> BTreeMap<String, String> {
        all.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    fn settings(
        table: &[(&str, &str)],
        own: &[(&str, &str)],
        session: &[(&str, &str)],
    ) -> Result<FileSettings> {
        let metadata = Metadata { configuration: map(table), ..Default::default() };
        let columns = [("A".to_owned(), "a".to_owned())];
        FileSettings::of(
            "t",
            &metadata,
            &columns,
            None,
            &ParquetOptions { own: map(own), session: map(session) },
        )
    }

    #[test]
    fn the_operation_goes_before_the_table_and_that_before_the_session() {
        let name = "parquet.page.size";
        let limit = |s: FileSettings| s.properties.data_page_size_limit();
        assert_eq!(limit(settings(&[], &[], &[(name, "3")]).unwrap()), 3);
        assert_eq!(limit(settings(&[(name, "2")], &[], &[(name, "3")]).unwrap()), 2);
        assert_eq!(limit(settings(&[(name, "2")], &[(name, "1")], &[(name, "3")]).unwrap()), 1);
        let version = |s: FileSettings| s.properties.writer_version().as_num();
        let second = [(FORMAT_VERSION.name(), "2.12.0")];
        assert_eq!(version(settings(&second, &[], &[]).unwrap()), 2);
        assert_eq!(version(settings(&second, &[(WRITER_VERSION, "v1")], &[]).unwrap()), 1);
        assert_eq!(
            version(settings(&[(FORMAT_VERSION.name(), "1.0.0")], &[], &[(WRITER_VERSION, "v2")]).unwrap()),
            1
        );
        assert_eq!(version(settings(&[(FORMAT_VERSION.name(), "2.9.0")], &[], &[]).unwrap()), 1);
        assert_eq!(version(settings(&[], &[], &[(WRITER_VERSION, "PARQUET_2_0")]).unwrap()), 2);
    }

    #[test]
    fn each_setting_reaches_the_writer() {
        let column = ColumnPath::from("a");
        let made = settings(
            &[(CODEC.name(), "zstd")],
            &[
                ("parquet.block.size", "1000"),
                ("parquet.block.row.count.limit", "10"),
                ("parquet.page.row.count.limit", "5"),
                ("parquet.dictionary.page.size", "77"),
                ("parquet.columnindex.truncate.length", "8"),
                ("parquet.enable.dictionary", "false"),
                ("parquet.enable.dictionary#A", "true"),
                ("parquet.bloom.filter.enabled#a", "true"),
                ("parquet.bloom.filter.expected.ndv#a", "100"),
                ("parquet.bloom.filter.fpp#a", "0.2"),
                ("parquet.compression.codec.zstd.level", "9"),
            ],
            &[],
        );
        let made = made.unwrap();
        let p = &made.properties;
        assert_eq!((p.max_row_group_bytes(), p.max_row_group_row_count()), (Some(1000), Some(10)));
        assert_eq!((p.data_page_row_count_limit(), p.dictionary_page_size_limit()), (5, 77));
        assert_eq!(p.column_index_truncate_length(), Some(8));
        assert!(p.dictionary_enabled(&column) && !p.dictionary_enabled(&ColumnPath::from("b")));
        let bloom = p.bloom_filter_properties(&column).unwrap();
        assert_eq!((bloom.fpp(), bloom.ndv()), (0.2, 100));
        assert!(p.bloom_filter_properties(&ColumnPath::from("b")).is_none());
        assert_eq!(p.compression(&column), Compression::ZSTD(ZstdLevel::try_new(9).unwrap()));
        assert!(made.unfollowed().unwrap().is_empty());
    }

    #[test]
    fn what_cannot_be_followed_is_named_and_what_makes_no_sense_an_error() {
        let more = [("parquet.memory.pool.ratio", "0.5"), ("parquet.block.size", "1")];
        let made = settings(&[], &more, &[("parquet.writer.max-padding", "1")]).unwrap();
        assert_eq!(made.unfollowed().unwrap(), ["parquet.memory.pool.ratio"]);
        for (name, value) in [
            ("parquet.block.size", "0"),
            ("parquet.page.size", "much"),
            ("parquet.enable.dictionary", "1"),
            ("parquet.bloom.filter.fpp", "1"),
            ("parquet.writer.version", "v3"),
            ("parquet.compression.codec.zstd.level", "99"),
        ] {
            let error = settings(&[], &[(name, value)], &[]).unwrap_err().to_string();
            assert!(error.starts_with(name), "{error}");
        }
        let error = settings(&[], &[], &[("parquet.encryption.footer.key", "k")]).unwrap_err();
        assert!(error.to_string().contains("`parquet.encryption.footer.key`"), "{error}");
    }

    #[test]
    fn what_the_log_is_made_from_is_not_taken_away() {
        let given = [("parquet.column.statistics.enabled#a", "false"), ("parquet.compression", "gzip")];
        assert!(settings(&given, &given, &given).unwrap().parquet().is_empty());
    }
}
