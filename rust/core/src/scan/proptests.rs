//! T30, T32: whatever is skipped and deleted, the rows of a read are those of brute force.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, StructArray,
};
use arrow::buffer::NullBuffer;
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType as Arrow, Field, Fields, Schema};
use parquet::arrow::{ArrowWriter, PARQUET_FIELD_ID_META_KEY};
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::testing::{Folder, field, lines, mapped, numbers, numbers_schema, only, read_all, schema};
use super::{ReadRequest, RowFilter};
use crate::deletion_vector::DeletionVector;
use crate::predicate::eval::filter_mask;
use crate::predicate::{CompareOp, Literal, Predicate};
use crate::schema::{ColumnMappingMode, StructType};

/// A row: values near its number, so that pages differ; null where there is none. The number 7 is NaN.
#[derive(Debug, Clone)]
struct Row {
    x: Option<i64>,
    text: Option<i64>,
    nested: Option<Option<i64>>,
}

fn row() -> impl Strategy<Value = Row> {
    let near = || proptest::option::weighted(0.7, 0_i64..12);
    (near(), near(), proptest::option::weighted(0.8, near())).prop_map(|(x, text, nested)| Row {
        x,
        text,
        nested,
    })
}

fn double(n: i64) -> f64 {
    if n % 11 == 7 { f64::NAN } else { n as f64 / 4.0 }
}

fn word(n: i64) -> String {
    // longer than what a page index keeps of it
    format!("{}{}", "w".repeat((n % 3) as usize * 40), (b'a' + (n / 5 % 26) as u8) as char)
}

/// Rows in which stretches of a column are null, as pages of nulls are.
fn batch(rows: &[Row]) -> RecordBatch {
    let at = |i: usize, v: Option<i64>, phase: usize| {
        v.filter(|_| !(i / 16 + phase).is_multiple_of(4)).map(|v| v + i as i64)
    };
    let each = || rows.iter().enumerate();
    let n: ArrayRef = Arc::new(Int64Array::from_iter_values((0..rows.len()).map(|i| i as i64)));
    let x: Float64Array = each().map(|(i, r)| at(i, r.x, 0).map(double)).collect();
    let text: StringArray = each().map(|(i, r)| at(i, r.text, 1).map(word)).collect();
    let a: Int64Array = each().map(|(i, r)| at(i, r.nested.flatten(), 2)).collect();
    let b: StringArray = each().map(|(i, r)| at(i, r.text, 3).map(word)).collect();
    let nulls: NullBuffer = rows.iter().map(|r| r.nested.is_some()).collect::<Vec<_>>().into();
    let inner = Fields::from(vec![Field::new("a", Arrow::Int64, true), Field::new("b", Arrow::Utf8, true)]);
    let s = StructArray::new(inner, vec![Arc::new(a), Arc::new(b)], Some(nulls));
    let columns: [(&str, ArrayRef); 4] =
        [("n", n), ("x", Arc::new(x)), ("t", Arc::new(text)), ("s", Arc::new(s))];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, c)| (name, c, true))).unwrap()
}

