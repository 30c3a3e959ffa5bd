//! Deletion vectors: the rows of a data file that are deleted (PROTOCOL.md, "Deletion Vector Format").

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use roaring::RoaringTreemap;
use uuid::Uuid;

use crate::actions::{Add, DeletionVectorDescriptor, DvStorage, FilePath, ObjectPath};
use crate::error::{Error, Result, condition};
use crate::store::Location;

/// First four bytes of a serialized vector, little endian.
const MAGIC: u32 = 1_681_511_377;
/// First byte of a deletion-vector file.
const FILE_VERSION: u8 = 1;
/// A UUID in base85.
const UUID_CHARS: usize = 20;
/// Size before, checksum after the data in a file.
const FRAME: u64 = 8;

/// The deleted rows of one data file, by their position in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeletionVector {
    rows: RoaringTreemap,
}

fn invalid(at: &str, reason: impl Into<String>) -> Error {
    Error::DeletionVector { path: at.to_owned(), reason: reason.into() }
}

impl DeletionVector {
    /// The vector that a descriptor names. `root` is the table's.
    ///
    /// # Errors
    /// [`Error::DeletionVector`] when it is missing, torn, or is not what the descriptor says: size, checksum, magic
    /// number and number of rows are all compared. It is never taken for "nothing deleted".
    pub fn load(descriptor: &DeletionVectorDescriptor, location: &Location) -> Result<Self> {
        match Place::of(descriptor, location.root())? {
            Place::Inline => Self::inline(descriptor),
            Place::File(path, range) => {
                let got = fetch(location, &path, std::slice::from_ref(&range))?;
                Self::framed(descriptor, &path, got.first().map(Bytes::as_ref).unwrap_or_default())
            }
        }
    }

    /// The deleted rows.
    pub fn rows(&self) -> &RoaringTreemap {
        &self.rows
    }

    /// Number of deleted rows.
    pub fn cardinality(&self) -> u64 {
        self.rows.len()
    }

    /// The deleted rows of `range` as ascending ranges.
    ///
    /// # Cost
    /// As many ranges as the vector has runs: no memory by the numbers of rows, which a file may make up.
    pub(crate) fn runs(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let last = range.end;
        self.rows.bitmaps().flat_map(move |(high, bitmap)| {
            let (begin, first) = (range.start, u64::from(high) << 32);
            let mut rows = bitmap.iter();
            rows.advance_to(u32::try_from(begin.saturating_sub(first)).unwrap_or(u32::MAX));
            std::iter::from_fn(move || rows.next_range())
                .map(move |run| (first + u64::from(*run.start()), first + u64::from(*run.end())))
                .map(move |(from, to)| from.max(begin)..to.saturating_add(1).min(last))
                .take_while(move |run| run.start < run.end)
        })
    }

