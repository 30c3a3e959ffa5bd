//! Pages of a row group that hold no matching row, by the page index.
//!
//! Each column has pages of its own. Every page boundary ends a stretch of rows, and each stretch is judged by the page
//! index of its pages.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array, UInt64Array};
use arrow::compute::take;
use parquet::arrow::arrow_reader::RowSelection;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::metadata::page_index::PageIndexProvider;

use super::prunable_columns::PrunableColumns;
use super::skip::{Statistics, bounds, converter, judge};
use crate::prune::Pruner;

/// The leaves of a file whose pages a predicate judges.
pub(super) fn judged(pruner: &Pruner, flat: &HashMap<Vec<String>, PrunableColumns>) -> BTreeSet<usize> {
    match pruner.uses_stats() {
        true => pruner.stats_leaves().iter().filter_map(|c| Some(flat.get(&c.physical)?.leaf)).collect(),
        false => BTreeSet::new(),
    }
}

/// The rows of a row group in whose pages the predicate can be true; `None` when that is all of them. Rows of pages
/// without an index are kept.
pub(super) fn matching(
    pruner: &Pruner,
    flat: &HashMap<Vec<String>, PrunableColumns>,
    metadata: &ParquetMetaData,
    group: usize,
) -> Option<RowSelection> {
    let index = metadata.page_index()?.as_ref();
    let rows = usize::try_from(metadata.row_group(group).num_rows()).ok()?;
    let columns: Vec<(&[String], Pages)> = pruner
        .stats_leaves()
        .iter()
        .filter_map(|column| {
            let pages = Pages::of(flat.get(&column.physical)?, metadata, index, group, rows)?;
            Some((column.physical.as_slice(), pages))
        })
        .collect();
    let starts: BTreeSet<usize> =
        columns.iter().flat_map(|(_, pages)| pages.starts.iter().copied()).collect();
    let starts: Vec<usize> = starts.into_iter().collect();
    let ends = starts.iter().skip(1).copied().chain([rows]);
    let stretches: Vec<(usize, usize)> = starts.iter().copied().zip(ends).collect();

    let lengths: Int64Array =
        stretches.iter().map(|(start, end)| (end - start) as i64).collect::<Vec<_>>().into();
    let spread = |(path, pages): (_, Pages)| Some((path, pages.spread(&starts, &lengths)?));
    let keep = judge(pruner, lengths.clone(), columns.into_iter().filter_map(spread).collect());
    if keep.count_set_bits() == keep.len() {
        return None;
    }
    let kept = keep.set_indices().map(|i| stretches[i].0..stretches[i].1);
    Some(RowSelection::from_consecutive_ranges(kept, rows))
}

/// The page index of one column.
struct Pages {
    /// The first row of each page, within the row group.
    starts: Vec<usize>,
    nulls: Vec<Nulls>,
    bounds: Option<(ArrayRef, ArrayRef)>,
}

/// How many values of a page are null. For a part of a page only the two extremes are known.
#[derive(Clone, Copy)]
enum Nulls {
    None,
    All,
    Unknown,
}

impl Pages {
    fn of(
        flat: &PrunableColumns,
        metadata: &ParquetMetaData,
        index: &dyn PageIndexProvider,
        group: usize,
        rows: usize,
    ) -> Option<Self> {
        let places = index.offset_index(group, flat.leaf)?.page_locations().iter();
        let starts: Vec<usize> =
            places.map(|page| usize::try_from(page.first_row_index)).collect::<Result<_, _>>().ok()?;
        let column = index.column_index(group, flat.leaf)?;
        if column.num_pages() != starts.len() as u64 {
            return None;
        }
        let ends = starts.iter().skip(1).copied().chain([rows]);
        let nulls = starts.iter().zip(ends).enumerate().map(|(page, (start, end))| {
            match (column.null_count(page), column.is_null_page(page)) {
                (Some(0), false) => Nulls::None,
                (Some(nulls), true) if usize::try_from(nulls) == Ok(end - start) => Nulls::All,
                (None, true) => Nulls::All,
                _ => Nulls::Unknown,
            }
        });
        let converter = converter(flat, metadata)?;
        let bounds = bounds(flat, metadata, || {
            Ok((converter.data_page_mins(index, [&group])?, converter.data_page_maxes(index, [&group])?))
        });
        let bounds = bounds.filter(|(least, most)| least.len() == starts.len() && most.len() == starts.len());
        Some(Pages { nulls: nulls.collect(), starts, bounds })
    }

