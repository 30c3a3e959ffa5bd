//! Walks over a schema at every depth.

use super::{DataType, StructField, StructType};

impl DataType {
    /// Whether this type, or one within it, passes the test.
    pub(crate) fn any(&self, test: &dyn Fn(&DataType) -> bool) -> bool {
        test(self)
            || match self {
                DataType::Struct(s) => s.any_type(test),
                DataType::Array(a) => a.element_type.any(test),
                DataType::Map(m) => m.key_type.any(test) || m.value_type.any(test),
                DataType::UserDefined(udt) => udt.sql_type.any(test),
                _ => false,
            }
    }
}

impl StructType {
    /// Whether a type somewhere in the schema passes the test.
    pub(crate) fn any_type(&self, test: &dyn Fn(&DataType) -> bool) -> bool {
        self.fields.iter().any(|f| f.data_type.any(test))
    }

    /// Every field at every depth with its path, a parent before its children. Within arrays and maps the path has
    /// `element`, `key` and `value`. What a user-defined type is stored as is its own.
    pub(crate) fn explode(&self) -> Vec<(Vec<&str>, &StructField)> {
        fn within<'a>(
            data_type: &'a DataType,
            path: &mut Vec<&'a str>,
            out: &mut Vec<(Vec<&'a str>, &'a StructField)>,
        ) {
            let mut below = |name, data_type| {
                path.push(name);
                within(data_type, path, out);
                path.pop();
            };
            match data_type {
                DataType::Struct(s) => fields(s, path, out),
                DataType::Array(a) => below("element", &a.element_type),
                DataType::Map(m) => {
                    below("key", &m.key_type);
                    below("value", &m.value_type);
                }
                _ => {}
            }
        }
        fn fields<'a>(
            schema: &'a StructType,
            path: &mut Vec<&'a str>,
            out: &mut Vec<(Vec<&'a str>, &'a StructField)>,
        ) {
            for field in &schema.fields {
                path.push(&field.name);
                out.push((path.clone(), field));
                within(&field.data_type, path, out);
                path.pop();
            }
        }
        let mut out = Vec::new();
        fields(self, &mut Vec::new(), &mut out);
        out
    }

    /// Calls `change` for every field at every depth with its path (that of [`StructType::explode`]), a parent before its
    /// children.
    pub(crate) fn change_fields(&mut self, change: &mut dyn FnMut(&[String], &mut StructField)) {
        fn within(
            data_type: &mut DataType,
            path: &mut Vec<String>,
            change: &mut dyn FnMut(&[String], &mut StructField),
        ) {
            let mut below = |name: &str, data_type: &mut DataType| {
                path.push(name.to_owned());
                within(data_type, path, change);
                path.pop();
            };
            match data_type {
                DataType::Struct(s) => fields(s, path, change),
                DataType::Array(a) => below("element", &mut a.element_type),
                DataType::Map(m) => {
                    below("key", &mut m.key_type);
                    below("value", &mut m.value_type);
                }
                _ => {}
            }
        }
        fn fields(
            schema: &mut StructType,
            path: &mut Vec<String>,
            change: &mut dyn FnMut(&[String], &mut StructField),
        ) {
            for field in &mut schema.fields {
                path.push(field.name.clone());
                change(path, field);
                within(&mut field.data_type, path, change);
                path.pop();
            }
        }
        fields(self, &mut Vec::new(), change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_through_structs_arrays_and_maps() {
        let text = r#"{"type":"struct","fields":[
            {"name":"a","type":{"type":"array","elementType":{"type":"struct","fields":[{"name":"x","type":"long"}]}}},
            {"name":"m","type":{"type":"map","keyType":"string","valueType":{"type":"struct","fields":[{"name":"y","type":"date"}]}}}]}"#;
        let mut schema = StructType::from_json(text).unwrap();
        let paths: Vec<String> = schema.explode().iter().map(|(path, _)| path.join(".")).collect();
        assert_eq!(paths, ["a", "a.element.x", "m", "m.value.y"]);
        let mut seen = Vec::new();
        schema.change_fields(&mut |path, field| {
            field.nullable = false;
            seen.push(path.join("."));
        });
        assert_eq!(seen, paths);
        assert!(schema.explode().iter().all(|(_, f)| !f.nullable));
        assert!(schema.any_type(&|t| *t == DataType::Date) && !schema.any_type(&|t| *t == DataType::Byte));
    }
}
