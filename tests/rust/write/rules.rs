//! The rules of a table for values: held for each row, or the write leaves no trace.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, Date32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow::datatypes::{Date32Type, Int64Type};
use deltaic_core::Error;
use deltaic_core::engine::DistributedWrite;
use deltaic_core::scan::{ReadRequest, read};
use deltaic_core::schema::{StructType, from_arrow};
use deltaic_core::write::{footer_adds, plan_write};
use deltaic_testkit::{TableBuilder, actions};
use serde_json::{Value, json};

use super::*;

fn field(name: &str, data_type: &str, metadata: Value) -> Value {
    json!({"name": name, "type": data_type, "nullable": true, "metadata": metadata})
}

/// A table with these fields and properties, under a protocol that has every rule.
fn table(fields: Vec<Value>, properties: &[(&str, &str)]) -> (TableBuilder, Location) {
    let mut table = TableBuilder::temp();
    let features =
        ["invariants", "checkConstraints", "generatedColumns", "identityColumns", "allowColumnDefaults"];
    let schema = json!({"type": "struct", "fields": fields});
    table.commit(&[actions::protocol_features(&[], &features), actions::metadata(&schema, &[], properties)]);
    let location = Location::open(table.root().to_str().unwrap(), &Default::default()).unwrap();
    (table, location)
}

fn longs(name: &str, values: Vec<Option<i64>>) -> RecordBatch {
    batch([(name, Arc::new(Int64Array::from(values)) as ArrayRef)])
}

/// A column of all rows, ordered by the row.
fn column(location: &Location, name: &str) -> Vec<ArrayRef> {
    let request = ReadRequest { columns: Some(vec![name.to_owned()]), ..Default::default() };
    read(&open(location), request).unwrap().map(|b| b.unwrap().column(0).clone()).collect()
}

fn numbers(location: &Location, name: &str) -> Vec<Option<i64>> {
    let mut all: Vec<_> = column(location, name)
        .iter()
        .flat_map(|a| a.as_primitive::<Int64Type>().iter().collect::<Vec<_>>())
        .collect();
    all.sort_unstable();
    all
}

fn refused(location: &Location, data: &RecordBatch) -> Error {
    let before = objects(location);
    let error = write(location, data, &append()).unwrap_err();
    assert_eq!(objects(location), before);
    error
}

#[test]
fn a_check_constraint_holds_for_every_row_and_null_breaks_it() {
    let (_table, location) =
        table(vec![field("id", "long", json!({}))], &[("delta.constraints.Positive", "ID > 0")]);
    write(&location, &longs("id", vec![Some(1), Some(2)]), &append()).unwrap();
    for (bad, shown) in [(Some(-3), "id = -3"), (None, "id = NULL")] {
        let error = refused(&location, &longs("id", vec![Some(1), bad]));
        let Error::InvariantViolation { rule, expression, row, .. } = &error else { panic!("{error}") };
        assert_eq!(
            (rule.as_str(), expression.as_str(), row.as_str()),
            ("CHECK constraint Positive", "ID > 0", shown)
        );
    }
    assert_eq!(numbers(&location, "id"), [Some(1), Some(2)]);
}

#[test]
fn the_error_of_a_broken_rule_says_all() {
    let (table, location) =
        table(vec![field("id", "long", json!({}))], &[("delta.constraints.c", "id % 2 = 0")]);
    let error = refused(&location, &longs("id", vec![Some(2), Some(5)])).to_string();
    let path = table.location();
    assert_eq!(
        error,
        format!("a row breaks the CHECK constraint c of `{path}`: `id % 2 = 0` does not hold for id = 5")
    );
}

#[test]
fn a_missing_column_is_null_to_a_constraint() {
    let (_table, location) = table(
        vec![field("id", "long", json!({})), field("x", "long", json!({}))],
        &[("delta.constraints.c", "x IS NOT NULL")],
    );
    assert_eq!(refused(&location, &longs("id", vec![Some(1)])).kind(), "InvariantViolation");
}

