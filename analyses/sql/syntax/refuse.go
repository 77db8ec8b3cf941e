package syntax

import "strings"

// reserved words cannot be names without quotes.
var reserved = words(`all and anti any array as asc asof between both case cast check collate column constraint create cross default desc
	describe distinct else end except exists false fetch for foreign from full glob group grouping having ilike in initially inner intersect
	into is isnull join lateral leading left like limit natural not notnull null offset on or order outer pivot placing positional primary
	qualify references returning right select semi show similar some summarize table tablesample then to trailing true try_cast union unique
	unpivot using values when where window with`)

// special words may be names, but have another meaning before certain tokens. As names they are printed in quotes.
var special = words(`current_date current_time current_timestamp date interval localtime localtimestamp nulls over partition
	range recursive rows groups timestamp`)

// separating words are rarely meant as names.
var separating = words(`and as else end except from having intersect join limit on or select then union using when where`)

// clauseWords are the keywords that the hint for an unexpected word may suggest.
var clauseWords = strings.Fields(
	`select from where group order having qualify limit offset join left right inner full cross union intersect except
	between like ilike exclude replace distinct values with describe summarize window case when then else end create table view`)

func words(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

func isKeyword(low string) bool { return reserved[low] || special[low] }

const readOnly = "Posta only reads data; it has no tables of its own."

// refusedStatements are the first words of statements that Posta does not support, with what to do instead.
var refusedStatements = map[string]string{
	"insert": readOnly, "update": readOnly, "delete": readOnly, "merge": readOnly, "truncate": readOnly, "drop": readOnly, "alter": readOnly,
	"vacuum": readOnly, "analyze": readOnly, "checkpoint": readOnly,
	"begin": "Statements change nothing, so there are no transactions.", "commit": "Statements change nothing, so there are no transactions.",
	"rollback": "Statements change nothing, so there are no transactions.",
	"copy":     "Write the SELECT alone, and where its answer goes with --out.",
	"export":   "Write the SELECT alone, and where its answer goes with --out.",
	"import":   "Data is read where it lies, below --data.", "load": "There are no extensions.", "install": "There are no extensions.",
	"attach": "Data is read where it lies, below --data.", "detach": "Data is read where it lies, below --data.",
	"use":     "There are no schemas.",
	"explain": "posta sql --explain shows the plan.", "set": "There are no settings within a text.",
	"reset":  "There are no settings within a text.",
	"pragma": "There are no settings within a text.", "call": "There are no procedures.",
	"prepare": "Write parameters as $name and give them with --param name=value.",
	"execute": "Write parameters as $name and give them with --param name=value.", "pivot": pivotHint, "unpivot": unpivotHint,
	"table": "Write FROM t.",
}

const (
	lambdaHint  = "A list becomes rows in FROM: FROM t, UNNEST(x) AS u (item)."
	pivotHint   = "Write one aggregate with FILTER (WHERE …) for each column."
	unpivotHint = "Write a UNION ALL with one SELECT for each column."
)

// refusedWords are keywords of the dialect that Posta does not support anywhere.
var refusedWords = map[string]string{
	"pivot": pivotHint, "unpivot": unpivotHint,
	"asof":        "Join with >= and keep the nearest row: QUALIFY row_number() OVER (PARTITION BY … ORDER BY … DESC) = 1.",
	"positional":  "Rows of two tables are joined by values: JOIN … ON, or USING.",
	"lateral":     "A subquery in FROM cannot see the tables beside it; join with ON instead.",
	"tablesample": "Answers do not depend on chance; take rows by a condition, as id % 100 = 0.",
	"collate":     "TEXT compares by bytes; compare lower(x) to ignore case.",
	"similar":     "Write regexp_matches(x, 'pattern') or x ~ 'pattern'.",
	"glob":        "Write x LIKE 'a%'.",
	"fetch":       "Write LIMIT n.",
	"into":        "Where an answer goes is said by --out.",
	"returning":   readOnly,
	"recursive":   "A query cannot refer to itself.",
	"any":         "Write x IN (…), or list_contains(list, x).",
	"some":        "Write x IN (…), or list_contains(list, x).",
	"isnull":      "Write x IS NULL.", "notnull": "Write x IS NOT NULL.",
	"array": "A list is written as ['a', 'b'].", "row": "Compare the values one by one.",
	"overlay": "Write left(x, n) || y || substring(x, m).",
}

// refusedSymbols are operators of the dialect that Posta does not support.
var refusedSymbols = map[string]string{
	"~*": "Write regexp_matches(x, y, 'i').", "!~*": "Write NOT regexp_matches(x, y, 'i').", "~~*": "Write ILIKE.",
	"!~~*": "Write NOT ILIKE.", "~~~": "Write LIKE.",
	"^@": "Write starts_with(x, y).", "<=>": "Write IS NOT DISTINCT FROM.",
	"^": "Write power(x, y).", "**": "Write power(x, y).", "~~": "Write LIKE.", "!~~": "Write NOT LIKE.",
	"&&": "Write AND.", "&": "There are no operators on bits.", "|": "There are no operators on bits; texts are joined by ||.",
	"<<": "There are no operators on bits.",
	">>": "There are no operators on bits.", "@": "Write abs(x).", "!": "Write NOT x for a condition; there is no factorial.",
	"~": "There are no operators on bits; x ~ 'pattern' matches a regular expression.", "@>": "Write list_contains(list, x).",
	"<@": "Write list_contains(list, x).",
	":=": "An alias is written behind the expression: x AS name.",
}

// typedLiterals are types that DuckDB, but not Posta, takes before a string, with what to write instead.
var typedLiterals = map[string]string{
	"decimal": decimalHint, "numeric": decimalHint, "dec": decimalHint, "time": "TIME is TEXT here: write the string alone, as '10:30:00'.",
	"timestamptz": zoneHint, "timetz": zoneHint, "float": doubleHint, "real": doubleHint, "float4": doubleHint, "float8": doubleHint,
	"double": doubleHint,
	"bigint": integerHint, "int": integerHint, "integer": integerHint, "smallint": integerHint, "tinyint": integerHint,
	"hugeint": integerHint, "int8": integerHint, "int4": integerHint,
	"text": "A string is TEXT: write it alone.", "varchar": "A string is TEXT: write it alone.", "char": "A string is TEXT: write it alone.",
	"string":  "A string is TEXT: write it alone.",
	"boolean": "Write true or false.", "bool": "Write true or false.", "datetime": "Write TIMESTAMP '2024-02-29 10:30:00'.",
	"json": "JSON is TEXT: write the string alone.",
	"blob": "Bytes are TEXT: write the string alone.", "uuid": "A UUID is TEXT: write the string alone.",
}

const (
	decimalHint = "A number with a point is a DECIMAL: write 1.5 alone, or CAST('1.5' AS DECIMAL(9, 2))."
	doubleHint  = "Write CAST('1.5' AS DOUBLE)."
	integerHint = "Write the number alone, or CAST('5' AS BIGINT)."
	zoneHint    = "There are no time zones: TIMESTAMP '2024-02-29 10:30:00+02' is converted to UTC."
)

// refuseTyped fails if t names a type and a string follows, which would otherwise be read as an alias.
func (p *parser) refuseTyped(t token) {
	if why, ok := typedLiterals[t.low]; ok && t.kind == word && p.tok().kind == text {
		p.fail(t.at, upper(t.low)+" in front of a string is not supported", why)
	}
}

// refuseWord fails if t is a keyword that is known but not supported.
func (p *parser) refuseWord(t token) {
	if why, ok := refusedWords[t.low]; ok && t.kind == word {
		p.fail(t.at, strings.ToUpper(t.low)+" is not supported", why)
	}
	if why, ok := refusedSymbols[t.low]; ok && t.kind == symbol {
		p.fail(t.at, "the operator "+t.low+" is not supported", why)
	}
}
