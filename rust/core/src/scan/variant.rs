//! Variants that a writer shredded: values, or parts of them, in typed columns beside the binary rest.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, StructArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Fields};
use arrow::error::ArrowError;
use parquet_variant::{
    ObjectFieldBuilder, Variant, VariantBuilderExt, VariantDecimal4, VariantDecimal8, VariantMetadata,
};
use parquet_variant_compute::{VariantArray, VariantValueArrayBuilder, unshred_variant};

/// The same values in their binary form, whose parts are `fields`: `value` with what stood in typed columns put back, and
/// `metadata` as the file has it. Numbers take the fewest bytes, as they had before they were stored in typed columns.
///
/// # Errors
/// When the typed columns have types that no variant has, or bytes are no variant.
pub(super) fn unshredded(array: &ArrayRef, fields: &Fields) -> Result<ArrayRef, ArrowError> {
    let variants = unshred_variant(&VariantArray::try_new(array)?)?;
    let metadata = cast(variants.metadata_column(), &DataType::Binary)?;
    let values = cast(variants.value_column(), &DataType::Binary)?;
    let values = narrow_values(metadata.as_binary(), values.as_binary(), array)?;
    let parts = fields
        .iter()
        .map(|field| match field.name().as_str() {
            "metadata" => cast(&metadata, field.data_type()),
            "value" => cast(&values, field.data_type()),
            other => Err(ArrowError::SchemaError(format!("a shredded variant has no `{other}`"))),
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(StructArray::try_new(fields.clone(), parts, array.nulls().cloned())?))
}

/// The values with narrow numbers. Where the variant itself is null, the placeholder of its value is a variant, too.
fn narrow_values(
    metadata: &BinaryArray,
    values: &BinaryArray,
    variants: &ArrayRef,
) -> Result<ArrayRef, ArrowError> {
    let mut out = VariantValueArrayBuilder::new(values.len());
    for row in 0..values.len() {
        if variants.is_null(row) {
            out.append_value(Variant::Null);
            continue;
        }
        let names = VariantMetadata::try_new(metadata.value(row))?;
        let variant = Variant::try_new_with_metadata(names.clone(), values.value(row))?;
        append(&mut out.builder_ext(&names), variant)?;
    }
    Ok(Arc::new(out.build()?))
}

fn append(to: &mut impl VariantBuilderExt, value: Variant<'_, '_>) -> Result<(), ArrowError> {
    match value {
        Variant::Object(object) => {
            let mut fields = to.try_new_object()?;
            for field in object.iter_try() {
                let (name, value) = field?;
                append(&mut ObjectFieldBuilder::new(name, &mut fields), value)?;
            }
            fields.finish();
        }
        Variant::List(list) => {
            let mut items = to.try_new_list()?;
            for item in list.iter_try() {
                append(&mut items, item?)?;
            }
            items.finish();
        }
        plain => to.append_value(narrow(plain)),
    }
    Ok(())
}

/// A number in the fewest bytes that hold it.
fn narrow<'m, 'v>(value: Variant<'m, 'v>) -> Variant<'m, 'v> {
    let whole = |n: i64| {
        let small = i8::try_from(n).map(Variant::Int8).or_else(|_| i16::try_from(n).map(Variant::Int16));
        small.or_else(|_| i32::try_from(n).map(Variant::Int32)).unwrap_or(Variant::Int64(n))
    };
    let decimal = |digits: i128, scale: u8| {
        let four = i32::try_from(digits).ok().and_then(|n| VariantDecimal4::try_new(n, scale).ok());
        let eight = || i64::try_from(digits).ok().and_then(|n| VariantDecimal8::try_new(n, scale).ok());
        four.map(Variant::from).or_else(|| eight().map(Variant::from))
    };
    match &value {
        Variant::Int16(n) => whole(i64::from(*n)),
        Variant::Int32(n) => whole(i64::from(*n)),
        Variant::Int64(n) => whole(*n),
        Variant::Decimal8(d) => decimal(i128::from(d.integer()), d.scale()).unwrap_or(value),
        Variant::Decimal16(d) => decimal(d.integer(), d.scale()).unwrap_or(value),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{
        Array, ArrayRef, AsArray, BinaryArray, Int64Array, RecordBatch, StringArray, StructArray,
    };
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
    fn numbers_take_the_fewest_bytes_wherever_they_stand() {
        use parquet_variant::{Variant, VariantDecimal4, VariantDecimal16};
        let wide = VariantDecimal16::try_new(12_345, 2).unwrap();
        assert_eq!(super::narrow(wide.into()), VariantDecimal4::try_new(12_345, 2).unwrap().into());
        let wider = Variant::from(VariantDecimal16::try_new(i128::from(i64::MAX) * 10, 2).unwrap());
        assert_eq!(super::narrow(wider.clone()), wider);
        for (n, bytes) in [(5, 2), (-300, 3), (70_000, 5), (1_i64 << 40, 9)] {
            let parts = shredded(&[Some(&n.to_string())], &Arrow::Int64);
            let fields = Fields::from(vec![
                Field::new("metadata", Arrow::Binary, false),
                Field::new("value", Arrow::Binary, false),
            ]);
            let got = super::unshredded(&(Arc::new(parts) as ArrayRef), &fields).unwrap();
            assert_eq!(got.as_struct().column(1).as_binary::<i32>().value(0).len(), bytes, "{n}");
        }
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
