/// Milliseconds of a calendar interval as delta-spark writes it in properties: `interval 1 week`, `30 days`,
/// `interval 2 weeks 3 hours`. Months and years have no fixed length and are refused, as delta-spark does.
pub fn parse_interval(text: &str) -> Option<i64> {
    let lower = text.trim().to_ascii_lowercase();
    let mut words = lower.strip_prefix("interval").unwrap_or(&lower).split_whitespace().peekable();
    words.peek()?;
    let mut micros: i64 = 0;
    while let Some(number) = words.next() {
        let unit = words.next()?;
        let unit = match unit.strip_suffix('s').unwrap_or(unit) {
            "microsecond" => 1,
            "millisecond" => 1_000,
            "second" => 1_000_000,
            "minute" => 60_000_000,
            "hour" => 3_600_000_000,
            "day" => 86_400_000_000,
            "week" => 604_800_000_000,
            _ => return None,
        };
        micros = micros.checked_add(number.parse::<i64>().ok()?.checked_mul(unit)?)?;
    }
    Some(micros / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_properties_are_understood() {
        const DAY: i64 = 86_400_000;
        for (text, expected) in [
            ("interval 1 week", Some(7 * DAY)),
            ("INTERVAL 30 DAYS", Some(30 * DAY)),
            ("2 days", Some(2 * DAY)),
            ("interval 1 day 12 hours", Some(DAY * 3 / 2)),
            ("interval 0 hours", Some(0)),
            ("interval 1500 microseconds", Some(1)),
            ("interval 1 month", None),
            ("interval", None),
            ("interval 5", None),
            ("a week", None),
        ] {
            assert_eq!(parse_interval(text), expected, "{text}");
        }
    }
}
