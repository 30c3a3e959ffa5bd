//! What a commit must not be: each rule is a typed error, and nothing is written.

use deltaic_core::actions::Remove;
use deltaic_testkit::Op;
use serde_json::Value;

use super::*;

fn column(name: &str, data_type: &str, metadata: Value) -> Value {
    json!({"name": name, "type": data_type, "nullable": true, "metadata": metadata})
}

fn plain(name: &str, data_type: &str) -> Value {
    column(name, data_type, json!({}))
}

/// Metadata with other columns, of a table that is not partitioned.
fn of(columns: &[Value], properties: &[(&str, &str)]) -> Metadata {
    let schema_string = json!({"type": "struct", "fields": columns}).to_string();
    Metadata { schema_string, partition_columns: Vec::new(), ..metadata(properties) }
}

/// A writer protocol with these features, and those of them that readers must know.
fn features(writer: &[&str], reader: &[&str]) -> Protocol {
    let names = |list: &[&str]| Some(list.iter().map(|name| (*name).to_owned()).collect());
    Protocol { reader_features: names(reader), writer_features: names(writer), ..protocol(&[]) }
}

#[test]
fn a_table_that_breaks_a_rule_is_not_made() {
    let mapped =
        |id: i64, name: &str| json!({"delta.columnMapping.id": id, "delta.columnMapping.physicalName": name});
    let by_name = [("delta.columnMapping.mode", "name"), ("delta.columnMapping.maxColumnId", "2")];
    let identity = json!({"delta.identity.start": 1, "delta.identity.step": 0, "delta.identity.allowExplicitInsert": false});
    let partitioned = |by: &[&str]| Metadata {
        partition_columns: by.iter().map(|name| (*name).to_owned()).collect(),
        ..metadata(&[])
    };
    let v1 = || features(&[], &[]);
    let mapping = || features(&["columnMapping"], &["columnMapping"]);
    let cases = [
        ("a name twice", v1(), of(&[plain("a", "long"), plain("A", "long")], &[]), "InvalidSchema"),
        ("characters", v1(), of(&[plain("a b", "long")], &[]), "InvalidSchema"),
        ("a type that is none", v1(), of(&[plain("a", "text")], &[]), "InvalidSchema"),
        ("no such partition column", v1(), partitioned(&["q"]), "InvalidArgument"),
        ("nothing but partition columns", v1(), partitioned(&["p", "id"]), "InvalidArgument"),
        (
            "an id twice",
            mapping(),
            of(&[column("a", "long", mapped(1, "x")), column("b", "long", mapped(1, "y"))], &by_name),
            "InvalidSchema",
        ),
        (
            "a physical name twice",
            mapping(),
            of(&[column("a", "long", mapped(1, "x")), column("b", "long", mapped(2, "x"))], &by_name),
            "InvalidSchema",
        ),
        ("no ids", mapping(), of(&[plain("a", "long")], &by_name), "InvalidSchema"),
        (
            "an id over the maximum",
            mapping(),
            of(&[column("a", "long", mapped(3, "x"))], &by_name),
            "InvalidSchema",
        ),
        (
            "a mode without its feature",
            v1(),
            of(&[column("a", "long", mapped(1, "x"))], &by_name),
            "InvalidFeatureChange",
        ),
        (
            "vectors without their feature",
            v1(),
            metadata(&[("delta.enableDeletionVectors", "true")]),
            "InvalidFeatureChange",
        ),
        (
            "row ids without their feature",
            v1(),
            metadata(&[("delta.enableRowTracking", "true")]),
            "InvalidFeatureChange",
        ),
        (
            "timestamps without their feature",
            v1(),
            metadata(&[("delta.enableInCommitTimestamps", "true")]),
            "InvalidFeatureChange",
        ),
        (
            "a constraint without its feature",
            v1(),
            metadata(&[("delta.constraints.c", "id > 0")]),
            "InvalidFeatureChange",
        ),
        (
            "checkpoints without their feature",
            v1(),
            metadata(&[("delta.checkpointPolicy", "v2")]),
            "InvalidFeatureChange",
        ),
        (
            "an expression without its feature",
            v1(),
            of(&[plain("a", "long"), column("b", "long", json!({"delta.generationExpression": "a"}))], &[]),
            "InvalidFeatureChange",
        ),
        (
            "an invariant without its feature",
            v1(),
            of(
                &[column(
                    "a",
                    "long",
                    json!({"delta.invariants": "{\"expression\":{\"expression\":\"a > 0\"}}"}),
                )],
                &[],
            ),
            "InvalidFeatureChange",
        ),
        (
            "an identity that stands still",
            features(&["identityColumns"], &[]),
            of(&[column("a", "long", identity)], &[]),
            "InvalidSchema",
        ),
        ("clustering without domains", features(&["clustering"], &[]), metadata(&[]), "InvalidFeatureChange"),
        (
            "a feature for writers only",
            features(&["deletionVectors"], &[]),
            metadata(&[]),
            "InvalidFeatureChange",
        ),
        (
            "a feature for readers only",
            features(&[], &["deletionVectors"]),
            metadata(&[]),
            "InvalidFeatureChange",
        ),
        ("a feature that is not known", features(&["quantum"], &[]), metadata(&[]), "UnsupportedFeature"),
    ];
    for (case, protocol, metadata, kind) in cases {
        let (store, location) = place();
        let made =
            Transaction::create(&location, protocol, metadata, Operation::new("CREATE TABLE")).commit();
        assert_eq!(made.map(|_| "nothing").map_err(|e| e.kind()), Err(kind), "{case}");
        assert_eq!(store.count(Op::Put, "") + store.count(Op::PutIfAbsent, ""), 0, "{case}");
    }
}

