//! The JSON of a schema: an error, or a schema that is the same when it is written and read again, and in a table.

use deltaic_core::schema::{StructType, to_arrow_schema};
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_testkit::{Image, actions};
use fastrand::Rng;
use serde_json::{Value, json};

use super::engine::Target;
use super::{mutate_json, seeds};

pub(crate) struct Schemas;

const KEYS: [&str; 16] = [
    "type",
    "fields",
    "name",
    "nullable",
    "metadata",
    "elementType",
    "containsNull",
    "keyType",
    "valueType",
    "valueContainsNull",
    "delta.columnMapping.id",
    "delta.columnMapping.physicalName",
    "delta.generationExpression",
    "delta.typeChanges",
    "delta.identity.start",
    "__CHAR_VARCHAR_TYPE_STRING",
];

impl Target for Schemas {
    const NAME: &'static str = "schemas";

    fn new() -> Self {
        Schemas
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        let lines = seeds::of_logs(seeds::is_commit).into_iter().flat_map(|body| {
            let lines: Vec<Value> =
                body.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
            lines
        });
        let written =
            lines.filter_map(|line| Some(line["metaData"]["schemaString"].as_str()?.as_bytes().to_vec()));
        let field = |name: &str, kind: Value| {
            json!({"name": name, "type": kind, "nullable": true, "metadata": {
            "delta.columnMapping.id": 4, "delta.columnMapping.physicalName": format!("col-{name}"),
            "delta.typeChanges": [{"fromType": "byte", "toType": "integer", "fieldPath": "element"}]}})
        };
        let names = [
            "string",
            "long",
            "integer",
            "short",
            "byte",
            "float",
            "double",
            "decimal(12,2)",
            "boolean",
            "binary",
            "date",
            "timestamp",
            "timestamp_ntz",
            "variant",
            "void",
            "char(3)",
        ];
        let plain: Vec<Value> = names.iter().map(|n| field(n, json!(n))).collect();
        let nested = json!({"type": "struct", "fields": [
            field("l", json!({"type": "array", "elementType": "integer", "containsNull": false})),
            field("m", json!({"type": "map", "keyType": "string", "valueContainsNull": true,
                "valueType": {"type": "struct", "fields": [field("b", json!("byte"))]}})),
        ]});
        let made = [json!({"type": "struct", "fields": plain}), nested];
        written.chain(made.map(|v| v.to_string().into_bytes())).collect()
    }

    fn mutate(&self, rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut out = mutate_json::lines(rng, seeds, &KEYS);
        if out.last() == Some(&b'\n') {
            out.pop();
        }
        out
    }

    fn check(&self, input: &[u8]) -> bool {
        let text = String::from_utf8_lossy(input);
        let schema = StructType::from_json(&text);
        if let Ok(schema) = &schema {
            let written = schema.to_json();
            let again = StructType::from_json(&written).unwrap();
            assert_eq!(again, *schema);
            assert_eq!(again.to_json(), written);
            assert_eq!(to_arrow_schema(schema).fields().len(), schema.fields.len());
        }
        let metadata = actions::metadata(&json!({}), &[], &[("delta.columnMapping.mode", "name")]);
        let metadata = actions::with(metadata, "schemaString", text.as_ref());
        let protocol = actions::protocol_features(&["columnMapping"], &["columnMapping"]);
        let mut image = Image::default();
        let commit = format!("{protocol}\n{metadata}\n");
        image.put("_delta_log/00000000000000000000.json", commit.into_bytes().into());
        match Snapshot::open(image.location(), At::Latest) {
            // no text is a table without columns
            Ok(snapshot) if !text.is_empty() => assert_eq!(**snapshot.schema(), schema.unwrap()),
            _ => {}
        }
        StructType::from_json(&text).is_ok()
    }
}
