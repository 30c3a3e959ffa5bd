use parquet::basic::{Compression, ZstdLevel};

use crate::error::{Error, Result};

/// The codec of data files, and its part of their names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Codec {
    pub compression: Compression,
    /// `.snappy`, or nothing.
    pub extension: &'static str,
}

/// Codec by the name that `delta.parquet.compression.codec` and Spark know it by, in any case.
///
/// # Errors
/// [`Error::InvalidArgument`] for a name that is none.
pub(crate) fn codec(name: &str) -> Result<Codec> {
    let (compression, extension) = match name.to_lowercase().as_str() {
        "none" | "uncompressed" => (Compression::UNCOMPRESSED, ""),
        "snappy" => (Compression::SNAPPY, ".snappy"),
        "gzip" => (Compression::GZIP(Default::default()), ".gz"),
        "lz4" => (Compression::LZ4, ".lz4hadoop"),
        "lz4_raw" | "lz4raw" => (Compression::LZ4_RAW, ".lz4raw"),
        "zstd" => (Compression::ZSTD(ZstdLevel::default()), ".zstd"),
        "brotli" => (Compression::BROTLI(Default::default()), ".br"),
        _ => {
            return Err(Error::InvalidArgument {
                argument: "compression".into(),
                reason: format!(
                    "`{name}` is none of none, uncompressed, snappy, gzip, lz4, lz4_raw, zstd, brotli"
                ),
            });
        }
    };
    Ok(Codec { compression, extension })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codecs_are_found_in_any_case() {
        assert_eq!(codec("SNAPPY").unwrap().extension, ".snappy");
        assert_eq!(codec("Uncompressed").unwrap().compression, Compression::UNCOMPRESSED);
        assert_eq!(codec("lz4").unwrap().compression, Compression::LZ4);
        assert!(codec("rar").unwrap_err().to_string().contains("`rar`"));
    }
}
