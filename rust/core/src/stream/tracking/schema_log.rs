//! The log of schemas of a stream, in the form of delta-spark: one file an entry, named by its number, with the version of
//! the form in the first line and the entry as JSON in the second.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::actions::{Metadata, ObjectPath, Protocol};
use crate::error::{Error, Result, condition};
use crate::schema::{StructField, StructType};
use crate::store::{Location, PutOutcome, StorageOptions};

/// Version of the form.
const FORM: u64 = 1;

/// The option that says where the log is.
pub(super) const OPTION: &str = "schemaTrackingLocation";

/// What a stream reads with, from a commit of its table on. The names are those of `PersistedMetadata` of delta-spark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    pub(super) table_id: String,
    /// The commit that set it, or one up to which it is that of the table.
    #[serde(rename = "deltaCommitVersion")]
    pub(super) version: u64,
    data_schema_json: String,
    partition_schema_json: String,
    /// Where the source of the query has its part of the checkpoint.
    pub(super) source_metadata_path: String,
    /// Properties of the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    table_configurations: Option<BTreeMap<String, String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    protocol_json: Option<String>,
    /// The entry before this one, where that is not the one with the number before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    previous_metadata_seq_num: Option<i64>,
}

/// The line of a log that a protocol is.
#[derive(Serialize, Deserialize)]
struct ProtocolLine {
    protocol: Protocol,
}

impl Entry {
    pub(super) fn new(
        version: u64,
        metadata: &Metadata,
        protocol: &Protocol,
        source_metadata_path: &str,
    ) -> Result<Self> {
        let schema = metadata.schema()?;
        // texts and numbers always have a JSON form
        let line = serde_json::to_string(&ProtocolLine { protocol: protocol.clone() }).unwrap_or_default();
        Ok(Entry {
            table_id: metadata.id.clone(),
            version,
            partition_schema_json: partitioning(&schema, metadata).to_json(),
            data_schema_json: schema.to_json(),
            source_metadata_path: source_metadata_path.to_owned(),
            table_configurations: Some(metadata.configuration.clone()),
            protocol_json: Some(line),
            previous_metadata_seq_num: None,
        })
    }

    /// The schema of the table.
    pub(super) fn schema(&self) -> Result<StructType> {
        parsed(&self.data_schema_json)
    }

    /// The metadata, as an action of the table: what is not in the entry is that of `table`.
    pub(super) fn metadata(&self, table: &Metadata) -> Result<Metadata> {
        self.schema()?;
        let partitions = parsed(&self.partition_schema_json)?;
        Ok(Metadata {
            schema_string: self.data_schema_json.clone(),
            partition_columns: partitions.fields.into_iter().map(|f| f.name).collect(),
            configuration: self.table_configurations.clone().unwrap_or_else(|| table.configuration.clone()),
            ..table.clone()
        })
    }

    /// The protocol; that of `table` where the entry has none.
    pub(super) fn protocol(&self, table: &Protocol) -> Result<Protocol> {
        match &self.protocol_json {
            None => Ok(table.clone()),
            Some(text) => Ok(serde_json::from_str::<ProtocolLine>(text)
                .map_err(|e| {
                    corrupt(format!("the protocol of version {} in it is not valid: {e}", self.version))
                })?
                .protocol),
        }
    }
}

/// The columns that a table is partitioned by.
pub(super) fn partitioning(schema: &StructType, metadata: &Metadata) -> StructType {
    let field = |name: &String| schema.field(name).cloned();
    let fields: Vec<StructField> = metadata.partition_columns.iter().filter_map(field).collect();
    StructType { fields }
}

fn parsed(text: &str) -> Result<StructType> {
    StructType::from_json(text).map_err(|e| {
        corrupt(format!("a schema in it cannot be read ({e}): set another location"))
            .of_condition(&condition::STREAMING_SCHEMA_LOG_PARSE_SCHEMA_FAILED)
    })
}

fn corrupt(what: String) -> Error {
    Error::InvalidArgument { argument: OPTION.to_owned(), reason: format!("the log of schemas: {what}") }
}

/// The log of one source.
#[derive(Debug)]
pub(super) struct SchemaLog {
    location: Location,
    dir: ObjectPath,
    /// The newest entry that this source knows of, with its number.
    current: Option<(i64, Entry)>,
}

