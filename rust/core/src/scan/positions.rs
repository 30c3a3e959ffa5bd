use std::collections::VecDeque;
use std::ops::Range;

/// Where rows are in their file.
#[derive(Debug, Clone, Default)]
pub(super) struct Positions {
    /// Number of rows of the file.
    pub(super) rows: u64,
    /// Positions of those that are read, in their order.
    pub(super) ranges: VecDeque<Range<u64>>,
}

impl Positions {
    /// The positions of the next rows.
    pub(super) fn take(&mut self, mut rows: u64) -> Vec<u64> {
        let mut out = Vec::with_capacity(usize::try_from(rows).unwrap_or(0));
        while rows > 0 {
            let Some(range) = self.ranges.front_mut() else { break };
            let end = range.end.min(range.start + rows);
            rows -= end - range.start;
            out.extend(range.start..end);
            range.start = end;
            if range.is_empty() {
                self.ranges.pop_front();
            }
        }
        out
    }
}
