//! Rows as data files hold them: without what is void (PROTOCOL.md, "Void Type").

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions, StructArray};
use arrow::datatypes::{DataType as Arrow, Field, FieldRef, Fields, Schema};
use arrow::error::ArrowError;

use crate::error::{Error, Result};

/// The rows without void columns, and without the void fields of structs. Rows that have none are handed back as they are.
///
/// # Errors
/// [`Error::Arrow`] where the rows contradict themselves.
pub(super) fn stored(rows: &RecordBatch) -> Result<Cow<'_, RecordBatch>> {
    let schema = rows.schema_ref();
    if !schema.fields().iter().any(|f| has_void(f.data_type())) {
        return Ok(Cow::Borrowed(rows));
    }
    let build = || {
        let (fields, columns) = without_void(schema.fields(), rows.columns())?;
        let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        RecordBatch::try_new_with_options(Arc::new(schema), columns, &options)
    };
    build().map(Cow::Owned).map_err(|e| Error::arrow("rows without void columns", e))
}

fn has_void(data_type: &Arrow) -> bool {
    match data_type {
        Arrow::Null => true,
        Arrow::Struct(fields) => fields.iter().any(|f| has_void(f.data_type())),
        _ => false,
    }
}

fn without_void(
    fields: &Fields,
    columns: &[ArrayRef],
) -> std::result::Result<(Fields, Vec<ArrayRef>), ArrowError> {
    let kept = fields.iter().zip(columns).filter(|(f, _)| f.data_type() != &Arrow::Null);
    let kept = kept.map(|(field, column)| inside(field, column));
    let (fields, columns): (Vec<_>, Vec<_>) =
        kept.collect::<std::result::Result<Vec<_>, _>>()?.into_iter().unzip();
    Ok((fields.into(), columns))
}

fn inside(field: &FieldRef, column: &ArrayRef) -> std::result::Result<(FieldRef, ArrayRef), ArrowError> {
    let Some(array) = column.as_struct_opt().filter(|_| has_void(field.data_type())) else {
        return Ok((field.clone(), column.clone()));
    };
    let (fields, columns) = without_void(array.fields(), array.columns())?;
    let array =
        StructArray::try_new_with_length(fields.clone(), columns, array.nulls().cloned(), array.len())?;
    let field = Field::clone(field).with_data_type(Arrow::Struct(fields));
    Ok((Arc::new(field), Arc::new(array)))
}

#[cfg(test)]
mod tests {
    use arrow::array::{Int64Array, NullArray};
    use arrow::buffer::NullBuffer;

    use super::*;

    #[test]
    fn void_columns_and_fields_are_left_out_and_null_structs_stay_null() {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        let nulls: ArrayRef = Arc::new(NullArray::new(2));
        let field = |name: &str, data_type: &Arrow| Arc::new(Field::new(name, data_type.clone(), true));
        let within: Fields = vec![field("n", &Arrow::Null), field("x", &Arrow::Int64)].into();
        let of = NullBuffer::from(vec![true, false]);
        let inner = StructArray::new(within, vec![nulls.clone(), numbers.clone()], Some(of));
        let batch = |fields: Vec<FieldRef>, columns| {
            RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
        };
        let rows = batch(
            vec![field("v", &Arrow::Null), field("a", &Arrow::Int64), field("s", inner.data_type())],
            vec![nulls, numbers.clone(), Arc::new(inner)],
        );
        let found = stored(&rows).unwrap();
        let names: Vec<_> = found.schema_ref().fields().iter().map(|f| f.name().clone()).collect();
        assert_eq!(names, ["a", "s"]);
        let inner = found.column(1).as_struct();
        assert_eq!((inner.column_names(), inner.is_null(0), inner.is_null(1)), (vec!["x"], false, true));
        // nothing is copied where nothing is void
        let plain = batch(vec![field("a", &Arrow::Int64)], vec![numbers]);
        assert!(matches!(stored(&plain).unwrap(), Cow::Borrowed(_)));
    }
}
