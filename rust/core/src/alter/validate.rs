//! The check of protocol and metadata before they are committed.

use super::change::Change;
use super::identity::Identity;
use super::names::{check_names, check_partition_columns};
use super::paths::same;
use super::{
    Definition, clustering, collations, column_mapping, defaults, generated, iceberg_compat, identity,
    row_tracking, stats_list, widen,
};
use crate::actions::{Metadata, Protocol};
use crate::error::{Error, Result, condition};
use crate::features::{feature, used_features};
use crate::properties::TableProperty;
use crate::schema::{CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION, ColumnMappingMode, check_type_changes};

/// Checks protocol and metadata that are to be committed on top of others, for files that stay; `old` is none for a new
/// table.
///
/// # Errors
/// * [`Error::InvalidSchema`]: a schema that cannot be read, names that are twice or have characters that need column
///   mapping, ids and physical names that are wrong or change, columns that disappear without column mapping, nullability
///   that is tightened.
/// * [`Error::InvalidArgument`]: partition columns and listed columns that cannot be.
/// * [`Error::InvalidColumnChange`]: types that change as the protocol does not allow.
/// * [`Error::InvalidFeatureChange`]: a feature that the metadata uses and the protocol lacks.
pub fn validate(old: Option<(&Protocol, &Metadata)>, new: (&Protocol, &Metadata)) -> Result<()> {
    validate_as(old, new, if old.is_some() { Change::Alter } else { Change::Create })
}

/// As [`validate`], for a commit that removes or rewrites all files: types and columns may change at will, but ids are
/// still not given twice.
///
/// # Errors
/// As [`validate`].
pub fn validate_replacement(old: (&Protocol, &Metadata), new: (&Protocol, &Metadata)) -> Result<()> {
    validate_as(Some(old), new, Change::Replace)
}

fn validate_as(
    old: Option<(&Protocol, &Metadata)>,
    new: (&Protocol, &Metadata),
    change: Change,
) -> Result<()> {
    let old = old.map(|(protocol, metadata)| Definition::read(protocol, metadata)).transpose()?;
    check(old.as_ref(), &Definition::read(new.0, new.1)?, change)
}

/// [`validate`] of definitions.
pub(super) fn check(old: Option<&Definition>, new: &Definition, change: Change) -> Result<()> {
    check_protocol(&new.protocol)?;
    let mode = new.column_mapping();
    // a table may begin without columns
    if !new.schema.fields.is_empty() {
        check_names(&new.schema, mode)?;
        check_partitioning(new)?;
        check_feed(old, new)?;
    }
    collations::check(old, new)?;
    column_mapping::check(new)?;
    check_type_changes(&new.metadata.id, &new.schema)?;
    generated::check(&new.schema)?;
    identity::check(&new.schema)?;
    defaults::check(old, new)?;
    row_tracking::check(new)?;
    stats_list::check(new)?;
    iceberg_compat::check(old, new, change)?;
    if let Some(old) = old {
        column_mapping::check_kept(old, new, change)?;
        if change == Change::Alter {
            check_files_fit(old, new)?;
            if old.clustering != new.clustering {
                clustering::check_statistics(new)?;
            }
        }
    }
    check_features(new)
}

/// The protocol is in its only valid form.
fn check_protocol(protocol: &Protocol) -> Result<()> {
    let refuse = |feature: &str, reason: String| {
        Err(Error::InvalidFeatureChange { feature: feature.to_owned(), reason })
    };
    let (reader, writer) = (protocol.min_reader_version, protocol.min_writer_version);
    let versions = format!("reader version {reader}, writer version {writer}");
    if !(1..=3).contains(&reader) || !(1..=7).contains(&writer) {
        return refuse("protocol", format!("deltaic does not write {versions}"));
    }
    let lists = (protocol.reader_features.is_some(), protocol.writer_features.is_some());
    if lists != (reader == 3, writer == 7) || (reader == 3 && writer != 7) {
        return refuse("protocol", format!("{versions} does not match its lists of features"));
    }
    for name in protocol.reader_features.iter().flatten() {
        if !protocol.writer_features.iter().flatten().any(|f| f == name) {
            return refuse(name, "readers must have it, but it is not among the features for writers".into());
        }
    }
    for known in protocol.writer_features.iter().flatten().filter_map(|name| feature(name)) {
        let listed = protocol.reader_features.iter().flatten().any(|f| f == known.name());
        let legacy = known.legacy.is_some_and(|(version, _)| reader < 3 && reader >= version);
        if known.reader_writer && !listed && !legacy {
            return refuse(known.name(), "it must be among the features for readers, too".into());
        }
        if let Some(missing) = known.requires.iter().find(|feature| !protocol.supports(**feature)) {
            return refuse(known.name(), format!("it requires {missing}, which the protocol lacks"));
        }
    }
    Ok(())
}

