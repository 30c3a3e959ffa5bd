//! Deletion vectors: an error, or rows in ascending order, that are the same when they are written and read again.

use deltaic_core::Error;
use deltaic_core::actions::{DeletionVectorDescriptor, DvStorage};
use deltaic_core::deletion_vector::DeletionVector;
use deltaic_testkit::Image;
use fastrand::Rng;

use super::engine::Target;
use super::mutate;

/// The first byte of an input tells what the rest is.
const SERIALIZED: u8 = 0;
const FILE: u8 = 1;
const TEXT: u8 = 2;

const NAME: &str = "a.bin";

pub(crate) struct Vectors;

fn examples() -> Vec<DeletionVector> {
    let of = |rows: &[u64]| rows.iter().copied().collect();
    let mut runs = deltaic_core::deletion_vector::DeletionVector::rows(&of(&[])).clone();
    runs.insert_range(10..70_000);
    runs.insert_range((1 << 33)..(1 << 33) + 9);
    vec![
        of(&[]),
        of(&[0]),
        of(&[3, 4, 7, 11, 18, 29]),
        of(&[65_535, 65_536, 1 << 31, (1 << 32) + 5, (1 << 40) - 1]),
        (0..9000).map(|n| n * 3).collect(),
        runs.into(),
    ]
}

impl Target for Vectors {
    const NAME: &'static str = "vectors";

    fn new() -> Self {
        Vectors
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        let tagged = |tag: u8, body: &[u8]| [&[tag], body].concat();
        let of = |vector: DeletionVector| {
            let inline = vector.to_inline();
            let serialized = vector.to_bytes();
            let size = (serialized.len() as u32).to_be_bytes();
            let file = [&size[..], &serialized, &crc(&serialized)].concat();
            [
                tagged(SERIALIZED, &serialized),
                tagged(FILE, &file),
                tagged(TEXT, inline.path_or_inline_dv.as_bytes()),
            ]
        };
        examples().into_iter().flat_map(of).collect()
    }

    fn mutate(&self, rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
        let seed = mutate::pick(rng, seeds);
        let same: Vec<Vec<u8>> = seeds.iter().filter(|s| s[0] == seed[0]).map(|s| s[1..].to_vec()).collect();
        [&seed[..1], &mutate::bytes(rng, &same)].concat()
    }

    fn check(&self, input: &[u8]) -> bool {
        let Some((tag, body)) = input.split_first() else { return false };
        let mut image = Image::default();
        let descriptor = |storage_type, path: String, size: usize, offset| DeletionVectorDescriptor {
            storage_type,
            path_or_inline_dv: path,
            offset,
            size_in_bytes: size as i32,
            cardinality: 3,
        };
        let there = format!("{}/{NAME}", Image::root());
        let mut descriptor = match *tag {
            // framed as it must be, so that the bitmap itself is read
            SERIALIZED => {
                let size = (body.len() as u32).to_be_bytes();
                image.put(NAME, [&size[..], body, &crc(body)].concat().into());
                descriptor(DvStorage::AbsolutePath, there, body.len(), Some(0))
            }
            FILE => {
                image.put(NAME, body.to_vec().into());
                descriptor(DvStorage::AbsolutePath, there, body.len().saturating_sub(8), Some(0))
            }
            _ => {
                let text = String::from_utf8_lossy(body).into_owned();
                let size = text.len() / 5 * 4;
                descriptor(DvStorage::Inline, text, size, None)
            }
        };
        let location = image.location();
        let mut loaded = DeletionVector::load(&descriptor, &location);
        // the padding of the text, and the number of rows, are not known before
        for _ in 0..5 {
            match &loaded {
                Err(Error::DeletionVector { reason, .. }) if reason.contains("bytes follow the bitmap") => {
                    descriptor.size_in_bytes -= 1;
                }
                Err(Error::DeletionVector { reason, .. })
                    if reason.contains(" rows, but its cardinality") =>
                {
                    let rows = reason.split(' ').next().unwrap().parse::<u64>().unwrap();
                    let Ok(rows) = i64::try_from(rows) else { return false };
                    descriptor.cardinality = rows;
                }
                _ => break,
            }
            loaded = DeletionVector::load(&descriptor, &location);
        }
        let Ok(vector) = loaded else { return false };
        let rows = || vector.rows().iter().take(100_000);
        assert!(rows().is_sorted_by(|a, b| a < b), "not in ascending order");
        assert!(vector.cardinality() > 100_000 || rows().count() as u64 == vector.cardinality());
        for row in rows().take(50) {
            assert!(vector.rows().contains(row));
        }
        let written = vector.to_inline();
        assert_eq!(DeletionVector::load(&written, &location).unwrap(), vector);
        true
    }
}

fn crc(body: &[u8]) -> [u8; 4] {
    crc32fast::hash(body).to_be_bytes()
}
