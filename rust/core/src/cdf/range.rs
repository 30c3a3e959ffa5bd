//! Which versions a request means.

use std::ops::RangeInclusive;

use crate::error::{Error, Result, condition};
use crate::log::Listing;
use crate::snapshot::{CommitTimes, Snapshot, format_timestamp};

/// An end of a range of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CdfBound {
    /// This version.
    Version(u64),
    /// A time in milliseconds since the Unix epoch: a range begins with the first version committed at or after it, and
    /// ends with the last one committed at or before it.
    Timestamp(i64),
}

/// The changes that are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CdfRequest {
    /// The first version.
    pub start: CdfBound,
    /// The last version; `None` is that of the snapshot. One that does not exist yet is that of the snapshot too.
    pub end: Option<CdfBound>,
    /// Whether a start after the newest version gives no changes, and an end after the newest time means the newest version,
    /// as delta-spark has it by `spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled`. Else both are errors.
    pub allow_out_of_range: bool,
}

impl CdfRequest {
    /// Of two versions, both included.
    pub fn versions(start: u64, end: Option<u64>) -> Self {
        CdfRequest {
            start: CdfBound::Version(start),
            end: end.map(CdfBound::Version),
            allow_out_of_range: false,
        }
    }
}

/// The versions; `None` is none at all.
///
/// # Errors
/// [`Error::VersionNotFound`] and [`Error::TimestampOutOfRange`] for a start after the newest version,
/// [`Error::TimestampOutOfRange`] for an end before the first commit or after the last, [`Error::InvalidTimeTravel`] for an
/// end before the start.
pub(super) fn resolve(
    snapshot: &Snapshot,
    listing: &Listing,
    request: &CdfRequest,
) -> Result<Option<RangeInclusive<u64>>> {
    let latest = snapshot.version();
    let path = || snapshot.location().root().to_string();
    let times = || CommitTimes::new(snapshot.location(), listing, snapshot.metadata());
    let start = match request.start {
        CdfBound::Version(version) if version <= latest => version,
        _ if matches!(request.start, CdfBound::Version(_)) && request.allow_out_of_range => return Ok(None),
        CdfBound::Version(version) => {
            let earliest = listing.commits().next().map_or(0, |c| c.version);
            let parameters = [("start", version.to_string()), ("latest", latest.to_string())];
            return Err(Error::VersionNotFound { path: path(), version, earliest, latest }
                .named(&condition::CDC_START_VERSION_AFTER_LATEST, parameters));
        }
        CdfBound::Timestamp(millis) => {
            let times = times()?;
            match times.first_since(millis)?.filter(|version| *version <= latest) {
                Some(version) => version,
                None if request.allow_out_of_range => return Ok(None),
                None => return Err(times.out_of_range(millis)?),
            }
        }
    };
    let end = match request.end {
        None => latest,
        Some(CdfBound::Version(version)) => version,
        Some(CdfBound::Timestamp(millis)) => {
            let times = times()?;
            if request.allow_out_of_range {
                times.last_until(millis)?.ok_or(times.out_of_range(millis)?)?
            } else {
                times.at(millis)?
            }
        }
    };
    if let (CdfBound::Timestamp(from), Some(CdfBound::Timestamp(to))) = (request.start, request.end) {
        if from > to {
            let (from, to) = (format_timestamp(from), format_timestamp(to));
            let reason = format!("the changes begin at {from} and end before that, at {to}");
            return Err(Error::InvalidTimeTravel { path: path(), reason });
        }
        // both lie between the same two commits
        if end + 1 == start {
            return Ok(None);
        }
    }
    if end < start {
        let reason = format!("the changes begin at version {start} and end before that, at version {end}");
        let parameters = [("start", start.to_string()), ("end", end.to_string())];
        return Err(Error::InvalidTimeTravel { path: path(), reason }
            .named(&condition::INVALID_CDC_RANGE, parameters));
    }
    Ok(Some(start..=end.min(latest)))
}
