package parquet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"posta.dev/posta/rows/columnar"
)

// skipping opens a file for one column, and begins its row group.
func skipping(t *testing.T, file []byte, name string) (*rowsOfChunks, *column) {
	t.Helper()
	wanted := columnsOf(name)
	c, err := NewCutter(bytes.NewReader(file), int64(len(file)), wanted, ',', 1<<20, 1<<24)
	r, err := openRows(c, err, wanted)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.begin(); err != nil {
		t.Fatal(err)
	}
	return r, c.columns[0]
}

// rowsOf returns the fields of the rows that a writer has.
func (r *rowsOfChunks) rowsOf(t *testing.T, w *columnar.Writer) (all []string) {
	t.Helper()
	if w.Rows() == 0 {
		return nil
	}
	w.Column(1).AppendNulls(w.Rows()) // see csv.Alone
	if err := r.columns.Reset(w.Append(nil), 2); err != nil {
		t.Fatal(err)
	}
	for r.columns.Next() {
		all = append(all, string(r.columns.Row()))
	}
	return all
}

// TestC1_SkippedRowsAreLeftOut: for every type and encoding, with NULLs and in lists, the rows that are taken are the same whether those
// between them are taken or skipped.
func TestC1_SkippedRowsAreLeftOut(t *testing.T) {
	const n = 3000
	r := rand.New(rand.NewPCG(9, 1))
	for _, k := range kinds {
		for _, e := range k.encodings {
			for form := range 3 { // required, optional, in a list
				node, name := pq.Compressed(pq.Encoded(k.node, e), codecs[r.IntN(len(codecs))]), "v"
				switch form {
				case 1:
					node = pq.Optional(node)
				case 2:
					node, name = pq.Repeated(node), "v[1]"
				}
				var rows []pq.Row
				often := r.IntN(20)
				for i := range n {
					v := k.value(i)
					switch {
					case form == 0:
						rows = append(rows, pq.Row{v.Level(0, 0, 0)})
					case r.IntN(20) < often:
						rows = append(rows, pq.Row{pq.NullValue().Level(0, 0, 0)})
					case form == 1:
						rows = append(rows, pq.Row{v.Level(0, 1, 0)})
					default:
						row := pq.Row{k.value(i+1).Level(0, 1, 0)}
						for range r.IntN(3) {
							row = append(row, v.Level(1, 1, 0))
						}
						rows = append(rows, row)
					}
				}
				version := 2
				if form == 0 {
					version = 1 + r.IntN(2)
				}
				file := written(t, pq.NewSchema("file", pq.Group{"v": node}), rows, n, pq.DataPageVersion(version), pq.PageBufferSize(1+r.IntN(4000)))
				t.Run(fmt.Sprintf("%s/%v/%d", k.name, e, form), func(t *testing.T) { checkSkips(t, r, file, name, n) })
			}
		}
	}
}

func checkSkips(t *testing.T, r *rand.Rand, file []byte, name string, n int) {
	rows, c := skipping(t, file, name)
	w := columnar.NewWriter(2)
	if err := c.take(n, w.Column(0), nil); err != nil {
		t.Fatal(err)
	}
	all := rows.rowsOf(t, w)
	for range 4 {
		rows, c = skipping(t, file, name)
		w.Reset()
		c.dictionary.known = false
		var want []string
		often := 1 + r.IntN(6)
		for at := 0; at < n; {
			k := min(1+r.IntN(700), n-at)
			if r.IntN(often) == 0 {
				if err := c.take(k, w.Column(0), nil); err != nil {
					t.Fatal(err)
				}
				want = append(want, all[at:at+k]...)
			} else if err := c.skip(int64(k)); err != nil {
				t.Fatal(err)
			}
			at += k
		}
		if err := c.finish(); err != nil {
			t.Fatal(err)
		}
		got := rows.rowsOf(t, w)
		if len(got) != len(want) {
			t.Fatalf("%d rows and not %d", len(got), len(want))
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("row %d is %q and not %q", i, got[i], want[i])
			}
		}
	}
}

// TestC1_SkippedPagesAreNotUnpacked: damage in them is not noticed, and the dictionary is not read if no page needs it.
func TestC1_SkippedPagesAreNotUnpacked(t *testing.T) {
	var rows []pq.Row
	for i := range 1000 {
		rows = append(rows, pq.Row{pq.ByteArrayValue([]byte(words(i))).Level(0, 0, 0)})
	}
	for _, e := range kinds[7].encodings {
		file := written(t, pq.NewSchema("file", pq.Group{"v": pq.Compressed(pq.Encoded(pq.String(), e), &pq.Snappy)}), rows, 1000,
			pq.PageBufferSize(1000), pq.DataPageVersion(1))
		_, c := skipping(t, file, "v")
		if err := c.skip(1000); err != nil || c.page != nil || c.dictionary.loaded {
			t.Errorf("%v: %v, and a page was read", e, err)
		}
		if err := c.finish(); err != nil {
			t.Error(err)
		}
		if err := c.skip(1); err == nil {
			t.Error("a row after the last one was skipped")
		}
	}
}
