use chrono::{DateTime, NaiveDateTime, SecondsFormat};

use crate::error::{Error, Result, condition};
use crate::store::{Location, StorageOptions};

/// Which version of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum At {
    /// The newest one.
    #[default]
    Latest,
    /// This one.
    Version(u64),
    /// The newest one that was committed at or before this time, in milliseconds since the Unix epoch.
    Timestamp(i64),
}

impl At {
    /// Of a version or a timestamp in milliseconds, whichever is given; without both the newest one. `path` is for the error.
    ///
    /// # Errors
    /// [`Error::InvalidTimeTravel`] when both are given.
    pub fn given(path: &str, version: Option<u64>, timestamp: Option<i64>) -> Result<Self> {
        match (version, timestamp) {
            (None, None) => Ok(At::Latest),
            (Some(version), None) => Ok(At::Version(version)),
            (None, Some(millis)) => Ok(At::Timestamp(millis)),
            (Some(_), Some(_)) => Err(more_than_one(path)),
        }
    }
}

fn more_than_one(path: &str) -> Error {
    let reason = "more than one of a version, a timestamp and an `@` suffix is given; give one".to_owned();
    Error::InvalidTimeTravel { path: path.to_owned(), reason }
        .of_condition(&condition::UNSUPPORTED_TIME_TRAVEL_MULTIPLE_FORMATS)
}

/// Splits `path@v5` and `path@20260101000000000` (`yyyyMMddHHmmssSSS`, UTC) into the path and the version. A suffix of
/// any other shape belongs to the path.
///
/// # Errors
/// [`Error::InvalidTimeTravel`] when the suffix has the shape of a version or timestamp and is none.
fn parse_table_path(uri: &str) -> Result<(String, At)> {
    let Some((path, suffix)) = uri.rsplit_once('@') else { return Ok((uri.to_owned(), At::Latest)) };
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let invalid =
        |reason: &str| Error::InvalidTimeTravel { path: path.to_owned(), reason: reason.to_owned() };
    if let Some(version) = suffix.strip_prefix(['v', 'V']).filter(|v| digits(v)) {
        let version = version.parse().map_err(|_| invalid(&format!("`{suffix}` is not a version")))?;
        return Ok((path.to_owned(), At::Version(version)));
    }
    if suffix.len() == 17 && digits(suffix) {
        let (seconds, millis) = suffix.split_at(14);
        let at = NaiveDateTime::parse_from_str(seconds, "%Y%m%d%H%M%S")
            .map_err(|e| invalid(&format!("`{suffix}` is not a time of the form yyyyMMddHHmmssSSS: {e}")))?;
        let millis: i64 = millis.parse().map_err(|_| invalid("no milliseconds"))?;
        return Ok((path.to_owned(), At::Timestamp(at.and_utc().timestamp_millis() + millis)));
    }
    Ok((uri.to_owned(), At::Latest))
}

/// The place and the version that a path and `asked` name: `path@v5` and `path@20260101000000000` (`yyyyMMddHHmmssSSS`, UTC) are
/// a version of `path`, unless a table has the whole name.
///
/// # Errors
/// [`Error::InvalidTimeTravel`] when the suffix has the shape of a version or timestamp and is none, and when both the path and
/// `asked` name a version.
///
/// # Cost
/// One listing where the path has such a suffix.
pub fn resolve_table_path(uri: &str, asked: At, options: &StorageOptions) -> Result<(String, At)> {
    match (named_by_path(uri, options)?, asked) {
        ((path, At::Latest), asked) => Ok((path, asked)),
        (named, At::Latest) => Ok(named),
        _ => Err(more_than_one(uri)),
    }
}

fn named_by_path(uri: &str, options: &StorageOptions) -> Result<(String, At)> {
    let named = parse_table_path(uri);
    if matches!(named, Ok((_, At::Latest))) {
        return named;
    }
    let log = |location: Location| location.store().list_from(&location.log_dir(), "");
    match Location::open(uri, options).and_then(log) {
        Ok(files) if !files.is_empty() => Ok((uri.to_owned(), At::Latest)),
        // what cannot be listed is no table of that name
        _ => named,
    }
}

/// Milliseconds since the Unix epoch as RFC 3339 in UTC.
pub fn format_timestamp(millis: i64) -> String {
    DateTime::from_timestamp_millis(millis)
        .map_or_else(|| format!("{millis} ms"), |t| t.to_rfc3339_opts(SecondsFormat::Millis, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_of_delta_spark_are_understood() {
        let parsed = |uri: &str| parse_table_path(uri).unwrap();
        assert_eq!(parsed("/t@v5"), ("/t".into(), At::Version(5)));
        assert_eq!(parsed("/t@20260101000000123"), ("/t".into(), At::Timestamp(1_767_225_600_123)));
        assert_eq!(parsed("s3://user@bucket/t"), ("s3://user@bucket/t".into(), At::Latest));
        assert_eq!(parsed("/t@vault"), ("/t@vault".into(), At::Latest));
        assert!(parse_table_path("/t@20261301000000000").is_err());
    }

    #[test]
    fn a_table_of_the_whole_name_takes_precedence() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let resolved =
            |name: &str| resolve_table_path(&place(name), At::Latest, &StorageOptions::new()).unwrap();
        std::fs::create_dir_all(folder.path().join("t/_delta_log")).unwrap();
        assert_eq!(resolved("t@v0"), (place("t"), At::Version(0)));
        std::fs::create_dir_all(folder.path().join("t@v0/_delta_log")).unwrap();
        assert_eq!(resolved("t@v0"), (place("t"), At::Version(0)), "an empty log is no table");
        std::fs::write(folder.path().join("t@v0/_delta_log/00000000000000000000.json"), "{}").unwrap();
        assert_eq!(resolved("t@v0"), (place("t@v0"), At::Latest));
        assert_eq!(resolved("t@v0@v1"), (place("t@v0"), At::Version(1)));
    }

    #[test]
    fn a_version_is_named_once() {
        let resolved = |uri: &str, asked: At| resolve_table_path(uri, asked, &StorageOptions::new());
        assert_eq!(resolved("/no/t", At::Version(2)).unwrap(), ("/no/t".into(), At::Version(2)));
        assert_eq!(resolved("/no/t@v1", At::Latest).unwrap(), ("/no/t".into(), At::Version(1)));
        for refused in [
            resolved("/no/t@v1", At::Timestamp(0)).map(|_| ()),
            At::given("/no/t", Some(1), Some(0)).map(|_| ()),
        ] {
            let error = refused.unwrap_err();
            assert!(matches!(error.plain(), Error::InvalidTimeTravel { .. }), "{error:?}");
        }
    }
}
