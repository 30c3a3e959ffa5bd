//! The operations, done with the crate as any program would.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use arrow::datatypes::Int64Type;
use bytes::Bytes;
use chrono::Utc;
use deltaic_core::Result;
use deltaic_core::actions::{Add, FilePath};
use deltaic_core::alter::properties::SetOptions;
use deltaic_core::checkpoint::{checkpoint, cleanup_at, compact};
use deltaic_core::deletion_vector::{DeletionVector, write_file};
use deltaic_core::maintain::{
    Alteration, RestoreOptions, VacuumMode, VacuumOptions, alter_table, restore, vacuum,
};
use deltaic_core::predicate::{CompareOp, Literal, Predicate};
use deltaic_core::replay::FilesRequest;
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::store::Location;
use deltaic_core::txn::{Operation, Transaction};
use deltaic_core::write::{WriteMode, WriteOptions};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::json;
use uuid::Uuid;

use crate::script::{Action, Row, Step};

/// How an operation ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Done {
    /// It is this version.
    Committed(u64),
    /// There was nothing to do.
    Nothing,
}

fn is(column: &str, op: CompareOp, value: Literal) -> Predicate {
    Predicate::Compare { op, column: vec![column.to_owned()], value }
}

fn batch(rows: &[Row]) -> RecordBatch {
    let id: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.0)));
    let p: ArrayRef = Arc::new(StringArray::from_iter_values(rows.iter().map(|r| r.1.as_str())));
    let value: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.2)));
    RecordBatch::try_from_iter_with_nullable([("id", id, true), ("p", p, true), ("value", value, true)])
        .unwrap()
}

/// Makes the table, without rows.
pub(crate) fn create(location: &Location, properties: &[(String, String)]) -> Result<u64> {
    let options = WriteOptions {
        mode: WriteMode::ErrorIfExists,
        partition_by: vec!["p".into()],
        configuration: properties.iter().cloned().collect(),
        ..Default::default()
    };
    write(location, &[], &options).map(|_| 0)
}

fn write(location: &Location, rows: &[Row], options: &WriteOptions) -> Result<Done> {
    let batch = batch(rows);
    let schema = batch.schema();
    let data = RecordBatchIterator::new([Ok(batch)], schema);
    let result = deltaic_core::operations::write(location, data, options)?;
    Ok(if result.skipped { Done::Nothing } else { Done::Committed(result.version) })
}

/// Does it.
pub(crate) fn run(step: &Step, location: &Location) -> Result<Done> {
    let writing = |mode, replace_where, app| {
        let options = WriteOptions {
            mode,
            replace_where,
            app_transaction: app,
            user_metadata: Some(step.tag()),
            commit_budget: Duration::from_secs(30),
            ..Default::default()
        };
        write(location, &step.rows, &options)
    };
    let replacing = |condition| writing(WriteMode::Overwrite, Some(condition), None);
    match &step.action {
        Action::Append => writing(WriteMode::Append, None, None),
        Action::Once(version) => {
            let app = || Some(("app".to_owned(), *version));
            writing(WriteMode::Append, None, app()).or_else(|_| writing(WriteMode::Append, None, app()))
        }
        Action::Overwrite => writing(WriteMode::Overwrite, None, None),
        Action::ReplacePartition(p) => replacing(format!("p = '{p}'")),
        Action::ReplaceBelow(value) => replacing(format!("value < {value}")),
        Action::Delete(value) | Action::Rewrite(value) | Action::Update(value) => {
            change(step, location, *value)
        }
        Action::Optimize(partition) => optimize(step, location, partition),
        Action::Alter => {
            let properties = [("simulation.tag".to_owned(), step.tag())].into();
            let change = Alteration::SetProperties { properties, options: SetOptions::default() };
            alter_table(location, &change, None).map(Done::Committed)
        }
        Action::Restore(pick) => {
            let head = Snapshot::open(location.clone(), At::Latest)?.version();
            let done = restore(location, At::Version(pick % (head + 1)), &RestoreOptions::default())?;
            Ok(if done.restored_version == done.version {
                Done::Nothing
            } else {
                Done::Committed(done.version)
            })
        }
        Action::Checkpoint => {
            checkpoint(&Snapshot::open(location.clone(), At::Latest)?).map(|_| Done::Nothing)
        }
        Action::Compact(length) => {
            let head = Snapshot::open(location.clone(), At::Latest)?.version();
            match head.saturating_sub(*length) {
                from if from < head => compact(location, from, head).map(|_| Done::Nothing),
                _ => Ok(Done::Nothing),
            }
        }
        Action::Cleanup => {
            let snapshot = Snapshot::open(location.clone(), At::Latest)?;
            cleanup_at(&snapshot, Utc::now().timestamp_millis(), false).map(|_| Done::Nothing)
        }
        Action::Vacuum => vacuum(location, &VacuumOptions::default()).map(|_| Done::Nothing),
        Action::VacuumAll { lite } => {
            let options = VacuumOptions {
                mode: if *lite { VacuumMode::Lite } else { VacuumMode::Full },
                retention: Some(Duration::ZERO),
                allow_short_retention: true,
                ..Default::default()
            };
            vacuum(location, &options).map(|_| Done::Nothing)
        }
    }
}

/// A live file with its rows and their positions.
struct Live {
    add: Add,
    deleted: DeletionVector,
    rows: Vec<(u64, Row)>,
}

