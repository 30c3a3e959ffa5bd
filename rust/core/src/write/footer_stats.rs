//! Statistics from Parquet footers, for files that Spark wrote.

use std::collections::HashMap;

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescriptor;
use rayon::prelude::*;

use super::plan::WritePlan;
use super::rules::refuse_unchecked;
use super::stats_json::{Bound, FileStats, LeafStats};
use crate::actions::{Add, FilePath, ObjectPath, PartitionValues};
use crate::error::{Error, Result, condition};
use crate::parquet::Calendar;
use crate::partition::{partition_folder_values as values_of, timestamp_from_folder};
use crate::schema::{DataType, StructType};
use crate::stats::{StatsColumns, StatsNode as Node, has_bounds};
use crate::store::Store;

/// Bytes of the end of a file that are read first: the footers of most files fit.
const TAIL: u64 = 64 << 10;
/// A Parquet file ends with the length of its footer and a magic word.
const TRAILER: u64 = 8;

/// A data file that is in its place but not in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenFile {
    /// Path relative to the table, decoded: as the store knows it, with the escapes of partition folders.
    pub path: String,
    /// Values by partition column (logical names) as the log stores them; `None` takes them from the folders, where
    /// instants must be in UTC.
    pub partition_values: Option<Vec<(String, Option<String>)>>,
}

/// The `add` actions of files that Spark wrote: size, modification time, rows and statistics from the footers, several at
/// a time, two requests a file. A file without rows is deleted and left out. What a footer does not show is left out of
/// the statistics, never guessed: `INT96` timestamps have no bounds, floating-point bounds of writers other than
/// parquet-mr hide NaN, and files without size statistics (parquet-mr before 1.15) do not have the null counts of
/// arrays, maps and long texts.
///
/// # Errors
/// [`Error::UnsupportedFeature`] when the table has rules for values, which nobody checked in these files.
/// [`Error::DataFile`] when a file is no Parquet file, or its columns are not those of the table. [`Error::NotFound`] and
/// [`Error::Storage`] from the store.
pub fn footer_adds(plan: &WritePlan, files: Vec<WrittenFile>) -> Result<Vec<Add>> {
    refuse_unchecked(plan)?;
    let adds: Vec<Option<Add>> =
        files.into_par_iter().map(|file| footer_add(plan, file)).collect::<Result<_>>()?;
    Ok(adds.into_iter().flatten().collect())
}

fn footer_add(plan: &WritePlan, file: WrittenFile) -> Result<Option<Add>> {
    let path = plan.location.root().join(&file.path);
    let store = plan.location.store().as_ref();
    let meta = store.head(&path)?;
    let footer = read_footer(store, &path, meta.size)?;
    let rows: i64 = footer.row_groups().iter().map(|g| g.num_rows()).sum();
    if rows == 0 {
        // best effort: what stays is an orphan that no log names
        let _ = store.delete(&path);
        return Ok(None);
    }
    Leaves::of(&footer).check(&plan.file_columns().without_void(), plan, &path)?;
    Ok(Some(Add {
        path: FilePath::encode(&file.path),
        partition_values: partition_values(plan, &file)?,
        size: meta.size as i64,
        modification_time: meta.modified,
        data_change: true,
        stats: Some(footer_statistics(&footer, &plan.stats)),
        ..Default::default()
    }))
}

/// Number of rows and statistics of a file, as JSON. What the footer does not show is left out, as [`footer_adds`] says.
pub(crate) fn footer_statistics(footer: &ParquetMetaData, columns: &StatsColumns) -> String {
    let rows: i64 = footer.row_groups().iter().map(|g| g.num_rows()).sum();
    let mut stats =
        FileStats { num_records: rows.unsigned_abs(), leaves: vec![LeafStats::default(); columns.leaves] };
    Leaves::of(footer).collect(&columns.nodes, &mut Vec::new(), &mut stats.leaves);
    stats.to_json(columns)
}

fn invalid(path: impl ToString, reason: impl ToString) -> Error {
    Error::DataFile { path: path.to_string(), reason: reason.to_string() }
}

