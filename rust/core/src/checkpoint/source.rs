//! The content of a checkpoint, as streams: the live files, the tombstones that have not expired, everything else.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StructArray};
use arrow::compute::filter;
use arrow::datatypes::{Field, Int64Type, Schema};
use arrow_json::ReaderBuilder;

use super::schema::action;
use crate::actions::{Action, Remove};
use crate::error::{Error, Result};
use crate::log::LogFile;
use crate::replay::{
    CHUNK, CheckpointFile, FileBatch, FileStream, KeyLayer, KeySet, RemoveLine, conform, fetch,
    for_each_action, for_each_line, key, parse_whole, vector_at,
};
use crate::store::Location;

/// Files of one run: they are ordered together.
pub(super) const RUN_ROWS: usize = 128 * 1024;

/// Live files in runs of about [`RUN_ROWS`].
pub(super) struct Runs {
    files: FileStream,
    waiting: VecDeque<FileBatch>,
}

impl Runs {
    pub(super) fn new(files: FileStream) -> Self {
        Runs { files, waiting: VecDeque::new() }
    }
}

impl Iterator for Runs {
    type Item = Result<Vec<FileBatch>>;

    fn next(&mut self) -> Option<Self::Item> {
        let (mut run, mut rows) = (Vec::new(), 0);
        while rows < RUN_ROWS {
            let batch = match self.waiting.pop_front().map(Ok).or_else(|| self.files.next()) {
                None => break,
                Some(Err(error)) => return Some(Err(error)),
                Some(Ok(batch)) => batch,
            };
            let room = RUN_ROWS - rows;
            if batch.num_files() > room {
                self.waiting.push_front(batch.slice(room, batch.num_files() - room));
                run.push(batch.slice(0, room));
                break;
            }
            rows += batch.num_files();
            run.push(batch);
        }
        (!run.is_empty()).then_some(Ok(run))
    }
}

/// The tombstones of the commits after the checkpoint, newest reference of each file only, that are younger than
/// `expired_before`. Bodies are read a chunk at a time, newest first.
///
/// # Errors
/// [`Error::LogCorrupt`] for a broken commit.
pub(super) fn tail_removes(
    location: &Location,
    tail: &[LogFile],
    expired_before: i64,
) -> Result<Vec<Action>> {
    enum File<'a> {
        Add(RemoveLine<'a>),
        Remove(Box<Remove>),
    }
    let dir = location.log_dir();
    let mut seen = KeyLayer::default();
    let mut out = Vec::new();
    for chunk in tail.rchunks(CHUNK) {
        for (body, file) in fetch(location, chunk)?.iter().zip(chunk).rev() {
            let mut files = Vec::new();
            for_each_line(body, &dir.join(&file.name).to_string(), Some(file.version), |line| {
                for_each_action(line, |name, value| {
                    let parsed = match name {
                        "add" => parse_whole(value)?.map(|v| files.push(File::Add(v))),
                        "remove" => parse_whole(value)?.map(|v| files.push(File::Remove(v))),
                        _ => parse_whole::<serde::de::IgnoredAny>(value)?.map(drop),
                    };
                    Ok(parsed.is_some())
                })
            })?;
            for file in files.into_iter().rev() {
                let (path, vector) = match &file {
                    File::Add(add) => (add.path.as_ref(), add.deletion_vector.as_ref()),
                    File::Remove(remove) => (remove.path.as_str(), remove.deletion_vector.as_ref()),
                };
                let newest = seen.insert(key(path, vector, location.root())?, vector.is_some());
                if let File::Remove(mut remove) = file
                    && newest
                    && remove.deletion_timestamp.unwrap_or(0) > expired_before
                {
                    remove.data_change = false;
                    out.push(Action::Remove(remove));
                }
            }
        }
    }
    out.reverse();
    Ok(out)
}

/// The column `remove` of tombstones.
pub(super) fn remove_column(removes: &[Action]) -> Result<ArrayRef> {
    let failed = |e| Error::arrow("building the tombstones of a checkpoint", e);
    let schema = Schema::new(vec![Field::new("remove", action("remove"), true)]);
    let mut decoder = ReaderBuilder::new(Arc::new(schema))
        .with_batch_size(removes.len().max(1))
        .build_decoder()
        .map_err(failed)?;
    decoder.serialize(removes).map_err(failed)?;
    let batch = decoder.flush().map_err(failed)?;
    let column = batch.and_then(|b| b.columns().first().cloned());
    Ok(column.unwrap_or_else(|| arrow::array::new_empty_array(&action("remove"))))
}

