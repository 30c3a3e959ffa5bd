//! Texts of JSON that differ in their values only. One writer prints the statistics of a table with the same names in the
//! same order, so that nearly all texts have the shape of one before: of these, only the values have to be looked at.

use std::collections::HashSet;

/// Objects within objects; statistics have as many levels as the schema, and few tables have more.
const MOST_LEVELS: usize = 16;

/// A text of JSON without its values: objects, names, and what is between them.
#[derive(Debug)]
pub(crate) struct Shape {
    /// What stands before each value, and after the last one.
    literals: Vec<Literal>,
    /// The names of the objects and the field that each value is in.
    paths: Vec<Vec<String>>,
}

impl Shape {
    /// The shape of a text; none where it is no object of JSON, or has more than objects, names, numbers, words and texts
    /// without escapes, or a name twice in one object.
    pub(crate) fn of(text: &str) -> Option<Shape> {
        let mut parser = Parser { text, at: 0, start: 0, above: Vec::new(), literals: vec![], paths: vec![] };
        parser.space();
        parser.object()?;
        parser.space();
        if parser.at < text.len() {
            return None;
        }
        parser.literals.push(Literal::of(&text.as_bytes()[parser.start..]));
        Some(Shape { literals: parser.literals, paths: parser.paths })
    }

    /// The path of each value.
    pub(crate) fn paths(&self) -> &[Vec<String>] {
        &self.paths
    }

    /// Gives the number and the raw text of each value of a text of this shape, in order; false where it has another one.
    /// Then some values may have been given.
    #[inline]
    pub(crate) fn walk<'a>(&self, text: &'a str, mut value: impl FnMut(usize, &'a str)) -> bool {
        let bytes = text.as_bytes();
        let Some((last, literals)) = self.literals.split_last() else { return false };
        let mut at = 0;
        for (number, literal) in literals.iter().enumerate() {
            let Some(start) = literal.skip(bytes, at) else { return false };
            let Some(end) = scalar(bytes, start) else { return false };
            // both ends are beside ASCII
            let Some(raw) = text.get(start..end) else { return false };
            value(number, raw);
            at = end;
        }
        last.skip(bytes, at) == Some(bytes.len())
    }
}

/// Shapes of texts before, each with what is known of it.
#[derive(Debug)]
pub(crate) struct Shapes<T> {
    /// The one that fitted last comes first.
    known: Vec<(Shape, T)>,
    fitted: usize,
    others: usize,
}

/// A table has few shapes: of files with all values, of files with columns of nulls, of other writers.
const MOST_SHAPES: usize = 8;

/// Texts of other shapes after which it shows whether shapes are of use.
const TRIAL: usize = 256;

impl<T> Shapes<T> {
    pub(crate) fn new() -> Self {
        Shapes { known: Vec::new(), fitted: 0, others: 0 }
    }

    /// As [`Shape::walk`], with what is known of the shape; none where no shape fits, or `of` makes nothing of that of this
    /// text. Number 0 begins anew: what was given before belongs to a shape that did not fit.
    #[inline]
    pub(crate) fn walk<'a>(
        &mut self,
        text: &'a str,
        of: impl FnOnce(&Shape) -> Option<T>,
        mut value: impl FnMut(&T, usize, &'a str),
    ) -> Option<&T> {
        let mut walk =
            |(shape, known): &(Shape, T)| shape.walk(text, |number, raw| value(known, number, raw));
        if let Some(at) = self.known.iter().position(&mut walk) {
            self.known.swap(0, at);
            self.fitted += 1;
            return self.known.first().map(|(_, known)| known);
        }
        self.others += 1;
        if self.others > TRIAL && self.others > self.fitted {
            // nearly each text is another one
            self.known.clear();
            return None;
        }
        if self.known.len() >= MOST_SHAPES {
            return None;
        }
        let shape = Shape::of(text)?;
        let new = of(&shape)?;
        self.known.push((shape, new));
        let last = self.known.last()?;
        walk(last).then_some(&last.1)
    }
}

