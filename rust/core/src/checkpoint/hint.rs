use arrow::datatypes::Schema;
use serde_json::Value;

use crate::error::Result;
use crate::log::LastCheckpoint;
use crate::schema::from_arrow;
use crate::store::Location;

/// Schemas of more characters are left out of the hint, as delta-spark does.
const MOST: usize = 20_000;

/// Writes the hint, unless it names this checkpoint or a newer one already: it moves only forward. Returns whether it
/// was written.
///
/// # Errors
/// Errors of the store. The checkpoint is written nevertheless.
pub(super) fn write_hint(location: &Location, hint: &LastCheckpoint) -> Result<bool> {
    // a hint that cannot be read is replaced
    if let Ok(Some(known)) = LastCheckpoint::read(location)
        && known.version >= hint.version
    {
        return Ok(false);
    }
    let path = location.log_dir().join(LastCheckpoint::NAME);
    location.store().put(&path, hint.to_json()?.into())?;
    Ok(true)
}

/// The schema of a file in the form of the protocol, unless it is too long for a hint.
pub(super) fn schema_json(schema: &Schema) -> Option<Value> {
    let text = from_arrow(schema).ok()?.to_json();
    if text.len() > MOST { None } else { serde_json::from_str(&text).ok() }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, Field};

    use super::*;

    #[test]
    fn a_schema_is_in_the_hint_unless_it_is_long() {
        let of = |columns: usize| {
            let fields: Vec<Field> =
                (0..columns).map(|n| Field::new(format!("column{n}"), DataType::Int64, true)).collect();
            schema_json(&Schema::new(fields))
        };
        for columns in [0, 1, 100] {
            assert_eq!(of(columns).unwrap()["fields"].as_array().unwrap().len(), columns);
        }
        for columns in [400, 1_000] {
            assert_eq!(of(columns), None, "{columns}");
        }
    }
}
