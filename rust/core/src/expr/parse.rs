//! SQL text to [`Expr`], with `sqlparser` and Spark's own rules of precedence and literals.

use sqlparser::ast as sql;
use sqlparser::dialect::{Dialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use super::ast::{Binary, Expr, Literal};
use super::depth;
use super::literal;
use super::names::data_type;
use crate::error::{Error, Result};
use crate::schema::DataType;

/// Parses one expression of Spark SQL.
///
/// # Errors
/// [`Error::InvalidExpression`], which names the unknown part.
///
/// # Cost
/// The stack that the longest chain of operators needs, at most 100 MiB, while it parses.
pub fn parse(text: &str) -> Result<Expr> {
    let invalid = |reason: String| Error::InvalidExpression { expression: text.to_owned(), reason };
    let dialect = Spark;
    let tokens = Tokenizer::new(&dialect, text)
        .with_unescape(false)
        .tokenize_with_location()
        .map_err(|e| invalid(e.to_string()))?;
    let tokens = with_typed_numbers(tokens);
    let levels = depth::levels(&tokens).map_err(invalid)?;
    depth::begin(text);
    depth::with_stack(levels, || {
        let mut parser = Parser::new(&dialect).with_tokens_with_locations(tokens);
        let parsed = parser.parse_expr().map_err(|e| e.to_string())?;
        match parser.peek_token().token {
            Token::EOF => convert(&parsed),
            rest => Err(format!("`{rest}` is not understood")),
        }
    })
    .map_err(invalid)
}

/// Only what an expression needs, and the precedence of `||` that Spark has. Other dialects know more syntax, whose
/// meaning here would be a guess.
#[derive(Debug)]
pub(super) struct Spark;

impl Dialect for Spark {
    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        ch == '`'
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        ch.is_alphabetic() || ch == '_'
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        ch.is_alphanumeric() || ch == '_'
    }

    fn supports_string_literal_backslash_escape(&self) -> bool {
        true
    }

    fn supports_bang_not_operator(&self) -> bool {
        true
    }

    fn get_next_precedence(&self, parser: &Parser) -> Option<std::result::Result<u8, ParserError>> {
        match parser.peek_token_ref().token {
            Token::StringConcat => Some(Ok(self.prec_value(Precedence::PlusMinus))),
            _ => None,
        }
    }

    fn parse_infix(
        &self,
        parser: &mut Parser,
        left: &sql::Expr,
        precedence: u8,
    ) -> Option<std::result::Result<sql::Expr, ParserError>> {
        if !parser.parse_keyword(Keyword::DIV) {
            return None;
        }
        Some(parser.parse_subexpr(precedence).map(|right| sql::Expr::BinaryOp {
            left: Box::new(left.clone()),
            op: sql::BinaryOperator::MyIntegerDivide,
            right: Box::new(right),
        }))
    }
}

/// The function that stands for a number with a suffix, `1.5BD`, which the tokenizer does not know.
const TYPED_NUMBER: &str = "__typed_number";

fn with_typed_numbers(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut out: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    for token in tokens {
        if let Token::Word(word) = &token.token
            && word.quote_style.is_none()
            && matches!(word.value.to_ascii_uppercase().as_str(), "D" | "F" | "S" | "Y" | "BD" | "L")
            && let Some(TokenWithSpan { token: Token::Number(digits, false), .. }) = out.last()
        {
            let number = format!("{digits}{}", word.value);
            out.pop();
            for part in [
                Token::make_word(TYPED_NUMBER, None),
                Token::LParen,
                Token::SingleQuotedString(number),
                Token::RParen,
            ] {
                out.push(TokenWithSpan { token: part, span: token.span });
            }
            continue;
        }
        out.push(token);
    }
    out
}

type Converted<T = Expr> = std::result::Result<T, String>;

fn unknown<T>(what: impl std::fmt::Display) -> Converted<T> {
    Err(format!("{} is not supported", depth::shown(what)))
}

fn boxed(expr: &sql::Expr) -> Converted<Box<Expr>> {
    convert(expr).map(Box::new)
}

