//! Why a file is dropped: the parts of a predicate, each judged as pruning judges the whole.

use arrow::array::{MapArray, StringViewArray};
use arrow_buffer::BooleanBuffer;

use super::pruner::Pruner;
use crate::error::Result;
use crate::predicate::Predicate;
use crate::schema::{ColumnMappingMode, StructType};

/// A part of a predicate, with a pruner of its own.
#[derive(Debug)]
pub(crate) struct PredicatePart {
    pub(crate) predicate: Predicate,
    pub(crate) pruner: Pruner,
    joined: Joined,
    parts: Vec<PredicatePart>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joined {
    And,
    Or,
    /// It has no parts.
    Single,
}

/// What the parts say of a batch of files.
#[derive(Debug)]
pub(crate) struct Judged<'p> {
    part: &'p PredicatePart,
    /// The files that partition values alone keep.
    by_values: BooleanBuffer,
    kept: BooleanBuffer,
    parts: Vec<Judged<'p>>,
}

/// A part that rules a file out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RuledOut<'p> {
    pub(crate) part: &'p PredicatePart,
    /// Whether partition values alone say so.
    pub(crate) by_values: bool,
}

impl PredicatePart {
    /// Takes a predicate apart; negations go down to its tests first, so that all parts are joined by AND and OR.
    ///
    /// # Errors
    /// As [`Pruner::bind`].
    pub(crate) fn of(
        predicate: &Predicate,
        schema: &StructType,
        partition_columns: &[String],
        mode: ColumnMappingMode,
    ) -> Result<PredicatePart> {
        let bind = |p: &Predicate| Pruner::bind(p, schema, partition_columns, mode);
        PredicatePart::bound(with_negations_below(predicate, false), &bind)
    }

    fn bound(predicate: Predicate, bind: &dyn Fn(&Predicate) -> Result<Pruner>) -> Result<PredicatePart> {
        let pruner = bind(&predicate)?;
        let (joined, parts) = match &predicate {
            Predicate::And(parts) if parts.len() > 1 => (Joined::And, flat(parts, true)),
            Predicate::Or(parts) if parts.len() > 1 => (Joined::Or, flat(parts, false)),
            _ => (Joined::Single, Vec::new()),
        };
        let parts = parts.into_iter().map(|p| PredicatePart::bound(p, bind)).collect::<Result<_>>()?;
        Ok(PredicatePart { predicate, pruner, joined, parts })
    }

    /// The tests that no statistic and no partition value decides.
    pub(crate) fn undecided(&self) -> Vec<&Predicate> {
        if self.joined != Joined::Single {
            return self.parts.iter().flat_map(PredicatePart::undecided).collect();
        }
        let decided = self.pruner.uses_partitions() || self.pruner.uses_stats();
        if decided || matches!(self.predicate, Predicate::Constant(_)) {
            Vec::new()
        } else {
            vec![&self.predicate]
        }
    }

    /// Judges files, only those in `wanted`, by their partition values and the JSON text of their statistics.
    pub(crate) fn judge(
        &self,
        values: &MapArray,
        stats: &StringViewArray,
        wanted: &BooleanBuffer,
    ) -> Judged<'_> {
        let by_values = wanted & &self.pruner.by_partition_values(values);
        let kept = self.pruner.by_stats_json(stats, values, &by_values);
        let parts = self.parts.iter().map(|p| p.judge(values, stats, wanted)).collect();
        Judged { part: self, by_values, kept, parts }
    }
}

impl<'p> Judged<'p> {
    /// The parts that rule a file out, as few as there are: of AND one, of OR all. Empty where they keep it.
    pub(crate) fn ruled_out(&self, row: usize) -> Vec<RuledOut<'p>> {
        if self.kept.value(row) {
            return Vec::new();
        }
        let mut drop = self.parts.iter().filter(|p| !p.kept.value(row));
        match self.part.joined {
            Joined::And => {
                let by_values = self.parts.iter().find(|p| !p.by_values.value(row));
                if let Some(one) = by_values.or_else(|| drop.next()) {
                    return one.ruled_out(row);
                }
            }
            Joined::Or if drop.clone().count() == self.parts.len() => {
                return drop.flat_map(|p| p.ruled_out(row)).collect();
            }
            // only together: `x IS NULL AND x > 5`, or a file without rows
            Joined::Or | Joined::Single => {}
        }
        vec![RuledOut { part: self.part, by_values: !self.by_values.value(row) }]
    }
}

/// The same truth for every row, with NOT on single tests only.
fn with_negations_below(predicate: &Predicate, negated: bool) -> Predicate {
    let all = |parts: &[Predicate]| parts.iter().map(|p| with_negations_below(p, negated)).collect();
    match predicate {
        Predicate::Not(inner) => with_negations_below(inner, !negated),
        Predicate::And(parts) if negated => Predicate::Or(all(parts)),
        Predicate::And(parts) => Predicate::And(all(parts)),
        Predicate::Or(parts) if negated => Predicate::And(all(parts)),
        Predicate::Or(parts) => Predicate::Or(all(parts)),
        Predicate::Constant(value) if negated => Predicate::Constant(value.map(|v| !v)),
        other if negated => Predicate::Not(Box::new(other.clone())),
        other => other.clone(),
    }
}

