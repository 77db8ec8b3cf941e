package e2e

import (
	"bytes"
	"encoding/binary"
	stdcsv "encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"posta.dev/posta/analyses"
	"posta.dev/posta/client"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/test/e2e/truth"
	"posta.dev/posta/topology"
)

// form is another way to write a CSV file.
type form struct {
	name  string
	write func(t *testing.T, path string, text []byte) // replaces the file at path
}

// packedWith returns the form that a compressor writes.
func packedWith(suffix string, open func(io.Writer) (io.WriteCloser, error)) form {
	return form{suffix, func(t *testing.T, path string, text []byte) {
		var b bytes.Buffer
		for _, half := range [][]byte{text[:len(text)/2], text[len(text)/2:]} { // two members, or frames
			w, err := open(&b)
			if err == nil {
				_, err = w.Write(half)
			}
			if err == nil {
				err = w.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		put(t, path+suffix, b.Bytes())
		if suffix == "" {
			return
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}}
}

var forms = []form{
	packedWith(".gz", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }),
	packedWith(".zst", func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }),
	packedWith(".lz4", func(w io.Writer) (io.WriteCloser, error) { return lz4.NewWriter(w), nil }),
	packedWith("", func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }), // the name does not show the compression

	{"UTF-16LE", func(t *testing.T, path string, text []byte) { put(t, path, utf16Of(binary.LittleEndian, text)) }},
	{"UTF-16BE", func(t *testing.T, path string, text []byte) { put(t, path, utf16Of(binary.BigEndian, text)) }},
	{"byte order mark", func(t *testing.T, path string, text []byte) { put(t, path, append([]byte("\ufeff"), text...)) }},
	separated(","), separated(";"), separated("\t"), separated("|"),

	{"JSON Lines", func(t *testing.T, path string, text []byte) {
		put(t, strings.TrimSuffix(path, ".csv")+".jsonl", asLines(text))
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}},
	inParquet(),
}

// table returns the rows of a CSV file. A row that is not CSV, or is too short, is nil.
func table(text []byte) (header []string, rows [][]string) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	comma := byte(',')
	if line, _, _ := bytes.Cut(text, []byte("\n")); !bytes.Contains(line, []byte(",")) {
		comma = ';'
	}
	c := csv.NewCutter(bytes.NewReader(text), comma, 1, 1<<20)
	line, err := c.Header()
	if err != nil {
		panic(err)
	}
	header = strings.Split(string(line), string(comma)) // no name is quoted
	var columns []csv.Column
	for _, name := range header {
		columns = append(columns, csv.Column{Name: name})
	}
	h, err := csv.ParseHeader(line, comma)
	if err != nil {
		panic(err)
	}
	m, err := h.Find(columns)
	if err != nil {
		panic(err)
	}
	for {
		chunk, at, err := c.Next(nil)
		if err != nil {
			return header, rows // io.EOF
		}
		var s csv.Scanner
		for s.Reset(chunk, comma, m, at); s.Next(); {
			if s.Err() != nil {
				rows = append(rows, nil)
				continue
			}
			var row []string
			for _, f := range s.Fields() {
				row = append(row, string(f))
			}
			rows = append(rows, row)
		}
	}
}

// asLines converts a CSV file to JSON Lines. Some numbers become JSON numbers. A row that is not CSV becomes a line that is not JSON.
func asLines(text []byte) (out []byte) {
	header, rows := table(text)
	for _, row := range rows {
		if row == nil {
			out = append(out, "{\"this row\n"...)
			continue
		}
		out = append(out, '{')
		for i, name := range header {
			if i > 0 {
				out = append(out, ',')
			}
			value, err := json.Marshal(row[i])
			if _, no := strconv.ParseFloat(row[i], 64); no == nil && json.Valid([]byte(row[i])) {
				value = []byte(row[i])
			}
			key, keyErr := json.Marshal(name)
			if err != nil || keyErr != nil {
				panic(errors.Join(err, keyErr))
			}
			out = append(append(append(out, key...), ':'), value...)
		}
		out = append(out, "}\n"...)
	}
	return out
}

func utf16Of(order binary.AppendByteOrder, text []byte) (out []byte) {
	for _, u := range utf16.Encode([]rune("\ufeff" + strings.TrimPrefix(string(text), "\ufeff"))) {
		out = order.AppendUint16(out, u)
	}
	return out
}

