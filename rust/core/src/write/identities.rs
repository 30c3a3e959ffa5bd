//! Values of identity columns: the next ones after the high-water mark, in the order of the rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};

use crate::alter::identity::Identity;
use crate::error::Result;
use crate::schema::{ColumnMappingMode, StructField};

/// The identity columns that rows lack.
#[derive(Debug, Default)]
pub(super) struct Identities {
    columns: Vec<Sequence>,
}

#[derive(Debug)]
struct Sequence {
    place: usize,
    name: String,
    physical: String,
    identity: Identity,
    last: Option<i64>,
}

impl Identities {
    /// Takes on a column.
    pub(super) fn generate(
        &mut self,
        place: usize,
        field: &StructField,
        mode: ColumnMappingMode,
        identity: Identity,
    ) {
        let physical = field.physical_name(mode).to_owned();
        self.columns.push(Sequence { place, name: field.name.clone(), physical, identity, last: None });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    pub(super) fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.columns.iter().map(|c| c.place)
    }

    /// Gives the next values to this many rows.
    ///
    /// # Errors
    /// [`crate::Error::InvalidColumnChange`] when they do not fit into 64 bits.
    pub(super) fn fill(&mut self, columns: &mut [ArrayRef], rows: usize) -> Result<()> {
        for column in &mut self.columns {
            let Some((first, last)) = column.identity.next(&column.name, rows as u64)? else { continue };
            let step = column.identity.step;
            // none of them overflows, as the last does not
            let values = (0..rows as i64).map(|n| first.wrapping_add(n.wrapping_mul(step)));
            columns[column.place] = Arc::new(values.collect::<Int64Array>());
            column.identity.high_water_mark = Some(last);
            column.last = Some(last);
        }
        Ok(())
    }

    /// Goes on after values that others gave, by physical name.
    pub(super) fn advance_to(&mut self, marks: &BTreeMap<String, i64>) {
        for column in &mut self.columns {
            if let Some(mark) = marks.get(&column.physical) {
                column.identity.high_water_mark = Some(*mark);
            }
        }
    }

    /// The farthest values given, by physical name.
    pub(super) fn marks(&self) -> BTreeMap<String, i64> {
        self.columns.iter().filter_map(|c| Some((c.physical.clone(), c.last?))).collect()
    }
}
