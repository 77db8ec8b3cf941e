package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"posta.dev/posta/client/source/format"
	"posta.dev/posta/client/source/jsonl"
	"posta.dev/posta/client/source/parquet"
	"posta.dev/posta/client/source/text"
	"posta.dev/posta/client/source/unpack"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
)

// trips are the columns that bikes needs.
var trips = []csv.Column{{Name: "start_date"}, {Name: "start_station_code"}, {Name: "end_station_code"}, {Name: "duration_sec"},
	{Name: "yearid"}}

// sums is the work on each row: every field is parsed.
const sums = `SELECT sum(duration_sec), sum(start_station_code), sum(end_station_code), sum(yearid), max(start_date) FROM `

// cutter cuts files of a format into chunks.
type cutter interface {
	Next(buf []byte) ([]byte, uint64, error)
	Header() ([]byte, error)
}

// cut opens a file as the client does.
func cut(name string) (_ cutter, done func(), err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	done = func() { _ = f.Close() }
	info, err := f.Stat()
	if err != nil {
		return nil, done, err
	}
	const chunk, record = 256 << 10, 16 << 20
	if filepath.Ext(name) == ".parquet" {
		c, err := parquet.NewCutter(f, info.Size(), trips, ',', chunk, record)
		return c, done, err
	}
	plain, err := unpack.File{Path: name, Read: new(atomic.Int64)}.Open(f)
	if err != nil {
		return nil, done, err
	}
	in, err := text.Open(plain, text.Want{Columns: trips})
	if err != nil {
		return nil, done, err
	}
	if lines, err := (jsonl.Format{}).Detect(&format.File{File: in}); lines || err != nil {
		return jsonl.Lines.NewCutter(in, trips, ',', chunk, record), done, err
	}
	return csv.NewCutter(in, in.Comma, chunk, record), done, nil
}

// readAll reads a file, parses the fields, and returns the sum of the durations.
func readAll(name string) (sum float64, err error) {
	c, done, err := cut(name)
	if err != nil {
		return 0, err
	}
	defer done()
	line, err := c.Header()
	if err != nil {
		return 0, err
	}
	header, err := csv.ParseHeader(line, ',')
	if err != nil {
		return 0, err
	}
	m, err := header.Find(trips)
	if err != nil {
		return 0, err
	}
	if m.Columnar() {
		return readColumns(c, m)
	}
	var s csv.Scanner
	var others int64
	var spare []byte
	for {
		chunk, at, err := c.Next(spare)
		if err == io.EOF {
			if others == 0 {
				return 0, errors.New("there are no rows")
			}
			return sum, nil
		}
		if err != nil {
			return 0, err
		}
		for s.Reset(chunk, ',', m, at); s.Next(); {
			f := s.Fields()
			v, _ := csv.ParseFloat(f[3])
			when, _ := csv.ParseDateTime(f[0])
			from, _ := csv.ParseInt(f[1])
			to, _ := csv.ParseInt(f[2])
			year, _ := csv.ParseInt(f[4])
			sum += v
			others += when + from + to + year
		}
		spare = chunk
	}
}

// asks are what parsers of analyses ask for.
var asks = []columnar.Ask{
	{Kind: columnar.Seconds, Parse: func(p []byte) (c columnar.Cell, ok bool) { c.Int, ok = csv.ParseDateTime(p); return c, ok }}, integer,
	integer,
	{Kind: columnar.Float, Parse: func(p []byte) (c columnar.Cell, ok bool) { c.Float, ok = csv.ParseFloat(p); return c, ok }}, integer,
}

var integer = columnar.Ask{Kind: columnar.Int, Parse: func(p []byte) (c columnar.Cell, ok bool) {
	c.Int, ok = csv.ParseInt(p)
	return c,
		ok
}}

// readColumns is readAll for chunks that hold columns.
func readColumns(c cutter, m csv.Mapping) (sum float64, err error) {
	s := columnar.NewScanner(m)
	cells := make([]*columnar.Cell, len(asks))
	for i := range asks {
		cells[i] = s.Cells().Column(i, asks[i])
	}
	var others int64
	var spare []byte
	for {
		chunk, at, err := c.Next(spare)
		if err == io.EOF {
			if others == 0 {
				return 0, errors.New("there are no rows")
			}
			return sum, nil
		}
		if err == nil {
			err = s.Reset(chunk, at)
		}
		if err != nil {
			return 0, err
		}
		for s.Next() {
			for i, cell := range cells {
				if !cell.OK {
					v, _ := asks[i].Parse(s.Fields()[i])
					*cell = v
				}
			}
			sum += cells[3].Float
			others += cells[0].Int + cells[1].Int + cells[2].Int + cells[4].Int
		}
		spare = chunk
	}
}

