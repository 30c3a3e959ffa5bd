//! Row ids and row commit versions of rows (PROTOCOL.md, "Row Tracking").

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, StringArray, new_null_array};
use arrow::datatypes::{DataType as Arrow, Field, Int64Type, Schema};

use super::positions::Positions;
use crate::actions::{Add, Metadata, ObjectPath};
use crate::alter::iceberg_compat;
use crate::error::{Error, Result};
use crate::properties::TableProperty;
use crate::schema::{BY_NAME, DataType, FIELD_ID, StructField};
use crate::snapshot::Snapshot;

/// The column of a read that has the row ids.
pub const ROW_ID: &str = "_row_id";
/// The column of a read that has the row commit versions.
pub const ROW_COMMIT_VERSION: &str = "_row_commit_version";

/// The field ids that Iceberg reserves for `_row_id` and `_last_updated_sequence_number`.
const ICEBERG_ROW_ID: i64 = 2_147_483_540;
const ICEBERG_LAST_UPDATED_SEQUENCE_NUMBER: i64 = 2_147_483_539;

/// The columns by which files keep the ids of rows that came from other files.
#[derive(Debug, Clone)]
pub(crate) struct RowIds {
    columns: [StructField; 2],
}

impl RowIds {
    /// Of a table whose rows keep their ids.
    ///
    /// # Errors
    /// [`Error::InvalidSchema`] when the table does not name the columns.
    pub(crate) fn of(metadata: &Metadata) -> Result<Option<Self>> {
        if !metadata.is_true(TableProperty::EnableRowTracking) {
            return Ok(None);
        }
        let reserved = iceberg_compat::reserves_ids_of_row_ids(metadata);
        let column = |property: TableProperty, id: i64| {
            let name = metadata.property(property).ok_or_else(|| Error::InvalidSchema {
                reason: format!("row tracking is on, and `{property}` is not set"),
            })?;
            let mut field = StructField::new(name, DataType::Long, true);
            field.metadata.insert(BY_NAME.into(), true.into());
            if reserved {
                field.metadata.insert(FIELD_ID.into(), id.into());
            }
            Ok(field)
        };
        Ok(Some(RowIds {
            columns: [
                column(TableProperty::MaterializedRowIdColumn, ICEBERG_ROW_ID)?,
                column(
                    TableProperty::MaterializedRowCommitVersionColumn,
                    ICEBERG_LAST_UPDATED_SEQUENCE_NUMBER,
                )?,
            ],
        }))
    }

    /// Of a table whose row ids are asked for.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where row tracking is not on, [`Error::InvalidSchema`] as [`RowIds::of`].
    pub(crate) fn asked(metadata: &Metadata) -> Result<Self> {
        Self::of(metadata)?.ok_or_else(|| Error::InvalidArgument {
            argument: "row_ids".into(),
            reason:
                "the table has none in this version: set `delta.enableRowTracking` to true, and rows get them"
                    .into(),
        })
    }

    /// The columns, which follow those of the table.
    pub(crate) fn columns(&self) -> [StructField; 2] {
        self.columns.clone()
    }

    /// Writes the ids and commit versions of the rows of a file into the last two columns of a batch.
    ///
    /// # Errors
    /// [`Error::Arrow`] for columns that are not those.
    fn settle(&self, batch: &RecordBatch, file: &Add, places: &[u64]) -> Result<RecordBatch> {
        let own = |column: &ArrayRef, row: usize| {
            let values = column.as_primitive_opt::<Int64Type>()?;
            values.is_valid(row).then(|| values.value(row))
        };
        let [ids, versions] = last_two(batch)?;
        let base = file.base_row_id;
        let fresh_id = |row: usize| base.and_then(|b| b.checked_add_unsigned(places[row]));
        let ids = (0..places.len()).map(|row| own(&ids, row).or_else(|| fresh_id(row)));
        let versions = (0..places.len()).map(|row| own(&versions, row).or(file.default_row_commit_version));
        let (ids, versions): (Int64Array, Int64Array) = (ids.collect(), versions.collect());
        with_last_two(batch, [Arc::new(ids), Arc::new(versions)])
    }