/// Reads the footer of a file of this size: one request, two where the footer is large.
///
/// # Errors
/// [`Error::DataFile`] when it is no Parquet file; errors of the store.
pub(crate) fn read_footer(store: &dyn Store, path: &ObjectPath, size: u64) -> Result<ParquetMetaData> {
    if size < TRAILER {
        return Err(invalid(path, format!("{size} bytes are no Parquet file")));
    }
    let tail = store.get_range(path, size.saturating_sub(TAIL)..size)?;
    let (rest, trailer) = tail.split_at(tail.len().saturating_sub(TRAILER as usize));
    let [a, b, c, d, b'P', b'A', b'R', b'1'] = *trailer else {
        return Err(invalid(path, "it does not end as a Parquet file does"));
    };
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    if length + TRAILER > size {
        return Err(invalid(path, format!("a footer of {length} bytes does not fit into {size} bytes")));
    }
    let decoded = match rest.len().checked_sub(length as usize) {
        Some(start) => ParquetMetaDataReader::decode_metadata(&rest[start..]),
        None => {
            let end = size - TRAILER;
            ParquetMetaDataReader::decode_metadata(&store.get_range(path, end - length..end)?)
        }
    };
    decoded.map_err(|e| invalid(path, e))
}

fn partition_values(plan: &WritePlan, file: &WrittenFile) -> Result<PartitionValues> {
    let given = match &file.partition_values {
        Some(values) => values.clone(),
        None => values_of(&file.path),
    };
    let mut values = PartitionValues::new();
    for (column, physical) in plan.partition_columns.iter().zip(&plan.physical_partition_columns) {
        let lower = column.to_lowercase();
        let value = given
            .iter()
            .find(|(c, _)| c.to_lowercase() == lower || c == physical)
            .map(|(_, v)| v.clone().filter(|v| !v.is_empty()))
            .ok_or_else(|| invalid(&file.path, format!("no value of partition column `{column}`")))?;
        let field = plan.schema.field(column);
        if value.is_none() && field.is_some_and(|f| !f.nullable) {
            return Err(Error::SchemaMismatch {
                path: plan.location.root().to_string(),
                reason: format!(
                    "partition column `{column}` must not be null, and `{}` is of the null partition",
                    file.path
                ),
            }
            .named(&condition::NOT_NULL_CONSTRAINT_VIOLATED, [("columnName", column.as_str())]));
        }
        let instant =
            file.partition_values.is_none() && field.is_some_and(|f| f.data_type == DataType::Timestamp);
        values
            .insert(physical.clone(), if instant { value.map(|v| timestamp_from_folder(&v)) } else { value });
    }
    Ok(values)
}

/// The leaf columns of a footer by their path.
struct Leaves<'a> {
    footer: &'a ParquetMetaData,
    by_path: HashMap<&'a [String], usize>,
    /// parquet-mr takes NaN into its bounds, above all numbers as Spark does; other writers leave it out, and then a bound
    /// proves nothing.
    trusts_floats: bool,
    calendar: Calendar,
}

impl<'a> Leaves<'a> {
    fn of(footer: &'a ParquetMetaData) -> Self {
        let file = footer.file_metadata();
        let columns = file.schema_descr().columns();
        Leaves {
            footer,
            by_path: columns.iter().enumerate().map(|(i, c)| (c.path().parts(), i)).collect(),
            trusts_floats: file.created_by().is_some_and(|c| c.starts_with("parquet-mr")),
            calendar: Calendar::of(file),
        }
    }

    /// The file must hold every one of these columns, and no others.
    fn check(&self, columns: &StructType, plan: &WritePlan, path: &ObjectPath) -> Result<()> {
        let root = self.footer.file_metadata().schema_descr().root_schema().get_fields();
        for field in &columns.fields {
            let name = field.physical_name(plan.column_mapping);
            if !root.iter().any(|f| f.name() == name) {
                return Err(invalid(
                    path,
                    format!("column `{}` (`{name}` in the file) is missing", field.name),
                ));
            }
        }
        match root
            .iter()
            .find(|f| !columns.fields.iter().any(|d| d.physical_name(plan.column_mapping) == f.name()))
        {
            Some(extra) => {
                Err(invalid(path, format!("column `{}` is none that files of the table hold", extra.name())))
            }
            None => Ok(()),
        }
    }

