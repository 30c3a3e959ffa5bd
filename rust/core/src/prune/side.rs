//! Lower or upper.

/// Which bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Of `minValues`.
    Lower,
    /// Of `maxValues`.
    Upper,
}

impl Side {
    /// The value moved away from the range, as far as possible.
    pub(crate) fn outwards(self, value: i64, by: i64) -> i64 {
        match self {
            Side::Lower => value.saturating_sub(by),
            Side::Upper => value.saturating_add(by),
        }
    }
}
