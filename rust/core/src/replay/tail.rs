use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, BooleanArray, BooleanBufferBuilder};

use super::columns::{FileBatch, vector_at};
use super::commits::{CHUNK, each_of, fetch};
use super::json_adds::AddColumns;
use super::keys::{KeyLayer, KeySet, key};
use super::line::{AddLine, RemoveLine, for_each_action, for_each_line, parse_whole};
use super::transactions::{TransactionOf, Transactions, transaction_in};
use crate::actions::{CheckpointMetadata, DomainMetadata, Metadata, ObjectPath, Protocol, Sidecar, Txn};
use crate::error::{Error, Result};
use crate::log::LogFile;
use crate::store::{Location, Recycling};

/// What the commits after a checkpoint do: the files that they add and that live, and the keys that they mention.
/// Immutable; an advanced tail shares the columns of the old one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tail {
    /// Live `add`s, with all columns and raw statistics.
    pub(crate) batches: Vec<FileBatch>,
    /// Keys of all file actions: a checkpoint row with one of them is not live any more.
    pub(crate) keys: KeySet,
    /// Newest `txn` of each application.
    pub(crate) txns: Arc<BTreeMap<String, Txn>>,
    /// Newest action of each domain, tombstones included.
    pub(crate) domains: Arc<BTreeMap<String, DomainMetadata>>,
    /// Newest protocol and metadata, where a commit has one.
    pub(crate) protocol: Option<Arc<Protocol>>,
    pub(crate) metadata: Option<Arc<Metadata>>,
    /// Number of file actions that were read.
    pub(crate) actions: u64,
    /// The transactions of the commits.
    pub(crate) transactions: Arc<Transactions>,
    /// Name and version of a file of the log that has a live `add` without `partitionValues`.
    pub(crate) unplaced: Option<(String, u64)>,
}

/// File actions of one commit in order, borrowed from its body.
enum FileAction<'a> {
    Add(AddLine<'a>),
    Remove(RemoveLine<'a>),
}

/// What replay needs of one commit.
#[derive(Default)]
struct Parsed<'a> {
    files: Vec<FileAction<'a>>,
    txns: Vec<Txn>,
    domains: Vec<DomainMetadata>,
    sidecars: Vec<Sidecar>,
    heads: Vec<CheckpointMetadata>,
    protocol: Option<Protocol>,
    metadata: Option<Metadata>,
    /// The identifier of its transaction, hashed.
    transaction: Option<u64>,
}

impl Parsed<'_> {
    /// The transaction of the commit of a version, where it says one.
    fn transaction_of(&self, version: u64) -> Option<TransactionOf> {
        let adds_only = || self.files.iter().all(|f| matches!(f, FileAction::Add(_)));
        let may_repeat =
            self.protocol.is_none() && self.metadata.is_none() && self.txns.is_empty() && adds_only();
        self.transaction.map(|id| TransactionOf { version, id, may_repeat })
    }
}

fn parse<'a>(body: &'a [u8], file: &LogFile, dir: &ObjectPath) -> Result<Parsed<'a>> {
    let mut out = Parsed::default();
    let path = dir.join(&file.name).to_string();
    for_each_line(body, &path, Some(file.version), |line| {
        for_each_action(line, |action, value| {
            let parsed = match action {
                "add" => parse_whole(value).and_then(|v: Option<AddLine<'a>>| match v {
                    Some(add) if add.path.is_empty() => Err("it has no path".to_owned()),
                    add => Ok(add.map(|v| out.files.push(FileAction::Add(v)))),
                }),
                "remove" => parse_whole(value).map(|v| v.map(|v| out.files.push(FileAction::Remove(v)))),
                "txn" => parse_whole(value).map(|v| v.map(|v| out.txns.push(v))),
                "domainMetadata" => parse_whole(value).map(|v| v.map(|v| out.domains.push(v))),
                "protocol" => parse_whole(value).map(|v| v.map(|v| out.protocol = Some(v))),
                "metaData" => parse_whole(value).map(|v| v.map(|v| out.metadata = Some(v))),
                "sidecar" => parse_whole(value).map(|v| v.map(|v| out.sidecars.push(v))),
                "checkpointMetadata" => parse_whole(value).map(|v| v.map(|v| out.heads.push(v))),
                "commitInfo" => parse_whole::<serde::de::IgnoredAny>(value)
                    .map(|v| v.map(|_| out.transaction = out.transaction.or_else(|| transaction_in(value)))),
                _ => parse_whole::<serde::de::IgnoredAny>(value).map(|v| v.map(drop)),
            };
            parsed.map(|p| p.is_some()).map_err(|reason| format!("`{action}`: {reason}"))
        })
    })?;
    Ok(out)
}

