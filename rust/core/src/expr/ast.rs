use crate::error::Result;
use crate::schema::DataType;

/// An expression as it was written. Names are not resolved, types not known.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A column, or a field of one: its parts.
    Column(Vec<String>),
    /// A constant.
    Literal(Literal),
    /// `left op right`.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `NOT x`; unknown stays unknown.
    Not(Box<Expr>),
    /// `-x`.
    Negate(Box<Expr>),
    /// `x IS NULL`.
    IsNull(Box<Expr>),
    /// `x IN (list)`.
    In(Box<Expr>, Vec<Expr>),
    /// `x LIKE pattern` with the escape character; the last is whether case is ignored (`ILIKE`).
    Like(Box<Expr>, Box<Expr>, char, bool),
    /// `CASE`: the branches as condition and value, and the value otherwise.
    Case(Vec<(Expr, Expr)>, Option<Box<Expr>>),
    /// `CAST(x AS type)`; the flag is `TRY_CAST`, which gives null where the other fails.
    Cast(Box<Expr>, DataType, bool),
    /// `x.name` of something that is no column.
    Field(Box<Expr>, String),
    /// `x[index]`.
    Index(Box<Expr>, Box<Expr>),
    /// A function by its name in lower case.
    Call(String, Vec<Expr>),
}

impl Expr {
    /// Shows itself and all that is in it, in the order of the text.
    pub(super) fn visit<'a>(&'a self, see: &mut impl FnMut(&'a Expr)) {
        let mut rest = vec![self];
        while let Some(expr) = rest.pop() {
            see(expr);
            let within: Vec<&Expr> = match expr {
                Expr::Column(_) | Expr::Literal(_) => Vec::new(),
                Expr::Not(of)
                | Expr::Negate(of)
                | Expr::IsNull(of)
                | Expr::Cast(of, ..)
                | Expr::Field(of, _) => {
                    vec![of]
                }
                Expr::Binary(_, left, right) | Expr::Like(left, right, ..) | Expr::Index(left, right) => {
                    vec![left, right]
                }
                Expr::In(of, list) => std::iter::once(&**of).chain(list).collect(),
                Expr::Case(branches, otherwise) => {
                    let branches = branches.iter().flat_map(|(when, then)| [when, then]);
                    branches.chain(otherwise.as_deref()).collect()
                }
                Expr::Call(_, arguments) => arguments.iter().collect(),
            };
            rest.extend(within.into_iter().rev());
        }
    }
}

/// An operator with two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    /// `AND`
    And,
    /// `OR`
    Or,
    /// `=`
    Eq,
    /// `<>`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `<=>`, never unknown
    NullSafeEq,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`, never of whole numbers
    Divide,
    /// `DIV`
    IntegralDivide,
    /// `%`
    Remainder,
    /// `||`
    Concat,
}

/// A constant with the type that Spark gives it.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// `NULL`
    Null,
    /// `TRUE`
    Boolean(bool),
    /// `1Y`
    Byte(i8),
    /// `1S`
    Short(i16),
    /// `1`
    Integer(i32),
    /// `1L`, and what does not fit an integer
    Long(i64),
    /// `1F`
    Float(f32),
    /// `1e0`, `1D`
    Double(f64),
    /// `1.50`: unscaled value, precision, scale
    Decimal(i128, u8, i8),
    /// `'text'`
    String(String),
    /// `X'00FF'`
    Binary(Vec<u8>),
    /// `DATE '2026-01-01'`, in days
    Date(i32),
    /// `TIMESTAMP '…'` with a zone in it, in microseconds
    Timestamp(i64),
    /// `TIMESTAMP '…'` without a zone, which is the session's: here UTC, in microseconds
    SessionTimestamp(i64),
    /// `TIMESTAMP_NTZ '…'`, in microseconds
    TimestampNtz(i64),
    /// `INTERVAL 1 DAY`
    Interval(Interval),
}

/// A span of time, of one of the two kinds of ANSI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interval {
    /// Years and months.
    Months(i32),
    /// Whole days: a date stays a date.
    Days(i32),
    /// Hours and less, in microseconds.
    Micros(i64),
}

impl Expr {
    pub(crate) fn binary(op: Binary, left: Expr, right: Expr) -> Expr {
        Expr::Binary(op, Box::new(left), Box::new(right))
    }

    pub(crate) fn not(self, negated: bool) -> Expr {
        if negated { Expr::Not(Box::new(self)) } else { self }
    }

    /// Calls `visit` with the parts of every column in it.
    pub fn columns<'a>(&'a self, visit: &mut dyn FnMut(&'a [String])) {
        match self {
            Expr::Column(parts) => visit(parts),
            Expr::Literal(_) => {}
            Expr::Binary(_, left, right) | Expr::Index(left, right) => {
                left.columns(visit);
                right.columns(visit);
            }
            Expr::Like(left, right, _, _) => {
                left.columns(visit);
                right.columns(visit);
            }
            Expr::Not(x) | Expr::Negate(x) | Expr::IsNull(x) | Expr::Cast(x, _, _) | Expr::Field(x, _) => {
                x.columns(visit);
            }
            Expr::In(x, list) => {
                x.columns(visit);
                list.iter().for_each(|e| e.columns(visit));
            }
            Expr::Case(branches, otherwise) => {
                for (condition, value) in branches {
                    condition.columns(visit);
                    value.columns(visit);
                }
                if let Some(otherwise) = otherwise {
                    otherwise.columns(visit);
                }
            }
            Expr::Call(_, args) => args.iter().for_each(|e| e.columns(visit)),
        }
    }

    /// The same with the parts of every column as `name` gives them.
    ///
    /// # Errors
    /// The first of `name`.
    pub(crate) fn renamed(&self, name: &mut dyn FnMut(&[String]) -> Result<Vec<String>>) -> Result<Expr> {
        let mut of = |x: &Expr| x.renamed(name).map(Box::new);
        Ok(match self {
            Expr::Column(parts) => Expr::Column(name(parts)?),
            Expr::Literal(_) => self.clone(),
            Expr::Binary(op, left, right) => Expr::Binary(*op, of(left)?, of(right)?),
            Expr::Not(x) => Expr::Not(of(x)?),
            Expr::Negate(x) => Expr::Negate(of(x)?),
            Expr::IsNull(x) => Expr::IsNull(of(x)?),
            Expr::In(x, list) => {
                let x = of(x)?;
                Expr::In(x, list.iter().map(|e| e.renamed(name)).collect::<Result<_>>()?)
            }
            Expr::Like(x, pattern, escape, ignores_case) => {
                Expr::Like(of(x)?, of(pattern)?, *escape, *ignores_case)
            }
            Expr::Case(branches, otherwise) => {
                let branches = branches.iter().map(|(when, then)| Ok((*of(when)?, *of(then)?)));
                let branches = branches.collect::<Result<_>>()?;
                Expr::Case(branches, otherwise.as_ref().map(|x| of(x)).transpose()?)
            }
            Expr::Cast(x, to, tries) => Expr::Cast(of(x)?, to.clone(), *tries),
            Expr::Field(x, field) => Expr::Field(of(x)?, field.clone()),
            Expr::Index(x, index) => Expr::Index(of(x)?, of(index)?),
            Expr::Call(function, args) => {
                let args = args.iter().map(|e| e.renamed(name)).collect::<Result<_>>()?;
                Expr::Call(function.clone(), args)
            }
        })
    }
}
