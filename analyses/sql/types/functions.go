package types

// Class says where a function may stand.
type Class uint8

const (
	Scalar    Class = iota // anywhere
	Aggregate              // in SELECT, HAVING, ORDER BY and QUALIFY; with OVER also as a window function, where Window says so
	Window                 // only with OVER
)

// Nulls says how a function treats NULL.
type Nulls uint8

const (
	Strict Nulls = iota // NULL if an argument is NULL
	Own                 // as the function's About says
	Skips               // an aggregate that skips NULL
)

// Function is one function with all its forms.
type Function struct {
	Name    string
	Aliases []string
	Group   string // its heading in the documentation
	Class   Class
	Forms   []string // see signature
	Nulls   Nulls
	Fails   string // the values for which it fails the session; empty if there are none
	Session bool   // its value is fixed when the session opens; other functions depend only on their arguments
	Ordered bool   // an aggregate whose value depends on an order: that of its ORDER BY, by default (file, line)
	Over    bool   // an aggregate that may have OVER
	About   string // one line

	// What the rules of plans may rely on. Each is false if it is not certain.
	Total     bool // never fails, whatever its arguments and the length of its result; so it may be computed for rows that do not count
	Slow      bool // may take long for a few rows, so a node pauses between them
	Unordered bool // an aggregate whose value depends neither on the order of rows nor on which of several equal ones comes first
	Once      bool // an aggregate to which the same value counts once or many times alike

	Share bool // the second argument is a number from 0 to 1 that is written down
}

const (
	texts      = "Text"
	numbers    = "Numbers"
	dateGroup  = "Dates"
	conditions = "Conditions"
	lists      = "Lists"
	own        = "Posta's own"
	windows    = "Window functions"
)

const noRegexp = "a pattern that is not an RE2 expression"

