//! Tables whose metadata is kept in other formats, too (`delta.universalFormat.enabledFormats`): deltaic does not write
//! theirs, so that their readers stay at an older version.

use crate::actions::Metadata;
use crate::error::{Error, Result};
use crate::properties::TableProperty;
use crate::store::Location;

/// The property of the table.
const PROPERTY: TableProperty = TableProperty::UniversalFormatEnabledFormats;
/// The storage option that allows commits after which the metadata of other formats is stale.
const ALLOW: &str = "allow_stale_universal_format";

/// The formats as the table names them; none where there are none.
fn formats(metadata: &Metadata) -> Option<&str> {
    metadata.property(PROPERTY).map(str::trim).filter(|text| !text.is_empty())
}

/// Checks that a commit leaves no metadata of another format behind, unless that is allowed at this place.
///
/// # Errors
/// [`Error::Unsupported`], which names the formats and how it is allowed.
pub(crate) fn check(path: &str, allowed: bool, metadata: &Metadata) -> Result<()> {
    match formats(metadata) {
        Some(formats) if !allowed => Err(Error::Unsupported {
            path: path.to_owned(),
            what: format!(
                "keeping the metadata of other formats (`{PROPERTY}` is `{formats}`), which a commit would leave behind and which \
                 the storage option `{ALLOW}` or, in Spark, `spark.deltaic.universalFormat.allowStale` allows,"
            ),
        }),
        _ => Ok(()),
    }
}

/// Whether it is allowed at this place.
pub(crate) fn is_allowed(location: &Location) -> bool {
    location.option(ALLOW).is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// The warning of a commit that was allowed.
pub(crate) fn warning(version: u64, metadata: &Metadata) -> Option<String> {
    formats(metadata).map(|formats| {
        format!(
            "version {version} is committed; the metadata of other formats (`{PROPERTY}` is `{formats}`) does not show it, and \
             their readers stay at an older version"
        )
    })
}
