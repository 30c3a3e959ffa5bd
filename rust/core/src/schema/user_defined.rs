//! User-defined types of Spark, such as the vectors of its machine learning. The protocol has no word for them: delta-spark
//! writes their definition into the schema and their values as another type.

use serde_json::{Value, json};

use super::{ArrayType, DataType, MapType, StructField, StructType, UserDefinedType, as_nullable};

impl PartialEq for UserDefinedType {
    /// The same classes and the same storage: a pickled class is another text in each process.
    fn eq(&self, other: &Self) -> bool {
        let classes = |of: &Self| [CLASS, PY_CLASS].map(|key| of.definition.get(key).cloned());
        self.sql_type == other.sql_type && classes(self) == classes(other)
    }
}

const CLASS: &str = "class";
const PY_CLASS: &str = "pyClass";
/// The types that Spark itself defines, with the classes of both languages. An engine makes an object of the class that a
/// schema names, and Python loads a pickled one: of a table nothing else is handed to them.
const OF_SPARK: [(&str, &str); 4] = [
    ("org.apache.spark.ml.linalg.VectorUDT", "pyspark.ml.linalg.VectorUDT"),
    ("org.apache.spark.ml.linalg.MatrixUDT", "pyspark.ml.linalg.MatrixUDT"),
    ("org.apache.spark.mllib.linalg.VectorUDT", "pyspark.mllib.linalg.VectorUDT"),
    ("org.apache.spark.mllib.linalg.MatrixUDT", "pyspark.mllib.linalg.MatrixUDT"),
];

impl UserDefinedType {
    /// As Spark may get it: a type of its own, with the definition that it has there; any other as what it is stored as.
    fn for_spark(&self) -> DataType {
        let sql_type = self.sql_type.for_spark();
        let class = self.definition.get(CLASS).and_then(Value::as_str);
        let Some((class, py_class)) = OF_SPARK.into_iter().find(|(known, _)| Some(*known) == class) else {
            return sql_type;
        };
        let definition = [("type", "udt"), (CLASS, class), (PY_CLASS, py_class)]
            .map(|(key, value)| (key.to_owned(), json!(value)));
        let definition = definition.into_iter().collect();
        DataType::UserDefined(Box::new(UserDefinedType { sql_type, definition }))
    }
}

impl DataType {
    /// The type that values are stored as: that of a user-defined type, or itself.
    pub(crate) fn stored(&self) -> &DataType {
        match self {
            DataType::UserDefined(udt) => udt.sql_type.stored(),
            other => other,
        }
    }

    /// Whether it is a user-defined type, and data of another one are values of it: of what it is stored as, or of what Spark
    /// takes it for.
    pub(crate) fn takes(&self, data: &DataType) -> bool {
        let nullable = |data_type: DataType| {
            let field = StructField::new("", data_type, true);
            as_nullable(&StructType { fields: vec![field] })
        };
        matches!(self, DataType::UserDefined(_))
            && [self.for_spark(), self.stored().clone()].map(nullable).contains(&nullable(data.clone()))
    }

    /// The type as Spark may get it: no class that a table names but those of Spark itself is in it.
    pub fn for_spark(&self) -> DataType {
        match self {
            DataType::UserDefined(udt) => udt.for_spark(),
            DataType::Struct(s) => DataType::Struct(Box::new(s.for_spark())),
            DataType::Array(a) => DataType::Array(Box::new(ArrayType {
                element_type: a.element_type.for_spark(),
                contains_null: a.contains_null,
            })),
            DataType::Map(m) => DataType::Map(Box::new(MapType {
                key_type: m.key_type.for_spark(),
                value_type: m.value_type.for_spark(),
                value_contains_null: m.value_contains_null,
            })),
            other => other.clone(),
        }
    }
}

