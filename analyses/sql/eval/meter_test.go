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
	"posta.dev/posta/analyses/sql/types"
)

// TestR16_FunctionsAskBeforeTheyGrow: whatever a statement asks for, it fails in words before the memory is taken or the time has passed.
// Without the bounds, the test takes gigabytes or hours.
func TestR16_FunctionsAskBeforeTheyGrow(t *testing.T) {
	long := "repeat('a', 8000000)"
	for _, c := range []struct{ expr, why string }{
		{"regexp_replace(repeat('a', 90000), 'a*', repeat('\\0', 4000000))", "regexp_replace would make a text of"},
		{"regexp_replace(repeat('a', 70000), 'a', repeat('\\0', 4000000), 'g')", "70000 matches would take too long"},
		{"regexp_replace(repeat('a', 60000), 'a', repeat('\\1', 4000000), 'g')", ""}, // there is no group 1
		{"regexp_replace(repeat('a', 60000), '(b?)a', repeat('\\1', 4000000), 'g')", "60000 matches would take too long"},
		{"regexp_matches(" + long + ", '(a?){1000}b')", "a pattern of 4003 instructions would take too long"},
		{"regexp_extract(" + long + ", '(a?){1000}b')", "shorten the text or the pattern"},
		{long + " ~ '(a?){1000}b'", "would take too long"},
		{"regexp_matches('a', repeat('a', 100000))", "a regular expression has at most 65536 bytes"},
		{long + " LIKE '%_' || repeat('a', 4000000) || 'b'", "LIKE: a text of 8000000 bytes"},
		{"trim(" + long + ", repeat('b', 8000000) || 'a')", "a set of"},
		{"string_split(repeat('a', 90000), '')", ""},
		{"concat(string_split(repeat('a', 3000000), ''), '')", "concat would make a text of"},
		{"list_contains(string_split(" + long + " || " + long + ", ''), 'b')", "|| would make"},
		{"length([" + strings.Repeat(long+",", 40) + "'b'])", "repeat would make 8000000 bytes more"},
		{"concat(" + long + ", " + long + ")", "concat would make a text of"},
		{long + " || " + long, "|| would make a text of 16000000 bytes"},
		{"array_to_string(string_split(repeat('a', 900000), 'a'), 'xxxxxxxxxx')", "array_to_string would make a text of"},
		{"rpad('x', 8000000, repeat('y', 8000000)) || '0123456789'", ""},
		{"lpad('x', 8000000, '\u20ac\u20ac')", "lpad would make a text of"},
		{"replace(" + long + ", 'a', 'bb')", "replace would make a text of 16000000 bytes"},
		{"printf(" + long + " || '%d', 1) || " + long, "|| would make a text of"},
		{"length(string_split(repeat('a', 3000000), '')::TEXT)", "a list would become a text"},
		{"split_part(repeat('a', 90000), 'a', 70000)", ""},
		{strings.Repeat("lower(", 40) + long + strings.Repeat(")", 40),
			"lower would make 8000000 bytes more, and the values that are made of one row have at most 256 MiB"},
	} {
		_, err := constantly(t, strings.ReplaceAll(c.expr, "\\u20ac", "€"))
		e := (*Error)(nil)
		if c.why == "" && err != nil || c.why != "" && (!errors.As(err, &e) || !strings.Contains(e.Message, c.why)) {
			t.Errorf("%.100s: %v; want %q", c.expr, err, c.why)
		}
	}
}

// TestR16_EveryFunctionOfTextsAsks: a function that makes texts or lists asks for their memory, or is one of those whose results are short,
// or share the memory of an argument.
func TestR16_EveryFunctionOfTextsAsks(t *testing.T) {
	short := " chr substring left right trim ltrim rtrim split_part list_extract strftime dayname monthname CASE if coalesce ifnull nullif " +
		"greatest least date_trunc regexp_extract typeof "
	table, err := os.ReadFile("testdata/functions.txt")
	if err != nil {
		t.Fatal(err)
	}
	asks, seen := map[string]bool{}, map[string]bool{}
	for _, line := range strings.Split(string(table), "\n") {
		line, _, _ = strings.Cut(line, " # ")
		at := strings.LastIndex(line, " = ")
		if at < 0 || strings.HasPrefix(line, "#") {
			continue
		}
		text := "SELECT " + line[:at]
		script, err := syntax.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		program, err := bind.Bind(text, script, nil, bind.Untyped(map[string]string{"current_date": "2024-02-29"}))
		if err != nil {
			t.Fatal(err)
		}
		e, is := program.Statements[0].Plan.(*plan.Project).Exprs[0].(*plan.Apply)
		if !is || e.T.Kind != types.Text && e.T.Kind != types.TextList {
			continue
		}
		made := func(e plan.Expr) int64 {
			p, err := Compile(e, byNumber)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Run(nil, 1, nil); err != nil {
				t.Fatal(err)
			}
			return p.Held()
		}
		of := made(e)
		for _, a := range e.Args {
			of -= made(a)
		}
		seen[e.Func] = true
		asks[e.Func] = asks[e.Func] || of > 0
	}
	if len(seen) < 20 {
		t.Fatalf("only %d functions", len(seen))
	}
	for name := range seen {
		if asks[name] == strings.Contains(short, " "+name+" ") {
			t.Errorf("%s: asks for memory: %v", name, asks[name])
		}
	}
}

// TestN9_LongRunsPause: programs that make much say so between their runs, because a slice of rows may need hundreds of them.
func TestN9_LongRunsPause(t *testing.T) {
	m, pauses := NewMeter(), 0
	m.Pause = func() { pauses++ }
	text := "SELECT repeat('x', 2000000)"
	script, err := syntax.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	program, err := bind.Bind(text, script, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := CompileFor(program.Statements[0].Plan.(*plan.Project).Exprs[0], byNumber, m)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := p.Run(nil, 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	if pauses != 2 {
		t.Errorf("%d pauses between three long runs", pauses)
	}
}
