//! The text of a rule of a table on its way to Spark: refused, or printed as what is read as the same tree again and prints as
//! itself, or left to Spark, bounded.

use deltaic_core::expr::{Rule, RuleKind, parse, print, rule_functions};
use deltaic_core::schema::{DataType, StructField, StructType};
use fastrand::Rng;

use super::engine::Target;
use super::mutate;
use super::predicates::{SQL, mutate_sql};

pub(crate) struct Rules {
    schema: StructType,
}

/// As rules are, and as they must not be.
const RULES: [&str; 16] = [
    "CAST(ts AS DATE)",
    "transform(array(s), x -> upper(x))[0]",
    "exists(arr, x -> x > 1 AND x <> i)",
    "CAST(s AS ARRAY<INT>) IS NULL",
    "i = ANY (1, 2)",
    "concat('it''s', \"so\", `s`, '${env:HOME}')",
    "TIMESTAMP '2024-01-01 00:00:00' + INTERVAL '1' DAY < ts",
    "s LIKE '%!%' ESCAPE '!' OR s RLIKE '^a\\\\d+$'",
    "java_method('java.lang.System', 'getenv', 'HOME')",
    "(SELECT max(s) FROM other)",
    "false) OR (true",
    "r'\\' = s",
    "s = $$a$$ -- comment",
    "s /* comment */ IS NOT NULL",
    "current_user",
    "-128Y = y",
];
const WORDS: [&str; 16] = [
    " -> ", "${", "'${x}'", "r'", "--", "/*", "SELECT ", "$", "::int", "X'2", "CASE ", "array<", "[", "]",
    "!", "~",
];

impl Target for Rules {
    const NAME: &'static str = "rules";

    fn new() -> Self {
        let fields = [
            ("i", DataType::Integer),
            ("y", DataType::Byte),
            ("s", DataType::String),
            ("b", DataType::Boolean),
            ("ts", DataType::Timestamp),
            ("arr", DataType::String),
            ("x", DataType::Long),
        ];
        let fields = fields.into_iter().map(|(name, kind)| StructField::new(name, kind, true)).collect();
        Rules { schema: StructType { fields } }
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        let known = SQL.lines().filter(|line| !line.is_empty());
        known.chain(RULES).map(|text| text.as_bytes().to_vec()).collect()
    }

    fn mutate(&self, rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut out = mutate_sql(rng, seeds);
        for _ in 0..rng.u32(..3) {
            let at = rng.usize(..=out.len());
            out.splice(at..at, mutate::pick(rng, &WORDS).bytes());
        }
        out
    }

    fn check(&self, input: &[u8]) -> bool {
        let text = String::from_utf8_lossy(input);
        let kinds = [RuleKind::Check, RuleKind::Generated("g"), RuleKind::Default("g")];
        let accepted = kinds.map(|kind| self.is_sound(&text, kind));
        accepted.contains(&true)
    }
}

impl Rules {
    fn is_sound(&self, text: &str, kind: RuleKind<'_>) -> bool {
        let Ok(rule) = Rule::of(text, &self.schema, kind) else { return false };
        assert_eq!(rule.expression, text);
        let Some(sql) = rule.sql else {
            assert!(text.len() < 20_000 && !text.contains("${"));
            return true;
        };
        let tree = parse(text).unwrap();
        assert_eq!(parse(&sql).unwrap(), tree, "{sql}");
        assert_eq!(print(&tree).unwrap(), sql);
        assert!(!sql.contains("${"), "{sql}");
        let known = rule_functions(&kind);
        assert!(rule.functions.iter().all(|name| known.contains(&name.as_str())), "{sql}");
        true
    }
}
