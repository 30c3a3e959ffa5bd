//! Whether data of one schema may be written into a table of another.

use crate::alter::references::generated_by;
use crate::error::{Error, Result, condition};
use crate::schema::{
    CURRENT_DEFAULT, DataType, GENERATION_EXPRESSION, IDENTITY_START, StructField, StructType,
};

/// Checks that the data fits the table: columns are matched by name without regard to case; a column that is
/// nullable or computed may be missing; types must be equal or widen without loss.
///
/// # Errors
/// [`Error::SchemaMismatch`] with the columns that differ and both schemas.
pub(crate) fn check_assignable(path: &str, data: &StructType, table: &StructType) -> Result<()> {
    let mut problems = Problems::default();
    compare(data, table, "", &mut problems);
    if problems.said.is_empty() {
        return Ok(());
    }
    let error = Error::SchemaMismatch {
        path: path.to_owned(),
        reason: format!("{}. Table: {}. Data: {}", problems.said.join("; "), show(table), show(data)),
    };
    if let Some(column) = problems.twice {
        return Err(error.named(&condition::DUPLICATE_COLUMNS_FOUND_DATA, [("duplicateCols", column)]));
    }
    Err(match problems.other_type {
        None => match problems.missing.first() {
            Some(column) if problems.missing.len() == problems.said.len() => {
                error.named(&condition::MISSING_NOT_NULL_COLUMN_VALUE, [("columnName", column.as_str())])
            }
            _ => error,
        },
        Some(column) => {
            let path: Vec<String> = column.split('.').map(str::to_owned).collect();
            if let Some((generated, expression)) = generated_by(table, &path) {
                let by = format!("{generated} -> {expression}");
                return Err(error.named(
                    &condition::GENERATED_COLUMNS_DATA_TYPE_MISMATCH,
                    [("columnName", column.as_str()), ("generatedColumns", by.as_str())],
                ));
            }
            let column = column.split('.').next().unwrap_or_default();
            error.named(
                &condition::FAILED_TO_MERGE_FIELDS,
                [("currentField", column), ("updateField", column)],
            )
        }
    })
}

/// Checks that the data has each partition column that the table does not compute, and another column, too: a column
/// that a `DataFrame` leaves out is hardly intended as null, and all its rows would be in another partition.
///
/// # Errors
/// [`Error::SchemaMismatch`] with the column.
pub(super) fn check_partitions_given(
    path: &str,
    data: &StructType,
    table: &StructType,
    partition_columns: &[String],
) -> Result<()> {
    let error = |reason: String| Error::SchemaMismatch { path: path.to_owned(), reason };
    let computed = |name: &str| table.field(name).is_some_and(is_computed);
    for column in partition_columns {
        if data.field(column).is_none() && !computed(column) {
            let names: Vec<_> = data.fields.iter().map(|f| f.name.as_str()).collect();
            let columns = names.join(", ");
            let error = error(format!("the partition column `{column}` is missing; the data has {columns}"));
            let parameters = [("columnName", format!("`{column}`")), ("schemaMap", columns)];
            return Err(error.named(&condition::PARTITION_COLUMN_NOT_FOUND, parameters));
        }
    }
    let given = |f: &&StructField| data.field(&f.name).is_some() || is_computed(f);
    if !partition_columns.is_empty()
        && table.fields.iter().filter(given).all(|f| partition_columns.contains(&f.name))
    {
        let error = error("all columns of the data are partition columns".into());
        return Err(error.of_condition(&condition::NON_PARTITION_COLUMN_ABSENT));
    }
    Ok(())
}

/// What keeps data out of a table.
#[derive(Default)]
struct Problems {
    said: Vec<String>,
    /// The first column whose type is another one.
    other_type: Option<String>,
    /// The columns that are missing and must not be null.
    missing: Vec<String>,
    /// The first column that is there twice.
    twice: Option<String>,
}

impl Problems {
    fn push(&mut self, problem: String) {
        self.said.push(problem);
    }
}

/// `struct<a long not null, b string>`.
pub(super) fn show(schema: &StructType) -> String {
    let fields: Vec<_> = schema
        .fields
        .iter()
        .map(|f| {
            format!("{} {}{}", f.name, show_type(&f.data_type), if f.nullable { "" } else { " not null" })
        })
        .collect();
    format!("struct<{}>", fields.join(", "))
}

