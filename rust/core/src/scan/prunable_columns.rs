//! The columns of a file whose statistics speak for their rows.

use std::collections::{BTreeSet, HashMap};

use arrow::datatypes::{DataType as Arrow, Field, Fields};

use super::cast::Convert;
use super::leaves::starts;
use crate::schema::{DataType, StructField, StructType};

/// A column that is one leaf with only structs above it: it has one value, or null, in each row.
#[derive(Debug)]
pub(crate) struct PrunableColumns {
    /// Index of the leaf in the file.
    pub(crate) leaf: usize,
    /// Its field as the file is read.
    pub(crate) field: Field,
    /// How its values are converted; it keeps their order.
    pub(crate) convert: Convert,
}

/// The flat columns among those of a read, by their paths in the table: `fields` is what is read of the file, the leaves
/// `chosen`, and `columns` says where the fields of `schema` are in it. Columns whose conversion does not keep the order
/// of the values, or makes nulls of them, are left out.
pub(super) fn prunable_columns(
    schema: &StructType,
    fields: &Fields,
    columns: &[Option<(usize, Convert)>],
    chosen: &BTreeSet<usize>,
) -> HashMap<Vec<String>, PrunableColumns> {
    let mut walk = Walk { chosen: chosen.iter().copied().collect(), found: HashMap::new() };
    walk.fields(&[], &schema.fields, fields, 0, columns);
    walk.found
}

struct Walk {
    chosen: Vec<usize>,
    found: HashMap<Vec<String>, PrunableColumns>,
}

impl Walk {
    /// The fields of a struct at the path `at`, whose first leaf is number `first` of the chosen ones.
    fn fields(
        &mut self,
        at: &[String],
        wanted: &[StructField],
        file: &Fields,
        first: usize,
        sources: &[Option<(usize, Convert)>],
    ) {
        let starts = starts(file, first);
        for (field, source) in wanted.iter().zip(sources) {
            let Some((index, convert)) = source else { continue };
            let path = [at, std::slice::from_ref(&field.name)].concat();
            let (of, start) = (&file[*index], starts[*index]);
            match (&field.data_type, of.data_type(), convert) {
                (DataType::Struct(inner), Arrow::Struct(fields), Convert::Struct(_, children)) => {
                    self.fields(&path, &inner.fields, fields, start, children);
                }
                (DataType::Struct(inner), Arrow::Struct(fields), Convert::Keep) => {
                    let same: Vec<_> = (0..fields.len()).map(|i| Some((i, Convert::Keep))).collect();
                    self.fields(&path, &inner.fields, fields, start, &same);
                }
                (_, _, Convert::HybridDates(_) | Convert::HybridInstants(..) | Convert::Null(_)) => {}
                (_, leaf, convert) if !leaf.is_nested() => {
                    let Some(leaf) = self.chosen.get(start).copied() else { continue };
                    let flat = PrunableColumns { leaf, field: of.as_ref().clone(), convert: convert.clone() };
                    self.found.insert(path, flat);
                }
                _ => {}
            }
        }
    }
}
