package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
)

// rowsOfChunks is what parsers make of the chunks of a cutter: each row with its line, its fields and itself.
type rowsOfChunks struct {
	c       *Cutter
	header  []byte
	mapping csv.Mapping
	most    int // bytes of the largest chunk

	columns *columnar.Scanner
	spare   []byte
}

func openRows(c *Cutter, err error, columns []csv.Column) (*rowsOfChunks, error) {
	if err != nil {
		return nil, err
	}
	r := &rowsOfChunks{c: c}
	if r.header, err = c.Header(); err != nil {
		return nil, err
	}
	h, err := csv.ParseHeader(r.header, ',')
	if err != nil {
		return nil, err
	}
	if r.mapping, err = h.Find(columns); err != nil {
		return nil, err
	}
	if !r.mapping.Columnar() {
		return nil, fmt.Errorf("the header %q is not that of columns", r.header)
	}
	r.columns = columnar.NewScanner(r.mapping)
	return r, nil
}

func (r *rowsOfChunks) row() (line uint64, fields [][]byte, row []byte, err error) {
	for !r.columns.Next() {
		chunk, at, err := r.c.Next(r.spare)
		if err != nil {
			return 0, nil, nil, err
		}
		r.spare, r.most = chunk, max(r.most, len(chunk))
		if err := r.columns.Reset(chunk, at); err != nil {
			return 0, nil, nil, err
		}
	}
	return r.columns.Line(), r.columns.Fields(), r.columns.Row(), nil
}

// TestR15_ColumnsStayWithinLimits: whatever the rows are, no chunk is larger than a record may be, and a row that has to be is an error, as
// in CSV.
func TestR15_ColumnsStayWithinLimits(t *testing.T) {
	const limit = 64 << 10
	for name, text := range map[string]func(i int) string{
		"long":     func(i int) string { return strings.Repeat("x", i*7919%(limit-500)) },
		"now long": func(i int) string { return strings.Repeat("x", i%40/39*(limit-500)) },
		"words":    func(i int) string { return strings.Repeat("x", i%3*20000) },
		"too long": func(i int) string { return strings.Repeat("x", i/150*limit) },
	} {
		for _, encoded := range []pq.Node{pq.Encoded(pq.String(), &pq.Plain), pq.Encoded(pq.String(), &pq.RLEDictionary)} {
			schema := pq.NewSchema("file", pq.Group{"n": pq.Leaf(pq.Int64Type), "s": encoded, "t": pq.Timestamp(pq.Nanosecond)})
			var rows []pq.Row
			for i := range 200 {
				rows = append(rows, pq.Row{pq.Int64Value(int64(i)*1e15-math.MaxInt64/3).Level(0, 0, 0),
					pq.ByteArrayValue([]byte(text(i))).Level(0, 0, 1), pq.Int64Value(int64(i/199)).Level(0, 0, 2)})
			}
			file, wanted := written(t, schema, rows, 90), columnsOf("n", "s", "t")
			for _, chunk := range []int{1, 5000, limit} {
				c, err := NewCutter(bytes.NewReader(file), int64(len(file)), wanted, ',', chunk, limit)
				r, err := openRows(c, err, wanted)
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for ; err == nil; n++ {
					var fields [][]byte
					var line uint64
					if line, fields, _, err = r.row(); err == nil && (string(fields[1]) != text(n) || line != uint64(n)+2) {
						t.Fatalf("%s: line %d has a text of %d bytes, not %d", name, line, len(fields[1]), len(text(n)))
					}
				}
				if n--; name == "too long" {
					if !errors.Is(err, csv.ErrRecordTooLong) || !strings.Contains(err.Error(), "row 151 ") {
						t.Errorf("%s in chunks of %d: %v", name, chunk, err)
					}
				} else if err != io.EOF || n != 200 {
					t.Errorf("%s in chunks of %d: %d rows, %v", name, chunk, n, err)
				}
				if r.most > limit {
					t.Errorf("%s in chunks of %d: a chunk has %d bytes", name, chunk, r.most)
				}
			}
		}
	}
}
