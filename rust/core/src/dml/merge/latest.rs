//! One row for each key: the source of an upsert.

use arrow::array::ArrayRef;
use arrow::buffer::BooleanBuffer;
use arrow::compute::SortOptions;
use arrow::row::{RowConverter, Rows, SortField};
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::hash::BuildHasher;

use super::keys::comparable;
use super::shown::shown;
use super::source::MergeSource;
use crate::error::{Error, Result};
use crate::expr::{Evaluator, Expr};
use crate::schema::{DataType, arrow_type};

/// Keys that an error shows.
const SHOWN_KEYS: usize = 3;

impl MergeSource {
    /// The source with one row for each key. Nulls in a key are equal.
    ///
    /// Of the rows with one key the greatest by `order_by` stays: Spark SQL over the columns, by which null is the least. Of
    /// equal ones the last stays. `path` is the table that errors name.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no key and for a column that does not exist; [`Error::InvalidExpression`] for what
    /// cannot be evaluated or compared; [`Error::MultipleMatches`] where a key comes twice and there is no `order_by`; those
    /// of the temporary folder.
    ///
    /// # Cost
    /// Memory: for each row its key, what it is ordered by, and about 12 bytes. Rows beyond 256 MiB are written once more
    /// where one is left out.
    pub fn one_for_each_key(self, path: &str, id_cols: &[String], order_by: &[String]) -> Result<Self> {
        let columns = self.key_columns(id_cols)?;
        let keys = columns.iter().map(|name| {
            let column = Expr::Column(vec![name.clone()]);
            Evaluator::of(name, &column, self.columns())
        });
        let keys = compared(&keys.collect::<Result<Vec<_>>>()?, &self)?;
        let order = order_by.iter().map(|text| Evaluator::new(text, self.columns()));
        let order = order.collect::<Result<Vec<_>>>()?;
        let order = match order.is_empty() {
            true => None,
            false => Some(compared(&order, &self)?),
        };
        let hasher = FixedState::default();
        let hash = |at: u32| hasher.hash_one(keys.row(at as usize).as_ref());
        let mut latest: HashTable<u32> = HashTable::new();
        let mut twice = Vec::new();
        for at in 0..self.len() {
            if twice.len() == SHOWN_KEYS {
                break;
            }
            let same = |other: &u32| keys.row(*other as usize) == keys.row(at as usize);
            match latest.entry(hash(at), same, |other| hash(*other)) {
                Entry::Vacant(none) => {
                    none.insert(at);
                }
                Entry::Occupied(mut other) => match &order {
                    None => twice.push(at),
                    Some(order) if order.row(at as usize) >= order.row(*other.get() as usize) => {
                        *other.get_mut() = at;
                    }
                    Some(_) => {}
                },
            }
        }
        if !twice.is_empty() {
            return Err(self.duplicates(path, &columns, &twice));
        }
        if latest.len() == self.len() as usize {
            return Ok(self);
        }
        let mut kept = vec![false; self.len() as usize];
        latest.iter().for_each(|at| kept[*at as usize] = true);
        self.filtered(&BooleanBuffer::from(kept))
    }

    /// The columns of a key as the source spells them.
    fn key_columns(&self, keys: &[String]) -> Result<Vec<String>> {
        let invalid = |reason: String| Error::InvalidArgument { argument: "id_cols".into(), reason };
        if keys.is_empty() {
            return Err(invalid("no column is given".into()));
        }
        let spelled = |name: &String| self.columns().field(name).map(|field| field.name.clone());
        let missing = |name: &String| {
            let known: Vec<&str> = self.columns().fields.iter().map(|f| f.name.as_str()).collect();
            invalid(format!("there is no column `{name}`: {}", known.join(", ")))
        };
        keys.iter().map(|name| spelled(name).ok_or_else(|| missing(name))).collect()
    }

    fn duplicates(&self, path: &str, columns: &[String], numbers: &[u32]) -> Error {
        match self.shown_keys(columns, numbers) {
            Ok(mut rows) => {
                rows.dedup();
                Error::MultipleMatches { path: path.to_owned(), rows }
            }
            Err(error) => error,
        }
    }

    fn shown_keys(&self, columns: &[String], numbers: &[u32]) -> Result<Vec<String>> {
        let all = &self.columns().fields;
        let places: Vec<usize> =
            columns.iter().filter_map(|name| all.iter().position(|f| f.name == *name)).collect();
        let values = self.take(numbers, &places)?;
        let names = columns.iter().map(String::as_str);
        (0..numbers.len()).map(|row| shown(names.clone().zip(&values), row)).collect()
    }
}

