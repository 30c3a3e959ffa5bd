//! Values as numbers that keep their order: which of many equal shares of the rows a value is in.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, BinaryBuilder, RecordBatch, UInt64Array};
use arrow::compute::take;
use arrow::datatypes::UInt64Type;
use arrow::row::{RowConverter, Rows, SortField};

use serde::{Deserialize, Serialize};

use super::curve::Curve;
use crate::error::{Error, Result};

/// Bits of the number of a share.
const BITS: u32 = 10;
/// Rows of a sample, of which there may be twice as many on the way.
const SAMPLE: usize = 64 << 10;
/// Bytes of the ordered form of a value that count.
const PREFIX: usize = 40;

/// Rows of some columns that stand for all, chosen by their number, so that the same rows give the same sample. Memory is
/// bounded, however many rows there are.
#[derive(Debug)]
pub(super) struct Sample {
    converters: Vec<RowConverter>,
    /// The chosen rows: what chose them, and their values in ordered form.
    rows: Chosen,
    seen: u64,
    /// Zeros that the hash of a row's number ends with.
    level: u32,
    most: usize,
}

impl Sample {
    /// Of columns like these.
    ///
    /// # Errors
    /// [`Error::Arrow`] for a type without an order.
    pub(super) fn of(columns: &[ArrayRef]) -> Result<Self> {
        let converter =
            |column: &ArrayRef| RowConverter::new(vec![SortField::new(column.data_type().clone())]);
        let converters =
            columns.iter().map(converter).collect::<std::result::Result<_, _>>().map_err(failed)?;
        Ok(Sample { converters, rows: Vec::new(), seen: 0, level: 0, most: SAMPLE })
    }

    /// The same, of rows that follow so many others, where all of them together are about `total`: samples of parts then
    /// make up that of all.
    pub(super) fn following(mut self, before: u64, total: u64) -> Self {
        self.seen = before;
        // not above the level of the sample of all
        self.level = (total / (2 * self.most as u64)).checked_ilog2().unwrap_or(0);
        self
    }

    /// Rows that were chosen from, and those before them.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    /// The chosen rows, for another process.
    ///
    /// # Errors
    /// [`Error::Arrow`] where there are more bytes than an array holds.
    pub(super) fn chosen(&self) -> Result<RecordBatch> {
        let hashes: ArrayRef =
            Arc::new(UInt64Array::from_iter_values(self.rows.iter().map(|(hash, _)| *hash)));
        let values = |column: usize| {
            let values = self.rows.iter().map(|(_, values)| &*values[column]);
            let values: ArrayRef = Arc::new(BinaryArray::from_iter_values(values));
            (format!("value{column}"), values, false)
        };
        let columns = std::iter::once(("hash".to_owned(), hashes, false));
        RecordBatch::try_from_iter_with_nullable(columns.chain((0..self.converters.len()).map(values)))
            .map_err(failed)
    }

    /// Chooses from more rows.
    ///
    /// # Errors
    /// [`Error::Arrow`] for columns of other types.
    pub(super) fn add(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let count = columns.first().map_or(0, |c| c.len()) as u64;
        let chosen: Vec<(u64, u64)> = (0..count)
            .map(|row| (row, mixed(self.seen + row)))
            .filter(|(_, hash)| hash.trailing_zeros() >= self.level)
            .collect();
        self.seen += count;
        let places = UInt64Array::from_iter_values(chosen.iter().map(|(row, _)| *row));
        let taken =
            columns.iter().map(|c| take(c, &places, None)).collect::<std::result::Result<Vec<_>, _>>();
        let values = ordered(&self.converters, &taken.map_err(failed)?)?;
        for (at, (_, hash)) in chosen.into_iter().enumerate() {
            self.rows.push((hash, values.iter().map(|v| prefix(v, at).into()).collect()));
        }
        thinned(&mut self.rows, &mut self.level, self.most);
        Ok(())
    }

    /// The shares, of about the same number of rows each.
    pub(super) fn into_ranges(self) -> RangeIds {
        RangeIds { cuts: Cuts::of(&self.rows, self.converters.len()), converters: self.converters }
    }
}

/// The chosen rows of a sample.
type Chosen = Vec<(u64, Vec<Box<[u8]>>)>;

/// Leaves out rows until there are not too many.
fn thinned(rows: &mut Chosen, level: &mut u32, most: usize) {
    while rows.len() > 2 * most {
        *level += 1;
        let level = *level;
        rows.retain(|(hash, _)| hash.trailing_zeros() >= level);
    }
}

/// The samples of parts of the rows as one.
#[derive(Debug, Default)]
pub(super) struct MergedSample {
    rows: Chosen,
    level: u32,
    columns: usize,
}

