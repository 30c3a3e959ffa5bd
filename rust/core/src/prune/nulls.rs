//! The null-count rule.

/// Whether a column may hold nulls and whether it may hold values, by `nullCount` and `numRecords`.
///
/// Only the two ends carry information, with tight bounds and with wide ones (PROTOCOL.md, "Per-file Statistics"): 0
/// is "no nulls", `numRecords` is "only nulls". An absent count is unknown; it is never read as 0.
pub(crate) fn nulls_and_values(null_count: Option<i64>, num_records: Option<i64>) -> (bool, bool) {
    let Some(nulls) = null_count else { return (true, true) };
    match num_records {
        Some(records) if nulls > records => (true, true),
        _ => (nulls != 0, num_records != Some(nulls)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_both_ends_say_something() {
        for (null_count, num_records, expected) in [
            (None, None, (true, true)),
            (None, Some(3), (true, true)),
            (Some(0), None, (false, true)),
            (Some(0), Some(3), (false, true)),
            (Some(1), Some(3), (true, true)),
            (Some(3), Some(3), (true, false)),
            (Some(3), None, (true, true)),
            (Some(4), Some(3), (true, true)),
            (Some(-1), Some(3), (true, true)),
            (Some(0), Some(0), (false, false)),
        ] {
            assert_eq!(
                nulls_and_values(null_count, num_records),
                expected,
                "{null_count:?} of {num_records:?}"
            );
        }
    }
}
