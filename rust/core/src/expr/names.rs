//! Names of types in SQL.

use crate::schema::DataType;

/// The type that SQL names so, `DECIMAL(10,2)`. Only primitive types.
pub(super) fn data_type(name: &str) -> Result<DataType, String> {
    let upper = name.to_ascii_uppercase().replace(' ', "");
    Ok(match upper.as_str() {
        "BOOLEAN" | "BOOL" => DataType::Boolean,
        "TINYINT" | "BYTE" => DataType::Byte,
        "SMALLINT" | "SHORT" => DataType::Short,
        "INT" | "INTEGER" => DataType::Integer,
        "BIGINT" | "LONG" => DataType::Long,
        "FLOAT" | "REAL" => DataType::Float,
        "DOUBLE" => DataType::Double,
        "STRING" => DataType::String,
        "BINARY" => DataType::Binary,
        "DATE" => DataType::Date,
        "TIMESTAMP" | "TIMESTAMP_LTZ" => DataType::Timestamp,
        "TIMESTAMP_NTZ" => DataType::TimestampNtz,
        "DECIMAL" | "DEC" | "NUMERIC" => DataType::Decimal(10, 0),
        _ => decimal(&upper).ok_or_else(|| format!("the type `{name}` is not supported"))?,
    })
}

fn decimal(name: &str) -> Option<DataType> {
    let sizes =
        ["DECIMAL(", "DEC(", "NUMERIC("].iter().find_map(|p| name.strip_prefix(p))?.strip_suffix(')')?;
    let (precision, scale) = sizes.split_once(',').unwrap_or((sizes, "0"));
    let (precision, scale): (u8, i8) = (precision.parse().ok()?, scale.parse().ok()?);
    ((1..=38).contains(&precision) && scale >= 0 && scale as u8 <= precision)
        .then_some(DataType::Decimal(precision, scale))
}