fn live(snapshot: &Snapshot, predicate: Predicate) -> Result<Vec<Live>> {
    let request = FilesRequest { predicate: Some(predicate), stats: true, extended: true };
    let location = snapshot.location();
    let mut out = Vec::new();
    for batch in snapshot.files(request)? {
        for add in batch?.adds() {
            let add = add?;
            let body = location.store().get(&add.path.resolve(location.root())?)?;
            let deleted = match &add.deletion_vector {
                Some(vector) => DeletionVector::load(vector, location)?,
                None => [].into_iter().collect(),
            };
            let partition = add.partition_values["p"].clone().unwrap();
            let rows = rows_of(body, &partition).into_iter().enumerate().map(|(at, row)| (at as u64, row));
            let rows = rows.filter(|(at, _)| !deleted.rows().contains(*at)).collect();
            out.push(Live { add, deleted, rows });
        }
    }
    out.sort_by_key(|file| file.rows.first().map(|(_, row)| row.0));
    Ok(out)
}

fn rows_of(body: Bytes, partition: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for batch in ParquetRecordBatchReaderBuilder::try_new(body).unwrap().build().unwrap() {
        let batch = batch.unwrap();
        let column = |name| batch.column_by_name(name).unwrap().as_primitive::<Int64Type>().values().to_vec();
        let (ids, values) = (column("id"), column("value"));
        rows.extend(ids.into_iter().zip(values).map(|(id, value)| (id, partition.to_owned(), value)));
    }
    rows
}

/// Writes rows of one partition into a file.
fn put_file(location: &Location, partition: &str, rows: &[Row], data_change: bool) -> Result<Add> {
    let batch = batch(rows).project(&[0, 2]).unwrap();
    let mut body = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut body, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let name = format!("p={partition}/changed-{}.parquet", Uuid::new_v4());
    let size = body.len() as i64;
    location.store().put(&location.root().join(&name), body.into())?;
    let (ids, values) = (rows.iter().map(|r| r.0), rows.iter().map(|r| r.2));
    let stats = json!({
        "numRecords": rows.len(),
        "minValues": {"id": ids.clone().min(), "value": values.clone().min()},
        "maxValues": {"id": ids.max(), "value": values.max()},
        "nullCount": {"id": 0, "value": 0},
    });
    Ok(Add {
        path: FilePath::encode(&name),
        partition_values: [("p".to_owned(), Some(partition.to_owned()))].into(),
        size,
        modification_time: Utc::now().timestamp_millis(),
        data_change,
        stats: Some(stats.to_string()),
        ..Default::default()
    })
}

/// Deletes or updates the rows of a value.
fn change(step: &Step, location: &Location, value: i64) -> Result<Done> {
    let snapshot = Snapshot::open(location.clone(), At::Latest)?;
    let predicate = is("value", CompareOp::Eq, Literal::Long(value));
    let mut txn = Transaction::begin(&snapshot, Operation::new(step.action.name().to_uppercase()));
    txn.set_user_metadata(Some(step.tag()));
    let mut touched = live(&snapshot, predicate.clone())?;
    touched.retain(|file| file.rows.iter().any(|(_, row)| row.2 == value));
    if touched.is_empty() {
        return Ok(Done::Nothing);
    }
    txn.read_matching(&predicate, touched.iter().map(|file| &file.add.path))?;
    for file in touched {
        let partition = file.add.partition_values["p"].clone().unwrap();
        let (gone, kept): (Vec<_>, Vec<_>) = file.rows.into_iter().partition(|(_, row)| row.2 == value);
        if step.action == Action::Rewrite(value) {
            txn.remove_file(&file.add, true);
            let kept: Vec<Row> = kept.into_iter().map(|(_, row)| row).collect();
            if !kept.is_empty() {
                txn.add(put_file(location, &partition, &kept, true)?);
            }
            continue;
        }
        let all: DeletionVector = file.deleted.rows().iter().chain(gone.iter().map(|(at, _)| *at)).collect();
        // small ones inline, others in files of their own
        let vector = if step.id % 20 < 10 { all.to_inline() } else { put_vector(location, all)? };
        txn.replace_vector(&file.add, vector);
        if let Action::Update(_) = step.action {
            let updated: Vec<Row> = gone.into_iter().map(|(_, (id, p, value))| (id, p, value + 1)).collect();
            txn.add(put_file(location, &partition, &updated, true)?);
        }
    }
    Ok(Done::Committed(txn.commit()?.version))
}

fn put_vector(
    location: &Location,
    vector: DeletionVector,
) -> Result<deltaic_core::actions::DeletionVectorDescriptor> {
    let id = Uuid::new_v4();
    let (body, mut descriptors) = write_file(&[vector], "", id)?;
    location.store().put(&location.root().join(&format!("deletion_vector_{id}.bin")), body)?;
    Ok(descriptors.remove(0))
}

/// Makes one file of those of a partition.
fn optimize(step: &Step, location: &Location, partition: &str) -> Result<Done> {
    let snapshot = Snapshot::open(location.clone(), At::Latest)?;
    let files = live(&snapshot, is("p", CompareOp::Eq, Literal::String(partition.to_owned())))?;
    if files.len() < 2 {
        return Ok(Done::Nothing);
    }
    let mut txn = Transaction::begin(&snapshot, Operation::new("OPTIMIZE"));
    txn.set_user_metadata(Some(step.tag()));
    let rows: Vec<Row> = files.iter().flat_map(|f| f.rows.iter().map(|(_, row)| row.clone())).collect();
    files.iter().for_each(|file| txn.remove_file(&file.add, false));
    if !rows.is_empty() {
        txn.add(put_file(location, partition, &rows, false)?);
    }
    Ok(Done::Committed(txn.commit()?.version))
}
