//! A logical file in few bytes: enough to check whether two places of the log agree on it.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use crate::actions::{Add, DeletionVectorDescriptor, ObjectPath};
use crate::error::Result;
use crate::predicate::text::parse_timestamp;
use crate::replay::key;

/// A logical file: path and deletion vector, hashed.
pub(super) type FileKey = u128;

/// The facts of an `add`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AddFacts {
    /// Everything but the statistics and `dataChange`, which a checkpoint does not keep.
    pub(super) digest: u64,
    /// The statistics by their values; none where there are none.
    pub(super) stats: Option<u64>,
    pub(super) rows: Option<i64>,
    pub(super) size: i64,
    /// Rows that the deletion vector deletes; none without one.
    pub(super) deleted: Option<i64>,
    pub(super) base_row_id: Option<i64>,
    pub(super) commit_version: Option<i64>,
}

/// The key of a logical file.
pub(super) fn file_key(
    path: &str,
    vector: Option<&DeletionVectorDescriptor>,
    root: &ObjectPath,
) -> Result<FileKey> {
    let key = key(path, vector, root)?;
    let hash = |seed: u8| {
        let mut hasher = DefaultHasher::new();
        (seed, key.as_ref()).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    Ok(hash(0) << 64 | hash(1))
}

impl AddFacts {
    pub(super) fn of(add: &Add) -> Self {
        let stats = add.stats.as_deref().map(|text| (text, serde_json::from_str::<Value>(text).ok()));
        let rows = stats.as_ref().and_then(|(_, s)| s.as_ref()?.get("numRecords")?.as_i64());
        let mut digest = DefaultHasher::new();
        for (column, value) in &add.partition_values {
            // the empty string is null (PROTOCOL.md, "Partition Value Serialization")
            (column, value.as_deref().filter(|v| !v.is_empty())).hash(&mut digest);
        }
        (add.size, add.modification_time, &add.deletion_vector).hash(&mut digest);
        add.tags.as_ref().filter(|t| !t.is_empty()).hash(&mut digest);
        (add.base_row_id, add.default_row_commit_version, &add.clustering_provider).hash(&mut digest);
        AddFacts {
            digest: digest.finish(),
            stats: stats.map(|(text, parsed)| {
                let mut hasher = DefaultHasher::new();
                match &parsed {
                    Some(value) => hash_value(value, &mut hasher),
                    None => text.hash(&mut hasher),
                }
                hasher.finish()
            }),
            rows,
            size: add.size,
            deleted: add.deletion_vector.as_ref().map(|v| v.cardinality),
            base_row_id: add.base_row_id,
            commit_version: add.default_row_commit_version,
        }
    }

    /// Whether both say the same; of statistics only what both have.
    pub(super) fn agrees(&self, other: &AddFacts, with_stats: bool) -> bool {
        let both = |a: Option<u64>, b: Option<u64>| a.is_none() || b.is_none() || a == b;
        self.digest == other.digest
            && (self.rows.is_none() || other.rows.is_none() || self.rows == other.rows)
            && (!with_stats || both(self.stats, other.stats))
    }
}

/// Hashes a JSON value so that equal values in other words are equal: numbers by value, times with an offset by their
/// instant, nothing for nulls and empty objects.
fn hash_value(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Null => {}
        Value::Bool(b) => b.hash(hasher),
        Value::Number(n) => match (n.as_i64(), n.as_f64()) {
            (Some(whole), _) => whole.hash(hasher),
            (None, Some(f)) if f.fract() == 0.0 && f.abs() < 9e15 => (f as i64).hash(hasher),
            (None, Some(f)) => f.to_bits().hash(hasher),
            (None, None) => n.to_string().hash(hasher),
        },
        // delta-spark writes again what it read from a checkpoint, in the time zone of its session
        Value::String(s) => match parse_timestamp(s).filter(|t| t.offset.is_some()) {
            Some(instant) => instant.micros.hash(hasher),
            None => s.hash(hasher),
        },
        Value::Array(list) => list.iter().for_each(|v| hash_value(v, hasher)),
        Value::Object(map) => {
            for (key, value) in map {
                if value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty) {
                    continue;
                }
                key.hash(hasher);
                hash_value(value, hasher);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(stats: &str) -> AddFacts {
        AddFacts::of(&Add { stats: Some(stats.to_owned()), ..Add::default() })
    }

    #[test]
    fn statistics_are_compared_by_value() {
        let one = facts(r#"{"numRecords":3,"minValues":{"a":1.0,"b":"x"},"maxValues":{}}"#);
        let other = facts(r#"{"minValues":{"b":"x","a":1},"numRecords":3,"nullCount":null}"#);
        assert!(one.agrees(&other, true));
        assert!(!one.agrees(&facts(r#"{"numRecords":3,"minValues":{"a":2,"b":"x"}}"#), true));
        assert!(one.agrees(&facts(r#"{"numRecords":3,"minValues":{"a":2,"b":"x"}}"#), false));
        assert!(!one.agrees(&facts(r#"{"numRecords":4}"#), false));
        assert!(one.agrees(&AddFacts::of(&Add::default()), true));
    }

    #[test]
    fn times_are_compared_by_their_instant() {
        let at = |time: &str| facts(&format!(r#"{{"numRecords":1,"minValues":{{"at":"{time}"}}}}"#));
        let utc = at("2024-11-02T20:00:00.123Z");
        assert!(utc.agrees(&at("2024-11-02T16:00:00.123-04:00"), true));
        assert!(!utc.agrees(&at("2024-11-02T20:00:00.123-04:00"), true));
        // one without a zone is that of a wall clock
        assert!(!utc.agrees(&at("2024-11-02T20:00:00.123"), true));
    }
}
