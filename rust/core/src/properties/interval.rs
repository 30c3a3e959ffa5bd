//! Lengths of time as properties have them.

/// Milliseconds of `interval 1 week`, `7 days`, `2 hours 30 minutes`. Months and years have no fixed length.
///
/// # Errors
/// The reason why the text is not valid.
pub(crate) fn parse_interval(text: &str) -> Result<i64, String> {
    let lower = text.trim().to_lowercase();
    let body = lower.strip_prefix("interval").map_or(lower.as_str(), str::trim);
    let words: Vec<&str> = body.split_whitespace().collect();
    let invalid = || format!("`{text}` is not a length of time such as `interval 7 days`");
    if words.is_empty() || !words.len().is_multiple_of(2) {
        return Err(invalid());
    }
    let mut microseconds: i64 = 0;
    for pair in words.chunks(2) {
        let unit: i64 = match pair[1].strip_suffix('s').unwrap_or(pair[1]) {
            "week" => 7 * 86_400_000_000,
            "day" => 86_400_000_000,
            "hour" => 3_600_000_000,
            "minute" => 60_000_000,
            "second" => 1_000_000,
            "millisecond" => 1_000,
            "microsecond" => 1,
            "month" | "year" => {
                return Err(format!("`{text}`: months and years have no fixed length; say `365 days`"));
            }
            _ => return Err(invalid()),
        };
        let count: i64 = pair[0].parse().map_err(|_| invalid())?;
        let total = count.checked_mul(unit).and_then(|n| microseconds.checked_add(n));
        microseconds = total.ok_or_else(|| format!("`{text}` is too long"))?;
    }
    match microseconds < 0 {
        true => Err(format!("`{text}` is negative")),
        false => Ok(microseconds / 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_read_as_spark_reads_them() {
        for (text, milliseconds) in [
            ("interval 1 week", 604_800_000),
            ("7 days", 604_800_000),
            (" INTERVAL 2 Hours 30 minutes ", 9_000_000),
            ("interval 0 seconds", 0),
            ("1 day -1 hours", 82_800_000),
        ] {
            assert_eq!(parse_interval(text), Ok(milliseconds), "{text}");
        }
        for text in ["", "interval", "7", "days 7", "1 month", "-1 day", "9999999999999 weeks", "1.5 days"] {
            assert!(parse_interval(text).is_err(), "{text}");
        }
    }
}
