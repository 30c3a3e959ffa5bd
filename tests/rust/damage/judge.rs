//! What became of a damaged table.

use std::fmt;

use deltaic::snapshot::At;
use deltaic::verify::{VerifyOptions, verify};

use super::answer::Answer;
use super::damages::Damage;
use super::evidence;
use super::tables::Table;

/// What one version of a damaged table gives.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    /// The answer of the whole table.
    Right,
    /// An error of this kind.
    Error(&'static str),
    /// Another answer, which a reading that verifies refuses.
    Verified,
    /// Another answer, and nothing in the log tells it.
    Untold,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Right => f.write_str("right"),
            Outcome::Error(kind) => write!(f, "error {kind}"),
            Outcome::Verified => f.write_str("found by verify"),
            Outcome::Untold => f.write_str("not told by the log"),
        }
    }
}

/// A whole table, with its answers for the newest version and for one in the middle.
pub(super) struct Known {
    pub(super) table: Table,
    newest: Answer,
    earlier: Answer,
}

impl Known {
    pub(super) fn of(table: Table) -> Self {
        let of = |at| Answer::of(&table.image, at, None, true);
        let newest = of(At::Latest).unwrap();
        let first = (0..newest.version).find(|v| of(At::Version(*v)).is_ok());
        let middle = first.map_or(newest.version, |first| first.midpoint(newest.version));
        let earlier = of(At::Version(middle)).unwrap();
        let report = verify(&table.image.location(), &VerifyOptions::default()).unwrap();
        assert_eq!(report.findings, [], "{}", table.name);
        Known { table, newest, earlier }
    }

    /// Damages a file and reads both versions.
    ///
    /// # Errors
    /// What is wrong: another answer that the log tells and verification does not find.
    pub(super) fn judge(&self, name: &str, damage: &Damage) -> Result<[Outcome; 2], String> {
        let mut image = self.table.image.clone();
        damage.apply(&mut image, name);
        let one = |at: At, expected: &Answer| {
            let found = match Answer::of(&image, at, Some(expected), !name.ends_with(".bin")) {
                Err(error) => return Ok(Outcome::Error(error.kind())),
                Ok(found) => found.with_lost_stats(expected),
            };
            let later = Answer { version: expected.version + 1, ..expected.clone() };
            // the commit again, as the next one, changes nothing
            if found == *expected || matches!(damage, Damage::AsTheNext(_)) && found == later {
                return Ok(Outcome::Right);
            }
            let verified = verify(&image.location(), &VerifyOptions::default()).and_then(|r| r.check());
            match verified {
                Ok(()) => match evidence::found(&self.table.image, &image, name) {
                    None => Ok(Outcome::Untold),
                    Some(told) => Err(format!(
                        "at {at:?}: {}; {told} tells it, but verify does not",
                        expected.difference(&found)
                    )),
                },
                Err(_) => Ok(Outcome::Verified),
            }
        };
        Ok([one(At::Latest, &self.newest)?, one(At::Version(self.earlier.version), &self.earlier)?])
    }
}
