//! What became of a damaged table.

use std::fmt;

use deltaic_core::snapshot::{At, Verify};
use deltaic_core::verify::{VerifyOptions, verify};
use deltaic_testkit::Image;

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
    /// Another answer, which a reading that verifies all refuses.
    Wrong,
    /// Another answer, and nothing in the log tells it.
    Untold,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Right => f.write_str("right"),
            Outcome::Error(kind) => write!(f, "error {kind}"),
            Outcome::Wrong => f.write_str("wrong, and something in the log tells it"),
            Outcome::Untold => f.write_str("wrong, and nothing in the log tells it"),
        }
    }
}

/// The levels of a reading, but [`Verify::Full`]: that one is the judge.
pub(super) const LEVELS: [Verify; 2] = [Verify::Fast, Verify::Checked];

/// What a reading gave, at a level.
pub(super) struct Judged {
    pub(super) level: Verify,
    pub(super) outcome: Outcome,
    /// The version, and what is wrong, where something is.
    pub(super) wrong: Option<String>,
}

/// A whole table, with its answers for the newest version and for one in the middle.
pub(super) struct Known {
    pub(super) table: Table,
    newest: Answer,
    earlier: Answer,
}

impl Known {
    pub(super) fn of(table: Table) -> Self {
        let of = |at| Answer::of(&table.image, at, Verify::Full, None, true);
        let newest = of(At::Latest).unwrap();
        let first = (0..newest.version).find(|v| of(At::Version(*v)).is_ok());
        let middle = first.map_or(newest.version, |first| first.midpoint(newest.version));
        let earlier = of(At::Version(middle)).unwrap();
        let report = verify(&table.image.location(), &VerifyOptions::default()).unwrap();
        assert_eq!(report.findings, [], "{}", table.name);
        Known { table, newest, earlier }
    }

    /// Damages a file and reads both versions at both levels.
    ///
    /// # Errors
    /// What is wrong: another answer that the log tells and [`Verify::Full`] does not find.
    pub(super) fn judge(&self, name: &str, damage: &Damage) -> Result<Vec<Judged>, String> {
        let mut image = self.table.image.clone();
        damage.apply(&mut image, name);
        let mut judged = Vec::new();
        for (at, expected) in [(At::Latest, &self.newest), (At::Version(self.earlier.version), &self.earlier)]
        {
            let at_level = |level| -> Result<Judged, String> {
                let found = Answer::of(&image, at, level, Some(expected), !name.ends_with(".bin"));
                let (outcome, wrong) = match found {
                    Err(error) => (Outcome::Error(error.kind()), None),
                    Ok(found) => self.outcome(&image, name, damage, found, at, expected)?,
                };
                Ok(Judged { level, outcome, wrong })
            };
            let checked = at_level(Verify::Checked)?;
            // a level refuses what another one answers, and answers nothing else
            let fast = match &checked.outcome {
                Outcome::Error(_) => at_level(Verify::Fast)?,
                _ => Judged {
                    level: Verify::Fast,
                    outcome: checked.outcome.clone(),
                    wrong: checked.wrong.clone(),
                },
            };
            judged.extend([fast, checked]);
        }
        Ok(judged)
    }

    fn outcome(
        &self,
        image: &Image,
        name: &str,
        damage: &Damage,
        found: Answer,
        at: At,
        expected: &Answer,
    ) -> Result<(Outcome, Option<String>), String> {
        let found = found.with_lost_stats(expected);
        let later = Answer { version: expected.version + 1, ..expected.clone() };
        // the commit again, as the next one, changes nothing
        if found == *expected || matches!(damage, Damage::AsTheNext(_)) && found == later {
            return Ok((Outcome::Right, None));
        }
        let wrong = format!("at {at:?}: {}", expected.difference(&found));
        // the same as at `Verify::Full`, of which this is the beginning
        let verified = verify(&image.location(), &VerifyOptions::default()).and_then(|r| r.check());
        match verified {
            Ok(()) => match evidence::found(&self.table.image, image, name) {
                None => Ok((Outcome::Untold, None)),
                Some(reported) => Err(format!("{wrong}; {reported} tells it, but verify does not")),
            },
            Err(error) => Ok((Outcome::Wrong, Some(format!("{wrong}; verify: {error}")))),
        }
    }
}
