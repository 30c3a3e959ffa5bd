//! Which columns the SQL expressions of a table refer to, found in their text. It errs on the side of "refers".

use super::Definition;
use super::constraints::constraints;
use super::paths::{begins_with, refuse};
use crate::error::{Error, Result, condition};
use crate::properties::CONSTRAINT_PREFIX;
use crate::schema::{DataType, GENERATION_EXPRESSION, StructType, in_backticks};

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
fn refers_to(expression: &str, path: &[String]) -> bool {
    // in expressions, the fields of an array's elements and of a map's values are also written without a step
    let steps = |part: &&String| !["element", "key", "value"].contains(&part.as_str());
    let short: Vec<String> = path.iter().take(1).chain(path.iter().skip(1).filter(steps)).cloned().collect();
    names(expression)
        .iter()
        .any(|name| [path, &short].iter().any(|path| begins_with(path, name) || begins_with(name, path)))
}

/// The first generated column whose expression refers to a column, and the expression.
pub(crate) fn generated_by<'a>(schema: &'a StructType, path: &[String]) -> Option<(&'a str, &'a str)> {
    schema.fields.iter().find_map(|field| {
        let text = field.metadata.get(GENERATION_EXPRESSION).and_then(|v| v.as_str())?;
        refers_to(text, path).then_some((field.name.as_str(), text))
    })
}

/// A CHECK constraint or a generated column whose expression refers to a column.
enum User {
    Constraint { name: String, expression: String },
    Generated { column: String, expression: String },
}

impl User {
    /// The first of the table, constraints before generated columns.
    fn of(table: &Definition, path: &[String]) -> Option<User> {
        let constraint = constraints(&table.metadata).into_iter().find(|(_, text)| refers_to(text, path));
        if let Some((name, expression)) = constraint {
            return Some(User::Constraint { name: name.to_owned(), expression: expression.to_owned() });
        }
        table.schema.explode().into_iter().find_map(|(at, field)| {
            let text = field.metadata.get(GENERATION_EXPRESSION).and_then(|v| v.as_str())?;
            let generated = || User::Generated { column: at.join("."), expression: text.to_owned() };
            refers_to(text, path).then(generated)
        })
    }

    /// The error of a change that it does not allow; `conditions` are those of a constraint and of a generated column.
    fn refuses(
        &self,
        path: &[String],
        change: &str,
        conditions: [&'static condition::Condition; 2],
    ) -> Error {
        let [of_constraint, of_generated] = conditions;
        let (reason, condition, parameter) = match self {
            User::Constraint { name, expression } => (
                format!("it cannot be {change}: the CHECK constraint `{name}` ({expression}) refers to it"),
                of_constraint,
                ("constraints", format!("{CONSTRAINT_PREFIX}{name} -> {expression}")),
            ),
            User::Generated { column, expression } => (
                format!("it cannot be {change}: the generated column `{column}` refers to it"),
                of_generated,
                ("generatedColumns", format!("{column} -> {expression}")),
            ),
        };
        refuse(path, reason).named(condition, [("columnName", path.join(".")), parameter])
    }
}

/// Refuses a change of a column that a CHECK constraint or a generated column refers to.
///
/// # Errors
/// [`Error::InvalidColumnChange`] that names the constraint or the column.
pub(super) fn refuse_if_used(table: &Definition, path: &[String], change: &str) -> Result<()> {
    let conditions = [
        &condition::CONSTRAINT_DEPENDENT_COLUMN_CHANGE,
        &condition::GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE,
    ];
    User::of(table, path).map_or(Ok(()), |user| Err(user.refuses(path, change, conditions)))
}

/// Refuses another type, by the evolution of a write, of a column that a CHECK constraint or a generated column refers to:
/// for existing rows, the expression was computed with the old type.
///
/// # Errors
/// [`Error::InvalidColumnChange`] that names the constraint or the column.
pub(super) fn refuse_type_if_used(
    table: &Definition,
    path: &[String],
    from: &DataType,
    to: &DataType,
) -> Result<()> {
    let conditions =
        [&condition::CONSTRAINT_DATA_TYPE_MISMATCH, &condition::GENERATED_COLUMNS_DATA_TYPE_MISMATCH];
    let change = format!("changed from {} to {}", from.name(), to.name());
    User::of(table, path).map_or(Ok(()), |user| Err(user.refuses(path, &change, conditions)))
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