    fn collect(&self, nodes: &[Node], path: &mut Vec<String>, leaves: &mut [LeafStats]) {
        for node in nodes {
            match node {
                Node::Struct { name, children, .. } => {
                    path.push(name.clone());
                    self.collect(children, path, leaves);
                }
                Node::Leaf { name, slot, data_type, .. } => {
                    path.push(name.clone());
                    if let Some(leaf) = leaves.get_mut(*slot) {
                        *leaf = self.leaf(path, data_type);
                    }
                }
            }
            path.pop();
        }
    }

    fn leaf(&self, path: &mut Vec<String>, data_type: &DataType) -> LeafStats {
        let variant = *data_type == DataType::Variant;
        if variant {
            // required within the variant, so it is null exactly where the variant is
            path.push("metadata".to_owned());
        }
        let index = self.by_path.get(path.as_slice()).copied();
        if variant {
            path.pop();
        }
        if *data_type == DataType::Void {
            let rows: i64 = self.footer.row_groups().iter().map(RowGroupMetaData::num_rows).sum();
            return LeafStats { null_count: Some(rows.unsigned_abs()), ..LeafStats::default() };
        }
        let Some(index) = index else {
            return LeafStats { null_count: self.container_nulls(path), ..LeafStats::default() };
        };
        let column = self.footer.file_metadata().schema_descr().column(index);
        let null_count = self.null_count(index, column.max_def_level());
        LeafStats { null_count, ..self.bounds(index, &column, data_type) }
    }

    fn null_count(&self, index: usize, level: i16) -> Option<u64> {
        let of_group = |group: &RowGroupMetaData| {
            let reported = group.column(index).statistics().and_then(Statistics::null_count_opt);
            reported.or_else(|| undefined(group, index, level))
        };
        self.footer.row_groups().iter().map(of_group).sum()
    }

    /// The null count of an array or a map: these have no leaf of their own path, and what their leaves count as null are
    /// elements. The levels of a leaf show the rows in which the whole is null.
    fn container_nulls(&self, path: &[String]) -> Option<u64> {
        let descriptor = self.footer.file_metadata().schema_descr();
        let mut fields = descriptor.root_schema().get_fields();
        let mut level = 0;
        for name in path {
            let field = fields.iter().find(|f| f.name() == name)?;
            level += i16::from(field.is_optional());
            fields = match field.is_group() {
                true => field.get_fields(),
                false => &[],
            };
        }
        let index = descriptor.columns().iter().position(|c| c.path().parts().starts_with(path))?;
        self.footer.row_groups().iter().map(|g| undefined(g, index, level)).sum()
    }

    /// Bounds over all row groups, or none when one group with values has none.
    fn bounds(&self, index: usize, column: &ColumnDescriptor, data_type: &DataType) -> LeafStats {
        let floats = matches!(data_type, DataType::Float | DataType::Double);
        let mut leaf = LeafStats::default();
        // the bounds of a file in the hybrid calendar are other days
        let moved = match data_type {
            DataType::Date => self.calendar.dates,
            DataType::Timestamp | DataType::TimestampNtz => self.calendar.instants.is_some(),
            _ => false,
        };
        if !has_bounds(data_type) || (floats && !self.trusts_floats) || moved {
            return leaf;
        }
        for group in self.footer.row_groups() {
            let chunk = group.column(index);
            let Some(statistics) = chunk.statistics() else { return LeafStats::default() };
            if statistics.null_count_opt() == Some(group.num_rows() as u64) {
                continue;
            }
            match group_bounds(statistics, column, data_type) {
                Some((min, max)) => leaf.extend(Some(min), Some(max)),
                None => return LeafStats::default(),
            }
        }
        leaf
    }
}

