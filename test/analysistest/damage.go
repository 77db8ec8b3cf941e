package analysistest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/parse"
	"posta.dev/posta/rows/csv"
)

// Damage runs an analysis over files that are damaged in every known way, one way at a time, and expects what the design
// demands (N7). A bad row is rejected, counted and reported with its file and line, and does not change the answers. A file
// that cannot be read gives one error, which names the file. files has one file for each stream; all its rows are good and end
// with a newline. badRows has, by stream, rows whose values do not parse.
func Damage(t *testing.T, a *analyses.Analysis, files Files, badRows map[string][]string) {
	t.Helper()
	d := &damaged{a: a, files: files}
	want, err := d.run(nil)
	if err != nil {
		t.Fatal(err)
	}
	d.want = queries(want)
	for i := range a.Streams {
		s := &a.Streams[i]
		path := d.path(t, s)
		t.Run(s.Name, func(t *testing.T) {
			d.rows(t, s, path, badRows[s.Name])
			d.disguises(t, path)
			d.unreadable(t, s, path)
			d.headerOnly(t, s, path)
		})
	}
}

type damaged struct {
	a     *analyses.Analysis
	files Files
	want  string
}

func (d *damaged) path(t *testing.T, s *analyses.Stream) string {
	t.Helper()
	for path := range d.files {
		if _, ok := s.Match(path); ok {
			return path
		}
	}
	t.Fatalf("give a file for stream %s", s.Name)
	return ""
}

// run runs the analysis with some files replaced. A file that is replaced by nil is missing.
func (d *damaged) run(replaced map[string][]byte) (*answer.Answer, error) {
	fsys := fstest.MapFS{}
	for path, text := range d.files {
		fsys[path] = &fstest.MapFile{Data: []byte(text)}
	}
	for path, p := range replaced {
		if fsys[path] = (&fstest.MapFile{Data: p}); p == nil {
			delete(fsys, path)
		}
	}
	return local.Run(d.a, fsys, local.Options{})
}

// queries returns the rows of all queries of an answer as text, without rejected rows.
func queries(a *answer.Answer) string { return fmt.Sprintf("%v", a.Queries) }