#[test]
fn an_invariant_of_a_nested_column_is_checked() {
    let rule = json!({"delta.invariants": r#"{"expression": {"expression": "s.x > 3"}}"#});
    let inner = json!({"type": "struct", "fields": [field("x", "long", rule)]});
    let (_table, location) =
        table(vec![json!({"name": "s", "type": inner, "nullable": true, "metadata": {}})], &[]);
    let data = |x: i64| {
        let s = arrow::array::StructArray::from(longs("x", vec![Some(x)]));
        batch([("s", Arc::new(s) as ArrayRef)])
    };
    write(&location, &data(4), &append()).unwrap();
    let error = refused(&location, &data(3)).to_string();
    assert!(error.contains("invariant of column s.x") && error.contains("`s.x > 3`"), "{error}");
}

#[test]
fn a_rule_that_is_not_known_refuses_the_write_before_any_of_it() {
    for expression in ["my_udf(id) > 0", "id > (SELECT 1)", "nope > 0", "id +", "id + 1"] {
        let (_table, location) =
            table(vec![field("id", "long", json!({}))], &[("delta.constraints.c", expression)]);
        let error = refused(&location, &longs("id", vec![Some(1)]));
        assert!(
            matches!(error.plain(), Error::InvalidExpression { expression: e, .. } if e == expression),
            "{error}"
        );
    }
}

#[test]
fn a_row_that_a_rule_has_no_answer_for_refuses_the_write() {
    let (_table, location) =
        table(vec![field("id", "long", json!({}))], &[("delta.constraints.c", "10 / id > 1")]);
    let error = refused(&location, &longs("id", vec![Some(2), Some(0)]));
    assert_eq!(error.to_string(), "expression `10 / id > 1`: division by zero");
}

#[test]
fn generated_columns_are_computed_or_checked() {
    let generated = json!({"delta.generationExpression": "CAST(ts AS DATE)"});
    let (_table, location) =
        table(vec![field("ts", "timestamp", json!({})), field("day", "date", generated)], &[]);
    let times: ArrayRef = Arc::new(
        TimestampMicrosecondArray::from(vec![Some(86_400_000_000), None, Some(-1)]).with_timezone("UTC"),
    );
    let days = |days: Vec<Option<i32>>| Arc::new(Date32Array::from(days)) as ArrayRef;
    write(&location, &batch([("ts", times.clone())]), &append()).unwrap();
    let given = days(vec![Some(1), None, Some(-1)]);
    write(&location, &batch([("ts", times.clone()), ("DAY", given)]), &append()).unwrap();
    for array in column(&location, "day") {
        assert_eq!(array.as_primitive::<Date32Type>().iter().collect::<Vec<_>>(), [Some(1), None, Some(-1)]);
    }
    let wrong = days(vec![Some(1), Some(0), Some(-1)]);
    let error = refused(&location, &batch([("ts", times), ("day", wrong)]));
    let Error::InvariantViolation { rule, row, .. } = &error else { panic!("{error}") };
    assert_eq!((rule.as_str(), row.as_str()), ("generated column day", "ts = NULL, day = 1970-01-01"));
}

#[test]
fn a_generated_partition_column_places_the_rows() {
    let generated = json!({"delta.generationExpression": "upper(name)"});
    let mut table = TableBuilder::temp();
    let schema = json!({"type": "struct", "fields": [field("name", "string", json!({})), field("p", "string", generated)]});
    table.commit(&[actions::protocol(1, 4), actions::metadata(&schema, &["p"], &[])]);
    let location = Location::open(table.root().to_str().unwrap(), &Default::default()).unwrap();
    write(
        &location,
        &batch([("name", Arc::new(StringArray::from(vec!["a", "b", "a"])) as ArrayRef)]),
        &append(),
    )
    .unwrap();
    let mut values: Vec<_> =
        adds(&location).iter().map(|a| a.partition_values.iter().next().unwrap().1.clone()).collect();
    values.sort();
    assert_eq!(values, [Some("A".to_owned()), Some("B".to_owned())]);
}

#[test]
fn a_default_is_for_columns_that_are_missing_and_not_for_nulls() {
    let fields = vec![
        field("id", "long", json!({})),
        field("d", "long", json!({"CURRENT_DEFAULT": "40 + 2"})),
        json!({"name": "s", "type": "string", "nullable": false, "metadata": {"CURRENT_DEFAULT": "'none'"}}),
    ];
    let (_table, location) = table(fields, &[("delta.constraints.c", "d = 42 OR d IS NULL")]);
    write(&location, &longs("id", vec![Some(1), Some(2)]), &append()).unwrap();
    let given = batch([
        ("id", Arc::new(Int64Array::from(vec![3])) as ArrayRef),
        ("d", Arc::new(Int64Array::from(vec![None]))),
    ]);
    write(&location, &given, &append()).unwrap();
    assert_eq!(numbers(&location, "d"), [None, Some(42), Some(42)]);
}

fn identity(explicit: bool, mark: Option<i64>) -> Value {
    let mut metadata = json!({
        "delta.identity.start": 10, "delta.identity.step": 5, "delta.identity.allowExplicitInsert": explicit
    });
    if let Some(mark) = mark {
        metadata["delta.identity.highWaterMark"] = json!(mark);
    }
    metadata
}

fn mark(location: &Location) -> Option<i64> {
    let schema: StructType = open(location).schema().as_ref().clone();
    schema.fields[0].metadata.get("delta.identity.highWaterMark").and_then(Value::as_i64)
}

#[test]
fn identities_follow_the_mark_and_move_it_in_the_same_commit() {
    let (_table, location) =
        table(vec![field("key", "long", identity(false, None)), field("id", "long", json!({}))], &[]);
    let small = WriteOptions { max_rows_per_file: Some(1), ..append() };
    let data = longs("id", vec![Some(1), Some(2), Some(3)]);
    let result =
        deltaic_core::operations::write(&location, reader(vec![Ok(data.clone()), Ok(data.clone())]), &small)
            .unwrap();
    assert_eq!((result.version, mark(&location)), (1, Some(35)));
    assert_eq!(numbers(&location, "key"), [10, 15, 20, 25, 30, 35].map(Some));
    write(&location, &data.slice(0, 1), &append()).unwrap();
    assert_eq!((numbers(&location, "key").last(), mark(&location)), (Some(&Some(40)), Some(40)));
    // no rows, no mark
    write(&location, &data.slice(0, 0), &append()).unwrap();
    assert_eq!((open(&location).version(), mark(&location)), (2, Some(40)));
    let error = refused(&location, &longs("key", vec![Some(1)]));
    assert!(error.to_string().contains("`key` is GENERATED ALWAYS AS IDENTITY"), "{error}");
}

#[test]
fn explicit_identities_are_kept_where_they_are_allowed() {
    let (_table, location) = table(vec![field("key", "long", identity(true, Some(10)))], &[]);
    write(&location, &longs("key", vec![Some(7)]), &append()).unwrap();
    assert_eq!((numbers(&location, "key"), mark(&location)), (vec![Some(7)], Some(10)));
}

#[test]
fn identities_that_do_not_fit_are_refused() {
    let (_table, location) = table(
        vec![field("key", "long", identity(false, Some(i64::MAX - 7))), field("id", "long", json!({}))],
        &[],
    );
    assert_eq!(refused(&location, &longs("id", vec![Some(1), Some(2)])).kind(), "InvalidColumnChange");
}

#[test]
fn two_writers_never_give_one_identity() {
    let (_table, location) =
        table(vec![field("key", "long", identity(false, None)), field("id", "long", json!({}))], &[]);
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|n| {
                scope.spawn({
                    let location = &location;
                    move || write(location, &longs("id", vec![Some(n)]), &append())
                })
            })
            .collect();
        writers.into_iter().map(|w| w.join().unwrap()).collect()
    });
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(numbers(&location, "key"), [10, 15, 20, 25].map(Some));
    assert_eq!(numbers(&location, "id"), [0, 1, 2, 3].map(Some));
    // what was written with values that were taken is gone
    assert_eq!(objects(&location).iter().filter(|name| name.ends_with(".parquet")).count(), 4);
}