/// An operand of an operator that binds closer than a predicate: Spark reads `a IN (1) = b` otherwise, or not at all.
fn operand(expr: &sql::Expr) -> Converted {
    use sql::Expr as S;
    match expr {
        S::Between { .. }
        | S::InList { .. }
        | S::Like { .. }
        | S::ILike { .. }
        | S::RLike { .. }
        | S::IsNull(_)
        | S::IsNotNull(_)
        | S::IsTrue(_)
        | S::IsNotTrue(_)
        | S::IsFalse(_)
        | S::IsNotFalse(_)
        | S::IsDistinctFrom(..)
        | S::IsNotDistinctFrom(..) => Err(format!("{} as an operand needs parentheses", depth::shown(expr))),
        S::UnaryOp { op: sql::UnaryOperator::Not, .. } => {
            Err(format!("{} as an operand needs parentheses", depth::shown(expr)))
        }
        _ => convert(expr),
    }
}

fn convert(expr: &sql::Expr) -> Converted {
    depth::deeper(1, || convert_here(expr))
}

fn convert_here(expr: &sql::Expr) -> Converted {
    use sql::Expr as S;
    Ok(match expr {
        S::Identifier(ident) => column(std::slice::from_ref(ident))?,
        S::CompoundIdentifier(parts) => column(parts)?,
        S::CompoundFieldAccess { root, access_chain } => {
            depth::deeper(access_chain.len(), || chain(root, access_chain))?
        }
        S::Nested(inner) => convert(inner)?,
        S::Value(value) => Expr::Literal(literal::of_value(&value.value)?),
        S::TypedString(typed) => {
            let text = literal::text(&typed.value.value)?;
            Expr::Literal(literal::typed(&typed.data_type.to_string(), &text)?)
        }
        S::Interval(interval) => Expr::Literal(literal::interval(interval)?),
        S::IsNull(x) => Expr::IsNull(boxed(x)?),
        S::IsNotNull(x) => Expr::IsNull(boxed(x)?).not(true),
        S::IsTrue(x) => is(x, true, false)?,
        S::IsNotTrue(x) => is(x, true, true)?,
        S::IsFalse(x) => is(x, false, false)?,
        S::IsNotFalse(x) => is(x, false, true)?,
        S::IsUnknown(x) => Expr::IsNull(boxed(x)?),
        S::IsNotUnknown(x) => Expr::IsNull(boxed(x)?).not(true),
        S::IsDistinctFrom(l, r) => Expr::binary(Binary::NullSafeEq, convert(l)?, convert(r)?).not(true),
        S::IsNotDistinctFrom(l, r) => Expr::binary(Binary::NullSafeEq, convert(l)?, convert(r)?),
        S::InList { expr, list, negated } => {
            let list = list.iter().map(convert).collect::<Converted<_>>()?;
            Expr::In(boxed(expr)?, list).not(*negated)
        }
        S::Between { expr, negated, low, high } => {
            let (value, low, high) = (convert(expr)?, operand(low)?, operand(high)?);
            let from = Expr::binary(Binary::Ge, depth::copy(&value)?, low);
            Expr::binary(Binary::And, from, Expr::binary(Binary::Le, value, high)).not(*negated)
        }
        S::Like { negated, any: false, expr, pattern, escape_char } => {
            like(expr, pattern, escape_char.as_deref(), false)?.not(*negated)
        }
        S::ILike { negated, any: false, expr, pattern, escape_char } => {
            like(expr, pattern, escape_char.as_deref(), true)?.not(*negated)
        }
        S::RLike { negated, expr, pattern, .. } => {
            Expr::Call("rlike".into(), vec![convert(expr)?, convert(pattern)?]).not(*negated)
        }
        S::UnaryOp { op, expr } => unary(*op, expr)?,
        S::BinaryOp { left, op, right } => binary(left, op, right)?,
        S::Cast { kind, expr, data_type: to, format: None } => {
            let tries = matches!(kind, sql::CastKind::TryCast);
            if matches!(kind, sql::CastKind::SafeCast) {
                return unknown("SAFE_CAST");
            }
            let (of, to) = (boxed(expr)?, data_type(&to.to_string())?);
            match text_of(&of) {
                // how a text is printed that no quotes hold under every setting
                Some(text) if to == DataType::String => Expr::Literal(Literal::String(text)),
                _ => Expr::Cast(of, to, tries),
            }
        }
        S::Case { operand: of, conditions, else_result, .. } => {
            let of = of.as_deref().map(convert).transpose()?;
            let branches = conditions.iter().map(|when| {
                let condition = convert(&when.condition)?;
                let condition = match &of {
                    Some(of) => Expr::binary(Binary::Eq, depth::copy(of)?, condition),
                    None => condition,
                };
                Ok((condition, convert(&when.result)?))
            });
            let branches = branches.collect::<Converted<_>>()?;
            Expr::Case(branches, else_result.as_deref().map(boxed).transpose()?)
        }
        S::Extract { field, expr, .. } => {
            Expr::Call("extract".into(), vec![constant(&field.to_string()), convert(expr)?])
        }
        S::Ceil { expr, field } => rounding("ceil", expr, field)?,
        S::Floor { expr, field } => rounding("floor", expr, field)?,
        S::Position { expr, r#in } => Expr::Call("locate".into(), vec![convert(expr)?, convert(r#in)?]),
        S::Substring { expr, substring_from: Some(from), substring_for, .. } => {
            let mut args = vec![convert(expr)?, convert(from)?];
            args.extend(substring_for.as_deref().map(convert).transpose()?);
            Expr::Call("substring".into(), args)
        }
        S::Trim { trim_where, trim_what, expr, trim_characters: None } => {
            let name = match trim_where {
                None | Some(sql::TrimWhereField::Both) => "__trim_both",
                Some(sql::TrimWhereField::Leading) => "__trim_leading",
                Some(sql::TrimWhereField::Trailing) => "__trim_trailing",
            };
            let mut args = vec![convert(expr)?];
            args.extend(trim_what.as_deref().map(convert).transpose()?);
            Expr::Call(name.into(), args)
        }
        S::Function(function) => call(function)?,
        other => return unknown(other),
    })
}

fn column(parts: &[sql::Ident]) -> Converted {
    let name = |part: &sql::Ident| match part.quote_style {
        Some('`') => Ok(part.value.replace("``", "`")),
        None => Ok(part.value.clone()),
        Some(_) => unknown(part),
    };
    Ok(Expr::Column(parts.iter().map(name).collect::<Converted<_>>()?))
}

fn chain(root: &sql::Expr, accesses: &[sql::AccessExpr]) -> Converted {
    let mut expr = convert(root)?;
    for access in accesses {
        expr = match access {
            sql::AccessExpr::Dot(sql::Expr::Identifier(ident)) => {
                let Expr::Column(mut name) = column(std::slice::from_ref(ident))? else {
                    return unknown(ident);
                };
                match expr {
                    Expr::Column(mut parts) => {
                        parts.append(&mut name);
                        Expr::Column(parts)
                    }
                    other => Expr::Field(Box::new(other), name.remove(0)),
                }
            }
            sql::AccessExpr::Subscript(sql::Subscript::Index { index }) => {
                Expr::Index(Box::new(expr), boxed(index)?)
            }
            other => return unknown(other),
        };
    }
    Ok(expr)
}

/// The text whose bytes a constant is.
fn text_of(bytes: &Expr) -> Option<String> {
    match bytes {
        Expr::Literal(Literal::Binary(bytes)) => String::from_utf8(bytes.clone()).ok(),
        _ => None,
    }
}

fn is(expr: &sql::Expr, truth: bool, negated: bool) -> Converted {
    let truth = Expr::Literal(Literal::Boolean(truth));
    Ok(Expr::binary(Binary::NullSafeEq, convert(expr)?, truth).not(negated))
}

fn like(expr: &sql::Expr, pattern: &sql::Expr, escape: Option<&sql::Expr>, ignore_case: bool) -> Converted {
    // `ALL (…)` and `SOME (…)` are several patterns, and no calls
    if let sql::Expr::Function(call) = pattern
        && ["all", "some"].contains(&call.name.to_string().to_ascii_lowercase().as_str())
    {
        return unknown(pattern);
    }
    let escape = match escape {
        None => '\\',
        Some(sql::Expr::Value(value)) => {
            let text = literal::text(&value.value)?;
            let mut chars = text.chars();
            match (chars.next(), chars.next()) {
                (Some(c), None) => c,
                _ => return Err(format!("the escape `{text}` is not one character")),
            }
        }
        Some(other) => return unknown(other),
    };
    Ok(Expr::Like(boxed(expr)?, Box::new(operand(pattern)?), escape, ignore_case))
}

fn unary(op: sql::UnaryOperator, expr: &sql::Expr) -> Converted {
    Ok(match op {
        sql::UnaryOperator::Not | sql::UnaryOperator::BangNot => convert(expr)?.not(true),
        sql::UnaryOperator::Plus => operand(expr)?,
        sql::UnaryOperator::Minus => match expr {
            // the smallest numbers have no positive counterpart
            sql::Expr::Value(value) => match literal::negative(&value.value)? {
                Some(literal) => Expr::Literal(literal),
                None => Expr::Negate(Box::new(operand(expr)?)),
            },
            sql::Expr::Function(function) => match typed_number(function) {
                Some(number) => Expr::Literal(literal::suffixed(&format!("-{number}"))?),
                None => Expr::Negate(Box::new(operand(expr)?)),
            },
            _ => Expr::Negate(Box::new(operand(expr)?)),
        },
        other => return unknown(other),
    })
}

fn binary(left: &sql::Expr, op: &sql::BinaryOperator, right: &sql::Expr) -> Converted {
    use sql::BinaryOperator as S;
    if let Some(logical) = match op {
        S::And => Some(Binary::And),
        S::Or => Some(Binary::Or),
        _ => None,
    } {
        let operands = depth::chain(op, left, right).into_iter().map(convert).collect::<Converted<_>>()?;
        return depth::joined(logical, operands).ok_or_else(|| "an operator without operands".into());
    }
    let op = match op {
        S::Eq => Binary::Eq,
        S::NotEq => Binary::Ne,
        S::Lt => Binary::Lt,
        S::LtEq => Binary::Le,
        S::Gt => Binary::Gt,
        S::GtEq => Binary::Ge,
        S::Spaceship => Binary::NullSafeEq,
        S::Plus => Binary::Add,
        S::Minus => Binary::Subtract,
        S::Multiply => Binary::Multiply,
        S::Divide => Binary::Divide,
        S::Modulo => Binary::Remainder,
        S::MyIntegerDivide => Binary::IntegralDivide,
        S::StringConcat => Binary::Concat,
        other => return unknown(other),
    };
    Ok(Expr::binary(op, operand(left)?, operand(right)?))
}

fn constant(text: &str) -> Expr {
    Expr::Literal(Literal::String(text.to_owned()))
}

fn rounding(name: &str, expr: &sql::Expr, field: &sql::CeilFloorKind) -> Converted {
    let mut args = vec![convert(expr)?];
    match field {
        sql::CeilFloorKind::DateTimeField(sql::DateTimeField::NoDateTime) => {}
        sql::CeilFloorKind::DateTimeField(field) => return unknown(format!("{name} to {field}")),
        sql::CeilFloorKind::Scale(scale) => args.push(Expr::Literal(literal::of_value(&scale.value)?)),
    }
    Ok(Expr::Call(name.to_owned(), args))
}

fn call(function: &sql::Function) -> Converted {
    let plain = function.filter.is_none()
        && function.over.is_none()
        && function.within_group.is_empty()
        && function.null_treatment.is_none()
        && matches!(function.parameters, sql::FunctionArguments::None);
    let name = function.name.to_string().to_lowercase();
    if has_unit(&name, &function.args) {
        return unknown(function);
    }
    let args = match &function.args {
        sql::FunctionArguments::None => Vec::new(),
        sql::FunctionArguments::List(list)
            if plain && list.clauses.is_empty() && list.duplicate_treatment.is_none() =>
        {
            let args = list.args.iter().map(|arg| match arg {
                sql::FunctionArg::Unnamed(sql::FunctionArgExpr::Expr(expr)) => convert(expr),
                other => unknown(other),
            });
            args.collect::<Converted<Vec<_>>>()?
        }
        _ => return unknown(function),
    };
    if let Some(number) = typed_number(function) {
        return literal::suffixed(number).map(Expr::Literal);
    }
    Ok(Expr::Call(name, args))
}

/// Whether the first argument is no column, but the name of a unit of time.
fn has_unit(name: &str, args: &sql::FunctionArguments) -> bool {
    let sql::FunctionArguments::List(list) = args else { return false };
    let first = list.args.first();
    let is_word = matches!(
        first,
        Some(sql::FunctionArg::Unnamed(sql::FunctionArgExpr::Expr(sql::Expr::Identifier(word))))
            if word.quote_style.is_none()
    );
    let of_units =
        ["timestampadd", "timestampdiff", "dateadd", "date_add", "datediff", "date_diff"].contains(&name);
    is_word && of_units && list.args.len() == 3
}

/// The number of a [`TYPED_NUMBER`].
fn typed_number(function: &sql::Function) -> Option<&str> {
    let [sql::ObjectNamePart::Identifier(name)] = function.name.0.as_slice() else { return None };
    let sql::FunctionArguments::List(list) = &function.args else { return None };
    match list.args.as_slice() {
        [sql::FunctionArg::Unnamed(sql::FunctionArgExpr::Expr(sql::Expr::Value(value)))]
            if name.value == TYPED_NUMBER =>
        {
            match &value.value {
                sql::Value::SingleQuotedString(number) => Some(number),
                _ => None,
            }
        }
        _ => None,
    }
}
