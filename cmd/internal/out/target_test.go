package out

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"posta.dev/posta/client"
)

func TestWhatCannotBeMeantIsRefused(t *testing.T) {
	for _, c := range []struct{ place, format, says string }{
		{"x.csv", "json", "x.csv is a file of format csv, not json"},
		{"x", "xml", `unknown format "xml"; the formats are csv, tsv, json, jsonl, parquet`},
		{"", "json", "format json needs a place"},
	} {
		if target, err := Parse(c.place, c.format, nil); !errors.Is(err, ErrUse) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %s: %v, %v", c.place, c.format, target, err)
		}
	}
	if target, err := Parse("", "", nil); target != nil || err != nil {
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
		target, err := Parse(c.place, c.format, nil)
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
		target, err := Parse(c.place, "", nil)
		must(err)
		err = target.Prepare([]string{"q"})
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.place, err)
		}
	}
	several := []string{"q", "r"}
	for place, fits := range map[string]bool{"x.csv": false, "x.jsonl": false, "x.json": true, "x": true} {
		target, err := Parse(filepath.Join(dir, place), "", nil)
		must(err)
		if err := target.Prepare(several); (err == nil) != fits || err != nil &&
			!strings.Contains(err.Error(), "holds one table, and the answers are q, r") {
			t.Errorf("%s for two queries: %v", place, err)
		}
	}
	target, err := Parse(dir, "", nil)
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

// TestPlacesAreWhatTheirNamesSay: a packed file, tabs and standard output are written as they are meant, and the name of a file of another
// kind makes no directory.
func TestPlacesAreWhatTheirNamesSay(t *testing.T) {
	a := &client.Answer{Queries: few("a,b\tc").Queries}
	for name, want := range map[string]string{"x.csv.gz": "text\n\"a,b\tc\"\n", "x.TSV": "text\n\"a,b\tc\"\n",
		"x.tsv.zst": "text\n\"a,b\tc\"\n", "x.jsonl.gz": "{\"text\": \"a,b\\tc\"}\n"} {
		place := filepath.Join(t.TempDir(), name)
		write(t, place, a)
		var in io.Reader = strings.NewReader(content(t, place))
		var err error
		switch filepath.Ext(name) {
		case ".gz":
			in, err = gzip.NewReader(in)
		case ".zst":
			in, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1))
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(in); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for format, want := range map[string]string{"": "text\n\"a,b\"\n", "tsv": "text\na,b\n", "jsonl": "{\"text\": \"a,b\"}\n"} {
		var std bytes.Buffer
		target, err := Parse("-", format, &std)
		if err == nil {
			err = target.Prepare([]string{"q"})
		}
		if err == nil {
			_, err = target.Write(few("a,b"))
		}
		if err != nil || std.String() != want {
			t.Errorf("--format %q: %q, %v", format, std.String(), err)
		}
	}
	for place, says := range map[string]string{
		"x.xlsx": "files end in .csv, .tsv, .json, .jsonl, .parquet", "x.gz": "x.gz/", "x.txt.gz": "files end in",
		"x.parquet.gz": "a file of parquet is packed already; write x.parquet",
	} {
		if _, err := Parse(place, "", nil); !errors.Is(err, ErrUse) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", place, err)
		}
	}
	if _, err := Parse("-", "parquet", nil); !errors.Is(err, ErrUse) {
		t.Errorf("Parquet on standard output: %v", err)
	}
	if target, err := Parse("-", "", io.Discard); err != nil || target.Prepare([]string{"a", "b"}) == nil {
		t.Errorf("two tables on standard output, %v", err)
	}
	there := filepath.Join(t.TempDir(), "v.two")
	if err := os.Mkdir(there, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{"x", "x.2024", "x.csv/", "x.d", there} {
		if target, err := Parse(place, "", nil); err != nil || !target.dir {
			t.Errorf("%s is no directory: %v", place, err)
		}
	}
}
