package client

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/csv"
)

// TestC1_WhatIsNoFileIsNamed: links that lead nowhere, and directories with the name of a file. They are no concern of a table that they do
// not belong to.
func TestC1_WhatIsNoFileIsNamed(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"of_links", "of_dirs/z.csv", "fine", "dir.csv"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"fine.csv", "of_links/x.csv", "of_dirs/x.csv", "fine/x.csv"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte("a\n1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"of_links/z.csv": "gone", "link.csv": "../gone", "round.csv": "round.csv", "to.csv": "fine.csv"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		files string
		says  string // "" if it is read
		named string
	}{
		{"fine.csv", "", ""}, {"fine/*.csv", "", ""}, {"to.csv", "", ""}, {"of_dirs/x.csv", "", ""}, {"of_links/x.csv", "", ""},
		{"link.csv", "is a link to ../gone, which leads to no file", "link.csv"},
		{"round.csv", "is a link to round.csv, which leads to no file", "round.csv"},
		{"of_links/*.csv", "is a link to gone, which leads to no file", "of_links/z.csv"},
		{"dir.csv", "is a directory, and should be a file", "dir.csv"},
		{"of_dirs/*.csv", "is a directory, and should be a file", "of_dirs/z.csv"},
		{"none.csv", "nothing matches none.csv", ""},
	} {
		for _, in := range []*Input{NewInput(dir, nil, nil, 0), {Roots: []string{dir}, tables: true, held: map[string]*held{}}} {
			_, err := in.Sampled(context.Background(), protocol.Stream{Name: "t", Files: c.files}, csv.Form{})
			switch {
			case c.says == "" && (err != nil || !in.Has(c.files) || !in.HasEntry(c.files)):
				t.Errorf("%s: %v", c.files, err)
			case c.says != "" && (!errors.Is(err, ErrInput) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.named) ||
				in.Has(c.files)):
				t.Errorf("%s: %v", c.files, err)
			case c.named != "" && !in.HasEntry(c.files), c.files == "none.csv" && in.HasEntry(c.files):
				t.Errorf("%s: HasEntry is wrong", c.files)
			}
			if err := in.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := (&Input{Dir: dir, held: map[string]*held{}}).Sampled(t.Context(), protocol.Stream{Name: "t", Files: "link.csv"},
		csv.Form{}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
