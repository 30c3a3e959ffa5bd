//! A bound predicate, arranged for judging files.

use std::collections::BTreeSet;

use super::outcomes::Outcomes;
use super::range::{Facts, Range, at_null};
use crate::predicate::bind::{Bound, Test};
use crate::predicate::scalar::Scalar;

/// AND, OR and NOT over leaves.
#[derive(Debug)]
pub(crate) enum Tree<L> {
    And(Vec<Tree<L>>),
    Or(Vec<Tree<L>>),
    Not(Box<Tree<L>>),
    Constant(Outcomes),
    Leaf(L),
}

/// A predicate as a tree of conditions on one column each. They are judged once for null, once for NaN and once for the
/// values in the bounds, so that `x IS NULL AND x > 5` and `x >= 5 AND x <= 9` are as exact as a single test.
pub(crate) type PrunePlan = Tree<OneColumn>;

/// A condition on one column.
#[derive(Debug)]
pub(crate) struct OneColumn {
    pub(super) column: usize,
    pub(super) condition: Tree<Test>,
}

impl<L> Tree<L> {
    fn outcomes_by(&self, leaf: &dyn Fn(&L) -> Outcomes) -> Outcomes {
        match self {
            Tree::And(parts) => {
                parts.iter().fold(Outcomes::one(Some(true)), |all, part| all.and(part.outcomes_by(leaf)))
            }
            Tree::Or(parts) => {
                parts.iter().fold(Outcomes::one(Some(false)), |all, part| all.or(part.outcomes_by(leaf)))
            }
            Tree::Not(inner) => inner.outcomes_by(leaf).not(),
            Tree::Constant(outcomes) => *outcomes,
            Tree::Leaf(l) => leaf(l),
        }
    }

    /// Whether TRUE, and whether FALSE, stays possible however much is known of the leaves; `leaf` answers it for one.
    fn stays_possible(&self, leaf: &dyn Fn(&L) -> (bool, bool)) -> (bool, bool) {
        match self {
            Tree::And(parts) => parts.iter().fold((true, false), |(t, f), part| {
                let (part_t, part_f) = part.stays_possible(leaf);
                (t && part_t, f || part_f)
            }),
            Tree::Or(parts) => parts.iter().fold((false, true), |(t, f), part| {
                let (part_t, part_f) = part.stays_possible(leaf);
                (t || part_t, f && part_f)
            }),
            Tree::Not(inner) => {
                let (t, f) = inner.stays_possible(leaf);
                (f, t)
            }
            Tree::Constant(outcomes) => (outcomes.may_be_true(), outcomes.not().may_be_true()),
            Tree::Leaf(l) => leaf(l),
        }
    }
}

impl PrunePlan {
    /// Arranges a bound predicate; `renumber` gives the new number of each column.
    pub(crate) fn new(bound: Bound, renumber: &[usize]) -> PrunePlan {
        if let Some(column) = only_column(&bound) {
            return Tree::Leaf(OneColumn { column: renumber[column], condition: condition(bound) });
        }
        match bound {
            Bound::And(parts) => Tree::And(by_column(parts, true, renumber)),
            Bound::Or(parts) => Tree::Or(by_column(parts, false, renumber)),
            Bound::Not(inner) => Tree::Not(Box::new(PrunePlan::new(*inner, renumber))),
            other => match condition(other) {
                Tree::Constant(outcomes) => Tree::Constant(outcomes),
                // a test names a column, so it was a leaf above
                _ => Tree::Constant(Outcomes::ANY),
            },
        }
    }

