//! The files of a folder that is to become a table, and the partition values in their paths.

use crate::actions::{ObjectPath, PartitionValues};
use crate::error::{Error, Result, condition};
use crate::partition::{parse, partition_folder_values, timestamp_from_folder};
use crate::schema::{DataType, StructField, StructType};
use crate::store::{FileMeta, Location};

/// A data file, and the partition values that its folders name, in order.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(super) meta: FileMeta,
    pub(super) values: Vec<(String, Option<String>)>,
}

/// The files below a folder in the order of their names, without hidden ones: those of which a part of the path begins
/// with `_` or `.`, partition folders excepted.
///
/// # Errors
/// [`Error::InvalidArgument`] where there is none, or where a folder is a table of its own; [`Error::Unsupported`] for
/// what a streaming query wrote, of which only its log knows which files count.
pub(super) fn data_files(location: &Location) -> Result<Vec<Found>> {
    let refused = |reason: String| Error::InvalidArgument { argument: location.root().to_string(), reason };
    let mut files = Vec::new();
    let (store, root) = (location.store().clone(), location.root().clone());
    for meta in location.cancel().wait_for(move || store.list_all(&root))? {
        if let Some((folder, _)) = meta.name.split_once("/_delta_log/") {
            return Err(refused(format!("the folder `{folder}` is a Delta table; convert the others alone")));
        }
        if meta.name.starts_with("_spark_metadata/") {
            return Err(Error::Unsupported {
                path: location.root().to_string(),
                what: "conversion of what a streaming query wrote (`_spark_metadata`)".into(),
            });
        }
        if !is_hidden(&meta.name) {
            files.push(Found { values: partition_folder_values(&meta.name), meta });
        }
    }
    if files.is_empty() {
        let directory = [("directory", location.root().to_string())];
        return Err(
            refused("there are no files to convert".into()).named(&condition::EMPTY_DIRECTORY, directory)
        );
    }
    files.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
    Ok(files)
}

fn is_hidden(name: &str) -> bool {
    let (folders, file) = name.rsplit_once('/').map_or((None, name), |(folders, file)| (Some(folders), file));
    file.starts_with(['_', '.'])
        || folders
            .is_some_and(|f| f.split('/').any(|part| part.starts_with(['_', '.']) && !part.contains('=')))
}

/// Partition columns from the folders: an integer, long, date or timestamp where the text of every value is exactly that,
/// and else a string, so that no type changes what a value shows.
///
/// # Errors
/// [`Error::InvalidArgument`] where the folders of two files name different columns.
pub(super) fn inferred(root: &ObjectPath, files: &[Found]) -> Result<StructType> {
    let Some(first) = files.first() else { return Ok(StructType::default()) };
    let mut columns: Vec<(String, Option<DataType>)> =
        first.values.iter().map(|(name, _)| (name.clone(), None)).collect();
    for file in files {
        check_columns(root, file, columns.iter().map(|(name, _)| name.as_str()))?;
        for ((_, value), (_, seen)) in file.values.iter().zip(&mut columns) {
            if let Some(value) = value {
                *seen = Some(joined(seen.take(), type_of(value)));
            }
        }
    }
    let field = |(name, found): (String, Option<DataType>)| {
        StructField::new(name, found.unwrap_or(DataType::String), true)
    };
    Ok(StructType { fields: columns.into_iter().map(field).collect() })
}

fn type_of(value: &str) -> DataType {
    let canonical = |number: Option<String>| number.as_deref() == Some(value);
    if canonical(value.parse::<i32>().ok().map(|n| n.to_string())) {
        DataType::Integer
    } else if canonical(value.parse::<i64>().ok().map(|n| n.to_string())) {
        DataType::Long
    } else if chrono::NaiveDate::parse_from_str(value, "%Y-%m-%d").is_ok() && value.len() == 10 {
        DataType::Date
    } else if timestamp_from_folder(value) != value {
        DataType::Timestamp
    } else {
        DataType::String
    }
}

