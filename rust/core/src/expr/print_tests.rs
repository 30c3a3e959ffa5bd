//! What is printed is read as the same tree, and has nothing that a setting of Spark gives another meaning.

use proptest::prelude::*;

use super::ast::{Binary, Expr, Interval, Literal};
use super::{Rule, RuleKind, parse, print, rule_functions};
use crate::schema::{DataType, StructField, StructType};

const EXPRESSIONS: &str = include_str!("../../../../tests/expressions/expressions.txt");

fn again(text: &str) -> (Expr, String) {
    let expr = parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    let sql = print(&expr).unwrap_or_else(|e| panic!("{text}: {e}"));
    let read = parse(&sql).unwrap_or_else(|e| panic!("{text} is printed as {sql}: {e}"));
    assert_eq!(read, expr, "{text} is printed as {sql}");
    (expr, sql)
}

#[test]
fn what_spark_was_asked_about_is_read_as_the_same_tree() {
    let mut known = 0;
    for text in EXPRESSIONS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if parse(text).is_ok() {
            again(text);
            known += 1;
        }
    }
    assert!(known > 400, "{known}");
}

#[test]
fn constants_and_names_keep_what_they_say() {
    for (text, sql) in [
        (r"'it''s'", "CAST(X'69742773' AS STRING)"),
        (r"'a\nb'", "CAST(X'610A62' AS STRING)"),
        (r"'a\%b'", r"CAST(X'615C2562' AS STRING)"),
        ("'${env:HOME}'", "CAST(X'247B656E763A484F4D457D' AS STRING)"),
        (r#""text""#, "'text'"),
        ("'é'", "'é'"),
        ("-5", "(-5)"),
        ("- (5)", "(-(5))"),
        ("-9223372036854775808", "(-9223372036854775808L)"),
        ("-128Y", "(-128Y)"),
        ("1.50", "1.50BD"),
        ("-.5", "(-0.5BD)"),
        ("1e3", "1e3D"),
        ("-2.5F", "(-2.5e0F)"),
        ("X'0F'", "X'0F'"),
        ("DATE '2024-2-3'", "DATE '2024-02-03'"),
        ("TIMESTAMP '2024-01-02 03:04:05'", "TIMESTAMP '2024-01-02 03:04:05'"),
        ("TIMESTAMP '2024-01-02 03:04:05+01:00'", "TIMESTAMP '2024-01-02 02:04:05Z'"),
        ("INTERVAL -2 WEEKS", "INTERVAL '-14' DAY"),
        ("`a``b`.c", "`a``b`.`c`"),
        ("a.b[0].c", "`a`.`b`[0].`c`"),
        ("(a + b) * c - d", "(`a` + `b`) * `c` - `d`"),
        ("a - (b - c)", "`a` - (`b` - `c`)"),
        ("! a OR b AND c", "NOT `a` OR `b` AND `c`"),
        ("(a OR b) AND c", "(`a` OR `b`) AND `c`"),
        ("(a = b) = c", "(`a` = `b`) = `c`"),
        ("a BETWEEN 1 AND 2", "`a` >= 1 AND `a` <= 2"),
        ("x LIKE 'a!%' ESCAPE '!'", "`x` LIKE 'a!%' ESCAPE '!'"),
        ("trim(BOTH 'x' FROM s)", "TRIM(BOTH 'x' FROM `s`)"),
        ("extract(YEAR FROM d)", "EXTRACT(YEAR FROM `d`)"),
        ("a == b", "`a` = `b`"),
        ("NOT (a IS NOT NULL)", "NOT (NOT (`a` IS NULL))"),
    ] {
        assert_eq!(again(text).1, sql, "{text}");
    }
    assert!(print(&Expr::Column(vec!["${env:HOME}".into()])).is_err());
}

fn columns() -> StructType {
    let field = |name: &str, kind| StructField::new(name, kind, true);
    StructType { fields: vec![field("s", DataType::String), field("n", DataType::Long)] }
}

#[test]
fn rules_are_printed_left_to_spark_or_refused() {
    let of = |text: &str, kind| Rule::of(text, &columns(), kind);
    let check = |text: &str| of(text, RuleKind::Check);
    let known = check("upper(S) = 'A' AND n BETWEEN 1 AND 3").unwrap();
    assert_eq!(known.sql.as_deref(), Some("upper(`S`) = 'A' AND (`n` >= 1 AND `n` <= 3)"));
    assert_eq!(known.functions, ["upper"]);
    assert_eq!(check("now() > DATE '2020-01-01'").unwrap().functions, ["now"]);
    for text in [
        "exists(array(s), x -> x = 'a')",
        "s = ANY (1)",
        "CAST(s AS ARRAY<INT>) IS NULL",
        "s LIKE 'a' ESCAPE ''''",
    ] {
        assert_eq!(check(text).unwrap().sql, None, "{text}");
    }
    let generated = RuleKind::Generated("g");
    assert!(of("now()", generated).is_ok() && of("current_timestamp()", generated).is_err());
    assert!(of("unix_timestamp(s)", generated).is_ok() && of("unix_timestamp()", generated).is_err());
    assert_eq!(of("current_user", RuleKind::Default("s")).unwrap().sql.as_deref(), Some("`current_user`"));
    let deep = format!("{}1{} = ANY (1)", "(".repeat(20_000), ")".repeat(20_000));
    let long = format!("exists(array(1), x -> {}x = 1)", "1 + ".repeat(20_000));
    for (text, kind, said, condition) in [
        ("false) OR (true", RuleKind::Check, "closes nothing", None),
        ("(true", RuleKind::Check, "", None),
        (
            "java_method('a', 'b') = s",
            RuleKind::Check,
            "java_method",
            Some("DELTA_NON_DETERMINISTIC_EXPRESSION_IN_CHECK_CONSTRAINT"),
        ),
        ("reflect('a', 'b') = s", generated, "reflect", Some("UNSUPPORTED_EXPRESSION_GENERATED_COLUMN")),
        (
            "`java_method`('a', 'b')",
            generated,
            "java_method",
            Some("DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN"),
        ),
        (
            "(SELECT max(s) FROM other)",
            generated,
            "subquery",
            Some("UNSUPPORTED_EXPRESSION_GENERATED_COLUMN"),
        ),
        (
            "s IN (SELECT s FROM other)",
            RuleKind::Check,
            "subquery",
            Some("DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT"),
        ),
        (
            "rand() < 2",
            RuleKind::Check,
            "not deterministic",
            Some("DELTA_NON_DETERMINISTIC_EXPRESSION_IN_CHECK_CONSTRAINT"),
        ),
        ("uuid()", generated, "not deterministic", Some("UNSUPPORTED_EXPRESSION_GENERATED_COLUMN")),
        ("uuid()", RuleKind::Default("s"), "not deterministic", Some("INVALID_DEFAULT_VALUE.NOT_CONSTANT")),
        ("(SELECT 1)", RuleKind::Default("s"), "subquery", Some("INVALID_DEFAULT_VALUE.SUBQUERY_EXPRESSION")),
        (
            "current_user() = s",
            RuleKind::Check,
            "current_user",
            Some("DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT"),
        ),
        (
            "current_user = s",
            RuleKind::Check,
            "current_user",
            Some("DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT"),
        ),
        ("secret > 1", RuleKind::Check, "secret", Some("UNRESOLVED_COLUMN.WITH_SUGGESTION")),
        ("t.s = 'a'", RuleKind::Check, "`t`", Some("UNRESOLVED_COLUMN.WITH_SUGGESTION")),
        ("s", RuleKind::Default("s"), "`s`", Some("UNRESOLVED_COLUMN.WITH_SUGGESTION")),
        ("exists(array(s), x -> x = '${env:HOME}')", RuleKind::Check, "${", None),
        ("exists(array(s), x -> x = r'a')", RuleKind::Check, "letter", None),
        ("exists(array(s), /* ( */ x -> x)", RuleKind::Check, "comment", None),
        ("exists(array(s), x -> x = $$a$$)", RuleKind::Check, "not understood", None),
        (&deep, RuleKind::Check, "", None),
        (&long, RuleKind::Check, "bytes", None),
    ] {
        let error = of(text, kind).unwrap_err();
        assert_eq!(error.kind(), "InvalidExpression", "{text}");
        let text: String = text.chars().take(80).collect();
        assert!(error.to_string().contains(said), "{text}: {error}");
        assert_eq!(error.condition().map(|c| c.name), condition, "{text}");
    }
}

#[test]
fn what_the_core_computes_a_rule_may_call() {
    let defaults = rule_functions(&RuleKind::Default("s"));
    let missing: Vec<_> =
        super::call::known().filter(|name| !defaults.contains(name) && !name.starts_with("__")).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

fn literals() -> impl Strategy<Value = Expr> {
    prop_oneof![
        Just(Literal::Null),
        any::<bool>().prop_map(Literal::Boolean),
        any::<i8>().prop_map(Literal::Byte),
        any::<i16>().prop_map(Literal::Short),
        any::<i32>().prop_map(Literal::Integer),
        any::<i64>().prop_map(Literal::Long),
        any::<f32>().prop_filter("finite", |v| v.is_finite()).prop_map(Literal::Float),
        any::<f64>().prop_filter("finite", |v| v.is_finite()).prop_map(Literal::Double),
        "[0-9]{0,30}[.][0-9]{0,8}".prop_filter_map("a decimal", |text| match parse(&format!("{text}BD")) {
            Ok(Expr::Literal(decimal @ Literal::Decimal(..))) => Some(decimal),
            _ => None,
        }),
        any::<String>().prop_map(Literal::String),
        "[a-z'\\\\$%_{} \n]{0,12}".prop_map(Literal::String),
        any::<Vec<u8>>().prop_map(Literal::Binary),
        (-700_000..3_000_000_i32).prop_map(Literal::Date),
        (-60_000_000_000_000_000..200_000_000_000_000_000_i64).prop_map(Literal::Timestamp),
        (-60_000_000_000_000_000..200_000_000_000_000_000_i64).prop_map(Literal::SessionTimestamp),
        (-60_000_000_000_000_000..200_000_000_000_000_000_i64).prop_map(Literal::TimestampNtz),
        any::<i32>().prop_map(|n| Literal::Interval(Interval::Months(n))),
        any::<i32>().prop_map(|n| Literal::Interval(Interval::Days(n))),
        any::<i64>().prop_map(|n| Literal::Interval(Interval::Micros(n))),
    ]
    .prop_map(Expr::Literal)
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,5}", "[A-Za-z`.'\" \\\\é-]{1,6}", Just("select".to_owned())]
}

fn types() -> impl Strategy<Value = DataType> {
    prop_oneof![
        Just(DataType::Integer),
        Just(DataType::Timestamp),
        Just(DataType::TimestampNtz),
        Just(DataType::Double),
        Just(DataType::Decimal(12, 3)),
        Just(DataType::Binary),
    ]
}

const OPERATORS: [Binary; 16] = [
    Binary::And,
    Binary::Or,
    Binary::Eq,
    Binary::Ne,
    Binary::Lt,
    Binary::Le,
    Binary::Gt,
    Binary::Ge,
    Binary::NullSafeEq,
    Binary::Add,
    Binary::Subtract,
    Binary::Multiply,
    Binary::Divide,
    Binary::IntegralDivide,
    Binary::Remainder,
    Binary::Concat,
];

fn trees() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![literals(), prop::collection::vec(names(), 1..3).prop_map(Expr::Column)];
    leaf.prop_recursive(5, 40, 4, |x| {
        let boxed = || x.clone().prop_map(Box::new);
        let some = || prop::collection::vec(x.clone(), 1..4);
        let function = prop::sample::select(vec!["upper", "coalesce", "if", "date", "left", "replace", "rlike", "concat"]);
        prop_oneof![
            4 => (prop::sample::select(OPERATORS.to_vec()), boxed(), boxed()).prop_map(|(op, l, r)| Expr::Binary(op, l, r)),
            1 => boxed().prop_map(Expr::Not),
            1 => boxed().prop_map(Expr::Negate),
            1 => boxed().prop_map(Expr::IsNull),
            1 => (boxed(), some()).prop_map(|(x, list)| Expr::In(x, list)),
            1 => (boxed(), boxed(), prop::sample::select(vec!['\\', '!', '#']), any::<bool>())
                .prop_map(|(v, p, escape, any_case)| Expr::Like(v, p, escape, any_case)),
            1 => (prop::collection::vec((x.clone(), x.clone()), 1..3), prop::option::of(boxed()))
                .prop_map(|(branches, otherwise)| Expr::Case(branches, otherwise)),
            1 => (boxed(), types(), any::<bool>()).prop_map(|(x, to, tries)| Expr::Cast(x, to, tries)),
            1 => (boxed().prop_filter("a path is a column", |x| !matches!(**x, Expr::Column(_))), names())
                .prop_map(|(x, name)| Expr::Field(x, name)),
            1 => (boxed(), boxed()).prop_map(|(x, at)| Expr::Index(x, at)),
            2 => (function, some()).prop_map(|(name, args)| Expr::Call(name.to_owned(), args)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn any_tree_is_read_as_it_was_printed(tree in trees()) {
        let sql = print(&tree).unwrap();
        prop_assert!(!sql.contains("${"), "{}", sql);
        match parse(&sql) {
            Ok(read) => prop_assert_eq!(read, tree, "{}", sql),
            // what parsers have against deep trees is for their own tests
            Err(error) => prop_assert!(error.to_string().contains("deep") || error.to_string().contains("recursion"), "{}: {}", sql, error),
        }
    }
}