fn show_type(data_type: &DataType) -> String {
    match data_type {
        DataType::Struct(s) => show(s),
        DataType::Array(a) => {
            format!("array<{}{}>", show_type(&a.element_type), if a.contains_null { "" } else { " not null" })
        }
        DataType::Map(m) => format!("map<{}, {}>", show_type(&m.key_type), show_type(&m.value_type)),
        primitive => primitive.name(),
    }
}

fn compare(data: &StructType, table: &StructType, parent: &str, problems: &mut Problems) {
    for field in &data.fields {
        if table.field(&field.name).is_none() {
            problems.push(format!("`{parent}{}` is not in the table", field.name));
        }
        let same = |name: &str| name.to_lowercase() == field.name.to_lowercase();
        if data.fields.iter().find(|f| same(&f.name)).is_some_and(|f| !std::ptr::eq(f, field)) {
            let path = format!("{parent}{}", field.name);
            problems.push(format!("`{path}` is in the data twice; column names ignore case"));
            problems.twice.get_or_insert(path.to_lowercase());
        }
    }
    for field in &table.fields {
        let path = format!("{parent}{}", field.name);
        match data.field(&field.name) {
            Some(given) => compare_type(&given.data_type, &field.data_type, &path, problems),
            None if parent.is_empty() && is_computed(field) => {}
            None if !field.nullable => {
                problems.push(format!("`{path}` is missing and must not be null"));
                problems.missing.push(path);
            }
            None => {}
        }
    }
}

/// Whether a column has values of its own where rows have none.
fn is_computed(field: &StructField) -> bool {
    [CURRENT_DEFAULT, GENERATION_EXPRESSION, IDENTITY_START]
        .iter()
        .any(|key| field.metadata.contains_key(*key))
}

fn compare_type(data: &DataType, table: &DataType, path: &str, problems: &mut Problems) {
    match (data, table) {
        (DataType::Struct(d), DataType::Struct(t)) => compare(d, t, &format!("{path}."), problems),
        (DataType::Array(d), DataType::Array(t)) => {
            compare_type(&d.element_type, &t.element_type, &format!("{path}.element"), problems);
        }
        (DataType::Map(d), DataType::Map(t)) => {
            compare_type(&d.key_type, &t.key_type, &format!("{path}.key"), problems);
            compare_type(&d.value_type, &t.value_type, &format!("{path}.value"), problems);
        }
        (DataType::Struct(d), DataType::Variant) if is_variant_struct(d) => {}
        _ if widens(data, table) || table.takes(data) => {}
        _ => {
            // a void column may take the type, by an evolution
            if *table != DataType::Void {
                problems.other_type.get_or_insert_with(|| path.to_owned());
            }
            problems.push(format!(
                "`{path}` is {} in the data and {} in the table",
                show_type(data),
                show_type(table)
            ));
        }
    }
}

/// A variant that came without its extension type: its two binary parts.
pub(super) fn is_variant_struct(s: &StructType) -> bool {
    s.fields.len() == 2
        && ["metadata", "value"]
            .iter()
            .all(|n| s.fields.iter().any(|f| f.name == *n && f.data_type == DataType::Binary))
}

