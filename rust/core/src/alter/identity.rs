//! Identity columns (PROTOCOL.md, "Identity Columns").

use std::collections::BTreeMap;

use serde_json::Value;

use super::paths::{position, refuse};
use crate::error::{Error, Result, condition};
use crate::schema::{
    ColumnMappingMode, DataType, IDENTITY_ALLOW_EXPLICIT_INSERT, IDENTITY_HIGH_WATER_MARK, IDENTITY_START,
    IDENTITY_STEP, StructField, StructType,
};

/// How the values of an identity column are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// First value.
    pub start: i64,
    /// Distance between values, not 0.
    pub step: i64,
    /// The farthest value given so far.
    pub high_water_mark: Option<i64>,
    /// Whether rows may bring their own value.
    pub allow_explicit_insert: bool,
}

impl Identity {
    /// The identity of a column, where it has one.
    ///
    /// # Errors
    /// [`Error::InvalidSchema`] when the metadata is incomplete, the step is 0, or the column is no `long`.
    pub fn of(field: &StructField) -> Result<Option<Self>> {
        let number = |key: &str| field.metadata.get(key).and_then(Value::as_i64);
        let insert = field.metadata.get(IDENTITY_ALLOW_EXPLICIT_INSERT).and_then(Value::as_bool);
        let invalid = |reason: &str| {
            Err(Error::InvalidSchema { reason: format!("identity column `{}`: {reason}", field.name) })
        };
        match (number(IDENTITY_START), number(IDENTITY_STEP), insert) {
            (None, None, None) => Ok(None),
            (Some(_), Some(0), Some(_)) => invalid("the step is 0"),
            (Some(_), Some(_), Some(_)) if field.data_type != DataType::Long => {
                let data_type = [("dataType", field.data_type.name())];
                invalid("the type is not long")
                    .map_err(|e| e.named(&condition::IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE, data_type))
            }
            (Some(start), Some(step), Some(allow_explicit_insert)) => Ok(Some(Identity {
                start,
                step,
                high_water_mark: number(IDENTITY_HIGH_WATER_MARK),
                allow_explicit_insert,
            })),
            _ => invalid("start, step and allowExplicitInsert must be set together"),
        }
    }

    /// Writes it into the metadata of a column.
    pub fn write(self, field: &mut StructField) {
        field.metadata.insert(IDENTITY_START.into(), self.start.into());
        field.metadata.insert(IDENTITY_STEP.into(), self.step.into());
        field.metadata.insert(IDENTITY_ALLOW_EXPLICIT_INSERT.into(), self.allow_explicit_insert.into());
        match self.high_water_mark {
            Some(mark) => field.metadata.insert(IDENTITY_HIGH_WATER_MARK.into(), mark.into()),
            None => field.metadata.remove(IDENTITY_HIGH_WATER_MARK),
        };
    }

    /// The first and the last of the next `count` values. None for no values.
    ///
    /// # Errors
    /// [`Error::InvalidColumnChange`] when they do not fit into 64 bits.
    pub fn next(self, column: &str, count: u64) -> Result<Option<(i64, i64)>> {
        if count == 0 {
            return Ok(None);
        }
        let overflow = || refuse(&[column.to_owned()], "its next values do not fit into a long");
        let first = match self.high_water_mark {
            None => self.start,
            // a mark that is not in the sequence is ignored
            Some(mark) => {
                let mark = self.round(mark).ok_or_else(overflow)?;
                mark.checked_add(self.step).ok_or_else(overflow)?
            }
        };
        let steps = i64::try_from(count - 1).ok().and_then(|n| n.checked_mul(self.step));
        let last = steps.and_then(|n| first.checked_add(n)).ok_or_else(overflow)?;
        Ok(Some((first, last)))
    }

    /// Whether a value comes before another in the direction of the step.
    fn is_before(self, a: i64, b: i64) -> bool {
        if self.step > 0 { a < b } else { a > b }
    }

    /// The value itself where it is of the sequence, else the next one that is, in the direction of the step.
    fn round(self, value: i64) -> Option<i64> {
        let offset = i128::from(value) - i128::from(self.start);
        let step = i128::from(self.step);
        // the quotient, rounded up: whatever the sign of the step, that is the value that is farther along
        let up = i128::from(offset % step != 0 && (offset % step > 0) == (step > 0));
        let quotient = offset / step + up;
        i64::try_from(i128::from(self.start) + quotient * step).ok()
    }

