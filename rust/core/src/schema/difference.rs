//! Whether what was planned with one schema can be read with another: columns may be added, and nothing else.

use super::{DataType, StructType};

/// Which change of what may be null is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nullability {
    /// A column may become nullable: rows of the old schema are read with the new one.
    MayRelax,
    /// A column may become required: rows of the new schema are read with the old one.
    MayTighten,
}

impl Nullability {
    /// The problem with a column, or with elements, if there is one.
    fn change(self, was: bool, is: bool) -> Option<&'static str> {
        match self {
            Nullability::MayRelax if was && !is => Some("may be null, and later not"),
            Nullability::MayTighten if !was && is => Some("may not be null, and later may"),
            _ => None,
        }
    }
}

/// Why a reader that finds columns by name cannot go from the schema `old` to the schema `new`: a column that is missing,
/// of another type, or of another nullability. `None` where it can.
pub fn read_difference(old: &StructType, new: &StructType, nullability: Nullability) -> Option<String> {
    fields_difference(old, new, "", nullability)
}

fn fields_difference(
    old: &StructType,
    new: &StructType,
    at: &str,
    nullability: Nullability,
) -> Option<String> {
    old.fields.iter().find_map(|field| {
        let name = format!("{at}{}", field.name);
        let Some(now) = new.field(&field.name) else { return Some(format!("column `{name}` was dropped")) };
        if now.name != field.name {
            return Some(format!("column `{name}` was renamed to `{at}{}`", now.name));
        }
        if let Some(change) = nullability.change(field.nullable, now.nullable) {
            return Some(format!("column `{name}` {change}"));
        }
        type_difference(&field.data_type, &now.data_type, &name, nullability)
    })
}

fn type_difference(old: &DataType, new: &DataType, name: &str, nullability: Nullability) -> Option<String> {
    let elements = |was: bool, is: bool| {
        nullability.change(was, is).map(|change| format!("the elements of column `{name}` {change}"))
    };
    let inner = |old: &DataType, new: &DataType, part: &str| {
        type_difference(old, new, &format!("{name}.{part}"), nullability)
    };
    match (old, new) {
        (DataType::Struct(old), DataType::Struct(new)) => {
            fields_difference(old, new, &format!("{name}."), nullability)
        }
        (DataType::Array(old), DataType::Array(new)) => elements(old.contains_null, new.contains_null)
            .or_else(|| inner(&old.element_type, &new.element_type, "element")),
        (DataType::Map(old), DataType::Map(new)) => {
            elements(old.value_contains_null, new.value_contains_null)
                .or_else(|| inner(&old.key_type, &new.key_type, "key"))
                .or_else(|| inner(&old.value_type, &new.value_type, "value"))
        }
        (DataType::Void, _) => None,
        (old, new) if old == new => None,
        (old, new) => {
            let text = |t: &DataType| match t.to_json() {
                serde_json::Value::String(text) => text,
                other => other.to_string(),
            };
            Some(format!("the type of column `{name}` was changed from {} to {}", text(old), text(new)))
        }
    }
}

/// The first column of `old` that data files of `new` keep under another name: with column mapping, a column that was
/// dropped and added again is another one. Each schema comes with its physical one, which has the same shape.
pub fn physical_difference(
    (old, old_physical): (&StructType, &StructType),
    (new, new_physical): (&StructType, &StructType),
) -> Option<String> {
    old.fields.iter().zip(&old_physical.fields).find_map(|(field, stored)| {
        let at = new.fields.iter().position(|f| f.name == field.name)?;
        let (now, now_stored) = (&new.fields[at], new_physical.fields.get(at)?);
        if stored.name != now_stored.name {
            return Some(format!("column `{}` is another one of that name", field.name));
        }
        nested_difference((&field.data_type, &stored.data_type), (&now.data_type, &now_stored.data_type))
    })
}

fn nested_difference(
    (old, old_physical): (&DataType, &DataType),
    (new, new_physical): (&DataType, &DataType),
) -> Option<String> {
    match (old, old_physical, new, new_physical) {
        (DataType::Struct(a), DataType::Struct(p), DataType::Struct(b), DataType::Struct(q)) => {
            physical_difference((a, p), (b, q))
        }
        (DataType::Array(a), DataType::Array(p), DataType::Array(b), DataType::Array(q)) => {
            nested_difference((&a.element_type, &p.element_type), (&b.element_type, &q.element_type))
        }
        (DataType::Map(a), DataType::Map(p), DataType::Map(b), DataType::Map(q)) => {
            nested_difference((&a.key_type, &p.key_type), (&b.key_type, &q.key_type))
                .or_else(|| nested_difference((&a.value_type, &p.value_type), (&b.value_type, &q.value_type)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{ArrayType, StructField};

    fn of(fields: Vec<StructField>) -> StructType {
        StructType { fields }
    }

    fn long(name: &str, nullable: bool) -> StructField {
        StructField::new(name, DataType::Long, nullable)
    }

    #[test]
    fn nullability_may_change_in_one_direction() {
        let (required, nullable) = (of(vec![long("a", false)]), of(vec![long("a", true)]));
        let (relax, tighten) = (Nullability::MayRelax, Nullability::MayTighten);
        assert_eq!(read_difference(&required, &nullable, relax), None);
        assert_eq!(read_difference(&nullable, &required, tighten), None);
        let later = read_difference(&nullable, &required, relax);
        assert_eq!(later.as_deref(), Some("column `a` may be null, and later not"));
        let later = read_difference(&required, &nullable, tighten);
        assert_eq!(later.as_deref(), Some("column `a` may not be null, and later may"));
    }

    #[test]
    fn a_column_of_the_same_name_may_be_another_one() {
        let inner = |name: &str| {
            let element = DataType::Struct(Box::new(of(vec![long(name, true)])));
            DataType::Array(Box::new(ArrayType { element_type: element, contains_null: true }))
        };
        let logical = of(vec![StructField::new("l", inner("a"), true)]);
        let stored = |outer: &str, name: &str| of(vec![StructField::new(outer, inner(name), true)]);
        let same = physical_difference((&logical, &stored("x", "y")), (&logical, &stored("x", "y")));
        assert_eq!(same, None);
        let other = physical_difference((&logical, &stored("x", "y")), (&logical, &stored("x", "z")));
        assert_eq!(other.as_deref(), Some("column `a` is another one of that name"));
    }
}
