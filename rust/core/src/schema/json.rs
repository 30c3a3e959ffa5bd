use serde_json::{Map, Value, json};

use super::{ArrayType, DataType, MapType, StructField, StructType, UserDefinedType};
use crate::error::{Error, Result, condition};

impl StructType {
    /// Reads the `schemaString` of a table.
    ///
    /// # Errors
    /// [`Error::InvalidSchema`] when it is not the JSON of a struct, or holds a type that this version does not know;
    /// the error names the column.
    pub fn from_json(text: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(text)
            .map_err(|e| Error::InvalidSchema { reason: format!("not JSON: {e}") })?;
        struct_from(&value, &mut Vec::new())
    }

    /// The `schemaString` form, with fields in the order that Spark writes.
    pub fn to_json(&self) -> String {
        struct_to(self).to_string()
    }
}

impl DataType {
    /// The JSON form of the type: a name, or an object for nested types.
    pub fn to_json(&self) -> Value {
        match self {
            DataType::Struct(s) => struct_to(s),
            DataType::Array(a) => {
                json!({"type": "array", "elementType": a.element_type.to_json(), "containsNull": a.contains_null})
            }
            DataType::Map(m) => json!({
                "type": "map", "keyType": m.key_type.to_json(), "valueType": m.value_type.to_json(),
                "valueContainsNull": m.value_contains_null
            }),
            DataType::UserDefined(udt) => {
                let mut definition = udt.definition.clone();
                definition.insert(SQL_TYPE.to_owned(), udt.sql_type.to_json());
                Value::Object(definition)
            }
            primitive => Value::String(primitive.name()),
        }
    }

    /// The name of the type as the protocol spells it; nested types give `struct`, `array`, `map`, user-defined ones
    /// `udt`.
    pub fn name(&self) -> String {
        match self {
            DataType::String => "string".into(),
            DataType::Long => "long".into(),
            DataType::Integer => "integer".into(),
            DataType::Short => "short".into(),
            DataType::Byte => "byte".into(),
            DataType::Float => "float".into(),
            DataType::Double => "double".into(),
            DataType::Decimal(p, s) => format!("decimal({p},{s})"),
            DataType::Boolean => "boolean".into(),
            DataType::Binary => "binary".into(),
            DataType::Date => "date".into(),
            DataType::Timestamp => "timestamp".into(),
            DataType::TimestampNtz => "timestamp_ntz".into(),
            DataType::Void => "void".into(),
            DataType::Variant => "variant".into(),
            DataType::Struct(_) => "struct".into(),
            DataType::Array(_) => "array".into(),
            DataType::Map(_) => "map".into(),
            DataType::UserDefined(_) => "udt".into(),
        }
    }
}

fn struct_to(s: &StructType) -> Value {
    let fields: Vec<Value> = s
        .fields
        .iter()
        .map(|f| {
            json!({"name": f.name, "type": f.data_type.to_json(), "nullable": f.nullable, "metadata": f.metadata})
        })
        .collect();
    json!({"type": "struct", "fields": fields})
}

fn invalid(at: &[String], what: &str) -> Error {
    Error::InvalidSchema {
        reason: if at.is_empty() { what.to_owned() } else { format!("column `{}`: {what}", at.join(".")) },
    }
}

/// What a user-defined type is stored as.
const SQL_TYPE: &str = "sqlType";
/// What a field consists of.
const IN_FIELD: [&str; 4] = ["name", "type", "nullable", "metadata"];

