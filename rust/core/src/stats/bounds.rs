//! Statistics of files some of whose rows are deleted.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// Statistics that no longer are tight: the rows that set them may be deleted (PROTOCOL.md, "Per-file Statistics").
/// Every other value stays as it was written.
pub(crate) fn wide_bounds(stats: &str) -> String {
    let Ok(mut fields) = serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(stats) else {
        return stats.to_owned();
    };
    if let Ok(wide) = RawValue::from_string("false".to_owned()) {
        fields.insert("tightBounds".to_owned(), wide);
    }
    serde_json::to_string(&fields).unwrap_or_else(|_| stats.to_owned())
}
