//! The whole numbers of which a column must hold one for a predicate to be TRUE. Most files that statistics drop have none
//! of them, and need no other look.

use std::ops::ControlFlow;

use super::plan::{OneColumn, PrunePlan, Tree};
use crate::predicate::bind::Test;
use crate::predicate::scalar::Scalar;
use crate::predicate::{BoundColumn, CompareOp};
use crate::schema::DataType;

/// Both ends belong to it; it is never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interval {
    /// The column, as in the plan.
    pub(crate) column: usize,
    lower: i64,
    upper: i64,
}

impl Interval {
    /// Those of the columns of whole numbers and days in the conditions that all must be TRUE. Of a column that has other
    /// conditions as well only what its comparisons say is used.
    pub(crate) fn of(plan: &PrunePlan, columns: &[BoundColumn]) -> Vec<Interval> {
        let mut found = Vec::new();
        let mut leaf = |leaf: &OneColumn| {
            // bounds of these types hold as they are
            let exact = columns.get(leaf.column).is_some_and(|c| {
                use DataType::{Byte, Date, Integer, Long, Short};
                matches!(c.data_type, Byte | Short | Integer | Long | Date)
            });
            let mut interval = Interval { column: leaf.column, lower: i64::MIN, upper: i64::MAX };
            let narrowed = interval.narrow(&leaf.condition);
            if exact && narrowed.is_continue() && interval.lower <= interval.upper {
                found.push(interval);
            }
        };
        match plan {
            Tree::Leaf(one) => leaf(one),
            Tree::And(parts) => {
                for part in parts {
                    if let Tree::Leaf(one) = part {
                        leaf(one);
                    }
                }
            }
            _ => {}
        }
        found.retain(|i| (i.lower, i.upper) != (i64::MIN, i64::MAX));
        found
    }

    /// Leaves out the numbers for which a condition is not TRUE; breaks where that leaves none.
    fn narrow(&mut self, condition: &Tree<Test>) -> ControlFlow<()> {
        let before = |value: i64| value.checked_sub(1).map_or(ControlFlow::Break(()), ControlFlow::Continue);
        let after = |value: i64| value.checked_add(1).map_or(ControlFlow::Break(()), ControlFlow::Continue);
        match condition {
            Tree::And(parts) => parts.iter().try_for_each(|part| self.narrow(part))?,
            Tree::Leaf(Test::Compare { op, value: Scalar::Integer(value) }) => {
                let (lower, upper) = match op {
                    CompareOp::Eq => (*value, *value),
                    CompareOp::Lt => (i64::MIN, before(*value)?),
                    CompareOp::Le => (i64::MIN, *value),
                    CompareOp::Gt => (after(*value)?, i64::MAX),
                    CompareOp::Ge => (*value, i64::MAX),
                    CompareOp::Ne | CompareOp::NullSafeEq => return ControlFlow::Continue(()),
                };
                (self.lower, self.upper) = (self.lower.max(lower), self.upper.min(upper));
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// Whether none of its numbers lies between these bounds. Bounds that contradict each other say nothing.
    #[inline]
    pub(crate) fn misses(&self, least: i64, most: i64) -> bool {
        least <= most && (most < self.lower || least > self.upper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predicate::bind::Bound;

    fn compare(column: usize, op: CompareOp, value: i64) -> Bound {
        Bound::Test { column, test: Test::Compare { op, value: Scalar::Integer(value) } }
    }

    fn found(bound: Bound, data_type: DataType) -> Vec<(i64, i64)> {
        let column = |name: &str| BoundColumn {
            logical: vec![name.to_owned()],
            physical: vec![name.to_owned()],
            data_type: data_type.clone(),
            partition: false,
            was_float: false,
        };
        let plan = PrunePlan::new(bound, &[0, 1]);
        Interval::of(&plan, &[column("a"), column("b")]).iter().map(|i| (i.lower, i.upper)).collect()
    }

    #[test]
    fn an_interval_is_what_all_comparisons_leave() {
        use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne};
        const ALL: (i64, i64) = (i64::MIN, i64::MAX);
        for (op, expected) in [
            (Eq, Some((5, 5))),
            (Lt, Some((ALL.0, 4))),
            (Le, Some((ALL.0, 5))),
            (Gt, Some((6, ALL.1))),
            (Ge, Some((5, ALL.1))),
            (Ne, None),
        ] {
            assert_eq!(found(compare(0, op, 5), DataType::Long), expected.into_iter().collect::<Vec<_>>());
        }
        let both = |a, b| Bound::And(vec![a, b]);
        let between = both(compare(0, Ge, 3), both(compare(0, Lt, 9), compare(0, Ne, 4)));
        assert_eq!(found(between, DataType::Integer), [(3, 8)]);
        assert_eq!(found(both(compare(0, Gt, 3), compare(1, Eq, 9)), DataType::Date), [(4, ALL.1), (9, 9)]);
        // no number at all, other types, other conditions
        assert!(found(both(compare(0, Gt, 5), compare(0, Lt, 6)), DataType::Long).is_empty());
        assert!(found(compare(0, Gt, i64::MAX), DataType::Long).is_empty());
        assert!(found(compare(0, Eq, 5), DataType::Timestamp).is_empty());
        assert!(found(Bound::Or(vec![compare(0, Eq, 5), compare(1, Eq, 5)]), DataType::Long).is_empty());
        assert!(found(Bound::Not(Box::new(compare(0, Eq, 5))), DataType::Long).is_empty());
    }

    #[test]
    fn bounds_miss_an_interval_beside_them() {
        let interval = Interval { column: 0, lower: 5, upper: 9 };
        for (least, most, misses) in
            [(1, 4, true), (1, 5, false), (9, 12, false), (10, 12, true), (6, 7, false), (12, 1, false)]
        {
            assert_eq!(interval.misses(least, most), misses, "{least} to {most}");
        }
    }
}