fn check_partitioning(new: &Definition) -> Result<()> {
    let columns = &new.metadata.partition_columns;
    for field in columns.iter().filter_map(|name| new.schema.field(name)) {
        if Identity::of(field)?.is_some() {
            let error = Error::InvalidArgument {
                argument: "partition_by".into(),
                reason: format!("`{}` is an identity column and cannot be a partition column", field.name),
            };
            let column = [("colName", field.name.as_str())];
            return Err(error.named(&condition::IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED, column));
        }
    }
    let spelled = check_partition_columns(&new.schema, columns)?;
    match spelled == *columns {
        true => Ok(()),
        false => Err(Error::InvalidArgument {
            argument: "partition_by".into(),
            reason: format!("the columns are spelled {}, not {}", spelled.join(", "), columns.join(", ")),
        }),
    }
}

/// The change data feed has columns of its own, which the table then must not have.
fn check_feed(old: Option<&Definition>, new: &Definition) -> Result<()> {
    let property = TableProperty::EnableChangeDataFeed;
    if !new.metadata.is_true(property) {
        return Ok(());
    }
    let own = [CHANGE_TYPE, COMMIT_VERSION, COMMIT_TIMESTAMP];
    let taken: Vec<&str> = own.into_iter().filter(|name| new.schema.field(name).is_some()).collect();
    if taken.is_empty() {
        return Ok(());
    }
    let list = taken.join(",");
    let error = Error::InvalidArgument {
        argument: property.to_string(),
        reason: format!("`{list}`: the changes have columns of these names, too: the table may not"),
    };
    let list = ("columnList", format!("[{list}]"));
    Err(match old.is_some_and(|old| old.metadata.is_true(property)) {
        true => {
            error.named(&condition::RESERVED_CDC_COLUMNS_ON_WRITE, [list, ("config", property.to_string())])
        }
        false => error.named(&condition::TABLE_ALREADY_CONTAINS_CDC_COLUMNS, [list]),
    })
}

fn check_features(new: &Definition) -> Result<()> {
    for (feature, what) in used_features(&new.metadata, &new.schema, |name| new.protocol.supports(name)) {
        if !new.protocol.supports(feature.feature) {
            return Err(Error::InvalidFeatureChange {
                feature: feature.feature.into(),
                reason: format!("{what} needs it, and the protocol lacks it"),
            });
        }
    }
    Ok(())
}

