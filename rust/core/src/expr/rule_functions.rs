//! The functions of Spark that a rule of a table may call, by name. Functions that are not listed may read or do anything.

/// The kind of a rule, which decides what it may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleKind<'a> {
    /// A CHECK constraint, or an invariant of a column.
    Check,
    /// The expression of a generated column of this name.
    Generated(&'a str),
    /// The default of a column of this name.
    Default(&'a str),
}

/// Give a value of their arguments alone, for each row.
const PURE: &str = "\
    abs acos acosh add_months aes_decrypt aggregate approx_top_k_estimate array array_append array_compact \
    array_contains array_distinct array_except array_insert array_intersect array_join array_max array_min \
    array_position array_prepend array_remove array_repeat array_size array_sort array_union arrays_overlap \
    arrays_zip ascii asin asinh assert_true atan atan2 atanh base64 bigint bin binary bit_count bit_get \
    bit_length bitmap_bit_position bitmap_bucket_number bitmap_count boolean bround btrim cardinality cbrt ceil \
    ceiling char char_length character_length charindex chr coalesce collate collation concat concat_ws contains \
    conv convert_timezone cos cosh cot crc32 csc date date_add date_diff date_format date_from_unix_date \
    date_part date_sub date_trunc dateadd datediff datepart day dayname dayofmonth dayofweek dayofyear decimal \
    decode degrees double e element_at elt encode endswith equal_null exists exp expm1 extract factorial filter \
    find_in_set flatten float floor forall format_number format_string from_base32 from_csv from_json \
    from_unixtime from_utc_timestamp get get_json_object getbit greatest hash hex hll_sketch_estimate hll_union \
    hmac hour hypot if iff ifnull initcap instr int is_valid_utf8 is_valid_variant is_variant_null isnan \
    isnotnull isnull jaro_winkler_similarity json_array_length json_object_keys kll_sketch_get_n_bigint \
    kll_sketch_get_n_double kll_sketch_get_n_float kll_sketch_get_quantile_bigint kll_sketch_get_quantile_double \
    kll_sketch_get_quantile_float kll_sketch_get_rank_bigint kll_sketch_get_rank_double \
    kll_sketch_get_rank_float kll_sketch_merge_bigint kll_sketch_merge_double kll_sketch_merge_float \
    kll_sketch_to_string_bigint kll_sketch_to_string_double kll_sketch_to_string_float last_day lcase least left \
    len length levenshtein ln locate log log10 log1p log2 lower lpad ltrim luhn_check make_date make_dt_interval \
    make_interval make_time make_timestamp make_timestamp_ltz make_timestamp_ntz make_valid_utf8 \
    make_ym_interval map map_concat map_contains_key map_entries map_filter map_from_arrays map_from_entries \
    map_keys map_values map_zip_with mask md5 minute mod month monthname months_between named_struct nanvl \
    negative next_day nullif nullifzero nvl nvl2 octet_length overlay parse_json parse_url pi pmod position \
    positive pow power printf quarter quote radians raise_error reduce regexp regexp_count regexp_extract \
    regexp_extract_all regexp_instr regexp_like regexp_replace regexp_substr repeat replace reverse right rint \
    rlike round rpad rtrim schema_of_csv schema_of_json schema_of_variant sec second sentences sequence sha sha1 \
    sha2 shiftleft shiftright shiftrightunsigned sign signum sin sinh size slice smallint sort_array soundex \
    space split split_part sqrt st_asbinary st_geogfromwkb st_geomfromwkb st_setsrid st_srid startswith \
    str_to_map string struct substr substring substring_index tan tanh theta_difference theta_intersection \
    theta_sketch_estimate theta_union time time_bucket time_diff time_from_micros time_from_millis \
    time_from_seconds time_to_micros time_to_millis time_to_seconds time_trunc timestamp timestamp_micros \
    timestamp_millis timestamp_nanos timestamp_seconds timestampadd timestampdiff tinyint to_base32 to_binary \
    to_char to_csv to_date to_json to_number to_time to_timestamp to_timestamp_ltz to_timestamp_ntz \
    to_unix_timestamp to_utc_timestamp to_varchar to_variant_object transform transform_keys transform_values \
    translate trim trunc try_add try_aes_decrypt try_divide try_element_at try_make_interval try_make_timestamp \
    try_make_timestamp_ltz try_make_timestamp_ntz try_mod try_multiply try_parse_json try_parse_url try_subtract \
    try_to_binary try_to_date try_to_number try_to_time try_to_timestamp try_url_decode try_validate_utf8 \
    try_variant_array_append try_variant_get try_variant_insert try_variant_set tuple_difference_double \
    tuple_difference_integer tuple_difference_theta_double tuple_difference_theta_integer \
    tuple_intersection_double tuple_intersection_integer tuple_intersection_theta_double \
    tuple_intersection_theta_integer tuple_sketch_estimate_double tuple_sketch_estimate_integer \
    tuple_sketch_summary_double tuple_sketch_summary_integer tuple_sketch_theta_double \
    tuple_sketch_theta_integer tuple_union_double tuple_union_integer tuple_union_theta_double \
    tuple_union_theta_integer typeof ucase unbase64 unhex unix_date unix_micros unix_millis unix_nanos \
    unix_seconds unix_timestamp upper url_decode url_encode validate_utf8 variant_array_append variant_delete \
    variant_get variant_insert variant_set variant_strip_nulls vector_cosine_similarity vector_inner_product \
    vector_l2_distance vector_norm vector_normalize weekday weekofyear width_bucket xpath xpath_boolean \
    xpath_double xpath_float xpath_int xpath_long xpath_number xpath_short xpath_string xxhash64 year zeroifnull \
    zip_with \
";

/// Return the time of the query, or something constant in it.
const OF_TIME: &str =
    "current_date curdate current_timestamp now localtimestamp current_time localtime current_timezone";

/// Describe the session; defaults may call them, for example to record the user who inserts a row.
const OF_SESSION: &str =
    "current_user user session_user current_catalog current_database current_schema version";

/// Need not give the same each time, to Spark.
const RANDOM: &str = "\
    java_method reflect try_reflect uuid rand randn random randstr uniform shuffle aes_encrypt monotonically_increasing_id spark_partition_id \
    input_file_name input_file_block_start input_file_block_length";

/// Names that are functions also without parentheses, where no column is called so.
const WITHOUT_PARENTHESES: &str =
    "current_date current_timestamp localtimestamp current_time localtime current_user user session_user";

fn has(names: &str, name: &str) -> bool {
    names.split_ascii_whitespace().any(|known| known == name)
}

/// Whether a rule may call a function of this name, in lower case, with so many arguments.
pub(super) fn may_call(kind: &RuleKind, name: &str, args: usize) -> bool {
    let of_time = has(OF_TIME, name) || (name == "unix_timestamp" && args == 0);
    match kind {
        // delta-spark takes this one, too
        RuleKind::Generated(_) if of_time => name == "now",
        RuleKind::Default(_) if has(OF_SESSION, name) => true,
        _ => of_time || has(PURE, name),
    }
}

/// The names of all that a rule may call.
pub fn rule_functions(kind: &RuleKind) -> Vec<&'static str> {
    let all = [PURE, OF_TIME, OF_SESSION].into_iter().flat_map(str::split_ascii_whitespace);
    all.filter(|name| may_call(kind, name, 1)).collect()
}

/// Whether a function of this name need not give the same each time.
pub(super) fn is_random(name: &str) -> bool {
    has(RANDOM, name)
}

/// Whether a name without parentheses is a function.
pub(super) fn is_function(name: &str) -> bool {
    has(WITHOUT_PARENTHESES, &name.to_lowercase())
}