/// The rows of a group in which a column is not defined up to a level, by the histogram of its levels. No field above
/// that level is repeated.
fn undefined(group: &RowGroupMetaData, index: usize, level: i16) -> Option<u64> {
    if level == 0 {
        return Some(0);
    }
    let column = group.column(index);
    let rows = column.repetition_level_histogram().and_then(|h| h.get(0));
    if rows.is_some_and(|rows| rows != group.num_rows()) {
        return None;
    }
    let below = column.definition_level_histogram()?.values().get(..usize::try_from(level).ok()?)?;
    u64::try_from(below.iter().sum::<i64>()).ok()
}

fn group_bounds(
    statistics: &Statistics,
    column: &ColumnDescriptor,
    data_type: &DataType,
) -> Option<(Bound, Bound)> {
    // the old min and max fields were compared as signed numbers and signed bytes
    if statistics.is_min_max_deprecated()
        && (is_unsigned(column)
            || matches!(column.physical_type(), Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY))
    {
        return None;
    }
    match statistics {
        Statistics::Int32(s) => {
            let wide = |v: i32| if is_unsigned(column) { i64::from(v as u32) } else { i64::from(v) };
            let bound = |v: Option<&i32>| int_bound(wide(*v?), column, data_type);
            Some((bound(s.min_opt())?, bound(s.max_opt())?))
        }
        Statistics::Int64(s) => {
            let bound = |v: Option<&i64>| int_bound(*v?, column, data_type);
            Some((bound(s.min_opt())?, bound(s.max_opt())?))
        }
        Statistics::Float(s) if *data_type == DataType::Float => {
            Some((Bound::Float(*s.min_opt()?), Bound::Float(*s.max_opt()?)))
        }
        Statistics::Double(s) if *data_type == DataType::Double => {
            Some((Bound::Double(*s.min_opt()?), Bound::Double(*s.max_opt()?)))
        }
        Statistics::ByteArray(s) => byte_bounds(s.min_opt()?.data(), s.max_opt()?.data(), data_type),
        Statistics::FixedLenByteArray(s) => byte_bounds(s.min_opt()?.data(), s.max_opt()?.data(), data_type),
        _ => None,
    }
}

/// Whether a column holds unsigned numbers, which Parquet stores in the bits of signed ones.
fn is_unsigned(column: &ColumnDescriptor) -> bool {
    matches!(column.logical_type_ref(), Some(LogicalType::Integer(int)) if !int.is_signed)
        || matches!(column.converted_type(), ConvertedType::UINT_32 | ConvertedType::UINT_64)
}

fn int_bound(value: i64, column: &ColumnDescriptor, data_type: &DataType) -> Option<Bound> {
    match data_type {
        DataType::Decimal(..) if is_unsigned(column) => Some(Bound::Decimal(i128::from(value as u64))),
        DataType::Decimal(..) => Some(Bound::Decimal(i128::from(value))),
        DataType::Timestamp | DataType::TimestampNtz => match column.logical_type_ref() {
            Some(LogicalType::Timestamp(time)) => Some(Bound::Int(match time.unit {
                TimeUnit::MILLIS => value.checked_mul(1_000)?,
                TimeUnit::MICROS => value,
                TimeUnit::NANOS => value.div_euclid(1_000),
            })),
            _ => None,
        },
        DataType::Byte | DataType::Short | DataType::Integer | DataType::Long | DataType::Date => {
            Some(Bound::Int(value))
        }
        _ => None,
    }
}

fn byte_bounds(min: &[u8], max: &[u8], data_type: &DataType) -> Option<(Bound, Bound)> {
    match data_type {
        DataType::String => {
            let text = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(|t| Bound::Text(t.to_owned()));
            Some((text(min)?, text(max)?))
        }
        DataType::Decimal(..) => Some((Bound::Decimal(big_endian(min)?), Bound::Decimal(big_endian(max)?))),
        _ => None,
    }
}

/// A signed big-endian number of up to 16 bytes.
fn big_endian(bytes: &[u8]) -> Option<i128> {
    if bytes.is_empty() || bytes.len() > 16 {
        return None;
    }
    let fill = if bytes[0] & 0x80 != 0 { 0xff } else { 0 };
    let mut whole = [fill; 16];
    whole[16 - bytes.len()..].copy_from_slice(bytes);
    Some(i128::from_be_bytes(whole))
}
