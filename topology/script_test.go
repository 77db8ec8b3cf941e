package topology

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the expected results in testdata")

// A script is a file of cases: a title, a change to testdata/base.toml, and after "--" the errors that must come.
//
//	=== title
//	@ line        look for the next line from here on
//	- line        the line to replace; with nothing below it, to remove
//	+ line        what comes in its place; without a "-" before it, it is added behind the last "@"
//	--
//	bad.toml:3:8: what; instead
//
// A change that begins with "whole" is the whole file. Titles are test names.
type scriptCase struct {
	title  string
	change []string
	want   []string
}

func readScript(t *testing.T, path string) []*scriptCase {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var cases []*scriptCase
	inWant := false
	for _, l := range strings.Split(strings.TrimRight(string(raw), "\n"), "\n") {
		switch title, isTitle := strings.CutPrefix(l, "=== "); {
		case isTitle:
			cases, inWant = append(cases, &scriptCase{title: title}), false
		case len(cases) == 0:
			t.Fatalf("%s: %q stands before the first title", path, l)
		case l == "--":
			inWant = true
		case inWant:
			cases[len(cases)-1].want = append(cases[len(cases)-1].want, l)
		default:
			cases[len(cases)-1].change = append(cases[len(cases)-1].change, l)
		}
	}
	return cases
}

func writeScript(t *testing.T, path string, cases []*scriptCase) {
	t.Helper()
	var b strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&b, "=== %s\n%s\n--\n%s\n\n", c.title, strings.Join(c.change, "\n"), strings.Join(c.want, "\n"))
	}
	if err := os.WriteFile(path, []byte(strings.TrimRight(b.String(), "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// apply makes the case's file.
func (c *scriptCase) apply(t *testing.T, base string) string {
	t.Helper()
	if len(c.change) > 0 && c.change[0] == "whole" {
		return strings.Join(c.change[1:], "\n") + "\n"
	}
	lines, at := strings.Split(base, "\n"), 0
	for _, op := range c.change {
		verb, text, _ := strings.Cut(op, " ")
		switch verb {
		case "@", "-":
			for at < len(lines) && lines[at] != text {
				at++
			}
			if at == len(lines) {
				t.Fatalf("%s: %q is not in the base from there on", c.title, text)
			}
			if verb == "-" {
				lines = append(lines[:at:at], lines[at+1:]...)
			} else {
				at++
			}
		case "+":
			lines = append(lines[:at:at], append([]string{text}, lines[at:]...)...)
			at++
		default:
			t.Fatalf("%s: %q is not a change", c.title, op)
		}
	}
	return strings.Join(lines, "\n")
}

func TestBadFiles(t *testing.T) {
	base, err := os.ReadFile("testdata/base.toml")
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob("testdata/bad/*.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			cases := readScript(t, path)
			for _, c := range cases {
				t.Run(c.title, func(t *testing.T) { c.run(t, string(base)) })
			}
			if *update {
				writeScript(t, path, cases)
			}
		})
	}
}

func (c *scriptCase) run(t *testing.T, base string) {
	src := c.apply(t, base)
	got, err := Parse("bad.toml", []byte(src))
	if err == nil {
		t.Fatalf("accepted:\n%s", src)
	}
	if got != nil {
		t.Error("a topology came beside the error")
	}
	var all Errors
	if !errors.As(err, &all) {
		t.Fatalf("the error is a %T and not Errors", err)
	}
	if *update {
		c.want = strings.Split(err.Error(), "\n")
		return
	}
	want := strings.TrimRight(strings.Join(c.want, "\n"), "\n")
	if err.Error() != want {
		t.Errorf("file:\n%s\ngot:\n%s\nwant:\n%s", numbered(src), err, want)
	}
	checkPlaces(t, src, all)
}

// checkPlaces holds every error's place against the text: it must be inside, or an editor cannot jump there.
func checkPlaces(t *testing.T, src string, all Errors) {
	t.Helper()
	lines := strings.Split(src, "\n")
	for i, e := range all {
		if e.Pos.Line < 1 || e.Pos.Line > len(lines) || e.Pos.Col < 1 || e.Pos.Col > len([]rune(lines[e.Pos.Line-1]))+1 {
			t.Errorf("%v: the place is outside the file", e)
		}
		if i > 0 && e.Pos.Line < all[i-1].Pos.Line {
			t.Errorf("%v comes after line %d", e, all[i-1].Pos.Line)
		}
		if e.What == "" || e.Fix == "" {
			t.Errorf("%v does not say what is wrong and what to write instead", e)
		}
	}
}

func numbered(src string) string {
	var b strings.Builder
	for i, l := range strings.Split(src, "\n") {
		fmt.Fprintf(&b, "%3d  %s\n", i+1, l)
	}
	return b.String()
}

func TestBaseFileIsRight(t *testing.T) {
	base, err := os.ReadFile("testdata/base.toml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse("base.toml", base); err != nil {
		t.Fatal(err)
	}
}
