use std::collections::BTreeSet;

use super::schema_log::{OPTION, conflict, folder_name};
use crate::error::{Error, Result, condition};

/// Where a source of a query keeps its schemas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The table, as the query names it.
    pub table: String,
    /// The location of the log of schemas, as the query names it.
    pub location: String,
    /// That location as a whole URI.
    pub uri: String,
    /// `streamingSourceTrackingId`.
    pub source: Option<String>,
}

/// Checks that the logs of schemas of one query are below its checkpoint, unless `anywhere`, and that no two of its sources
/// have the same one.
///
/// # Errors
/// [`Error::InvalidArgument`] where they are not.
pub fn check_places(checkpoint: &str, places: &[Place], anywhere: bool) -> Result<()> {
    let mut seen = BTreeSet::new();
    for Place { table, location, uri, source } in places {
        let log = folder_name(&table.replace(':', "").replace('/', "_"), source.as_deref());
        let below = |uri: &str| uri.strip_prefix(checkpoint.trim_end_matches('/')).map(str::to_owned);
        if !anywhere && !below(uri).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
            let log = format!("{}/{log}", location.trim_end_matches('/'));
            let reason = format!("the log of schemas `{log}` must be below the checkpoint `{checkpoint}`");
            let parameters = [("schemaTrackingLocation", log.as_str()), ("checkpointLocation", checkpoint)];
            return Err(Error::InvalidArgument { argument: OPTION.to_owned(), reason }
                .named(&condition::STREAMING_SCHEMA_LOCATION_NOT_UNDER_CHECKPOINT, parameters));
        }
        let log = format!("{}/{log}", uri.trim_end_matches('/'));
        if !seen.insert(log.clone()) {
            return Err(conflict(&log, table));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(locations: &[(&str, Option<&str>)], anywhere: bool) -> &'static str {
        let place = |(uri, source): &(&str, Option<&str>)| Place {
            table: "t".to_owned(),
            location: (*uri).to_owned(),
            uri: (*uri).to_owned(),
            source: source.map(str::to_owned),
        };
        let places: Vec<_> = locations.iter().map(place).collect();
        let checked = check_places("file:/c", &places, anywhere);
        checked.err().and_then(|e| e.condition()).map_or("", |c| c.name)
    }

    #[test]
    fn a_log_is_below_the_checkpoint_of_its_query() {
        for inside in ["file:/c", "file:/c/", "file:/c/s/t"] {
            assert_eq!(checked(&[(inside, None)], false), "", "{inside}");
        }
        for outside in ["file:/d", "file:/cc/s", "file:/", "s3a://c/s"] {
            let outside = [(outside, None)];
            assert_eq!(checked(&outside, false), "DELTA_STREAMING_SCHEMA_LOCATION_NOT_UNDER_CHECKPOINT");
            assert_eq!(checked(&outside, true), "");
        }
    }

    #[test]
    fn two_sources_have_two_logs() {
        let conflict = "DELTA_STREAMING_SCHEMA_LOCATION_CONFLICT";
        assert_eq!(checked(&[("file:/c/s", None), ("file:/c/s/", None)], false), conflict);
        assert_eq!(checked(&[("file:/c/s", Some("a")), ("file:/c/s", Some("a"))], true), conflict);
        assert_eq!(checked(&[("file:/c/s", Some("a")), ("file:/c/s", Some("b"))], false), "");
        assert_eq!(checked(&[("file:/c/s", None), ("file:/c/t", None)], false), "");
    }
}
