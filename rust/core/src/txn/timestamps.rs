//! In-commit timestamps (PROTOCOL.md, "In-Commit Timestamps").

use crate::actions::Metadata;
use crate::features::has_in_commit_timestamps;
use crate::properties::TableProperty;

/// The timestamp of a commit: the clock, or one millisecond after the commit before it.
pub(super) fn next(now: i64, previous: Option<i64>) -> i64 {
    previous.map_or(now, |p| now.max(p.saturating_add(1)))
}

/// Writes into the metadata of the commit that turns timestamps on since when they count; takes it out where they are
/// off. In a table whose first commit has them there is nothing to say.
pub(super) fn mark(metadata: &mut Metadata, before: Option<&Metadata>, version: u64, timestamp: Option<i64>) {
    let Some(timestamp) = timestamp else {
        metadata.unset_property(TableProperty::InCommitTimestampEnablementVersion);
        metadata.unset_property(TableProperty::InCommitTimestampEnablementTimestamp);
        return;
    };
    let Some(before) = before else { return };
    if has_in_commit_timestamps(before) {
        for key in [
            TableProperty::InCommitTimestampEnablementVersion,
            TableProperty::InCommitTimestampEnablementTimestamp,
        ] {
            if let (Some(value), None) = (before.property(key), metadata.property(key)) {
                metadata.set_property(key, value);
            }
        }
        return;
    }
    metadata.set_property(TableProperty::InCommitTimestampEnablementVersion, version.to_string());
    metadata.set_property(TableProperty::InCommitTimestampEnablementTimestamp, timestamp.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENABLED: &str = "delta.enableInCommitTimestamps";

    fn metadata(properties: &[(&str, &str)]) -> Metadata {
        let configuration = properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Metadata { configuration, ..Default::default() }
    }

    #[test]
    fn time_never_stands_still() {
        assert_eq!(next(10, None), 10);
        assert_eq!(next(10, Some(5)), 10);
        assert_eq!(next(10, Some(10)), 11);
        assert_eq!(next(10, Some(99)), 100);
    }

    #[test]
    fn the_commit_that_turns_them_on_says_so_and_later_ones_keep_it() {
        let mut on = metadata(&[(ENABLED, "true")]);
        mark(&mut on, Some(&metadata(&[])), 7, Some(1000));
        assert_eq!(on.property(TableProperty::InCommitTimestampEnablementVersion), Some("7"));
        assert_eq!(on.property(TableProperty::InCommitTimestampEnablementTimestamp), Some("1000"));
        let mut later = metadata(&[(ENABLED, "true"), ("delta.appendOnly", "true")]);
        mark(&mut later, Some(&on), 9, Some(2000));
        assert_eq!(later.property(TableProperty::InCommitTimestampEnablementVersion), Some("7"));
        let mut first = metadata(&[(ENABLED, "true")]);
        mark(&mut first, None, 0, Some(1));
        assert_eq!(first, metadata(&[(ENABLED, "true")]));
        let mut off = later.clone();
        off.configuration.insert(ENABLED.into(), "false".into());
        mark(&mut off, Some(&later), 10, None);
        assert!(off.property(TableProperty::InCommitTimestampEnablementVersion).is_none());
    }
}
