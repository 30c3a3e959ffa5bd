use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, condition};

/// Before everything in a version.
pub(super) const BASE: i64 = -100;
/// After everything in a version. Never in an offset: the next version follows instead.
pub(super) const END: i64 = i64::MAX - 100;
/// How [`BASE`] is written, so that every release of delta-spark reads it.
const WRITTEN_BASE: i64 = -1;
/// A change of the schema, where a stream keeps its schemas: before the files of the version.
pub(super) const SCHEMA_CHANGE: i64 = -20;
/// After it: two offsets, because Spark reports the first one as done when there is a second.
pub(super) const AFTER_SCHEMA_CHANGE: i64 = -19;
const SCHEMA_CHANGES: [i64; 2] = [SCHEMA_CHANGE, AFTER_SCHEMA_CHANGE];

/// How far a query came in the table: after the file of this index in this version.
///
/// Offsets of one table are ordered by version and index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offset {
    /// Id of the table.
    pub table_id: String,
    /// Version.
    pub version: u64,
    /// Index of a file in the version; below 0 for places before the first one.
    pub index: i64,
    /// Whether the index is one of the files that make up the version (a new stream begins with them), and not one of
    /// those that its commit adds.
    pub initial: bool,
    /// Whether a stream begins here and gives nothing older (`startingVersion` is `latest`).
    pub mark: bool,
}

/// The JSON form. The names are those of delta-spark, which keeps them from its first days.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    /// Without one it is 0, which is no form.
    #[serde(default)]
    source_version: i64,
    reservoir_id: String,
    reservoir_version: i64,
    index: i64,
    is_starting_version: bool,
}

impl Offset {
    /// Before everything in a version.
    pub(super) fn before(table_id: &str, version: u64, initial: bool) -> Self {
        Offset { table_id: table_id.to_owned(), version, index: BASE, initial, mark: false }
    }

    /// The JSON form of delta-spark (`DeltaSourceOffset`).
    pub fn to_json(&self) -> String {
        // delta-spark reads form 3 too, and never writes it with this index
        let newer = self.mark || SCHEMA_CHANGES.contains(&self.index);
        let written = Written {
            source_version: if newer { 3 } else { 1 },
            reservoir_id: self.table_id.clone(),
            // a version comes from a file name of 20 digits and is far below
            reservoir_version: i64::try_from(self.version).unwrap_or(i64::MAX),
            index: if self.index == BASE && !newer { WRITTEN_BASE } else { self.index },
            is_starting_version: self.initial,
        };
        // text and numbers always have a JSON form
        serde_json::to_string(&written).unwrap_or_default()
    }

    /// From [`Offset::to_json`], or from the checkpoint of a query of delta-spark.
    ///
    /// # Errors
    /// [`Error::InvalidOffset`] for something else, also from a later release.
    pub fn from_json(text: &str) -> Result<Self> {
        let invalid = |reason: String| Error::InvalidOffset { offset: text.to_owned(), reason };
        let written: Written = serde_json::from_str(text)
            .map_err(|e| invalid(format!("not an offset of a Delta source: {e}")))?;
        if written.source_version != 1 && written.source_version != 3 {
            let form = written.source_version;
            let error = invalid(format!("its form (sourceVersion {form}) is not known; 1 and 3 are"));
            let parameters = [("expectedVersion", "3".to_owned()), ("realVersion", form.to_string())];
            return Err(match form > 3 {
                true => error.named(&condition::INVALID_FORMAT_FROM_SOURCE_VERSION, parameters),
                false => error.named(&condition::INVALID_SOURCE_VERSION, [("version", form.to_string())]),
            });
        }
        let version = u64::try_from(written.reservoir_version)
            .map_err(|_| invalid("a version is not below 0".to_owned()))?;
        let index = match written.index {
            WRITTEN_BASE if written.source_version < 3 => BASE,
            index if index == BASE || SCHEMA_CHANGES.contains(&index) || (0..END).contains(&index) => index,
            index => return Err(invalid(format!("{index} is not an index"))),
        };
        let (table_id, initial) = (written.reservoir_id, written.is_starting_version);
        let mark = written.source_version == 3 && index == BASE;
        Ok(Offset { table_id, version, index, initial, mark })
    }

    pub(super) fn place(&self) -> (u64, i64) {
        (self.version, self.index)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn offsets_have_the_form_of_delta_spark() {
        let before = Offset::before("id", 4, false);
        let text = r#"{"sourceVersion":1,"reservoirId":"id","reservoirVersion":4,"index":-1,"isStartingVersion":false}"#;
        assert_eq!(before.to_json(), text);
        assert_eq!(Offset::from_json(text).unwrap(), before);
        let mark = Offset { mark: true, ..before.clone() };
        assert_eq!(Offset::from_json(&mark.to_json()).unwrap(), mark);
        let inside = Offset { index: 7, initial: true, ..before };
        assert!(inside.to_json().ends_with(r#""index":7,"isStartingVersion":true}"#));
        let tracked = r#"{"sourceVersion":3,"reservoirId":"id","reservoirVersion":4,"index":-19,"isStartingVersion":false}"#;
        assert_eq!(Offset::from_json(tracked).unwrap().to_json(), tracked);
    }

    #[test]
    fn what_is_no_offset_is_refused() {
        let with = |version: i64, at: i64, index: i64| {
            format!(
                r#"{{"sourceVersion":{version},"reservoirId":"x","reservoirVersion":{at},"index":{index},"isStartingVersion":true}}"#
            )
        };
        assert!(Offset::from_json(&with(1, 0, 0)).is_ok());
        for text in [
            "17".to_owned(),
            "{}".to_owned(),
            with(0, 0, 0),
            with(2, 0, 0),
            with(4, 0, 0),
            with(1, -1, 0),
            with(1, 0, -2),
            with(1, 0, END),
        ] {
            assert_eq!(Offset::from_json(&text).unwrap_err().kind(), "InvalidOffset", "{text}");
        }
        let condition = |text: &str| Offset::from_json(text).unwrap_err().condition().map(|c| c.name);
        assert_eq!(condition("{"), Some("DELTA_INVALID_SOURCE_OFFSET_FORMAT"));
        assert_eq!(condition(&with(2, 0, 0)), Some("DELTA_INVALID_SOURCE_VERSION"));
        assert_eq!(condition(&with(4, 0, 0)), Some("DELTA_INVALID_FORMAT_FROM_SOURCE_VERSION"));
    }

    proptest! {
        #[test]
        fn offsets_come_back(version in 0u64..1 << 60, index in prop_oneof![Just(BASE), 0i64..END], initial: bool) {
            let offset = Offset { table_id: "t".into(), version, index, initial, mark: false };
            prop_assert_eq!(Offset::from_json(&offset.to_json()).unwrap(), offset);
        }
    }
}