#[test]
fn a_commit_that_breaks_a_rule_is_refused() {
    let nullable = |nullable: bool, data_type: &str| {
        let fields = json!([plain("p", "string"), {"name": "id", "type": data_type, "nullable": nullable, "metadata": {}}]);
        let schema_string = json!({"type": "struct", "fields": fields}).to_string();
        Metadata { schema_string, ..metadata(&[]) }
    };
    type Change = Box<dyn Fn(&mut Transaction)>;
    let adds = |add: Add| -> Change { Box::new(move |txn| txn.add(add.clone())) };
    let becomes = |metadata: Metadata| -> Change { Box::new(move |txn| txn.set_metadata(metadata.clone())) };
    let cases: Vec<(&str, Change, &str)> = vec![
        (
            "a file twice",
            Box::new(|txn| {
                txn.add(file("b", "x", 0));
                txn.add(file("b", "x", 0));
            }),
            "InvalidAction",
        ),
        (
            "a file leaves twice",
            Box::new(|txn| {
                txn.remove(remove("a", false));
                txn.remove(remove("%61", false));
            }),
            "InvalidAction",
        ),
        (
            "no value of a partition column",
            adds(Add { partition_values: Default::default(), ..file("b", "x", 0) }),
            "InvalidAction",
        ),
        (
            "a vector without the feature",
            adds(Add { deletion_vector: Some(rows(&[1]).to_inline()), ..file("b", "x", 0) }),
            "InvalidAction",
        ),
        ("a domain without the feature", Box::new(|txn| txn.domain(domain("d"))), "InvalidAction"),
        (
            "two versions of an application",
            Box::new(|txn| {
                txn.app_transaction("app", 1);
                txn.app_transaction("app", 2);
            }),
            "InvalidAction",
        ),
        ("rows leave an append-only table", Box::new(|txn| txn.remove(remove("a", true))), "AppendOnly"),
        ("nulls are there already", becomes(nullable(false, "long")), "InvalidSchema"),
        ("a type gets narrower", becomes(nullable(true, "integer")), "InvalidColumnChange"),
        (
            "a type that widens without the feature",
            becomes(nullable(true, "decimal(20,0)")),
            "InvalidColumnChange",
        ),
        ("a column goes without column mapping", becomes(of(&[plain("p", "string")], &[])), "InvalidSchema"),
        (
            "files keep their partition columns",
            becomes(Metadata { partition_columns: Vec::new(), ..metadata(&[]) }),
            "InvalidSchema",
        ),
        (
            "a feature goes that was not dropped",
            Box::new(|txn| txn.set_protocol(protocol(&[]))),
            "InvalidFeatureChange",
        ),
        (
            "an older protocol",
            Box::new(|txn| {
                txn.set_protocol(Protocol {
                    min_reader_version: 1,
                    min_writer_version: 1,
                    reader_features: None,
                    writer_features: None,
                })
            }),
            "InvalidFeatureChange",
        ),
    ];
    let (store, location) = table(&["appendOnly"], &[("delta.appendOnly", "true")]);
    append(&location, &[file("a", "x", 0)]);
    store.forget();
    for (case, change, kind) in cases {
        let mut txn = begin(&location);
        change(&mut txn);
        assert_eq!(txn.commit().map(|done| done.version).map_err(|e| e.kind()), Err(kind), "{case}");
        assert_eq!(store.count(Op::Put, "") + store.count(Op::PutIfAbsent, ""), 0, "{case}");
    }
}

fn remove(name: &str, data_change: bool) -> Remove {
    Remove { path: FilePath::from_log(name), data_change, ..Default::default() }
}