/// Two rows of `id`; before the second is read, another writer appends one row.
fn overtaken(location: &Location, options: &WriteOptions) -> Result<WriteResult, Error> {
    let other = location.clone();
    let batches = (1..=2).map(move |n| {
        if n == 2 {
            write(&other, &longs("id", vec![Some(0)]), &append()).unwrap();
        }
        Ok(longs("id", vec![Some(n)]))
    });
    let schema = longs("id", vec![]).schema();
    deltaic_core::operations::write(
        location,
        arrow::array::RecordBatchIterator::new(batches, schema),
        options,
    )
}

#[test]
fn values_that_depend_on_an_identity_are_made_again_with_it() {
    let twice = json!({"delta.generationExpression": "key * 2"});
    let fields = vec![
        field("key", "long", identity(false, None)),
        field("id", "long", json!({})),
        field("twice", "long", twice),
    ];
    let (_table, location) = table(fields, &[]);
    assert_eq!(overtaken(&location, &append()).unwrap().version, 2);
    assert_eq!(numbers(&location, "key"), [10, 15, 20].map(Some));
    assert_eq!(numbers(&location, "twice"), [20, 30, 40].map(Some));
    assert_eq!((numbers(&location, "id"), mark(&location)), ([0, 1, 2].map(Some).into(), Some(20)));
    let request = ReadRequest::default();
    let rows: usize = read(&open(&location), request).unwrap().map(|b| b.unwrap().num_rows()).sum();
    assert_eq!(rows, 3);
}

#[test]
fn an_overwrite_does_not_take_the_rows_that_overtook_it() {
    let (_table, location) =
        table(vec![field("key", "long", identity(false, None)), field("id", "long", json!({}))], &[]);
    let overwrite = WriteOptions { mode: WriteMode::Overwrite, ..append() };
    let error = overtaken(&location, &overwrite).unwrap_err();
    assert_eq!(
        (error.kind(), error.conflict().unwrap().rule.as_str()),
        ("MetadataChanged", "identity-taken")
    );
    assert!(error.to_string().contains("(column `key`)"), "{error}");
    assert_eq!(numbers(&location, "id"), [Some(0)]);
}

