//! How many rows a file has by its statistics.

use serde::Deserialize;

use crate::actions::Add;

/// Number of rows of the data file, deleted ones included.
pub(crate) fn num_records(add: &Add) -> Option<i64> {
    num_records_of(add.stats.as_deref()?)
}

/// [`num_records`] by the statistics of a file.
pub(crate) fn num_records_of(stats: &str) -> Option<i64> {
    #[derive(Deserialize)]
    struct Rows {
        #[serde(rename = "numRecords")]
        num_records: i64,
    }
    serde_json::from_str::<Rows>(stats).ok().map(|r| r.num_records)
}
