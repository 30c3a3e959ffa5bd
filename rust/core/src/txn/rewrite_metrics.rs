use crate::conflict::Changes;
use crate::sums::SaturatingSum;

/// What delta-spark's metrics say about the files of a rewrite.
pub(crate) fn rewrite_metrics(changes: &Changes) -> [(&'static str, u64); 10] {
    let mut added: Vec<u64> = changes.adds.iter().map(|add| add.size.unsigned_abs()).collect();
    added.sort_unstable();
    let removed =
        changes.removes.iter().filter_map(|remove| remove.size).map(i64::unsigned_abs).saturating_sum();
    let vectors = changes.removes.iter().filter(|remove| remove.deletion_vector.is_some()).count();
    let [min, p25, p50, p75, max] = quartiles(&added);
    [
        ("numAddedFiles", added.len() as u64),
        ("numRemovedFiles", changes.removes.len() as u64),
        ("numAddedBytes", added.iter().copied().saturating_sum()),
        ("numRemovedBytes", removed),
        ("minFileSize", min),
        ("p25FileSize", p25),
        ("p50FileSize", p50),
        ("p75FileSize", p75),
        ("maxFileSize", max),
        ("numDeletionVectorsRemoved", vectors as u64),
    ]
}

/// Smallest, first quartile, median, third quartile and largest of ascending sizes, as delta-spark takes them.
pub(crate) fn quartiles(sizes: &[u64]) -> [u64; 5] {
    let at = |n: usize| sizes.get(n).copied().unwrap_or(0);
    let count = sizes.len();
    [at(0), at(count / 4), at(count / 2), at(count * 3 / 4), at(count.saturating_sub(1))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_those_of_delta_spark() {
        assert_eq!(quartiles(&[]), [0; 5]);
        assert_eq!(quartiles(&[7]), [7; 5]);
        assert_eq!(quartiles(&[1, 2, 3, 4]), [1, 2, 3, 4, 4]);
    }
}
