//! What the value of a property can be.

use super::{parse_byte_size, parse_interval};
use crate::schema::parse_column_list;

/// What the value of a property can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value {
    /// `true` or `false`.
    Boolean,
    /// A whole number, not below.
    Integer(i64),
    /// A length of time.
    Interval,
    /// A number of bytes.
    Bytes,
    /// One of these, in any case; kept as written here.
    OneOf(&'static [&'static str]),
    /// A list of columns.
    Columns,
    /// `1.0.0` or `2.MINOR.PATCH`.
    ParquetVersion,
    /// Kept by deltaic itself: never set or unset by hand.
    Kept,
    /// About the protocol of a table, which does not keep it as a property.
    OfProtocol,
    /// Of tables of other writers. Here it is one of those that are not known.
    Foreign,
}

impl Value {
    /// The value as it is stored.
    ///
    /// # Errors
    /// The reason why the text is not valid.
    pub(crate) fn check(self, text: &str) -> Result<String, String> {
        let one_of = |all: &[&str]| {
            let found = all.iter().find(|v| v.eq_ignore_ascii_case(text.trim()));
            found.map(|v| (*v).to_owned()).ok_or_else(|| format!("`{text}` is none of {}", all.join(", ")))
        };
        match self {
            Value::Boolean => one_of(&["true", "false"]),
            Value::OneOf(all) => one_of(all),
            Value::Integer(least) => match text.trim().parse::<i64>() {
                Ok(n) if n >= least && i32::try_from(n).is_ok() => Ok(n.to_string()),
                Ok(n) => Err(format!("{n} is not between {least} and {}", i32::MAX)),
                Err(_) => Err(format!("`{text}` is not a whole number")),
            },
            Value::Interval => parse_interval(text).map(|_| text.to_owned()),
            Value::Bytes => parse_byte_size(text).map(|_| text.to_owned()),
            Value::Columns => parse_column_list(text).map(|_| text.to_owned()),
            Value::ParquetVersion => {
                let parts: Option<Vec<u32>> = text.split('.').map(|p| p.parse().ok()).collect();
                match parts.as_deref() {
                    Some([1, 0, 0] | [2, _, _]) => Ok(text.to_owned()),
                    _ => Err(format!("`{text}` is neither 1.0.0 nor 2.MINOR.PATCH")),
                }
            }
            Value::Kept => Err("deltaic keeps it itself".into()),
            Value::OfProtocol | Value::Foreign => Err("it is not kept as a property of a table".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::properties::TableProperty;

    #[test]
    fn values_are_checked() {
        for (key, good, bad) in [
            ("delta.appendOnly", "TRUE", "yes"),
            ("delta.checkpointInterval", "1", "0"),
            ("delta.checkpointInterval", "10", "99999999999"),
            ("delta.dataSkippingNumIndexedCols", "-1", "-2"),
            ("delta.logRetentionDuration", "interval 30 days", "30"),
            ("delta.isolationLevel", "writeserializable", "SnapshotIsolation"),
            ("delta.parquet.format.version", "2.12.0", "2.1"),
            ("delta.parquet.compression.codec", "ZSTD", "rar"),
            ("delta.dataSkippingStatsColumns", "a, `b.c`", "a,,b"),
            ("delta.checkpointPolicy", "V2", "v3"),
            ("delta.targetFileSize", "100MB", "much"),
        ] {
            let value = TableProperty::named(&key.to_uppercase()).unwrap().value();
            assert!(value.check(good).is_ok(), "{key} {good}");
            assert!(value.check(bad).is_err(), "{key} {bad}");
        }
    }
}