impl SchemaLog {
    /// Opens the log of a table below a location; `source` distinguishes sources of one table.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a log of another table, and for a newest entry that cannot be read.
    pub(super) fn open(
        root: &str,
        table_id: &str,
        source: Option<&str>,
        storage: &StorageOptions,
    ) -> Result<Self> {
        let location = Location::open(root, storage)?;
        let dir = location.root().join(&folder_name(table_id, source));
        let mut log = SchemaLog { location, dir, current: None };
        let newest = log
            .location
            .store()
            .list_from(&log.dir, "")?
            .iter()
            .filter_map(|f| f.name.parse::<i64>().ok().filter(|n| *n >= 0))
            .max();
        if let Some(number) = newest {
            log.current = log.get(number)?.map(|entry| (number, entry));
        }
        if let Some(current) = log.current()
            && current.table_id != table_id
        {
            let parameters = [("persistedId", current.table_id.as_str()), ("tableId", table_id)];
            let found = &current.table_id;
            let what = format!("`{}` belongs to the table {found}, and this is {table_id}", log.dir);
            return Err(
                corrupt(what).named(&condition::STREAMING_SCHEMA_LOG_INCOMPATIBLE_DELTA_TABLE_ID, parameters)
            );
        }
        Ok(log)
    }

    pub(super) fn current(&self) -> Option<&Entry> {
        self.current.as_ref().map(|(_, entry)| entry)
    }

    /// The entry before the newest one, which that names.
    pub(super) fn previous(&self) -> Result<Option<Entry>> {
        self.get(self.previous_number())
    }

    fn previous_number(&self) -> i64 {
        match &self.current {
            None => -2,
            Some((number, entry)) => entry.previous_metadata_seq_num.unwrap_or(number - 1),
        }
    }

    /// Adds an entry. With `replace` it replaces the newest one, which stays in the log and is ignored.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] when another query added an entry.
    pub(super) fn append(&mut self, entry: Entry, replace: bool, table: &str) -> Result<()> {
        let mut entry = entry;
        if replace && self.current.is_some() {
            entry.previous_metadata_seq_num = Some(self.previous_number());
        }
        if self.current() == Some(&entry) {
            return Ok(());
        }
        let number = self.current.as_ref().map_or(0, |(number, _)| number + 1);
        let path = self.dir.join(&number.to_string());
        let json = serde_json::to_string(&entry).unwrap_or_default();
        let body = format!("v{FORM}\n{json}");
        let there = || self.location.store().get(&path);
        if self.location.store().put_if_absent(&path, body.clone().into())? == PutOutcome::AlreadyExists
            // of a request that was sent twice the answer may be the second one
            && there()? != body.as_bytes()
        {
            return Err(conflict(&self.dir.to_string(), table));
        }
        self.current = Some((number, entry));
        Ok(())
    }