fn struct_from(value: &Value, at: &mut Vec<String>) -> Result<StructType> {
    if value.get("type").and_then(Value::as_str) != Some("struct") {
        return Err(invalid(at, "not a struct"));
    }
    let fields = value.get("fields").and_then(Value::as_array).ok_or_else(|| invalid(at, "no `fields`"))?;
    let fields = fields
        .iter()
        .map(|field| {
            let name = field
                .get("name")
                .and_then(Value::as_str)
                .ok_or_else(|| invalid(at, "a field has no name"))?;
            at.push(name.to_owned());
            // Spark refuses a field that has anything else, and a word of a field that is damaged is something else
            if let Some(other) =
                field.as_object().and_then(|f| f.keys().find(|k| !IN_FIELD.contains(&k.as_str())))
            {
                return Err(invalid(at, &format!("no field has a `{other}`")));
            }
            let data_type = type_from(field.get("type").unwrap_or(&Value::Null), at)?;
            at.pop();
            Ok(StructField {
                name: name.to_owned(),
                data_type,
                nullable: field.get("nullable").and_then(Value::as_bool).unwrap_or(true),
                metadata: field.get("metadata").and_then(Value::as_object).cloned().unwrap_or_else(Map::new),
            })
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(StructType { fields })
}

fn type_from(value: &Value, at: &mut Vec<String>) -> Result<DataType> {
    if let Some(name) = value.as_str() {
        return primitive_from(name).ok_or_else(|| {
            let types = [("dataTypeList", format!("[{}: {name}]", at.join(".")))];
            invalid(at, &format!("type `{name}` is not supported"))
                .named(&condition::UNSUPPORTED_DATA_TYPES, types)
        });
    }
    let mut part = |key: &str, name: &str| {
        at.push(name.to_owned());
        let found = type_from(value.get(key).unwrap_or(&Value::Null), at);
        at.pop();
        found
    };
    let flag = |key: &str| value.get(key).and_then(Value::as_bool).unwrap_or(true);
    match value.get("type").and_then(Value::as_str) {
        Some("struct") => Ok(DataType::Struct(Box::new(struct_from(value, at)?))),
        Some("array") => Ok(DataType::Array(Box::new(ArrayType {
            element_type: part("elementType", "element")?,
            contains_null: flag("containsNull"),
        }))),
        Some("map") => Ok(DataType::Map(Box::new(MapType {
            key_type: part("keyType", "key")?,
            value_type: part("valueType", "value")?,
            value_contains_null: flag("valueContainsNull"),
        }))),
        Some("udt") => Ok(DataType::UserDefined(Box::new(UserDefinedType {
            sql_type: type_from(value.get(SQL_TYPE).unwrap_or(&Value::Null), at)?,
            // types are in types: whoever kept all of each would keep the innermost as often as there are
            definition: (value.as_object().into_iter().flatten().filter(|(key, _)| *key != SQL_TYPE))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        }))),
        _ => Err(invalid(at, &format!("unknown type {value}"))),
    }
}

fn primitive_from(name: &str) -> Option<DataType> {
    Some(match name {
        "string" => DataType::String,
        "long" | "bigint" => DataType::Long,
        "integer" | "int" => DataType::Integer,
        "short" | "smallint" => DataType::Short,
        "byte" | "tinyint" => DataType::Byte,
        "float" => DataType::Float,
        "double" => DataType::Double,
        "boolean" => DataType::Boolean,
        "binary" => DataType::Binary,
        "date" => DataType::Date,
        "timestamp" => DataType::Timestamp,
        "timestamp_ntz" => DataType::TimestampNtz,
        "void" | "null" => DataType::Void,
        "variant" => DataType::Variant,
        "decimal" => DataType::Decimal(10, 0),
        _ => return decimal_from(name).or_else(|| text_from(name)),
    })
}

/// `decimal(p,s)`.
fn decimal_from(name: &str) -> Option<DataType> {
    let (p, s) = name.strip_prefix("decimal(")?.strip_suffix(')')?.split_once(',')?;
    let (p, s): (u8, i8) = (p.trim().parse().ok()?, s.trim().parse().ok()?);
    ((1..=38).contains(&p) && s >= 0 && s as u8 <= p).then_some(DataType::Decimal(p, s))
}

/// `char(n)`, `varchar(n)` and `string collate X` are stored as text.
fn text_from(name: &str) -> Option<DataType> {
    let sized = |prefix: &str| name.strip_prefix(prefix).and_then(|r| r.strip_suffix(')')).is_some();
    (sized("char(") || sized("varchar(") || name.starts_with("string collate ")).then_some(DataType::String)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_survives_a_round_trip() {
        let text = concat!(
            r#"{"fields":[{"metadata":{"a":1},"name":"x","nullable":false,"type":"decimal(12,2)"},"#,
            r#"{"metadata":{},"name":"l","nullable":true,"type":{"containsNull":false,"elementType":"timestamp_ntz","type":"array"}},"#,
            r#"{"metadata":{},"name":"m","nullable":true,"type":{"keyType":"string","type":"map","valueContainsNull":true,"#,
            r#""valueType":{"fields":[{"metadata":{},"name":"b","nullable":true,"type":"byte"}],"type":"struct"}}}],"type":"struct"}"#
        );
        let schema = StructType::from_json(text).unwrap();
        let again = StructType::from_json(&schema.to_json()).unwrap();
        assert_eq!(schema, again);
        assert_eq!(
            serde_json::from_str::<Value>(text).unwrap(),
            serde_json::from_str::<Value>(&schema.to_json()).unwrap()
        );
    }

    #[test]
    fn a_field_with_a_word_that_spark_refuses_is_refused() {
        let field =
            |more: &str| format!(r#"{{"type":"struct","fields":[{{"name":"a","type":"long"{more}}}]}}"#);
        for more in ["", r#","nullable":false"#, r#","nullable":true,"metadata":{}"#] {
            assert!(StructType::from_json(&field(more)).is_ok(), "{more}");
        }
        let error = StructType::from_json(&field(r#","fullable":false"#)).unwrap_err().to_string();
        assert_eq!(error, "schema: column `a`: no field has a `fullable`");
    }

    #[test]
    fn an_unknown_type_names_its_column() {
        let text = r#"{"type":"struct","fields":[{"name":"a","type":{"type":"array","elementType":"geometry(4326)","containsNull":true},"nullable":true,"metadata":{}}]}"#;
        let error = StructType::from_json(text).unwrap_err().to_string();
        assert_eq!(error, "schema: column `a.element`: type `geometry(4326)` is not supported");
    }
}