    /// The serialized form: what an inline vector encodes and a file frames.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(4 + self.rows.serialized_size());
        bytes.extend_from_slice(&MAGIC.to_le_bytes());
        // writing to memory does not fail
        let _ = self.rows.serialize_into(&mut bytes);
        bytes
    }

    /// A descriptor that holds the vector itself.
    pub fn to_inline(&self) -> DeletionVectorDescriptor {
        let mut bytes = self.to_bytes();
        let size_in_bytes = bytes.len() as i32;
        // base85 encodes four bytes at a time; the size shows the padding
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        DeletionVectorDescriptor {
            storage_type: DvStorage::Inline,
            path_or_inline_dv: z85::encode(&bytes),
            offset: None,
            size_in_bytes,
            cardinality: self.rows.len() as i64,
        }
    }

    /// Reads the serialized form; `at` is for the error.
    fn from_bytes(bytes: &[u8], at: &str) -> Result<Self> {
        let (magic, mut bitmap) =
            bytes.split_first_chunk::<4>().ok_or_else(|| invalid(at, "shorter than its magic number"))?;
        let magic = u32::from_le_bytes(*magic);
        if magic != MAGIC {
            return Err(invalid(at, format!("magic number {magic}, not {MAGIC}: an unknown format")));
        }
        let rows = RoaringTreemap::deserialize_from(&mut bitmap)
            .map_err(|e| invalid(at, format!("the bitmap is damaged: {e}")))?;
        if !bitmap.is_empty() {
            return Err(invalid(at, format!("{} bytes follow the bitmap", bitmap.len())));
        }
        Ok(DeletionVector { rows })
    }

    fn inline(descriptor: &DeletionVectorDescriptor) -> Result<Self> {
        let at = "inline";
        let mut bytes = z85::decode(&descriptor.path_or_inline_dv)
            .map_err(|e| invalid(at, format!("not base85 (Z85): {e}")))?;
        let size = size_of(descriptor, at)?;
        if bytes.len() < size || bytes.len() >= size + 4 {
            return Err(invalid(at, format!("{} bytes, but sizeInBytes is {size}", bytes.len())));
        }
        bytes.truncate(size);
        Self::from_bytes(&bytes, at)?.of_cardinality(descriptor, at)
    }

    /// Reads size, data and checksum as a file has them. A log may name any file: no error repeats what is in it, or how
    /// large it is.
    fn framed(descriptor: &DeletionVectorDescriptor, path: &ObjectPath, frame: &[u8]) -> Result<Self> {
        let at = format!("{path} at offset {}", descriptor.offset.unwrap_or(0));
        let size = size_of(descriptor, &at)?;
        let torn = || invalid(&at, format!("torn: it has fewer than {} bytes", size as u64 + FRAME));
        let (written, rest) = frame.split_first_chunk::<4>().ok_or_else(torn)?;
        let written = u32::from_be_bytes(*written);
        if written as usize != size {
            return Err(invalid(&at, format!("sizeInBytes is {size}, the file states another size"))
                .of_condition(&condition::DELETION_VECTOR_SIZE_MISMATCH));
        }
        let (data, crc) = rest.split_at_checked(size).ok_or_else(torn)?;
        let crc = u32::from_be_bytes(*crc.first_chunk::<4>().ok_or_else(torn)?);
        if crc != crc32fast::hash(data) {
            return Err(invalid(&at, "the checksum does not match the bytes")
                .of_condition(&condition::DELETION_VECTOR_CHECKSUM_MISMATCH));
        }
        Self::from_bytes(data, &at)?.of_cardinality(descriptor, &at)
    }

    fn of_cardinality(self, descriptor: &DeletionVectorDescriptor, at: &str) -> Result<Self> {
        if i64::try_from(self.rows.len()) != Ok(descriptor.cardinality) {
            let found = self.rows.len();
            return Err(invalid(
                at,
                format!("{found} rows, but its cardinality is {}", descriptor.cardinality),
            ));
        }
        Ok(self)
    }
}

impl FromIterator<u64> for DeletionVector {
    fn from_iter<I: IntoIterator<Item = u64>>(rows: I) -> Self {
        DeletionVector { rows: rows.into_iter().collect() }
    }
}

impl From<RoaringTreemap> for DeletionVector {
    fn from(rows: RoaringTreemap) -> Self {
        DeletionVector { rows }
    }
}

/// The body of a deletion-vector file that holds `vectors`, and the descriptor of each. `id` names the file, in the
/// table root or below `prefix`, a folder of random letters.
///
/// # Errors
/// [`Error::InvalidArgument`] when the file would be larger than its 32-bit offsets allow.
pub fn write_file(
    vectors: &[DeletionVector],
    prefix: &str,
    id: Uuid,
) -> Result<(Bytes, Vec<DeletionVectorDescriptor>)> {
    let too_large = |_| Error::InvalidArgument {
        argument: "deletion vectors".into(),
        reason: "more than 2 GiB in one file: write several".into(),
    };
    let mut body = vec![FILE_VERSION];
    let name = format!("{prefix}{}", z85::encode(id.as_bytes()));
    let descriptors = vectors
        .iter()
        .map(|vector| {
            let data = vector.to_bytes();
            let descriptor = DeletionVectorDescriptor {
                storage_type: DvStorage::UuidFile,
                path_or_inline_dv: name.clone(),
                offset: Some(i32::try_from(body.len()).map_err(too_large)?),
                size_in_bytes: i32::try_from(data.len()).map_err(too_large)?,
                cardinality: vector.rows.len() as i64,
            };
            body.extend_from_slice(&(data.len() as u32).to_be_bytes());
            body.extend_from_slice(&data);
            body.extend_from_slice(&crc32fast::hash(&data).to_be_bytes());
            Ok(descriptor)
        })
        .collect::<Result<_>>()?;
    Ok((body.into(), descriptors))
}