/// The table's schema, and the rows as a file of such a table has them.
fn stored(rows: &RecordBatch, mode: ColumnMappingMode) -> (StructType, RecordBatch) {
    if mode == ColumnMappingMode::None {
        let s = format!(
            r#"{{"type":"struct","fields":[{},{}]}}"#,
            field("a", r#""long""#),
            field("b", r#""string""#)
        );
        let fields = [("n", r#""long""#), ("x", r#""double""#), ("t", r#""string""#), ("s", s.as_str())];
        return (schema(&fields.map(|(n, t)| field(n, t)).join(",")), rows.clone());
    }
    let s = format!(
        r#"{{"type":"struct","fields":[{},{}]}}"#,
        mapped("a", r#""long""#, "b", 5),
        mapped("b", r#""string""#, "a", 6)
    );
    let fields =
        [("n", r#""long""#, 1), ("x", r#""double""#, 2), ("t", r#""string""#, 3), ("s", s.as_str(), 4)];
    let table = schema(&fields.map(|(n, t, id)| mapped(n, t, &format!("c{id}"), id)).join(","));
    let with_id = |name: &str, data_type: &Arrow, id: i32| {
        let id = HashMap::from([(PARQUET_FIELD_ID_META_KEY.to_owned(), id.to_string())]);
        Field::new(name, data_type.clone(), true).with_metadata(id)
    };
    let s = rows.column(3).as_struct();
    // the physical names are those of the other field
    let inner = Fields::from(vec![with_id("b", &Arrow::Int64, 5), with_id("a", &Arrow::Utf8, 6)]);
    let s: ArrayRef = Arc::new(StructArray::new(inner, s.columns().to_vec(), s.nulls().cloned()));
    let columns: Vec<ArrayRef> = rows.columns()[..3].iter().cloned().chain([s]).collect();
    let fields = columns.iter().zip(1..).map(|(c, id)| with_id(&format!("c{id}"), c.data_type(), id));
    let file = Schema::new(fields.collect::<Vec<_>>());
    (table, RecordBatch::try_new(Arc::new(file), columns).unwrap())
}

fn literal(column: usize, n: i64) -> Literal {
    match column {
        1 => Literal::Double(double(n)),
        2 | 4 => Literal::String(word(n)),
        _ => Literal::Long(n),
    }
}

fn test() -> impl Strategy<Value = Predicate> {
    use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne, NullSafeEq};
    let ops = select(vec![Lt, Le, Eq, Ne, Ge, Gt, NullSafeEq]);
    (0..5_usize, 0..7_usize, ops, -5_i64..220, 0_i64..40).prop_map(|(column, kind, op, n, apart)| {
        let path = [&["n"][..], &["x"], &["t"], &["s", "a"], &["s", "b"]][column];
        let path: Vec<String> = path.iter().map(|p| (*p).to_owned()).collect();
        let n = n.max(if matches!(column, 2 | 4) { 0 } else { -5 });
        match kind {
            0 => Predicate::IsNull { column: path },
            1 => Predicate::IsNotNull { column: path },
            2 => Predicate::In { column: path, values: vec![literal(column, n), literal(column, n + apart)] },
            3 if matches!(column, 2 | 4) => {
                Predicate::StartsWith { column: path, prefix: "w".repeat(apart as usize) }
            }
            4 => Predicate::IsNull { column: vec!["s".into()] },
            _ => Predicate::Compare { op, column: path, value: literal(column, n) },
        }
    })
}

fn predicate() -> impl Strategy<Value = Predicate> {
    test().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..4).prop_map(Predicate::And),
            proptest::collection::vec(inner.clone(), 1..4).prop_map(Predicate::Or),
            inner.prop_map(|p| Predicate::Not(Box::new(p))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn any_predicate_deletes_row_groups_and_pages_give_the_rows_of_brute_force(
        rows in proptest::collection::vec(row(), 1..200),
        predicate in predicate(),
        deleted in proptest::collection::btree_set(0_u64..200, 0..60),
        (group, page_rows, page_bytes, dictionary) in (1_usize..120, 1_usize..30, 40_usize..600, any::<bool>()),
        batch_size in 1_usize..100,
        mode in select(vec![ColumnMappingMode::None, ColumnMappingMode::Name, ColumnMappingMode::Id]),
        columns in subsequence(vec!["x", "t", "s"], 0..=3),
        as_condition in any::<bool>(),
    ) {
        let rows = batch(&rows);
        let (table, stored) = stored(&rows, mode);
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(group))
            .set_data_page_row_count_limit(page_rows)
            .set_data_page_size_limit(page_bytes)
            .set_write_batch_size(1)
            .set_dictionary_enabled(dictionary)
            .build();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, stored.schema(), Some(properties)).unwrap();
        writer.write(&stored).unwrap();
        writer.close().unwrap();

        let folder = Folder::new();
        let mut add = folder.put("f.parquet", &bytes);
        let deleted: DeletionVector = deleted.into_iter().filter(|r| *r < rows.num_rows() as u64).collect();
        if deleted.cardinality() > 0 {
            add.deletion_vector = Some(deleted.to_inline());
        }
        let names = ["n"].into_iter().chain(columns).map(str::to_owned).collect::<Vec<_>>();
        let filter = match as_condition {
            true => RowFilter::Condition(predicate.to_string()),
            false => RowFilter::Predicate(predicate.clone()),
        };
        let request = ReadRequest { columns: Some(names.clone()), filter: Some(filter), batch_size, ..ReadRequest::default() };
        let got = read_all(&folder.scan_mapped(&table, &[], mode, request), &add).unwrap();

        let matches = filter_mask(&predicate, &rows).unwrap();
        let wanted: BooleanArray = (0..rows.num_rows())
            .map(|r| Some(matches.is_valid(r) && matches.value(r) && !deleted.rows().contains(r as u64)))
            .collect();
        let want = filter_record_batch(&rows, &wanted).unwrap();
        let names: Vec<usize> = names.iter().map(|n| want.schema().index_of(n).unwrap()).collect();
        prop_assert_eq!(lines(&got), lines(&want.project(&names).unwrap()));
    }

    #[test]
    fn any_deletes_row_groups_batches_and_projection_give_the_rows_of_brute_force(
        total in 1_i64..400,
        group in 1_usize..150,
        batch_size in 1_usize..200,
        dense in any::<bool>(),
        seed in proptest::collection::vec(0_u64..400, 0..60),
        projection in proptest::sample::subsequence(vec!["id", "name"], 0..=2),
    ) {
        let folder = Folder::new();
        let batch = numbers(total);
        let mut add = folder.parquet("f.parquet", &batch, group);
        let mut deleted: BTreeSet<u64> = seed.into_iter().filter(|r| *r < total as u64).collect();
        if dense {
            deleted = (0..total as u64).filter(|r| !deleted.contains(r)).collect();
        }
        if !deleted.is_empty() {
            add.deletion_vector = Some(deleted.iter().copied().collect::<DeletionVector>().to_inline());
        }
        let request = ReadRequest { batch_size, ..only(&projection) };
        let got = read_all(&folder.scan(&numbers_schema(), &[], request), &add).unwrap();
        let keep = (0..total as u64).map(|r| Some(!deleted.contains(&r))).collect();
        let want = filter_record_batch(&batch, &keep).unwrap();
        prop_assert_eq!(got.num_rows(), want.num_rows());
        for name in projection {
            prop_assert_eq!(got.column_by_name(name).unwrap(), want.column_by_name(name).unwrap());
        }
    }
}