    /// [`RowIds::settle`] where rows keep their ids; the rows as they are elsewhere.
    ///
    /// # Errors
    /// As [`RowIds::settle`].
    pub(crate) fn settled(
        row_ids: Option<&Self>,
        batch: RecordBatch,
        file: &Add,
        places: &[u64],
    ) -> Result<RecordBatch> {
        match row_ids {
            Some(row_ids) => row_ids.settle(&batch, file, places),
            None => Ok(batch),
        }
    }

    /// Rows that this commit changes: their commit version is that of the file they go to.
    ///
    /// # Errors
    /// As [`RowIds::settle`].
    pub(crate) fn changed(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let [ids, versions] = last_two(batch)?;
        with_last_two(batch, [ids, new_null_array(&Arrow::Int64, versions.len())])
    }
}

/// Computes the row ids of a file, batch by batch, where they are asked for.
#[derive(Debug)]
pub(super) struct Tracked {
    ids: RowIds,
    /// Its path, and the row ids of its `add`.
    file: Add,
    places: Positions,
}

impl Tracked {
    /// # Errors
    /// [`Error::DataFile`] for an `add` without row ids.
    pub(super) fn of(ids: &RowIds, add: &Add, places: &Positions) -> Result<Self> {
        let Add { path, base_row_id, default_row_commit_version, .. } = add;
        if base_row_id.is_none() || default_row_commit_version.is_none() {
            return Err(Error::DataFile {
                path: path.as_str().to_owned(),
                reason: "row tracking is on, and its `add` has no `baseRowId` or no `defaultRowCommitVersion`: rewrite the file"
                    .into(),
            });
        }
        let (base_row_id, default_row_commit_version) = (*base_row_id, *default_row_commit_version);
        let file = Add { path: path.clone(), base_row_id, default_row_commit_version, ..Add::default() };
        Ok(Tracked { ids: ids.clone(), file, places: places.clone() })
    }

    /// The next batch, with the row ids of its rows.
    ///
    /// # Errors
    /// As [`RowIds::settle`].
    pub(super) fn settle(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let places = self.places.take(batch.num_rows() as u64);
        self.ids.settle(batch, &self.file, &places)
    }
}

fn last_two(batch: &RecordBatch) -> Result<[ArrayRef; 2]> {
    match batch.columns() {
        [.., ids, versions] => Ok([ids.clone(), versions.clone()]),
        _ => Err(Error::InvalidSchema { reason: "rows without the columns of row tracking".into() }),
    }
}

fn with_last_two(batch: &RecordBatch, last: [ArrayRef; 2]) -> Result<RecordBatch> {
    let table = batch.num_columns().saturating_sub(2);
    let columns = batch.columns()[..table].iter().cloned().chain(last).collect();
    RecordBatch::try_new(batch.schema(), columns).map_err(|e| Error::arrow("row ids", e))
}

/// The columns by which the files of a version keep the row id and the row commit version of rows that came from other
/// files.
///
/// # Errors
/// [`Error::InvalidArgument`] where row tracking is not on, [`Error::InvalidSchema`] when the table does not name them.
pub fn row_id_columns(snapshot: &Snapshot) -> Result<[StructField; 2]> {
    Ok(RowIds::asked(snapshot.metadata())?.columns())
}

/// Where the row ids of files begin, a row a file: `path`, its decoded URI, `base_row_id` and
/// `default_row_commit_version`.
///
/// # Errors
/// Those of paths that are none.
pub fn row_id_bases(root: &ObjectPath, files: &[Add]) -> Result<RecordBatch> {
    let path = |file: &Add| file.path.resolve(root).map(|p| p.uri());
    let paths = files.iter().map(path).collect::<Result<Vec<_>>>()?;
    let long = |name: &str| Field::new(name, Arrow::Int64, true);
    let schema = Schema::new(vec![
        Field::new("path", Arrow::Utf8, true),
        long("base_row_id"),
        long("default_row_commit_version"),
    ]);
    let bases = files.iter().map(|f| f.base_row_id).collect::<Int64Array>();
    let versions = files.iter().map(|f| f.default_row_commit_version).collect::<Int64Array>();
    let columns: [ArrayRef; 3] = [Arc::new(StringArray::from(paths)), Arc::new(bases), Arc::new(versions)];
    RecordBatch::try_new(Arc::new(schema), columns.to_vec()).map_err(|e| Error::arrow("row ids of files", e))
}
