"""Names of the functions that every Spark has, as SHOW SYSTEM FUNCTIONS of Spark 4.1 lists them,
aggregate functions by their usual names, and calls that sqlglot would read as others.

A call of any other function may read relations that its statement does not name.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dbt.adapters.spark_mv.sql.sqlglot_internals import Spark, SparkParser

# Those that call a method of any Java class.
RUN_CODE = frozenset({"reflect", "java_method", "try_reflect"})
SPARK_FUNCTIONS = frozenset(
    """
abs acos acosh add_months aes_decrypt aes_encrypt aggregate and any any_value
approx_count_distinct approx_percentile approx_top_k approx_top_k_accumulate
approx_top_k_combine approx_top_k_estimate array array_agg array_append array_compact
array_contains array_distinct array_except array_insert array_intersect array_join array_max
array_min array_position array_prepend array_remove array_repeat array_size array_sort
array_union arrays_overlap arrays_zip ascii asin asinh assert_true atan atan2 atanh avg
base64 between bigint bin binary bit_and bit_count bit_get bit_length bit_or bit_xor
bitmap_and_agg bitmap_bit_position bitmap_bucket_number bitmap_construct_agg bitmap_count
bitmap_or_agg bool_and bool_or boolean bround btrim cardinality case cast cbrt ceil ceiling
char char_length character_length chr coalesce collate collation collations collect_list
collect_set concat concat_ws contains conv convert_timezone corr cos cosh cot count count_if
count_min_sketch covar_pop covar_samp crc32 csc cume_dist curdate current_catalog
current_database current_date current_schema current_time current_timestamp current_timezone
current_user date date_add date_diff date_format date_from_unix_date date_part date_sub
date_trunc dateadd datediff datepart day dayname dayofmonth dayofweek dayofyear decimal
decode degrees dense_rank div double e element_at elt encode endswith equal_null every
exists exp explode explode_outer expm1 extract factorial filter find_in_set first
first_value flatten float floor forall format_number format_string from_avro from_csv
from_json from_protobuf from_unixtime from_utc_timestamp from_xml get get_json_object getbit
greatest grouping grouping_id hash hex histogram_numeric hll_sketch_agg hll_sketch_estimate
hll_union hll_union_agg hour hypot if ifnull ilike in initcap inline inline_outer
input_file_block_length input_file_block_start input_file_name instr int is_valid_utf8
is_variant_null isnan isnotnull isnull java_method json_array_length json_object_keys
json_tuple kll_merge_agg_bigint kll_merge_agg_double kll_merge_agg_float
kll_sketch_agg_bigint kll_sketch_agg_double kll_sketch_agg_float kll_sketch_get_n_bigint
kll_sketch_get_n_double kll_sketch_get_n_float kll_sketch_get_quantile_bigint
kll_sketch_get_quantile_double kll_sketch_get_quantile_float kll_sketch_get_rank_bigint
kll_sketch_get_rank_double kll_sketch_get_rank_float kll_sketch_merge_bigint
kll_sketch_merge_double kll_sketch_merge_float kll_sketch_to_string_bigint
kll_sketch_to_string_double kll_sketch_to_string_float kurtosis lag last last_day last_value
lcase lead least left len length levenshtein like listagg ln localtimestamp locate log log10
log1p log2 lower lpad ltrim luhn_check make_date make_dt_interval make_interval make_time
make_timestamp make_timestamp_ltz make_timestamp_ntz make_valid_utf8 make_ym_interval map
map_concat map_contains_key map_entries map_filter map_from_arrays map_from_entries map_keys
map_values map_zip_with mask max max_by md5 mean median min min_by minute mod mode
monotonically_increasing_id month monthname months_between named_struct nanvl negative
next_day not now nth_value ntile nullif nullifzero nvl nvl2 octet_length or overlay
parse_json parse_url percent_rank percentile percentile_approx percentile_cont
percentile_disc pi pmod posexplode posexplode_outer position positive pow power printf
python_worker_logs quarter quote radians raise_error rand randn random randstr range rank
reduce reflect regexp regexp_count regexp_extract regexp_extract_all regexp_instr
regexp_like regexp_replace regexp_substr regr_avgx regr_avgy regr_count regr_intercept
regr_r2 regr_slope regr_sxx regr_sxy regr_syy repeat replace reverse right rint rlike round
row_number rpad rtrim schema_of_avro schema_of_csv schema_of_json schema_of_variant
schema_of_variant_agg schema_of_xml sec second sentences sequence session_user
session_window sha sha1 sha2 shiftleft shiftright shiftrightunsigned shuffle sign signum sin
sinh size skewness slice smallint some sort_array soundex space spark_partition_id split
split_part sql_keywords sqrt st_asbinary st_geogfromwkb st_geomfromwkb st_setsrid st_srid
stack startswith std stddev stddev_pop stddev_samp str_to_map string string_agg struct
substr substring substring_index sum tan tanh theta_difference theta_intersection
theta_intersection_agg theta_sketch_agg theta_sketch_estimate theta_union theta_union_agg
time time_diff time_trunc timestamp timestamp_micros timestamp_millis timestamp_seconds
tinyint to_avro to_binary to_char to_csv to_date to_json to_number to_protobuf to_time
to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp to_utc_timestamp to_varchar
to_variant_object to_xml transform transform_keys transform_values translate trim trunc
try_add try_aes_decrypt try_avg try_divide try_element_at try_make_interval
try_make_timestamp try_make_timestamp_ltz try_make_timestamp_ntz try_mod try_multiply
try_parse_json try_parse_url try_reflect try_subtract try_sum try_to_binary try_to_date
try_to_number try_to_time try_to_timestamp try_url_decode try_validate_utf8 try_variant_get
typeof ucase unbase64 unhex uniform unix_date unix_micros unix_millis unix_seconds
unix_timestamp upper url_decode url_encode user uuid validate_utf8 var_pop var_samp variance
variant_explode variant_explode_outer variant_get version weekday weekofyear when
width_bucket window window_time xpath xpath_boolean xpath_double xpath_float xpath_int
xpath_long xpath_number xpath_short xpath_string xxhash64 year zeroifnull zip_with
""".split()
)

# They make rows of a value.
_GENERATORS = frozenset(
    """
    explode explode_outer posexplode posexplode_outer inline inline_outer stack json_tuple
    variant_explode variant_explode_outer
    """.split()
)
# Aggregate functions that are no others by another name.
_ONLY_NAMED = frozenset(("histogram_numeric", "try_avg", "try_sum"))
# Of aggregate functions, names that sqlglot does not know.
_OTHER_NAMES: dict[str, type[exp.AggFunc]] = {
    "mean": exp.Avg,
    "std": exp.Stddev,
    "some": exp.LogicalOr,
    "every": exp.LogicalAnd,
}


def is_any(node: exp.Expr) -> bool:
    """Whether it is the aggregate ANY, not that of LIKE ANY or of a comparison."""
    if not isinstance(node, exp.Any) or isinstance(node.parent, (exp.Like, exp.ILike)):
        return False
    return not isinstance(node.this, (exp.Query, exp.Tuple))


def aggregate(node: exp.Expr) -> exp.AggFunc | None:
    """A call of an aggregate function by its usual name: the node itself if it has that; None if it
    is no such call, or only its name is known."""
    if isinstance(node, exp.Anonymous) and len(node.expressions) == 1:
        kind = _OTHER_NAMES.get(node.name.lower())
        return kind(this=node.expressions[0].copy()) if kind is not None else None
    if is_any(node):
        return exp.LogicalOr(this=node.this.copy())
    if type(node) is exp.StddevSamp:
        return exp.Stddev(this=node.this.copy())
    return node if isinstance(node, exp.AggFunc) else None


def is_of_group(node: exp.Expr, names_count: bool = False) -> bool:
    """Whether an expression has one value for each group: it calls an aggregate function, of which
    the name may be all that is known if `names_count`, and none that makes rows of a value, or may.

    >>> text = "select array_sort(collect_set(a)), explode(collect_set(a)), udf(sum(a)), lower(a)"
    >>> from dbt.adapters.spark_mv.sql.reads import parse
    >>> [is_of_group(node) for node in parse(text).expressions]
    [True, False, False, False]
    """
    parts = list(node.walk())
    if any(isinstance(part, (exp.UDTF, exp.Window, exp.Query)) for part in parts):
        return False
    names = {part.name.lower() for part in parts if isinstance(part, exp.Anonymous)}
    if not names <= SPARK_FUNCTIONS - _GENERATORS:
        return False
    is_named = any(isinstance(part, exp.WithinGroup) for part in parts) or names & _ONLY_NAMED
    return any(map(aggregate, parts)) or bool(names_count and is_named)


Builder = Callable[[list[exp.Expr]], exp.Expr]
# sqlglot would print others in their place, which have other values, or takes two for one.
_LEFT_ALONE = (
    *("PERCENTILE_CONT", "PERCENTILE_DISC", "ARRAY_SIZE", "LOG10", "LOG2", "UNIX_DATE"),
    *("TO_CHAR", "TO_VARCHAR", "PARSE_JSON", "GET_JSON_OBJECT", "ELEMENT_AT", "TRY_ELEMENT_AT"),
    *("INSTR", "LOG"),
)
_WITH_FORMAT = ("DATE_FORMAT", "TO_DATE", "TO_TIMESTAMP", "UNIX_TIMESTAMP", "FROM_UNIXTIME")
# Where a tree keeps the format that a function was given.
WRITTEN_FORMAT = "written_format"
# Where it says that PERCENTILE has frequencies, which sqlglot forgets.
HAS_FREQUENCIES = "has_frequencies"
_UNITS_OF_DAYS = frozenset("YEAR YYYY YY QUARTER MONTH MM MON WEEK".split())
_UNITS = {
    "TRUNC": _UNITS_OF_DAYS,
    "DATE_TRUNC": _UNITS_OF_DAYS
    | frozenset("DAY DD HOUR MINUTE SECOND MILLISECOND MICROSECOND".split()),
}


def _left_alone(name: str) -> Builder:
    return lambda arguments: exp.Anonymous(this=name, expressions=arguments)


def _percentile(arguments: list[exp.Expr]) -> exp.Expr:
    inner = arguments[0] if len(arguments) == 1 else None
    if isinstance(inner, exp.Distinct) and len(inner.expressions) == 2:
        value, quantile = inner.expressions
        return exp.Quantile(this=exp.Distinct(expressions=[value]), quantile=quantile)
    if len(arguments) < 2:
        return exp.Anonymous(this="PERCENTILE", expressions=arguments)
    found = exp.Quantile(this=arguments[0], quantile=arguments[1])
    found.meta[HAS_FREQUENCIES] = len(arguments) > 2
    del arguments[2:]  # the node has no place for them, and would refuse them
    return found


def _of_unit(name: str, place: int) -> Builder:
    """The reader of a function that has a unit of time as its argument at `place`: sqlglot takes
    columns for units, and spells short names out that Spark does not know."""
    function, other = SparkParser.FUNCTIONS[name], _left_alone(name)

    def made(arguments: list[exp.Expr]) -> exp.Expr:
        unit = arguments[place] if len(arguments) == 2 else None
        is_known = isinstance(unit, exp.Literal) and unit.name.upper() in _UNITS[name]
        return function(arguments) if is_known else other(arguments)

    return made


def _formatted(name: str) -> Builder:
    """The reader of a function with a format, which it keeps as it is written: sqlglot spells `y`
    and others out, and `Y`, which is the year of a week, as `y`."""
    function, other = SparkParser.FUNCTIONS[name], _left_alone(name)

    def made(arguments: list[exp.Expr]) -> exp.Expr:
        written = arguments[1] if len(arguments) == 2 else None
        if isinstance(written, exp.Literal) and "Y" in written.name:
            return other(arguments)
        found = function(arguments, Spark())
        if isinstance(written, exp.Literal):
            found.meta[WRITTEN_FORMAT] = written.name
        return found

    return made


# What makes the node of a function from its arguments.
BUILDERS: dict[str, Builder] = {
    **{name: _left_alone(name) for name in _LEFT_ALONE},
    **{name: _formatted(name) for name in _WITH_FORMAT},
    "PERCENTILE": _percentile,
    "TRUNC": _of_unit("TRUNC", 1),
    "DATE_TRUNC": _of_unit("DATE_TRUNC", 0),
}
