use std::cell::RefCell;

thread_local! {
    /// The warnings of commits that somebody listens to in this thread.
    static HEARD: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Does some work, and gives with its result the warnings of all commits that it made in this thread: one place to hear
/// them, whatever the operation returns. Within another call of this, the inner one hears them.
pub fn hear_warnings<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let outer = HEARD.with(|heard| heard.replace(Some(Vec::new())));
    let result = work();
    let heard = HEARD.with(|heard| heard.replace(outer));
    (result, heard.unwrap_or_default())
}

/// Tells warnings to whoever listens.
pub(crate) fn tell(warnings: &[String]) {
    HEARD.with(|heard| {
        if let Some(heard) = heard.borrow_mut().as_mut() {
            heard.extend_from_slice(warnings);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_who_asked_last_hears() {
        let note = |text: &str| tell(&[text.to_owned()]);
        note("nobody");
        let (inner, outer) = hear_warnings(|| {
            note("before");
            let inner = hear_warnings(|| note("within")).1;
            note("after");
            inner
        });
        assert_eq!(
            (inner, outer),
            (vec!["within".to_owned()], vec!["before".to_owned(), "after".to_owned()])
        );
    }
}
