//! What is refused, and leaves nothing.

use deltaic_core::alter::{NewColumn, SetOptions};
use deltaic_core::maintain::{Alteration, alter_table};
use deltaic_core::schema::StructField;
use serde_json::{Value, json};

use super::*;

fn refused(location: &Location, set: &[(&str, &str)], condition: Option<&str>) -> (String, String) {
    let version = open(location).version();
    let error = update(location, set, condition).unwrap_err();
    assert_eq!(open(location).version(), version);
    assert_eq!(orphans(location), Vec::<String>::new());
    (error.kind().to_owned(), error.to_string())
}

#[test]
fn what_is_no_condition_or_no_assignment() {
    let (_, location) = table(10, true, &[]);
    for condition in ["no_column = 1", "k", "k =", "k = 1 extra", "no_such_function(k) = 1"] {
        assert_eq!(
            delete(&location, Some(condition)).unwrap_err().kind(),
            "InvalidExpression",
            "{condition}"
        );
        assert_eq!(refused(&location, &[("k", "1")], Some(condition)).0, "InvalidExpression");
    }
    for (set, text) in [
        (&[][..], "nothing is set"),
        (&[("nope", "1")][..], "no column `nope`"),
        (&[("s.nope", "1")][..], "no column `s.nope`"),
        (&[("k.x", "1")][..], "no column `k.x`"),
        (&[("k", "1"), ("K", "2")][..], "`k` and `K` set the same value"),
        (&[("s", "NULL"), ("s.a", "2")][..], "`s` and `s.a` set the same value"),
    ] {
        let (kind, said) = refused(&location, set, None);
        assert_eq!(kind, "InvalidArgument", "{said}");
        assert!(said.contains(text), "{said}");
    }
    assert_eq!(refused(&location, &[("k", "s")], None).0, "InvalidExpression");
    assert_eq!(refused(&location, &[("k", "k +")], None).0, "InvalidExpression");
}

#[test]
fn tables_that_lose_no_rows() {
    let (store, location) = table(10, false, &[("delta.appendOnly", "true")]);
    store.forget();
    assert_eq!(delete(&location, Some("k = 1")).unwrap_err().kind(), "AppendOnly");
    assert_eq!(delete(&location, Some("k = -77")).unwrap_err().kind(), "AppendOnly");
    assert_eq!(delete(&location, None).unwrap_err().kind(), "AppendOnly");
    assert_eq!(update(&location, &[("k", "1")], None).unwrap_err().kind(), "AppendOnly");
    assert_eq!(store.count(deltaic_testkit::Op::Put, ""), 0);
}

/// Adds a column with metadata.
fn column(location: &Location, name: &str, data_type: &str, metadata: Value) {
    let field = json!({"name": name, "type": data_type, "nullable": true, "metadata": metadata});
    let schema = json!({"type": "struct", "fields": [field]}).to_string();
    let field: StructField = deltaic_core::schema::StructType::from_json(&schema).unwrap().fields.remove(0);
    alter_table(location, &Alteration::AddColumns(vec![NewColumn::of(field)]), None).unwrap();
}

#[test]
fn rules_of_the_table_hold_for_new_rows() {
    let (_, location) = table(10, false, &[]);
    let add = |name: &str, expression: &str| {
        let change =
            Alteration::AddConstraint { name: name.into(), expression: expression.into(), checked: None };
        alter_table(&location, &change, None).unwrap();
    };
    add("small", "k < 100");
    let (kind, said) = refused(&location, &[("k", "k + 95")], None);
    assert_eq!(kind, "InvariantViolation");
    assert!(said.contains("CHECK constraint small") && said.contains("k = 100"), "{said}");
    assert_eq!(update(&location, &[("k", "k + 95")], Some("k < 5")).unwrap().updated_rows, 5);
}

