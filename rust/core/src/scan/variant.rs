//! Variants that a writer shredded: values, or parts of them, in typed columns beside the binary rest.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StructArray};
use arrow::compute::cast;
use arrow::datatypes::Fields;
use arrow::error::ArrowError;
use parquet_variant_compute::{VariantArray, unshred_variant};

/// The same values in their binary form, whose parts are `fields`: `metadata` as the file has it, and `value` with what
/// stood in typed columns put back.
///
/// # Errors
/// When the typed columns have types that no variant has, or bytes are no variant.
pub(super) fn unshredded(array: &ArrayRef, fields: &Fields) -> Result<ArrayRef, ArrowError> {
    let variants = unshred_variant(&VariantArray::try_new(array)?)?;
    let parts = fields
        .iter()
        .map(|field| {
            let part = variants.inner().column_by_name(field.name()).ok_or_else(|| {
                ArrowError::SchemaError(format!("a shredded variant has no `{}`", field.name()))
            })?;
            cast(part, field.data_type())
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(StructArray::try_new(fields.clone(), parts, array.nulls().cloned())?))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, AsArray, BinaryArray, Int64Array, RecordBatch, StringArray, StructArray};
    use arrow::buffer::NullBuffer;
    use arrow::datatypes::{DataType as Arrow, Field, Fields, Schema};
    use parquet_variant_compute::{VariantArray, json_to_variant, shred_variant, variant_to_json};

    use crate::error::{Error, Result};
    use crate::scan::ReadRequest;
    use crate::scan::testing::{Folder, field, read_all, schema};
    use crate::schema::ColumnMappingMode;

    /// What a table with one variant column reads from a file that holds `array`, as JSON.
    fn read(array: StructArray) -> Result<Vec<Option<String>>> {
        let file = RecordBatch::try_new(
            Arc::new(Schema::new(vec![Field::new("v", array.data_type().clone(), true)])),
            vec![Arc::new(array)],
        )
        .unwrap();
        let folder = Folder::new();
        let add = folder.parquet("f.parquet", &file, 2);
        let table = schema(&field("v", r#""variant""#));
        let got = read_all(
            &folder.scan_mapped(&table, &[], ColumnMappingMode::None, ReadRequest::default()),
            &add,
        )?;
        // casting wants what the crate of variants writes
        let parts = got.column(0).as_struct();
        let variants = VariantArray::try_new(parts).unwrap();
        assert!(variants.typed_value_column().is_none());
        let json = variant_to_json(&(Arc::new(variants.into_inner()) as ArrayRef)).unwrap();
        Ok(json.iter().map(|v| v.map(str::to_owned)).collect())
    }

    fn shredded(json: &[Option<&str>], as_type: &Arrow) -> StructArray {
        let text: ArrayRef = Arc::new(StringArray::from(json.to_vec()));
        let array = shred_variant(&json_to_variant(&text).unwrap(), as_type).unwrap();
        assert!(array.typed_value_column().is_some());
        let (fields, columns, nulls) = array.into_inner().into_parts();
        // files hold plain binary, and no views
        let columns = columns
            .iter()
            .map(|c| match c.data_type() {
                Arrow::BinaryView => arrow::compute::cast(c, &Arrow::Binary).unwrap(),
                _ => c.clone(),
            })
            .collect::<Vec<_>>();
        let fields: Fields = fields
            .iter()
            .zip(&columns)
            .map(|(f, c)| Arc::new(f.as_ref().clone().with_data_type(c.data_type().clone())))
            .collect();
        StructArray::new(fields, columns, nulls)
    }

    #[test]
    fn typed_values_and_the_rest_come_back_as_one() {
        let json = [Some("1"), Some("\"a\""), None, Some("null"), Some("[1,2]")];
        let got = read(shredded(&json, &Arrow::Int64)).unwrap();
        assert_eq!(got.iter().map(Option::as_deref).collect::<Vec<_>>(), json);
    }

    #[test]
    fn fields_of_objects_come_back_to_their_place() {
        let object = Arrow::Struct(Fields::from(vec![
            Field::new("a", Arrow::Int64, true),
            Field::new("b", Arrow::Utf8, true),
        ]));
        let json = [
            Some(r#"{"a":1,"b":"x","c":[true]}"#),
            Some(r#"{"a":"text"}"#),
            Some("{}"),
            None,
            Some("7"),
            Some(r#"{"b":null,"z":{"a":1}}"#),
        ];
        let got = read(shredded(&json, &object)).unwrap();
        assert_eq!(got.iter().map(Option::as_deref).collect::<Vec<_>>(), json);
    }

    #[test]
    fn the_binary_rest_may_be_missing() {
        let parts = StructArray::new(
            Fields::from(vec![
                Field::new("metadata", Arrow::Binary, false),
                Field::new("typed_value", Arrow::Int64, true),
            ]),
            vec![
                Arc::new(BinaryArray::from_vec(vec![&[1, 0, 0], &[1, 0, 0], &[]])) as ArrayRef,
                Arc::new(Int64Array::from(vec![Some(5), None, None])),
            ],
            Some(NullBuffer::from(vec![true, true, false])),
        );
        assert_eq!(read(parts).unwrap(), [Some("5".to_owned()), Some("null".to_owned()), None]);
    }

    #[test]
    fn bytes_that_are_no_variant_are_an_error() {
        let file = |metadata: &[u8], value: &[u8]| {
            StructArray::new(
                Fields::from(vec![
                    Field::new("metadata", Arrow::Binary, false),
                    Field::new("value", Arrow::Binary, true),
                    Field::new("typed_value", Arrow::Int64, true),
                ]),
                vec![
                    Arc::new(BinaryArray::from_vec(vec![metadata])) as ArrayRef,
                    Arc::new(BinaryArray::from_vec(vec![value])),
                    Arc::new(Int64Array::from(vec![None])),
                ],
                None,
            )
        };
        for (metadata, value) in
            [(&[9u8, 9, 9][..], &[0u8][..]), (&[], &[0]), (&[1, 0, 0], &[2, 200, 1]), (&[1, 0, 0], &[])]
        {
            assert!(
                matches!(read(file(metadata, value)), Err(Error::DataFile { .. })),
                "{metadata:?} {value:?}"
            );
        }
    }

    #[test]
    fn a_type_that_no_variant_has_is_an_error() {
        let parts = StructArray::new(
            Fields::from(vec![
                Field::new("metadata", Arrow::Binary, false),
                Field::new("typed_value", Arrow::UInt32, true),
            ]),
            vec![
                Arc::new(BinaryArray::from_vec(vec![&[1, 0, 0]])) as ArrayRef,
                Arc::new(arrow::array::UInt32Array::from(vec![1])),
            ],
            None,
        );
        assert!(matches!(read(parts), Err(Error::DataFile { .. })));
    }
}