// Functions are all functions but the aggregates (see package aggregate), by group, in the order of the documentation.
//
// A form is written as `TEXT, BIGINT, BIGINT? -> TEXT`. ? marks arguments that may be left out, and ... arguments that may be repeated. T
// stands for any type, the same at each place; N for any number; D for DATE or TIMESTAMP. ANY takes every value without conversion. A
// DECIMAL keeps its digits. The results ROUND, FLOOR and PART depend on the arguments: see results.
//
// A new scalar function needs a line here, a kernel in package eval (in textKernels, numberKernels or dateKernels), and expressions with
// their values in eval/testdata/functions.txt, on which DuckDB has to agree. docs/sql-reference.md is written from this list:
// go test ./docs -run TestTheFunctionsOfThePage -update
var Functions = []Function{
	{Name: "coalesce", Total: true, Group: conditions, Forms: []string{"T... -> T"}, Nulls: Own,
		About: "The first argument that is not NULL."},
	{Name: "nullif", Total: true, Group: conditions, Forms: []string{"T, T -> T"}, Nulls: Own,
		About: "NULL if both are equal, else the first."},
	{Name: "greatest", Total: true, Group: conditions, Forms: []string{"T... -> T"}, Nulls: Own,
		About: "The greatest argument; NULL is skipped."},
	{Name: "least", Total: true, Group: conditions, Forms: []string{"T... -> T"}, Nulls: Own,
		About: "The least argument; NULL is skipped."},
	{Name: "if", Total: true, Group: conditions, Forms: []string{"BOOLEAN, T, T -> T"}, Nulls: Own,
		About: "The second argument if the first is true, else the third."},
	{Name: "ifnull", Total: true, Group: conditions, Forms: []string{"T, T -> T"}, Nulls: Own,
		About: "The first argument, or the second if that is NULL."},

	{Name: "length", Total: true, Aliases: []string{"len", "char_length", "character_length"}, Group: texts,
		Forms: []string{"TEXT -> BIGINT", "TEXT[] -> BIGINT"}, About: "Characters of a text, or items of a list."},
	{Name: "strlen", Total: true, Group: texts, Forms: []string{"TEXT -> BIGINT"}, About: "Bytes of the text."},
	{Name: "lower", Total: true, Aliases: []string{"lcase"}, Group: texts, Forms: []string{"TEXT -> TEXT"},
		About: "The text in lower case."},
	{Name: "upper", Total: true, Aliases: []string{"ucase"}, Group: texts, Forms: []string{"TEXT -> TEXT"},
		About: "The text in upper case."},
	{Name: "trim", Group: texts, Forms: []string{"TEXT, TEXT? -> TEXT"},
		About: "Without blanks, or the characters of the second argument, at both ends."},
	{Name: "ltrim", Group: texts, Forms: []string{"TEXT, TEXT? -> TEXT"},
		About: "Without blanks, or the characters of the second argument, at the start."},
	{Name: "rtrim", Group: texts, Forms: []string{"TEXT, TEXT? -> TEXT"},
		About: "Without blanks, or the characters of the second argument, at the end."},
	{Name: "substring", Total: true, Aliases: []string{"substr"}, Group: texts, Forms: []string{"TEXT, BIGINT, BIGINT? -> TEXT"},
		About: "The characters from a place on, at most so many. Places count from 1, negative ones from the end."},
	{Name: "left", Total: true, Group: texts, Forms: []string{"TEXT, BIGINT -> TEXT"},
		About: "The first n characters; all but the last -n if n is negative."},
	{Name: "right", Total: true, Group: texts, Forms: []string{"TEXT, BIGINT -> TEXT"},
		About: "The last n characters; all but the first -n if n is negative."},
	{Name: "replace", Group: texts, Forms: []string{"TEXT, TEXT, TEXT -> TEXT"},
		About: "Every occurrence of the second argument replaced by the third."},
	{Name: "strpos", Total: true, Aliases: []string{"instr", "position"}, Group: texts, Forms: []string{"TEXT, TEXT -> BIGINT"},
		About: "The place of the second argument in the first, from 1; 0 if there is none."},
	{Name: "starts_with", Total: true, Aliases: []string{"prefix"}, Group: texts, Forms: []string{"TEXT, TEXT -> BOOLEAN"},
		About: "Whether the text begins with the second argument."},
	{Name: "ends_with", Total: true, Aliases: []string{"suffix"}, Group: texts, Forms: []string{"TEXT, TEXT -> BOOLEAN"},
		About: "Whether the text ends with the second argument."},
	{Name: "contains", Total: true, Group: texts, Forms: []string{"TEXT, TEXT -> BOOLEAN"},
		About: "Whether the second argument stands in the text."},
	{Name: "split_part", Group: texts, Forms: []string{"TEXT, TEXT, BIGINT -> TEXT"},
		About: "The nth part between separators, from 1, or from the end if negative; '' if there is none."},
	{Name: "string_split", Total: true, Aliases: []string{"split", "str_split", "string_to_array"}, Group: texts,
		Forms: []string{"TEXT, TEXT -> TEXT[]"},
		About: "The parts between separators."},
	{Name: "regexp_matches", Slow: true, Group: texts, Forms: []string{"TEXT, TEXT, TEXT? -> BOOLEAN"}, Fails: noRegexp,
		About: "Whether the pattern (RE2) matches a part of the text; the third argument holds options, as 'i'."},
	{Name: "regexp_full_match", Slow: true, Group: texts, Forms: []string{"TEXT, TEXT -> BOOLEAN"}, Fails: noRegexp,
		About: "Whether the pattern matches the whole text. The same as ~."},
	{Name: "regexp_replace", Slow: true, Group: texts, Forms: []string{"TEXT, TEXT, TEXT, TEXT? -> TEXT"}, Fails: noRegexp,
		About: "The first match, with option 'g' every match, replaced; \\1 is what a group matched."},
	{Name: "regexp_extract", Slow: true, Group: texts, Forms: []string{"TEXT, TEXT, BIGINT? -> TEXT"}, Fails: noRegexp,
		About: "What the pattern, or a group of it, matched first; '' if nothing."},
	{Name: "concat", Group: texts, Forms: []string{"ANY... -> TEXT"}, Nulls: Own,
		About: "The arguments one after the other, NULL as nothing."},
	{Name: "concat_ws", Group: texts, Forms: []string{"TEXT, ANY... -> TEXT"}, Nulls: Own,
		About: "The arguments but the first, which stands between them; NULL is skipped."},
	{Name: "lpad", Slow: true, Group: texts, Forms: []string{"TEXT, BIGINT, TEXT -> TEXT"},
		About: "Filled in front, or cut, to n characters."},
	{Name: "rpad", Slow: true, Group: texts, Forms: []string{"TEXT, BIGINT, TEXT -> TEXT"},
		About: "Filled behind, or cut, to n characters."},
	{Name: "reverse", Group: texts, Forms: []string{"TEXT -> TEXT"},
		About: "The characters from last to first; an accent stays on its letter."},
	{Name: "repeat", Slow: true, Group: texts, Forms: []string{"TEXT, BIGINT -> TEXT"}, About: "The text n times."},
	{Name: "chr", Group: texts, Forms: []string{"BIGINT -> TEXT"}, Fails: "a number that is not a character",
		About: "The character of a number."},
	{Name: "ascii", Group: texts, Forms: []string{"TEXT -> BIGINT"}, About: "The number of the first character; 0 if there is none."},
	{Name: "unicode", Aliases: []string{"ord"}, Group: texts, Forms: []string{"TEXT -> BIGINT"},
		About: "The number of the first character; -1 if there is none."},
	{Name: "md5", Group: texts, Forms: []string{"TEXT -> TEXT"}, About: "The MD5 sum of the bytes, as 32 hexadecimal digits."},
	{Name: "printf", Group: texts,
		Forms: []string{"TEXT -> TEXT", "TEXT, ANY... -> TEXT"}, Fails: "a format that does not fit its arguments",
		About: "The arguments in a format as of C: %d, %5.2f, %s. DECIMALs are shown as DOUBLEs."},
	{Name: "format", Group: texts,
		Forms: []string{"TEXT -> TEXT", "TEXT, ANY... -> TEXT"}, Fails: "a format that does not fit its arguments",
		About: "The arguments in a format with braces: {}, {:>10}, {:,}, {:.2f}. DECIMALs are shown as DOUBLEs."},
	{Name: "json_extract_string", Group: texts, Forms: []string{"TEXT, TEXT -> TEXT"}, Fails: "a text that is not JSON",
		About: "The value at a key or a path like '$.a.b[0]' of a JSON text, without the quotes of a string; NULL if there is none. The same " +
			"as ->>. With * in the path, as '$.a[*]', a list of all."},
	{Name: "json_array_length", Group: texts, Forms: []string{"TEXT, TEXT? -> BIGINT"}, Fails: "a text that is not JSON",
		About: "Items of the list in a JSON text, or at a key or path of it; 0 for anything else."},
	{Name: "json_extract", Group: texts, Forms: []string{"TEXT, TEXT -> TEXT"}, Fails: "a text that is not JSON",
		About: "As json_extract_string, but as JSON text: a string keeps its quotes. The same as ->."},

	{Name: "abs", Group: numbers, Forms: []string{"N -> N"}, Fails: "-9223372036854775808", About: "Without sign."},
	{Name: "sign", Group: numbers, Forms: []string{"N -> BIGINT"}, About: "-1, 0 or 1."},
	{Name: "round", Group: numbers, Forms: []string{"N, BIGINT? -> ROUND"},
		About: "To n digits behind the point, or before it if n is negative; half away from zero."},
	{Name: "floor", Group: numbers, Forms: []string{"N -> FLOOR"}, About: "The next whole number below."},
	{Name: "ceil", Aliases: []string{"ceiling"}, Group: numbers, Forms: []string{"N -> FLOOR"}, About: "The next whole number above."},
	{Name: "trunc", Group: numbers, Forms: []string{"N -> FLOOR"}, About: "Without what stands behind the point."},
	{Name: "sqrt", Group: numbers, Forms: []string{"DOUBLE -> DOUBLE"}, Fails: "a negative number", About: "The square root."},
	{Name: "cbrt", Group: numbers, Forms: []string{"DOUBLE -> DOUBLE"}, About: "The cube root."},
	{Name: "exp", Group: numbers, Forms: []string{"DOUBLE -> DOUBLE"}, About: "e to the power of x."},
	{Name: "ln", Group: numbers, Forms: []string{"DOUBLE -> DOUBLE"}, Fails: "a number that is not above 0",
		About: "The natural logarithm."},
	{Name: "log", Group: numbers, Forms: []string{"DOUBLE -> DOUBLE", "DOUBLE, DOUBLE -> DOUBLE"}, Fails: "a number that is not above 0",
		About: "The logarithm to base 10, or of the second argument to the base of the first."},
	{Name: "log2", Group: numbers, Forms: []string{"DOUBLE -> DOUBLE"}, Fails: "a number that is not above 0",
		About: "The logarithm to base 2."},
	{Name: "log10", Group: numbers, Forms: []string{"DOUBLE -> DOUBLE"}, Fails: "a number that is not above 0",
		About: "The logarithm to base 10."},
	{Name: "power", Aliases: []string{"pow"}, Group: numbers, Forms: []string{"DOUBLE, DOUBLE -> DOUBLE"},
		About: "The first to the power of the second."},
	{Name: "mod", Group: numbers, Forms: []string{"N, N -> MOD"},
		About: "The remainder, with the sign of the first; NULL by zero. The same as %."},
	{Name: "sin", Group: numbers, Forms: []string{"DOUBLE -> DOUBLE"}, Fails: "an infinite number", About: "The sine."},
	{Name: "cos", Group: numbers, Forms: []string{"DOUBLE -> DOUBLE"}, Fails: "an infinite number", About: "The cosine."},
	{Name: "tan", Group: numbers, Forms: []string{"DOUBLE -> DOUBLE"}, Fails: "an infinite number", About: "The tangent."},
	{Name: "asin", Group: numbers, Forms: []string{"DOUBLE -> DOUBLE"}, Fails: "a number beyond -1 and 1", About: "The arc sine."},
	{Name: "acos", Group: numbers, Forms: []string{"DOUBLE -> DOUBLE"}, Fails: "a number beyond -1 and 1", About: "The arc cosine."},
	{Name: "atan", Group: numbers, Forms: []string{"DOUBLE -> DOUBLE"}, About: "The arc tangent."},
	{Name: "atan2", Group: numbers, Forms: []string{"DOUBLE, DOUBLE -> DOUBLE"},
		About: "The angle of the point (x, y), given as y and x."},
	{Name: "radians", Group: numbers, Forms: []string{"DOUBLE -> DOUBLE"}, About: "Degrees as radians."},
	{Name: "degrees", Group: numbers, Forms: []string{"DOUBLE -> DOUBLE"}, About: "Radians as degrees."},
	{Name: "pi", Group: numbers, Forms: []string{"-> DOUBLE"}, About: "3.141592653589793."},

	{Name: "date_part", Aliases: []string{"datepart"}, Group: dateGroup, Forms: []string{"TEXT, D -> PART"},
		About: "A field of a date: year, quarter, month, week, day, dow, isodow, doy, hour, minute, second, millisecond, microsecond, epoch, " +
			"decade, century. The same as extract."},
	{Name: "year", Total: true, Group: dateGroup, Forms: []string{"D -> BIGINT"}, About: "The year."},
	{Name: "quarter", Group: dateGroup, Forms: []string{"D -> BIGINT"}, About: "The quarter, 1 to 4."},
	{Name: "month", Total: true, Group: dateGroup, Forms: []string{"D -> BIGINT"}, About: "The month, 1 to 12."},
	{Name: "week", Aliases: []string{"weekofyear"}, Group: dateGroup, Forms: []string{"D -> BIGINT"}, About: "The week of ISO 8601."},
	{Name: "yearweek", Group: dateGroup, Forms: []string{"D -> BIGINT"}, About: "The year of ISO 8601 and its week, as 202409."},
	{Name: "isoyear", Group: dateGroup, Forms: []string{"D -> BIGINT"}, About: "The year of ISO 8601, which begins with its first week."},
	{Name: "decade", Group: dateGroup, Forms: []string{"D -> BIGINT"}, About: "The year divided by 10."},
	{Name: "century", Group: dateGroup, Forms: []string{"D -> BIGINT"}, About: "The century: 21 for 2001 to 2100."},
	{Name: "millennium", Group: dateGroup, Forms: []string{"D -> BIGINT"}, About: "The millennium: 3 for 2001 to 3000."},
	{Name: "era", Group: dateGroup, Forms: []string{"D -> BIGINT"}, About: "1 from the year 1 on, 0 before."},
	{Name: "julian", Group: dateGroup, Forms: []string{"D -> DOUBLE"},
		About: "The day of the Julian calendar of astronomers, with the time as a fraction."},
	{Name: "last_day", Group: dateGroup, Forms: []string{"D -> DATE"}, About: "The last day of the month."},
	{Name: "day", Total: true, Aliases: []string{"dayofmonth"}, Group: dateGroup, Forms: []string{"D -> BIGINT"},
		About: "The day of the month."},
	{Name: "dayofweek", Aliases: []string{"weekday"}, Group: dateGroup, Forms: []string{"D -> BIGINT"},
		About: "The day of the week, 0 for Sunday."},
	{Name: "isodow", Group: dateGroup, Forms: []string{"D -> BIGINT"}, About: "The day of the week, 1 for Monday."},
	{Name: "dayofyear", Group: dateGroup, Forms: []string{"D -> BIGINT"}, About: "The day of the year."},
	{Name: "hour", Group: dateGroup, Forms: []string{"D -> BIGINT"}, About: "The hour."},
	{Name: "minute", Group: dateGroup, Forms: []string{"D -> BIGINT"}, About: "The minute."},
	{Name: "second", Group: dateGroup, Forms: []string{"D -> BIGINT"}, About: "The second."},
	{Name: "epoch", Group: dateGroup, Forms: []string{"TIMESTAMP -> DOUBLE"}, About: "Seconds since 1970."},
	{Name: "epoch_ms", Group: dateGroup, Forms: []string{"TIMESTAMP -> BIGINT", "BIGINT -> TIMESTAMP"},
		Fails: "a number whose date is out of range",
		About: "Whole milliseconds since 1970; or the time so long after 1970."},
	{Name: "epoch_us", Group: dateGroup, Forms: []string{"TIMESTAMP -> BIGINT"}, About: "Microseconds since 1970."},
	{Name: "dayname", Group: dateGroup, Forms: []string{"D -> TEXT"}, About: "The day of the week in English."},
	{Name: "monthname", Group: dateGroup, Forms: []string{"D -> TEXT"}, About: "The month in English."},
	{Name: "date_trunc", Aliases: []string{"datetrunc"}, Group: dateGroup, Forms: []string{"TEXT, TIMESTAMP -> TIMESTAMP"},
		About: "The start of the year, month, hour, … that holds a date."},
	{Name: "time_bucket", Group: dateGroup, Forms: []string{"INTERVAL, D -> D"},
		About: "The start of the interval that holds a date."},
	{Name: "date_diff", Aliases: []string{"datediff"}, Group: dateGroup, Forms: []string{"TEXT, D, D -> BIGINT"},
		About: "How many boundaries of a unit lie between two dates."},
	{Name: "date_add", Group: dateGroup, Forms: []string{"TIMESTAMP, INTERVAL -> TIMESTAMP"}, Fails: "a date out of range",
		About: "The same as +."},
	{Name: "make_date", Group: dateGroup, Forms: []string{"BIGINT, BIGINT, BIGINT -> DATE"}, Fails: "a day that does not exist",
		About: "The date of a year, a month and a day."},
	{Name: "strptime", Group: dateGroup, Forms: []string{"TEXT, TEXT -> TIMESTAMP"}, Fails: "a text that does not have the format",
		About: "The date that a text holds in a format, as '%d/%m/%Y %H:%M'."},
	{Name: "try_strptime", Group: dateGroup,
		Forms: []string{"TEXT, TEXT -> TIMESTAMP"}, Nulls: Own, Fails: "a format with an unknown part",
		About: "As strptime, NULL for a text that does not have the format."},
	{Name: "strftime", Group: dateGroup, Forms: []string{"TIMESTAMP, TEXT -> TEXT"}, About: "A date in a format, as '%Y-%m'."},
	{Name: "current_date", Aliases: []string{"today"}, Group: dateGroup, Forms: []string{"-> DATE"}, Session: true,
		About: "The day when the session opened, in UTC; --param current_date=2024-02-29 sets another."},

	{Name: "list_contains", Total: true, Aliases: []string{"array_contains", "list_has"}, Group: lists,
		Forms: []string{"TEXT[], TEXT -> BOOLEAN"},
		About: "Whether the list has an item."},
	{Name: "array_to_string", Group: lists, Forms: []string{"TEXT[], TEXT -> TEXT"},
		About: "The items with the second argument between them; NULL is skipped."},
	{Name: "list_extract", Total: true, Group: lists, Forms: []string{"TEXT[], BIGINT -> TEXT", "TEXT, BIGINT -> TEXT"},
		About: "The nth item, from 1, or from the end if negative; NULL if there is none. Of a text the nth character, or ''. The same as [n]."},

	{Name: "haversine_km", Total: true, Group: own, Forms: []string{"DOUBLE, DOUBLE, DOUBLE, DOUBLE -> DOUBLE"},
		About: "Kilometres between two places, as latitude, longitude, latitude, longitude."},
	{Name: "vader", Group: own, Forms: []string{"TEXT -> DOUBLE"}, About: "The sentiment of an English text, from -1 to 1."},
	{Name: "python_list", Group: own, Forms: []string{"TEXT -> TEXT[]", "TEXT, TEXT -> TEXT[]"}, Nulls: Own,
		About: "The texts of a Python list, or those at a key of its dicts; NULL if it is none, or an item has no such text. " +
			"Numbers become text."},
	{Name: "iso_minutes", Total: true, Group: own, Forms: []string{"TEXT -> BIGINT"}, Nulls: Own,
		About: "The minutes of a duration as P1DT2H30M; NULL if it is none."},

	{Name: "row_number", Class: Window, Group: windows, Forms: []string{"-> BIGINT"}, Nulls: Own, About: "The number of the row, from 1."},
	{Name: "rank", Class: Window, Group: windows, Forms: []string{"-> BIGINT"}, Nulls: Own,
		About: "The number of the first row that is equal in the order."},
	{Name: "dense_rank", Class: Window, Group: windows, Forms: []string{"-> BIGINT"}, Nulls: Own,
		About: "How many different values the order has up to here."},
	{Name: "ntile", Class: Window, Group: windows, Forms: []string{"BIGINT -> BIGINT"}, Nulls: Own, Fails: "a number that is not above 0",
		About: "Which of n parts of equal size the row is in."},
	{Name: "lag", Class: Window, Group: windows, Forms: []string{"T, BIGINT?, T? -> T"}, Nulls: Own,
		About: "The value n rows before, by default 1; the third argument where there is none."},
	{Name: "lead", Class: Window, Group: windows, Forms: []string{"T, BIGINT?, T? -> T"}, Nulls: Own,
		About: "The value n rows behind, by default 1; the third argument where there is none."},
	{Name: "first_value", Class: Window, Group: windows, Forms: []string{"T -> T"}, Nulls: Own,
		About: "The value of the frame's first row."},
	{Name: "last_value", Class: Window, Group: windows, Forms: []string{"T -> T"}, Nulls: Own,
		About: "The value of the frame's last row."},
}
