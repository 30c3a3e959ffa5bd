use std::fs::{self, File};
use std::path::Path;

use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;

/// Writes one batch as a Parquet file, making the folders that it needs, and gives the size in bytes.
///
/// # Panics
/// When the file cannot be written.
pub fn write_parquet(path: &Path, batch: &RecordBatch) -> u64 {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).expect("create the folder");
    }
    let file = File::create(path).unwrap_or_else(|e| panic!("create {}: {e}", path.display()));
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("a Parquet writer");
    writer.write(batch).expect("write Parquet");
    writer.close().expect("close Parquet");
    fs::metadata(path).expect("the file is there").len()
}
