//! How the columns of a data file become those of the table: type by type, at every depth.

use arrow::datatypes::{DataType as Arrow, Fields};

use super::cast::{Convert, primitive};
use super::matching::Matcher;
use crate::error::Result;
use crate::parquet::Calendar;
use crate::schema::{DataType, StructField, StructType, arrow_type};

/// What decides the conversions of one file.
pub(super) struct Conversion<'a> {
    pub(super) matcher: Matcher<'a>,
    pub(super) calendar: Calendar,
}

impl Conversion<'_> {
    /// How an array of type `file` becomes one of `data_type`.
    ///
    /// # Errors
    /// [`Error::DataFile`] when the table's type cannot hold it.
    pub(super) fn of(&self, data_type: &DataType, file: &Arrow, at: &str) -> Result<Convert> {
        let target = arrow_type(data_type);
        // fields are identified by more than their Arrow type: an equal struct may have them in another order
        let same = *file == target;
        let mismatch = || {
            self.matcher.error(format!(
                "column `{at}` is {file} in the file and cannot be read as {}",
                data_type.name()
            ))
        };
        let data_type = data_type.stored();
        Ok(match (data_type, file) {
            (DataType::Struct(s), Arrow::Struct(fields)) => {
                let Arrow::Struct(to) = target else { return Err(mismatch()) };
                let children = self.fields(s, fields, at)?;
                let keep = |(i, child): (usize, &Option<_>)| *child == Some((i, Convert::Keep));
                if same && children.iter().enumerate().all(keep) {
                    Convert::Keep
                } else {
                    Convert::Struct(to, children)
                }
            }
            (DataType::Array(a), Arrow::List(element)) => {
                let Arrow::List(to) = target else { return Err(mismatch()) };
                match self.of(&a.element_type, element.data_type(), &format!("{at}.element"))? {
                    Convert::Keep if same => Convert::Keep,
                    inner => Convert::List(to, Box::new(inner)),
                }
            }
            (DataType::Map(m), Arrow::Map(entries, _)) => {
                let (Arrow::Map(to, _), Arrow::Struct(fields)) = (target, entries.data_type()) else {
                    return Err(mismatch());
                };
                let key = self.of(&m.key_type, fields[0].data_type(), &format!("{at}.key"))?;
                let value = self.of(&m.value_type, fields[1].data_type(), &format!("{at}.value"))?;
                match (key, value) {
                    (Convert::Keep, Convert::Keep) if same => Convert::Keep,
                    (key, value) => Convert::Map(to, Box::new(key), Box::new(value)),
                }
            }
            (DataType::Variant, Arrow::Struct(_)) if same => Convert::Keep,
            (DataType::Variant, Arrow::Struct(fields)) => self.variant(fields, target, at)?,
            _ if file.is_nested() || target.is_nested() => return Err(mismatch()),
            _ => self.rebased(data_type, file, primitive(file, &target).ok_or_else(mismatch)?),
        })
    }

    /// The conversion, with a change of the calendar where the file has the hybrid one.
    fn rebased(&self, data_type: &DataType, file: &Arrow, convert: Convert) -> Convert {
        match (file, data_type, &self.calendar.instants) {
            (Arrow::Date32, _, _) if self.calendar.dates => Convert::HybridDates(Box::new(convert)),
            (Arrow::Timestamp(_, _), DataType::Timestamp, Some(zone)) => {
                Convert::HybridInstants(Box::new(convert), zone.clone())
            }
            _ => convert,
        }
    }

    fn fields(
        &self,
        wanted: &StructType,
        fields: &Fields,
        at: &str,
    ) -> Result<Vec<Option<(usize, Convert)>>> {
        let names = self.matcher.names(fields, at)?;
        let convert = |field: &StructField| {
            let Some(index) = self.matcher.find(&names, field, at)? else { return Ok(None) };
            let place = format!("{at}.{}", field.name);
            Ok(Some((index, self.of(&field.data_type, fields[index].data_type(), &place)?)))
        };
        wanted.fields.iter().map(convert).collect()
    }

    /// A variant: two binary fields, in either order, or values that stand in typed columns as well.
    fn variant(&self, fields: &Fields, target: Arrow, at: &str) -> Result<Convert> {
        let Arrow::Struct(to) = target else {
            return Err(self.matcher.error(format!("column `{at}` is not a variant")));
        };
        if fields.find("typed_value").is_some() {
            return Ok(Convert::Unshred(to));
        }
        let children = to
            .iter()
            .map(|part| {
                let (index, found) = fields.find(part.name()).ok_or_else(|| {
                    self.matcher.error(format!("the variant of column `{at}` has no `{}`", part.name()))
                })?;
                let convert = primitive(found.data_type(), part.data_type()).ok_or_else(|| {
                    self.matcher.error(format!("`{}` of the variant `{at}` is not binary", part.name()))
                })?;
                Ok(Some((index, convert)))
            })
            .collect::<Result<_>>()?;
        Ok(Convert::Struct(to, children))
    }
}