    fn get(&self, number: i64) -> Result<Option<Entry>> {
        if number < 0 {
            return Ok(None);
        }
        let body = match self.location.store().get(&self.dir.join(&number.to_string())) {
            Ok(body) => body,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let incomplete = |why: String| {
            let at = self.dir.to_string();
            corrupt(format!("entry {number} of `{at}` cannot be read ({why}): set another location"))
                .named(&condition::STREAMING_SCHEMA_LOG_DESERIALIZE_FAILED, [("location", at)])
        };
        let text = std::str::from_utf8(&body).map_err(|e| incomplete(e.to_string()))?;
        let (form, json) = text.split_once('\n').unwrap_or((text, "{}"));
        match form.trim_end().strip_prefix('v').and_then(|n| n.parse::<u64>().ok()) {
            None => Err(incomplete(format!("its first line is `{form}`"))),
            Some(form) if form == 0 || form > FORM => Err(corrupt(format!(
                "entry {number} of `{}` has the form v{form}; v{FORM} is known",
                self.dir
            ))),
            Some(_) => serde_json::from_str(json).map(Some).map_err(|e| incomplete(e.to_string())),
        }
    }
}

/// The folder of a log below its location.
pub(super) fn folder_name(table_id: &str, source: Option<&str>) -> String {
    let source = source.map(|source| format!("_{source}")).unwrap_or_default();
    format!("_schema_log_{table_id}{source}")
}

/// Two sources with one log.
pub(super) fn conflict(log: &str, table: &str) -> Error {
    let reason = format!(
        "another source has the log of schemas `{log}`, too: give it another location, or a streamingSourceTrackingId"
    );
    Error::InvalidArgument { argument: OPTION.to_owned(), reason }
        .named(&condition::STREAMING_SCHEMA_LOCATION_CONFLICT, [("loc", log), ("table", table)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(at: &std::path::Path, table: &str) -> Result<SchemaLog> {
        SchemaLog::open(at.to_str().unwrap(), table, None, &StorageOptions::new())
    }

    fn entry(version: u64) -> Entry {
        let schema =
            r#"{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,"metadata":{}}]}"#;
        let metadata = Metadata {
            id: "t".into(),
            schema_string: schema.into(),
            partition_columns: vec!["a".into()],
            ..Metadata::default()
        };
        let protocol = Protocol {
            min_reader_version: 1,
            min_writer_version: 2,
            reader_features: None,
            writer_features: None,
        };
        Entry::new(version, &metadata, &protocol, "file:/c/sources/0").unwrap()
    }

    #[test]
    fn an_entry_has_the_form_of_delta_spark() {
        let dir = tempfile::tempdir().unwrap();
        log(dir.path(), "t").unwrap().append(entry(3), false, "t").unwrap();
        let text = std::fs::read_to_string(dir.path().join("_schema_log_t/0")).unwrap();
        let schema = r#"{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}"#;
        let expected = format!(
            "v1\n{{\"tableId\":\"t\",\"deltaCommitVersion\":3,\"dataSchemaJson\":\"{schema}\",\"partitionSchemaJson\":\"{schema}\",\
             \"sourceMetadataPath\":\"file:/c/sources/0\",\"tableConfigurations\":{{}},\
             \"protocolJson\":\"{{\\\"protocol\\\":{{\\\"minReaderVersion\\\":1,\\\"minWriterVersion\\\":2}}}}\"}}"
        );
        let (form, json) = text.split_once('\n').unwrap();
        let (expected_form, expected_json) = expected.split_once('\n').unwrap();
        assert_eq!(form, expected_form);
        let value = |t: &str| serde_json::from_str::<serde_json::Value>(t).unwrap();
        let (mut found, mut wanted) = (value(json), value(expected_json));
        for side in [&mut found, &mut wanted] {
            for name in ["dataSchemaJson", "partitionSchemaJson", "protocolJson"] {
                side[name] = value(side[name].as_str().unwrap());
            }
        }
        assert_eq!(found, wanted);
    }

    #[test]
    fn an_entry_that_is_replaced_is_not_the_one_before() {
        let dir = tempfile::tempdir().unwrap();
        let mut one = log(dir.path(), "t").unwrap();
        assert!(one.previous().unwrap().is_none());
        for (version, replace) in [(1, false), (2, false), (2, false), (4, true)] {
            one.append(entry(version), replace, "t").unwrap();
        }
        let again = log(dir.path(), "t").unwrap();
        assert_eq!(again.current().unwrap().version, 4);
        assert_eq!(again.previous().unwrap().unwrap().version, 1);
        let (number, newest) = again.current.as_ref().unwrap();
        assert_eq!((*number, newest.previous_metadata_seq_num), (2, Some(0)));
    }

    #[test]
    fn a_second_writer_is_reported() {
        let dir = tempfile::tempdir().unwrap();
        let [mut one, mut same, mut other] = [(); 3].map(|()| log(dir.path(), "t").unwrap());
        one.append(entry(1), false, "t").unwrap();
        let error = other.append(entry(2), false, "t").unwrap_err();
        assert_eq!(error.condition().unwrap().name, "DELTA_STREAMING_SCHEMA_LOCATION_CONFLICT");
        // the same entry is that of a request that was sent twice
        same.append(entry(1), false, "t").unwrap();
    }

    #[test]
    fn what_is_no_entry_is_an_error_that_names_it() {
        let dir = tempfile::tempdir().unwrap();
        log(dir.path(), "t").unwrap().append(entry(1), false, "t").unwrap();
        let file = dir.path().join("_schema_log_t/0");
        let right = std::fs::read_to_string(&file).unwrap();
        let failed = |text: &str| {
            std::fs::write(&file, text).unwrap();
            let error = log(dir.path(), "t").unwrap_err();
            error.condition().map_or("none", |c| c.name)
        };
        for torn in ["", "v1", "v1\n{", "{}\n{}"] {
            assert_eq!(failed(torn), "DELTA_STREAMING_SCHEMA_LOG_DESERIALIZE_FAILED", "{torn}");
        }
        assert_eq!(failed(&right.replacen("v1", "v2", 1)), "none");
        let of_another = right.replace(r#""tableId":"t""#, r#""tableId":"u""#);
        assert_eq!(failed(&of_another), "DELTA_STREAMING_SCHEMA_LOG_INCOMPATIBLE_DELTA_TABLE_ID");
        std::fs::write(&file, right.replace("struct", "strict")).unwrap();
        let schema = log(dir.path(), "t").unwrap().current().unwrap().schema().unwrap_err();
        assert_eq!(schema.condition().unwrap().name, "DELTA_STREAMING_SCHEMA_LOG_PARSE_SCHEMA_FAILED");
    }
}
