use std::collections::BTreeMap;
use std::sync::OnceLock;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StructArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use rayon::prelude::*;

use super::checkpoint_file::CheckpointFile;
use super::columns::{FileBatch, VECTOR, conform, map_at, vector_at};
use super::held_stats::HeldStats;
use super::tail::{JsonCheckpoint, check_heads};
use crate::actions::{
    DomainMetadata, FilePath, Format, Metadata, ObjectPath, Protocol, Remove, Sidecar, Txn,
};
use crate::error::{Error, Result};
use crate::log::{Checkpoint, CheckpointFormat, LogFileKind};
use crate::store::{Location, runtime};
use crate::sums::SaturatingSum;

/// A checkpoint whose footers are read: all its Parquet files (parts, sidecars) and what its JSON holds.
#[derive(Debug)]
pub(crate) struct CheckpointReader {
    pub(crate) parquet: Vec<CheckpointFile>,
    /// `add`s of a V2 checkpoint in JSON, statistics raw.
    pub(crate) json_adds: Vec<FileBatch>,
    json: NonFileActions,
    /// Transaction identifiers and domains, once they were asked for.
    named: OnceLock<(Vec<Txn>, Vec<DomainMetadata>)>,
    /// Statistics that predicates asked for again.
    pub(crate) held: HeldStats,
}

/// The content of a checkpoint besides files.
#[derive(Debug, Clone, Default)]
pub(crate) struct NonFileActions {
    pub(crate) protocol: Option<Protocol>,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) txns: Vec<Txn>,
    pub(crate) domains: Vec<DomainMetadata>,
}

/// The facts of a V2 checkpoint about itself: its sidecars, and the versions in its `checkpointMetadata`.
#[derive(Debug, Default)]
struct Head {
    sidecars: Vec<Sidecar>,
    versions: Vec<i64>,
}

impl CheckpointReader {
    /// Opens all files of a checkpoint: one request a file for its footer, at once.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] when a file is missing, torn, or not Parquet where it should be, [`Error::Storage`] when the
    /// store fails.
    pub(crate) fn open(location: &Location, checkpoint: &Checkpoint) -> Result<Self> {
        let (mut out, sidecars) = Self::top_level(location, checkpoint)?;
        let places = sidecars.iter().map(|s| Ok((sidecar_path(&s.path, location)?, s.size_in_bytes)));
        let mut opened = open_all(location, places.collect::<Result<_>>()?, checkpoint.version)?;
        for (file, sidecar) in opened.iter_mut().zip(sidecars) {
            file.sidecar = Some(sidecar);
        }
        out.parquet.extend(opened);
        Ok(out)
    }

    /// The names of the sidecars that a checkpoint links; these are not read.
    ///
    /// # Errors
    /// As [`CheckpointReader::open`].
    pub(crate) fn links(location: &Location, checkpoint: &Checkpoint) -> Result<Vec<String>> {
        let (_, sidecars) = Self::top_level(location, checkpoint)?;
        sidecars.iter().map(|s| Ok(sidecar_path(&s.path, location)?.name().to_owned())).collect()
    }

    fn top_level(location: &Location, checkpoint: &Checkpoint) -> Result<(Self, Vec<Sidecar>)> {
        let dir = location.log_dir();
        let version = checkpoint.version;
        let mut out = CheckpointReader {
            parquet: Vec::new(),
            json_adds: Vec::new(),
            json: NonFileActions::default(),
            named: OnceLock::new(),
            held: HeldStats::default(),
        };
        let mut sidecars: Vec<Sidecar> = Vec::new();
        let mut parquet = Vec::new();
        for file in &checkpoint.files {
            let path = dir.join(&file.name);
            if file.kind == LogFileKind::UuidCheckpoint(CheckpointFormat::Json) {
                let body = location.store().get(&path)?;
                let parsed = JsonCheckpoint::parse(&body, file, &dir)?;
                sidecars.extend(parsed.sidecars);
                out.json_adds.extend(parsed.adds);
                out.json = NonFileActions {
                    protocol: parsed.protocol,
                    metadata: parsed.metadata,
                    txns: parsed.txns,
                    domains: parsed.domains,
                };
            } else {
                parquet.push((path, i64::try_from(file.size).unwrap_or(i64::MAX)));
            }
        }
        out.parquet = open_all(location, parquet, version)?;
        let mut heads = Vec::new();
        for file in &out.parquet {
            let head = file.head()?;
            sidecars.extend(head.sidecars);
            heads.extend(head.versions);
        }
        out.has_one_of_each(&heads, version)?;
        Ok((out, sidecars))
    }

