use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A column by its logical name; more than one part is a field of a struct. Names compare without case, as in Spark.
pub type ColumnPath = Vec<String>;

/// A comparison. `Eq` and the orders are unknown on null (SQL); `NullSafeEq` never is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum CompareOp {
    /// `=`
    #[serde(rename = "=")]
    Eq,
    /// `<>`
    #[serde(rename = "!=")]
    Ne,
    /// `<`
    #[serde(rename = "<")]
    Lt,
    /// `<=`
    #[serde(rename = "<=")]
    Le,
    /// `>`
    #[serde(rename = ">")]
    Gt,
    /// `>=`
    #[serde(rename = ">=")]
    Ge,
    /// `<=>`
    #[serde(rename = "<=>")]
    NullSafeEq,
}

/// A constant. It is cast to the type of the column that it meets; what cannot be cast exactly makes the comparison
/// unknown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Literal {
    /// SQL NULL.
    Null,
    /// TRUE or FALSE.
    Boolean(bool),
    /// A whole number.
    Long(i64),
    /// A floating-point number.
    Double(#[serde(with = "float_text")] f64),
    /// A decimal number as text, `-12.50`.
    Decimal(String),
    /// Text. Against a date or timestamp column it is parsed as Spark casts a string.
    String(String),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since the Unix epoch, UTC.
    Timestamp(i64),
    /// Microseconds since 1970-01-01 00:00:00 without a time zone.
    TimestampNtz(i64),
    /// Bytes, as hexadecimal digits in JSON.
    Binary(#[serde(with = "hex_text")] Vec<u8>),
}

/// A condition on the rows of a table. As JSON it is externally tagged, for example
/// `{"and": [{"compare": {"op": ">=", "column": ["id"], "value": {"type": "long", "value": 5}}}, {"isnull": {"column": ["s", "x"]}}]}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Predicate {
    /// All hold; empty is TRUE.
    And(Vec<Predicate>),
    /// One holds; empty is FALSE.
    Or(Vec<Predicate>),
    /// The opposite; unknown stays unknown.
    Not(Box<Predicate>),
    /// `column op value`.
    Compare {
        /// Comparison.
        op: CompareOp,
        /// Left side.
        column: ColumnPath,
        /// Right side.
        value: Literal,
    },
    /// `column IN (values)`; with a null among the values a miss is unknown, as in SQL.
    In {
        /// Left side.
        column: ColumnPath,
        /// Right side.
        values: Vec<Literal>,
    },
    /// `column IS NULL`.
    IsNull {
        /// Operand.
        column: ColumnPath,
    },
    /// `column IS NOT NULL`.
    IsNotNull {
        /// Operand.
        column: ColumnPath,
    },
    /// `column LIKE 'prefix%'`.
    StartsWith {
        /// Left side.
        column: ColumnPath,
        /// Prefix, without wildcards.
        prefix: String,
    },
    /// A constant truth value; `None` is NULL.
    Constant(Option<bool>),
    /// A condition that cannot be expressed here, as text. It keeps every file; rows cannot be filtered by it.
    Unknown(String),
}

impl Predicate {
    /// The predicate of its JSON.
    ///
    /// # Errors
    /// [`Error::InvalidPredicate`] for text that is none.
    pub fn from_json(json: &str) -> Result<Self> {
        serde_json::from_str(json)
            .map_err(|e| Error::InvalidPredicate { predicate: json.to_owned(), reason: e.to_string() })
    }
}

mod float_text {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// JSON has no NaN and no infinity: these go as text.
    pub(super) fn serialize<S: Serializer>(v: &f64, s: S) -> Result<S::Ok, S::Error> {
        if v.is_finite() { v.serialize(s) } else { v.to_string().serialize(s) }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<f64, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Number(f64),
            Text(String),
        }
        match Either::deserialize(d)? {
            Either::Number(v) => Ok(v),
            Either::Text(t) => t.parse().map_err(serde::de::Error::custom),
        }
    }
}

mod hex_text {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(v: &[u8], s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&v.iter().map(|b| format!("{b:02x}")).collect::<String>())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(d)?;
        let nibble = |b: u8| (b as char).to_digit(16).map(|v| v as u8);
        let bytes = text.as_bytes();
        if bytes.len() % 2 != 0 {
            return Err(serde::de::Error::custom("odd number of hexadecimal digits"));
        }
        bytes
            .chunks(2)
            .map(|pair| Some(nibble(pair[0])? << 4 | nibble(pair[1])?))
            .collect::<Option<Vec<u8>>>()
            .ok_or_else(|| serde::de::Error::custom("not a hexadecimal digit"))
    }
}
