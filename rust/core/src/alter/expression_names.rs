//! The columns that a SQL expression names, found in its text. It errs on the side of "names".

use super::paths::begins_with;
use crate::schema::{StructType, in_backticks};

/// A piece of an expression.
#[derive(Debug, PartialEq)]
enum Token {
    Name { text: String, quoted: bool },
    Text,
    Sign(char),
}

fn tokens(expression: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = expression.chars().peekable();
    while let Some(c) = chars.next() {
        tokens.push(match c {
            '\'' | '"' => {
                while let Some(inner) = chars.next() {
                    match inner {
                        '\\' => drop(chars.next()),
                        end if end == c => break,
                        _ => {}
                    }
                }
                Token::Text
            }
            '`' => {
                let mut text = String::new();
                while let Some(inner) = chars.next() {
                    match inner {
                        '`' if chars.next_if_eq(&'`').is_some() => text.push('`'),
                        '`' => break,
                        _ => text.push(inner),
                    }
                }
                Token::Name { text, quoted: true }
            }
            c if c.is_alphanumeric() || c == '_' => {
                let mut text = String::from(c);
                while let Some(next) = chars.next_if(|n| n.is_alphanumeric() || *n == '_') {
                    text.push(next);
                }
                Token::Name { text, quoted: false }
            }
            c if c.is_whitespace() => continue,
            sign => Token::Sign(sign),
        });
    }
    tokens
}

/// The names in an expression, as paths: `a.b` is one of two parts. Words of SQL may be among them. Text in quotes is not,
/// nor are names of functions (`date(a)`), of types (`CAST(a AS DATE)`, `a::DATE`), and of literals (`DATE '2026-01-01'`).
pub(super) fn names(expression: &str) -> Vec<Vec<String>> {
    let tokens = tokens(expression);
    let mut names: Vec<Vec<String>> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Token::Name { text, quoted } = token else { continue };
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        let after = tokens.get(at + 1);
        if before == Some(&Token::Sign('.')) {
            // what follows a call or a place in an array is within a column that is named as a whole already
            let name = at.checked_sub(2).is_some_and(|at| matches!(tokens[at], Token::Name { .. }));
            if let Some(path) = names.last_mut().filter(|_| name) {
                path.push(text.clone());
            }
            continue;
        }
        let cast = match before {
            Some(Token::Name { text, quoted: false }) => text.eq_ignore_ascii_case("as"),
            Some(Token::Sign(':')) => at >= 2 && tokens[at - 2] == Token::Sign(':'),
            _ => false,
        };
        let called = matches!(after, Some(Token::Sign('(') | Token::Text));
        if *quoted || !(cast || called) {
            names.push(vec![text.clone()]);
        }
    }
    names
}

/// The first name in backticks, at the beginning of a path, that is no column. Without backticks it might be a function.
pub(super) fn unknown_quoted(schema: &StructType, expression: &str) -> Option<String> {
    let known = |name: &str| schema.field(name).is_some();
    let quoted = |name: &str| expression.contains(&in_backticks(name));
    let first = names(expression).into_iter().filter_map(|path| path.into_iter().next());
    first.into_iter().find(|name| quoted(name) && !known(name))
}

/// Whether an expression refers to a column, to one within it, or to one that it is in.
pub(super) fn refers_to(expression: &str, path: &[String]) -> bool {
    // in expressions, the fields of an array's elements and of a map's values are also written without a step
    let steps = |part: &&String| !["element", "key", "value"].contains(&part.as_str());
    let short: Vec<String> = path.iter().take(1).chain(path.iter().skip(1).filter(steps)).cloned().collect();
    names(expression)
        .iter()
        .any(|name| [path, &short].iter().any(|path| begins_with(path, name) || begins_with(name, path)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::testing::path;

    #[test]
    fn columns_are_found_in_expressions() {
        let e = r#"upper(a) = 'b' AND `s.t`.x > 1 OR arr[0] . y < c AND d = "e \" f""#;
        for (column, refers) in [
            ("a", true),
            ("A", true),
            ("b", false),
            ("arr", true),
            ("arr.element.y", true),
            ("arr.element", true),
            ("c", true),
            ("d", true),
            ("e", false),
            ("f", false),
            ("t", false),
        ] {
            assert_eq!(refers_to(e, &path(column)), refers, "{column}");
        }
        assert!(refers_to(e, &["s.t".into(), "x".into()]) && !refers_to(e, &["s.t".into(), "z".into()]));
        assert!(refers_to("m.k.z > 1", &path("m.value.z")) || refers_to("m.z > 1", &path("m.value.z")));
        assert_eq!(names("a.b + c"), [path("a.b"), path("c")]);
        assert_eq!(names("f(a).b"), [path("a")]);
        let types = "date(a) = CAST(b AS DATE) AND c::date > DATE '2026-01-01' AND `date`(d)";
        assert!(
            ["a", "b", "c", "d"].iter().all(|c| refers_to(types, &path(c)))
                && refers_to(types, &path("date"))
        );
        assert!(!refers_to(&types.replace('`', ""), &path("date")));
        assert!(names("'open").is_empty());
    }
}
