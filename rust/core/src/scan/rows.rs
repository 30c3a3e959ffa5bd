//! The rows of a snapshot.

use std::sync::Arc;

use super::ordered::workers;
use super::read::RowScan;
use super::request::ReadRequest;
use super::row_filter::RowFilter;
use super::stream::RowStream;
use crate::actions::Add;
use crate::error::Result;
use crate::replay::FilesRequest;
use crate::snapshot::Snapshot;

/// Reads rows of a snapshot to Arrow batches.
///
/// Every batch has the requested columns in the requested order, in the types of
/// [`to_arrow_schema`](crate::schema::to_arrow_schema); it holds exactly the rows of the version that are not deleted
/// and for which the filter is true. Rows come in the order of the files in the log and, within one, of the file.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a column that is unknown or named twice,
/// or for row ids of a table without row tracking,
/// [`Error::InvalidPredicate`](crate::Error::InvalidPredicate) for a predicate that cannot be evaluated,
/// [`Error::InvalidExpression`](crate::Error::InvalidExpression) for what is not a condition on this table, and from the
/// stream for a row that it cannot be computed for,
/// and what the log itself gives. The stream gives the errors of [`read_file`](super::read_file) and ends with the first.
///
/// # Cost
/// Files that partition values or statistics exclude are not opened. Memory is that of the row groups and of a few
/// batches of at most 8 files.
pub fn read(snapshot: &Snapshot, request: ReadRequest) -> Result<RowStream> {
    let predicate = request.filter.as_ref().map(RowFilter::implied).transpose()?;
    let extended = request.row_ids;
    let scan = RowScan::of(snapshot, request)?;
    let files = snapshot.files(FilesRequest { predicate, extended, ..FilesRequest::default() })?;
    let (schema, scan) = (scan.schema().clone(), Arc::new(scan));
    let batches = files.map(move |batch| Ok((scan.clone(), batch?.adds().collect::<Result<Vec<Add>>>()?)));
    RowStream::start(schema, batches, workers(snapshot.location()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch};
    use serde_json::json;

    use super::*;
    use crate::deletion_vector::DeletionVector;
    use crate::error::Error;
    use crate::predicate::{CompareOp, Literal, Predicate};
    use crate::scan::testing::{Folder, lines};
    use crate::snapshot::At;

    const ID: &str = r#"{"name":"id","type":"long","nullable":true,"metadata":{}}"#;
    const P: &str = r#"{"name":"p","type":"string","nullable":true,"metadata":{}}"#;

    /// A table of one commit, partitioned by `p`.
    fn open(folder: &Folder, fields: &str, features: &[&str], adds: &[Add]) -> Result<Snapshot> {
        let log = folder.dir.path().join("_delta_log");
        std::fs::create_dir_all(&log).unwrap();
        let schema = format!(r#"{{"type":"struct","fields":[{fields}]}}"#);
        let mut commit = vec![
            json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": features, "writerFeatures": features}}),
            json!({"metaData": {"id": "t", "format": {"provider": "parquet", "options": {}}, "schemaString": schema,
                "partitionColumns": ["p"], "configuration": {}}}),
        ];
        commit.extend(adds.iter().map(|add| json!({ "add": add })));
        let lines: Vec<String> = commit.iter().map(ToString::to_string).collect();
        std::fs::write(log.join("00000000000000000000.json"), lines.join("\n")).unwrap();
        Snapshot::open(folder.location.clone(), At::Latest)
    }

    fn table(folder: &Folder, fields: &str, features: &[&str], adds: &[Add]) -> Snapshot {
        open(folder, fields, features, adds).unwrap()
    }

    fn file(folder: &Folder, name: &str, p: &str, ids: std::ops::Range<i64>) -> Add {
        let stats = json!({"numRecords": ids.end - ids.start, "minValues": {"id": ids.start},
            "maxValues": {"id": ids.end - 1}, "nullCount": {"id": 0}});
        let column: ArrayRef = Arc::new(Int64Array::from_iter_values(ids));
        let batch = RecordBatch::try_from_iter_with_nullable([("id", column, true)]).unwrap();
        let mut add = folder.parquet(name, &batch, 3);
        add.partition_values.insert("p".into(), Some(p.into()));
        add.stats = Some(stats.to_string());
        add
    }

    fn texts(snapshot: &Snapshot, request: ReadRequest) -> Result<Vec<String>> {
        let mut rows: Vec<String> =
            read(snapshot, request)?.map(|b| b.map(|b| lines(&b))).collect::<Result<Vec<_>>>()?.concat();
        rows.sort();
        Ok(rows)
    }

    fn where_id(op: CompareOp, value: i64) -> ReadRequest {
        let predicate = Predicate::Compare { op, column: vec!["id".into()], value: Literal::Long(value) };
        ReadRequest { filter: Some(predicate.into()), ..ReadRequest::default() }
    }

    #[test]
    fn a_snapshot_gives_its_live_rows_and_opens_only_files_that_may_match() {
        let folder = Folder::new();
        let mut first = file(&folder, "a.parquet", "x", 0..5);
        first.deletion_vector = Some([1, 4].into_iter().collect::<DeletionVector>().to_inline());
        let adds = [first, file(&folder, "b.parquet", "y", 5..8)];
        let snapshot = table(&folder, &[ID, P].join(","), &["deletionVectors"], &adds);
        let all = ["0|x", "2|x", "3|x", "5|y", "6|y", "7|y"];
        assert_eq!(texts(&snapshot, ReadRequest::default()).unwrap(), all);
        assert_eq!(texts(&snapshot, where_id(CompareOp::Ge, 6)).unwrap(), ["6|y", "7|y"]);

        std::fs::remove_file(folder.dir.path().join("a.parquet")).unwrap();
        assert_eq!(texts(&snapshot, where_id(CompareOp::Ge, 6)).unwrap(), ["6|y", "7|y"]);
        let y = Predicate::Compare {
            op: CompareOp::Eq,
            column: vec!["p".into()],
            value: Literal::String("y".into()),
        };
        let only_p =
            ReadRequest { columns: Some(vec!["p".into()]), filter: Some(y.into()), ..ReadRequest::default() };
        assert_eq!(texts(&snapshot, only_p).unwrap(), ["y", "y", "y"]);
        let error = texts(&snapshot, ReadRequest::default()).unwrap_err();
        assert!(matches!(&error, Error::DataFile { path, .. } if path.ends_with("a.parquet")), "{error}");
    }

    #[test]
    fn a_change_of_type_that_the_protocol_does_not_have_is_refused() {
        let folder = Folder::new();
        let changed = r#"{"name":"id","type":"double","nullable":true,"metadata":{"delta.typeChanges":[{"fromType":"long","toType":"double"}]}}"#;
        let error = open(&folder, &[changed, P].join(","), &["typeWidening"], &[]).unwrap_err();
        assert!(
            error.to_string().ends_with("the change of column `id` from long to double is not supported"),
            "{error}"
        );
    }
}
