use super::Definition;
use super::change::Change;
use super::finalize::finalize;
use super::identity::Identity;
use super::paths::{position, refuse, resolve};
use crate::error::{Result, condition};

/// The table with the mark of an identity column at the farthest value of its rows, which is asked for by the name of the
/// column and whether values grow. A mark moves back only if `lowered`; a table without values keeps it.
///
/// # Errors
/// [`Error::InvalidColumnChange`] for a missing column or is no identity column, and where the mark would not fit
/// into 64 bits; as `farthest`.
pub(crate) fn sync_mark(
    table: &Definition,
    column: &[String],
    lowered: bool,
    farthest: impl FnOnce(&str, bool) -> Result<Option<i64>>,
) -> Result<Definition> {
    let path = resolve(&table.schema, column).map_err(|error| {
        let columns: Vec<&str> = table.schema.fields.iter().map(|f| f.name.as_str()).collect();
        let (name, proposal) = (column.join("."), columns.join(", "));
        error.named(
            &condition::UNRESOLVED_COLUMN_WITH_SUGGESTION,
            [("objectName", name.as_str()), ("proposal", proposal.as_str())],
        )
    })?;
    let mut new = table.clone();
    let place = path.first().filter(|_| path.len() == 1).and_then(|name| position(&new.schema, name));
    let field = place.and_then(|at| new.schema.fields.get_mut(at));
    let field = field.ok_or_else(|| refuse(&path, "an identity column is one of the table itself"))?;
    let identity = Identity::of(field)?.ok_or_else(|| {
        refuse(&path, "it is not an identity column")
            .of_condition(&condition::IDENTITY_COLUMNS_ALTER_NON_IDENTITY_COLUMN)
    })?;
    if let Some(value) = farthest(&field.name, identity.step > 0)? {
        let high_water_mark = identity.synced(&field.name, value, lowered)?;
        Identity { high_water_mark, ..identity }.write(field);
    }
    finalize(Some(table), new, &Default::default(), Change::Alter)
}