fn joined(seen: Option<DataType>, next: DataType) -> DataType {
    match (seen, next) {
        (None, next) => next,
        (Some(seen), next) if seen == next => seen,
        (Some(DataType::Integer), DataType::Long) | (Some(DataType::Long), DataType::Integer) => {
            DataType::Long
        }
        _ => DataType::String,
    }
}

/// "[`a`, `b`]".
fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    format!("[{}]", names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
}

/// The folders of a file must name these columns, in this order.
fn check_columns<'a>(
    root: &ObjectPath,
    file: &Found,
    expected: impl Iterator<Item = &'a str> + Clone,
) -> Result<()> {
    let same = expected.clone().count() == file.values.len()
        && expected.clone().zip(&file.values).all(|(a, (b, _))| a.to_lowercase() == b.to_lowercase());
    if same {
        return Ok(());
    }
    let list = |names: Vec<&str>| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Err(Error::InvalidArgument {
        argument: "partition columns".into(),
        reason: format!(
            "the folders of `{}` name {}, expected is {}; give the partition columns of all files",
            root.join(&file.meta.name),
            list(file.values.iter().map(|(name, _)| name.as_str()).collect()),
            list(expected.clone().collect())
        ),
    }
    .named(
        &condition::UNEXPECTED_NUM_PARTITION_COLUMNS_FROM_FILE_NAME,
        [
            ("expectedColsSize", expected.clone().count().to_string()),
            ("expectedCols", quoted(expected)),
            ("parsedColsSize", file.values.len().to_string()),
            ("parsedCols", quoted(file.values.iter().map(|(name, _)| name.as_str()))),
            ("path", root.join(&file.meta.name).to_string()),
        ],
    ))
}

