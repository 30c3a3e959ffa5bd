//! Two values of the log, shown by the fields in which they differ.

use serde::Serialize;
use serde_json::{Map, Value};

/// The shown form of a field.
const MOST_CHARS: usize = 200;

/// `expected` and `found` by their fields that differ, in the words of the log.
pub(super) fn show<T: Serialize>(expected: Option<&T>, found: Option<&T>) -> (String, String) {
    let (expected, found) = (value(expected), value(found));
    let (Value::Object(a), Value::Object(b)) = (&expected, &found) else {
        return (short(&expected), short(&found));
    };
    let differs = |key: &&String| a.get(*key) != b.get(*key);
    let keys: Vec<&String> =
        a.keys().chain(b.keys().filter(|k| !a.contains_key(*k))).filter(differs).collect();
    let of = |map: &Map<String, Value>| {
        let shown = |key: &&String| format!("{key}: {}", map.get(*key).map_or("none".into(), short));
        keys.iter().map(shown).collect::<Vec<_>>().join(", ")
    };
    (of(a), of(b))
}

fn value<T: Serialize>(of: Option<&T>) -> Value {
    of.and_then(|v| serde_json::to_value(v).ok()).unwrap_or_default()
}

fn short(value: &Value) -> String {
    let text = match value {
        Value::Null => return "none".to_owned(),
        other => other.to_string(),
    };
    match text.char_indices().nth(MOST_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::Txn;

    #[test]
    fn only_what_differs_is_shown() {
        let txn = |version| Txn { app_id: "a".into(), version, last_updated: None };
        let shown = show(Some(&txn(1)), Some(&txn(2)));
        assert_eq!(shown, ("version: 1".into(), "version: 2".into()));
        assert_eq!(show(Some(&txn(1)), None).1, "none");
        assert!(show(None, Some(&"x".repeat(300))).1.ends_with('…'));
    }
}