/// Batches are closed at this number of rows.
const BATCH_ROWS: usize = 65_536;
/// Batches are joined up to this number of rows: so few take a moment.
const JOINED_ROWS: usize = 8_192;

impl Tail {
    /// Replays commits (oldest first) on top of this tail. Bodies are fetched a chunk at a time, newest chunk first,
    /// and dropped as soon as their surviving rows are columns.
    ///
    /// # Errors
    /// [`crate::Error::LogCorrupt`] with file, version and line.
    pub(crate) fn advance(&self, location: &Location, commits: &[LogFile]) -> Result<Self> {
        let _recycling = Recycling::begin();
        let mut layer = KeyLayer::default();
        let mut txns: BTreeMap<String, Txn> = BTreeMap::new();
        let mut domains: BTreeMap<String, DomainMetadata> = BTreeMap::new();
        let (mut protocol, mut metadata) = (None, None);
        let mut newest_first: Vec<FileBatch> = Vec::new();
        let mut actions = self.actions;
        let mut transactions: Vec<TransactionOf> = Vec::new();
        let mut unplaced = self.unplaced.clone();
        let dir = location.log_dir();
        let mut columns = AddColumns::new();
        for chunk in commits.rchunks(CHUNK) {
            let bodies = fetch(location, chunk)?;
            let parsed = each_of(&bodies, chunk, |body, file| parse(body, file, &dir))?;
            for (commit, file) in parsed.into_iter().zip(chunk).rev() {
                transactions.extend(commit.transaction_of(file.version));
                actions += commit.files.len() as u64;
                for action in commit.files.iter().rev() {
                    match action {
                        FileAction::Add(add) => {
                            let vector = add.deletion_vector.as_ref();
                            let key = key(&add.path, vector, location.root())?;
                            if layer.insert(key, vector.is_some()) {
                                if add.partition_values.is_none() {
                                    unplaced = Some((file.name.clone(), file.version));
                                }
                                columns.push(add)?;
                            }
                        }
                        FileAction::Remove(remove) => {
                            let vector = remove.deletion_vector.as_ref();
                            layer.insert(key(&remove.path, vector, location.root())?, vector.is_some());
                        }
                    }
                }
                if columns.len() >= BATCH_ROWS {
                    newest_first.push(std::mem::replace(&mut columns, AddColumns::new()).finish()?);
                }
                protocol = protocol.or(commit.protocol.map(Arc::new));
                metadata = metadata.or(commit.metadata.map(Arc::new));
                for txn in commit.txns.into_iter().rev() {
                    txns.entry(txn.app_id.clone()).or_insert(txn);
                }
                for domain in commit.domains.into_iter().rev() {
                    domains.entry(domain.domain.clone()).or_insert(domain);
                }
            }
        }
        if columns.len() > 0 {
            newest_first.push(columns.finish()?);
        }
        transactions.reverse();
        let newer = layer.finish();
        let mut batches = Vec::with_capacity(self.batches.len() + newest_first.len());
        for batch in &self.batches {
            let kept = without(batch, &newer, location.root())?;
            if kept.num_files() > 0 {
                batches.push(kept);
            }
        }
        batches.extend(newest_first.into_iter().rev());
        join_last(&mut batches)?;
        let mut all_txns = txns;
        for (app, txn) in self.txns.iter() {
            all_txns.entry(app.clone()).or_insert_with(|| txn.clone());
        }
        let mut all_domains = domains;
        for (name, domain) in self.domains.iter() {
            all_domains.entry(name.clone()).or_insert_with(|| domain.clone());
        }
        Ok(Tail {
            batches,
            keys: self.keys.stacked(newer),
            txns: Arc::new(all_txns),
            domains: Arc::new(all_domains),
            protocol: protocol.or_else(|| self.protocol.clone()),
            metadata: metadata.or_else(|| self.metadata.clone()),
            actions,
            transactions: match transactions.as_slice() {
                [] => self.transactions.clone(),
                newer => Arc::new(self.transactions.with(newer)),
            },
            unplaced,
        })
    }
}