#[test]
fn no_time_left_is_a_conflict_about_the_identity() {
    let (_table, location) =
        table(vec![field("key", "long", identity(false, None)), field("id", "long", json!({}))], &[]);
    let before = WriteOptions { commit_budget: std::time::Duration::ZERO, ..append() };
    let error = overtaken(&location, &before).unwrap_err();
    assert_eq!(error.conflict().unwrap().rule.as_str(), "identity-taken");
}

#[test]
fn files_that_nobody_checked_are_refused_and_tasks_check_their_own() {
    let (table, location) = table(vec![field("id", "long", json!({}))], &[("delta.constraints.c", "id > 0")]);
    let data = longs("id", vec![Some(1)]);
    let schema = from_arrow(&data.schema()).unwrap();
    let plan = plan_write(&location, &schema, &append()).unwrap();
    let error = footer_adds(&plan, Vec::new()).unwrap_err();
    assert!(
        matches!(&error, Error::UnsupportedFeature { features, .. } if features == &["CHECK constraint c"])
    );
    let uri = table.root().to_str().unwrap();
    let spread = DistributedWrite::plan(uri, Default::default(), &schema, append()).unwrap();
    assert!(!spread.frame_columns(&schema).direct);
    let task = DistributedWrite::from_json(&spread.to_json().unwrap()).unwrap();
    let error = task.write_files(reader(vec![Ok(longs("id", vec![Some(0)]))]), Some("part")).unwrap_err();
    assert_eq!(error.kind(), "InvariantViolation");
    let adds = task.write_files(reader(vec![Ok(data)]), Some("part")).unwrap();
    spread.commit(adds, Vec::new()).unwrap();
    assert_eq!(numbers(&location, "id"), [Some(1)]);
}

#[test]
fn tasks_do_not_make_identities() {
    let (table, _) =
        self::table(vec![field("key", "long", identity(false, None)), field("id", "long", json!({}))], &[]);
    let schema = from_arrow(&longs("id", vec![]).schema()).unwrap();
    let uri = table.root().to_str().unwrap();
    let error = DistributedWrite::plan(uri, Default::default(), &schema, append()).unwrap_err();
    assert!(error.to_string().contains("identity column `key`"), "{error}");
}

#[test]
fn an_overwrite_of_rows_holds_the_rules_for_the_new_ones() {
    let (_table, location) =
        table(vec![field("id", "long", json!({}))], &[("delta.constraints.c", "id < 10")]);
    write(&location, &longs("id", vec![Some(1), Some(5)]), &append()).unwrap();
    let options = WriteOptions { mode: WriteMode::Overwrite, ..Default::default() };
    let error = write(&location, &longs("id", vec![Some(11)]), &options).unwrap_err();
    assert_eq!(error.kind(), "InvariantViolation");
    write(&location, &longs("id", vec![Some(9)]), &options).unwrap();
    assert_eq!(numbers(&location, "id"), [Some(9)]);
}

#[test]
fn rules_go_by_logical_names_under_column_mapping() {
    let mapped = |id: i64, extra: Value| {
        let mut metadata =
            json!({"delta.columnMapping.id": id, "delta.columnMapping.physicalName": format!("col-{id}")});
        let extra: HashMap<String, Value> = serde_json::from_value(extra).unwrap();
        metadata.as_object_mut().unwrap().extend(extra);
        metadata
    };
    let generated = json!({"delta.generationExpression": "id * 2"});
    let schema = json!({"type": "struct", "fields": [
        field("id", "long", mapped(1, json!({}))), field("twice", "long", mapped(2, generated))
    ]});
    let mut table = TableBuilder::temp();
    let properties = [
        ("delta.columnMapping.mode", "name"),
        ("delta.columnMapping.maxColumnId", "2"),
        ("delta.constraints.c", "twice < 100"),
    ];
    table.commit(&[actions::protocol(2, 5), actions::metadata(&schema, &[], &properties)]);
    let location = Location::open(table.root().to_str().unwrap(), &Default::default()).unwrap();
    write(&location, &longs("id", vec![Some(4)]), &append()).unwrap();
    assert_eq!(numbers(&location, "twice"), [Some(8)]);
    let error = refused(&location, &longs("id", vec![Some(50)])).to_string();
    assert!(error.contains("twice = 100"), "{error}");
    let options = WriteOptions {
        mode: WriteMode::Overwrite,
        replace_where: Some("twice > 7".into()),
        ..Default::default()
    };
    write(&location, &longs("id", vec![Some(5)]), &options).unwrap();
    assert_eq!(numbers(&location, "twice"), [Some(10)]);
    assert_eq!(
        write(&location, &longs("id", vec![Some(3)]), &options).unwrap_err().kind(),
        "ReplaceWhereMismatch"
    );
}
