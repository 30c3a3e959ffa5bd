//! The leaves of a file's schema: Parquet counts its columns by them, depth first.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use arrow::datatypes::{DataType as Arrow, Field, FieldRef, Fields};
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;

/// The field id of a column of a file.
pub(super) fn field_id(field: &Field) -> Option<i32> {
    field.metadata().get(PARQUET_FIELD_ID_META_KEY).and_then(|id| id.parse().ok())
}

/// Whether a field at any depth has an id.
pub(super) fn any_field_id(fields: &Fields) -> bool {
    fn any(field: &Field) -> bool {
        field_id(field).is_some() || children(field.data_type()).into_iter().any(|c| any(c))
    }
    fields.iter().any(|f| any(f))
}

fn children(data_type: &Arrow) -> Vec<&FieldRef> {
    match data_type {
        Arrow::Struct(fields) => fields.iter().collect(),
        Arrow::List(element) => vec![element],
        Arrow::Map(entries, _) => children(entries.data_type()),
        _ => Vec::new(),
    }
}

/// Number of Parquet leaves below a type of the file.
pub(super) fn leaf_count(data_type: &Arrow) -> usize {
    match data_type {
        Arrow::Struct(_) | Arrow::List(_) | Arrow::Map(_, _) => {
            children(data_type).iter().map(|c| leaf_count(c.data_type())).sum()
        }
        _ => 1,
    }
}

/// The number of the first leaf of each field, when that of all is `first`.
pub(super) fn starts(fields: &Fields, first: usize) -> Vec<usize> {
    let start = |leaf: &mut usize, field: &FieldRef| {
        let start = *leaf;
        *leaf += leaf_count(field.data_type());
        Some(start)
    };
    fields.iter().scan(first, start).collect()
}

/// The cheapest leaf that shows whether a struct is null: the first that no list or map lies above, else the first.
pub(super) fn witness(data_type: &Arrow) -> usize {
    fn plain(data_type: &Arrow, leaf: &mut usize) -> Option<usize> {
        match data_type {
            Arrow::Struct(fields) => fields.iter().find_map(|f| plain(f.data_type(), leaf)),
            Arrow::List(_) | Arrow::Map(_, _) => {
                *leaf += leaf_count(data_type);
                None
            }
            _ => Some(*leaf),
        }
    }
    plain(data_type, &mut 0).unwrap_or(0)
}

/// The fields with some leaves read as another type.
pub(crate) fn retype(fields: &Fields, leaf: &mut usize, types: &HashMap<usize, Arrow>) -> Fields {
    rebuild(fields, &mut |_| {
        let found = types.get(leaf).cloned();
        *leaf += 1;
        Some(found)
    })
}

/// The fields that are left when only some leaves are read, as the Parquet reader forms them.
pub(super) fn keep_leaves(fields: &Fields, leaf: &mut usize, kept: &BTreeSet<usize>) -> Fields {
    rebuild(fields, &mut |_| {
        let keep = kept.contains(leaf);
        *leaf += 1;
        keep.then_some(None)
    })
}

/// Rebuilds fields leaf by leaf: `each` drops a leaf (`None`), keeps it, or gives it another type. A field without
/// leaves is dropped.
fn rebuild(fields: &Fields, each: &mut dyn FnMut(&Arrow) -> Option<Option<Arrow>>) -> Fields {
    fields.iter().filter_map(|f| rebuild_field(f, each)).collect()
}

fn rebuild_field(
    field: &FieldRef,
    each: &mut dyn FnMut(&Arrow) -> Option<Option<Arrow>>,
) -> Option<FieldRef> {
    let data_type = match field.data_type() {
        Arrow::Struct(fields) => {
            let fields = rebuild(fields, each);
            if fields.is_empty() {
                return None;
            }
            Arrow::Struct(fields)
        }
        Arrow::List(element) => Arrow::List(rebuild_field(element, each)?),
        Arrow::Map(entries, sorted) => Arrow::Map(rebuild_field(entries, each)?, *sorted),
        leaf => match each(leaf)? {
            Some(other) => other,
            None => return Some(field.clone()),
        },
    };
    Some(Arc::new(field.as_ref().clone().with_data_type(data_type)))
}
