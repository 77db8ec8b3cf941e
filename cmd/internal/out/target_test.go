package out

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"posta.dev/posta/client"
)

func TestWhatCannotBeMeantIsRefused(t *testing.T) {
	for _, c := range []struct{ place, format, says string }{
		{"x.csv", "json", "x.csv is a file of format csv, not json"},
		{"x", "xml", `unknown format "xml"; the formats are csv, json, jsonl`},
		{"", "json", "format json needs a place"},
	} {
		if target, err := Parse(c.place, c.format); !errors.Is(err, ErrUse) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %s: %v, %v", c.place, c.format, target, err)
		}
	}
	if target, err := Parse("", ""); target != nil || err != nil {
		t.Errorf("no place: %v, %v", target, err)
	}
	for _, c := range []struct {
		place, format string
		dir           bool
		is            string
	}{
		{"x", "", true, "csv"}, {"x", "jsonl", true, "jsonl"}, {"x.json/", "", true, "csv"}, {"x.d", "json", true, "json"},
		{"x.json", "", false, "json"}, {"a/x.CSV", "csv", false, "csv"}, {"x.jsonl", "", false, "jsonl"},
	} {
		target, err := Parse(c.place, c.format)
		if err != nil || target.dir != c.dir || target.format.name != c.is {
			t.Errorf("%s %s: %+v, %v", c.place, c.format, target, err)
		}
	}
}

// TestPlacesThatCannotBeUsedAreSaidBefore: a place that cannot be used is an error before the session begins.
func TestPlacesThatCannotBeUsedAreSaidBefore(t *testing.T) {
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	must(os.Mkdir(filepath.Join(dir, "dir.csv"), 0o755))
	must(syscall.Mkfifo(filepath.Join(dir, "pipe.csv"), 0o644))
	must(os.Symlink("loop.csv", filepath.Join(dir, "loop.csv")))
	for _, c := range []struct {
		place, says string
		is          error
	}{
		{"file/", "give another one", syscall.ENOTDIR},
		{"file", "give another one", syscall.ENOTDIR},
		{"none/x.csv", "give another place", fs.ErrNotExist},
		{"file/x.csv", "not a directory", syscall.ENOTDIR},
		{"dir.csv", "is a directory; give the name of a file, or ", ErrUse},
		{"pipe.csv", "is not a regular file", ErrUse},
		{"loop.csv", "too many levels", syscall.ELOOP},
		{"/proc/x.csv", "give another place", nil},
	} {
		if !filepath.IsAbs(c.place) {
			c.place = dir + "/" + c.place
		}
		target, err := Parse(c.place, "")
		must(err)
		err = target.Prepare([]string{"q"})
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.place, err)
		}
	}
	several := []string{"q", "r"}
	for place, fits := range map[string]bool{"x.csv": false, "x.jsonl": false, "x.json": true, "x": true} {
		target, err := Parse(filepath.Join(dir, place), "")
		must(err)
		if err := target.Prepare(several); (err == nil) != fits || err != nil && !strings.Contains(err.Error(), "holds one table, and the answers are q, r") {
			t.Errorf("%s for two queries: %v", place, err)
		}
	}
	target, err := Parse(dir, "")
	must(err)
	for _, name := range []string{"", ".", "..", "../x", "a/b", ".hidden", "/x"} {
		if err := target.Prepare([]string{name}); !errors.Is(err, ErrUse) {
			t.Errorf("a query %q: %v", name, err)
		}
		if _, err := target.Write(&client.Answer{Queries: []client.Table{client.NewTable(name, []string{"x"})}}); !errors.Is(err, ErrUse) {
			t.Errorf("a query %q: %v", name, err)
		}
	}
}