    /// The same for stretches of rows each of which lies in one page.
    fn spread(&self, starts: &[usize], lengths: &Int64Array) -> Option<Statistics> {
        let page = |start: &usize| self.starts.partition_point(|first| first <= start).checked_sub(1);
        let pages: Vec<usize> = starts.iter().map(page).collect::<Option<_>>()?;
        let nulls = pages.iter().zip(lengths.values()).map(|(page, rows)| match self.nulls[*page] {
            Nulls::None => Some(0),
            Nulls::All => Some(*rows),
            Nulls::Unknown => None,
        });
        let nulls: Int64Array = nulls.collect();
        let numbers = UInt64Array::from_iter_values(pages.iter().map(|page| *page as u64));
        let bounds = self.bounds.as_ref().and_then(|(least, most)| {
            Some((take(least, &numbers, None).ok()?, take(most, &numbers, None).ok()?))
        });
        Some(Statistics { nulls: Arc::new(nulls), bounds })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use arrow::array::{Float64Array, RecordBatch, StringArray};
    use arrow::datatypes::{DataType as Arrow, Field, Fields};
    use parquet::arrow::ArrowWriter;
    use parquet::file::metadata::{PageIndexPolicy, ParquetMetaDataReader};
    use parquet::file::properties::{EnabledStatistics, WriterProperties};

    use super::*;
    use crate::deletion_vector::DeletionVector;
    use crate::predicate::{CompareOp, Literal, Predicate};
    use crate::scan::project::Projection;
    use crate::scan::testing::{Folder, field, lines, read_all, schema};
    use crate::scan::{ReadRequest, RowScan};
    use crate::schema::{ColumnMappingMode, StructType};

    /// Rows 0 to `count` in one row group: `id` is the row, `x` a tenth of it with a NaN in each thousand, `s.part` the
    /// hundred as text and null for odd hundreds, `fill` long and random.
    fn batch(count: i64) -> RecordBatch {
        let rows = || 0..count;
        let part: StringArray =
            rows().map(|i| i / 100).map(|h| (h % 2 == 0).then(|| format!("h{h:05}"))).collect();
        let inner = Fields::from(vec![Field::new("part", Arrow::Utf8, true)]);
        let s = arrow::array::StructArray::new(inner, vec![Arc::new(part)], None);
        let x = Float64Array::from_iter_values(
            rows().map(|i| if i % 1000 == 7 { f64::NAN } else { i as f64 / 10.0 }),
        );
        let random = |i: i64| {
            let hash = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            format!("{hash:016x}{:016x}", hash.wrapping_mul(0xbf58_476d_1ce4_e5b9))
        };
        let columns: [(&str, ArrayRef); 4] = [
            ("id", Arc::new(Int64Array::from_iter_values(rows()))),
            ("x", Arc::new(x)),
            ("s", Arc::new(s)),
            ("fill", Arc::new(StringArray::from_iter_values(rows().map(random)))),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, c)| (name, c, true))).unwrap()
    }

    fn table() -> StructType {
        let s = format!(r#"{{"type":"struct","fields":[{}]}}"#, field("part", r#""string""#));
        let fields = [("id", r#""long""#), ("x", r#""double""#), ("s", s.as_str()), ("fill", r#""string""#)];
        schema(&fields.map(|(n, t)| field(n, t)).join(","))
    }

    /// Pages of 100 rows.
    fn parquet(batch: &RecordBatch, statistics: EnabledStatistics) -> Vec<u8> {
        let properties = WriterProperties::builder()
            .set_data_page_row_count_limit(100)
            .set_write_batch_size(100)
            .set_dictionary_enabled(false)
            .set_statistics_enabled(statistics)
            .build();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
        bytes
    }

    fn compare(column: &[&str], op: CompareOp, value: Literal) -> Predicate {
        Predicate::Compare { op, column: column.iter().map(|c| (*c).to_owned()).collect(), value }
    }

    /// The hundreds of 1000 rows that are kept.
    fn kept(predicate: &Predicate) -> Vec<usize> {
        let bytes = bytes::Bytes::from(parquet(&batch(1000), EnabledStatistics::Page));
        let metadata = ParquetMetaDataReader::new()
            .with_page_index_policy(PageIndexPolicy::Required)
            .parse_and_finish(&bytes)
            .unwrap();
        let mode = ColumnMappingMode::None;
        let projection = Projection::new("f", &table(), &[true; 4], mode, metadata.file_metadata()).unwrap();
        let pruner = Pruner::bind(predicate, &table(), &[], mode).unwrap();
        let Some(selection) = matching(&pruner, &projection.prunable, &metadata, 0) else {
            return (0..10).collect();
        };
        let mut row = 0;
        let mut kept = Vec::new();
        for part in selection.iter() {
            if !part.skip {
                kept.extend(row / 100..(row + part.row_count) / 100);
            }
            row += part.row_count;
        }
        assert_eq!(row, 1000);
        kept
    }

    #[test]
    fn pages_without_a_match_are_left_out() {
        use CompareOp::{Eq, Ge, Lt};
        let id = |op, n| compare(&["id"], op, Literal::Long(n));
        let part = |op, text: &str| compare(&["s", "part"], op, Literal::String(text.into()));
        let null = |not: bool| match (not, vec!["S".into(), "PART".into()]) {
            (false, column) => Predicate::IsNull { column },
            (true, column) => Predicate::IsNotNull { column },
        };
        assert_eq!(kept(&id(Eq, 250)), [2]);
        assert_eq!(kept(&Predicate::Not(Box::new(id(Lt, 750)))), [7, 8, 9]);
        assert_eq!(kept(&part(Ge, "h00006")), [6, 8]);
        assert_eq!(kept(&null(false)), [1, 3, 5, 7, 9]);
        assert_eq!(kept(&null(true)), [0, 2, 4, 6, 8]);
        assert_eq!(kept(&Predicate::And(vec![id(Ge, 500), null(false)])), [5, 7, 9]);
        assert_eq!(kept(&Predicate::Or(vec![id(Lt, 100), part(Eq, "h00004")])), [0, 4]);
        assert!(kept(&Predicate::And(vec![id(Lt, 100), null(false)])).is_empty());
    }

    #[test]
    fn what_the_page_index_does_not_tell_is_kept() {
        // NaN is above every number, and no statistic shows it
        assert_eq!(kept(&compare(&["x"], CompareOp::Gt, Literal::Double(1e6))).len(), 10);
        assert_eq!(kept(&compare(&["x"], CompareOp::Lt, Literal::Double(10.0))), [0]);
        assert_eq!(kept(&Predicate::Constant(Some(true))).len(), 10);
    }

    /// Requests and bytes of a read of the rows of `fill` with these ids, and the rows.
    fn read(
        statistics: EnabledStatistics,
        twist: impl FnOnce(&mut Vec<u8>),
        deleted: &[u64],
    ) -> (u64, u64, u64, Vec<String>) {
        let mut bytes = parquet(&batch(40_000), statistics);
        twist(&mut bytes);
        let folder = Folder::new();
        let mut add = folder.put("f.parquet", &bytes);
        if !deleted.is_empty() {
            add.deletion_vector = Some(deleted.iter().copied().collect::<DeletionVector>().to_inline());
        }
        let predicate = Predicate::And(vec![
            compare(&["id"], CompareOp::Ge, Literal::Long(20_190)),
            compare(&["id"], CompareOp::Lt, Literal::Long(20_210)),
        ]);
        let request = ReadRequest {
            columns: Some(vec!["id".into(), "fill".into()]),
            filter: Some(predicate.into()),
            ..ReadRequest::default()
        };
        let meter = Arc::default();
        let location = folder.location.metered(Arc::clone(&meter));
        let scan = RowScan::new(location, &table(), &[], ColumnMappingMode::None, request).unwrap();
        let rows = read_all(&Arc::new(scan), &add).unwrap();
        let (gets, read) = (meter.gets.load(Relaxed), meter.bytes.load(Relaxed));
        (gets, read, bytes.len() as u64, lines(&rows))
    }

    #[test]
    fn pages_that_cannot_match_are_not_fetched() {
        let (gets, few, size, rows) = read(EnabledStatistics::Page, |_| {}, &[20_200]);
        assert_eq!(rows.len(), 19);
        assert!(rows[0].starts_with("20190|") && rows[10].starts_with("20201|"), "{rows:?}");
        assert!(size > 1_500_000, "{size}");
        // the end of the file, the page index and two pages of each column
        assert!(gets <= 3 && few < 200_000, "{gets} requests, {few} of {size} bytes");
        // without a page index the columns are read whole
        let (gets, all, ..) = read(EnabledStatistics::Chunk, |_| {}, &[]);
        assert!(gets <= 2 && all > 1_000_000, "{gets} requests, {all} bytes");
    }

    #[test]
    fn a_page_index_that_is_damaged_is_not_used() {
        // it lies between the last column and the footer
        let damage = |bytes: &mut Vec<u8>| {
            let metadata =
                ParquetMetaDataReader::new().parse_and_finish(&bytes::Bytes::from(bytes.clone())).unwrap();
            let at = metadata.row_group(0).column(0).offset_index_range().unwrap();
            bytes[at.start as usize..at.end as usize].fill(0xff);
        };
        let (_, all, _, rows) = read(EnabledStatistics::Page, damage, &[]);
        assert_eq!(rows.len(), 20);
        assert!(all > 1_000_000, "{all} bytes");
    }
}