    /// A checkpoint has one protocol, one metadata and at most one `checkpointMetadata`: where it has two, a part took the
    /// place of another.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`].
    fn has_one_of_each(&self, heads: &[i64], version: u64) -> Result<()> {
        let Some(first) = self.parquet.first() else { return Ok(()) };
        let broken = |reason| Error::corrupt(first.file.path(), Some(version), reason);
        check_heads(heads, version).map_err(broken)?;
        for (action, leaf) in [("protocol", "minReaderVersion"), ("metaData", "id")] {
            let count: u64 = self.parquet.iter().filter_map(|f| f.count(action, leaf)).sum();
            if count > 1 {
                return Err(broken(format!("it has `{action}` {count} times")));
            }
        }
        Ok(())
    }

    /// Whether the Parquet file of this path is one of it.
    pub(crate) fn reads(&self, path: &str) -> bool {
        self.parquet.iter().any(|file| file.file.path() == path)
    }

    /// Number of actions: rows of all files, and files in JSON.
    pub(crate) fn num_actions(&self) -> u64 {
        let groups = self.parquet.iter().flat_map(|f| f.metadata().row_groups());
        let rows = groups.map(|g| g.num_rows().unsigned_abs()).saturating_sum();
        rows + self.json_adds.iter().map(|b| b.num_files() as u64).sum::<u64>()
    }

    /// Number of live files; none where the files do not say.
    pub(crate) fn num_adds(&self) -> Option<u64> {
        let parquet: Option<u64> = self.parquet.iter().map(|f| f.count("add", "path")).sum();
        Some(parquet? + self.json_adds.iter().map(|b| b.num_files() as u64).sum::<u64>())
    }

    /// Whether a file of it may have a deletion vector: false only where the footers show that none has.
    pub(crate) fn may_have_deletion_vectors(&self) -> bool {
        let marked = |f: &CheckpointFile| f.count_at(&["add", "deletionVector", "storageType"]) != Some(0);
        self.json_adds.iter().any(FileBatch::has_deletion_vectors) || self.parquet.iter().any(marked)
    }

    /// Whether the top-level file is one of JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json.protocol.is_some()
    }

    /// Protocol and metadata, from the columns that hold them; row groups without any are skipped.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] when they cannot be decoded.
    pub(crate) fn protocol_and_metadata(&self) -> Result<(Option<Protocol>, Option<Metadata>)> {
        let (mut protocol, mut metadata) = (self.json.protocol.clone(), self.json.metadata.clone());
        for file in &self.parquet {
            if protocol.is_none() {
                protocol = file.first("protocol", "minReaderVersion", protocol_at)?;
            }
            if metadata.is_none() {
                metadata = file.first("metaData", "id", metadata_at)?;
            }
            if protocol.is_some() && metadata.is_some() {
                break;
            }
        }
        Ok((protocol, metadata))
    }

    /// The tombstones of the Parquet files: path, time and deletion vector of each.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] when they cannot be decoded.
    pub(crate) fn tombstones(&self) -> Result<Vec<Remove>> {
        let mut out = Vec::new();
        for file in &self.parquet {
            for group in 0..file.metadata().num_row_groups() {
                file.tombstones(group, &mut out)?;
            }
        }
        Ok(out)
    }

    /// All transaction identifiers and domains. They are decoded once in the life of the reader.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] when they cannot be decoded.
    pub(crate) fn txns_and_domains(&self) -> Result<(&[Txn], &[DomainMetadata])> {
        if self.named.get().is_none() {
            let (mut txns, mut domains) = (self.json.txns.clone(), self.json.domains.clone());
            for file in &self.parquet {
                txns.extend(file.all("txn", "appId", txn_at)?);
                domains.extend(file.all("domainMetadata", "domain", domain_at)?);
            }
            // another thread that finished first has the same result
            let _ = self.named.set((txns, domains));
        }
        Ok(self.named.get().map_or((&[], &[]), |(txns, domains)| (txns, domains)))
    }
}

/// A sidecar's name is relative to `_sidecars` unless it is a path of its own.
fn sidecar_path(written: &str, location: &Location) -> Result<ObjectPath> {
    if written.contains('/') {
        return FilePath::from_log(written).resolve(location.root());
    }
    Ok(location.log_dir().join("_sidecars").join(written))
}

fn open_all(location: &Location, files: Vec<(ObjectPath, i64)>, version: u64) -> Result<Vec<CheckpointFile>> {
    if let [(path, size)] = files.as_slice() {
        return Ok(vec![CheckpointFile::open(location, path.clone(), *size, version)?]);
    }
    runtime::pool()?.install(|| {
        files
            .into_par_iter()
            .map(|(path, size)| CheckpointFile::open(location, path, size, version))
            .collect()
    })
}

