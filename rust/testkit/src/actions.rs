//! Actions as JSON values: short to write, and free to be wrong.

use serde_json::{Map, Value, json};

/// An `add` of `path` (as the log writes it) with 100 bytes, no partition values and no statistics.
pub fn add(path: &str) -> Value {
    json!({"add": {"path": path, "partitionValues": {}, "size": 100, "modificationTime": 1_767_225_600_000i64, "dataChange": true}})
}

/// An `add` with partition values; `None` is null.
pub fn add_in(path: &str, values: &[(&str, Option<&str>)]) -> Value {
    let mut action = add(path);
    action["add"]["partitionValues"] =
        values.iter().map(|(k, v)| ((*k).to_owned(), json!(v))).collect::<Map<_, _>>().into();
    action
}

/// The same `add` or `remove` with one more field.
pub fn with(mut action: Value, field: &str, value: impl Into<Value>) -> Value {
    if let Some(body) =
        action.as_object_mut().and_then(|a| a.values_mut().next()).and_then(Value::as_object_mut)
    {
        body.insert(field.to_owned(), value.into());
    }
    action
}

/// The same `add` with statistics, which the log holds as text.
pub fn with_stats(action: Value, stats: &Value) -> Value {
    with(action, "stats", stats.to_string())
}

/// A `remove` of `path`.
pub fn remove(path: &str) -> Value {
    json!({"remove": {"path": path, "deletionTimestamp": 1_767_225_600_000i64, "dataChange": true}})
}

/// A `protocol` without table features.
pub fn protocol(reader: i32, writer: i32) -> Value {
    json!({"protocol": {"minReaderVersion": reader, "minWriterVersion": writer}})
}

/// A `protocol` (3, 7) with table features.
pub fn protocol_features(reader: &[&str], writer: &[&str]) -> Value {
    json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": reader, "writerFeatures": writer}})
}

/// A `metaData` for a schema, see [`schema`].
pub fn metadata(schema: &Value, partition_columns: &[&str], configuration: &[(&str, &str)]) -> Value {
    let configuration: Map<String, Value> =
        configuration.iter().map(|(k, v)| ((*k).to_owned(), json!(v))).collect();
    json!({"metaData": {
        "id": "5fba94ed-9794-4965-ba6e-6ee3c0d22af9",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": schema.to_string(),
        "partitionColumns": partition_columns,
        "configuration": configuration,
        "createdTime": 1_767_225_600_000i64,
    }})
}

/// A schema of nullable columns, from names and type names.
pub fn schema(columns: &[(&str, &str)]) -> Value {
    let fields: Vec<Value> = columns
        .iter()
        .map(|(name, kind)| json!({"name": name, "type": kind, "nullable": true, "metadata": {}}))
        .collect();
    json!({"type": "struct", "fields": fields})
}

/// A `commitInfo`.
pub fn commit_info(timestamp: i64, operation: &str) -> Value {
    json!({"commitInfo": {"timestamp": timestamp, "operation": operation, "operationParameters": {}}})
}

/// A `txn`.
pub fn txn(app_id: &str, version: i64) -> Value {
    json!({"txn": {"appId": app_id, "version": version}})
}

/// A `domainMetadata`.
pub fn domain(name: &str, configuration: &str, removed: bool) -> Value {
    json!({"domainMetadata": {"domain": name, "configuration": configuration, "removed": removed}})
}
