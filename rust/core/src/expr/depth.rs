//! Expressions may be long, and their trees are not deep: what walks a tree calls itself, and a thread has little stack.

use std::cell::Cell;
use std::fmt::Display;

use sqlparser::ast as sql;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::ast::{Binary, Expr};

/// Levels of a tree. Chains of AND and of OR take few of them, however long they are.
const MOST_LEVELS: u32 = 128;
/// Copies of parts that stand in an expression once and are needed twice, such as the value of BETWEEN.
const MOST_COPIES: u32 = 10_000;

/// Levels of the tree that the parser makes: it puts each operator of a chain one level above the one before.
const MOST_PARSED_LEVELS: usize = 100_000;
/// Bytes of stack for each of those levels when the tree is dropped; a build without optimisation takes about half.
const STACK_OF_LEVEL: usize = 1 << 10;
/// Bytes of stack for the parser, which recurses some fifty levels deep, and for what walks the tree.
const STACK_OF_PARSER: usize = 1 << 20;
/// Copies that the parser makes of what precedes DIV.
const MOST_DIVISIONS: usize = 1000;

/// Bytes of a text whose parts are shown in errors.
const MOST_SHOWN: usize = 2000;

thread_local! {
    static LEVELS: Cell<u32> = const { Cell::new(0) };
    static COPIES: Cell<u32> = const { Cell::new(0) };
    static LONG: Cell<bool> = const { Cell::new(false) };
}

/// Begins an expression, and forgets what the one before took.
pub(super) fn begin(text: &str) {
    LEVELS.set(0);
    COPIES.set(0);
    LONG.set(text.len() > MOST_SHOWN);
}

/// A part of the expression, for an error. Of a long expression it is not shown: its parts may be too deep for that.
pub(super) fn shown(part: impl Display) -> String {
    if LONG.get() { "a part of it".to_owned() } else { format!("`{part}`") }
}

/// Descends some levels deeper.
///
/// # Errors
/// A reason when that is too deep.
pub(super) fn deeper<T>(levels: usize, convert: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let level = LEVELS.get();
    let below = u32::try_from(levels).map_or(u32::MAX, |levels| level.saturating_add(levels));
    if below > MOST_LEVELS {
        return Err(format!("it is nested more than {MOST_LEVELS} levels deep"));
    }
    LEVELS.set(below);
    let converted = convert();
    LEVELS.set(level);
    converted
}

/// A copy of a part.
///
/// # Errors
/// A reason when nested copies become too large.
pub(super) fn copy(expr: &Expr) -> Result<Expr, String> {
    let copies = COPIES.get().saturating_add(parts(expr));
    if copies > MOST_COPIES {
        return Err("BETWEEN and CASE are nested in one another too often".into());
    }
    COPIES.set(copies);
    Ok(expr.clone())
}

/// How many parts an expression has.
fn parts(expr: &Expr) -> u32 {
    let all = |list: &[Expr]| list.iter().map(parts).fold(0, u32::saturating_add);
    let below = match expr {
        Expr::Column(_) | Expr::Literal(_) => 0,
        Expr::Binary(_, left, right) | Expr::Index(left, right) | Expr::Like(left, right, _, _) => {
            parts(left).saturating_add(parts(right))
        }
        Expr::Not(x) | Expr::Negate(x) | Expr::IsNull(x) | Expr::Cast(x, _, _) | Expr::Field(x, _) => {
            parts(x)
        }
        Expr::In(x, list) => parts(x).saturating_add(all(list)),
        Expr::Case(branches, otherwise) => {
            let branches = branches.iter().map(|(c, v)| parts(c).saturating_add(parts(v)));
            let otherwise = otherwise.as_deref().map_or(0, parts);
            branches.fold(otherwise, u32::saturating_add)
        }
        Expr::Call(_, args) => all(args),
    };
    below.saturating_add(1)
}

/// The operands of a chain of this operator, from left to right.
pub(super) fn chain<'a>(
    op: &sql::BinaryOperator,
    left: &'a sql::Expr,
    right: &'a sql::Expr,
) -> Vec<&'a sql::Expr> {
    let mut operands = vec![right];
    let mut rest = left;
    while let sql::Expr::BinaryOp { left, op: here, right } = rest
        && here == op
    {
        operands.push(right);
        rest = left;
    }
    operands.push(rest);
    operands.reverse();
    operands
}

/// The operands joined by AND or OR, which may be done in any grouping, in a tree that is not deep.
pub(super) fn joined(op: Binary, mut operands: Vec<Expr>) -> Option<Expr> {
    while operands.len() > 1 {
        let mut halved = Vec::with_capacity(operands.len().div_ceil(2));
        let mut rest = operands.into_iter();
        while let Some(left) = rest.next() {
            halved.push(match rest.next() {
                Some(right) => Expr::binary(op, left, right),
                None => left,
            });
        }
        operands = halved;
    }
    operands.pop()
}

/// At most how deep the tree of these tokens is: a token may go a level below what began with its parenthesis or comma.
///
/// # Errors
/// A reason when that is too deep to parse.
pub(super) fn levels(tokens: &[TokenWithSpan]) -> Result<usize, String> {
    let (mut open, mut here, mut outer, mut most, mut divisions) = (Vec::new(), 0_usize, 0_usize, 0, 0);
    for TokenWithSpan { token, .. } in tokens {
        match token {
            Token::Whitespace(_) => continue,
            Token::LParen | Token::LBracket => {
                open.push(here);
                outer += here + 1;
                here = 0;
            }
            Token::RParen | Token::RBracket => {
                let began = open.pop().unwrap_or_default();
                outer = outer.saturating_sub(began + 1);
                here = began + 1;
            }
            Token::Comma => here = 0,
            Token::Word(word) => {
                divisions += usize::from(word.keyword == Keyword::DIV);
                here += 1;
            }
            _ => here += 1,
        }
        most = most.max(outer + here);
    }
    if most > MOST_PARSED_LEVELS {
        return Err(format!(
            "it is too long: {most} words and signs follow each other without a comma, and {MOST_PARSED_LEVELS} may"
        ));
    }
    if divisions > MOST_DIVISIONS {
        return Err(format!("it is too long: it has DIV {divisions} times, and may {MOST_DIVISIONS} times"));
    }
    Ok(most)
}

/// Runs what makes and drops a tree of so many levels, with the stack that takes.
pub(super) fn with_stack<T>(levels: usize, work: impl FnOnce() -> T) -> T {
    let bytes = (levels * STACK_OF_LEVEL).max(STACK_OF_PARSER);
    stacker::maybe_grow(bytes, bytes, work)
}
