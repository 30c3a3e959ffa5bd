//! One value in the domain of its column, with Spark's order.

use std::borrow::Cow;
use std::cmp::Ordering;

/// A value that is not null. Values of one column are always of one variant.
#[derive(Debug, Clone)]
pub(crate) enum Scalar<'a> {
    /// FALSE before TRUE.
    Boolean(bool),
    /// Whole numbers, days, microseconds.
    Integer(i64),
    /// Floats of both widths: NaN is equal to itself and above everything, the two zeros are equal.
    Double(f64),
    /// Unscaled, at the scale of the column.
    Decimal(i128),
    /// Text (UTF-8) and bytes, in unsigned byte order.
    Bytes(Cow<'a, [u8]>),
}

impl Scalar<'_> {
    /// The order of two values, or `None` when they are of different kinds.
    pub(crate) fn compare(&self, other: &Scalar<'_>) -> Option<Ordering> {
        match (self, other) {
            (Scalar::Boolean(a), Scalar::Boolean(b)) => Some(a.cmp(b)),
            (Scalar::Integer(a), Scalar::Integer(b)) => Some(a.cmp(b)),
            (Scalar::Double(a), Scalar::Double(b)) => Some(compare_doubles(*a, *b)),
            (Scalar::Decimal(a), Scalar::Decimal(b)) => Some(a.cmp(b)),
            (Scalar::Bytes(a), Scalar::Bytes(b)) => Some(a.as_ref().cmp(b.as_ref())),
            _ => None,
        }
    }

    /// The value as Spark casts it to double: to the nearest. Never decreases where the value does not.
    pub(crate) fn to_double(&self, scale: i8) -> Option<f64> {
        match self {
            Scalar::Integer(v) => Some(*v as f64),
            Scalar::Double(v) => Some(*v),
            Scalar::Decimal(v) => Some(decimal_to_double(*v, scale)),
            Scalar::Boolean(_) | Scalar::Bytes(_) => None,
        }
    }
}

/// Spark's order of floating-point numbers.
pub(crate) fn compare_doubles(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// The double nearest to a decimal.
pub(crate) fn decimal_to_double(unscaled: i128, scale: i8) -> f64 {
    // both operands are exact below these limits, so the quotient is rounded once
    if unscaled.unsigned_abs() < 1 << 53 && (0..=22).contains(&scale) {
        return unscaled as f64 / 10f64.powi(i32::from(scale));
    }
    format!("{unscaled}e{}", -i32::from(scale)).parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_ordered_as_spark_orders_them() {
        assert_eq!(compare_doubles(f64::NAN, f64::NAN), Ordering::Equal);
        assert_eq!(compare_doubles(f64::NAN, f64::INFINITY), Ordering::Greater);
        assert_eq!(compare_doubles(1.0, -f64::NAN), Ordering::Less);
        assert_eq!(compare_doubles(-0.0, 0.0), Ordering::Equal);
    }

    #[test]
    fn decimals_become_the_nearest_double() {
        assert_eq!(decimal_to_double(1, 1), 0.1);
        assert_eq!(decimal_to_double(-1250, 2), -12.5);
        assert_eq!(decimal_to_double(12_345_678_901_234_567_890, 2), 123_456_789_012_345_678.90);
    }
}