/// The values of expressions for all rows of a source, such that their bytes compare as the values do.
fn compared(of: &[Evaluator], source: &MergeSource) -> Result<Rows> {
    let as_type = |e: &Evaluator| match e.data_type() {
        DataType::Void => Ok(DataType::Boolean),
        other => e.compared_as(e).ok_or_else(|| Error::InvalidExpression {
            expression: e.text().to_owned(),
            reason: format!("values of {} cannot be compared", other.name()),
        }),
    };
    let types = of.iter().map(as_type).collect::<Result<Vec<_>>>()?;
    let options = SortOptions { descending: false, nulls_first: true };
    let fields = types.iter().map(|t| SortField::new_with_options(arrow_type(t), options));
    let converter = RowConverter::new(fields.collect()).map_err(failed)?;
    let mut rows = converter.empty_rows(source.len() as usize, 0);
    for batch in source.scan() {
        let (_, batch) = batch?;
        let values = of.iter().zip(&types).map(|(e, t)| e.evaluate_as(&batch, t).map(comparable));
        let values: Vec<ArrayRef> = values.collect::<Result<_>>()?;
        converter.append(&mut rows, &values).map_err(failed)?;
    }
    Ok(rows)
}

fn failed(error: arrow::error::ArrowError) -> Error {
    Error::arrow("the keys of an upsert", error)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{AsArray, Float64Array, Int64Array, RecordBatch};
    use arrow::datatypes::{DataType as Arrow, Field, Int64Type, Schema};
    use arrow::record_batch::RecordBatchIterator;

    use super::*;

    type Row = (Option<i64>, Option<f64>, i64);

    fn source(rows: &[Row], most: usize) -> MergeSource {
        let fields = vec![
            Field::new("id", Arrow::Int64, true),
            Field::new("seen", Arrow::Float64, true),
            Field::new("at", Arrow::Int64, false),
        ];
        let schema = Arc::new(Schema::new(fields));
        let batches: Vec<_> = rows
            .chunks(3)
            .map(|part| {
                let ids: Int64Array = part.iter().map(|r| r.0).collect();
                let seen: Float64Array = part.iter().map(|r| r.1).collect();
                let at: Int64Array = part.iter().map(|r| Some(r.2)).collect();
                RecordBatch::try_new(schema.clone(), vec![Arc::new(ids), Arc::new(seen), Arc::new(at)])
            })
            .collect();
        MergeSource::read_holding("t", RecordBatchIterator::new(batches, schema), most).unwrap()
    }

    fn texts(all: &[&str]) -> Vec<String> {
        all.iter().map(|text| (*text).to_owned()).collect()
    }

    fn places(source: &MergeSource) -> Vec<i64> {
        let batches = source.scan().map(|batch| batch.unwrap().1);
        batches.flat_map(|b| b.column(2).as_primitive::<Int64Type>().values().to_vec()).collect()
    }

    const ROWS: [Row; 9] = [
        (Some(1), Some(2.0), 0),
        (Some(1), Some(3.0), 1),
        (None, None, 2),
        (Some(2), Some(-0.0), 3),
        (Some(2), Some(0.0), 4),
        (None, Some(f64::NEG_INFINITY), 5),
        (Some(3), Some(f64::NAN), 6),
        (Some(3), Some(f64::INFINITY), 7),
        (Some(1), None, 8),
    ];

    #[test]
    fn the_greatest_row_of_a_key_stays_in_memory_and_in_the_file() {
        for most in [usize::MAX, 100, 0] {
            let left = |order: &[&str]| {
                let left = source(&ROWS, most).one_for_each_key("t", &texts(&["ID"]), &texts(order));
                places(&left.unwrap())
            };
            assert_eq!(left(&["seen"]), [1, 4, 5, 6]);
            assert_eq!(left(&["-seen"]), [0, 4, 5, 6]);
            assert_eq!(left(&["seen IS NULL", "at"]), [2, 4, 7, 8]);
            assert_eq!(left(&["NULL"]), [4, 5, 7, 8]);
        }
    }

    #[test]
    fn a_key_that_comes_twice_is_refused_and_shown() {
        let refused = source(&ROWS, 0).one_for_each_key("t", &texts(&["id"]), &[]).unwrap_err();
        let Error::MultipleMatches { rows, .. } = refused else { panic!("{refused}") };
        assert_eq!(rows, ["id = 1", "id = 2", "id = NULL"]);
        let both = source(&ROWS, 0).one_for_each_key("t", &texts(&["id", "at"]), &[]).unwrap();
        assert_eq!(both.len(), 9);
    }

    #[test]
    fn keys_and_orders_that_cannot_be_are_refused() {
        let of = |keys: &[&str], order: &[&str]| {
            source(&ROWS, 0).one_for_each_key("t", &texts(keys), &texts(order)).unwrap_err()
        };
        assert_eq!(of(&[], &[]).kind(), "InvalidArgument");
        assert_eq!(of(&["no"], &[]).kind(), "InvalidArgument");
        assert_eq!(of(&["id"], &["no"]).kind(), "InvalidExpression");
        let map = Field::new(
            "entries",
            Arrow::Struct(
                vec![Field::new("key", Arrow::Utf8, false), Field::new("value", Arrow::Utf8, true)].into(),
            ),
            false,
        );
        let schema = Arc::new(Schema::new(vec![Field::new("m", Arrow::Map(Arc::new(map), false), true)]));
        let none: Vec<std::result::Result<RecordBatch, arrow::error::ArrowError>> = Vec::new();
        let maps = MergeSource::read("t", RecordBatchIterator::new(none, schema)).unwrap();
        let refused = maps.one_for_each_key("t", &texts(&["m"]), &[]).unwrap_err();
        assert_eq!(refused.kind(), "InvalidExpression", "{refused}");
    }
}