impl StructType {
    /// As [`DataType::for_spark`], for every column.
    #[must_use]
    pub fn for_spark(&self) -> StructType {
        let field = |f: &StructField| StructField { data_type: f.data_type.for_spark(), ..f.clone() };
        StructType { fields: self.fields.iter().map(field).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(data_type: &Value) -> StructType {
        let fields = json!([{"name": "v", "type": data_type, "nullable": true, "metadata": {}}]);
        StructType::from_json(&json!({"type": "struct", "fields": fields}).to_string()).unwrap()
    }

    fn udt(class: &str, sql_type: &Value) -> Value {
        json!({"type": "udt", "class": class, "pyClass": "evil.Class", "serializedClass": "gASV", "sqlType": sql_type})
    }

    #[test]
    fn the_log_keeps_a_definition_as_it_is() {
        let inner = json!({"type": "struct", "fields": [
            {"name": "type", "type": "byte", "nullable": false, "metadata": {}},
            {"name": "values", "type": {"type": "array", "elementType": "double", "containsNull": false}, "nullable": true, "metadata": {}}]});
        let vector = udt(OF_SPARK[0].0, &inner);
        for data_type in [
            vector.clone(),
            json!({"type": "array", "elementType": vector, "containsNull": true}),
            json!({"type": "map", "keyType": "string", "valueType": vector, "valueContainsNull": true}),
        ] {
            let schema = schema(&data_type);
            let text: Value = serde_json::from_str(&schema.to_json()).unwrap();
            assert_eq!(text["fields"][0]["type"], data_type);
        }
        assert_eq!(schema(&vector).fields[0].data_type.stored().name(), "struct");
    }

    #[test]
    fn spark_gets_no_class_but_its_own() {
        for (class, py_class) in OF_SPARK {
            let given = schema(&udt(class, &json!("double"))).for_spark().fields[0].data_type.to_json();
            assert_eq!(
                given,
                json!({"type": "udt", "class": class, "pyClass": py_class, "sqlType": "double"})
            );
        }
        let evil = udt(
            "javax.script.ScriptEngineManager",
            &json!({"type": "array", "elementType": "double", "containsNull": false}),
        );
        for data_type in [
            evil.clone(),
            json!({"type": "array", "elementType": evil, "containsNull": true}),
            json!({"type": "map", "keyType": evil, "valueType": evil, "valueContainsNull": true}),
            json!({"type": "struct", "fields": [{"name": "x", "type": evil, "nullable": true, "metadata": {}}]}),
            udt("org.example.Outer", &evil),
            udt(OF_SPARK[1].0, &evil),
        ] {
            let given = schema(&data_type).for_spark().to_json();
            assert!(!["javax", "evil", "gASV", "example"].iter().any(|part| given.contains(part)), "{given}");
        }
    }

    #[test]
    fn data_are_of_the_type_that_it_is_stored_as_or_that_spark_takes_it_for() {
        let list = |nulls: bool| json!({"type": "array", "elementType": "double", "containsNull": nulls});
        let of = |data_type: &Value| schema(data_type).fields.remove(0).data_type;
        let (own, other) = (of(&udt(OF_SPARK[0].0, &list(false))), of(&udt("a.B", &list(false))));
        assert!(other.takes(&of(&list(false))) && other.takes(&of(&list(true))));
        assert!(!other.takes(&of(&json!("double"))) && !of(&list(true)).takes(&of(&list(true))));
        assert!(own.takes(&of(&list(false))) && own.takes(&own.for_spark()));
        assert!(!own.takes(&other) && !other.takes(&own));
    }

    #[test]
    fn two_are_the_same_by_their_classes_and_their_storage() {
        let of = |class: &str, serialized: &str| {
            let mut value = udt(class, &json!("double"));
            value["serializedClass"] = json!(serialized);
            schema(&value)
        };
        assert_eq!(of("a.B", "x"), of("a.B", "y"));
        assert_ne!(of("a.B", "x"), of("a.C", "x"));
        assert_ne!(of("a.B", "x"), schema(&json!("double")));
    }
}
