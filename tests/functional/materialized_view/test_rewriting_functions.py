"""Every function that a rewritten text may have means there what was written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product

import pytest
from sqlglot import exp

from dbt.adapters.spark_mv.rewrite import row_functions
from dbt.adapters.spark_mv.rewrite.conditions.conjuncts import conjuncts
from dbt.adapters.spark_mv.rewrite.reading.expressions import read
from dbt.adapters.spark_mv.rewrite.terms import ColumnOf, Term, column_term, tree_of
from dbt.adapters.spark_mv.rewrite.unmatched import Unmatched
from dbt.adapters.spark_mv.sql.reads import parse
from dbt.adapters.spark_mv.sql.spark_functions import SPARK_FUNCTIONS
from tests.functional.materialized_view.warehouse import Warehouse

TYPES = {
    "d": "date",
    "t": "timestamp",
    "s": "string",
    "u": "string",
    "i": "int",
    "m": "decimal(10,2)",
    "x": "double",
    "b": "boolean",
    "a": "array<int>",
    "p": "map<string,int>",
    "st": "struct<k:int,name:string>",
}
ROWS = """
    (date'2024-03-31', timestamp'2024-03-31 13:14:15.5', 'ab-cd EF', 'it''s', 17, 2.50BD, 3.25D,
     true, array(3, 1, null), map('k', 1), named_struct('k', 1, 'name', 'x')),
    (date'2023-01-01', timestamp'2023-01-01 00:00:00', ' b ', 'X,y', -3, -1.25BD, -0.5D, false,
     array(), map(), named_struct('k', null, 'name', 'y')),
    (date'0999-12-31', timestamp'1970-01-01 00:00:01', '', 'a"b', 0, 0BD, 0D, null,
     array(1, 1), map('x', null), null),
    (null, null, null, null, null, null, null, null, null, null, null)
