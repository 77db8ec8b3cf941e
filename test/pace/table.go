//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
)

// record is what is known of a test: how often it has passed since it last failed, and how often it has failed in all.
type record struct{ inARow, failed int }

// table has a record for each "package test".
type table map[string]record

const heading = `# Tests on a machine that stands still again and again

` + "`make pace`" + ` writes this page: twenty tests side by side on a machine where processes are stopped for 0.1 to 1.5 s at random. A test that has failed
begins again at 0 when it was mended.

| package | test | passed in a row | failed before |
|---|---|---|---|
`

func readTable(path string) (table, error) {
	t := table{}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var dir, name string
		var r record
		if n, _ := fmt.Sscanf(strings.ReplaceAll(s.Text(), "|", " "), "%s %s %d %d", &dir, &name, &r.inARow, &r.failed); n == 4 {
			t[dir+" "+name] = r
		}
	}
	return t, nil
}

func (t table) write(path string) error {
	var b strings.Builder
	b.WriteString(heading)
	for _, key := range slices.Sorted(maps.Keys(t)) {
		dir, name, _ := strings.Cut(key, " ")
		fmt.Fprintf(&b, "| %s | %s | %d | %d |\n", dir, name, t[key].inARow, t[key].failed)
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

func (t table) note(key string, passed bool) {
	r := t[key]
	if passed {
		r.inARow++
	} else {
		r.inARow, r.failed = 0, r.failed+1
	}
	t[key] = r
}
