//! The partitions of files in one spelling.

use std::collections::BTreeSet;

use arrow::array::ArrayRef;

use super::plan::WritePlan;
use super::split::PartitionKey;
use crate::actions::PartitionValues;
use crate::error::Result;
use crate::partition::{self, partition_text};
use crate::predicate::{CompareOp, Literal, Predicate};

fn typed<'p>(plan: &'p WritePlan, values: &PartitionValues) -> Result<Vec<(&'p str, ArrayRef)>> {
    let names = plan.partition_columns.iter().zip(&plan.physical_partition_columns);
    names
        .filter_map(|(name, physical)| Some((name, physical, plan.schema.field(name)?)))
        .map(|(name, physical, field)| {
            let text = values.get(physical).and_then(Option::as_deref);
            Ok((name.as_str(), partition::parse(name, text, &field.data_type)?))
        })
        .collect()
}

/// Partition values in one spelling, in the order of the partition columns: writers differ in that of times and numbers.
pub(crate) fn canonical(plan: &WritePlan, values: &PartitionValues) -> Result<Vec<Option<String>>> {
    Ok(partition_key(plan, values)?.into_iter().map(|text| text.map(|t| t.log)).collect())
}

/// What identifies the files of a partition.
pub(super) fn partition_key(plan: &WritePlan, values: &PartitionValues) -> Result<PartitionKey> {
    typed(plan, values)?
        .into_iter()
        .map(|(name, array)| match plan.schema.field(name) {
            Some(field) => partition_text(&array, 0, &field.data_type, name),
            None => Ok(None),
        })
        .collect()
}

/// The rows of these partitions.
pub(crate) fn rows_of_partitions(plan: &WritePlan, partitions: &BTreeSet<Vec<Option<String>>>) -> Predicate {
    let is = |(name, value): (&String, &Option<String>)| match value {
        None => Predicate::IsNull { column: vec![name.clone()] },
        Some(text) => Predicate::Compare {
            op: CompareOp::Eq,
            column: vec![name.clone()],
            value: Literal::String(text.clone()),
        },
    };
    let one = |values: &Vec<Option<String>>| {
        Predicate::And(plan.partition_columns.iter().zip(values).map(is).collect())
    };
    Predicate::Or(partitions.iter().map(one).collect())
}