// cutField returns the first field as it is written, and what ends it: a separator, a line feed, or nothing. A quote that something follows
// is not an end of a field: then the rest of the line belongs to it.
func cutField(text string, comma byte) (field, end string) {
	i := 0
	if strings.HasPrefix(text, "\"") {
		for i = 1; i < len(text); i++ {
			if text[i] == '"' {
				if i++; i == len(text) || text[i] != '"' {
					break
				}
			}
		}
		crlf := strings.HasPrefix(text[i:], "\r\n")
		if i < len(text) && text[i] != comma && text[i] != '\n' && !crlf {
			comma = '\n'
		}
	}
	n := strings.IndexAny(text[i:], string(comma)+"\n")
	if n < 0 {
		return text, ""
	}
	return text[:i+n], text[i+n : i+n+1]
}

// separated returns a form with another separator than the stream's files have. Rows that are not CSV stay as they are.
func separated(by string) form {
	return form{"separated by " + by, func(t *testing.T, path string, text []byte) {
		own := ","
		if header, _, _ := strings.Cut(string(text), "\n"); !strings.Contains(header, ",") {
			own = ";"
		}
		var out bytes.Buffer
		for rest := string(text); rest != ""; {
			field, end := cutField(rest, own[0])
			rest = rest[len(field)+len(end):]
			if strings.Contains(field, by) && !strings.HasPrefix(field, "\"") {
				field = "\"" + strings.ReplaceAll(field, "\"", "\"\"") + "\""
			}
			out.WriteString(field)
			out.WriteString(strings.Replace(end, own, by, 1))
		}
		put(t, path, out.Bytes())
	}}
}

// TestC1_EveryFormGivesTheSameAnswers: what the files of an analysis are written in changes no bit of its answers, nor the rejected rows.
func TestC1_EveryFormGivesTheSameAnswers(t *testing.T) {
	c := start(t, topology.Variant{})
	for i, name := range []string{"bikes", "flights", "movies", "memes"} {
		a, err := known().Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for j, f := range forms {
			if (i+j)%2 == 1 && !*long {
				continue // each form with two analyses
			}
			t.Run(name+" "+f.name, func(t *testing.T) {
				d := generatedFor(t, name, 1_000)
				further := furtherLines(t, a, d.dir)
				d.rewrite(t, f)
				got, err := client.Run(deadline(t), client.Config{Entries: c.topo.EntryPoints(), Analysis: name, Dir: d.dir,
					Columns: func(stream string) []analyses.Column { return a.Streams[a.StreamIndex(stream)].Columns }})
				if err != nil {
					t.Fatal(err)
				}
				if f.name == "JSON Lines" || f.name == "Parquet" { // rejected rows are in other lines, and some for other reasons
					d = &dataset{want: withoutReasons(t, d.want, further)}
					d.check(t, withoutReasons(t, truth.Queries(t, got), nil))
					return
				}
				d.check(t, truth.Queries(t, got))
			})
		}
	}
}

// furtherLines counts, for each stream, the lines behind the first of rows that have the wrong form. In CSV they count as rows; the other
// formats have no rows of several lines.
func furtherLines(t *testing.T, a *analyses.Analysis, dir string) map[string]uint64 {
	t.Helper()
	further := map[string]uint64{}
	for i := range a.Streams {
		paths, err := filepath.Glob(filepath.Join(dir, a.Streams[i].Files))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			r := stdcsv.NewReader(bytes.NewReader(text))
			r.FieldsPerRecord = -1
			if header, _, _ := bytes.Cut(text, []byte("\n")); !bytes.Contains(header, []byte(",")) {
				r.Comma = ';'
			}
			header, err := r.Read()
			for err == nil || errors.Is(err, stdcsv.ErrQuote) {
				var bad *stdcsv.ParseError
				var row []string
				if row, err = r.Read(); errors.As(err, &bad) {
					further[a.Streams[i].Name] += uint64(bad.Line - bad.StartLine)
				} else if err == nil && len(row) != len(header) {
					further[a.Streams[i].Name] += uint64(strings.Count(strings.Join(row, ""), "\n"))
				}
			}
		}
	}
	return further
}

// withoutReasons returns what queries returns, with only the numbers of rejected rows, less those of lines that are no rows elsewhere.
func withoutReasons(t *testing.T, all []byte, less map[string]uint64) []byte {
	t.Helper()
	answers, rejected, _ := bytes.Cut(all, []byte("\n"))
	var streams map[string]struct{ Rows uint64 }
	if err := json.Unmarshal(rejected, &streams); err != nil {
		t.Fatalf("%s: %v", rejected, err)
	}
	for name, stream := range streams {
		stream.Rows -= less[name]
		streams[name] = stream
	}
	short, err := json.Marshal(streams)
	if err != nil {
		t.Fatal(err)
	}
	return append(append(bytes.Clone(answers), '\n'), short...)
}