impl MergedSample {
    /// Adds that of a part: [`Sample::chosen`].
    ///
    /// # Errors
    /// [`Error::Internal`] for something else.
    pub(super) fn add(&mut self, chosen: &RecordBatch) -> Result<()> {
        let wrong =
            || Error::Internal { operation: "sample".into(), reason: "it is not what a task made".into() };
        let hashes = chosen.column(0).as_primitive_opt::<UInt64Type>().ok_or_else(wrong)?;
        let values = chosen.columns()[1..].iter().map(|c| c.as_binary_opt::<i32>().ok_or_else(wrong));
        let values: Vec<&BinaryArray> = values.collect::<Result<_>>()?;
        self.columns = values.len();
        for (row, hash) in hashes.values().iter().enumerate() {
            self.rows.push((*hash, values.iter().map(|v| v.value(row).into()).collect()));
        }
        thinned(&mut self.rows, &mut self.level, SAMPLE);
        Ok(())
    }

    /// Where the shares begin, and the keys that divide the rows into so many parts of about the same number.
    pub(super) fn divided(self, curve: Curve, parts: u64) -> (Cuts, Vec<Vec<u8>>) {
        let cuts = Cuts::of(&self.rows, self.columns);
        let (mut point, mut keys) = (vec![0; self.columns], Vec::with_capacity(self.rows.len()));
        for (_, values) in &self.rows {
            let values: Vec<&[u8]> = values.iter().map(|v| &**v).collect();
            let mut key = Vec::new();
            cuts.key(curve, &values, &mut point, &mut key);
            keys.push(key);
        }
        keys.sort_unstable();
        let count = keys.len() as u64;
        let bound = |part: u64| keys.get((part * count / parts) as usize).cloned();
        (cuts, (1..parts).filter_map(bound).collect())
    }
}

/// For each column, where its shares begin. A frequent value is the first of several, and then has the number of the first:
/// few values are spread over all numbers as their rows are.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Cuts(Vec<Vec<Box<[u8]>>>);

impl Cuts {
    fn of(rows: &Chosen, columns: usize) -> Self {
        let shares = 1_usize << BITS;
        let cuts = |column: usize| {
            let mut values: Vec<&[u8]> = rows.iter().map(|(_, values)| &*values[column]).collect();
            values.sort_unstable();
            let cut = |share: usize| values.get(share * values.len() / shares).map(|v| (*v).into());
            (1..shares).filter_map(cut).collect()
        };
        Cuts((0..columns).map(cuts).collect())
    }

    /// Appends the key of a row: its place on the curve, and at the same place its values.
    fn key(&self, curve: Curve, values: &[&[u8]], point: &mut [u32], key: &mut Vec<u8>) {
        for ((coordinate, value), cuts) in point.iter_mut().zip(values).zip(&self.0) {
            *coordinate = number(cuts, value);
        }
        curve.place(point, BITS, key);
        values.iter().for_each(|value| key.extend_from_slice(value));
    }
}

/// The shares of columns, and how their values are ordered.
#[derive(Debug)]
pub(super) struct RangeIds {
    converters: Vec<RowConverter>,
    cuts: Cuts,
}

impl RangeIds {
    /// Of shares that are known, for columns like these.
    ///
    /// # Errors
    /// As [`Sample::of`].
    pub(super) fn with_cuts(cuts: Cuts, columns: &[ArrayRef]) -> Result<Self> {
        Ok(RangeIds { converters: Sample::of(columns)?.converters, cuts })
    }

    /// What rows are to be ordered by: their places on a curve, and at the same place their values.
    ///
    /// # Errors
    /// [`Error::Arrow`] for columns of other types than the sample's.
    pub(super) fn keys(&self, curve: Curve, columns: &[ArrayRef]) -> Result<BinaryArray> {
        let values = ordered(&self.converters, columns)?;
        let count = columns.first().map_or(0, |c| c.len());
        let mut keys = BinaryBuilder::with_capacity(count, count * 16);
        let (mut point, mut key) = (vec![0; columns.len()], Vec::new());
        for row in 0..count {
            key.clear();
            let values: Vec<&[u8]> = values.iter().map(|v| prefix(v, row)).collect();
            self.cuts.key(curve, &values, &mut point, &mut key);
            keys.append_value(&key);
        }
        Ok(keys.finish())
    }
}

/// The number of the share that a value is in.
fn number(cuts: &[Box<[u8]>], value: &[u8]) -> u32 {
    cuts.partition_point(|cut| **cut < *value) as u32
}

