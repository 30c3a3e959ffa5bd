//! `LIKE` patterns and regular expressions.

use regex::Regex;

use super::kernel::Eval;
use super::regex_translate::translate;

/// A `LIKE` pattern.
pub(super) struct Like {
    regex: Regex,
    ignore_case: bool,
}

impl Like {
    /// # Errors
    /// When the escape precedes anything except `%`, `_` and itself, as in Spark.
    pub(super) fn new(pattern: &str, escape: char, ignore_case: bool) -> Eval<Self> {
        let mut out = String::from(r"\A(?s:");
        let pattern = if ignore_case { pattern.to_lowercase() } else { pattern.to_owned() };
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            if c == escape {
                match chars.next() {
                    Some(next) if next == escape || next == '%' || next == '_' => {
                        out.push_str(&regex::escape(&next.to_string()));
                    }
                    _ => {
                        return Err(format!(
                            "the pattern '{pattern}' has the escape '{escape}' in a wrong place"
                        ));
                    }
                }
                continue;
            }
            match c {
                '%' => out.push_str(".*"),
                '_' => out.push('.'),
                other => out.push_str(&regex::escape(&other.to_string())),
            }
        }
        out.push_str(r")\z");
        Ok(Like { regex: Regex::new(&out).map_err(|e| e.to_string())?, ignore_case })
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        if self.ignore_case { self.regex.is_match(&text.to_lowercase()) } else { self.regex.is_match(text) }
    }
}

/// A regular expression of Java.
pub(super) struct JavaRegex {
    pub(super) regex: Regex,
    /// The pattern has `$`, which in Java also matches before a line break at the end.
    end: bool,
    /// Case is ignored, by Java only among ASCII letters.
    ascii: bool,
}

impl JavaRegex {
    fn new(pattern: &str) -> Eval<Self> {
        let failed = |reason: String| format!("the regular expression '{pattern}': {reason}");
        let translated = translate(pattern).map_err(failed)?;
        let regex = Regex::new(&translated.pattern).map_err(|e| failed(e.to_string()))?;
        Ok(JavaRegex { regex, end: translated.end, ascii: translated.ignores_case })
    }

    /// The text, if Java and this crate agree on it.
    pub(super) fn subject<'t>(&self, text: &'t str) -> Eval<&'t str> {
        let breaks = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];
        if self.end && text.ends_with(breaks) {
            return Err(
                "a regular expression with `$` on a text that ends with a line break is not supported".into(),
            );
        }
        if self.ascii && !text.is_ascii() {
            return Err(
                "a regular expression that ignores case on a text that is not ASCII is not supported".into(),
            );
        }
        Ok(text)
    }

    pub(super) fn is_match(&self, text: &str) -> Eval<bool> {
        Ok(self.regex.is_match(self.subject(text)?))
    }
}

/// A regular expression of Java for texts without line breaks.
pub(crate) fn java_regex(pattern: &str) -> Result<Regex, String> {
    JavaRegex::new(pattern).map(|regex| regex.regex)
}

/// The regular expression used last, which most often is the one for every row.
#[derive(Default)]
pub(super) struct Regexes {
    last: Option<(String, JavaRegex)>,
}

impl Regexes {
    pub(super) fn get(&mut self, pattern: &str) -> Eval<&JavaRegex> {
        if self.last.as_ref().is_none_or(|(text, _)| text != pattern) {
            self.last = Some((pattern.to_owned(), JavaRegex::new(pattern)?));
        }
        self.last.as_ref().map(|(_, regex)| regex).ok_or_else(|| "no regular expression".to_owned())
    }
}
