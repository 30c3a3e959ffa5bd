//! Schemas as Spark gets them, without SQL that Spark would parse unchecked.

use serde_json::{Value, json};

use crate::expr::{Rule, RuleKind, rule_functions};
use crate::schema::{
    CHAR_VARCHAR, CURRENT_DEFAULT, ColumnMappingMode, DataType, FIELD_ID, KEY_PREFIX, StructField, StructType,
};

/// Where Spark's Parquet reader looks for field ids.
const PARQUET_FIELD_ID: &str = "parquet.field.id";
/// Field metadata key of Spark's own tables.
const EXISTS_DEFAULT: &str = "EXISTS_DEFAULT";
/// What Spark takes for a default that is refused: no constant.
const REFUSED_DEFAULT: &str = "raise_error('the default of this column is refused')";
/// What tells the type of a number in SQL.
const NUMBER_SUFFIXES: [&str; 6] = ["Y", "S", "L", "F", "D", "BD"];
/// Types within types, of a text.
const MOST_TYPES: usize = 100;

/// The schema as Spark reads it: in logical names without the annotations that are ours alone, or in the names and field
/// ids of the files.
pub(crate) fn schema_json(schema: &StructType, physical: Option<ColumnMappingMode>) -> Value {
    let fields: Vec<Value> = schema.fields.iter().map(|f| field_json(f, physical)).collect();
    json!({"type": "struct", "fields": fields})
}

fn field_json(field: &StructField, physical: Option<ColumnMappingMode>) -> Value {
    let mut metadata = serde_json::Map::new();
    let mut name = field.name.as_str();
    match physical {
        None => metadata.extend(reported(field)),
        Some(mode) => {
            name = field.physical_name(mode);
            if mode == ColumnMappingMode::Id
                && let Some(id) = field.metadata.get(FIELD_ID)
            {
                metadata.insert(PARQUET_FIELD_ID.to_owned(), id.clone());
            }
        }
    }
    json!({"name": name, "type": type_json(&field.data_type, physical), "nullable": field.nullable, "metadata": metadata})
}

/// The metadata of a column that Spark gets besides its type. Spark parses some of it as SQL by itself: such values are
/// printed by the core, or left out.
fn reported(field: &StructField) -> impl Iterator<Item = (String, Value)> {
    let all =
        field.metadata.iter().filter(|(key, _)| !key.starts_with(KEY_PREFIX) && !key.starts_with("parquet."));
    all.filter_map(|(key, value)| match key.as_str() {
        // of Spark's own tables: the value of rows that are older than the column
        EXISTS_DEFAULT => None,
        CURRENT_DEFAULT => Some((key.clone(), default_json(&field.name, value.as_str()?))),
        CHAR_VARCHAR => {
            (value.as_str()?.matches('<').count() <= MOST_TYPES).then(|| (key.clone(), value.clone()))
        }
        _ => Some((key.clone(), value.clone())),
    })
}

/// A default for Spark: as the table has it where every parser reads it as the core does, else as the core prints it. An
/// invalid one is replaced by an expression that raises an error.
fn default_json(column: &str, text: &str) -> Value {
    let printed =
        Rule::of(text, &StructType::default(), RuleKind::Default(column)).ok().and_then(|rule| rule.sql);
    let shown = printed.map(|sql| match is_number(text) || differ_by_spaces(text, &sql) {
        true => text.to_owned(),
        false => sql,
    });
    Value::String(shown.unwrap_or_else(|| REFUSED_DEFAULT.to_owned()))
}

/// Whether a text is one number, which every parser reads alike: digits with a sign, a fraction and the suffix of a type.
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let digits = unsigned.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let suffix = &unsigned[digits.len()..];
    all_digits(whole) && all_digits(fraction) && (suffix.is_empty() || NUMBER_SUFFIXES.contains(&suffix))
}

/// The defaults that only Spark knows, by column, and the functions that they may call, or null where there are none: bounded
/// texts, whose trees nobody has looked at.
pub(super) fn unprinted_defaults(schema: &StructType) -> Value {
    let unprinted = schema.fields.iter().filter_map(|field| {
        let text = field.metadata.get(CURRENT_DEFAULT)?.as_str()?;
        let rule = Rule::of(text, &StructType::default(), RuleKind::Default(&field.name)).ok()?;
        rule.sql.is_none().then(|| (field.name.clone(), Value::String(rule.expression)))
    });
    let columns: serde_json::Map<String, Value> = unprinted.collect();
    match columns.is_empty() {
        true => Value::Null,
        false => json!({"columns": columns, "functions": rule_functions(&RuleKind::Default(""))}),
    }
}

/// Whether two texts of plain characters have the same ones, but for spaces outside of quotes.
fn differ_by_spaces(text: &str, printed: &str) -> bool {
    let is_plain = |c: char| (c.is_ascii_graphic() && c != '\\') || c == ' ';
    let without_spaces = |text: &str| -> String {
        let mut quoted = false;
        let kept = |c: &char| {
            quoted ^= *c == '\'';
            quoted || *c != ' '
        };
        text.chars().filter(kept).collect()
    };
    text.chars().all(is_plain) && without_spaces(text) == without_spaces(printed)
}

fn type_json(data_type: &DataType, physical: Option<ColumnMappingMode>) -> Value {
    match data_type {
        DataType::Struct(s) => schema_json(s, physical),
        DataType::Array(a) => {
            json!({"type": "array", "elementType": type_json(&a.element_type, physical), "containsNull": a.contains_null})
        }
        DataType::Map(m) => json!({
            "type": "map", "keyType": type_json(&m.key_type, physical), "valueType": type_json(&m.value_type, physical),
            "valueContainsNull": m.value_contains_null
        }),
        other => other.for_spark().to_json(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_shown_as_they_are_written_where_all_parsers_agree() {
        for text in
            ["5", "-5", "-32768S", "-1.5D", "1.50", "-2.5BD", "1+2", "DATE'2024-01-01'", "concat('a ','b')"]
        {
            assert_eq!(default_json("c", text), text);
        }
        for (text, printed) in
            [("(5)", "5"), ("- 7", "(-7)"), ("5 /* x */", "5"), ("'\\\\x'", "CAST(X'5C78' AS STRING)")]
        {
            assert_eq!(default_json("c", text), printed);
        }
        for text in ["5X", "-", "5.", "1e", "reflect('a', 'b')", "5 -- 6\n", ""] {
            assert_ne!(default_json("c", text), text);
        }
    }
}