"""
FUNCTIONS = r"""
    date_format(d, 'yyyy-MM') | date_format(d, 'yyyyMM') | date_format(d, 'yyyy') |
    date_format(d, 'MM') | date_format(d, 'yyyy-MM-dd') | date_format(t, 'yyyy-MM-dd HH:mm:ss') |
    date_format(d, 'MMM') | date_format(d, 'EEEE') | date_format(d, 'dd') |
    split(s, '-') | split_part(s, '-', 1) | regexp_extract(s, '([a-z]+)-([a-z]+)', 2) |
    initcap(s) | contains(s, 'b') | startswith(s, 'a') | endswith(s, 'F') |
    translate(s, 'ab', 'xy') | nvl2(u, s, 'z') | weekday(d) | int(m) | string(i) | double(i) |
    date(t) | s like 'a%' | s rlike '^a' | next_day(d, 'MON') | try_divide(i, 0) |
    ifnull(u, s) | nvl(u, s) | nullif(s, 'x') | nullifzero(i) | zeroifnull(i) | greatest(i, 3) |
    least(i, 3) | isnull(u) | isnotnull(u) | isnan(x) | date_part('month', d) |
    date_part('YEAR', t) | extract(year from d) | extract(month from t) | extract(week from d) |
    extract(day from d) | extract(quarter from d) | extract(hour from t) | extract(doy from d) |
    dayofweek(d) | day(d) | dayofyear(d) | weekofyear(d) | trunc(d, 'YEAR') | trunc(d, 'year') |
    trunc(d, 'QUARTER') | trunc(d, 'WEEK') | trunc(d, 'MONTH') | trunc(d, 'MM') | trunc(d, 'yy') |
    date_trunc('month', d) | date_trunc('WEEK', t) | date_trunc('hour', t) | date_trunc('mon', d) |
    date_trunc('yyyy', d) | floor(m) | ceil(x) | round(m, 1) | round(x) | bround(m, 1) |
    sqrt(m * m) |     cbrt(i) | power(i, 2) | exp(i) |
    sign(i) | abs(i) | mod(i, 5) | i % 5 | i div 5 | pmod(i, 5) | positive(i) | -i |
    lpad(s, 5, '0') | rpad(s, 5, '0') | ltrim(s) | rtrim(s) | trim(s) | btrim(s) |
    trim(both 'a' from s) | upper(s) | lcase(s) | length(s) | char_length(s) | left(s, 2) |
    right(s, 2) | substr(s, 2) | substring(s, 2, 3) | position('b', s) | locate('b', s) |
    instr(s, 'b') | replace(s, 'b', 'c') | reverse(s) | repeat(s, 2) | concat(s, u) |
    concat_ws('-', s, u) | s || u | ascii(s) | chr(65) | md5(s) | sha1(s) | sha2(s, 256) |
    crc32(s) | hash(s) | xxhash64(s) | levenshtein(s, u) | regexp_replace(s, 'b', 'c') |
    if(b, 1, 2) | case when b then 1 end | case i when 17 then 'a' else 'b' end | not b |
    b is true | s is distinct from u | i between 1 and 20 | i in (1, 17) | s not in ('a') |
    last_day(d) | add_months(d, 1) | date_add(d, 3) | date_sub(d, 3) | datediff(t, d) |
    months_between(t, d) | d + interval 1 day | t - interval '1' hour | d - 3 | cast(s as date) |
    cast(m as int) | try_cast(s as int) | u = 'it''s' | u = "a""b" | u = 'it' 's' | '''' |
    s rlike '\\d+' | u = 'a\'b' | make_date(2024, 2, i + 3) | coalesce(u, '-') | m * 1.10 |
    (m + 1) * (1 - m) | i - (i - 1) | 7 / (i * i + 1) | extract(day from d - date'2023-11-01') |
    extract(hour from t - timestamp'2024-01-01 00:00:00') | extract(minute from t - t) |
    extract(year from coalesce(d, date'2024-01-01')) | extract(month from date_add(d, 3)) |
    date_format(t, 'HH') | date_format(t, 'HH:mm') | date_format(t, 'HH:mm:ss') |
    date_format(d, 'dd/MM/yyyy') | date_format(d, 'MM/dd/yyyy') | date_format(d, 'dd.MM.yyyy') |
    date_format(d, 'dd-MM-yyyy') | date_format(d, 'yyyy/MM/dd') | date_format(d, 'dd MMM yyyy') |
    date_format(d, 'MMM dd') | date_format(d, 'MM-dd') | date_format(d, 'E') |
    date_format(d, 'EEE') | date_format(d, 'MMM yyyy') | date_format(d, 'MMMM yyyy') |
    date_format(d, 'MMMM') | date_format(d, 'yyyy/MM') | date_format(d, 'MM/yyyy') |
    i & 6 | i | i ^ 2 | ~i | (i & 6) = 4 | i & 1 in (0, 2) | -i & 2 | i & -2 | (i & 3) + 1 |
    s like any ('a%', '%b%') | s not like any ('a%', '%b%') | s like all ('%b%', '% %') |
    s not like all ('a%', '%X%') | s like any (u) | not s like all ('%b%', 'a%') |
    s ilike any ('A%', u) | s not ilike all ('A%') | unix_timestamp(t) | unix_timestamp(d) |
    unix_timestamp(s, 'yyyy-MM-dd') | to_unix_timestamp(t) | from_unixtime(i) |
    from_unixtime(i, 'yyyy-MM') | from_utc_timestamp(t, 'Europe/Berlin') |
    to_utc_timestamp(d, 'Asia/Tokyo') | dateadd(month, i, d) | dateadd(hour, 3, t) |
    timestampadd(day, 1, t) | timestampdiff(minute, t, d) | dayname(d) | monthname(d) |
    unix_seconds(t) | unix_millis(t) | unix_micros(t) | date_from_unix_date(i) |
    timestamp_seconds(i) | timestamp_millis(i) | timestamp_micros(i) | date_part('SECONDS', t) |
    bigint(m) | smallint(i) | tinyint(i) | decimal(x) | binary(s) | hex(i) | hex(s) | unhex(s) |
    bin(i) | conv(i, 10, 16) | width_bucket(x, 0, 10, 5) | negative(i) | rint(x) | factorial(i) |
    log1p(abs(i)) | expm1(x) | hypot(i, 3) | e() | pi() | sin(x) | cos(x) | tan(x) | asin(x) |
    acos(x) | atan(x) | atan2(x, i) | sinh(x) | cosh(x) | tanh(x) | degrees(x) | radians(x) |
    bit_count(i) | shiftrightunsigned(i, 1) | try_add(i, 1) | try_subtract(i, 1) |
    try_multiply(i, 2) | nanvl(x, 1) | equal_null(u, s) | soundex(s) | base64(binary(s)) |
    unbase64('aGk=') | encode(s, 'utf-8') | decode(binary(s), 'utf-8') | bit_length(s) |
    octet_length(s) | substring_index(s, '-', 1) | overlay(s placing 'x' from 1) |
    overlay(s placing 'x' from 1 for 2) | find_in_set('b', s) | elt(1, s, u) | luhn_check('42') |
    format_number(m, 1) | url_encode(s) | url_decode('a%20b') | parse_url('http://a/b', 'HOST') |
    parse_url('http://a/b?c=1', 'QUERY', 'c') | to_number('12', '99') | try_to_number(s, '99') |
    regexp_count(s, 'b') | regexp_instr(s, 'b') | regexp_substr(s, 'b.') |
    regexp_extract_all(s, '([a-z])', 1) | to_binary(s, 'utf-8') | a[0] | a[i] | p['k'] | st['k'] |
    st['NAME'] | element_at(p, 'k') | element_at(array(i, 2), -1) | get(a, 1) | a[5] |
    try_element_at(a, 9) |
    cardinality(a) | array_contains(a, 1) | array_position(a, 1) | array_max(a) | array_min(a) |
    array_distinct(a) | array_union(a, a) | array_intersect(a, array(1)) | array_remove(a, 1) |
    array_except(a, array(1)) | arrays_overlap(a, array(3)) | slice(a, 1, 2) | array_repeat(s, 2) |
    flatten(array(a, a)) | map_keys(p) | map_values(p) | map_contains_key(p, 'k') |
    get_json_object('{"a": {"b": 1}}', '$.a.b') | get_json_object(s, '$.a') | array_size(a) |
    size(a) | log10(i * i + 1) | log2(i * i + 1) | unix_date(d) | to_char(i, '999') |
    to_varchar(i, '999') | i|8 | (i|8)&6 | year(d) | quarter(d) | month(d) | dayofmonth(d) |
    hour(t) | minute(t) | second(t) | ln(i * i + 1) | i < 3 | i <= 3 | i <> 3 | s <=> u |
    datepart('month', d) | instr(s, ', ') | instr(u, '(') | log(i * i + 1) | log(2, i * i + 1) |
    log(i * i + 2, 2)
"""
WRITTEN = [text.strip() for text in FUNCTIONS.split("|\n") for text in text.split(" | ")]


def read_from(text: str, types: Mapping[str, str]) -> Term:
    """The term of an expression; raises `Unmatched`."""

    def column(node: exp.Column) -> Term:
        return column_term(ColumnOf(0, node.name, types[node.name]))

    tree = parse(f"select {text}")
    assert tree is not None, text
    return read(tree.expressions[0].unalias(), column)


def printed_by(text: str, types: Mapping[str, str]) -> str:
    """An expression as a rewritten text has it; raises `Unmatched`."""
    return tree_of(read_from(text, types), lambda term: None).sql("spark")


def _printed(text: str) -> str:
    return printed_by(text, TYPES)


@pytest.fixture(scope="module", autouse=True)
def one(lake: Warehouse) -> None:
    """The rows as a view."""
    lake.spark("set spark.sql.ansi.enabled = false")
    columns = ", ".join(TYPES)
    lake.spark(f"create view @.one as select * from values {ROWS} as v({columns})")


def test_functions(lake: Warehouse) -> None:
    printed = list(map(_printed, WRITTEN))
    plain, other = (_values(lake, texts) for texts in (WRITTEN, printed))
    wrong = [
        (asked, found, expected, value)
        for asked, found, expected, value in zip(WRITTEN, printed, plain, other, strict=True)
        if expected != value
    ]
    assert wrong == []


def test_each_function_is_tried() -> None:
    """But NOW, of which there is no value to compare."""
    trees = [parse(f"select {text}") for text in WRITTEN]
    nodes = [node for tree in trees if tree is not None for node in tree.walk()]
    names = {node.name.lower() for node in nodes if isinstance(node, exp.Anonymous)}
    assert row_functions.FUNCTIONS - set(map(type, nodes)) == set()
    assert row_functions.FUNCTION_NAMES - names == {"now"}


def _values(lake: Warehouse, texts: list[str]) -> list[list[str]]:
    """The values and types of expressions, in text: NaN is not equal to itself."""
    items = ", ".join(f"{text}, typeof({text})" for text in texts)
    rows = sorted(lake.spark(f"select s, {items} from @.one"), key=str)
    return [[repr(row[n + 1 : n + 3]) for row in rows] for n in range(0, 2 * len(texts), 2)]


# Each line has one expression in several spellings.
SYNONYMS = """
    year(d) | extract(year from d) | date_part('year', d) | datepart('Y', d) | extract(yrs from d)
    month(t) | extract(month from t) | date_part('mon', t) | extract(MONS from t)
    day(d) | dayofmonth(d) | extract(day from d) | date_part('d', d) | extract(days from d)
    quarter(d) | extract(quarter from d) | date_part('qtr', d)
    weekofyear(d) | extract(week from d) | date_part('W', d)
    dayofweek(d) | extract(dow from d) | extract(dayofweek from d)
    dayofyear(d) | extract(doy from d)
    hour(t) | extract(hour from t) | date_part('hrs', t)
    minute(t) | extract(minute from t) | date_part('M', t) | extract(mins from t)
    u is null | isnull(u) | ISNULL(u)
    u is not null | isnotnull(u) | not isnull(u)
    nvl2(u, s, 'z') | if(u is not null, s, 'z') | case when u is not null then s else 'z' end
    substring(s, 1, 2) | left(s, 2) | substr(s, 1, 2) | substring(s from 1 for 2)
    substring(s, 1, 0) | left(s, 0)
    date'2024-02-29' | to_date('2024-02-29', 'yyyy-MM-dd') | to_date('2024-02-29')
    timestamp'2024-02-29 01:02:03' | to_timestamp('2024-02-29 01:02:03', 'yyyy-MM-dd HH:mm:ss')
    substring(i, 1, 1) | left(i, 1)
    (i > 1 and b) or (i > 1 and m > 2) | i > 1 and (b or m > 2) | (m > 2 or b) and i > 1
    (b and i > 1) or b | b or (b and m > 2) | b
"""


def test_synonyms(lake: Warehouse) -> None:
    """They are one expression to Spark, and are read as one."""
    for line in SYNONYMS.strip().splitlines():
        texts = [text.strip() for text in line.split(" | ")]
        values = _values(lake, texts)
        assert all(one == values[0] for one in values), texts
        read_as = [sorted(part.key for part in conjuncts(read_from(text, TYPES))) for text in texts]
        assert all(one == read_as[0] for one in read_as), texts


AGGREGATES = """
    median(m) | percentile(i, 0.25) | percentile(m, array(0.1, 0.9)) | percentile_approx(i, 0.5) |
    approx_percentile(m, 0.5, 50) | approx_count_distinct(s) | approx_count_distinct(i, 0.1) |
    corr(i, m) | covar_pop(i, x) | covar_samp(m, x) | skewness(i) | kurtosis(x) | bit_and(i) |
    bit_or(i) | bit_xor(i) | regr_slope(m, i) | regr_intercept(m, i) | regr_r2(m, i) |
    max(extract(day from d - date'2023-11-01')) | extract(day from max(d) - min(d)) |
    extract(year from max(d)) |
    regr_count(m, i) | regr_avgx(m, i) | regr_avgy(m, i) | regr_sxx(m, i) | regr_sxy(m, i) |
    regr_syy(m, i) | median(i) filter (where b) | corr(i, m) filter (where i > 0) |
    percentile(i, 0.5) filter (where i <> 17) | stddev_pop(m) | variance(i) | var_pop(x) |
    bit_or(i) filter (where m > 0) | count_if(u is null) | count_if(u is not null) |
    sum(m) filter (where m is not null) | count(case when s is not null then 1 end) |
    count(distinct case when u is not null then 1 end) | count(distinct 1) filter (where i > 0) |
    count(distinct s) filter (where s is not null) | count(distinct case when u > '' then u end) |
    approx_count_distinct(s) filter (where b) | regr_count(m, i) filter (where s <> '')
"""


def test_aggregates(lake: Warehouse) -> None:
    """Of the rows of a view they return what was written."""
    written = [text.strip() for text in AGGREGATES.replace("\n", " ").split("|")]
    for asked, found in zip(written, map(_printed, written), strict=True):
        plain = lake.spark(f"select {asked}, typeof({asked}) from @.one")
        assert repr(plain) == repr(lake.spark(f"select {found}, typeof({found}) from @.one")), asked


OTHER_NAMES = """
    mean(m) | mean(i) | mean(distinct i) | MEAN(x) filter (where i > 0) | std(x) | stddev_samp(x) |
    some(b) | any(b) | every(b) | any(i > 20) | every(b) filter (where i > 20) | var_samp(i)
"""


def test_other_names_of_aggregates(lake: Warehouse) -> None:
    """They are read as the usual ones."""
    written = [text.strip() for text in OTHER_NAMES.replace("\n", " ").split("|")]
    printed = [_printed(text) for text in written]
    assert not [
        text for text in printed if text.startswith(("MEAN", "STD(", "SOME", "ANY", "EVERY"))
    ]
    for asked, found in zip(written, printed, strict=True):
        assert lake.spark(f"select {asked} from @.one") == lake.spark(f"select {found} from @.one")


def forgotten() -> list[str]:
    """Calls that are read, of which an argument is not printed, or DISTINCT."""
    found = []
    for name, count in product(sorted(SPARK_FUNCTIONS), range(1, 6)):
        names = [f"a{number}" for number in range(count)]
        for text in (f"{name}({', '.join(names)})", f"{name}(distinct {', '.join(names)})"):
            try:
                printed = printed_by(text, dict.fromkeys(names, "int"))
            except (AssertionError, Unmatched, AttributeError, KeyError):
                continue  # it is not read
            lacks_distinct = "(distinct" in text and name not in ("min", "max")
            is_whole = set(re.findall(r"\ba\d\b", printed)) == set(names)
            if not is_whole or (lacks_distinct and "DISTINCT" not in printed):
                found.append(text)
    return found


def test_no_argument_is_forgotten(lake: Warehouse) -> None:
    """Of those Spark says that they have too many, or it reads a word that is no argument."""
    texts = forgotten()
    assert 50 < len(texts) < 200
    columns = ", ".join(f"1 as a{number}" for number in range(5))
    wrong = []
    for text in texts:
        try:
            lake.spark(f"select {text} from (select {columns})")
        except Exception as error:
            known = ("WRONG_NUM_ARGS", "PARSE_SYNTAX_ERROR", "NON_FOLDABLE", "DISTINCT")
            if any(code in str(error) for code in known):
                continue
        wrong.append(text)
    assert wrong == []
