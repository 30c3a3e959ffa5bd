//! What a test of one column may give for values that are known to lie in a range.

use std::cmp::Ordering;

use super::outcomes::Outcomes;
use crate::predicate::CompareOp;
use crate::predicate::bind::Test;
use crate::predicate::scalar::{Scalar, compare_doubles};

/// The known facts of the values of one column in one file. By default nothing is known.
#[derive(Debug, Clone)]
pub(crate) struct Facts<'a> {
    /// Whether a row may be null.
    pub(crate) null: bool,
    /// Whether a row may be other than null.
    pub(crate) value: bool,
    /// Whether a value may be NaN although `upper` is below it: many writers leave NaN out of the maximum.
    pub(crate) nan: bool,
    /// No value is below.
    pub(crate) lower: Option<Scalar<'a>>,
    /// No value but NaN is above.
    pub(crate) upper: Option<Scalar<'a>>,
}

impl Default for Facts<'_> {
    fn default() -> Self {
        Facts { null: true, value: true, nan: false, lower: None, upper: None }
    }
}

impl<'a> Facts<'a> {
    /// Every row is null.
    pub(crate) fn all_null() -> Self {
        Facts { value: false, ..Facts::default() }
    }

    /// Every row holds this value.
    pub(crate) fn point(value: Scalar<'a>) -> Self {
        Facts::between(value.clone(), value)
    }

    /// Every row holds a value between these two.
    pub(crate) fn between(lower: Scalar<'a>, upper: Scalar<'a>) -> Self {
        Facts { null: false, lower: Some(lower), upper: Some(upper), ..Facts::default() }
    }

    /// The same without bounds where they contradict each other.
    pub(crate) fn checked(mut self) -> Self {
        let order = compare(self.lower.as_ref(), self.upper.as_ref());
        if self.lower.is_some() && self.upper.is_some() && !order.is_some_and(Ordering::is_le) {
            (self.lower, self.upper) = (None, None);
        }
        self
    }
}

fn compare(a: Option<&Scalar<'_>>, b: Option<&Scalar<'_>>) -> Option<Ordering> {
    a?.compare(b?)
}

/// Values between two bounds, each of which may be unknown.
#[derive(Clone, Copy)]
pub(crate) struct Range<'r> {
    pub(crate) lower: Option<&'r Scalar<'r>>,
    pub(crate) upper: Option<&'r Scalar<'r>>,
}

impl Range<'_> {
    /// What the test may give for a value in the range.
    pub(crate) fn outcomes(self, test: &Test) -> Outcomes {
        match test {
            Test::IsNull => Outcomes::one(Some(false)),
            Test::IsNotNull => Outcomes::one(Some(true)),
            Test::EveryValue(truth) => Outcomes::one(Some(*truth)),
            Test::Compare { op, value } => {
                compared(*op, compare(self.lower, Some(value)), compare(self.upper, Some(value)))
            }
            Test::CompareAsDouble { op, value, scale } => {
                // the cast never decreases, so it maps bounds to bounds
                let order =
                    |bound: Option<&Scalar<'_>>| Some(compare_doubles(bound?.to_double(*scale)?, *value));
                compared(*op, order(self.lower), order(self.upper))
            }
            Test::In { values, null } => self.listed(values, *null),
            Test::StartsWith(prefix) => self.prefixed(prefix),
        }
    }

    fn listed(self, values: &[Scalar<'static>], null: bool) -> Outcomes {
        let below = |v: &Scalar<'_>| compare(self.lower, Some(v)).is_some_and(Ordering::is_gt);
        let above = |v: &Scalar<'_>| compare(self.upper, Some(v)).is_some_and(Ordering::is_lt);
        // the list is sorted: the first value that is not below the range is the one to look at
        let first = values.get(values.partition_point(below));
        let hit = first.is_some_and(|v| !above(v));
        let only = first.is_some_and(|v| {
            let equal = |bound| compare(bound, Some(v)).is_some_and(Ordering::is_eq);
            equal(self.lower) && equal(self.upper)
        });
        let miss = if only { Outcomes::NONE } else { Outcomes::one((!null).then_some(false)) };
        Outcomes::either(hit, false).union(miss)
    }

    fn prefixed(self, prefix: &[u8]) -> Outcomes {
        let bytes = |bound: Option<&'_ Scalar<'_>>| match bound {
            Some(Scalar::Bytes(b)) => Some((b.starts_with(prefix), b.as_ref().cmp(prefix))),
            _ => None,
        };
        let (lower, upper) = (bytes(self.lower), bytes(self.upper));
        let beyond = lower.is_some_and(|(starts, order)| order.is_gt() && !starts);
        let before = upper.is_some_and(|(_, order)| order.is_lt());
        let all = lower.is_some_and(|(starts, _)| starts) && upper.is_some_and(|(starts, _)| starts);
        Outcomes::either(!beyond && !before, !all)
    }
}

