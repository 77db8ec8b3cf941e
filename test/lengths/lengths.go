// Command lengths refuses lines of Go that are too long to read, and functions that are too long to hold in mind. make lint runs it at the
// top of the project.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

const (
	mostColumns = 140 // of a line; a tab is one
	mostLines   = 70  // of a function of the product
	// mostRaw is how many longer lines there may be in raw strings, where a break would change what is shown or compared. Lower it with each
	// one that goes.
	mostRaw = 93
)

// besideProduct are the folders whose functions may be longer: tests and measurements are read from top to bottom.
var besideProduct = []string{"test", "bench", "examples", "internal/gen"}

func main() {
	findings, raw, err := look(".")
	if raw > mostRaw {
		findings = append(findings, fmt.Sprintf("%d lines of raw strings have more than %d columns, and %d may: break some", raw, mostColumns,
			mostRaw))
	}
	for _, f := range findings {
		fmt.Fprintln(os.Stderr, f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lengths:", err)
	}
	if err != nil || len(findings) > 0 {
		os.Exit(1)
	}
}

// look looks at all files of Go below a folder. raw counts the long lines of raw strings.
func look(root string) (findings []string, raw int, err error) {
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		found, inRaw := lines(rel, text)
		raw += inRaw
		if isProduct(filepath.ToSlash(rel)) {
			more, err := functions(rel, text)
			if err != nil {
				return err
			}
			found = append(found, more...)
		}
		findings = append(findings, found...)
		return nil
	})
	return findings, raw, err
}

func isProduct(name string) bool {
	for _, folder := range besideProduct {
		if strings.HasPrefix(name, folder+"/") {
			return false
		}
	}
	return !strings.HasSuffix(name, "_test.go")
}

// lines finds long lines. raw counts those that lie in raw strings.
func lines(name string, text []byte) (findings []string, raw int) {
	inRaw := rawLines(text)
	for i, line := range strings.Split(string(text), "\n") {
		n := utf8.RuneCountInString(line)
		switch {
		case n <= mostColumns:
		case inRaw[i+1]:
			raw++
		default:
			findings = append(findings, fmt.Sprintf("%s:%d: %d columns, at most %d are read", name, i+1, n, mostColumns))
		}
	}
	return findings, raw
}

// rawLines returns the lines on which a raw string stands.
func rawLines(text []byte) map[int]bool {
	in := map[int]bool{}
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, text, func(token.Position, string) {}, 0) // the compiler reports what is wrong
	for {
		at, tok, lit := s.Scan()
		if tok == token.EOF {
			return in
		}
		if tok == token.STRING && strings.HasPrefix(lit, "`") {
			first := file.Line(at)
			for i := range strings.Count(lit, "\n") + 1 {
				in[first+i] = true
			}
		}
	}
}

// functions finds long functions.
func functions(name string, text []byte) (findings []string, err error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range f.Decls {
		fn, is := d.(*ast.FuncDecl)
		if !is {
			continue
		}
		first := files.Position(fn.Pos()).Line
		if n := files.Position(fn.End()).Line - first + 1; n > mostLines {
			findings = append(findings, fmt.Sprintf("%s:%d: %s has %d lines, at most %d are read: give its steps names", name, first, fn.Name.Name,
				n,
				mostLines))
		}
	}
	return findings, nil
}