/// The partition values of a file as the log has them. Instants are those of UTC.
///
/// # Errors
/// [`Error::InvalidArgument`] where the folders name other columns; [`Error::InvalidSchema`] for a value that does not
/// have its type.
pub(super) fn partition_values(
    root: &ObjectPath,
    file: &Found,
    columns: &StructType,
) -> Result<PartitionValues> {
    check_columns(root, file, columns.fields.iter().map(|f| f.name.as_str()))?;
    let mut values = PartitionValues::new();
    for (field, (_, value)) in columns.fields.iter().zip(&file.values) {
        if value.as_deref() == Some("") {
            return Err(Error::InvalidSchema {
                reason: format!(
                    "partition column `{}`: the folder of `{}` names no value",
                    field.name,
                    root.join(&file.meta.name)
                ),
            });
        }
        let value = match field.data_type {
            DataType::Timestamp => value.as_deref().map(timestamp_from_folder),
            _ => value.clone(),
        };
        parse(&field.name, value.as_deref(), &field.data_type)?;
        values.insert(field.name.clone(), value);
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::partition::{parse, partition_folder};

    fn found(name: &str) -> Found {
        Found {
            meta: FileMeta { name: name.to_owned(), size: 0, modified: 0 },
            values: partition_folder_values(name),
        }
    }

    fn root() -> ObjectPath {
        ObjectPath::new("file://", "/t")
    }

    fn types(names: &[&str]) -> Result<Vec<String>> {
        let files: Vec<_> = names.iter().map(|n| found(n)).collect();
        let schema = inferred(&root(), &files)?;
        Ok(schema.fields.iter().map(|f| format!("{} {}", f.name, f.data_type.name())).collect())
    }

    #[test]
    fn hidden_files_are_no_data() {
        for (name, hidden) in [
            ("a.parquet", false),
            ("_SUCCESS", true),
            (".a.parquet.crc", true),
            ("_temporary/0/a.parquet", true),
            ("x/.b/a.parquet", true),
            ("_day=1/a.parquet", false),
            ("_day=1/_a=b", true),
            ("_delta_log/0.json", true),
        ] {
            assert_eq!(is_hidden(name), hidden, "{name}");
        }
    }

    #[test]
    fn a_type_is_inferred_only_where_no_text_changes() {
        assert_eq!(types(&["p=1/a", "p=3000000000/a"]).unwrap(), ["p long"]);
        assert_eq!(types(&["p=1/a", "p=007/a"]).unwrap(), ["p string"]);
        assert_eq!(types(&["p=2024-01-31/a", "p=__HIVE_DEFAULT_PARTITION__/a"]).unwrap(), ["p date"]);
        assert_eq!(types(&["p=2024-01-31 10%3A00%3A00/q=-1/a"]).unwrap(), ["p timestamp", "q integer"]);
        assert_eq!(types(&["p=2024-01-31/a", "p=1/a"]).unwrap(), ["p string"]);
        assert_eq!(types(&["p=__HIVE_DEFAULT_PARTITION__/a"]).unwrap(), ["p string"]);
        assert_eq!(types(&["a", "b"]).unwrap(), Vec::<String>::new());
        for names in [["p=1/a", "a"], ["p=1/a", "q=1/a"], ["p=1/q=1/a", "p=1/a"]] {
            assert_eq!(types(&names).unwrap_err().kind(), "InvalidArgument");
        }
    }

    #[test]
    fn values_that_are_none_of_their_type_are_refused() {
        let columns = StructType { fields: vec![StructField::new("p", DataType::Integer, true)] };
        for name in ["p=x/a", "p=/a"] {
            assert_eq!(
                partition_values(&root(), &found(name), &columns).unwrap_err().kind(),
                "InvalidSchema"
            );
        }
        let values = partition_values(&root(), &found("P=01/a"), &columns).unwrap();
        assert_eq!(values["p"].as_deref(), Some("01"));
    }

    fn any_value() -> impl Strategy<Value = (DataType, String)> {
        prop_oneof![
            "\\PC{1,12}|[ -~\\n\\t]{1,12}".prop_map(|text| (DataType::String, text)),
            any::<i32>().prop_map(|n| (DataType::Integer, n.to_string())),
            any::<i64>().prop_map(|n| (DataType::Long, n.to_string())),
            any::<bool>().prop_map(|b| (DataType::Boolean, b.to_string())),
            (-500_000i32..500_000).prop_map(|days| {
                let day = chrono::NaiveDate::from_epoch_days(days).unwrap();
                (DataType::Date, day.format("%Y-%m-%d").to_string())
            }),
            (0i64..4_000_000_000_000_000).prop_map(|micros| {
                let at = chrono::DateTime::from_timestamp_micros(micros).unwrap().naive_utc();
                (DataType::Timestamp, at.format("%Y-%m-%d %H:%M:%S%.6f").to_string())
            }),
        ]
    }

    proptest! {
        #[test]
        fn the_value_that_a_folder_was_named_after_is_decoded(
            (data_type, text) in any_value(), other in proptest::option::of("[a-z %/=]{1,5}"),
        ) {
            let folders = partition_folder([("p", Some(text.as_str())), ("q r", other.as_deref())]);
            let columns = StructType { fields: vec![
                StructField::new("p", data_type.clone(), true),
                StructField::new("q r", DataType::String, true),
            ] };
            let values = partition_values(&root(), &found(&format!("{folders}/a.parquet")), &columns).unwrap();
            let expected = parse("p", Some(&text), &data_type).unwrap();
            let decoded = parse("p", values["p"].as_deref(), &data_type).unwrap();
            prop_assert_eq!(&decoded, &expected);
            prop_assert_eq!(values["q r"].clone(), other);
            // inference from the same folder gives the same result
            let guess = inferred(&root(), &[found(&format!("{folders}/a.parquet"))]).unwrap();
            partition_values(&root(), &found(&format!("{folders}/a.parquet")), &guess).unwrap();
        }
    }
}