impl CheckpointFile {
    fn first<T>(
        &self,
        action: &str,
        leaf: &str,
        at: impl Fn(&StructArray, usize) -> Option<T>,
    ) -> Result<Option<T>> {
        for group in 0..self.metadata().num_row_groups() {
            if let Some(found) = self.in_group(group, action, leaf, &at)?.into_iter().next() {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn all<T>(
        &self,
        action: &str,
        leaf: &str,
        at: impl Fn(&StructArray, usize) -> Option<T>,
    ) -> Result<Vec<T>> {
        let mut out = Vec::new();
        for group in 0..self.metadata().num_row_groups() {
            out.extend(self.in_group(group, action, leaf, &at)?);
        }
        Ok(out)
    }

    fn in_group<T>(
        &self,
        group: usize,
        action: &str,
        leaf: &str,
        at: impl Fn(&StructArray, usize) -> Option<T>,
    ) -> Result<Vec<T>> {
        let mut out = Vec::new();
        if !self.may_hold(group, action, leaf) {
            return Ok(out);
        }
        for batch in self.decode(group, &[vec![action]])? {
            out.extend(actions(&batch, action, &at));
        }
        Ok(out)
    }

    fn tombstones(&self, group: usize, out: &mut Vec<Remove>) -> Result<()> {
        if !self.may_hold(group, "remove", "path") {
            return Ok(());
        }
        let columns = ["path", "deletionTimestamp", "deletionVector"].map(|field| vec!["remove", field]);
        for batch in self.decode(group, &columns)? {
            let Some(removes) = batch.column_by_name("remove").and_then(|c| c.as_struct_opt()) else {
                continue;
            };
            let column = |field: &str, to: &DataType| {
                conform(removes, field, to).map_err(|e| {
                    Error::corrupt(self.file.path(), Some(self.version), format!("`remove.{field}`: {e}"))
                })
            };
            let paths = column("path", &DataType::Utf8)?;
            let times = column("deletionTimestamp", &DataType::Int64)?;
            let vectors = column("deletionVector", &DataType::Struct(VECTOR.clone()))?;
            let (paths, times) = (paths.as_string::<i32>(), times.as_primitive::<Int64Type>());
            for row in (0..removes.len()).filter(|row| removes.is_valid(*row) && paths.is_valid(*row)) {
                out.push(Remove {
                    path: FilePath::from_log(paths.value(row)),
                    deletion_timestamp: times.is_valid(row).then(|| times.value(row)),
                    deletion_vector: vector_at(vectors.as_struct(), row),
                    ..Default::default()
                });
            }
        }
        Ok(())
    }

    /// What only a V2 checkpoint has.
    fn head(&self) -> Result<Head> {
        let mut out = Head::default();
        let kinds = [("sidecar", "path"), ("checkpointMetadata", "version")];
        for group in 0..self.metadata().num_row_groups() {
            let here = kinds.iter().filter(|(action, leaf)| self.may_hold(group, action, leaf));
            let columns: Vec<Vec<&str>> = here.map(|(action, _)| vec![*action]).collect();
            if columns.is_empty() {
                continue;
            }
            for batch in self.decode(group, &columns)? {
                out.sidecars.extend(actions(&batch, "sidecar", sidecar_at));
                out.versions.extend(actions(&batch, "checkpointMetadata", |s, row| long(s, "version", row)));
            }
        }
        Ok(out)
    }
}

/// The actions of a kind in a batch. Writers that do not nest nulls leave a struct of nulls for every other action.
fn actions<T>(batch: &RecordBatch, action: &str, at: impl Fn(&StructArray, usize) -> Option<T>) -> Vec<T> {
    let rows = batch.column_by_name(action).and_then(|c| c.as_struct_opt());
    let valid = |rows: &StructArray| {
        (0..rows.len()).filter(|row| rows.is_valid(*row)).filter_map(|row| at(rows, row)).collect()
    };
    rows.map(valid).unwrap_or_default()
}

fn child(parent: &StructArray, name: &str, to: &DataType) -> Option<ArrayRef> {
    cast(parent.column_by_name(name)?, to).ok()
}

fn text(parent: &StructArray, name: &str, row: usize) -> Option<String> {
    let array = child(parent, name, &DataType::Utf8)?;
    array.is_valid(row).then(|| array.as_string::<i32>().value(row).to_owned())
}

fn long(parent: &StructArray, name: &str, row: usize) -> Option<i64> {
    let array = child(parent, name, &DataType::Int64)?;
    array.is_valid(row).then(|| array.as_primitive::<Int64Type>().value(row))
}

fn int(parent: &StructArray, name: &str, row: usize) -> Option<i32> {
    long(parent, name, row).and_then(|v| i32::try_from(v).ok())
}

fn texts(parent: &StructArray, name: &str, row: usize) -> Option<Vec<String>> {
    let list = parent.column_by_name(name)?.as_list_opt::<i32>()?;
    let values = list.is_valid(row).then(|| cast(&list.value(row), &DataType::Utf8))?.ok()?;
    Some(values.as_string::<i32>().iter().flatten().map(str::to_owned).collect())
}

fn pairs(parent: &StructArray, name: &str, row: usize) -> BTreeMap<String, String> {
    super::columns::conform(parent, name, &super::columns::STRING_MAP)
        .map(|map| map_at(map.as_map(), row).into_iter().filter_map(|(k, v)| v.map(|v| (k, v))).collect())
        .unwrap_or_default()
}

fn protocol_at(s: &StructArray, row: usize) -> Option<Protocol> {
    let (min_reader_version, min_writer_version) =
        (int(s, "minReaderVersion", row)?, int(s, "minWriterVersion", row)?);
    // an empty list below the table-feature versions means none (lessons of other writers)
    let reader_features =
        texts(s, "readerFeatures", row).filter(|f| min_reader_version >= 3 || !f.is_empty());
    let writer_features =
        texts(s, "writerFeatures", row).filter(|f| min_writer_version >= 7 || !f.is_empty());
    Some(Protocol { min_reader_version, min_writer_version, reader_features, writer_features })
}

fn metadata_at(s: &StructArray, row: usize) -> Option<Metadata> {
    let format = s.column_by_name("format").and_then(|f| f.as_struct_opt());
    let provider = format.and_then(|f| text(f, "provider", row)).unwrap_or_else(|| "parquet".into());
    let options = format.map(|f| pairs(f, "options", row)).unwrap_or_default();
    Some(Metadata {
        id: text(s, "id", row)?,
        name: text(s, "name", row),
        description: text(s, "description", row),
        format: Format { provider, options },
        schema_string: text(s, "schemaString", row).unwrap_or_default(),
        partition_columns: texts(s, "partitionColumns", row).unwrap_or_default(),
        configuration: pairs(s, "configuration", row),
        created_time: long(s, "createdTime", row),
    })
}

fn sidecar_at(s: &StructArray, row: usize) -> Option<Sidecar> {
    Some(Sidecar {
        path: text(s, "path", row)?,
        size_in_bytes: long(s, "sizeInBytes", row)?,
        modification_time: long(s, "modificationTime", row).unwrap_or_default(),
        tags: None,
    })
}

fn txn_at(s: &StructArray, row: usize) -> Option<Txn> {
    Some(Txn {
        app_id: text(s, "appId", row)?,
        version: long(s, "version", row)?,
        last_updated: long(s, "lastUpdated", row),
    })
}

fn domain_at(s: &StructArray, row: usize) -> Option<DomainMetadata> {
    let removed = s.column_by_name("removed").and_then(|r| r.as_boolean_opt());
    Some(DomainMetadata {
        domain: text(s, "domain", row)?,
        configuration: text(s, "configuration", row).unwrap_or_default(),
        removed: removed.is_some_and(|r| r.is_valid(row) && r.value(row)),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Int32Array, ListArray};
    use arrow::datatypes::{Field, Int32Type};

    use super::*;

    /// A row of `protocol` whose lists of features are empty.
    fn without_features(reader: i32, writer: i32) -> Protocol {
        let number = |n: i32| Arc::new(Int32Array::from(vec![n])) as ArrayRef;
        let list = || {
            let none = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(Vec::<Option<i32>>::new())]);
            cast(&none, &DataType::List(Arc::new(Field::new("element", DataType::Utf8, true)))).unwrap()
        };
        let batch = RecordBatch::try_from_iter([
            ("minReaderVersion", number(reader)),
            ("minWriterVersion", number(writer)),
            ("readerFeatures", list()),
            ("writerFeatures", list()),
        ]);
        protocol_at(&StructArray::from(batch.unwrap()), 0).unwrap()
    }

    #[test]
    fn an_empty_list_of_features_means_none_below_the_versions_that_have_lists() {
        let lists = |p: Protocol| (p.reader_features, p.writer_features);
        assert_eq!(lists(without_features(2, 6)), (None, None));
        assert_eq!(lists(without_features(2, 7)), (None, Some(Vec::new())));
        assert_eq!(lists(without_features(3, 7)), (Some(Vec::new()), Some(Vec::new())));
    }
}
