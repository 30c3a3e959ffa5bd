//! The set of truth values that a condition may give for the rows of a file.

/// A set of TRUE, FALSE and null. Logic on sets takes every combination of members, so that a set never misses an
/// outcome; it may hold one that no row gives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outcomes(u8);

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const NULL: u8 = 4;

impl Outcomes {
    /// No row.
    pub(crate) const NONE: Outcomes = Outcomes(0);
    /// Anything.
    pub(crate) const ANY: Outcomes = Outcomes(TRUE | FALSE | NULL);

    /// One value.
    pub(crate) fn one(value: Option<bool>) -> Self {
        Outcomes(match value {
            Some(true) => TRUE,
            Some(false) => FALSE,
            None => NULL,
        })
    }

    /// TRUE and FALSE as the flags say.
    pub(crate) fn either(may_be_true: bool, may_be_false: bool) -> Self {
        Outcomes(if_so(may_be_true, TRUE) | if_so(may_be_false, FALSE))
    }

    /// Whether a row may match.
    pub(crate) fn may_be_true(self) -> bool {
        self.has(TRUE)
    }

    fn has(self, member: u8) -> bool {
        self.0 & member != 0
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Outcomes(self.0 | other.0)
    }

    pub(crate) fn not(self) -> Self {
        Outcomes(if_so(self.has(FALSE), TRUE) | if_so(self.has(TRUE), FALSE) | (self.0 & NULL))
    }

    pub(crate) fn and(self, other: Self) -> Self {
        if self == Self::NONE || other == Self::NONE {
            return Self::NONE;
        }
        let truth = self.0 & other.0 & TRUE;
        let falsehood = (self.0 | other.0) & FALSE;
        let null = (self.has(NULL) && other.0 & (TRUE | NULL) != 0) || (other.has(NULL) && self.has(TRUE));
        Outcomes(truth | falsehood | if_so(null, NULL))
    }

    pub(crate) fn or(self, other: Self) -> Self {
        self.not().and(other.not()).not()
    }
}

fn if_so(condition: bool, member: u8) -> u8 {
    if condition { member } else { 0 }
}

impl std::fmt::Debug for Outcomes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let members = [(TRUE, "t"), (FALSE, "f"), (NULL, "n")];
        f.write_str(&members.iter().filter(|(m, _)| self.has(*m)).map(|(_, name)| *name).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [Option<bool>; 3] = [Some(true), Some(false), None];

    fn members(set: Outcomes) -> Vec<Option<bool>> {
        VALUES.into_iter().filter(|v| set.0 & Outcomes::one(*v).0 != 0).collect()
    }

    fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
        match (a, b) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        }
    }

    #[test]
    fn set_logic_is_the_logic_of_every_pair() {
        for a in (0..8).map(Outcomes) {
            let negated = members(a).into_iter().map(|v| Outcomes::one(v.map(|v| !v)));
            assert_eq!(a.not(), negated.fold(Outcomes::NONE, Outcomes::union));
            for b in (0..8).map(Outcomes) {
                let pairs =
                    || members(a).into_iter().flat_map(|x| members(b).into_iter().map(move |y| (x, y)));
                let expected = pairs().map(|(x, y)| Outcomes::one(and(x, y)));
                assert_eq!(a.and(b), expected.fold(Outcomes::NONE, Outcomes::union), "{a:?} and {b:?}");
                let negated = |v: Option<bool>| v.map(|v| !v);
                let expected = pairs().map(|(x, y)| Outcomes::one(negated(and(negated(x), negated(y)))));
                assert_eq!(a.or(b), expected.fold(Outcomes::NONE, Outcomes::union), "{a:?} or {b:?}");
            }
        }
    }
}
