//! Equal values on both sides: the parts of a condition that find rows without comparing each with each.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType as Arrow, Float32Type, Float64Type};
use arrow::row::{RowConverter, Rows, SortField};
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;
use std::sync::Arc;

use super::names::{Joined, is_of};
use super::source::MergeSource;
use crate::error::{Error, Result};
use crate::expr::{Binary, Evaluator, Expr};
use crate::schema::{DataType, arrow_type};

/// The end of a chain of rows with one key.
const END: u32 = u32::MAX;

/// Two expressions that must be equal, one over each side.
#[derive(Debug)]
pub(super) struct Key {
    target: Evaluator,
    source: Evaluator,
    /// Both are compared in it.
    data_type: DataType,
    /// Whether null equals null.
    pub(super) null_safe: bool,
    /// The column of the table, where that side is one.
    pub(super) column: Option<Vec<String>>,
    /// The column of the source, where that side is one.
    pub(super) source_column: Option<String>,
}

/// The parts of a condition that are joined by AND.
pub(super) fn conjuncts(condition: &Expr) -> Vec<&Expr> {
    let (mut parts, mut rest) = (Vec::new(), vec![condition]);
    while let Some(part) = rest.pop() {
        match part {
            Expr::Binary(Binary::And, left, right) => rest.extend([&**right, &**left]),
            other => parts.push(other),
        }
    }
    parts
}

impl Key {
    /// A part of a condition as a key, if it is one; `text` is what errors call it.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`] for a side that cannot be evaluated.
    pub(super) fn of(
        part: &Expr,
        text: &str,
        joined: &Joined,
        aliases: (&str, &str),
    ) -> Result<Option<Self>> {
        let (left, right, null_safe) = match part {
            Expr::Binary(Binary::Eq, left, right) => (&**left, &**right, false),
            Expr::Binary(Binary::NullSafeEq, left, right) => (&**left, &**right, true),
            _ => return Ok(None),
        };
        let reads = |side: &Expr| {
            let mut reads = false;
            side.columns(&mut |_| reads = true);
            reads
        };
        let (target, source) = match (is_of(aliases.0, left), is_of(aliases.1, right)) {
            (true, true) => (left, right),
            _ if is_of(aliases.1, left) && is_of(aliases.0, right) => (right, left),
            _ => return Ok(None),
        };
        if !reads(target) || !reads(source) {
            return Ok(None);
        }
        let bound = |side: &Expr| joined.bind(text, side);
        let (of_target, of_source) = (bound(target)?, bound(source)?);
        let Some(data_type) = of_target.compared_as(&of_source) else { return Ok(None) };
        let column = |side: &Expr| match side {
            Expr::Column(parts) => parts.get(1..).map(<[String]>::to_vec),
            _ => None,
        };
        let source_column = column(source).filter(|parts| parts.len() == 1).and_then(|mut parts| parts.pop());
        Ok(Some(Key {
            target: of_target,
            source: of_source,
            data_type,
            null_safe,
            column: column(target),
            source_column,
        }))
    }
}

/// The rows of the source by their keys.
pub(super) struct KeyIndex {
    keys: Vec<Key>,
    converter: RowConverter,
    rows: Rows,
    /// The number of a row of the source for each of `rows`: rows with a null that equals nothing are left out.
    numbers: Vec<u32>,
    first: HashTable<u32>,
    /// For each of `rows` the next with the same key.
    next: Vec<u32>,
    hasher: FixedState,
    hashes: SeenHashes,
}

/// Which hashes there may be, a bit for each: most keys of a table are not in the source, and are passed over without a look
/// at its rows.
struct SeenHashes {
    /// As many as a power of two.
    words: Vec<u64>,
}

impl SeenHashes {
    /// For so many hashes.
    fn new(hashes: usize) -> Self {
        SeenHashes { words: vec![0; hashes.div_ceil(8).next_power_of_two()] }
    }

    fn place(&self, hash: u64) -> (usize, u64) {
        // the table of the rows goes by other bits
        let bit = hash >> 16;
        ((bit / 64) as usize & (self.words.len() - 1), 1 << (bit % 64))
    }

    fn insert(&mut self, hash: u64) {
        let (word, bit) = self.place(hash);
        self.words[word] |= bit;
    }

    fn may_have(&self, hash: u64) -> bool {
        let (word, bit) = self.place(hash);
        self.words[word] & bit != 0
    }
}