/// From the order of the lower and of the upper bound to the literal.
fn compared(op: CompareOp, lower: Option<Ordering>, upper: Option<Ordering>) -> Outcomes {
    let lower_is = |f: fn(Ordering) -> bool| lower.is_some_and(f);
    let upper_is = |f: fn(Ordering) -> bool| upper.is_some_and(f);
    let outside = lower_is(Ordering::is_gt) || upper_is(Ordering::is_lt);
    let point = lower_is(Ordering::is_eq) && upper_is(Ordering::is_eq);
    match op {
        CompareOp::Eq | CompareOp::NullSafeEq => Outcomes::either(!outside, !point),
        CompareOp::Ne => Outcomes::either(!point, !outside),
        CompareOp::Lt => Outcomes::either(!lower_is(Ordering::is_ge), !upper_is(Ordering::is_lt)),
        CompareOp::Le => Outcomes::either(!lower_is(Ordering::is_gt), !upper_is(Ordering::is_le)),
        CompareOp::Gt => Outcomes::either(!upper_is(Ordering::is_le), !lower_is(Ordering::is_gt)),
        CompareOp::Ge => Outcomes::either(!upper_is(Ordering::is_lt), !lower_is(Ordering::is_ge)),
    }
}

/// What the test gives for null.
pub(crate) fn at_null(test: &Test) -> Outcomes {
    Outcomes::one(match test {
        Test::IsNull => Some(true),
        Test::IsNotNull
        | Test::Compare { op: CompareOp::NullSafeEq, .. }
        | Test::CompareAsDouble { op: CompareOp::NullSafeEq, .. } => Some(false),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(test: &Test, lower: Option<i64>, upper: Option<i64>) -> String {
        let (lower, upper) = (lower.map(Scalar::Integer), upper.map(Scalar::Integer));
        format!("{:?}", Range { lower: lower.as_ref(), upper: upper.as_ref() }.outcomes(test))
    }

    /// Every comparison with 5 of every range in 3..=7 gives exactly the outcomes of the whole numbers in it.
    #[test]
    fn a_range_gives_the_outcomes_of_its_values() {
        use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne, NullSafeEq};
        let holds = |op, v: i64| match op {
            Eq | NullSafeEq => v == 5,
            Ne => v != 5,
            Lt => v < 5,
            Le => v <= 5,
            Gt => v > 5,
            Ge => v >= 5,
        };
        for op in [Eq, Ne, Lt, Le, Gt, Ge, NullSafeEq] {
            let test = Test::Compare { op, value: Scalar::Integer(5) };
            let list = Test::In { values: vec![Scalar::Integer(5)], null: false };
            for (lower, upper) in (3..=7).flat_map(|l| (l..=7).map(move |u| (l, u))) {
                let values = || (lower..=upper).map(|v| Outcomes::one(Some(holds(op, v))));
                let expected = format!("{:?}", values().fold(Outcomes::NONE, Outcomes::union));
                assert_eq!(
                    outcomes(&test, Some(lower), Some(upper)),
                    expected,
                    "{op} 5 in {lower}..={upper}"
                );
                if op == Eq {
                    assert_eq!(outcomes(&list, Some(lower), Some(upper)), expected, "in {lower}..={upper}");
                }
            }
            assert_eq!(outcomes(&test, None, None), "tf", "{op} without bounds");
        }
    }

    #[test]
    fn lists_and_prefixes() {
        let list = |null| Test::In { values: vec![Scalar::Integer(2), Scalar::Integer(8)], null };
        assert_eq!(outcomes(&list(false), Some(3), Some(7)), "f");
        assert_eq!(outcomes(&list(true), Some(3), Some(7)), "n");
        assert_eq!(outcomes(&list(true), Some(8), Some(8)), "t");
        assert_eq!(outcomes(&list(false), Some(3), None), "tf");
        let prefix = |lower: &str, upper: &str| {
            let (lower, upper) = (lower.as_bytes().to_vec(), upper.as_bytes().to_vec());
            let (lower, upper) = (Scalar::Bytes(lower.into()), Scalar::Bytes(upper.into()));
            let range = Range { lower: Some(&lower), upper: Some(&upper) };
            format!("{:?}", range.outcomes(&Test::StartsWith(b"de".to_vec())))
        };
        assert_eq!(prefix("a", "c"), "f");
        assert_eq!(prefix("df", "z"), "f");
        assert_eq!(prefix("d", "de"), "tf");
        assert_eq!(prefix("de", "dez"), "t");
        assert_eq!(prefix("dea", "df"), "tf");
    }

    #[test]
    fn contradicting_bounds_are_no_bounds() {
        let facts = Facts::between(Scalar::Integer(5), Scalar::Integer(3)).checked();
        assert!(facts.lower.is_none() && facts.upper.is_none());
    }
}