    /// What the predicate may give for the rows of a file.
    pub(crate) fn outcomes(&self, facts: &[Facts<'_>]) -> Outcomes {
        self.outcomes_by(&|leaf| leaf.outcomes(&facts[leaf.column]))
    }

    /// Whether facts about the columns that `usable` admits can drop a file.
    pub(crate) fn can_drop(&self, usable: &dyn Fn(usize) -> bool) -> bool {
        let leaf = |leaf: &OneColumn| match usable(leaf.column) {
            true => leaf.condition.stays_possible(&|_| (false, false)),
            false => (true, true),
        };
        !self.stays_possible(&leaf).0
    }
}

impl OneColumn {
    fn outcomes(&self, facts: &Facts<'_>) -> Outcomes {
        let among = |range: Range<'_>| self.condition.outcomes_by(&|test| range.outcomes(test));
        let mut outcomes = Outcomes::NONE;
        if facts.null {
            outcomes = outcomes.union(self.condition.outcomes_by(&at_null));
        }
        if facts.value {
            outcomes =
                outcomes.union(among(Range { lower: facts.lower.as_ref(), upper: facts.upper.as_ref() }));
        }
        if facts.value && facts.nan {
            let nan = Scalar::Double(f64::NAN);
            outcomes = outcomes.union(among(Range { lower: Some(&nan), upper: Some(&nan) }));
        }
        outcomes
    }
}

fn condition(bound: Bound) -> Tree<Test> {
    match bound {
        Bound::And(parts) => Tree::And(parts.into_iter().map(condition).collect()),
        Bound::Or(parts) => Tree::Or(parts.into_iter().map(condition).collect()),
        Bound::Not(inner) => Tree::Not(Box::new(condition(*inner))),
        Bound::Constant(value) => Tree::Constant(Outcomes::one(value)),
        Bound::Unknown(_) => Tree::Constant(Outcomes::ANY),
        Bound::Test { test, .. } => Tree::Leaf(test),
    }
}

/// The column of a condition that names no other.
fn only_column(bound: &Bound) -> Option<usize> {
    fn gather(bound: &Bound, named: &mut BTreeSet<usize>) {
        match bound {
            Bound::And(parts) | Bound::Or(parts) => parts.iter().for_each(|p| gather(p, named)),
            Bound::Not(inner) => gather(inner, named),
            Bound::Test { column, .. } => {
                named.insert(*column);
            }
            Bound::Constant(_) | Bound::Unknown(_) => {}
        }
    }
    let mut named = BTreeSet::new();
    gather(bound, &mut named);
    if named.len() == 1 { named.pop_first() } else { None }
}

/// The parts of a chain of AND (or OR), nested chains opened, with the conditions of one column joined to one.
fn by_column(parts: Vec<Bound>, and: bool, renumber: &[usize]) -> Vec<PrunePlan> {
    fn open(parts: Vec<Bound>, and: bool, flat: &mut Vec<Bound>) {
        for part in parts {
            match part {
                Bound::And(inner) if and => open(inner, and, flat),
                Bound::Or(inner) if !and => open(inner, and, flat),
                other => flat.push(other),
            }
        }
    }
    let mut flat = Vec::new();
    open(parts, and, &mut flat);
    let mut groups: Vec<(Option<usize>, Vec<Bound>)> = Vec::new();
    for part in flat {
        let column = only_column(&part);
        match groups.iter_mut().find(|(other, _)| column.is_some() && *other == column) {
            Some((_, group)) => group.push(part),
            None => groups.push((column, vec![part])),
        }
    }
    let joined = |(column, group): (Option<usize>, Vec<Bound>)| match column {
        Some(_) if and => PrunePlan::new(Bound::And(group), renumber),
        Some(_) => PrunePlan::new(Bound::Or(group), renumber),
        None => PrunePlan::new(group.into_iter().next().unwrap_or(Bound::Constant(Some(and))), renumber),
    };
    groups.into_iter().map(joined).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predicate::CompareOp;

    fn test(column: usize, op: CompareOp, value: i64) -> Bound {
        Bound::Test { column, test: Test::Compare { op, value: Scalar::Integer(value) } }
    }

    #[test]
    fn conditions_on_one_column_are_judged_together() {
        use CompareOp::{Ge, Gt, Le};
        let is_null = Bound::Test { column: 0, test: Test::IsNull };
        let unknown = [Facts::default(), Facts::default()];
        let contradiction = Bound::And(vec![
            is_null,
            Bound::And(vec![test(1, Gt, 0), test(0, Gt, 5)]),
            Bound::Unknown(String::new()),
        ]);
        assert!(!PrunePlan::new(contradiction, &[0, 1]).outcomes(&unknown).may_be_true());

        let nan = |lower, upper| Facts {
            nan: true,
            null: false,
            ..Facts::between(Scalar::Double(lower), Scalar::Double(upper))
        };
        let double =
            |op, value| Bound::Test { column: 0, test: Test::Compare { op, value: Scalar::Double(value) } };
        let between = PrunePlan::new(Bound::And(vec![double(Ge, 5.0), double(Le, 9.0)]), &[0]);
        assert!(!between.outcomes(&[nan(1.0, 3.0)]).may_be_true());
        assert!(between.outcomes(&[nan(1.0, 5.0)]).may_be_true());
        assert!(PrunePlan::new(double(Ge, 5.0), &[0]).outcomes(&[nan(1.0, 3.0)]).may_be_true());
    }

    #[test]
    fn what_can_drop_a_file_is_known_beforehand() {
        use CompareOp::Eq;
        let (p, x) = (|| test(0, Eq, 1), || test(1, Eq, 1));
        let partition = |column: usize| column == 0;
        let plan = |bound| PrunePlan::new(bound, &[0, 1]);
        assert!(plan(Bound::And(vec![p(), x()])).can_drop(&partition));
        assert!(!plan(Bound::Or(vec![p(), x()])).can_drop(&partition));
        assert!(plan(Bound::Or(vec![p(), x()])).can_drop(&|_| true));
        assert!(!plan(Bound::Or(vec![p(), Bound::Unknown(String::new())])).can_drop(&|_| true));
        assert!(plan(Bound::Not(Box::new(Bound::Or(vec![p(), x()])))).can_drop(&partition));
        assert!(!plan(Bound::Not(Box::new(Bound::And(vec![p(), x()])))).can_drop(&partition));
        assert!(!plan(Bound::And(vec![])).can_drop(&|_| true));
        assert!(plan(Bound::Constant(None)).can_drop(&|_| false));
    }
}