/// The tombstones of one row group of a checkpoint that the tail does not mention and that have not expired; none
/// where there are none.
///
/// # Errors
/// [`Error::LogCorrupt`] when a page is damaged.
pub(super) fn checkpoint_removes(
    location: &Location,
    file: &CheckpointFile,
    group: usize,
    newer: &KeySet,
    expired_before: i64,
) -> Result<Option<ArrayRef>> {
    if !file.may_hold(group, "remove", "path") {
        return Ok(None);
    }
    let failed = |e| Error::arrow("reading the tombstones of a checkpoint", e);
    let kind = action("remove");
    let mut kept = Vec::new();
    for batch in file.decode(group, &[vec!["remove"]])? {
        let column = conform(&StructArray::from(batch), "remove", &kind).map_err(failed)?;
        let rows = column.as_struct();
        let (paths, times) = (rows.column(0).as_string::<i32>(), rows.column(1).as_primitive::<Int64Type>());
        let vectors = rows.column_by_name("deletionVector").map(|v| v.as_struct());
        let keep = (0..rows.len())
            .map(|row| {
                // writers that do not nest nulls leave a struct of nulls for every other action
                if rows.is_null(row) || paths.is_null(row) {
                    return Ok(Some(false));
                }
                if times.is_null(row) || times.value(row) <= expired_before {
                    return Ok(Some(false));
                }
                let vector = vectors.and_then(|v| vector_at(v, row));
                key(paths.value(row), vector.as_ref(), location.root()).map(|k| Some(!newer.contains(&k)))
            })
            .collect::<Result<BooleanArray>>()?;
        if keep.true_count() > 0 {
            kept.push(filter(&column, &keep).map_err(failed)?);
        }
    }
    let all: Vec<&dyn Array> = kept.iter().map(AsRef::as_ref).collect();
    if all.is_empty() { Ok(None) } else { arrow::compute::concat(&all).map(Some).map_err(failed) }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use arrow::array::{RecordBatch, StringViewArray, new_null_array};
    use arrow::datatypes::DataType;

    use super::*;
    use crate::actions::ObjectPath;
    use crate::replay::{FilesRequest, STRING_MAP, ScanSource, Tail, VECTOR};
    use crate::store::ObjectAdapter;

    /// Files `f0`, `f1` and so on, of which only the path is known.
    fn batch(numbers: Range<usize>) -> FileBatch {
        let null = |kind: &DataType| new_null_array(kind, numbers.len());
        let paths = StringViewArray::from_iter_values(numbers.clone().map(|n| format!("f{n}")));
        let columns: [(&str, ArrayRef); 6] = [
            ("path", Arc::new(paths)),
            ("partition_values", null(&STRING_MAP)),
            ("size", null(&DataType::Int64)),
            ("modification_time", null(&DataType::Int64)),
            ("deletion_vector", null(&DataType::Struct(VECTOR.clone()))),
            ("stats", null(&DataType::Utf8View)),
        ];
        let columns = columns.map(|(name, array)| (name, array, true));
        FileBatch::new(RecordBatch::try_from_iter_with_nullable(columns).unwrap())
    }

    /// The numbers of the files of each run of a listing that comes in batches of these sizes.
    fn runs(sizes: &[usize]) -> Vec<Vec<usize>> {
        let mut end = 0;
        let batches = sizes.iter().map(|size| {
            end += size;
            batch(end - size..end)
        });
        let tail = Tail { batches: batches.collect(), ..Tail::default() };
        let root = ObjectPath::new("memory://", "/t");
        let source = ScanSource {
            location: Location::with_store(root, Arc::new(ObjectAdapter::memory())),
            tail: Arc::new(tail),
            checkpoint: None,
            counters: Arc::default(),
        };
        let number = |path: Option<&str>| path.unwrap()[1..].parse().unwrap();
        let of_batch = |batch: &FileBatch| batch.paths().iter().map(number).collect::<Vec<usize>>();
        Runs::new(FileStream::new(source, &FilesRequest::default(), None))
            .map(|run| run.unwrap().iter().flat_map(of_batch).collect())
            .collect()
    }

    #[test]
    fn each_file_is_in_one_run_in_its_order_and_no_run_is_longer_than_it_may_be() {
        let cases: [(&[usize], &[usize]); 6] = [
            (&[], &[]),
            (&[1, 2], &[3]),
            (&[RUN_ROWS - 1, 1], &[RUN_ROWS]),
            (&[RUN_ROWS - 1, 3, 4], &[RUN_ROWS, 6]),
            (&[2 * RUN_ROWS + 5, 1], &[RUN_ROWS, RUN_ROWS, 6]),
            (&[100_000, 100_000], &[RUN_ROWS, 200_000 - RUN_ROWS]),
        ];
        for (sizes, lengths) in cases {
            let found = runs(sizes);
            assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), lengths, "{sizes:?}");
            assert!(found.iter().flatten().copied().eq(0..sizes.iter().sum::<usize>()), "{sizes:?}");
        }
    }
}
