package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Loops are unrolled with their values, and what a query expects is not taken for its text.
func TestScriptsAreRead(t *testing.T) {
	steps, err := parseScript("testdata/own.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := each(steps, nil, func(s step) error {
		got = append(got, fmt.Sprintf("%d %v %s", s.line, s.query, strings.Fields(s.text)[1]))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want := "[2 false TABLE 5 false INTO 8 true * 15 true sum(i), 15 true min(i), 15 true max(i), 22 true 'abc'[1] 27 true [1,2,3]]"
	if fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestAnswersAreCompared(t *testing.T) {
	one, two := []any{json.Number("1"), "a"}, []any{json.Number("2"), nil}
	for _, c := range []struct {
		query     string
		got, want [][]any
		equal     bool
	}{
		{"FROM t", [][]any{one, two}, [][]any{{"2", nil}, {"1", "a"}}, true},
		{"FROM t ORDER BY ALL", [][]any{two, one}, [][]any{{"1", "a"}, {"2", nil}}, false},
		{"FROM t", [][]any{one}, [][]any{{"1", "a"}, {"1", "a"}}, false},
		{"FROM t", [][]any{one}, [][]any{{"1", nil}}, false},
		{"FROM t", [][]any{{json.Number("0.1")}}, [][]any{{"0.10"}}, true},
		{"FROM t", [][]any{{json.Number("0.30000000000000004")}}, [][]any{{"0.3"}}, true},
		{"FROM t", [][]any{{json.Number("9007199254740993")}}, [][]any{{"9007199254740992"}}, false},
		{"FROM t", [][]any{{"2020-01-01"}}, [][]any{{"2020-01-02"}}, false},
	} {
		if why := compare(c.query, c.got, c.want); (why == "") != c.equal {
			t.Errorf("%s: %v and %v: %q", c.query, c.got, c.want, why)
		}
	}
}

// TestHardJSON: the command tells values from what is none, and sees a wrong one.
func TestHardJSON(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text string
		want verdict
	}{
		"y_a.json": {"[1,\n2]", equal}, "y_b.json": {`"\u0041"`, equal}, "y_c.json": {"null", equal}, "y_d.json": {"[1,]", wrong},
		"n_a.json": {"[1,\n2", equal}, "n_b.json": {"", equal}, "n_c.json": {"[1]", wrong}, "n_d.json": {strings.Repeat("[", 100_000), equal},
		"i_a.json": {`"\ud800"`, deliberate}, "i_b.json": {"1e999", deliberate},
	} {
		s := &suite{limit: time.Minute, counts: map[verdict]int{}}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.jsonFile(t.Context(), file); err != nil || s.counts[c.want] != 1 {
			t.Errorf("%s: %v, %v", name, s.counts, err)
		}
	}
}
