//! Saturating sums of numbers from a log or a footer: malicious values may exceed the range.

/// Numbers that add up without overflow.
pub(crate) trait Saturating: Copy + Default {
    /// Both together, or the largest number there is.
    fn plus(self, other: Self) -> Self;
}

impl Saturating for u64 {
    fn plus(self, other: Self) -> Self {
        self.saturating_add(other)
    }
}

impl Saturating for i64 {
    fn plus(self, other: Self) -> Self {
        self.saturating_add(other)
    }
}

/// Iterators over such numbers.
pub(crate) trait SaturatingSum: Iterator<Item: Saturating> + Sized {
    /// All of them together, or the largest number there is.
    fn saturating_sum(self) -> Self::Item {
        self.fold(Self::Item::default(), Saturating::plus)
    }
}

impl<I: Iterator<Item: Saturating>> SaturatingSum for I {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_stays_at_the_largest_number() {
        assert_eq!([1_u64, 2, 3].into_iter().saturating_sum(), 6);
        assert_eq!([1, u64::MAX, 3].into_iter().saturating_sum(), u64::MAX);
        assert_eq!([i64::MAX, 1].into_iter().saturating_sum(), i64::MAX);
    }
}