/// Bytes that stand at a place.
#[derive(Debug)]
struct Literal {
    text: Box<[u8]>,
    /// The first bytes and the bits that count, to compare all at once.
    head: u128,
    mask: u128,
}

/// Bytes that are compared at once.
const AT_ONCE: usize = 16;

impl Literal {
    fn of(text: &[u8]) -> Self {
        let (mut head, mut mask) = ([0; AT_ONCE], [0; AT_ONCE]);
        for ((head, mask), byte) in head.iter_mut().zip(&mut mask).zip(text) {
            (*head, *mask) = (*byte, 0xff);
        }
        Literal { text: text.into(), head: u128::from_le_bytes(head), mask: u128::from_le_bytes(mask) }
    }

    /// Where the text goes on after the literal.
    #[inline]
    fn skip(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let rest = bytes.get(at..)?;
        let Some(first) = rest.first_chunk::<AT_ONCE>() else {
            return rest.starts_with(&self.text).then_some(at + self.text.len());
        };
        let same = (u128::from_le_bytes(*first) ^ self.head) & self.mask == 0;
        let whole = same && (self.text.len() <= AT_ONCE || rest.starts_with(&self.text));
        whole.then_some(at + self.text.len())
    }
}

/// The same byte eight times; as constants, because a call for each chunk is a tenth of the walk.
const fn eight(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

const ONES: u64 = eight(1);
const HIGHEST: u64 = eight(0x80);
const SPACES: u64 = eight(b' ');
const QUOTES: u64 = eight(b'"');
const BACKSLASHES: u64 = eight(b'\\');

/// The end of a value that is no object and no list.
#[inline]
fn scalar(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => text_end(bytes, at + 1),
        b't' => word(bytes, at, b"true"),
        b'f' => word(bytes, at, b"false"),
        b'n' => word(bytes, at, b"null"),
        _ => number(bytes, at),
    }
}

fn word(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    bytes.get(at..)?.starts_with(word).then_some(at + word.len())
}

/// The place after the quote that ends a text; none where it has an escape or a control character.
#[inline]
fn text_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    // the highest bit of each byte that is zero; only the lowest of these bits is reliable, and no other one is used
    let zeros = |x: u64| x.wrapping_sub(ONES) & !x & HIGHEST;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let x = u64::from_le_bytes(*chunk);
        let control = x.wrapping_sub(SPACES) & !x & HIGHEST;
        let found = zeros(x ^ QUOTES) | zeros(x ^ BACKSLASHES) | control;
        if found != 0 {
            let place = (found.trailing_zeros() / 8) as usize;
            return (chunk[place] == b'"').then_some(at + place + 1);
        }
        at += 8;
    }
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' | 0..0x20 => return None,
            _ => at += 1,
        }
    }
}

/// The end of a number as JSON has it.
#[inline]
fn number(bytes: &[u8], start: usize) -> Option<usize> {
    let start = start + usize::from(*bytes.get(start)? == b'-');
    let mut at = digits(bytes, start);
    let leading_zero = bytes.get(start) == Some(&b'0');
    if at == start || leading_zero && at > start + 1 {
        return None;
    }
    // nearly every number ends here, or after a fraction
    match bytes.get(at) {
        Some(b'.') => {
            let fraction = at + 1;
            at = digits(bytes, fraction);
            if at == fraction {
                return None;
            }
        }
        Some(b'e' | b'E') => {}
        _ => return Some(at),
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let exponent = at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        at = digits(bytes, exponent);
        if at == exponent {
            return None;
        }
    }
    Some(at)
}

/// The end of the digits that begin at a place.
#[inline]
fn digits(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        if !byte.is_ascii_digit() {
            break;
        }
        at += 1;
    }
    at
}