/// The file of a descriptor; none for an inline vector.
///
/// # Errors
/// [`Error::DeletionVector`] when the name cannot be decoded.
pub fn file_path(descriptor: &DeletionVectorDescriptor, root: &ObjectPath) -> Result<Option<ObjectPath>> {
    let written = &descriptor.path_or_inline_dv;
    match descriptor.storage_type {
        DvStorage::Inline => Ok(None),
        DvStorage::AbsolutePath => FilePath::from_log(written.as_str()).resolve(root).map(Some),
        DvStorage::UuidFile => {
            let named = || invalid(written, "not a prefix and a UUID in base85");
            let split = written.len().checked_sub(UUID_CHARS).ok_or_else(named)?;
            let (prefix, id) = written.split_at_checked(split).ok_or_else(named)?;
            let id = z85::decode(id).ok().and_then(|b| Uuid::from_slice(&b).ok()).ok_or_else(named)?;
            let name = format!("deletion_vector_{id}.bin");
            Ok(Some(if prefix.is_empty() {
                root.join(&name)
            } else {
                root.join(&format!("{prefix}/{name}"))
            }))
        }
    }
}

enum Place {
    Inline,
    File(ObjectPath, Range<u64>),
}

impl Place {
    fn of(descriptor: &DeletionVectorDescriptor, root: &ObjectPath) -> Result<Self> {
        let Some(path) = file_path(descriptor, root)? else { return Ok(Place::Inline) };
        let at = path.to_string();
        let offset = descriptor.offset.unwrap_or(0);
        let offset =
            u64::try_from(offset).map_err(|_| invalid(&at, format!("offset {offset} is negative")))?;
        let end = offset + size_of(descriptor, &at)? as u64 + FRAME;
        Ok(Place::File(path, offset..end))
    }
}

fn size_of(descriptor: &DeletionVectorDescriptor, at: &str) -> Result<usize> {
    let size = descriptor.size_in_bytes;
    usize::try_from(size).map_err(|_| invalid(at, format!("sizeInBytes {size} is negative")))
}

/// Reads ranges of a deletion-vector file; a missing file is reported as such.
fn fetch(location: &Location, path: &ObjectPath, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
    let store = location.store_for(path)?;
    let missing = || invalid(&path.to_string(), "the file does not exist, but the log refers to it");
    store.get_ranges(path, ranges).map_err(|error| match error {
        Error::NotFound { .. } => missing(),
        // stores report a range after the end of a torn file in different ways
        Error::Storage { .. } => match (store.head(path), ranges.iter().map(|r| r.end).max()) {
            (Ok(meta), Some(end)) if meta.size < end => {
                invalid(&path.to_string(), format!("torn: it ends before byte {end}, where the vector does"))
            }
            (Err(Error::NotFound { .. }), _) => missing(),
            _ => error,
        },
        other => other,
    })
}

/// The deletion vectors of a batch of files. One file often holds the vectors of many: all that this batch needs of
/// it come with one request, when the first of them is asked for, and each is dropped once taken.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    files: HashMap<ObjectPath, Mutex<Fetched>>,
}

#[derive(Debug)]
enum Fetched {
    Wanted(Vec<Range<u64>>),
    Here(HashMap<Range<u64>, Bytes>),
}

impl Shared {
    /// Collects what the files of a batch will need. Nothing is read.
    pub(crate) fn of(adds: &[Add], root: &ObjectPath) -> Self {
        Self::of_descriptors(adds.iter().filter_map(|a| a.deletion_vector.as_ref()), root)
    }

