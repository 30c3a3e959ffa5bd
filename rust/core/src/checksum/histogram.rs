//! The distributions in a version checksum, in the bins of delta-spark.

use super::version_checksum::{DeletedRecordCounts, FileSizeHistogram};

const KB: i64 = 1 << 10;
const MB: i64 = 1 << 20;
const GB: i64 = 1 << 30;

/// `from`, `from + step` … up to and with `to`.
fn steps(bins: &mut Vec<i64>, from: i64, step: i64, to: i64) {
    let mut next = from;
    while next <= to {
        bins.push(next);
        next += step;
    }
}

fn boundaries() -> Vec<i64> {
    let mut bins = vec![0];
    bins.extend((3..=12).map(|power| KB << power));
    steps(&mut bins, 8 * MB, 4 * MB, 40 * MB);
    steps(&mut bins, 48 * MB, 8 * MB, 120 * MB);
    steps(&mut bins, 124 * MB, 4 * MB, 144 * MB);
    steps(&mut bins, 160 * MB, 16 * MB, 576 * MB);
    steps(&mut bins, 640 * MB, 64 * MB, 1408 * MB);
    steps(&mut bins, 1536 * MB, 128 * MB, 2048 * MB);
    steps(&mut bins, 2304 * MB, 256 * MB, 4096 * MB);
    bins.extend((3..=8).map(|power| GB << power));
    bins
}

/// No files.
pub(crate) fn no_sizes() -> FileSizeHistogram {
    let bins = boundaries();
    let zeros = vec![0; bins.len()];
    FileSizeHistogram { sorted_bin_boundaries: bins, file_counts: zeros.clone(), total_bytes: zeros }
}

/// Counts a file of this size in (`1`) or out (`-1`). False when the histogram is not one.
pub(crate) fn count_size(histogram: &mut FileSizeHistogram, size: i64, files: i64) -> bool {
    let bins = &histogram.sorted_bin_boundaries;
    let Some(bin) = bins.partition_point(|b| *b <= size).checked_sub(1) else { return false };
    let (Some(count), Some(bytes)) = (histogram.file_counts.get_mut(bin), histogram.total_bytes.get_mut(bin))
    else {
        return false;
    };
    *count += files;
    *bytes = bytes.wrapping_add(files.wrapping_mul(size));
    true
}

/// No files.
pub(crate) fn no_deletions() -> DeletedRecordCounts {
    DeletedRecordCounts { deleted_record_counts: vec![0; 10] }
}

/// Counts a file with this many deleted rows in (`1`) or out (`-1`). False when the histogram is not one.
pub(crate) fn count_deletions(histogram: &mut DeletedRecordCounts, deleted: i64, files: i64) -> bool {
    const BINS: [i64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 2_147_483_647];
    let bin = BINS.partition_point(|b| *b <= deleted);
    match histogram.deleted_record_counts.get_mut(bin) {
        Some(count) => *count += files,
        None => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bins_are_those_of_delta_spark() {
        let mut sizes = no_sizes();
        let bins = &sizes.sorted_bin_boundaries;
        assert_eq!(bins.len(), 95);
        assert!(bins.is_sorted() && bins.windows(2).all(|w| w[0] < w[1]));
        assert_eq!((bins[1], bins[10], bins[11], bins[94]), (8 * KB, 4 * MB, 8 * MB, 256 * GB));
        for size in [0, 8 * KB - 1, 8 * KB, 300 * GB] {
            assert!(count_size(&mut sizes, size, 1));
        }
        assert_eq!((sizes.file_counts[0], sizes.file_counts[1], sizes.file_counts[94]), (2, 1, 1));
        assert!(count_size(&mut sizes, 8 * KB, -1));
        assert_eq!((sizes.file_counts[1], sizes.total_bytes[1]), (0, 0));
    }

    #[test]
    fn deleted_rows_fall_into_ten_bins() {
        let mut counts = no_deletions();
        for deleted in [0, 1, 9, 10, 999, 2_147_483_646, 2_147_483_647] {
            assert!(count_deletions(&mut counts, deleted, 1));
        }
        assert_eq!(counts.deleted_record_counts, [1, 2, 1, 1, 0, 0, 0, 0, 1, 1]);
    }
}
