use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::store::Location;

/// How much of the redundant information of a log is compared before a read returns. Each level finds all that the one
/// before it finds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Verify {
    /// What the result is made of is intact: no torn line, no gap, no part missing, no checkpoint with other files than
    /// the hint or the totals of the checksum state. Nothing is read for the sake of a comparison.
    Fast,
    /// Moreover nothing that was read anyway contradicts it: totals of the version's checksum are compared with the
    /// commits, if another checksum of the log shows that it can be trusted, and no transaction is in the log twice. A
    /// table that could be right stays readable. Costs one more GET of a checksum, in parallel with the commits, where
    /// a snapshot advances.
    #[default]
    Checked,
    /// Moreover nothing in the whole log and none of the files of the version contradicts it, as [`crate::verify::verify`]
    /// finds out when the version is opened.
    Full,
}

impl Verify {
    const ALL: [Verify; 3] = [Verify::Fast, Verify::Checked, Verify::Full];

    /// As settings spell it: `fast`, `checked`, `full`.
    pub fn name(self) -> &'static str {
        match self {
            Verify::Fast => "fast",
            Verify::Checked => "checked",
            Verify::Full => "full",
        }
    }
}

impl fmt::Display for Verify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Verify {
    type Err = Error;

    /// # Errors
    /// [`Error::InvalidArgument`] for an unknown level.
    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name).ok_or_else(|| Error::InvalidArgument {
            argument: "verify".into(),
            reason: format!("`{name}` is none of `fast`, `checked` and `full`"),
        })
    }
}

/// What is checked when a snapshot is opened. The check of a whole table needs snapshots itself: the layer above gives it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Checks {
    /// As [`Verify::Fast`].
    Fast,
    /// As [`Verify::Checked`].
    #[default]
    Checked,
    /// As [`Verify::Full`], with the check of the table at a location.
    Full(fn(&Location) -> Result<()>),
}

impl Checks {
    /// The level.
    pub(crate) fn level(self) -> Verify {
        match self {
            Checks::Fast => Verify::Fast,
            Checks::Checked => Verify::Checked,
            Checks::Full(_) => Verify::Full,
        }
    }
}
