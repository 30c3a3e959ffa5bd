/// How much a batch may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadLimit {
    /// All that there is.
    All,
    /// So many files, and files until so many bytes are reached: at least one file, and the one that reaches the limit
    /// whole.
    Most {
        /// Files.
        files: Option<u64>,
        /// Bytes.
        bytes: Option<u64>,
    },
}

/// What is left of a limit.
#[derive(Debug)]
pub(super) struct Admission {
    files: u64,
    bytes: u64,
}

impl Admission {
    pub(super) fn new(limit: ReadLimit) -> Self {
        let (files, bytes) = match limit {
            ReadLimit::All => (None, None),
            ReadLimit::Most { files, bytes } => (files, bytes),
        };
        Admission { files: files.unwrap_or(u64::MAX), bytes: bytes.unwrap_or(u64::MAX) }
    }

    /// Whether a file of so many bytes still fits: it does while there is room before it.
    pub(super) fn admits(&mut self, size: i64) -> bool {
        let room = self.files > 0 && self.bytes > 0;
        self.files = self.files.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(size.try_into().unwrap_or(0));
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(files: Option<u64>, bytes: Option<u64>, sizes: &[i64]) -> usize {
        let mut left = Admission::new(ReadLimit::Most { files, bytes });
        sizes.iter().take_while(|size| left.admits(**size)).count()
    }

    #[test]
    fn the_file_that_reaches_the_limit_is_taken() {
        assert_eq!(admitted(Some(2), None, &[1, 1, 1]), 2);
        assert_eq!(admitted(None, Some(10), &[9, 9, 9]), 2);
        assert_eq!(admitted(None, Some(1), &[1000, 1]), 1);
        assert_eq!(admitted(Some(5), Some(10), &[5, 5, 5]), 2);
        assert_eq!(admitted(None, None, &[5; 40]), 40);
    }
}
