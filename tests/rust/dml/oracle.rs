//! Random tables, conditions and changes, against plain code.

use super::*;

/// A condition with its meaning: none is unknown.
#[derive(Debug, Clone)]
enum Condition {
    K(&'static str, i64),
    P(&'static str, String),
    A(&'static str, i64),
    Null(&'static str),
    Mod(i64, i64),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

fn compared<T: Ord>(op: &str, left: Option<T>, right: T) -> Option<bool> {
    let left = left?;
    Some(match op {
        "=" => left == right,
        "<>" => left != right,
        "<" => left < right,
        "<=" => left <= right,
        ">" => left > right,
        _ => left >= right,
    })
}

impl Condition {
    fn sql(&self) -> String {
        match self {
            Condition::K(op, v) => format!("k {op} {v}"),
            Condition::P(op, v) => format!("p {op} '{v}'"),
            Condition::A(op, v) => format!("{v} {op} s.a"),
            Condition::Null(column) => format!("{column} IS NULL"),
            Condition::Mod(m, v) => format!("k % {m} = {v}"),
            Condition::Not(c) => format!("NOT ({})", c.sql()),
            Condition::And(a, b) => format!("({}) AND ({})", a.sql(), b.sql()),
            Condition::Or(a, b) => format!("({}) OR ({})", a.sql(), b.sql()),
        }
    }

    fn of(&self, row: &Row) -> Option<bool> {
        match self {
            Condition::K(op, v) => compared(op, Some(row.k), *v),
            Condition::P(op, v) => compared(op, row.p.as_ref(), v),
            Condition::A(op, v) => {
                let flipped = match *op {
                    "<" => ">",
                    "<=" => ">=",
                    ">" => "<",
                    ">=" => "<=",
                    same => same,
                };
                compared(flipped, row.s.as_ref().and_then(|s| s.0), *v)
            }
            Condition::Null("p") => Some(row.p.is_none()),
            Condition::Null("s") => Some(row.s.is_none()),
            Condition::Null(_) => Some(row.s.as_ref().and_then(|s| s.0).is_none()),
            Condition::Mod(m, v) => Some(row.k % m == *v),
            Condition::Not(c) => c.of(row).map(|t| !t),
            Condition::And(a, b) => match (a.of(row), b.of(row)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Condition::Or(a, b) => match (a.of(row), b.of(row)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
        }
    }
}

fn condition() -> impl Strategy<Value = Condition> {
    let op = prop::sample::select(vec!["=", "<>", "<", "<=", ">", ">="]);
    let leaf = prop_oneof![
        (op.clone(), -5..45i64).prop_map(|(op, v)| Condition::K(op, v)),
        (op.clone(), prop::sample::select(vec!["x", "y", "z", "moved"]))
            .prop_map(|(op, v)| Condition::P(op, v.to_owned())),
        (op, -1..5i64).prop_map(|(op, v)| Condition::A(op, v)),
        prop::sample::select(vec!["p", "s", "s.a"]).prop_map(Condition::Null),
        (2..5i64, 0..3i64).prop_map(|(m, v)| Condition::Mod(m, v)),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|c| Condition::Not(Box::new(c))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Condition::And(Box::new(a), Box::new(b))),
            (inner.clone(), inner).prop_map(|(a, b)| Condition::Or(Box::new(a), Box::new(b))),
        ]
    })
}

#[derive(Debug, Clone)]
enum Step {
    Append(Vec<Row>),
    Delete(Option<Condition>),
    /// What is set: `k`, `p` or `s.a`.
    Update(u8, Option<Condition>),
}

fn any_row() -> impl Strategy<Value = Row> {
    let p = prop::option::of(prop::sample::select(vec!["x", "y", "z"]));
    (0..40i64, p, prop::option::of(0..4i64)).prop_map(|(k, p, a)| row(k, p, a))
}

fn step() -> impl Strategy<Value = Step> {
    let may_be = || prop::option::weighted(0.95, condition());
    prop_oneof![
        1 => prop::collection::vec(any_row(), 0..15).prop_map(Step::Append),
        3 => may_be().prop_map(Step::Delete),
        3 => (0..3u8, may_be()).prop_map(|(what, c)| Step::Update(what, c)),
    ]
}

fn changed(what: u8, row: &mut Row) {
    match what {
        0 => row.k += 7,
        1 => row.p = Some("moved".into()),
        _ => row.s = Some((Some(row.k), row.s.take().and_then(|s| s.1))),
    }
}

const SET: [(&str, &str); 3] = [("k", "k + 7"), ("p", "'moved'"), ("s.a", "k")];

/// The number of rows that the files of these adds and removes show.
fn rows_of(stats: Option<&str>, vector: Option<&deltaic_core::actions::DeletionVectorDescriptor>) -> i64 {
    let stats: serde_json::Value = serde_json::from_str(stats.unwrap()).unwrap();
    stats["numRecords"].as_i64().unwrap() - vector.map_or(0, |v| v.cardinality)
}

fn check_balance(location: &Location, version: u64, changed: u64, is_update: bool) {
    let metrics = metrics(location, version);
    let did = changes(location, version);
    let added: i64 = did.adds.iter().map(|a| rows_of(a.stats.as_deref(), a.deletion_vector.as_ref())).sum();
    let removed: i64 =
        did.removes.iter().map(|r| rows_of(r.stats.as_deref(), r.deletion_vector.as_ref())).sum();
    let name = if is_update { "numUpdatedRows" } else { "numDeletedRows" };
    assert_eq!(metrics[name], changed, "{metrics:?}");
    assert_eq!(removed - added, if is_update { 0 } else { changed as i64 });
    let new_files = did.adds.iter().filter(|a| a.deletion_vector.is_none());
    let written: i64 = new_files.map(|a| rows_of(a.stats.as_deref(), None)).sum();
    let updated = if is_update { changed } else { 0 };
    assert_eq!(written as u64, metrics["numCopiedRows"] + updated, "{metrics:?}");
    assert_eq!(metrics["numAddedChangeFiles"], did.cdc.len() as u64);
    let vectors = did.adds.iter().filter(|a| a.deletion_vector.is_some()).count() as u64;
    assert_eq!(metrics["numDeletionVectorsAdded"], vectors);
    let had = did.removes.iter().filter(|r| r.deletion_vector.is_some()).count() as u64;
    assert_eq!(metrics["numDeletionVectorsRemoved"], had);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn rows_and_numbers_are_those_of_plain_code(
        first in prop::collection::vec(any_row(), 1..60),
        steps in prop::collection::vec(step(), 1..6),
        partitioned in any::<bool>(),
        vectors in any::<bool>(),
        feed in any::<bool>(),
        tracked in any::<bool>(),
        mapping in 0..3u8,
    ) {
        let mut properties = Vec::new();
        properties.extend(vectors.then_some(VECTORS));
        properties.extend(feed.then_some(CHANGES));
        properties.extend(tracked.then_some(ROW_IDS));
        properties.extend((mapping > 0).then_some(("delta.columnMapping.mode", ["", "name", "id"][mapping as usize])));
        let (_, location) = place();
        append(&location, &first, partitioned, &properties);
        let mut model = first;
        for step in steps {
            match &step {
                Step::Append(rows) => {
                    append(&location, rows, partitioned, &[]);
                    model.extend(rows.iter().cloned());
                }
                Step::Delete(condition) => {
                    let matches = |r: &Row| condition.as_ref().is_none_or(|c| c.of(r) == Some(true));
                    let count = model.iter().filter(|r| matches(r)).count() as u64;
                    let done = delete(&location, condition.as_ref().map(Condition::sql).as_deref()).unwrap();
                    prop_assert_eq!(done.deleted_rows, Some(count));
                    prop_assert_eq!(done.version.is_some(), count > 0);
                    model.retain(|r| !matches(r));
                    if let Some(version) = done.version {
                        check_balance(&location, version, count, false);
                    }
                }
                Step::Update(what, condition) => {
                    let mut count = 0;
                    for row in &mut model {
                        if condition.as_ref().is_none_or(|c| c.of(row) == Some(true)) {
                            changed(*what, row);
                            count += 1;
                        }
                    }
                    let set = &SET[*what as usize..=*what as usize];
                    let done = update(&location, set, condition.as_ref().map(Condition::sql).as_deref()).unwrap();
                    prop_assert_eq!(done.updated_rows, count);
                    if let Some(version) = done.version {
                        check_balance(&location, version, count, true);
                        let images = changes(&location, version).cdc;
                        prop_assert_eq!(!images.is_empty(), feed);
                    }
                }
            }
            model.sort();
            prop_assert_eq!(&all(&location), &model, "{:?}", step);
        }
        prop_assert_eq!(orphans(&location), Vec::<String>::new());
    }
}