/// Whether every value of one primitive type is, unchanged, a value of the other.
fn widens(from: &DataType, to: &DataType) -> bool {
    use DataType::{Byte, Date, Decimal, Double, Float, Integer, Long, Short, TimestampNtz, Void};
    // digits of the widest value of an integer type
    let digits = |t: &DataType| match t {
        Byte => Some(3),
        Short => Some(5),
        Integer => Some(10),
        Long => Some(19),
        _ => None,
    };
    match (from, to) {
        _ if from == to => true,
        (Void, _) => true,
        (Byte, Short | Integer | Long | Float | Double) => true,
        (Short, Integer | Long | Float | Double) => true,
        (Integer, Long | Double) => true,
        (Float, Double) => true,
        (Decimal(p, s), Decimal(tp, ts)) => {
            ts >= s && i16::from(*tp) - i16::from(*ts) >= i16::from(*p) - i16::from(*s)
        }
        (integer, Decimal(p, s)) => digits(integer).is_some_and(|d| i16::from(*p) - i16::from(*s) >= d),
        (Date, TimestampNtz) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::StructField;

    fn schema(fields: &[(&str, DataType, bool)]) -> StructType {
        StructType {
            fields: fields.iter().map(|(n, t, null)| StructField::new(*n, t.clone(), *null)).collect(),
        }
    }

    #[test]
    fn types_widen_and_never_narrow() {
        use DataType::{
            Byte, Date, Decimal, Double, Float, Integer, Long, String, Timestamp, TimestampNtz, Void,
        };
        for (from, to) in [
            (Byte, Long),
            (Integer, Double),
            (Float, Double),
            (Decimal(10, 2), Decimal(12, 4)),
            (Integer, Decimal(10, 0)),
            (Long, Decimal(21, 2)),
            (Date, TimestampNtz),
            (Void, String),
        ] {
            assert!(widens(&from, &to), "{from:?} {to:?}");
        }
        for (from, to) in [
            (Long, Integer),
            (Long, Double),
            (Integer, Float),
            (Double, Float),
            (Decimal(10, 2), Decimal(11, 4)),
            (Decimal(10, 4), Decimal(12, 2)),
            (Integer, Decimal(9, 0)),
            (Long, String),
            (TimestampNtz, Timestamp),
            (Timestamp, TimestampNtz),
            (Decimal(5, 0), Long),
        ] {
            assert!(!widens(&from, &to), "{from:?} {to:?}");
        }
    }

    #[test]
    fn a_mismatch_names_every_column_and_both_schemas() {
        let table = schema(&[
            ("id", DataType::Long, false),
            ("name", DataType::String, true),
            ("n", DataType::Integer, true),
        ]);
        let data = schema(&[
            ("Name", DataType::String, true),
            ("n", DataType::Long, true),
            ("x", DataType::Long, true),
        ]);
        let error = check_assignable("t", &data, &table).unwrap_err();
        assert_eq!(error.kind(), "SchemaMismatch");
        assert_eq!(
            error.to_string(),
            "the data does not fit the table `t`: `x` is not in the table; `id` is missing and must not be null; `n` is \
             long in the data and integer in the table. Table: struct<id long not null, name string, n integer>. Data: \
             struct<Name string, n long, x long>"
        );
    }

    #[test]
    fn a_partition_column_that_is_not_computed_must_be_given() {
        let column = |name: &str| (name.to_owned(), DataType::Long, true);
        let of = |names: &[&str]| {
            let fields: Vec<_> = names.iter().map(|n| column(n)).collect();
            schema(&fields.iter().map(|(n, t, null)| (n.as_str(), t.clone(), *null)).collect::<Vec<_>>())
        };
        let mut table = of(&["p", "q", "n"]);
        let by = ["p".to_owned(), "q".to_owned()];
        let check =
            |table: &StructType, names: &[&str]| match check_partitions_given("t", &of(names), table, &by) {
                Ok(()) => None,
                Err(error) => error.condition().map(|c| c.name),
            };
        assert_eq!(check(&table, &["P", "q", "n"]), None);
        assert_eq!(check(&table, &["p", "n"]), Some("DELTA_PARTITION_COLUMN_NOT_FOUND"));
        assert_eq!(check(&table, &["p", "q"]), Some("DELTA_NON_PARTITION_COLUMN_ABSENT"));
        table.fields[1].metadata.insert("delta.generationExpression".into(), "p".into());
        assert_eq!(check(&table, &["p", "n"]), None);
        assert!(check_partitions_given("t", &of(&["n"]), &of(&["n"]), &[]).is_ok());
    }

    #[test]
    fn columns_that_are_nullable_or_computed_may_be_missing() {
        let mut table = schema(&[("id", DataType::Long, false), ("d", DataType::Long, true)]);
        let data = schema(&[("ID", DataType::Integer, true)]);
        assert!(check_assignable("t", &data, &table).is_ok());
        table.fields[1].nullable = false;
        assert!(check_assignable("t", &data, &table).is_err());
        table.fields[1].metadata.insert("CURRENT_DEFAULT".into(), "42".into());
        assert!(check_assignable("t", &data, &table).is_ok());
        let twice = schema(&[
            ("id", DataType::Long, true),
            ("ID", DataType::Long, true),
            ("d", DataType::Long, true),
        ]);
        let error = check_assignable("t", &twice, &table).unwrap_err();
        assert!(error.to_string().contains("`ID` is in the data twice"), "{error}");
        assert_eq!(error.condition().map(|c| c.name), Some("DELTA_DUPLICATE_COLUMNS_FOUND.DATA"));
    }
}
