package eval_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/bind"
	. "posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
)

// constantly computes an expression without columns and returns its text.
func constantly(t *testing.T, expr string) (string, error) {
	t.Helper()
	text := "SELECT " + expr
	script, err := syntax.Parse(text)
	if err != nil {
		return "", err
	}
	program, err := bind.Bind(text, script, nil, bind.Untyped(map[string]string{"current_date": "2024-02-29"}))
	if err != nil {
		return "", err
	}
	e := program.Statements[0].Plan.(*plan.Project).Exprs[0]
	p, err := Compile(e, byNumber)
	if err != nil {
		return "", err
	}
	v, err := p.Run(nil, 1, nil)
	if err != nil {
		return "", err
	}
	if v.IsNull(0) {
		return "NULL", nil
	}
	return string(AppendText(nil, v, 0, e.Type())), nil
}

// TestQ5_Functions: each line of the table, which DuckDB confirms.
func TestQ5_Functions(t *testing.T) {
	table, err := os.ReadFile("testdata/functions.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(table), "\n") {
		line, _, _ = strings.Cut(line, " # ")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndex(line, " = ")
		got, err := constantly(t, line[:at])
		if want := line[at+3:]; err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", line[:at], got, err, want)
		}
	}
}

// TestQ4_FunctionsFailInWords: an argument without a value of the function fails the session, and a result that would be too
// large is refused before it is made.
func TestQ4_FunctionsFailInWords(t *testing.T) {
	for expr, why := range map[string]string{
		"repeat('x', 1000000000000)":                  "more than 8 MiB",
		"lpad('x', 9223372036854775807, 'y')":         "more than 8 MiB",
		"replace(repeat('a', 4000000), 'a', 'aaaa')":  "replace would make a text of 16000000 bytes, and a text has at most 8388608",
		"lpad('x', 3, '')":                            "nothing to fill with",
		"chr(-1)":                                     "no character",
		"INTERVAL 1 YEAR * (length('x') * 999999999)": "out of range",
		"sqrt(-1)":                               "negative",
		"ln(0)":                                  "not above 0",
		"('x' || '')::BIGINT":                    `TEXT "x" cannot be converted to BIGINT`,
		"300::TINYINT":                           "BIGINT 300 cannot be converted to an integer from -128 to 127",
		"(-1)::UINTEGER":                         "BIGINT -1 cannot be converted to an integer from 0 to 4294967295",
		"1e300::BIGINT":                          "cannot be converted to BIGINT",
		"99999999999999999 * 5.5":                "18 digits",
		"epoch_ms(9223372036854775807)":          "out of range",
		"make_date(2023, 2, 29)":                 "no day",
		"strptime('x', '%d')":                    "does not have the format",
		"strftime(TIMESTAMP '2024-01-01', '%Q')": "no %Q",
		"try_strptime('2024', '%Q')":             "no %Q",
		"try_strptime('2024', '%')":              "ends with %",
		"try_strptime('2024 10', '%Y %V')":       "gives the day by",
		"try_strptime('10 60', '%U %j')":         "gives the day by",
		"('25:99' || '')::TIME":                  `TEXT "25:99" cannot be converted to TIME`,
		"printf('%d', 1.5e0)":                    "not a way to show a value of type DOUBLE",
		"printf('%5', 1)":                        "ends within",
		"printf('%s')":                           "needs more than the 0 arguments",
		"printf('%999999999s', 'x')":             "at most",
		"printf('%9999999999999999999999d', 1)":  "at most",
		"format('{', 1)":                         "no other one",
		"format('}', 1)":                         "no other one",
		"format('{5}', 1)":                       "needs more than the 1 arguments",
		"format('{99999999999999999999}', 1)":    "names no argument",
		"format('{:.2f}', 'x')":                  "not a way to show a value of type TEXT",
		"format('{:>5>}', 'x')":                  "not a way",
		"format(repeat('{:1000000}', 9), 1, 2, 3, 4, 5, 6, 7, 8, 9)": "at most 8388608",
		"'{' ->> 'a'":                             "not JSON",
		"'' ->> 'a'":                              "not JSON",
		"'{}' ->> '$.'":                           "not a path",
		"'{}' ->> '$.a[x]'":                       "not a path",
		"'{}' ->> '$..a'":                         "not a path",
		"'{}' ->> '$['":                           "not a path",
		"'{}' ->> '$[#1]'":                        "not a path",
		"'{}' ->> '/a'":                           "pointer",
		"regexp_matches('a', '(')":                "regular expression",
		"regexp_extract('a', 'a', 3)":             "no group 3",
		"abs(-9223372036854775807 - 1)":           "does not fit",
		"DATE '2024-01-01' + 9223372036854775807": "out of range",
	} {
		_, err := constantly(t, expr)
		if e := (*Error)(nil); !errors.As(err, &e) || !strings.Contains(e.Message, why) {
			t.Errorf("%s: %v; want %q", expr, err, why)
		}
	}
}
