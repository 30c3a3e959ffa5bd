//! Rules that only Spark knows, as text: they are bounded before its parser sees them, whose time and memory are not.

use sqlparser::tokenizer::{Token, Tokenizer, Whitespace};

use super::parse::Spark;

/// Bytes of a text.
const MOST_BYTES: usize = 16 << 10;
/// Its words, constants and signs.
const MOST_TOKENS: usize = 1000;
/// Parentheses within one another, or signs in a row.
const MOST_NESTED: usize = 24;

/// Why no parser is given a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// It has a query in it.
    Subquery,
    /// What is wrong.
    Other(String),
}

/// Whether a text has a query in it.
pub(crate) fn has_subquery(text: &str) -> bool {
    check(text) == Err(Unfit::Subquery)
}

fn unfit<T>(why: impl Into<String>) -> Result<T, Unfit> {
    Err(Unfit::Other(why.into()))
}

/// Checks a text that the parser here does not know to the end.
///
/// # Errors
/// A reason, when it is too long or too deep, has unbalanced parentheses, a subquery, `${…}`, or what the parsers divide
/// into words in different ways, such as comments.
pub(super) fn check(text: &str) -> Result<(), Unfit> {
    if text.len() > MOST_BYTES {
        return unfit(format!("it has {} bytes, and a rule has at most {MOST_BYTES}", text.len()));
    }
    if text.contains("${") {
        return unfit("it holds `${`, which Spark replaces by a variable");
    }
    let tokens = Tokenizer::new(&Spark, text).with_unescape(false).tokenize();
    let tokens = tokens.map_err(|e| Unfit::Other(e.to_string()))?;
    let mut shape = Shape::default();
    for (at, token) in tokens.iter().enumerate() {
        let glued = at > 0 && matches!(tokens[at - 1], Token::Word(_));
        shape.take(token, glued)?;
    }
    match shape.open.is_empty() {
        true => Ok(()),
        false => unfit("a parenthesis is not closed"),
    }
}

#[derive(Default)]
struct Shape {
    tokens: usize,
    /// What closes the parentheses that are open.
    open: Vec<Token>,
    /// Levels that no parenthesis closes.
    levels: usize,
    /// Signs and words in a row that only stand before a value.
    signs: usize,
}

impl Shape {
    /// One more. `glued` is whether a word is right before it.
    fn take(&mut self, token: &Token, glued: bool) -> Result<(), Unfit> {
        if let Token::Whitespace(space) = token {
            return match space {
                Whitespace::Space | Whitespace::Newline | Whitespace::Tab => Ok(()),
                _ => unfit("it holds a comment"),
            };
        }
        self.tokens += 1;
        let sign = match token {
            Token::Word(word) if word.quote_style.is_none() => {
                let name = word.value.to_ascii_lowercase();
                if name == "select" {
                    return Err(Unfit::Subquery);
                }
                // CASE, and types within types
                self.levels += usize::from(["case", "array", "map", "struct"].contains(&name.as_str()));
                name == "not"
            }
            Token::Minus | Token::Plus | Token::Tilde | Token::ExclamationMark => true,
            Token::SingleQuotedString(_) | Token::DoubleQuotedString(_) if glued => {
                return unfit("it holds a text with a letter before its quotes");
            }
            Token::LParen => {
                self.open.push(Token::RParen);
                false
            }
            Token::LBracket => {
                self.open.push(Token::RBracket);
                false
            }
            Token::RParen | Token::RBracket => {
                if self.open.pop().as_ref() != Some(token) {
                    return unfit(format!("`{token}` closes nothing"));
                }
                false
            }
            other if is_known(other) => false,
            other => return unfit(format!("`{other}` is not understood")),
        };
        self.signs = if sign { self.signs + 1 } else { 0 };
        if self.tokens > MOST_TOKENS {
            return unfit(format!("it is longer than {MOST_TOKENS} words and signs"));
        }
        if self.open.len().max(self.levels).max(self.signs) > MOST_NESTED {
            return unfit(format!("it is nested more than {MOST_NESTED} levels deep"));
        }
        Ok(())
    }
}

/// Whether it is a name, a constant or a sign that Spark divides a text into, too.
fn is_known(token: &Token) -> bool {
    matches!(
        token,
        Token::Word(_)
            | Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::DoubleQuotedString(_)
            | Token::HexStringLiteral(_)
            | Token::Comma
            | Token::Eq
            | Token::DoubleEq
            | Token::Neq
            | Token::Lt
            | Token::Gt
            | Token::LtEq
            | Token::GtEq
            | Token::Spaceship
            | Token::Mul
            | Token::Div
            | Token::Mod
            | Token::StringConcat
            | Token::Period
            | Token::Colon
            | Token::DoubleColon
            | Token::RArrow
            | Token::Arrow
            | Token::Ampersand
            | Token::Pipe
            | Token::Caret
            | Token::ShiftLeft
            | Token::ShiftRight
    )
}
