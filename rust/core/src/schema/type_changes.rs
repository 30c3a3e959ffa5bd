//! The history of types that a schema keeps (PROTOCOL.md, "Type Widening").

use serde_json::{Value, json};

use super::{DataType, StructField, StructType, TYPE_CHANGES};
use crate::error::{Error, Result, condition};

/// Refuses a schema with a change of type that the protocol does not have: data files may hold what the table's type
/// cannot. `path` is that of the table.
///
/// # Errors
/// [`Error::Unsupported`], which names the column and both types.
pub(crate) fn check(path: &str, schema: &StructType) -> Result<()> {
    schema.fields.iter().try_for_each(|field| check_field(path, field, &field.name))
}

fn check_field(path: &str, field: &StructField, at: &str) -> Result<()> {
    for change in field.metadata.get(TYPE_CHANGES).and_then(Value::as_array).into_iter().flatten() {
        let (from, to) = (&change["fromType"], &change["toType"]);
        let known =
            type_from_name(from).zip(type_from_name(to)).is_some_and(|(from, to)| is_widening(&from, &to));
        if !known {
            let text = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
            let (from, to) = (text(from), text(to));
            return Err(Error::Unsupported {
                path: path.to_owned(),
                what: format!("the change of column `{at}` from {from} to {to}"),
            }
            .named(&condition::UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA, [("fieldName", at)]));
        }
    }
    check_type(path, &field.data_type, at)
}

fn check_type(path: &str, data_type: &DataType, at: &str) -> Result<()> {
    match data_type {
        DataType::Struct(s) => {
            s.fields.iter().try_for_each(|field| check_field(path, field, &format!("{at}.{}", field.name)))
        }
        DataType::Array(a) => check_type(path, &a.element_type, &format!("{at}.element")),
        DataType::Map(m) => {
            check_type(path, &m.key_type, &format!("{at}.key"))?;
            check_type(path, &m.value_type, &format!("{at}.value"))
        }
        _ => Ok(()),
    }
}

/// The type of a JSON form.
pub(crate) fn type_from_name(name: &Value) -> Option<DataType> {
    let schema =
        json!({"type": "struct", "fields": [{"name": "c", "type": name, "nullable": true, "metadata": {}}]});
    StructType::from_json(&schema.to_string()).ok()?.fields.pop().map(|f| f.data_type)
}

/// Whether the protocol has this change of type, or there is none.
pub(crate) fn is_widening(from: &DataType, to: &DataType) -> bool {
    use DataType::{Byte, Date, Decimal, Double, Float, Integer, Long, Short, TimestampNtz};
    match (from, to) {
        (Byte, Short | Integer | Long | Double) | (Short, Integer | Long | Double) => true,
        (Integer, Long | Double) | (Float, Double) | (Date, TimestampNtz) => true,
        (Byte | Short | Integer, Decimal(precision, scale)) => holds(*precision, *scale, 10, 0),
        (Long, Decimal(precision, scale)) => holds(*precision, *scale, 20, 0),
        (Decimal(p1, s1), Decimal(p2, s2)) => holds(*p2, *s2, *p1, *s1),
        // collations and the lengths of char and varchar are no types of their own here
        (from, to) => from == to,
    }
}

/// Whether a decimal has at least as many digits before and after the point as another.
fn holds(precision: u8, scale: i8, of_precision: u8, of_scale: i8) -> bool {
    let whole = |p: u8, s: i8| i16::from(p) - i16::from(s);
    scale >= of_scale && whole(precision, scale) >= whole(of_precision, of_scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::testing::schema;

    fn checked(from: &str, to: &str) -> std::result::Result<(), String> {
        let inner = format!(
            r#"{{"name":"x","type":"{to}","nullable":true,"metadata":{{"delta.typeChanges":[{{"fromType":"{from}","toType":"{to}"}}]}}}}"#
        );
        let nested = format!(
            r#"{{"type":"array","elementType":{{"type":"struct","fields":[{inner}]}},"containsNull":true}}"#
        );
        let table = schema(&format!(r#"{{"name":"a","type":{nested},"nullable":true,"metadata":{{}}}}"#));
        check("t", &table).map_err(|e| e.to_string())
    }

    #[test]
    fn the_changes_of_the_protocol_are_read() {
        for (from, to) in [
            ("byte", "long"),
            ("short", "double"),
            ("integer", "double"),
            ("float", "double"),
            ("date", "timestamp_ntz"),
            ("integer", "decimal(10,0)"),
            ("byte", "decimal(11,1)"),
            ("long", "decimal(21,1)"),
            ("decimal(10,2)", "decimal(20,5)"),
            ("decimal(10,2)", "decimal(11,3)"),
        ] {
            assert_eq!(checked(from, to), Ok(()), "{from} to {to}");
        }
    }

    #[test]
    fn any_other_change_is_refused_by_name() {
        for (from, to) in [
            ("byte", "decimal(4,1)"),
            ("long", "double"),
            ("long", "integer"),
            ("long", "decimal(20,1)"),
            ("decimal(10,2)", "decimal(10,3)"),
            ("decimal(10,2)", "decimal(12,1)"),
            ("date", "timestamp"),
            ("string", "integer"),
        ] {
            let want =
                format!("`t`: the change of column `a.element.x` from {from} to {to} is not supported");
            assert_eq!(checked(from, to), Err(want));
        }
        assert!(checked("interval", "integer").is_err());
    }
}
