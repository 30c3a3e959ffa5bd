//! Statistics of one file and their JSON, as delta-spark writes it (PROTOCOL.md, "Per-file Statistics").

use std::fmt::Write;

use chrono::{DateTime, SubsecRound};

use crate::partition::date_text;
use crate::schema::DataType;
use crate::stats::{StatsColumns, StatsNode as Node, has_bounds};

/// A bound of a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Bound {
    Int(i64),
    Float(f32),
    Double(f64),
    Decimal(i128),
    Text(String),
}

/// The facts of one leaf column of one file. `None` is unknown, or that there is no value.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct LeafStats {
    pub null_count: Option<u64>,
    pub min: Option<Bound>,
    pub max: Option<Bound>,
}

/// The statistics of a file, by `slot` of [`StatsColumns`].
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct FileStats {
    pub num_records: u64,
    pub leaves: Vec<LeafStats>,
}

#[derive(Clone, Copy, PartialEq)]
enum Statistic {
    Min,
    Max,
    Nulls,
}

impl FileStats {
    /// `{"numRecords":…,"minValues":{…},"maxValues":{…},"nullCount":{…}[,"tightBounds":true]}`.
    pub(super) fn to_json(&self, columns: &StatsColumns) -> String {
        let mut out = format!("{{\"numRecords\":{}", self.num_records);
        for (key, part) in
            [("minValues", Statistic::Min), ("maxValues", Statistic::Max), ("nullCount", Statistic::Nulls)]
        {
            if columns.nodes.iter().any(|n| takes_part(n, part)) {
                let _ = write!(out, ",\"{key}\":");
                self.object(&columns.nodes, part, columns.prefix, &mut out);
            }
        }
        if columns.tight_bounds {
            out.push_str(",\"tightBounds\":true");
        }
        out.push('}');
        out
    }

    fn object(&self, nodes: &[Node], part: Statistic, prefix: usize, out: &mut String) {
        out.push('{');
        let start = out.len();
        for node in nodes.iter().filter(|n| takes_part(n, part)) {
            let before = out.len();
            if before > start {
                out.push(',');
            }
            match node {
                Node::Struct { name, children, .. } => {
                    json_text(name, out);
                    out.push(':');
                    self.object(children, part, prefix, out);
                }
                Node::Leaf { name, slot, data_type, .. } => {
                    match self.value(*slot, data_type, part, prefix) {
                        Some(value) => {
                            json_text(name, out);
                            out.push(':');
                            out.push_str(&value);
                        }
                        None => out.truncate(before),
                    }
                }
            }
        }
        out.push('}');
    }

    fn value(&self, slot: usize, data_type: &DataType, part: Statistic, prefix: usize) -> Option<String> {
        let leaf = self.leaves.get(slot)?;
        match part {
            Statistic::Nulls => leaf.null_count.map(|n| n.to_string()),
            Statistic::Min => bound_json(leaf.min.as_ref()?, data_type, |t| truncate_min(t, prefix)),
            Statistic::Max => bound_json(leaf.max.as_ref()?, data_type, |t| truncate_max(t, prefix)),
        }
    }
}

fn takes_part(node: &Node, part: Statistic) -> bool {
    match node {
        Node::Struct { children, .. } => children.iter().any(|c| takes_part(c, part)),
        Node::Leaf { data_type, .. } => part == Statistic::Nulls || has_bounds(data_type),
    }
}

