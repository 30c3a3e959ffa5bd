//! How many rows a file has by its statistics.

use arrow::array::{Int64Array, StringViewArray};
use serde::Deserialize;

use crate::actions::Add;
use crate::prune::Shapes;

/// Number of rows of the data file, deleted ones included.
pub(crate) fn num_records(add: &Add) -> Option<i64> {
    num_records_of(add.stats.as_deref()?)
}

/// [`num_records`] by the statistics of a file.
pub(crate) fn num_records_of(stats: &str) -> Option<i64> {
    #[derive(Deserialize)]
    struct Rows {
        #[serde(rename = "numRecords")]
        num_records: i64,
    }
    serde_json::from_str::<Rows>(stats).ok().map(|r| r.num_records)
}

/// [`num_records_of`] of the statistics of many files; null where it has none. A text of the shape of one before is not
/// parsed.
pub(crate) fn num_records_in(stats: &StringViewArray) -> Int64Array {
    let mut shapes: Shapes<Option<usize>> = Shapes::new();
    let mut count = |text: &str| {
        let mut found = None;
        let place = |paths: &[Vec<String>]| paths.iter().position(|path| path == &["numRecords"]);
        let shaped = shapes.walk(
            text,
            |shape| Some(place(shape.paths())),
            |place, number, raw| {
                if number == 0 {
                    found = None;
                }
                if *place == Some(number) {
                    found = Some(raw);
                }
            },
        );
        match shaped {
            // JSON's -0 is no whole number
            Some(_) => found.filter(|raw| *raw != "-0").and_then(|raw| raw.parse().ok()),
            None => num_records_of(text),
        }
    };
    stats.iter().map(|text| text.and_then(&mut count)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    proptest! {
        #[test]
        fn the_counts_of_many_files_are_those_of_each(
            texts in vec((select(vec![
                r#"{"numRecords":@}"#, r#"{"numRecords":@,"minValues":{"a":#},"nullCount":{"a":0}}"#,
                r#"{"minValues":{"numRecords":#},"numRecords":@}"#, r#"{"minValues":{"a":#}}"#, "{}", "@", "",
                r#"{"numRecords":{"x":@}}"#, r#"{"numRecords":@,"numRecords":#}"#, r#"{"numRecords":@} #"#, "[@]",
            ]), select(vec!["1", "0", "-0", "-7", "1.0", "1e3", "01", "9223372036854775808", "null", "\"1\"", "true"]),
                any::<Option<i64>>(), any::<bool>()), 0..40),
        ) {
            let texts: Vec<Option<String>> = texts.into_iter().map(|(form, count, other, there)| {
                let other = other.map_or("null".to_owned(), |n| n.to_string());
                there.then(|| form.replace('@', count).replace('#', &other))
            }).collect();
            let expected: Vec<Option<i64>> =
                texts.iter().map(|text| num_records_of(text.as_deref()?)).collect();
            let found = num_records_in(&StringViewArray::from_iter(texts.iter().map(Option::as_deref)));
            prop_assert_eq!(found.iter().collect::<Vec<_>>(), expected);
        }
    }
}