/// A table by hand: `a` NOT NULL, `g` generated from `a`, `i` an identity, `c` a varchar(3), `d` with a default.
fn ruled() -> (deltaic_testkit::TableBuilder, Location) {
    let mut builder = deltaic_testkit::TableBuilder::temp();
    let field = |name: &str, t: &str, nullable: bool, metadata: Value| json!({"name": name, "type": t, "nullable": nullable, "metadata": metadata});
    let schema = json!({"type": "struct", "fields": [
        field("a", "long", false, json!({})),
        field("g", "long", true, json!({"delta.generationExpression": "a * 2"})),
        field("i", "long", true, json!({"delta.identity.start": 1, "delta.identity.step": 1,
            "delta.identity.highWaterMark": 2, "delta.identity.allowExplicitInsert": false})),
        field("c", "string", true, json!({"__CHAR_VARCHAR_TYPE_STRING": "varchar(3)"})),
        field("d", "long", true, json!({"CURRENT_DEFAULT": "40 + 2"})),
    ]});
    let features = ["generatedColumns", "identityColumns", "invariants", "allowColumnDefaults"];
    let protocol =
        json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": features}});
    builder.commit(&[protocol, deltaic_testkit::actions::metadata(&schema, &[], &[])]);
    let long = |values: [i64; 2]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
    let c: ArrayRef = Arc::new(StringArray::from(vec!["x", "y"]));
    let rows = RecordBatch::try_from_iter([
        ("a", long([1, 2])),
        ("g", long([2, 4])),
        ("i", long([1, 2])),
        ("c", c),
        ("d", long([0, 0])),
    ]);
    let add = builder.data_file("f.parquet", &rows.unwrap(), &[]);
    builder.commit(&[add]);
    let location = Location::open(&builder.uri(), &Default::default()).unwrap();
    (builder, location)
}

fn longs(location: &Location, column: &str) -> Vec<i64> {
    let request = ReadRequest { columns: Some(vec![column.into()]), ..Default::default() };
    let batches = read(&open(location), request).unwrap().map(|b| b.unwrap());
    let mut out: Vec<i64> =
        batches.flat_map(|b| b.column(0).as_primitive::<Int64Type>().values().to_vec()).collect();
    out.sort_unstable();
    out
}

#[test]
fn generated_identity_bounded_and_default_columns() {
    let (_builder, location) = ruled();
    for (set, kind, text) in [
        (("a", "NULL"), "SchemaMismatch", "`a`"),
        (("g", "7"), "InvariantViolation", "generated column g"),
        (("i", "7"), "SchemaMismatch", "identity column: it cannot be updated"),
        (("c", "'long'"), "SchemaMismatch", "c"),
    ] {
        let version = open(&location).version();
        let error = update(&location, &[set], None).unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
        if set.0 != "c" {
            assert_eq!(error.kind(), kind);
        }
        assert_eq!(open(&location).version(), version);
    }
    update(&location, &[("a", "a + 10"), ("d", "DEFAULT"), ("c", "default")], Some("a = 1")).unwrap();
    assert_eq!(longs(&location, "a"), [2, 11]);
    assert_eq!(longs(&location, "g"), [4, 22]);
    assert_eq!(longs(&location, "i"), [1, 2]);
    assert_eq!(longs(&location, "d"), [0, 42]);
    // set to what it must be
    update(&location, &[("a", "5"), ("g", "10")], Some("a = 2")).unwrap();
    assert_eq!(longs(&location, "g"), [10, 22]);
}

#[test]
fn columns_added_later_are_null_in_old_files() {
    let (_, location) = table(20, false, &[VECTORS]);
    column(&location, "n", "long", json!({}));
    assert_eq!(update(&location, &[("n", "k")], Some("n IS NULL AND k < 3")).unwrap().updated_rows, 3);
    assert_eq!(delete(&location, Some("n >= 1")).unwrap().deleted_rows, Some(2));
    assert_eq!(delete(&location, Some("n IS NULL")).unwrap().deleted_rows, Some(17));
    let set: [(String, String); 1] = [("delta.appendOnly".into(), "true".into())];
    let change = Alteration::SetProperties { properties: set.into(), options: SetOptions::default() };
    alter_table(&location, &change, None).unwrap();
    assert_eq!(delete(&location, None).unwrap_err().kind(), "AppendOnly");
}
