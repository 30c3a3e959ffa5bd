//! Taking column mapping away by its property: all of it in a commit, or nothing.

use deltaic_core::alter::SetOptions;
use deltaic_core::maintain::{Alteration, alter_table};

use super::drop_feature::{ROW_IDS, VECTORS, is_whole, property, table};
use super::*;

#[test]
fn column_mapping_goes_by_its_property() {
    let mode = "delta.columnMapping.mode";
    for unset in [false, true] {
        let (_, location) = table(&[(mode, "name"), ("mine", "1"), VECTORS, ROW_IDS]);
        let before = rows(&location);
        let version = open(&location).version();
        let alteration = match unset {
            false => Alteration::SetProperties {
                properties: [(mode, "none"), ("mine", "2")].map(|(k, v)| (k.into(), v.into())).into(),
                options: SetOptions::default(),
            },
            true => Alteration::UnsetProperties { keys: vec![mode.into(), "mine".into()], if_exists: false },
        };
        // one commit takes the mapping away, another one changes the rest
        assert_eq!(alter_table(&location, &alteration, None).unwrap(), version + 2);
        assert_eq!(property(&location, mode).as_deref(), (!unset).then_some("none"));
        assert_eq!(property(&location, "mine").as_deref(), (!unset).then_some("2"));
        assert!(!open(&location).metadata().schema_string.contains("columnMapping"));
        assert_eq!(rows(&location), before);
        is_whole(&location);
        assert!(
            adds(&location).iter().all(|a| a.base_row_id.is_some() && a.partition_values.contains_key("p"))
        );
    }
}

#[test]
fn column_mapping_stays_where_a_name_or_another_property_is_refused() {
    let mode = "delta.columnMapping.mode";
    let (_, location) = table(&[(mode, "name")]);
    let version = open(&location).version();
    let unset = |keys: &[&str]| Alteration::UnsetProperties {
        keys: keys.iter().map(|key| (*key).to_owned()).collect(),
        if_exists: false,
    };
    assert!(alter_table(&location, &unset(&[mode, "none of it"]), None).is_err());
    assert_eq!(open(&location).version(), version);
    let rename = Alteration::RenameColumn { path: vec!["id".into()], name: "i d".into() };
    alter_table(&location, &rename, None).unwrap();
    let error = alter_table(&location, &unset(&[mode]), None).unwrap_err();
    assert_eq!(
        error.condition().map(|c| c.name),
        Some("DELTA_INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING")
    );
    assert_eq!(property(&location, mode).as_deref(), Some("name"));
}
