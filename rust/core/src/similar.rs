//! What a mistyped name may have meant.

use strsim::osa_distance;

/// ` (did you mean …?)` with the name that is most like the given one; empty where none differs in at most a quarter of
/// its letters.
pub(crate) fn did_you_mean<S: AsRef<str>>(given: &str, known: impl IntoIterator<Item = S>) -> String {
    let given = given.to_lowercase();
    let most = given.chars().count() / 4;
    let like = known
        .into_iter()
        .map(|name| (osa_distance(&given, &name.as_ref().to_lowercase()), name))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance);
    like.map_or_else(String::new, |(_, name)| format!(" (did you mean `{}`?)", name.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn only_a_name_that_is_like_it_is_suggested() {
        let columns = ["country", "amount", "id"];
        assert_eq!(did_you_mean("countrx", columns), " (did you mean `country`?)");
        assert_eq!(did_you_mean("AMUONT", columns), " (did you mean `amount`?)");
        for other in ["ix", "", "nothing", "c"] {
            assert_eq!(did_you_mean(other, columns), "", "{other}");
        }
    }
}