/// The parts of nested ANDs, or ORs, in one list.
fn flat(parts: &[Predicate], and: bool) -> Vec<Predicate> {
    let open = |part: &Predicate| match part {
        Predicate::And(inner) if and => flat(inner, and),
        Predicate::Or(inner) if !and => flat(inner, and),
        other => vec![other.clone()],
    };
    parts.iter().flat_map(open).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predicate::{CompareOp, Literal};
    use crate::prune::tests::{compare, partition_map};
    use crate::schema::{DataType, StructField};

    fn ruled_out(predicate: &Predicate, value: &str, stats: &str) -> Vec<(String, bool)> {
        let columns = [("p", DataType::String), ("x", DataType::Long), ("y", DataType::Long)];
        let fields = columns.into_iter().map(|(n, t)| StructField::new(n, t, true)).collect();
        let part =
            PredicatePart::of(predicate, &StructType { fields }, &["p".into()], ColumnMappingMode::None)
                .unwrap();
        let values = partition_map("p", &[Some(value)]);
        let stats = StringViewArray::from_iter_values([stats]);
        let judged = part.judge(&values, &stats, &BooleanBuffer::new_set(1));
        judged.ruled_out(0).iter().map(|r| (r.part.predicate.to_string(), r.by_values)).collect()
    }

    const STATS: &str =
        r#"{"numRecords":9,"minValues":{"x":10,"y":0},"maxValues":{"x":19,"y":5},"nullCount":{"x":0,"y":9}}"#;

    #[test]
    fn of_and_one_part_is_reported_and_of_or_all() {
        let at = |column, op, value| compare(column, op, Literal::Long(value));
        let p = || compare("p", CompareOp::Eq, Literal::String("a".into()));
        let x = || at("x", CompareOp::Lt, 10);
        let both = Predicate::And(vec![x(), p()]);
        // partition values are the plainer reason
        assert_eq!(ruled_out(&both, "b", STATS), [("p = 'a'".to_owned(), true)]);
        assert_eq!(ruled_out(&both, "a", STATS), [("x < 10".to_owned(), false)]);
        let either = Predicate::Or(vec![x(), p()]);
        assert_eq!(ruled_out(&either, "a", STATS), []);
        assert_eq!(
            ruled_out(&either, "b", STATS),
            [("x < 10".to_owned(), false), ("p = 'a'".to_owned(), true)]
        );
        let negated = Predicate::Not(Box::new(Predicate::Or(vec![at("x", CompareOp::Ge, 10), p()])));
        assert_eq!(ruled_out(&negated, "b", STATS), [("NOT (x >= 10)".to_owned(), false)]);
    }

    #[test]
    fn what_rules_out_together_only_is_reported_together() {
        let null = Predicate::IsNull { column: vec!["x".into()] };
        let both = Predicate::And(vec![null, compare("x", CompareOp::Gt, Literal::Long(5))]);
        assert_eq!(ruled_out(&both, "a", "{}"), [(both.to_string(), false)]);
    }

    #[test]
    fn tests_that_nothing_decides_are_named() {
        let unknown = Predicate::Unknown("f(x)".into());
        let predicate = Predicate::And(vec![compare("x", CompareOp::Gt, Literal::Long(5)), unknown.clone()]);
        let fields = vec![StructField::new("x", DataType::Long, true)];
        let part =
            PredicatePart::of(&predicate, &StructType { fields }, &[], ColumnMappingMode::None).unwrap();
        assert_eq!(part.undecided(), [&unknown]);
    }

    #[test]
    fn parts_within_parts_are_taken_apart_by_what_joins_them() {
        let p = |value: &str| compare("p", CompareOp::Eq, Literal::String(value.into()));
        let x = |op, value| compare("x", op, Literal::Long(value));
        let (and, or) = (Predicate::And, Predicate::Or);
        let reported = |predicate: &Predicate| ruled_out(predicate, "a", STATS);
        let one = |predicate: &str, by_values| vec![(predicate.to_owned(), by_values)];
        // of nested ANDs the one that partition values decide, in any position
        let deep = and(vec![x(CompareOp::Lt, 10), and(vec![x(CompareOp::Gt, 19), p("b")])]);
        assert_eq!(reported(&deep), one("p = 'b'", true));
        let both = or(vec![p("b"), or(vec![p("c"), x(CompareOp::Gt, 19)])]);
        let every =
            [("p = 'b'".to_owned(), true), ("p = 'c'".to_owned(), true), ("x > 19".to_owned(), false)];
        assert_eq!(reported(&both), every);
        // an OR within an AND stays one part of it, and rules out by all of its own
        let mixed = and(vec![x(CompareOp::Gt, 0), or(vec![p("b"), x(CompareOp::Gt, 19)])]);
        assert_eq!(reported(&mixed), [("p = 'b'".to_owned(), true), ("x > 19".to_owned(), false)]);
        let mixed = or(vec![p("b"), and(vec![x(CompareOp::Gt, 0), x(CompareOp::Gt, 19)])]);
        assert_eq!(reported(&mixed), [("p = 'b'".to_owned(), true), ("x > 19".to_owned(), false)]);
        // negations go down to the tests
        let not = |inner| Predicate::Not(Box::new(inner));
        let negated = not(and(vec![x(CompareOp::Ge, 10), p("a")]));
        assert_eq!(
            reported(&negated),
            [("NOT (x >= 10)".to_owned(), false), ("NOT (p = 'a')".to_owned(), true)]
        );
        assert_eq!(reported(&not(not(p("b")))), one("p = 'b'", true));
        assert_eq!(reported(&not(Predicate::Constant(Some(true)))), one("FALSE", true));
        // a joint of one is no joint
        assert_eq!(reported(&and(vec![p("b")])), one("p = 'b'", true));
        assert_eq!(reported(&or(vec![p("b")])), one("p = 'b'", true));
        assert_eq!(reported(&p("a")), []);
    }

    #[test]
    fn an_or_of_none_rules_out_every_file() {
        let never = Predicate::Or(Vec::new());
        assert_eq!(
            ruled_out(&never, "a", STATS).iter().map(|r| &r.0).collect::<Vec<_>>(),
            [&never.to_string()]
        );
    }
}
