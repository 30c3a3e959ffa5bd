//! Which type two sides meet in. Where Spark's answer depends on its ANSI setting, there is none.

use crate::schema::DataType;

/// Rank of a whole-number type.
fn integral(data_type: &DataType) -> Option<u8> {
    Some(match data_type {
        DataType::Byte => 1,
        DataType::Short => 2,
        DataType::Integer => 3,
        DataType::Long => 4,
        _ => return None,
    })
}

pub(super) fn is_integral(data_type: &DataType) -> bool {
    integral(data_type).is_some()
}

pub(super) fn is_numeric(data_type: &DataType) -> bool {
    is_integral(data_type) || matches!(data_type, DataType::Float | DataType::Double | DataType::Decimal(..))
}

pub(super) fn is_atomic(data_type: &DataType) -> bool {
    !matches!(
        data_type,
        DataType::Void
            | DataType::Variant
            | DataType::Struct(_)
            | DataType::Array(_)
            | DataType::Map(_)
            | DataType::UserDefined(_)
    )
}

/// The decimal that holds every value of a whole-number type.
pub(super) fn as_decimal(data_type: &DataType) -> Option<(u8, i8)> {
    Some(match data_type {
        DataType::Byte => (3, 0),
        DataType::Short => (5, 0),
        DataType::Integer => (10, 0),
        DataType::Long => (20, 0),
        DataType::Decimal(precision, scale) => (*precision, *scale),
        _ => return None,
    })
}

/// The type that two types have in common without a change of any value. None where there is none, or where it is
/// `float` by one setting of Spark and `double` by the other.
pub(super) fn common(left: &DataType, right: &DataType) -> Option<DataType> {
    use DataType as T;
    if left == right {
        return Some(left.clone());
    }
    match (left, right) {
        (T::Void, other) | (other, T::Void) => Some(other.clone()),
        (T::Date, T::Timestamp) | (T::Timestamp, T::Date) => Some(T::Timestamp),
        (T::Date, T::TimestampNtz) | (T::TimestampNtz, T::Date) => Some(T::TimestampNtz),
        (T::Float, T::Double) | (T::Double, T::Float) => Some(T::Double),
        (T::Double, other) | (other, T::Double) if is_numeric(other) => Some(T::Double),
        (T::Float, T::Decimal(..)) | (T::Decimal(..), T::Float) => Some(T::Double),
        (T::Decimal(..), other) | (other, T::Decimal(..)) => {
            let ((p1, s1), (p2, s2)) = (as_decimal(left)?, as_decimal(right)?);
            as_decimal(other)?;
            let scale = s1.max(s2);
            let whole = (p1 as i8 - s1).max(p2 as i8 - s2);
            let precision = whole.checked_add(scale)?;
            (precision <= 38).then_some(T::Decimal(precision as u8, scale))
        }
        _ => {
            let (l, r) = (integral(left)?, integral(right)?);
            Some(if l >= r { left.clone() } else { right.clone() })
        }
    }
}

/// Result type of arithmetic of two decimals, by Spark's rules.
pub(super) fn decimal_result(op: super::Binary, left: (u8, i8), right: (u8, i8)) -> (u8, i8) {
    use super::Binary as B;
    let ((p1, s1), (p2, s2)) = ((left.0 as i16, left.1 as i16), (right.0 as i16, right.1 as i16));
    let (precision, scale) = match op {
        B::Multiply => (p1 + p2 + 1, s1 + s2),
        B::Divide => {
            let scale = 6.max(s1 + p2 + 1);
            (p1 - s1 + s2 + scale, scale)
        }
        B::IntegralDivide => (p1 - s1 + s2, 0),
        B::Remainder => {
            let scale = s1.max(s2);
            ((p1 - s1).min(p2 - s2) + scale, scale)
        }
        _ => {
            let scale = s1.max(s2);
            ((p1 - s1).max(p2 - s2) + scale + 1, scale)
        }
    };
    if precision <= 38 {
        return (precision.max(1) as u8, scale as i8);
    }
    // digits before the point are kept, at least six after it
    let whole = precision - scale;
    (38, (38 - whole).max(scale.min(6)) as i8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Binary;

    #[test]
    fn types_meet_in_the_narrowest_that_holds_both() {
        use DataType as T;
        assert_eq!(common(&T::Byte, &T::Long), Some(T::Long));
        assert_eq!(common(&T::Integer, &T::Decimal(5, 2)), Some(T::Decimal(12, 2)));
        assert_eq!(common(&T::Decimal(38, 0), &T::Decimal(5, 2)), None);
        assert_eq!(common(&T::Integer, &T::Float), None);
        assert_eq!(common(&T::Date, &T::Timestamp), Some(T::Timestamp));
        assert_eq!(common(&T::String, &T::Integer), None);
    }

    #[test]
    fn decimals_have_the_precision_that_spark_gives_them() {
        assert_eq!(decimal_result(Binary::Add, (10, 2), (5, 3)), (12, 3));
        assert_eq!(decimal_result(Binary::Multiply, (10, 2), (5, 3)), (16, 5));
        assert_eq!(decimal_result(Binary::Divide, (10, 2), (5, 3)), (19, 8));
        assert_eq!(decimal_result(Binary::Multiply, (38, 18), (38, 18)), (38, 6));
        assert_eq!(decimal_result(Binary::Remainder, (10, 2), (5, 3)), (5, 3));
    }
}