/// Joins the last batches until each is at least twice as large as the next one. A tail that is advanced commit by commit has
/// few batches then, and each file was copied a few times.
fn join_last(batches: &mut Vec<FileBatch>) -> Result<()> {
    while let [.., before, last] = batches.as_slice() {
        let (more, less) = (before.num_files(), last.num_files());
        if more >= 2 * less || more + less > JOINED_ROWS {
            break;
        }
        let joined = FileBatch::joined(&[before.clone(), last.clone()])?.with_own_texts()?;
        batches.truncate(batches.len() - 2);
        batches.push(joined);
    }
    Ok(())
}

/// The rows of a batch that newer commits, whose keys are given, let live.
pub(crate) fn without(batch: &FileBatch, keys: &KeySet, root: &ObjectPath) -> Result<FileBatch> {
    if keys.is_empty() {
        return Ok(batch.clone());
    }
    let (paths, vectors) = (batch.paths(), batch.vectors());
    let any = batch.has_deletion_vectors();
    let mut live = BooleanBufferBuilder::new(batch.num_files());
    for row in 0..batch.num_files() {
        let has_vector = any && vectors.is_valid(row);
        // without any vector in the keys, a row that has one cannot be among them
        live.append(if has_vector && !keys.has_vectors() {
            true
        } else {
            let vector = if has_vector { vector_at(vectors, row) } else { None };
            let path = paths.value(row);
            let may_be = vector.is_some() || keys.may_hold(path);
            !(may_be && keys.contains(&key(path, vector.as_ref(), root)?))
        });
    }
    let live = BooleanArray::new(live.finish(), None);
    batch.filter(&live)
}

/// Compares the versions of the `checkpointMetadata` of a checkpoint with that of its name: a file that replaced
/// another one, or that has its actions twice, is not a checkpoint.
pub(crate) fn check_heads(heads: &[i64], version: u64) -> Result<(), String> {
    match heads {
        [] => Ok(()),
        [one] if u64::try_from(*one) == Ok(version) => Ok(()),
        [one] => Err(format!("its `checkpointMetadata` is of version {one}")),
        more => Err(format!("it has `checkpointMetadata` {} times", more.len())),
    }
}

/// A V2 checkpoint in JSON: its `add`s as columns, its sidecars, and the keys of nothing (it is already reconciled).
pub(crate) struct JsonCheckpoint {
    pub(crate) adds: Option<FileBatch>,
    pub(crate) sidecars: Vec<Sidecar>,
    pub(crate) txns: Vec<Txn>,
    pub(crate) domains: Vec<DomainMetadata>,
    pub(crate) protocol: Option<Protocol>,
    pub(crate) metadata: Option<Metadata>,
}