    /// The mark where the farthest value of all rows is this one: never back unless `lowered`, of the sequence, and
    /// not before the start.
    ///
    /// # Errors
    /// [`Error::InvalidColumnChange`] when it would not fit into 64 bits.
    pub(super) fn synced(self, column: &str, value: i64, lowered: bool) -> Result<Option<i64>> {
        let overflow = || refuse(&[column.to_owned()], "its high-water mark does not fit into a long");
        let candidate = self.round(value).ok_or_else(overflow)?;
        let is_bad = self.high_water_mark.is_some_and(|mark| self.is_before(mark, self.start));
        Ok(match self.high_water_mark {
            mark if self.is_before(value, self.start) && !is_bad => mark,
            Some(mark) if !lowered && !self.is_before(mark, candidate) => Some(mark),
            _ => Some(candidate),
        })
    }

    /// The mark after these values were written: never back, and of the sequence.
    fn advanced(self, column: &str, value: i64) -> Result<Option<i64>> {
        let overflow = || refuse(&[column.to_owned()], "its high-water mark does not fit into a long");
        let candidate = self.round(value).ok_or_else(overflow)?;
        Ok(match self.high_water_mark {
            Some(mark) if !self.is_before(mark, candidate) => Some(mark),
            None if self.is_before(value, self.start) => None,
            // also one before the start, where the log says so
            _ => Some(candidate),
        })
    }
}

/// Refuses data with values for a column that is `GENERATED ALWAYS`, where its schema replaces that of the table.
///
/// # Errors
/// As [`Identity::of`]; [`Error::InvalidColumnChange`] with the column.
pub(super) fn refuse_values(table: &StructType, data: &StructType) -> Result<()> {
    for field in &table.fields {
        let makes_all = Identity::of(field)?.is_some_and(|identity| !identity.allow_explicit_insert);
        if makes_all && position(data, &field.name).is_some() {
            let name = field.name.as_str();
            let error = refuse(&[name.to_owned()], "it is GENERATED ALWAYS AS IDENTITY: leave it out");
            return Err(
                error.named(&condition::IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED, [("colName", name)])
            );
        }
    }
    Ok(())
}

/// The schema with the marks moved to the farthest value that was written, by physical name. A mark never moves back.
///
/// # Errors
/// As [`Identity::of`]; [`Error::InvalidColumnChange`] when a mark would not fit into 64 bits.
pub fn advance_marks(
    schema: &StructType,
    mode: ColumnMappingMode,
    written: &BTreeMap<String, i64>,
) -> Result<StructType> {
    let mut schema = schema.clone();
    for field in &mut schema.fields {
        let (Some(identity), Some(value)) = (Identity::of(field)?, written.get(field.physical_name(mode)))
        else {
            continue;
        };
        let high_water_mark = identity.advanced(&field.name, *value)?;
        Identity { high_water_mark, ..identity }.write(field);
    }
    Ok(schema)
}

/// The first of these columns, by physical name, whose mark is another in `new` than in `old`: values generated from it
/// on were assigned twice.
///
/// # Errors
/// As [`Identity::of`].
pub(crate) fn first_moved(
    old: &StructType,
    new: &StructType,
    mode: ColumnMappingMode,
    columns: &[String],
) -> Result<Option<String>> {
    let of = |schema: &StructType, name: &str| -> Result<Option<i64>> {
        let field = schema.fields.iter().find(|f| f.physical_name(mode) == name);
        Ok(field.map(Identity::of).transpose()?.flatten().and_then(|i| i.high_water_mark))
    };
    for name in columns {
        if of(old, name)? != of(new, name)? {
            let named = old.fields.iter().find(|f| f.physical_name(mode) == name);
            return Ok(Some(named.map_or(name, |f| &f.name).clone()));
        }
    }
    Ok(None)
}

