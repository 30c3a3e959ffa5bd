//! Arrays of peers by the Arrow C data interface, put right where arrow-rs takes it more strictly than others.
//!
//! An array of nulls without a type has no buffers. That of Polars has one, for validity, as the first version of the format
//! had it: Arrow's C++ reads it, arrow-rs refuses it.

use std::ffi::{c_char, c_int, c_void};

use arrow::datatypes::{DataType, Field};
use arrow::error::ArrowError;
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};

/// What an operating system calls a request that makes no sense.
const EINVAL: c_int = 22;

/// The structure `ArrowArray` of the interface, whose fields arrow-rs hides.
#[repr(C)]
struct CArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut CArray,
    dictionary: *mut CArray,
    release: Option<unsafe extern "C" fn(*mut CArray)>,
    private_data: *mut c_void,
}

/// The structure `ArrowArrayStream`.
#[repr(C)]
struct CStream {
    get_schema: Option<unsafe extern "C" fn(*mut CStream, *mut FFI_ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut CStream, *mut CArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut CStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut CStream)>,
    private_data: *mut c_void,
}

/// The stream of a peer, and the type of its batches once it was asked for.
struct Peer {
    stream: CStream,
    kind: Option<DataType>,
}

/// The batches of a stream, which is moved out; a released one is left.
///
/// # Errors
/// Those of the stream when it is asked for its schema.
///
/// # Safety
/// The pointer is to a valid stream.
pub(crate) unsafe fn batches(
    stream: *mut FFI_ArrowArrayStream,
) -> Result<RecordBatchStreamReader, ArrowError> {
    let given = stream.cast::<CStream>();
    // SAFETY: the caller's pointer is valid, and both are the structure of the interface
    let stream = unsafe { given.read() };
    if stream.release.is_none() {
        return Err(ArrowError::CDataInterface("the stream was read before".into()));
    }
    // SAFETY: as above; what was read is ours now
    unsafe { (*given).release = None };
    let peer = Box::new(Peer { stream, kind: None });
    let mut before = CStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release),
        private_data: Box::into_raw(peer).cast(),
    };
    // SAFETY: a valid stream, which is moved out
    unsafe { RecordBatchStreamReader::from_raw((&raw mut before).cast()) }
}

/// Puts an array right before arrow-rs takes it.
///
/// # Safety
/// The pointers are to a valid array and its valid schema.
pub(crate) unsafe fn put_right(array: *mut FFI_ArrowArray, schema: *const FFI_ArrowSchema) {
    // SAFETY: the caller's pointers are valid; a type that cannot be read is an error of whoever imports
    if let Ok(kind) = DataType::try_from(unsafe { &*schema }) {
        // SAFETY: both are the structure of the interface
        unsafe { without_buffers_of_nulls(array.cast(), &kind) };
    }
}

/// # Safety
/// The array is null, or valid and of this type.
unsafe fn without_buffers_of_nulls(array: *mut CArray, kind: &DataType) {
    // SAFETY: as the caller says
    let Some(array) = (unsafe { array.as_mut() }) else { return };
    let children: Vec<&DataType> = match kind {
        DataType::Null => {
            array.n_buffers = 0;
            return;
        }
        DataType::Struct(fields) => fields.iter().map(|field| field.data_type()).collect(),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => vec![field.data_type()],
        _ => return,
    };
    if array.children.is_null() {
        return;
    }
    for (at, child) in (0..array.n_children).zip(children) {
        // SAFETY: a valid array has as many children as it says
        unsafe { without_buffers_of_nulls(*array.children.offset(at as isize), child) };
    }
}

// SAFETY of the callbacks: whoever has a stream calls them with it, one at a time, and `release` once, at the end;
// `private_data` is the peer until then.

unsafe extern "C" fn get_schema(stream: *mut CStream, out: *mut FFI_ArrowSchema) -> c_int {
    let peer = unsafe { &mut *(*stream).private_data.cast::<Peer>() };
    let Some(get_schema) = peer.stream.get_schema else { return EINVAL };
    let code = unsafe { get_schema(&raw mut peer.stream, out) };
    if code == 0 {
        peer.kind = Field::try_from(unsafe { &*out }).ok().map(|field| field.data_type().clone());
    }
    code
}

unsafe extern "C" fn get_next(stream: *mut CStream, out: *mut CArray) -> c_int {
    let peer = unsafe { &mut *(*stream).private_data.cast::<Peer>() };
    let Some(get_next) = peer.stream.get_next else { return EINVAL };
    let code = unsafe { get_next(&raw mut peer.stream, out) };
    // a released array is the end of the stream
    if code == 0
        && unsafe { (*out).release.is_some() }
        && let Some(kind) = &peer.kind
    {
        unsafe { without_buffers_of_nulls(out, kind) };
    }
    code
}

unsafe extern "C" fn get_last_error(stream: *mut CStream) -> *const c_char {
    let peer = unsafe { &mut *(*stream).private_data.cast::<Peer>() };
    match peer.stream.get_last_error {
        Some(get_last_error) => unsafe { get_last_error(&raw mut peer.stream) },
        None => std::ptr::null(),
    }
}

unsafe extern "C" fn release(stream: *mut CStream) {
    let mut peer = unsafe { Box::from_raw((*stream).private_data.cast::<Peer>()) };
    if let Some(release) = peer.stream.release {
        unsafe { release(&raw mut peer.stream) };
    }
    unsafe { (*stream).release = None };
}