// rows appends one bad row at a time, with good rows after it.
func (d *damaged) rows(t *testing.T, s *analyses.Stream, path string, bad []string) {
	clean := d.files[path]
	line := uint64(strings.Count(clean, "\n") + 1)
	first, rest, _ := strings.Cut(clean, "\n")
	for _, row := range append(bad, d.badRows(s)...) {
		name := fmt.Sprintf("%.30q", row)
		got, err := d.run(map[string][]byte{path: []byte(clean + row)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if q := queries(got); q != d.want {
			t.Errorf("%s changes the answers: %s, want %s", name, q, d.want)
		}
		checkRejects(t, name, got, s.Name, path, line)
		if strings.HasSuffix(row, "\n") { // before the good rows
			if got, err = d.run(map[string][]byte{path: []byte(first + "\n" + row + rest)}); err != nil || queries(got) != d.want {
				t.Errorf("%s before the others: %v %v", name, err, got)
				continue
			}
			checkRejects(t, name, got, s.Name, path, uint64(strings.Count(first, "\n")+2))
		}
	}
}

// checkRejects expects one rejected row, at a line of a file.
func checkRejects(t *testing.T, name string, a *answer.Answer, stream, path string, line uint64) {
	t.Helper()
	for _, r := range a.Rejected {
		switch {
		case r.Stream != stream && r.Rows == 0:
		case r.Stream != stream || r.Rows != 1 || len(r.First) != 1:
			t.Errorf("%s: %d rows of stream %s rejected: %+v", name, r.Rows, r.Stream, r.First)
		case r.First[0].File != path || r.First[0].Line != line || r.First[0].Reason == "":
			t.Errorf("%s: rejected as %+v, want %s, line %d", name, r.First[0], path, line)
		}
	}
}

// badRows returns rows that are bad in any stream with more than one column.
func (d *damaged) badRows(s *analyses.Stream) []string {
	comma := string(comma(s))
	r := rand.New(rand.NewPCG(1, uint64(len(s.Name))))
	rubbish := make([]byte, 400)
	for i := range rubbish {
		for rubbish[i] == 0 || strings.IndexByte("\"\r\n", rubbish[i]) >= 0 {
			rubbish[i] = byte(r.Uint32())
		}
	}
	return []string{
		"x\n", comma + "\n", strings.Repeat(comma, 60) + "\n", `"a"b` + strings.Repeat(comma+"1", 60) + "\n", "\x00\x01\x02\n",
		string(rubbish) + "\n", strings.Repeat("\xff\xfe"+comma, 60) + "\n", `"never closed` + strings.Repeat(comma+"1", 60) + " and so on",
		"cut of", strings.Repeat("x", 1<<20) + "\n",
	}
}

func comma(s *analyses.Stream) byte {
	if s.Comma == 0 {
		return ','
	}
	return s.Comma
}

// disguises writes the same rows in other bytes and expects the same answers.
func (d *damaged) disguises(t *testing.T, path string) {
	clean := d.files[path]
	for name, files := range map[string]map[string][]byte{
		"byte order mark": {path: []byte("\xef\xbb\xbf" + strings.TrimPrefix(clean, "\xef\xbb\xbf"))},
		"CRLF":            {path: []byte(strings.ReplaceAll(strings.ReplaceAll(clean, "\r\n", "\n"), "\n", "\r\n"))},
		"no last newline": {path: []byte(strings.TrimRight(clean, "\r\n"))},
		"empty lines":     {path: []byte("\n" + clean + "\n\n")},
		"gzip":            {path: nil, path + ".gz": zipped(t, clean)},
	} {
		got, err := d.run(files)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if q := queries(got); q != d.want {
			t.Errorf("%s changes the answers: %s, want %s", name, q, d.want)
		}
		for _, r := range got.Rejected {
			if r.Rows != 0 {
				t.Errorf("%s: rejected %+v", name, r)
			}
		}
	}
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unreadable tries files that cannot be read and expects an error for each.
func (d *damaged) unreadable(t *testing.T, s *analyses.Stream, path string) {
	clean := d.files[path]
	packed := zipped(t, clean+strings.Repeat("x\n", 100000))
	other := string(comma(s) ^ ',' ^ '|')
	for name, c := range map[string]struct {
		files map[string][]byte
		want  error
	}{
		"not there":       {map[string][]byte{path: nil}, local.ErrNoFile},
		"empty":           {map[string][]byte{path: {}}, csv.ErrHeader},
		"no header":       {map[string][]byte{path: []byte("\n\n")}, csv.ErrHeader},
		"missing column":  {map[string][]byte{path: []byte(strings.Replace(clean, s.Columns[0].Name, "somethingElse", 1))}, csv.ErrHeader},
		"wrong separator": {map[string][]byte{path: []byte(strings.ReplaceAll(clean, string(comma(s)), other))}, parse.ErrFile},
		"50 MB field":     {map[string][]byte{path: []byte(clean + "x" + strings.Repeat("y", 50<<20))}, csv.ErrRecordTooLong},
		"50 MB in quotes": {map[string][]byte{path: []byte(clean + `"` + strings.Repeat("y\n", 25<<20))}, csv.ErrRecordTooLong},
		"gzip cut short":  {map[string][]byte{path: nil, path + ".gz": packed[:len(packed)-30]}, io.ErrUnexpectedEOF},
		"gzip of nothing": {map[string][]byte{path: nil, path + ".gz": {}}, io.EOF},
		"binary":          {map[string][]byte{path: bytes.Repeat([]byte{0, 1, 2, 0xff, 0xfe, '\n'}, 1000)}, csv.ErrHeader},
	} {
		_, err := d.run(c.files)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), s.Name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// headerOnly expects no error for a file without rows.
func (d *damaged) headerOnly(t *testing.T, s *analyses.Stream, path string) {
	head, _, _ := strings.Cut(d.files[path], "\n")
	for _, text := range []string{head, head + "\n"} {
		got, err := d.run(map[string][]byte{path: []byte(text)})
		if err != nil {
			t.Errorf("a header without rows: %v", err)
			continue
		}
		for _, r := range got.Rejected {
			if r.Rows != 0 {
				t.Errorf("a header without rows: rejected %+v", r)
			}
		}
	}
}