// cpu returns the processor time that this process has used.
func cpu(t testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// largest returns the largest file.
func largest(t testing.TB, files []string) (name string) {
	most := int64(-1)
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > most {
			most, name = info.Size(), f
		}
	}
	return name
}

// BenchmarkFormats prints, for each format, how much of the equivalent CSV is read and parsed per second of a core's time, by this project
// and by DuckDB, which gets the types and need not guess.
func BenchmarkFormats(b *testing.B) {
	dir := b.TempDir()
	if err := gen.Bikes(gen.OnDisk(dir), 200_000, 1); err != nil {
		b.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*", "trips.csv"))
	if err != nil || len(found) == 0 {
		b.Fatal("no trips", err)
	}
	db := open(b)
	plain := filepath.Join(dir, "t.csv")
	const types = `{'start_date': 'TIMESTAMP', 'start_station_code': 'INTEGER', 'end_date': 'VARCHAR', 'end_station_code': 'INTEGER', 'duration_sec': 'DOUBLE', 'is_member': 'VARCHAR', 'yearid': 'INTEGER'}`
	scan := func(name string) string {
		return fmt.Sprintf("read_csv('%s', auto_detect = false, header = true, delim = ',', quote = '\"', ignore_errors = true, columns = %s)",
			name, types)
	}
	// Rows that do not fit are removed first, so that all read the same rows.
	do(b, db, fmt.Sprintf("CREATE TABLE trips AS FROM %s", scan(largest(b, found))))
	for rows := 0; rows < 1_000_000; {
		do(b, db, "INSERT INTO trips FROM trips")
		if err := db.QueryRow("SELECT count(*) FROM trips").Scan(&rows); err != nil {
			b.Fatal(err)
		}
	}
	do(b, db, fmt.Sprintf("COPY trips TO '%s' (FORMAT csv, HEADER, TIMESTAMPFORMAT '%%Y-%%m-%%d %%H:%%M:%%S')", plain))
	do(b, db, fmt.Sprintf("COPY trips TO '%s' (FORMAT parquet)", filepath.Join(dir, "t.parquet")))
	do(b, db, fmt.Sprintf("COPY (SELECT * REPLACE (start_date::VARCHAR AS start_date) FROM trips) TO '%s' (FORMAT json)",
		filepath.Join(dir, "t.jsonl")))
	do(b, db, "DROP TABLE trips")
	content, err := os.ReadFile(plain)
	if err != nil {
		b.Fatal(err)
	}
	fmt.Printf("%.0f MB of CSV\n", float64(len(content))/1e6)
	for suffix, pack := range map[string]func(io.Writer) io.WriteCloser{
		".gz":  func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		".lz4": func(w io.Writer) io.WriteCloser { return lz4.NewWriter(w) },
		".zst": func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)); return z },
	} {
		var out bytes.Buffer
		w := pack(&out)
		_, err := w.Write(content)
		if err := errors.Join(err, w.Close(), os.WriteFile(plain+suffix, out.Bytes(), 0o644)); err != nil {
			b.Fatal(err)
		}
	}
	for _, f := range []struct{ name, file, sql string }{
		{"csv", plain, scan(plain)}, {"gzip", plain + ".gz", scan(plain + ".gz")}, {"zstd", plain + ".zst", scan(plain + ".zst")},
		{"lz4", plain + ".lz4", ""},
		{"jsonl", filepath.Join(dir, "t.jsonl"), fmt.Sprintf("read_json('%s', format = 'newline_delimited', columns = %s)",
			filepath.Join(dir, "t.jsonl"), types)},
		{"parquet", filepath.Join(dir, "t.parquet"), "'" + filepath.Join(dir, "t.parquet") + "'"},
	} {
		rate := func(b *testing.B, each func() error) {
			begin := cpu(b)
			for range b.N {
				if err := each(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(content))*float64(b.N)/1e6/(cpu(b)-begin).Seconds(), "MB/s/core")
			b.ReportMetric(0, "ns/op")
		}
		var ours float64
		b.Run(f.name+"/posta", func(b *testing.B) {
			rate(b, func() (err error) { ours, err = readAll(f.file); return err })
		})
		if f.sql == "" {
			continue
		}
		b.Run(f.name+"/duckdb", func(b *testing.B) {
			rate(b, func() error {
				var duration float64
				var a, c, d, at any
				if err := db.QueryRow(sums+f.sql).Scan(&duration, &a, &c, &d, &at); err != nil {
					return err
				}
				if math.Abs(duration-ours) > 1e-9*ours {
					return fmt.Errorf("the durations are %v here and %v there", duration, ours)
				}
				return nil
			})
		})
	}
}
