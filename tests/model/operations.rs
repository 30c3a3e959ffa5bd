//! What writers do: as a transaction over files, and as a function of rows that the oracle applies.

use deltaic_core::actions::{Add, FilePath, Metadata, Protocol, Remove};
use deltaic_core::conflict::RowRelocations;
use deltaic_core::deletion_vector::DeletionVector;
use deltaic_core::predicate::{CompareOp, Literal, Predicate};
use deltaic_core::txn::{Operation, Transaction};
use serde_json::json;

use crate::log::{Files, Live, Log, Row, replay, snapshot};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// Adds a row, blindly.
    Append(u8),
    /// Deletes rows of an id by deletion vectors.
    Delete(u8),
    /// Deletes rows of an id by writing their files again.
    Rewrite(u8),
    /// Adds one to the value of rows of an id: vectors, and a new file.
    Update(u8),
    /// Makes one file of all, and says where the rows went.
    Optimize,
    /// Makes one file of all.
    Compact,
    /// Makes one file of all, and says of each row that it went to the place after its own.
    Shift,
    /// Adds a row whose id is 50 and the number of rows.
    Count,
    /// Sets a property that matters to others.
    Alter,
    /// Adds a row once, as version 1 of an application.
    Once(u8),
}

/// The table that all begin with: two files, of ids 1 to 3 and 4 to 5.
pub(crate) fn first(level: &str) -> (Log, Files) {
    let names = |n: &[&str]| Some(n.iter().map(|f| (*f).to_owned()).collect::<Vec<_>>());
    let protocol = Protocol {
        min_reader_version: 3,
        min_writer_version: 7,
        reader_features: names(&["deletionVectors"]),
        writer_features: names(&["deletionVectors"]),
    };
    let schema = json!({"type": "struct", "fields": [{"name": "id", "type": "long", "nullable": true, "metadata": {}}]});
    let metadata = Metadata {
        id: "t".into(),
        schema_string: schema.to_string(),
        configuration: [("delta.isolationLevel", level), ("delta.enableDeletionVectors", "true")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
        ..Default::default()
    };
    let files: Files =
        [("a".to_owned(), vec![(1, 0), (2, 0), (3, 0)]), ("b".to_owned(), vec![(4, 0), (5, 0)])].into();
    let mut body = format!("{}\n{}\n", json!({"protocol": protocol}), json!({"metaData": metadata}));
    for (name, rows) in &files {
        body += &format!("{}\n", json!({"add": add(name, rows, true)}));
    }
    (vec![body.into()], files)
}

fn add(name: &str, rows: &[Row], data_change: bool) -> Add {
    let ids = || rows.iter().map(|(id, _)| *id);
    let stats = json!({
        "numRecords": rows.len(), "minValues": {"id": ids().min()}, "maxValues": {"id": ids().max()}, "nullCount": {"id": 0}
    });
    Add {
        path: FilePath::from_log(name),
        size: 1,
        data_change,
        stats: Some(stats.to_string()),
        ..Default::default()
    }
}

fn remove(name: &str, file: &Live, rows: &[Row], data_change: bool) -> Remove {
    Remove {
        path: FilePath::from_log(name),
        data_change,
        extended_file_metadata: Some(true),
        partition_values: Some(Default::default()),
        size: Some(1),
        stats: add(name, rows, data_change).stats,
        deletion_vector: file.vector.clone(),
        ..Default::default()
    }
}

fn is(id: u8) -> Predicate {
    Predicate::Compare { op: CompareOp::Eq, column: vec!["id".into()], value: Literal::Long(id.into()) }
}

impl Op {
    /// The operation as a transaction on a log, with the files that it writes; none where there is nothing to do. `name`
    /// is unique.
    pub(crate) fn prepare(self, name: &str, log: &Log, files: &Files) -> Option<(Transaction, Files)> {
        let live = replay(log, files).expect("a log that writers may make");
        let base = snapshot(log);
        let mut txn = Transaction::begin(&base, Operation::new(format!("{self:?}")));
        // a file of a vector has a random name, and two states would never be the same
        txn.set_inline_vectors(256);
        let mut written = Files::new();
        let mut write = |txn: &mut Transaction, suffix: &str, rows: Vec<Row>, data_change: bool| {
            if !rows.is_empty() {
                let file = format!("{name}{suffix}");
                txn.add(add(&file, &rows, data_change));
                written.insert(file, rows);
            }
        };
        match self {
            Op::Append(id) => write(&mut txn, "", vec![(id, 0)], true),
            Op::Once(id) => {
                txn.app_transaction("app", 1);
                write(&mut txn, "", vec![(id, 0)], true);
            }
            Op::Delete(id) | Op::Rewrite(id) | Op::Update(id) => {
                let has = |file: &Live| file.rows.iter().any(|(_, row)| row.0 == id);
                let touched: Vec<_> = live.iter().filter(|(_, file)| has(file)).collect();
                if touched.is_empty() {
                    return None;
                }
                let paths: Vec<_> =
                    touched.iter().map(|(path, _)| FilePath::from_log(path.as_str())).collect();
                txn.read_matching(&is(id), &paths).unwrap();
                let mut updated = Vec::new();
                for (path, file) in touched {
                    let all = &files[path];
                    txn.remove(remove(path, file, all, true));
                    if let Op::Rewrite(_) = self {
                        let kept = file.rows.iter().map(|(_, row)| *row).filter(|row| row.0 != id).collect();
                        write(&mut txn, path, kept, true);
                        continue;
                    }
                    let gone = file.rows.iter().filter(|(_, row)| row.0 == id);
                    updated.extend(gone.clone().map(|(_, row)| (row.0, row.1 + 1)));
                    let vector: DeletionVector =
                        file.deleted().into_iter().chain(gone.map(|(at, _)| *at)).collect();
                    txn.add(Add { deletion_vector: Some(vector.to_inline()), ..add(path, all, true) });
                }
                if let Op::Update(_) = self {
                    write(&mut txn, "", updated, true);
                }
            }
            Op::Optimize | Op::Compact | Op::Shift => {
                if live.len() < 2 {
                    return None;
                }
                let mut moves = RowRelocations::default();
                let place = |path: &str| FilePath::from_log(path).identity(base.location().root()).unwrap();
                if self == Op::Shift {
                    moves.run("nothing", 0..1, &place(name));
                }
                let sources = live.iter().map(|(path, file)| {
                    for (at, _) in &file.rows {
                        moves.run(&place(path), *at..*at + 1, &place(name));
                    }
                    Add { deletion_vector: file.vector.clone(), ..add(path, &files[path], false) }
                });
                let sources: Vec<Add> = sources.collect();
                let all: Vec<Row> = live.values().flat_map(|f| f.rows.iter().map(|(_, row)| *row)).collect();
                let moves = if self == Op::Compact { RowRelocations::default() } else { moves };
                txn.rewrite(&sources, (!all.is_empty()).then(|| add(name, &all, false)), moves);
                written.insert(name.to_owned(), all);
            }
            Op::Count => {
                txn.read_whole_table();
                let rows: usize = live.values().map(|f| f.rows.len()).sum();
                write(&mut txn, "", vec![(50 + rows as u8, 0)], true);
            }
            Op::Alter => {
                let mut metadata = base.metadata().clone();
                metadata.configuration.insert("delta.enableChangeDataFeed".into(), name.into());
                txn.set_metadata(metadata);
            }
        }
        Some((txn, written))
    }

    /// The operation as a function of all rows.
    pub(crate) fn apply(self, rows: &mut Vec<Row>) {
        match self {
            Op::Append(id) | Op::Once(id) => rows.push((id, 0)),
            Op::Delete(id) | Op::Rewrite(id) => rows.retain(|row| row.0 != id),
            Op::Update(id) => rows.iter_mut().filter(|row| row.0 == id).for_each(|row| row.1 += 1),
            Op::Count => rows.push((50 + rows.len() as u8, 0)),
            Op::Optimize | Op::Compact | Op::Shift | Op::Alter => {}
        }
        rows.sort_unstable();
    }
}
