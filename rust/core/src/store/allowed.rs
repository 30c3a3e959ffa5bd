//! Where a table may name files that are read.

use std::path::PathBuf;

use super::root::parse_root;
use super::{LocalStore, StorageOptions, Store};
use crate::actions::ObjectPath;
use crate::error::{Error, Result};

/// The storage option that says where a log may name files that are read: `any`, as the protocol allows and by default;
/// `table-only`; or locations with commas between them, beside the table. It applies to each file that is read or
/// handed to an engine: commits, checkpoints, sidecars, data files, deletion vectors. Except with `any`, no link of a
/// local file system below a location is followed.
///
/// What is written or deleted is always below the table.
pub const ALLOWED_LOCATIONS: &str = "allowed_locations";

const ANY: &str = "any";
const TABLE_ONLY: &str = "table-only";

/// See [`ALLOWED_LOCATIONS`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum AllowedLocations {
    /// A log may name any file.
    #[default]
    Any,
    /// Only files below one of these, the first of which is the table.
    Below(Vec<ObjectPath>),
}

impl AllowedLocations {
    /// What the option says for the table at `root`; without it, [`AllowedLocations::Any`].
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a location that cannot be parsed.
    pub(crate) fn parse(options: &StorageOptions, root: &ObjectPath) -> Result<Self> {
        let others = match options.get(ALLOWED_LOCATIONS).map(|value| value.trim()) {
            None | Some(ANY) => return Ok(AllowedLocations::Any),
            Some(TABLE_ONLY) => "",
            Some("") => return Err(invalid("", "it is empty")),
            Some(others) => others,
        };
        let mut below = vec![root.clone()];
        if root.scheme() == "file" {
            // a log may name its files by the place where the links to the table lead
            below.extend(LocalStore::default().real_path(root)?.filter(|real| real != root));
        }
        for other in others.split(',').map(str::trim).filter(|other| !other.is_empty()) {
            if !other.starts_with('/') && !other.contains("://") {
                return Err(invalid(other, "it is neither a URL nor an absolute path"));
            }
            below.push(parse_root(other, options)?);
        }
        Ok(AllowedLocations::Below(below))
    }

    /// Checks the name of a file that is to be read.
    ///
    /// # Errors
    /// [`Error::OutsideTable`].
    pub(crate) fn check(&self, path: &ObjectPath) -> Result<()> {
        let AllowedLocations::Below(below) = self else { return Ok(()) };
        if below.iter().any(|location| path.is_within(location)) {
            return Ok(());
        }
        let reason = match below.len() {
            1 => format!("`{ALLOWED_LOCATIONS}` lets it read below the table only"),
            _ => format!("it is below none of the locations that `{ALLOWED_LOCATIONS}` allows"),
        };
        let table = below.first().map(ToString::to_string).unwrap_or_default();
        Err(Error::OutsideTable { path: path.to_string(), table, operation: "read", reason })
    }

    /// The local folders among them; none where any may be read.
    pub(super) fn folders(&self) -> Option<Vec<PathBuf>> {
        match self {
            AllowedLocations::Any => None,
            AllowedLocations::Below(below) => Some(below.iter().filter_map(ObjectPath::to_local).collect()),
        }
    }
}

fn invalid(location: &str, reason: &str) -> Error {
    let expected =
        "give `any`, `table-only`, or locations with commas between them (a comma of a URL is `%2C`)";
    Error::InvalidArgument {
        argument: ALLOWED_LOCATIONS.into(),
        reason: format!("`{location}`: {reason}: {expected}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(option: &str) -> StorageOptions {
        [(ALLOWED_LOCATIONS.to_owned(), option.to_owned())].into_iter().collect()
    }

    fn allowed(option: &str) -> AllowedLocations {
        AllowedLocations::parse(&options(option), &ObjectPath::new("s3://bucket", "/t")).unwrap()
    }

    #[test]
    fn a_file_is_read_where_the_option_allows_it() {
        let inside = ObjectPath::new("s3://bucket", "/t/a.parquet");
        let [beside, other] = ["s3://bucket", "s3://other"].map(|s| ObjectPath::new(s, "/u/a.parquet"));
        let [within, local] =
            [("/t", "/../u/a"), ("/data", "/a")].map(|(r, f)| ObjectPath::new("file://", &format!("{r}{f}")));
        for (option, answers) in [
            ("any", [true, true, true, true, true]),
            ("table-only", [true, false, false, false, false]),
            ("s3://bucket/u", [true, true, false, false, false]),
            ("s3a://other/u/, /data", [true, false, true, false, true]),
        ] {
            let allowed = allowed(option);
            let found = [&inside, &beside, &other, &within, &local].map(|p| allowed.check(p).is_ok());
            assert_eq!(found, answers, "{option}");
        }
    }

    #[test]
    fn what_is_no_location_is_refused() {
        for option in ["", "tableonly", "any,table-only", "data/x"] {
            let parsed = AllowedLocations::parse(&options(option), &ObjectPath::new("file://", "/t"));
            assert!(matches!(parsed, Err(Error::InvalidArgument { .. })), "{option}");
        }
    }
}