fn json_text(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

fn bound_json(bound: &Bound, data_type: &DataType, cut: impl Fn(&str) -> Option<String>) -> Option<String> {
    Some(match (bound, data_type) {
        (Bound::Int(days), DataType::Date) => quoted(&in_range(date_text(i32::try_from(*days).ok()?)?)?),
        (Bound::Int(micros), DataType::Timestamp) => quoted(&format!("{}Z", timestamp_text(*micros)?)),
        (Bound::Int(micros), DataType::TimestampNtz) => quoted(&timestamp_text(*micros)?),
        (Bound::Int(n), _) => n.to_string(),
        (Bound::Float(x), _) => float_json(f64::from(*x), format!("{x:?}")),
        (Bound::Double(x), _) => float_json(*x, format!("{x:?}")),
        (Bound::Decimal(n), DataType::Decimal(_, scale)) => decimal_text(*n, *scale),
        (Bound::Decimal(_), _) => return None,
        (Bound::Text(text), _) => quoted(&cut(text)?),
    })
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Numbers as numbers; what JSON has no number for as text, as Spark does.
fn float_json(value: f64, digits: String) -> String {
    match value {
        v if v.is_nan() => "\"NaN\"".into(),
        v if v == f64::INFINITY => "\"Infinity\"".into(),
        v if v == f64::NEG_INFINITY => "\"-Infinity\"".into(),
        _ => digits,
    }
}

/// The unscaled number with its point: never an exponent.
pub(crate) fn decimal_text(unscaled: i128, scale: i8) -> String {
    let scale = usize::from(scale.unsigned_abs());
    let digits = format!("{:0width$}", unscaled.unsigned_abs(), width = scale + 1);
    let sign = if unscaled < 0 { "-" } else { "" };
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// `2024-01-01T00:00:00.123`: cut down to milliseconds, the maximum too, as delta-spark does. So the largest value can be
/// up to a millisecond above it, and readers widen it. Years that need a sign give none.
fn timestamp_text(micros: i64) -> Option<String> {
    let at = DateTime::from_timestamp_micros(micros)?.naive_utc().trunc_subsecs(3);
    in_range(at.format("%Y-%m-%dT%H:%M:%S%.3f").to_string())
}

fn in_range(text: String) -> Option<String> {
    (!text.starts_with(['+', '-'])).then_some(text)
}

/// The first `prefix` characters: never above the text.
fn truncate_min(text: &str, prefix: usize) -> Option<String> {
    if prefix == 0 && !text.is_empty() {
        return None;
    }
    Some(text.char_indices().nth(prefix).map_or(text, |(at, _)| &text[..at]).to_owned())
}

/// The first characters and a tie-breaker: never below any text that begins so. Lengths are UTF-16 code units, as in
/// delta-spark. `U+007F` breaks the tie where what was cut off begins below it, else `U+10FFFF`, which cannot follow
/// itself; a text with too many of those has no maximum.
fn truncate_max(text: &str, prefix: usize) -> Option<String> {
    let mut units = 0;
    let mut longer = false;
    let mut cut = None;
    for (at, c) in text.char_indices() {
        if units >= prefix && cut.is_none() {
            cut = Some((at, units));
        }
        units += c.len_utf16();
        longer |= units > prefix;
    }
    if !longer {
        return Some(text.to_owned());
    }
    if prefix == 0 {
        return None;
    }
    // a surrogate pair over the edge is kept whole, so nothing may be left to cut off
    let Some((mut at, mut units)) = cut else { return Some(text.to_owned()) };
    while units <= 2 * prefix {
        let Some(next) = text[at..].chars().next() else { return Some(text.to_owned()) };
        match next {
            char::MAX => {
                at += next.len_utf8();
                units += 2;
            }
            c if c < '\u{7f}' => return Some(format!("{}\u{7f}", &text[..at])),
            _ => return Some(format!("{}{}", &text[..at], char::MAX)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_bounds_are_cut_with_a_tie_breaker() {
        let long = "a".repeat(40);
        assert_eq!(truncate_min(&long, 32).unwrap(), "a".repeat(32));
        assert_eq!(truncate_max(&long, 32).unwrap(), format!("{}\u{7f}", "a".repeat(32)));
        let wide = format!("{}é", "a".repeat(32));
        assert_eq!(truncate_max(&wide, 32).unwrap(), format!("{}{}", "a".repeat(32), char::MAX));
        assert_eq!(truncate_max(&"a".repeat(32), 32).unwrap(), "a".repeat(32));
        // a pair over the edge stays whole and ends the text
        let pair = format!("{}😀", "a".repeat(31));
        assert_eq!(truncate_max(&pair, 32).unwrap(), pair);
        assert_eq!(truncate_max(&char::MAX.to_string().repeat(64), 32), None);
        assert_eq!((truncate_max("x", 0), truncate_min("x", 0)), (None, None));
    }

    proptest! {
        #[test]
        fn cut_bounds_enclose_the_text(text in "[a-c\u{7f}é\u{10ffff}😀]{0,80}", prefix in 1usize..40) {
            prop_assert!(truncate_min(&text, prefix).unwrap() <= text);
            if let Some(max) = truncate_max(&text, prefix) {
                prop_assert!(max >= text);
            }
        }
    }

    #[test]
    fn values_are_written_as_spark_does() {
        let ts = DataType::Timestamp;
        let json = |bound: Bound, data_type: &DataType| bound_json(&bound, data_type, |t| Some(t.to_owned()));
        assert_eq!(json(Bound::Int(1_704_067_200_123_999), &ts).unwrap(), "\"2024-01-01T00:00:00.123Z\"");
        assert_eq!(json(Bound::Int(-1), &ts).unwrap(), "\"1969-12-31T23:59:59.999Z\"");
        assert_eq!(json(Bound::Int(0), &DataType::TimestampNtz).unwrap(), "\"1970-01-01T00:00:00.000\"");
        assert_eq!(json(Bound::Int(i64::MAX), &ts), None);
        assert_eq!(json(Bound::Int(19_723), &DataType::Date).unwrap(), "\"2024-01-01\"");
        assert_eq!(json(Bound::Decimal(-5), &DataType::Decimal(10, 3)).unwrap(), "-0.005");
        assert_eq!(json(Bound::Decimal(5), &DataType::Decimal(10, 0)).unwrap(), "5");
        assert_eq!(json(Bound::Double(f64::NAN), &DataType::Double).unwrap(), "\"NaN\"");
        assert_eq!(json(Bound::Float(0.1), &DataType::Float).unwrap(), "0.1");
        assert_eq!(json(Bound::Double(1e300), &DataType::Double).unwrap(), "1e300");
        assert_eq!(json(Bound::Text("a\"\n".into()), &DataType::String).unwrap(), r#""a\"\n""#);
    }

    #[test]
    fn decimals_are_written_with_their_scale() {
        for (unscaled, scale, text) in
            [(1250, 2, "12.50"), (-5, 2, "-0.05"), (7, 0, "7"), (0, 3, "0.000"), (-1000, 3, "-1.000")]
        {
            assert_eq!(decimal_text(unscaled, scale), text);
        }
    }
}
