//! The end of a data file, whose bounds mean the same to every reader.
//!
//! arrow-rs leaves NaN out of the bounds of a column, and names an order of its values that says so, which few readers know
//! yet. parquet-mr reads no bounds of such a column; and where columns before it are nested, it looks for the order in the
//! wrong place, and takes bounds without NaN for those of all rows: Spark, to which NaN is greater than every number, then
//! skips rows. Here a column that holds NaN has no bounds, and those of the others are in the order that all readers know.

use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;
use parquet::file::FOOTER_SIZE;
use parquet::file::metadata::{
    ColumnChunkMetaData, FooterTail, ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::statistics::Statistics;

type Result<T> = std::result::Result<T, ParquetError>;

/// The order of a column in a footer, a union of empty structures in Thrift's compact protocol.
const TYPE_ORDER: [u8; 3] = [0x1c, 0, 0];
const IEEE_754_TOTAL_ORDER: [u8; 3] = [0x2c, 0, 0];

/// Ends the file, and returns the bytes of it that were not taken from the writer yet.
///
/// # Errors
/// Those of Parquet's writer.
pub(super) fn finished(mut writer: ArrowWriter<Vec<u8>>) -> Result<Vec<u8>> {
    let metadata = writer.finish()?;
    let leaves = metadata.file_metadata().schema_descr().num_columns();
    let mut bytes = std::mem::take(writer.inner_mut());
    if metadata.row_groups().iter().flat_map(RowGroupMetaData::columns).any(holds_nan) {
        bytes.truncate(start_of_footer(&bytes)?);
        ParquetMetaDataWriter::new(&mut bytes, &without_bounds_of_nan(metadata)?).finish()?;
    }
    name_known_orders(&mut bytes, leaves);
    Ok(bytes)
}

/// Orders are the last field of a footer, before the byte that ends it. They stay as they are where that is not so.
fn name_known_orders(bytes: &mut [u8], leaves: usize) {
    let end = bytes.len().checked_sub(FOOTER_SIZE + 1);
    let start = end.zip(leaves.checked_mul(TYPE_ORDER.len())).and_then(|(end, all)| end.checked_sub(all));
    let Some(orders) = start.zip(end).and_then(|(start, end)| bytes.get_mut(start..end)) else { return };
    let (orders, _) = orders.as_chunks_mut::<3>();
    if orders.iter().all(|order| [TYPE_ORDER, IEEE_754_TOTAL_ORDER].contains(order)) {
        orders.fill(TYPE_ORDER);
    }
}

fn start_of_footer(bytes: &[u8]) -> Result<usize> {
    let longer = || ParquetError::EOF("the footer is longer than what was written".into());
    let (before, tail) = bytes.split_last_chunk().ok_or_else(longer)?;
    before.len().checked_sub(FooterTail::try_new(tail)?.metadata_length()).ok_or_else(longer)
}

fn holds_nan(column: &ColumnChunkMetaData) -> bool {
    column.statistics().and_then(Statistics::nan_count_opt).is_some_and(|count| count > 0)
}

/// The footer without the bounds of such columns, which keep their counts. Nothing leads to their column indexes.
fn without_bounds_of_nan(metadata: ParquetMetaData) -> Result<ParquetMetaData> {
    let mut metadata = metadata.into_builder().set_page_index(None);
    let groups = metadata.take_row_groups().into_iter().map(|group| {
        let columns = group.columns().iter().cloned().map(|column| match holds_nan(&column) {
            true => without_bounds(column),
            false => Ok(column),
        });
        let columns = columns.collect::<Result<_>>()?;
        group.into_builder().set_column_metadata(columns).build()
    });
    let groups = groups.collect::<Result<_>>()?;
    Ok(metadata.set_row_groups(groups).build())
}

fn without_bounds(column: ColumnChunkMetaData) -> Result<ColumnChunkMetaData> {
    let counts = column.statistics().and_then(|s| {
        let (distinct, nulls) = (s.distinct_count_opt(), s.null_count_opt());
        match s {
            Statistics::Float(_) => Some(Statistics::float(None, None, distinct, nulls, false)),
            Statistics::Double(_) => Some(Statistics::double(None, None, distinct, nulls, false)),
            _ => None,
        }
    });
    let builder = column.into_builder().set_column_index_offset(None).set_column_index_length(None);
    let builder = match counts {
        Some(counts) => builder.set_statistics(counts),
        None => builder.clear_statistics(),
    };
    builder.build()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use arrow::array::{ArrayRef, Float32Array, Float64Array, Int64Array, RecordBatch, StructArray};
    use bytes::Bytes;
    use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader};
    use parquet::basic::ColumnOrder;
    use parquet::file::metadata::PageIndexPolicy;
    use parquet::file::properties::WriterProperties;

    use super::*;

    const NAN: f64 = f64::NAN;

    fn rows() -> RecordBatch {
        let numbers = |values: [Option<f64>; 4]| Arc::new(Float64Array::from(values.to_vec())) as ArrayRef;
        let id = Arc::new(Int64Array::from(vec![1, 2, 3, 4])) as ArrayRef;
        let nested = StructArray::try_from(vec![
            ("x", numbers([Some(1.0), None, Some(NAN), Some(2.0)])),
            ("y", numbers([Some(1.0), None, Some(-0.0), Some(2.0)])),
        ]);
        RecordBatch::try_from_iter([
            ("id", id),
            ("nested", Arc::new(nested.unwrap()) as ArrayRef),
            ("some", numbers([Some(1.0), None, None, Some(NAN)])),
            ("all", numbers([Some(NAN), Some(-NAN), Some(NAN), Some(NAN)])),
            ("none", numbers([Some(1.0), None, Some(f64::INFINITY), Some(2.0)])),
            ("small", Arc::new(Float32Array::from(vec![f32::NAN, 0.0, 1.0, 2.0])) as ArrayRef),
        ])
        .unwrap()
    }

    #[test]
    fn only_columns_without_nan_have_bounds() {
        let rows = rows();
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(2))
            .set_created_by("deltaic".into())
            .build();
        let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties)).unwrap();
        writer.write(&rows).unwrap();
        // as an upload in parts
        let mut bytes = std::mem::take(writer.inner_mut());
        bytes.extend(finished(writer).unwrap());
        let bytes = Bytes::from(bytes);

        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
        let read = ArrowReaderMetadata::load(&bytes, options).unwrap();
        let metadata = read.metadata();
        let bounded = |group: usize| -> Vec<String> {
            let columns = metadata.row_group(group).columns().iter();
            let bounded = columns.filter(|c| {
                let has_bounds = c.statistics().unwrap().min_bytes_opt().is_some();
                assert_eq!(has_bounds, c.column_index_range().is_some());
                assert!(c.offset_index_range().is_some());
                has_bounds
            });
            bounded.map(|c| c.column_path().string()).collect()
        };
        assert_eq!(bounded(0), ["id", "nested.x", "nested.y", "some", "none"]);
        assert_eq!(bounded(1), ["id", "nested.y", "none", "small"]);
        let nulls = |group: usize, column: usize| {
            metadata.row_group(group).column(column).statistics().unwrap().null_count_opt()
        };
        assert_eq!([nulls(0, 3), nulls(1, 1), nulls(1, 3)], [Some(1), Some(0), Some(1)]);
        assert_eq!(metadata.file_metadata().created_by(), Some("deltaic"));
        let orders = metadata.file_metadata().column_orders().unwrap();
        assert!(orders.iter().all(|order| matches!(order, ColumnOrder::TYPE_DEFINED_ORDER(_))), "{orders:?}");
        let batches = ParquetRecordBatchReader::try_new(bytes, 10).unwrap();
        let batches: Vec<_> = batches.map(std::result::Result::unwrap).collect();
        assert_eq!(format!("{batches:?}"), format!("{:?}", [rows]));
    }

    #[test]
    fn a_file_without_fractions_is_that_of_the_writer() {
        let rows = rows().project(&[0]).unwrap();
        let writer = || {
            let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), None).unwrap();
            writer.write(&rows).unwrap();
            writer
        };
        assert_eq!(finished(writer()).unwrap(), writer().into_inner().unwrap());
    }
}