/// Reads a text whose shape is not known.
struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// Where the literal begins that is being read.
    start: usize,
    above: Vec<String>,
    literals: Vec<Literal>,
    paths: Vec<Vec<String>>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn object(&mut self) -> Option<()> {
        if self.above.len() >= MOST_LEVELS {
            return None;
        }
        self.take(b'{')?;
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            // an object without values would have no path
            return self.above.is_empty().then_some(());
        }
        let mut names = HashSet::new();
        loop {
            let start = self.at + 1;
            self.take(b'"')?;
            self.at = text_end(self.text.as_bytes(), start)?;
            let name = self.text.get(start..self.at - 1)?;
            if !names.insert(name) {
                return None;
            }
            self.above.push(name.to_owned());
            self.space();
            self.take(b':')?;
            self.space();
            if self.peek() == Some(b'{') {
                self.object()?
            } else {
                self.value()?
            }
            self.above.pop();
            self.space();
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => break,
                _ => return None,
            }
            self.space();
        }
        self.take(b'}')
    }

    fn value(&mut self) -> Option<()> {
        let end = scalar(self.text.as_bytes(), self.at)?;
        self.literals.push(Literal::of(&self.text.as_bytes()[self.start..self.at]));
        self.paths.push(self.above.clone());
        (self.at, self.start) = (end, end);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::{Index, select};
    use serde::de::IgnoredAny;
    use serde_json::Value;
    use serde_json::value::RawValue;

    use super::*;

    fn values(shape: &Shape, text: &str) -> Option<Vec<String>> {
        let mut out = Vec::new();
        let add = |number: usize, raw: &str| {
            assert_eq!(number, out.len());
            out.push(raw.to_owned());
        };
        shape.walk(text, add).then_some(out)
    }

    #[test]
    fn a_text_of_the_same_shape_gives_its_values_and_another_one_nothing() {
        let shape = Shape::of(r#"{ "a":1, "b" : {"c":"x","d":{"e":null}},"é":true}"#).unwrap();
        assert_eq!(shape.paths(), [vec!["a"], vec!["b", "c"], vec!["b", "d", "e"], vec!["é"]]);
        let text = r#"{ "a":-2.5e-3, "b" : {"c":"text, {of more bytes","d":{"e":"z"}},"é":"ü"}"#;
        let found = ["-2.5e-3", r#""text, {of more bytes""#, "\"z\"", "\"ü\""];
        assert_eq!(values(&shape, text).unwrap(), found);
        for other in [
            "",
            r#"{"a":1, "b" : {"c":"x","d":{"e":null}},"é":true}"#,
            r#"{ "a":1, "b" : {"c":"x","d":{"f":null}},"é":true}"#,
            r#"{ "a":1, "b" : {"c":"x","d":{"e":null}},"é":true"#,
            r#"{ "a":1, "b" : {"c":"x","d":{"e":null}},"é":true}}"#,
            r#"{ "a":01, "b" : {"c":"x","d":{"e":null}},"é":true}"#,
            r#"{ "a":1, "b" : {"c":"\"","d":{"e":null}},"é":true}"#,
            r#"{ "a":1, "b" : {"c":[],"d":{"e":null}},"é":true}"#,
            r#"{ "a":1, "b" : {"c":{},"d":{"e":null}},"é":true}"#,
        ] {
            assert_eq!(values(&shape, other), None, "{other}");
        }
    }

    #[test]
    fn what_is_no_object_of_plain_values_has_no_shape() {
        for text in ["", "1", "[]", "{", "{}x", r#"{"a":[1]}"#, r#"{"a":"\n"}"#, r#"{"a":1,}"#, r#"{"a":}"#] {
            assert!(Shape::of(text).is_none(), "{text}");
        }
        let nested = |levels: usize| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
        assert!(Shape::of(&nested(MOST_LEVELS)).is_some() && Shape::of(&nested(MOST_LEVELS + 1)).is_none());
    }

    /// A value that is no object.
    fn plain() -> impl Strategy<Value = String> {
        prop_oneof![
            select(vec![
                "null",
                "true",
                "false",
                "0",
                "-0.0",
                "1e9",
                "1e400",
                "12345678901234567890",
                "0.5E-7"
            ])
            .prop_map(str::to_owned),
            any::<i64>().prop_map(|n| n.to_string()),
            any::<f64>().prop_filter("JSON", |n| n.is_finite()).prop_map(|n| Value::from(n).to_string()),
            "[ -~é\u{10ffff}\u{1}]{0,20}".prop_map(|t| Value::from(t).to_string()),
        ]
    }

    /// Objects with a gap where each value belongs.
    fn objects() -> impl Strategy<Value = String> {
        let object = |inner: BoxedStrategy<String>| {
            vec(("[a-c]{1,3}|é", select(vec!["", " ", "\n"]), inner), 0..5).prop_map(|fields| {
                let fields =
                    fields.iter().map(|(name, space, value)| format!("{space}\"{name}\":{space}{value}"));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
            })
        };
        let leaf = Just("@".to_owned()).boxed();
        object(
            object(object(leaf.clone()).boxed().prop_union(leaf.clone()).boxed())
                .boxed()
                .prop_union(leaf)
                .boxed(),
        )
    }

    /// The raw values of a text as serde_json reads it; none where that refuses it.
    fn read(text: &str) -> Option<Vec<String>> {
        fn into(object: &str, out: &mut Vec<String>) -> Option<()> {
            let fields: Vec<(String, Box<RawValue>)> = Fields::of(object)?;
            for (_, value) in fields {
                if value.get().starts_with('{') {
                    into(value.get(), out)?
                } else {
                    out.push(value.get().to_owned())
                }
            }
            Some(())
        }
        // a number that is too large for a double is JSON
        serde_json::from_str::<HashMap<String, IgnoredAny>>(text).ok()?;
        let mut out = Vec::new();
        into(text, &mut out)?;
        Some(out)
    }

    /// The fields of an object, those that repeat as well.
    struct Fields;

    impl Fields {
        fn of(text: &str) -> Option<Vec<(String, Box<RawValue>)>> {
            use serde::de::Deserializer;
            serde_json::Deserializer::from_str(text).deserialize_map(Fields).ok()
        }
    }

    impl<'de> serde::de::Visitor<'de> for Fields {
        type Value = Vec<(String, Box<RawValue>)>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut out = Vec::new();
            while let Some(field) = map.next_entry()? {
                out.push(field);
            }
            Ok(out)
        }
    }

    fn fill(gaps: &str, values: &[String]) -> String {
        let mut values = values.iter().cycle();
        gaps.split('@').map(str::to_owned).reduce(|all, part| all + values.next().unwrap() + &part).unwrap()
    }

    proptest! {
        #[test]
        fn what_a_shape_takes_is_json_with_these_values(
            gaps in objects(),
            first in vec(plain(), 1..9),
            second in vec(plain(), 1..9),
            damage in vec((any::<Index>(), select(b"\"\\{}:,0 -e.\x01a".to_vec()), any::<bool>()), 0..2),
        ) {
            let first = fill(&gaps, &first);
            let Some(shape) = Shape::of(&first) else {
                // escapes, objects of nothing, or a name twice, which needs two of them
                let none = first.contains('\\') || first.contains("{}") || first.matches(':').count() > 1;
                prop_assert!(none, "{}", first);
                return Ok(());
            };
            prop_assert_eq!(values(&shape, &first), read(&first));
            let mut other = fill(&gaps, &second).into_bytes();
            for (at, byte, replaces) in &damage {
                let at = at.index(other.len());
                if *replaces { other[at] = *byte } else { other.insert(at, *byte) }
            }
            let Ok(other) = String::from_utf8(other) else { return Ok(()) };
            match values(&shape, &other) {
                Some(found) => prop_assert_eq!(Some(found), read(&other)),
                // a shape is not lost for no reason
                None => prop_assert!(other.contains('\\') || !damage.is_empty()),
            }
        }
    }
}
