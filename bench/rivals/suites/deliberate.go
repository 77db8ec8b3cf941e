package main

import "regexp"

// differences are those that Posta makes on purpose, by what a query is. docs/sql-reference.md has each with its reason. The patterns match
// whole queries, as a pattern of a part would hide other differences of the rest.
var differences = []struct {
	query *regexp.Regexp
	why   string
}{
	{regexp.MustCompile(`^SELECT TRY_CAST\('(0x10|0b1|1_000)' AS [A-Z]+(\(\d+,\d+\))?\)$`), "a number as TEXT has digits alone"},
	{regexp.MustCompile(`^SELECT TRY_CAST\('(-?inf|-?[Ii]nfinity|epoch|1\d{4,}-[0-9-]+|[0-9-]+ \(BC\))' AS (DATE|TIMESTAMP|TIME)\)$`),
		"a date as TEXT is one from the year 1 to 9999"},
	{regexp.MustCompile(`^SELECT '(0x10|0x1F|1_000)'::[A-Z]+$`), "a number as TEXT has digits alone"},
	{regexp.MustCompile(`^SELECT (TRY_)?CAST\((127\.5|-128\.4|255\.5|32767\.5|65535\.5)::DOUBLE AS U?(TINY|SMALL)INT\)$`),
		"a number that is rounded beyond its type does not fit"},
	{regexp.MustCompile(`^SELECT (127\.5|-128\.4|255\.5|32767\.5|65535\.5)::DOUBLE::U?(TINY|SMALL)INT$`),
		"a number that is rounded beyond its type does not fit"},
	{regexp.MustCompile(`^SELECT TRY_CAST\('24:00:00' AS TIME\)$`), "a day has 24 hours, from 0 to 23"},
	{regexp.MustCompile(`^SELECT TRY_CAST\('[0-9: -]+[+-]\d\d' AS TIMESTAMP\)$`), "an offset is converted to UTC"},
	{regexp.MustCompile(`^SELECT TRY_CAST\('(\d+|\d+:\d+|24:00:00|1\.5 days|1 day ago)' AS INTERVAL\)$`),
		"an INTERVAL as TEXT has whole numbers with units"},
	{regexp.MustCompile(`^SELECT TRY_CAST\(' [0-9-]+ ' AS TIME(STAMP)?\)$`), "blanks around a date do not matter"},
	{regexp.MustCompile(`^SELECT TRY_CAST\('( \w+|\w+ )' AS BOOLEAN\)$`), "blanks around a BOOLEAN do not matter"},
	{regexp.MustCompile(`^SELECT TRY_CAST\('[\d.]+[eE]-\d+' AS DECIMAL\((\d+), ?(\d+)\)\)$`),
		"digits behind the point need none in front of it"},
	{regexp.MustCompile(`^SELECT (try_)?strptime\('[^']+', ?'[^']+%z'\)$`), "there are no time zones"},
	{regexp.MustCompile(`^SELECT json_extract\(j, '\$[^']*\*\]?'\)`), "lists hold TEXT"},
	{regexp.MustCompile(`^SELECT array_to_string\(.*, ?NULL\)$`), "a function of NULL is NULL"},
	{regexp.MustCompile(`^SELECT array_to_string\(\[NULL\], ?'[^']*'\)$`), "a list whose items are skipped has none"},
	{regexp.MustCompile(`^SELECT (len|UNNEST)?\(?string_split\('\w+', NULL\)\)?$`), "a function of NULL is NULL"},
	{regexp.MustCompile(`^SELECT regexp_extract\('\w+', '[\w.]+', NULL\)$`), "a function of NULL is NULL"},
}

// known returns why an answer to a query may differ, "" if it must not.
func known(query string) string {
	for _, d := range differences {
		if d.query.MatchString(query) {
			return d.why
		}
	}
	return ""
}
