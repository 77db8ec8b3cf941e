package syntax

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the expected messages")

// testdata/errors.txt holds statements with the error messages about them: the statement, a line with ----, the message, an empty
// line. go test -update rewrites the messages, to be reviewed as a diff.
func TestQ4_WhatIsSaidAboutErrors(t *testing.T) {
	const path = "testdata/errors.txt"
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cases := strings.Split(strings.TrimRight(string(file), "\n"), "\n\n")
	for _, c := range cases {
		text, want, _ := strings.Cut(c, "\n----\n")
		text = strings.TrimSuffix(strings.TrimLeft(text, "\n"), "\n----")
		got := "no error"
		if _, err := Parse(text); err != nil {
			got = err.Error()
		}
		if got != want && !*update {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
		out.WriteString(text + "\n----\n" + got + "\n\n")
	}
	if len(cases) < 60 {
		t.Errorf("%d statements; has the form of %s changed?", len(cases), path)
	}
	if *update {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestQ4_LongLinesAreCutAroundThePlace(t *testing.T) {
	text := "SELECT '" + strings.Repeat("ä", 500) + "' FORM t, '" + strings.Repeat("ö", 500) + "'"
	_, err := Parse(text)
	if err == nil {
		t.Fatal("taken")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 4 || len(lines[1]) > 2*excerptLength+8 || !strings.HasPrefix(lines[0], "line 1, column 516:") ||
		lines[3] != "    Did you mean FROM instead of FORM?" {
		t.Errorf("%v", err)
	}
	if i := strings.Index(lines[2], "^"); i < 0 || []rune(lines[1])[i] != 't' {
		t.Errorf("the caret is not below t:\n%s\n%s", lines[1], lines[2])
	}
}

func TestNearest(t *testing.T) {
	names := []string{"duration_sec", "start_date", "id", "city"}
	for name, want := range map[string]string{"duration": "", "duration_secs": "duration_sec", "DURATOIN_SEC": "duration_sec",
		"start date": "start_date", "ctiy": "city", "xy": "", "i": "", "": ""} {
		if got := Nearest(name, names); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