/// Checks the identity columns of a schema: complete, `long`, and columns of the table itself.
///
/// # Errors
/// [`Error::InvalidSchema`] with the column.
pub(super) fn check(schema: &StructType) -> Result<()> {
    for (path, field) in schema.explode() {
        if Identity::of(field)?.is_some() && path.len() > 1 {
            let reason = format!("identity column `{}` is within another column", path.join("."));
            return Err(Error::InvalidSchema { reason });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::alter::testing::schema;

    fn identity(start: i64, step: i64, high_water_mark: Option<i64>) -> Identity {
        Identity { start, step, high_water_mark, allow_explicit_insert: true }
    }

    fn with(identity: Identity) -> StructType {
        let mut schema = schema("id long, a string");
        identity.write(&mut schema.fields[0]);
        schema
    }

    fn written(value: i64) -> BTreeMap<String, i64> {
        [("id".to_owned(), value)].into()
    }

    fn mark(schema: &StructType) -> Option<i64> {
        Identity::of(&schema.fields[0]).unwrap().unwrap().high_water_mark
    }

    #[test]
    fn the_next_values_follow_the_mark() {
        assert_eq!(identity(1, 1, None).next("id", 3).unwrap(), Some((1, 3)));
        assert_eq!(identity(1, 2, Some(5)).next("id", 2).unwrap(), Some((7, 9)));
        assert_eq!(identity(0, -5, Some(-5)).next("id", 2).unwrap(), Some((-10, -15)));
        assert_eq!(identity(1, 1, Some(9)).next("id", 0).unwrap(), None);
        // a mark before the start, or beside the sequence
        assert_eq!(identity(10, 1, Some(3)).next("id", 1).unwrap(), Some((4, 4)));
        assert_eq!(identity(0, 10, Some(15)).next("id", 1).unwrap(), Some((30, 30)));
        let error = identity(1, 1, Some(i64::MAX - 1)).next("id", 2).unwrap_err();
        assert_eq!(error.kind(), "InvalidColumnChange");
    }

    #[test]
    fn marks_move_only_forward_and_stay_in_the_sequence() {
        let move_to = |i: Identity, value| {
            mark(&advance_marks(&with(i), ColumnMappingMode::None, &written(value)).unwrap())
        };
        assert_eq!(move_to(identity(1, 1, None), 7), Some(7));
        assert_eq!(move_to(identity(1, 1, Some(9)), 7), Some(9));
        assert_eq!(move_to(identity(0, 10, Some(0)), 15), Some(20));
        assert_eq!(move_to(identity(0, -10, Some(-10)), -15), Some(-20));
        assert_eq!(move_to(identity(100, 1, Some(5)), 7), Some(7));
        assert_eq!(move_to(identity(100, 1, None), 7), None);
        assert_eq!(move_to(identity(0, -10, None), 7), None);
    }

    #[test]
    fn a_mark_that_moved_is_found() {
        let (old, new) = (with(identity(1, 1, Some(5))), with(identity(1, 1, Some(8))));
        let moved =
            |old, new, columns: &[String]| first_moved(old, new, ColumnMappingMode::None, columns).unwrap();
        assert_eq!(moved(&old, &new, &["id".into()]), Some("id".into()));
        assert_eq!(moved(&old, &old, &["id".into()]), None);
        assert_eq!(moved(&old, &new, &[]), None);
    }

    #[test]
    fn broken_identities_are_refused() {
        let broken = |change: &dyn Fn(&mut StructField)| {
            let mut s = with(identity(1, 1, None));
            change(&mut s.fields[0]);
            check(&s).unwrap_err().to_string()
        };
        assert!(broken(&|f| drop(f.metadata.remove(IDENTITY_STEP))).contains("must be set together"));
        assert!(broken(&|f| drop(f.metadata.insert(IDENTITY_STEP.into(), 0.into()))).contains("step is 0"));
        assert!(broken(&|f| f.data_type = DataType::Integer).contains("not long"));
        let mut nested = schema("s struct<id: long>");
        if let DataType::Struct(s) = &mut nested.fields[0].data_type {
            identity(1, 1, None).write(&mut s.fields[0]);
        }
        assert!(check(&nested).unwrap_err().to_string().contains("within another"));
    }

    proptest! {
        #[test]
        fn rounding_gives_the_next_of_the_sequence(start in -50i64..50, step in -7i64..7, value in -200i64..200) {
            prop_assume!(step != 0);
            let i = identity(start, step, None);
            let rounded = i.round(value).unwrap();
            prop_assert_eq!((rounded - start) % step, 0);
            prop_assert!(!i.is_before(rounded, value));
            prop_assert!((rounded - value).abs() < step.abs());
        }
    }
}