impl KeyIndex {
    /// Of all rows of the source.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`] for a row that a key cannot be computed for.
    ///
    /// # Cost
    /// Memory: for each row of the source its keys, and about 26 bytes.
    pub(super) fn of(
        keys: Vec<Key>,
        source: &MergeSource,
        joined: &Joined,
        places: &[usize],
    ) -> Result<Self> {
        let fields = keys.iter().map(|key| SortField::new(arrow_type(&key.data_type))).collect();
        let converter = RowConverter::new(fields).map_err(failed)?;
        let mut index = KeyIndex {
            rows: converter.empty_rows(0, 0),
            converter,
            keys,
            numbers: Vec::new(),
            first: HashTable::new(),
            next: Vec::new(),
            hasher: FixedState::default(),
            hashes: SeenHashes::new(source.len() as usize),
        };
        for batch in source.scan() {
            let (first, batch) = batch?;
            let columns = batch.project(places).map_err(failed)?.columns().to_vec();
            let rows = joined.rows(None, Some(&columns), batch.num_rows())?;
            let values = index.keys.iter().map(|key| key.source.evaluate_as(&rows, &key.data_type));
            let values = values.map(|v| v.map(comparable)).collect::<Result<Vec<_>>>()?;
            let nulls = index.nulls(&values);
            index.converter.append(&mut index.rows, &values).map_err(failed)?;
            let numbers = (first..).take(batch.num_rows());
            let usable = numbers.enumerate().map(|(row, number)| {
                match nulls.as_ref().is_some_and(|n| n.is_null(row)) {
                    true => END,
                    false => number,
                }
            });
            index.numbers.extend(usable);
        }
        index.next = vec![END; index.numbers.len()];
        // backwards, so that a chain is in the order of the rows
        for at in (0..index.numbers.len()).rev() {
            if index.numbers[at] == END {
                continue;
            }
            let row = index.rows.row(at);
            let hash = index.hasher.hash_one(row.as_ref());
            index.hashes.insert(hash);
            let (rows, hasher, place) = (&index.rows, &index.hasher, at as u32);
            let entry = index.first.entry(
                hash,
                |other| rows.row(*other as usize) == row,
                |other| hasher.hash_one(rows.row(*other as usize).as_ref()),
            );
            match entry {
                hashbrown::hash_table::Entry::Occupied(mut head) => {
                    index.next[at] = *head.get();
                    *head.get_mut() = place;
                }
                hashbrown::hash_table::Entry::Vacant(none) => {
                    none.insert(place);
                }
            }
        }
        Ok(index)
    }

    /// Rows in which a null equals nothing.
    fn nulls(&self, values: &[ArrayRef]) -> Option<NullBuffer> {
        let strict = self.keys.iter().zip(values).filter(|(key, _)| !key.null_safe);
        strict.fold(None, |nulls, (_, values)| {
            NullBuffer::union(nulls.as_ref(), values.logical_nulls().as_ref())
        })
    }

    /// The keys.
    pub(super) fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Calls `found` with the number of each row of a batch of the table and of a row of the source with its keys, in the
    /// order of both.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`] for a row that a key cannot be computed for.
    pub(super) fn probe(
        &self,
        joined: &Joined,
        target: &[ArrayRef],
        rows: usize,
        mut found: impl FnMut(u32, u32),
    ) -> Result<()> {
        let batch = joined.rows(Some(target), None, rows)?;
        let values = self.keys.iter().map(|key| key.target.evaluate_as(&batch, &key.data_type));
        let values = values.map(|v| v.map(comparable)).collect::<Result<Vec<_>>>()?;
        let nulls = self.nulls(&values);
        let keys = self.converter.convert_columns(&values).map_err(failed)?;
        for (row, key) in keys.iter().enumerate() {
            if nulls.as_ref().is_some_and(|n| n.is_null(row)) {
                continue;
            }
            let hash = self.hasher.hash_one(key.as_ref());
            if !self.hashes.may_have(hash) {
                continue;
            }
            let mut at = self.first.find(hash, |other| self.rows.row(*other as usize) == key).copied();
            while let Some(place) = at {
                found(row as u32, self.numbers[place as usize]);
                at = Some(self.next[place as usize]).filter(|next| *next != END);
            }
        }
        Ok(())
    }
}

/// The values such that those that are equal in Spark have the same bytes: one NaN, and one zero.
pub(super) fn comparable(values: ArrayRef) -> ArrayRef {
    match values.data_type() {
        Arrow::Float32 => {
            let one = |x: f32| if x.is_nan() { f32::NAN } else { x + 0.0 };
            Arc::new(values.as_primitive::<Float32Type>().unary::<_, Float32Type>(one))
        }
        Arrow::Float64 => {
            let one = |x: f64| if x.is_nan() { f64::NAN } else { x + 0.0 };
            Arc::new(values.as_primitive::<Float64Type>().unary::<_, Float64Type>(one))
        }
        _ => values,
    }
}

fn failed(error: arrow::error::ArrowError) -> Error {
    Error::arrow("the keys of a merge", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_that_were_seen_are_known_and_most_others_are_not() {
        let hasher = FixedState::default();
        for keys in [0, 1, 7, 8, 9, 1_000, 100_000] {
            let mut seen = SeenHashes::new(keys);
            (0..keys).for_each(|key| seen.insert(hasher.hash_one(key)));
            assert!((0..keys).all(|key| seen.may_have(hasher.hash_one(key))));
            let others = (keys..keys + 1_000).filter(|key| seen.may_have(hasher.hash_one(key)));
            assert!(others.count() < 250, "{keys}");
        }
    }
}
