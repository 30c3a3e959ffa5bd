//! Regular expressions of Java as those of the crate `regex`. What the two read differently is translated or refused.

pub(super) struct Translated {
    pub(super) pattern: String,
    /// `$` is in it.
    pub(super) end: bool,
    /// It begins with `(?i)`.
    pub(super) ignores_case: bool,
}

type Translating<T> = Result<T, String>;

pub(super) fn translate(java: &str) -> Translating<Translated> {
    let mut out = String::with_capacity(java.len() + 8);
    let mut end = false;
    let ignores_case = java.starts_with("(?i)");
    let mut chars = java.chars().peekable();
    if ignores_case {
        out.push_str("(?i)");
        chars = java["(?i)".len()..].chars().peekable();
    }
    let mut quantified = false;
    while let Some(c) = chars.next() {
        let mut quantifies = false;
        match c {
            '\\' => escape(chars.next(), &mut chars, false, &mut out)?,
            '[' => class(&mut chars, &mut out)?,
            // every line terminator of Java
            '.' => out.push_str(r"[^\n\r\u{85}\u{2028}\u{2029}]"),
            '$' => {
                end = true;
                out.push_str(r"\z");
            }
            '^' => out.push_str(r"\A"),
            '(' if chars.peek() == Some(&'?') => {
                chars.next();
                match chars.next() {
                    Some(':') => out.push_str("(?:"),
                    other => return Err(format!("`(?{}` is not supported", other.unwrap_or_default())),
                }
            }
            '*' | '+' | '?' | '{' => {
                if quantified && c == '+' {
                    return Err("possessive quantifiers are not supported".into());
                }
                if quantified && c != '?' {
                    return Err(format!("`{c}` after a quantifier is not supported"));
                }
                quantifies = !quantified;
                out.push(c);
                if c == '{' {
                    counts(&mut chars, &mut out)?;
                }
            }
            '}' | ']' => {
                out.push('\\');
                out.push(c);
            }
            other => out.push(other),
        }
        quantified = quantifies;
    }
    Ok(Translated { pattern: out, end, ignores_case })
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn counts(chars: &mut Chars<'_>, out: &mut String) -> Translating<()> {
    let mut any = false;
    for c in chars.by_ref() {
        out.push(c);
        match c {
            '0'..='9' => any = true,
            ',' if any => {}
            '}' if any => return Ok(()),
            _ => break,
        }
    }
    Err("a `{` that counts nothing is not supported".into())
}

fn escape(c: Option<char>, chars: &mut Chars<'_>, in_class: bool, out: &mut String) -> Translating<()> {
    let Some(c) = c else { return Err("it ends with a backslash".into()) };
    match c {
        // ASCII only, as in Java
        'd' if in_class => out.push_str("0-9"),
        'w' if in_class => out.push_str("a-zA-Z0-9_"),
        's' if in_class => out.push_str(r"\t\n\x0B\f\r "),
        'd' => out.push_str("[0-9]"),
        'w' => out.push_str("[a-zA-Z0-9_]"),
        's' => out.push_str(r"[\t\n\x0B\f\r ]"),
        'D' => out.push_str("[^0-9]"),
        'W' => out.push_str("[^a-zA-Z0-9_]"),
        'S' => out.push_str(r"[^\t\n\x0B\f\r ]"),
        'A' | 'z' if !in_class => {
            out.push('\\');
            out.push(c);
        }
        't' | 'n' | 'r' | 'f' | 'a' => {
            out.push('\\');
            out.push(c);
        }
        'x' | 'u' => {
            let length = if c == 'x' { 2 } else { 4 };
            let digits: String = chars.by_ref().take(length).collect();
            if digits.len() != length || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                return Err(format!("`\\{c}{digits}` is not supported"));
            }
            out.push_str(&format!(r"\x{{{digits}}}"));
        }
        c if c.is_ascii_alphanumeric() => return Err(format!("`\\{c}` is not supported")),
        c => out.push_str(&regex::escape(&c.to_string())),
    }
    Ok(())
}

/// A class of characters, without those of Java that hold classes or intersect them.
fn class(chars: &mut Chars<'_>, out: &mut String) -> Translating<()> {
    out.push('[');
    if chars.peek() == Some(&'^') {
        chars.next();
        out.push('^');
    }
    let mut first = true;
    while let Some(c) = chars.next() {
        match c {
            ']' if !first => {
                out.push(']');
                return Ok(());
            }
            ']' | '[' => return Err(format!("`{c}` within a class is not supported; escape it")),
            '&' if chars.peek() == Some(&'&') => return Err("`&&` within a class is not supported".into()),
            '\\' => escape(chars.next(), chars, true, out)?,
            '-' if !first && chars.peek().is_some_and(|n| *n != ']') => out.push('-'),
            '-' | '&' | '~' | '^' => {
                out.push('\\');
                out.push(c);
            }
            other => out.push(other),
        }
        first = false;
    }
    Err("a class is not closed".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(java: &str) -> String {
        translate(java).map_or_else(|e| e, |t| t.pattern)
    }

    #[test]
    fn what_java_reads_otherwise_is_translated() {
        assert_eq!(of(r"^\d+$"), r"\A[0-9]+\z");
        assert_eq!(of(r"[\w.-]+@x"), r"[a-zA-Z0-9_.\-]+@x");
        assert_eq!(of("a{2,3}?"), "a{2,3}?");
        assert_eq!(of("a.b"), r"a[^\n\r\u{85}\u{2028}\u{2029}]b");
    }

    #[test]
    fn what_cannot_be_translated_is_refused() {
        for java in [r"(?=a)", r"(a)\1", "a++", r"\p{Alpha}", "[a[b]]", "[a&&b]", r"\Qa\E", r"\bx", "a{,3}"] {
            assert!(translate(java).is_err(), "{java}");
        }
    }
}