/// What files and rows that stay ask of a new schema.
fn check_files_fit(old: &Definition, new: &Definition) -> Result<()> {
    let invalid = |reason: String| Err(Error::InvalidSchema { reason });
    let partitions =
        |t: &Definition| t.schema.physical_names(&t.metadata.partition_columns, new.column_mapping());
    let renamed = old.column_mapping() == new.column_mapping() && partitions(old) == partitions(new);
    if old.metadata.partition_columns != new.metadata.partition_columns
        && !renamed
        && !old.schema.fields.is_empty()
    {
        return invalid("the partition columns change, and the files stay".into());
    }
    let mapped =
        old.column_mapping() != ColumnMappingMode::None && new.column_mapping() != ColumnMappingMode::None;
    let key = |path: &[&str], id: Option<i32>| match id.filter(|_| mapped) {
        Some(id) => id.to_string(),
        None => path.join("\u{1}"),
    };
    let olds: std::collections::HashMap<String, bool> =
        old.schema.explode().into_iter().map(|(path, f)| (key(&path, f.field_id()), f.nullable)).collect();
    let mut kept = 0;
    let mut added: Vec<Vec<&str>> = Vec::new();
    for (path, field) in new.schema.explode() {
        match olds.get(&key(&path, field.field_id())) {
            Some(nullable) => {
                kept += 1;
                if *nullable && !field.nullable {
                    return invalid(format!("column `{}` can be null and may hold nulls", path.join(".")));
                }
            }
            // what is in a new column is as new as that
            None if !field.nullable && !olds.is_empty() && !added.iter().any(|a| path.starts_with(a)) => {
                return invalid(format!("the new column `{}` must be nullable", path.join(".")));
            }
            None => added.push(path),
        }
    }
    if !mapped && kept < olds.len() {
        let gone = old.schema.explode().into_iter().map(|(path, _)| path);
        let news: std::collections::HashSet<Vec<&str>> =
            new.schema.explode().into_iter().map(|(path, _)| path).collect();
        let gone = gone.into_iter().find(|path| !news.contains(path)).unwrap_or_default();
        let cased =
            news.iter().any(|p| p.len() == gone.len() && p.iter().zip(&gone).all(|(a, b)| same(a, b)));
        return invalid(format!(
            "column `{}` is {} without column mapping, and the files have it",
            gone.join("."),
            if cased { "renamed" } else { "gone" }
        ));
    }
    widen::check_kept(old, new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::testing::{partitioned, protocol, table};
    use crate::schema::{DataType, StructField};

    const NAME: (&str, &str) = ("delta.columnMapping.mode", "name");

    fn said(old: Option<&Definition>, change: impl Fn(&mut Definition)) -> String {
        let mut new = old.cloned().unwrap_or_else(|| table("a long, b long", &[]));
        change(&mut new);
        new.metadata.schema_string = new.schema.to_json();
        let old = old.map(|old| (&old.protocol, &old.metadata));
        validate(old, (&new.protocol, &new.metadata)).map_err(|e| e.to_string()).unwrap_err()
    }

    #[test]
    fn a_new_table_is_checked() {
        assert!(said(None, |t| t.schema.fields[1].name = "A".into()).contains("exists twice"));
        assert!(said(None, |t| t.schema.fields[1].name = "a;b".into()).contains("needs column mapping"));
        assert!(said(None, |t| t.metadata.partition_columns = vec!["q".into()]).contains("is not a column"));
        assert!(said(None, |t| t.metadata.partition_columns = vec!["A".into()]).contains("spelled a"));
        let all = |t: &mut Definition| t.metadata.partition_columns = vec!["a".into(), "b".into()];
        assert!(said(None, all).contains("all columns are partition columns"));
        assert!(
            said(None, |t| t.schema.fields[0].data_type = DataType::TimestampNtz).contains("timestampNtz")
        );
        let vectors = |t: &mut Definition| {
            t.metadata.configuration.insert("delta.enableDeletionVectors".into(), "true".into());
        };
        assert!(said(None, vectors).contains("deletionVectors"));
        let t = table("a long", &[]);
        let broken = Metadata { schema_string: "{".into(), ..t.metadata.clone() };
        assert_eq!(validate(None, (&t.protocol, &broken)).unwrap_err().kind(), "InvalidSchema");
        let empty =
            Metadata { schema_string: r#"{"type":"struct","fields":[]}"#.into(), ..t.metadata.clone() };
        validate(None, (&t.protocol, &empty)).unwrap();
    }

    #[test]
    fn a_protocol_is_of_one_piece() {
        let list = |names: &[&str]| Some(names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
        let t = table("a long", &[]);
        for (broken, text) in [
            (protocol(1, 7), "lists of features"),
            (protocol(3, 6), "lists of features"),
            (protocol(4, 7), "does not write"),
            (
                Protocol {
                    reader_features: list(&["deletionVectors"]),
                    writer_features: list(&[]),
                    ..protocol(3, 7)
                },
                "not among",
            ),
            (
                Protocol { writer_features: list(&["deletionVectors"]), ..protocol(1, 7) },
                "features for readers, too",
            ),
            (
                Protocol { writer_features: list(&["rowTracking"]), ..protocol(1, 7) },
                "requires domainMetadata",
            ),
        ] {
            let error = validate(None, (&broken, &t.metadata)).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
        let mapped = Protocol { writer_features: list(&["columnMapping"]), ..protocol(2, 7) };
        validate(None, (&mapped, &t.metadata)).unwrap();
    }

    #[test]
    fn files_that_stay_ask_for_the_columns_that_they_have() {
        let plain = partitioned(table("a long, b int, p string", &[]), &["p"]);
        let old = Some(&plain);
        assert!(
            said(old, |t| drop(t.schema.fields.remove(0))).contains("`a` is gone without column mapping")
        );
        assert!(
            said(old, |t| t.schema.fields[0].name = "A".into()).contains("renamed without column mapping")
        );
        assert!(said(old, |t| t.schema.fields[0].nullable = false).contains("may hold nulls"));
        assert!(
            said(old, |t| t.schema.fields[1].data_type = DataType::Long).contains("from integer to long")
        );
        assert!(said(old, |t| t.metadata.partition_columns.clear()).contains("partition columns change"));
        let solid = |t: &mut Definition| t.schema.fields.push(StructField::new("n", DataType::Long, false));
        assert!(said(old, solid).contains("`n` must be nullable"));
        let id = ("delta.columnMapping.mode".to_owned(), "id".to_owned());
        assert!(said(old, |t| t.metadata.configuration.extend([id.clone()])).contains("id"));
        // the same under column mapping
        let mapped = table("a long, b int", &[NAME]);
        assert!(
            said(Some(&mapped), |t| t.schema.fields[1].data_type = DataType::Long)
                .contains("from integer to long")
        );
        let mut renamed = mapped.clone();
        renamed.schema.fields[0].name = "z".into();
        renamed.schema.fields.remove(1);
        renamed.metadata.schema_string = renamed.schema.to_json();
        validate(Some((&mapped.protocol, &mapped.metadata)), (&renamed.protocol, &renamed.metadata)).unwrap();
    }

    #[test]
    fn files_that_go_ask_for_nothing() {
        let old = table("a long, b int", &[]);
        let mut new = table("a string, c date", &[]);
        new.metadata.partition_columns = vec!["c".into()];
        let (old, new) = ((&old.protocol, &old.metadata), (&new.protocol, &new.metadata));
        assert!(validate(Some(old), new).is_err());
        validate_replacement(old, new).unwrap();
    }
}
