use std::cell::RefCell;

use crate::events;

thread_local! {
    /// The warnings of commits that somebody listens to in this thread.
    static COLLECTED: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Does some work, and gives with its result the warnings of all commits that it made in this thread: one place to
/// collect them, whatever the operation returns. In nested calls the inner one collects them.
pub fn with_warnings<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let outer = COLLECTED.with(|collected| collected.replace(Some(Vec::new())));
    let result = work();
    let collected = COLLECTED.with(|collected| collected.replace(outer));
    (result, collected.unwrap_or_default())
}

/// Sends warnings to whoever listens.
pub(crate) fn warn(warnings: &[String]) {
    events::failed_after_commit(warnings);
    COLLECTED.with(|collected| {
        if let Some(collected) = collected.borrow_mut().as_mut() {
            collected.extend_from_slice(warnings);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_who_asked_last_hears() {
        let note = |text: &str| warn(&[text.to_owned()]);
        note("nobody");
        let (inner, outer) = with_warnings(|| {
            note("before");
            let inner = with_warnings(|| note("within")).1;
            note("after");
            inner
        });
        assert_eq!(
            (inner, outer),
            (vec!["within".to_owned()], vec!["before".to_owned(), "after".to_owned()])
        );
    }
}
