//! What the footers of our files tell Spark of the calendar of their dates and times.

use parquet::file::metadata::KeyValue;

/// Notes that dates and times are in the proleptic Gregorian calendar, as the protocol has them.
///
/// Spark knows that of files with a version of Spark from 3.1 on and no mark of its legacy mode. Of others a session decides
/// (`spark.sql.parquet.datetimeRebaseModeInRead`): with `LEGACY` it moves days before 1582-10-15 and times before 1900, and with
/// `EXCEPTION`, the default before Spark 4, it refuses them.
pub(crate) fn calendar_note() -> Vec<KeyValue> {
    vec![KeyValue::new("org.apache.spark.version".to_owned(), OLDEST_SPARK.to_owned())]
}

/// The oldest version that deltaic runs on. Nothing but the calendar follows from it.
const OLDEST_SPARK: &str = "4.0.0";
