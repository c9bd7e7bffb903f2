"""Functions and operators whose value depends on their arguments alone, of those that sqlglot
prints as they were read. Functions of users, of the clock and of chance are not among them."""

from __future__ import annotations

from sqlglot import exp

_OPERATORS: tuple[type[exp.Expr], ...] = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg),
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is),
    *(exp.Like, exp.ILike, exp.RegexpLike, exp.In, exp.If, exp.Case, exp.Coalesce, exp.Nullif),
    *(exp.Cast, exp.TryCast, exp.Interval, exp.Greatest, exp.Least, exp.Nvl2, exp.EqualNull),
    *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot),
)
_OF_TIMES: tuple[type[exp.Expr], ...] = (
    *(exp.TimestampTrunc, exp.DateTrunc, exp.TsOrDsToDate, exp.LastDay, exp.NextDay),
    *(exp.Year, exp.Quarter, exp.Month, exp.Day, exp.DayOfMonth, exp.DayOfWeek, exp.DayOfYear),
    *(exp.WeekOfYear, exp.Hour, exp.Minute, exp.Second, exp.Extract),
    *(exp.TsOrDsAdd, exp.DateDiff, exp.AddMonths, exp.MonthsBetween),
    *(exp.TimestampAdd, exp.TimestampDiff, exp.DateFromUnixDate, exp.Dayname, exp.Monthname),
    *(exp.UnixSeconds, exp.UnixMillis, exp.UnixMicros, exp.AtTimeZone, exp.FromTimeZone),
)
_OF_TEXTS: tuple[type[exp.Expr], ...] = (
    *(exp.Upper, exp.Lower, exp.Trim, exp.Length, exp.Initcap),
    *(exp.Substring, exp.Left, exp.Right, exp.Replace, exp.StrPosition, exp.ConcatWs),
    *(exp.Pad, exp.RegexpSplit, exp.SplitPart, exp.RegexpExtract, exp.Contains, exp.StartsWith),
    *(exp.EndsWith, exp.Translate, exp.Repeat, exp.Ascii, exp.Chr, exp.Reverse),
    *(exp.MD5, exp.SHA, exp.SHA2, exp.RegexpReplace, exp.Levenshtein, exp.Soundex, exp.Overlay),
    *(exp.ToBase64, exp.FromBase64, exp.Encode, exp.Decode, exp.BitLength, exp.SubstringIndex),
    *(exp.RegexpCount, exp.RegexpInstr, exp.RegexpSubstr, exp.RegexpExtractAll, exp.Elt),
    *(exp.Hex, exp.Unhex, exp.ParseUrl, exp.ToNumber, exp.ToBinary),
)
_OF_NUMBERS: tuple[type[exp.Expr], ...] = (
    *(exp.SafeDivide, exp.SafeAdd, exp.SafeSubtract, exp.SafeMultiply, exp.Negative),
    *(exp.Abs, exp.Round, exp.Floor, exp.Ceil, exp.Sqrt, exp.Cbrt, exp.Pow, exp.Exp, exp.Ln),
    *(exp.Sign, exp.IsNan, exp.Nanvl, exp.Rint, exp.Factorial, exp.WidthBucket, exp.Pi),
    *(exp.Sin, exp.Cos, exp.Tan, exp.Asin, exp.Acos, exp.Atan, exp.Atan2, exp.Sinh, exp.Cosh),
    *(exp.Tanh, exp.Degrees, exp.Radians, exp.BitwiseCount),
)
_OF_LISTS: tuple[type[exp.Expr], ...] = (
    *(exp.Array, exp.Bracket, exp.ArrayContains, exp.ArrayPosition, exp.ArrayMax, exp.ArrayMin),
    *(
        exp.ArraySize,
        exp.ArrayDistinct,
        exp.ArrayIntersect,
        exp.ArrayExcept,
        exp.ArrayRemove,
        exp.ArraySlice,
    ),
    *(exp.Flatten, exp.MapKeys, exp.MapContainsKey),
)
FUNCTIONS = frozenset((*_OPERATORS, *_OF_TIMES, *_OF_TEXTS, *_OF_NUMBERS, *_OF_LISTS))
# Those that sqlglot has no name for.
FUNCTION_NAMES = frozenset(
    """
    pmod bround hash xxhash64 crc32 btrim weekday make_date nullifzero zeroifnull
    positive now log1p expm1 hypot e bin conv shiftrightunsigned timestamp_seconds timestamp_millis
    timestamp_micros date_part datepart bigint smallint tinyint decimal binary octet_length
    find_in_set format_number url_encode url_decode luhn_check cardinality get array_union
    arrays_overlap array_repeat map_values try_to_number array_size log10 log2 unix_date to_char
    to_varchar get_json_object element_at try_element_at instr log
    """.split()
)