impl JsonCheckpoint {
    pub(crate) fn parse(body: &[u8], file: &LogFile, dir: &ObjectPath) -> Result<Self> {
        let parsed = parse(body, file, dir)?;
        let heads: Vec<i64> = parsed.heads.iter().map(|head| head.version).collect();
        check_heads(&heads, file.version)
            .map_err(|reason| Error::corrupt(dir.join(&file.name).to_string(), Some(file.version), reason))?;
        let mut columns = AddColumns::new();
        for action in &parsed.files {
            if let FileAction::Add(add) = action {
                columns.push(add)?;
            }
        }
        let adds = if columns.len() > 0 { Some(columns.finish()?) } else { None };
        Ok(JsonCheckpoint {
            adds,
            sidecars: parsed.sidecars,
            txns: parsed.txns,
            domains: parsed.domains,
            protocol: parsed.protocol,
            metadata: parsed.metadata,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::FileMeta;

    fn place() -> (LogFile, ObjectPath) {
        let name = "00000000000000000003.json".to_owned();
        let file = LogFile::classify(FileMeta { name, size: 1, modified: 1 }).unwrap();
        (file, ObjectPath::new("memory://", "/t/_delta_log"))
    }

    const INFO: &str = r#"{"commitInfo":{"txnId":"one"}}"#;
    const ADD: &str =
        r#"{"add":{"path":"a","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true}}"#;
    const REMOVE: &str = r#"{"remove":{"path":"b","dataChange":true}}"#;
    const TXN: &str = r#"{"txn":{"appId":"app","version":1}}"#;
    const PROTOCOL: &str = r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}"#;
    const METADATA: &str = r#"{"metaData":{"id":"i","format":{"provider":"parquet","options":{}},"schemaString":"{}","partitionColumns":[],"configuration":{}}}"#;

    #[test]
    fn a_commit_may_be_there_twice_if_it_adds_files_and_nothing_else() {
        let (file, dir) = place();
        let transaction = |lines: &[&str]| {
            let body = lines.join("\n");
            let parsed = parse(body.as_bytes(), &file, &dir).unwrap();
            parsed.transaction_of(3).map(|t| (t.version, t.may_repeat))
        };
        assert_eq!(transaction(&[ADD]), None);
        assert_eq!(transaction(&[INFO, ADD, ADD]), Some((3, true)));
        for other in [REMOVE, TXN, PROTOCOL, METADATA] {
            assert_eq!(transaction(&[INFO, ADD, other]), Some((3, false)), "{other}");
        }
    }

    #[test]
    fn a_tail_that_grows_by_single_files_has_few_batches_in_the_same_order() {
        let (file, dir) = place();
        let mut batches = Vec::new();
        let path = |n: usize| format!("a path that is too long for a view {n:>5}");
        for n in 0..20_000 {
            let body = ADD.replace("\"a\"", &format!("\"{}\"", path(n)));
            let read = JsonCheckpoint::parse(body.as_bytes(), &file, &dir).unwrap();
            batches.extend(read.adds);
            join_last(&mut batches).unwrap();
        }
        assert!(batches.len() <= 20_000 / JOINED_ROWS * 2 + 14, "{}", batches.len());
        let found =
            batches.iter().flat_map(|b| b.paths().iter().flatten().map(str::to_owned).collect::<Vec<_>>());
        assert!(found.eq((0..20_000).map(path)));
        let held: usize = batches.iter().map(|b| b.record_batch().get_array_memory_size()).sum();
        assert!(held < 20_000 * 400, "{held} bytes");
    }

    #[test]
    fn an_add_without_a_path_is_refused() {
        let (file, dir) = place();
        let body = ADD.replace("\"a\"", "\"\"");
        let error = parse(body.as_bytes(), &file, &dir).err().unwrap().to_string();
        assert!(error.contains("it has no path"), "{error}");
    }

    #[test]
    fn a_checkpoint_has_one_version_at_most_and_it_is_its_own() {
        assert_eq!(check_heads(&[], 3), Ok(()));
        assert_eq!(check_heads(&[3], 3), Ok(()));
        assert!(check_heads(&[2], 3).unwrap_err().contains("version 2"));
        assert!(check_heads(&[-1], u64::MAX).is_err());
        assert!(check_heads(&[3, 3], 3).unwrap_err().contains("2 times"));
    }

    #[test]
    fn a_checkpoint_in_json_without_adds_has_no_batch() {
        let (file, dir) = place();
        let adds = |lines: &[&str]| {
            let parsed = JsonCheckpoint::parse(lines.join("\n").as_bytes(), &file, &dir).unwrap();
            parsed.adds.map(|batch| batch.num_files())
        };
        assert_eq!(adds(&[PROTOCOL, METADATA, REMOVE]), None);
        assert_eq!(adds(&[PROTOCOL, METADATA, ADD, REMOVE, ADD]), Some(2));
    }

    #[test]
    fn actions_that_are_null_and_lines_without_any_are_skipped() {
        let (file, dir) = place();
        let all =
            r#"{"protocol":null,"metaData":null,"txn":null,"domainMetadata":null,"remove":null,"add":null}"#;
        let body = [all, "{}", r#"{"protocol":null}"#].join("\n");
        let read = parse(body.as_bytes(), &file, &dir).unwrap();
        assert!(read.files.is_empty() && read.txns.is_empty() && read.domains.is_empty());
        assert!(read.protocol.is_none() && read.metadata.is_none());
        // an action beside nulls is read
        let body = PROTOCOL.replacen('{', "{\"add\":null,", 1);
        assert!(parse(body.as_bytes(), &file, &dir).unwrap().protocol.is_some());
    }

    #[test]
    fn a_checkpoint_in_json_of_another_version_is_refused() {
        let (file, dir) = place();
        let head = |version: u64| format!("{{\"checkpointMetadata\":{{\"version\":{version}}}}}\n{PROTOCOL}");
        assert!(JsonCheckpoint::parse(head(3).as_bytes(), &file, &dir).is_ok());
        let error = JsonCheckpoint::parse(head(2).as_bytes(), &file, &dir).err().unwrap().to_string();
        assert!(error.contains("version 2"), "{error}");
    }
}
