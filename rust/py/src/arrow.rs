//! Arrow data and schemas in and out, as PyCapsules of the Arrow C data interface. Nothing is copied.

use std::borrow::Cow;
use std::ffi::CStr;

use arrow::array::{
    ArrayData, RecordBatch, RecordBatchIterator, RecordBatchOptions, RecordBatchReader, StructArray,
    make_array,
};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow::ffi_stream::FFI_ArrowArrayStream;
use deltaic_core::schema::from_arrow;
use deltaic_core::{Error, caught};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::c_data;
use crate::errors::to_python;
use crate::runtime::{interrupted, released};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// The capsule of `__arrow_c_schema__`.
pub(crate) fn schema_capsule<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let ffi = FFI_ArrowSchema::try_from(schema)
        .map_err(|e| to_python(py, &Error::arrow("schema as an Arrow C structure", e)))?;
    PyCapsule::new_with_value(py, ffi, SCHEMA)
}

/// The capsule of `__arrow_c_stream__`. A peer that pulls batches on the main thread is stopped by Ctrl-C.
pub(crate) fn stream_capsule<'py>(
    py: Python<'py>,
    schema: SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'static,
) -> PyResult<Bound<'py, PyCapsule>> {
    let mut batches = batches;
    let mut over = false;
    let stopping = std::iter::from_fn(move || {
        if interrupted() {
            return Some(Err(stream_error(Error::Interrupted)));
        }
        // a panic must not reach the peer, whose code is not Rust; what it left is not asked again
        let mut pulled = || released(|| if over { None } else { batches.next() }).flatten();
        let next = caught(|| "read of a stream".into(), || Ok(pulled()));
        over = next.is_err();
        next.unwrap_or_else(|error| Some(Err(stream_error(error))))
    });
    let reader = RecordBatchIterator::new(stopping, schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
}

/// An error of the core on its way through an Arrow stream, where only text arrives.
pub(crate) fn stream_error(error: Error) -> ArrowError {
    ArrowError::ExternalError(Box::new(error))
}

/// The batches of anything with `__arrow_c_stream__` or `__arrow_c_array__`.
///
/// # Errors
/// `InvalidArgumentError` when the object has neither, or gives something that is no table.
pub(crate) fn import(data: &Bound<'_, PyAny>) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    let batches = if data.hasattr("__arrow_c_stream__")? {
        stream(data)?
    } else if data.hasattr("__arrow_c_array__")? {
        array(data)?
    } else {
        let reason = format!(
            "a {} is no Arrow data: it has neither `__arrow_c_stream__` nor `__arrow_c_array__`",
            data.get_type().name()?
        );
        return Err(to_python(data.py(), &Error::InvalidArgument { argument: "data".into(), reason }));
    };
    let schema = batches.schema();
    let batches = batches.map(|batch| batch.and_then(|batch| with_offsets_of_empty_arrays(&batch)));
    Ok(Box::new(RecordBatchIterator::new(batches, schema)))
}

/// The same rows, where an array without values has offsets of its own.
///
/// Peers leave them out: pyarrow then exports a pointer to memory of something else, of which arrow-rs takes a number
/// for the first offset, and slices of that array are out of range. Columns of empty lists and maps have such arrays.
fn with_offsets_of_empty_arrays(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().map(|column| match offsets_made(&column.to_data()) {
        Cow::Borrowed(_) => column.clone(),
        Cow::Owned(data) => make_array(data),
    });
    let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(batch.schema(), columns.collect(), &rows)
}

fn offsets_made(data: &ArrayData) -> Cow<'_, ArrayData> {
    if data.is_empty() {
        return Cow::Owned(ArrayData::new_empty(data.data_type()));
    }
    let children: Vec<_> = data.child_data().iter().map(offsets_made).collect();
    if children.iter().all(|child| matches!(child, Cow::Borrowed(_))) {
        return Cow::Borrowed(data);
    }
    let children = children.into_iter().map(Cow::into_owned).collect();
    // SAFETY: the children are of the same types and lengths, with the same values
    Cow::Owned(unsafe { data.clone().into_builder().child_data(children).build_unchecked() })
}

/// The schema of anything with `__arrow_c_schema__`, in the form of the protocol.
///
/// # Errors
/// `InvalidSchemaError` for a column that Delta has no type for.
#[pyfunction]
pub(crate) fn arrow_schema_json(py: Python<'_>, schema: &Bound<'_, PyAny>) -> PyResult<String> {
    let capsule = schema.call_method0("__arrow_c_schema__")?.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(SCHEMA))?.as_ptr().cast::<FFI_ArrowSchema>();
    // SAFETY: a capsule of this name holds a schema by the Arrow PyCapsule interface, and it outlives this borrow
    let schema = Schema::try_from(unsafe { &*pointer });
    let refused = |e| Error::InvalidArgument { argument: "schema".into(), reason: format!("{e}") };
    let columns = schema.map_err(|e: ArrowError| refused(e)).and_then(|schema| from_arrow(&schema));
    columns.map(|columns| columns.to_json()).map_err(|e| to_python(py, &e))
}

fn stream(data: &Bound<'_, PyAny>) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    let capsule = data.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.as_ptr().cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds a stream by the Arrow PyCapsule interface; it is moved out, and the capsule
    // is left with a released one
    let reader = unsafe { c_data::batches(pointer) };
    Ok(Box::new(reader.map_err(|e| not_a_table(data.py(), &e))?))
}

fn array(data: &Bound<'_, PyAny>) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    let pair = data.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
    let schema = pair.get_item(0)?.cast_into::<PyCapsule>()?;
    let array = pair.get_item(1)?.cast_into::<PyCapsule>()?;
    let schema = schema.pointer_checked(Some(SCHEMA))?.as_ptr().cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(ARRAY))?.as_ptr().cast::<FFI_ArrowArray>();
    // SAFETY: capsules of these names hold these structures by the Arrow PyCapsule interface; the array is moved out,
    // and its capsule is left with a released one
    let imported = unsafe {
        c_data::put_right(array, schema);
        from_ffi(FFI_ArrowArray::from_raw(array), &*schema)
    };
    let imported = imported.map_err(|e| not_a_table(data.py(), &e))?;
    if imported.null_count() > 0 || !matches!(imported.data_type(), arrow::datatypes::DataType::Struct(_)) {
        let error = ArrowError::SchemaError(format!("an array of {} is no table", imported.data_type()));
        return Err(not_a_table(data.py(), &error));
    }
    let batch = RecordBatch::from(StructArray::from(imported));
    let schema = batch.schema();
    Ok(Box::new(RecordBatchIterator::new([Ok(batch)], schema)))
}

fn not_a_table(py: Python<'_>, error: &ArrowError) -> PyErr {
    to_python(py, &Error::InvalidArgument { argument: "data".into(), reason: error.to_string() })
}
