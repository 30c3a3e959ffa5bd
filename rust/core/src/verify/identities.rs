//! High-water marks of identity columns (PROTOCOL.md, "Identity Columns").

use serde_json::Value;

use super::finding::FindingKind;
use super::report::VerifyReport;
use crate::actions::Add;
use crate::alter::identity::Identity;
use crate::features::TableFeature;
use crate::snapshot::Snapshot;

/// An identity column whose values are all given by the table.
#[derive(Debug)]
pub(super) struct IdentityColumn {
    name: String,
    physical: String,
    identity: Identity,
}

impl IdentityColumn {
    /// Those of a table.
    pub(super) fn of(snapshot: &Snapshot) -> Vec<Self> {
        if !snapshot.protocol().supports(TableFeature::IdentityColumns) {
            return Vec::new();
        }
        let fields = snapshot.schema().fields.iter();
        fields
            .filter_map(|field| {
                let identity = Identity::of(field).ok().flatten()?;
                // explicit values may be anything
                (!identity.allow_explicit_insert).then(|| IdentityColumn {
                    name: field.name.clone(),
                    physical: field.physical_name(snapshot.column_mapping()).to_owned(),
                    identity,
                })
            })
            .collect()
    }

    /// Compares the statistics of a file with the mark.
    pub(super) fn check(&self, add: &Add, stats: &Value, version: u64, report: &mut VerifyReport) {
        let bound = |name: &str| stats.get(name)?.get(&self.physical)?.as_i64();
        let mark = self.identity.high_water_mark;
        let beyond = match self.identity.step > 0 {
            true => bound("maxValues").filter(|max| mark.is_none_or(|m| *max > m)),
            false => bound("minValues").filter(|min| mark.is_none_or(|m| *min < m)),
        };
        if let Some(value) = beyond {
            let expected = format!("no value of `{}` beyond its mark {mark:?}", self.name);
            report.found(FindingKind::IdentityBeyondMark, version, &add.path, expected, value);
        }
    }
}