    /// [`Shared::of`] for descriptors alone.
    pub(crate) fn of_descriptors<'a>(
        descriptors: impl Iterator<Item = &'a DeletionVectorDescriptor>,
        root: &ObjectPath,
    ) -> Self {
        let mut files: HashMap<ObjectPath, Vec<Range<u64>>> = HashMap::new();
        for descriptor in descriptors {
            // a descriptor that makes no sense is reported by the file that has it
            if let Ok(Place::File(path, range)) = Place::of(descriptor, root) {
                files.entry(path).or_default().push(range);
            }
        }
        files.retain(|_, ranges| ranges.len() > 1);
        let files =
            files.into_iter().map(|(path, ranges)| (path, Mutex::new(Fetched::Wanted(ranges)))).collect();
        Shared { files }
    }

    /// [`DeletionVector::load`] that shares requests with the other files of the batch.
    pub(crate) fn load(
        &self,
        descriptor: &DeletionVectorDescriptor,
        location: &Location,
    ) -> Result<DeletionVector> {
        let Place::File(path, range) = Place::of(descriptor, location.root())? else {
            return DeletionVector::inline(descriptor);
        };
        let Some(file) = self.files.get(&path) else { return DeletionVector::load(descriptor, location) };
        let frame = {
            let mut fetched = file.lock().unwrap_or_else(PoisonError::into_inner);
            if let Fetched::Wanted(ranges) = &mut *fetched {
                ranges.sort_unstable_by_key(|r| (r.start, r.end));
                ranges.dedup();
                let bytes = fetch(location, &path, ranges)?;
                *fetched = Fetched::Here(ranges.iter().cloned().zip(bytes).collect());
            }
            match &mut *fetched {
                Fetched::Here(frames) => frames.remove(&range),
                Fetched::Wanted(_) => None,
            }
        };
        match frame {
            Some(frame) => DeletionVector::framed(descriptor, &path, &frame),
            // two files with one vector
            None => DeletionVector::load(descriptor, location),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::testing::Folder;

    fn location() -> Location {
        Folder::new().location
    }

    fn rows(vector: &DeletionVector) -> Vec<u64> {
        vector.rows.iter().collect()
    }

    fn reason(result: Result<DeletionVector>) -> String {
        match result {
            Err(error) => match error.plain() {
                Error::DeletionVector { reason, .. } => reason.clone(),
                other => format!("{other:?}"),
            },
            Ok(vector) => format!("{vector:?}"),
        }
    }

    /// The rows of PROTOCOL.md, "JSON Example 3 — Inline", in the format that its text describes. The example itself
    /// has an older magic number.
    fn example() -> DeletionVectorDescriptor {
        DeletionVectorDescriptor {
            storage_type: DvStorage::Inline,
            path_or_inline_dv: "^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L".into(),
            offset: None,
            size_in_bytes: 44,
            cardinality: 6,
        }
    }

    #[test]
    fn the_inline_vector_of_the_protocol_is_read() {
        assert_eq!(rows(&DeletionVector::load(&example(), &location()).unwrap()), [3, 4, 7, 11, 18, 29]);
    }

    #[test]
    fn the_file_names_of_the_protocol_are_derived() {
        let root = ObjectPath::new("s3://mytable", "");
        let descriptor = DeletionVectorDescriptor {
            storage_type: DvStorage::UuidFile,
            path_or_inline_dv: "ab^-aqEH.-t@S}K{vb[*k^".into(),
            offset: Some(4),
            ..example()
        };
        let path = file_path(&descriptor, &root).unwrap().unwrap();
        assert_eq!(
            path.to_string(),
            "s3://mytable/ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"
        );
        let plain = DeletionVectorDescriptor {
            path_or_inline_dv: "^-aqEH.-t@S}K{vb[*k^".into(),
            ..descriptor.clone()
        };
        let path = file_path(&plain, &root).unwrap().unwrap();
        assert_eq!(path.to_string(), "s3://mytable/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin");
        let absolute = DeletionVectorDescriptor {
            storage_type: DvStorage::AbsolutePath,
            path_or_inline_dv: "s3://other/a%20b.bin".into(),
            ..descriptor.clone()
        };
        assert_eq!(file_path(&absolute, &root).unwrap().unwrap().to_string(), "s3://other/a b.bin");
        let short = DeletionVectorDescriptor { path_or_inline_dv: "abc".into(), ..descriptor };
        assert_eq!(file_path(&short, &root).unwrap_err().kind(), "DeletionVector");
    }

    #[test]
    fn an_inline_vector_survives_a_round_trip_with_large_positions() {
        let vector: DeletionVector =
            [0, 65_535, 65_536, 1 << 31, (1 << 32) + 5, (1 << 40) - 1].into_iter().collect();
        assert_eq!(DeletionVector::load(&vector.to_inline(), &location()).unwrap(), vector);
        let empty = DeletionVector::default();
        assert_eq!(DeletionVector::load(&empty.to_inline(), &location()).unwrap(), empty);
    }

    #[test]
    fn vectors_share_a_file_and_a_request() {
        let folder = Folder::new();
        let vectors: Vec<DeletionVector> = (0..4_u64).map(|i| (0..1000 * i).step_by(3).collect()).collect();
        let id = Uuid::from_u128(0xd2c6_39aa_8816_431a_aaf6_d3fe_2512_ff61);
        let (body, descriptors) = write_file(&vectors, "", id).unwrap();
        folder.put(&format!("deletion_vector_{id}.bin"), &body);
        let adds: Vec<Add> = descriptors
            .iter()
            .chain(descriptors.last())
            .map(|d| Add { deletion_vector: Some(d.clone()), ..Add::default() })
            .collect();
        let shared = Shared::of(&adds, folder.location.root());
        for (vector, descriptor) in
            vectors.iter().chain(vectors.last()).zip(adds.iter().flat_map(|a| &a.deletion_vector))
        {
            assert_eq!(&DeletionVector::load(descriptor, &folder.location).unwrap(), vector);
            assert_eq!(&shared.load(descriptor, &folder.location).unwrap(), vector);
        }
    }

    #[test]
    fn t33_whatever_does_not_fit_is_an_error() {
        let folder = Folder::new();
        let vector: DeletionVector = [1, 5, 9].into_iter().collect();
        let id = Uuid::from_u128(1);
        let (body, descriptors) = write_file(std::slice::from_ref(&vector), "", id).unwrap();
        let good = &descriptors[0];
        let name = format!("deletion_vector_{id}.bin");
        let load = |d: &DeletionVectorDescriptor| reason(DeletionVector::load(d, &folder.location));
        assert_eq!(load(good), "the file does not exist, but the log refers to it");
        folder.put(&name, &body);
        assert_eq!(DeletionVector::load(good, &folder.location).unwrap(), vector);

        let sized = DeletionVectorDescriptor { size_in_bytes: good.size_in_bytes - 1, ..good.clone() };
        assert!(load(&sized).contains("sizeInBytes is"), "{}", load(&sized));
        let counted = DeletionVectorDescriptor { cardinality: 4, ..good.clone() };
        assert_eq!(load(&counted), "3 rows, but its cardinality is 4");
        let negative = DeletionVectorDescriptor { offset: Some(-1), ..good.clone() };
        assert_eq!(load(&negative), "offset -1 is negative");
        let moved = DeletionVectorDescriptor { offset: Some(2), ..good.clone() };
        assert!(!load(&moved).starts_with("Ok"), "{}", load(&moved));

        let mut flipped = body.to_vec();
        let last = flipped.len() - 6;
        flipped[last] ^= 1;
        folder.put(&name, &flipped);
        assert!(load(good).starts_with("the checksum "), "{}", load(good));
        folder.put(&name, &body[..body.len() - 1]);
        assert!(load(good).starts_with("torn: "), "{}", load(good));
        folder.put(&name, b"");
        assert!(load(good).starts_with("torn: "), "{}", load(good));

        let mut other = vector.to_bytes();
        other[0] ^= 1;
        assert!(reason(DeletionVector::from_bytes(&other, "x")).ends_with("an unknown format"));
        let mut longer = vector.to_bytes();
        longer.push(0);
        assert_eq!(reason(DeletionVector::from_bytes(&longer, "x")), "1 bytes follow the bitmap");
        let cut = vector.to_bytes();
        assert!(
            reason(DeletionVector::from_bytes(&cut[..cut.len() - 1], "x"))
                .starts_with("the bitmap is damaged")
        );
        let text = DeletionVectorDescriptor { path_or_inline_dv: "no base85 \u{1}".into(), ..example() };
        assert!(load(&text).starts_with("not base85"), "{}", load(&text));
        let older = DeletionVectorDescriptor {
            path_or_inline_dv: "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L".into(),
            size_in_bytes: 40,
            ..example()
        };
        assert!(load(&older).ends_with("an unknown format"), "{}", load(&older));
        let long = DeletionVectorDescriptor { size_in_bytes: 36, ..example() };
        assert_eq!(load(&long), "44 bytes, but sizeInBytes is 36");
    }

    #[test]
    fn the_runs_of_a_range_are_found() {
        let far = 1 << 40;
        let vector: DeletionVector = [2, 3, 10, far - 1, far, far + 1].into_iter().collect();
        let runs = |range| vector.runs(range).map(|run| (run.start, run.end)).collect::<Vec<_>>();
        assert_eq!(runs(0..2), []);
        assert_eq!(runs(1..4), [(2, 4)]);
        assert_eq!(runs(3..4), [(3, 4)]);
        assert_eq!(runs(4..10), []);
        assert_eq!(runs(10..12), [(10, 11)]);
        assert_eq!(runs(11..far - 1), []);
        assert_eq!(runs(3..far + 1), [(3, 4), (10, 11), (far - 1, far), (far, far + 1)]);
        assert_eq!(runs(0..u64::MAX), [(2, 4), (10, 11), (far - 1, far), (far, far + 2)]);
    }
}
