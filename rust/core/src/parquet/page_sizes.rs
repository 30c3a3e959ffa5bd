//! The sizes that the pages of a column state for their decompressed content, checked against a bound before any is
//! decompressed.
//!
//! A page header is a Thrift struct in the compact protocol (`PageHeader` of parquet.thrift); a reader takes as much memory
//! as it says. The walk takes none itself, and knows no more of Thrift than how to skip what is not a size: a library that
//! decodes would allocate what the header says.

/// The storage option that says how large a page of a Parquet file may be once it is decompressed, in bytes; 1 GiB by
/// default. It applies to files that deltaic reads itself; engines have bounds of their own.
pub const MAX_PAGE_BYTES: &str = "max_page_bytes";

/// The default of the option. Writers make pages of a mebibyte; a page of few long values is larger.
pub(crate) const DEFAULT_MAX_PAGE_BYTES: u64 = 1 << 30;

/// Structs within structs: a page header has two levels.
const MOST_LEVELS: u32 = 8;

/// The size of a page in `bytes`, which begin with one and have whole pages only, that is larger than `most`. What cannot
/// be walked is left to the decoder, which refuses it.
pub(super) fn too_large(bytes: &[u8], most: u64) -> Option<u64> {
    let mut left = Thrift(bytes);
    while !left.0.is_empty() {
        let (decompressed, stored) = left.page_header()?;
        let decompressed = u64::try_from(decompressed).unwrap_or(u64::MAX);
        if decompressed > most {
            return Some(decompressed);
        }
        left.skip(usize::try_from(stored).ok()?)?;
    }
    None
}

/// Bytes that are left of a text in the compact protocol.
struct Thrift<'a>(&'a [u8]);

impl Thrift<'_> {
    /// The sizes of a page, decompressed and as it is stored.
    fn page_header(&mut self) -> Option<(i64, i64)> {
        let (mut decompressed, mut stored) = (None, None);
        let mut id = 0;
        while let Some(kind) = self.field(&mut id)? {
            match (id, kind) {
                (2, 5) => decompressed = Some(self.integer()?),
                (3, 5) => stored = Some(self.integer()?),
                _ => self.skip_value(kind, MOST_LEVELS)?,
            }
        }
        Some((decompressed?, stored?))
    }

    /// The type of the next field of a struct, whose id is stored in `id`; none at its end.
    fn field(&mut self, id: &mut i64) -> Option<Option<u8>> {
        let head = self.byte()?;
        if head == 0 {
            return Some(None);
        }
        *id = match head >> 4 {
            0 => self.integer()?,
            delta => id.checked_add(i64::from(delta))?,
        };
        Some(Some(head & 15))
    }

    fn skip_value(&mut self, kind: u8, levels: u32) -> Option<()> {
        match kind {
            // a boolean of a struct is its type
            1 | 2 => Some(()),
            3 => self.skip(1),
            4..=6 => self.varint().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(usize::try_from(length).ok()?)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = match head >> 4 {
                    15 => self.varint()?,
                    count => u64::from(count),
                };
                let levels = levels.checked_sub(1)?;
                (0..count).try_for_each(|_| match head & 15 {
                    1 | 2 => self.skip(1),
                    kind => self.skip_value(kind, levels),
                })
            }
            12 => {
                let (levels, mut id) = (levels.checked_sub(1)?, 0);
                while let Some(kind) = self.field(&mut id)? {
                    self.skip_value(kind, levels)?;
                }
                Some(())
            }
            // no header has a map
            _ => None,
        }
    }

    fn integer(&mut self) -> Option<i64> {
        let zigzag = self.varint()?;
        Some((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn skip(&mut self, count: usize) -> Option<()> {
        self.0 = self.0.get(count..)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::basic::Compression;
    use parquet::file::properties::{WriterProperties, WriterVersion};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use proptest::prelude::*;

    use super::*;

    /// The chunks of a file: bytes, and how large its pages are once they are decompressed.
    fn chunks(version: WriterVersion, dictionary: bool) -> Vec<(Vec<u8>, Vec<u64>)> {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values((0..5000).map(|n| n * 7919)));
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..5000).map(|n| format!("text {n}"))));
        let rows = RecordBatch::try_from_iter([("n", numbers), ("t", texts)]).unwrap();
        let properties = WriterProperties::builder()
            .set_writer_version(version)
            .set_dictionary_enabled(dictionary)
            .set_compression(Compression::SNAPPY)
            .set_data_page_row_count_limit(700)
            .set_write_batch_size(100)
            .build();
        let mut body = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut body, rows.schema(), Some(properties)).unwrap();
        writer.write(&rows).unwrap();
        writer.close().unwrap();
        let body = bytes::Bytes::from(body);
        let reader = SerializedFileReader::new(body.clone()).unwrap();
        let group = reader.get_row_group(0).unwrap();
        (0..2)
            .map(|column| {
                let (start, length) = group.metadata().column(column).byte_range();
                let bytes = body[start as usize..(start + length) as usize].to_vec();
                let pages = group.get_column_page_reader(column).unwrap();
                (bytes, pages.map(|page| page.unwrap().buffer().len() as u64).collect())
            })
            .collect()
    }

    #[test]
    fn the_largest_page_decides() {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for dictionary in [false, true] {
                for (bytes, pages) in chunks(version, dictionary) {
                    assert!(pages.len() > 5);
                    let largest = pages.iter().copied().max().unwrap();
                    assert_eq!(too_large(&bytes, largest), None);
                    assert_eq!(too_large(&bytes, largest - 1), Some(largest));
                    assert!(pages.contains(&too_large(&bytes, 0).unwrap()));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_walked(bytes in proptest::collection::vec(any::<u8>(), 0..200), most: u64) {
            if let Some(found) = too_large(&bytes, most) {
                prop_assert!(found > most);
            }
        }
    }
}