fn ordered(converters: &[RowConverter], columns: &[ArrayRef]) -> Result<Vec<Arc<Rows>>> {
    let convert = |(converter, column): (&RowConverter, &ArrayRef)| {
        converter.convert_columns(std::slice::from_ref(column)).map(Arc::new)
    };
    converters.iter().zip(columns).map(convert).collect::<std::result::Result<_, _>>().map_err(failed)
}

/// The bytes of a value that count. Cutting never turns an order around.
fn prefix(values: &Rows, row: usize) -> &[u8] {
    let bytes = values.row(row).data();
    &bytes[..bytes.len().min(PREFIX)]
}

/// The finaliser of SplitMix64: every bit of the number has a say in every bit of the hash.
fn mixed(number: u64) -> u64 {
    let mut hash = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

fn failed(error: arrow::error::ArrowError) -> Error {
    Error::arrow("ordering rows by columns", error)
}

#[cfg(test)]
mod tests {
    use arrow::array::{Array, Float64Array, Int64Array, StringArray};

    use super::*;

    fn ranges(columns: &[ArrayRef], most: usize) -> RangeIds {
        let mut sample = Sample::of(columns).unwrap();
        sample.most = most;
        sample.add(columns).unwrap();
        assert!(sample.rows.len() <= 2 * most, "{} rows", sample.rows.len());
        sample.into_ranges()
    }

    fn numbers(ranges: &RangeIds, column: &ArrayRef) -> Vec<u32> {
        let values = ordered(&ranges.converters, std::slice::from_ref(column)).unwrap();
        (0..column.len()).map(|row| number(&ranges.cuts.0[0], prefix(&values[0], row))).collect()
    }

    #[test]
    fn shares_are_equal_and_keep_the_order_of_values() {
        for most in [SAMPLE, 2000] {
            let column: ArrayRef = Arc::new(Int64Array::from_iter_values((0..40_000).map(|n| n * n)));
            let numbers = numbers(&ranges(std::slice::from_ref(&column), most), &column);
            assert!(numbers.is_sorted());
            let rows_of = |half: u32| numbers.iter().filter(|n| **n / 512 == half).count() as i64;
            assert!((rows_of(0) - rows_of(1)).abs() < 4_000, "{} and {}", rows_of(0), rows_of(1));
            assert!(*numbers.last().unwrap() > 1000);
        }
    }

    #[test]
    fn few_values_are_spread_over_all_numbers() {
        let column: ArrayRef = Arc::new(StringArray::from_iter(
            (0..8000).map(|n| [None, Some("a"), Some("b"), Some("c")][n % 4]),
        ));
        let mut numbers = numbers(&ranges(std::slice::from_ref(&column), SAMPLE), &column);
        assert!(numbers[..4].is_sorted());
        numbers.sort_unstable();
        numbers.dedup();
        let quarters: Vec<u32> = numbers.iter().map(|n| (n + 64) / 256).collect();
        assert_eq!(quarters, [0, 1, 2, 3], "{numbers:?}");
    }

    #[test]
    fn the_same_rows_give_the_same_keys_however_they_come() {
        let a: ArrayRef = Arc::new(Int64Array::from_iter_values((0..9000).map(|n| (n * 7919) % 9001)));
        let b: ArrayRef =
            Arc::new(Float64Array::from_iter((0..9000).map(|n| (n % 5 > 0).then_some(f64::from(n)))));
        let columns = [a, b];
        let mut parts = Sample::of(&columns).unwrap();
        parts.most = 500;
        for at in [0, 1000, 1001, 5000] {
            let end = [1000, 1001, 5000, 9000].into_iter().find(|end| *end > at).unwrap();
            parts.add(&columns.each_ref().map(|c| c.slice(at, end - at))).unwrap();
        }
        for curve in [Curve::ZOrder, Curve::Hilbert] {
            let whole = ranges(&columns, 500).keys(curve, &columns).unwrap();
            assert_eq!(whole.null_count(), 0);
        }
        let keys = parts.into_ranges().keys(Curve::ZOrder, &columns).unwrap();
        assert_eq!(keys, ranges(&columns, 500).keys(Curve::ZOrder, &columns).unwrap());
    }

    #[test]
    fn no_rows_and_types_without_an_order() {
        let none: ArrayRef = Arc::new(Int64Array::from(Vec::<i64>::new()));
        let ranges = ranges(std::slice::from_ref(&none), SAMPLE);
        let some: ArrayRef = Arc::new(Int64Array::from(vec![3, 1]));
        assert_eq!(numbers(&ranges, &some), [0, 0]);
        assert_eq!(ranges.keys(Curve::ZOrder, &[none]).unwrap().len(), 0);
    }
}
