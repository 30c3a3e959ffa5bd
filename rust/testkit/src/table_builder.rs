use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use arrow::record_batch::RecordBatch;
use deltaic_core::actions::{FilePath, ObjectPath};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::checkpoint::{
    ActionWriter, CheckpointForm, CheckpointSpec, TableShape, checkpoint_row, checkpoint_schema,
};
use crate::{Clock, actions, write_parquet};

/// Writes a Delta table by hand, action by action, with file times from a [`Clock`] that moves one second a commit.
/// It checks nothing, so that it can also write what must be refused.
#[derive(Debug)]
pub struct TableBuilder {
    root: PathBuf,
    clock: Clock,
    commits: BTreeMap<u64, Vec<Value>>,
    _dir: Option<TempDir>,
}

impl TableBuilder {
    /// A table in a temporary folder, which goes away with the builder.
    pub fn temp() -> Self {
        let dir = TempDir::new().expect("a temporary folder");
        let root = dir.path().join("table");
        TableBuilder { _dir: Some(dir), ..Self::at(root) }
    }

    /// A table in this folder.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        fs::create_dir_all(root.join("_delta_log")).expect("create _delta_log");
        TableBuilder { root, clock: Clock::default(), commits: BTreeMap::new(), _dir: None }
    }

    /// The clock of the commits.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder as text, for an open by URI.
    pub fn uri(&self) -> String {
        self.root.to_str().expect("a path in UTF-8").to_owned()
    }

    /// The folder as a place of the local store.
    pub fn location(&self) -> ObjectPath {
        ObjectPath::new("file://", &self.uri().replace('\\', "/"))
    }

    /// Commits `protocol` (1, 2) and `metaData`; see [`actions::schema`].
    pub fn create(
        &mut self,
        schema: &Value,
        partition_columns: &[&str],
        configuration: &[(&str, &str)],
    ) -> u64 {
        self.commit(&[actions::protocol(1, 2), actions::metadata(schema, partition_columns, configuration)])
    }

    /// Commits actions as the next version, and gives it.
    pub fn commit(&mut self, actions: &[Value]) -> u64 {
        let version = self.commits.keys().next_back().map_or(0, |v| v + 1);
        self.commit_at(version, actions);
        version
    }

    /// Commits actions as this version, also where that leaves a gap.
    pub fn commit_at(&mut self, version: u64, actions: &[Value]) {
        let body: String = actions.iter().map(|a| format!("{a}\n")).collect();
        self.log_file(&format!("{version:020}.json"), body.as_bytes());
        self.commits.insert(version, actions.to_vec());
    }

    /// Writes any file of the log: a torn commit, a broken hint, a stray file. Its time is the clock's, which moves on.
    pub fn log_file(&self, name: &str, body: &[u8]) -> PathBuf {
        let path = self.root.join("_delta_log").join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("create the folder");
        }
        fs::write(&path, body).unwrap_or_else(|e| panic!("write {}: {e}", path.display()));
        self.touch(&path);
        path
    }

    /// Removes a file of the log.
    pub fn remove_log_file(&self, name: &str) {
        fs::remove_file(self.root.join("_delta_log").join(name))
            .unwrap_or_else(|e| panic!("remove {name}: {e}"));
    }

    /// Writes a data file at a decoded path below the root and gives its `add`, with no statistics but `numRecords`.
    pub fn data_file(
        &self,
        path: &str,
        batch: &RecordBatch,
        partition_values: &[(&str, Option<&str>)],
    ) -> Value {
        let size = write_parquet(&self.root.join(path), batch);
        let action = actions::add_in(FilePath::encode(path).as_str(), partition_values);
        actions::with_stats(actions::with(action, "size", size), &json!({"numRecords": batch.num_rows()}))
    }

    /// The actions that are in force at a version, by plain replay of what was committed: the oracle of replay tests.
    /// Tombstones are kept, paths are compared as written.
    pub fn state(&self, version: u64) -> Vec<Value> {
        let mut state: BTreeMap<(u8, String), Value> = BTreeMap::new();
        for action in self.commits.range(..=version).flat_map(|(_, actions)| actions) {
            let Some((kind, body)) = action.as_object().and_then(|a| a.iter().next()) else {
                continue;
            };
            let text = |field: &str| body[field].as_str().unwrap_or_default().to_owned();
            let key = match kind.as_str() {
                "protocol" => (0, String::new()),
                "metaData" => (1, String::new()),
                "txn" => (2, text("appId")),
                "domainMetadata" => (3, text("domain")),
                "add" | "remove" => (4, format!("{}\u{0}{}", text("path"), body["deletionVector"])),
                _ => continue,
            };
            state.insert(key, action.clone());
        }
        state.into_values().filter(|a| a["domainMetadata"]["removed"] != true).collect()
    }

    /// Writes a checkpoint of this version and, if asked, the hint.
    pub fn checkpoint(&self, version: u64, spec: &CheckpointSpec) {
        let state = self.state(version);
        let metadata =
            state.iter().find_map(|a| a.get("metaData")).expect("a metaData action before a checkpoint");
        let shape = TableShape::of(metadata);
        let rows = state.iter().filter(|a| spec.tombstones || a.get("remove").is_none());
        let rows: Vec<Value> = rows.map(|a| checkpoint_row(a, &shape, spec)).collect();
        let (parts, v2_checkpoint) = match spec.form {
            CheckpointForm::Single => {
                self.action_file(&format!("{version:020}.checkpoint.parquet"), &rows, &shape, spec, false);
                (None, None)
            }
            CheckpointForm::MultiPart(parts) => {
                for (part, rows) in split(&rows, parts).enumerate() {
                    let name = format!("{version:020}.checkpoint.{:010}.{parts:010}.parquet", part + 1);
                    self.action_file(&name, rows, &shape, spec, false);
                }
                (Some(parts), None)
            }
            CheckpointForm::V2Parquet(sidecars)
            | CheckpointForm::V2Json(sidecars)
            | CheckpointForm::V2Classic(sidecars) => {
                (None, Some(self.v2_checkpoint(version, &rows, &shape, spec, sidecars)))
            }
        };
        if spec.hint {
            let mut hint = json!({"version": version, "size": rows.len()});
            if let Some(parts) = parts {
                hint["parts"] = parts.into();
            }
            if let Some(name) = v2_checkpoint {
                hint["v2Checkpoint"] = json!({"path": name});
            }
            self.log_file("_last_checkpoint", hint.to_string().as_bytes());
        }
    }

    fn v2_checkpoint(
        &self,
        version: u64,
        rows: &[Value],
        shape: &TableShape,
        spec: &CheckpointSpec,
        sidecars: usize,
    ) -> String {
        let is_file = |a: &&Value| a.get("add").is_some() || a.get("remove").is_some();
        let mut top = vec![json!({"checkpointMetadata": {"version": version}})];
        if sidecars == 0 {
            top.extend_from_slice(rows);
        } else {
            top.extend(rows.iter().filter(|a| !is_file(a)).cloned());
            let files: Vec<Value> = rows.iter().filter(is_file).cloned().collect();
            for (part, rows) in split(&files, sidecars).enumerate() {
                let name = format!(
                    "{version:020}.checkpoint.{:010}.{sidecars:010}.{}.parquet",
                    part + 1,
                    uuid::Uuid::new_v4()
                );
                let path = self.action_file(&format!("_sidecars/{name}"), rows, shape, spec, true);
                let size = fs::metadata(path).expect("the sidecar is there").len();
                top.push(json!({"sidecar": {"path": name, "sizeInBytes": size, "modificationTime": self.clock.now()}}));
            }
        }
        let unique = uuid::Uuid::new_v4();
        let name = match spec.form {
            CheckpointForm::V2Json(_) => format!("{version:020}.checkpoint.{unique}.json"),
            CheckpointForm::V2Classic(_) => format!("{version:020}.checkpoint.parquet"),
            _ => format!("{version:020}.checkpoint.{unique}.parquet"),
        };
        if matches!(spec.form, CheckpointForm::V2Json(_)) {
            let body: String = top.iter().map(|a| format!("{a}\n")).collect();
            self.log_file(&name, body.as_bytes());
        } else {
            self.action_file(&name, &top, shape, spec, false);
        }
        name
    }

    fn action_file(
        &self,
        name: &str,
        rows: &[Value],
        shape: &TableShape,
        spec: &CheckpointSpec,
        sidecar: bool,
    ) -> PathBuf {
        let path = self.log_file(name, b"");
        let mut writer = ActionWriter::create(&path, checkpoint_schema(shape, spec, sidecar), spec.row_group);
        writer.write(rows);
        writer.close();
        self.touch(&path);
        path
    }

    /// Writes the version checksum of this version, with all its optional fields.
    pub fn crc(&self, version: u64) {
        let state = self.state(version);
        let all = |kind: &str| state.iter().filter_map(|a| a.get(kind).cloned()).collect::<Vec<_>>();
        let files = all("add");
        let crc = json!({
            "tableSizeBytes": files.iter().filter_map(|f| f["size"].as_i64()).sum::<i64>(),
            "numFiles": files.len(),
            "numMetadata": 1,
            "numProtocol": 1,
            "protocol": all("protocol").pop(),
            "metadata": all("metaData").pop(),
            "setTransactions": all("txn"),
            "domainMetadata": all("domainMetadata"),
        });
        self.log_file(&format!("{version:020}.crc"), crc.to_string().as_bytes());
    }

    /// Writes the compacted log file of the commits `from` to `to`, both included.
    pub fn compact(&self, from: u64, to: u64) {
        let part = TableBuilder {
            root: PathBuf::new(),
            clock: self.clock.clone(),
            commits: self.commits.clone(),
            _dir: None,
        };
        let kept = TableBuilder {
            commits: part.commits.into_iter().filter(|(v, _)| (from..=to).contains(v)).collect(),
            ..part
        };
        let body: String = kept.state(to).iter().map(|a| format!("{a}\n")).collect();
        self.log_file(&format!("{from:020}.{to:020}.compacted.json"), body.as_bytes());
    }

    /// Sets the time of a file to the clock's, which moves on by a second.
    fn touch(&self, path: &Path) {
        let millis = u64::try_from(self.clock.advance(1000)).expect("a time after 1970");
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(millis);
        File::options().write(true).open(path).and_then(|f| f.set_modified(time)).expect("set the file time");
    }
}

/// `n` slices of about equal length, the last ones empty where there are fewer rows.
fn split(rows: &[Value], n: usize) -> impl Iterator<Item = &[Value]> {
    (0..n).map(move |i| &rows[rows.len() * i / n..rows.len() * (i + 1) / n])
}
