package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/protocol"
)

// TestDictionariesReadBack: with any number of different values, in runs and alone, with NULLs, by this reader and by parquet-go. Columns
// without repetitions have no dictionary.
func TestDictionariesReadBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	names := []string{"text", "long", "int", "short", "double", "day"}
	of := []types.Type{types.Of(types.Text), types.Of(types.BigInt), types.Of(types.BigInt), types.Of(types.BigInt), types.Of(types.Double),
		types.Of(types.Date)}
	for _, rows := range []int{1, 7, 8, 9, 1000, 6000} {
		for _, different := range []int{1, 2, 3, 9, 255, 300, rows} {
			var b bytes.Buffer
			w := NewWriter(&b, names, of)
			w.Narrow(2, 32)
			w.Narrow(3, 16)
			var want strings.Builder
			n, run := 0, 0
			for i := range rows {
				if run--; run < 0 {
					n, run = r.IntN(different), r.IntN(20)*r.IntN(2)
				}
				if different == rows {
					n = i
				}
				integer := protocol.Value{Kind: protocol.Int, Int: int64(n - 100)}
				row := []protocol.Value{{Text: fmt.Sprint("value ", n)}, integer, integer, integer,
					{Kind: protocol.Float, Float: float64(n)}, {Text: fmt.Sprintf("20%02d-%02d-%02d", n/336, n/28%12+1, n%28+1)}}
				line := fmt.Sprintf("value %d,%d,%d,%d,%d,%s", n, n-100, n-100, n-100, n, row[5].Text)
				if n%7 == 3 {
					row[0], row[3] = protocol.Value{Kind: protocol.Null}, protocol.Value{Kind: protocol.Null}
					line = fmt.Sprintf(",%d,%d,,%d,%s", n-100, n-100, n, row[5].Text)
				}
				if err := w.Row(row); err != nil {
					t.Fatal(err)
				}
				want.WriteString(line + "\n")
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if got, err := text(b.Bytes(), 1<<20, names...); err != nil || got != want.String() {
				t.Fatalf("%d of %d rows differ: %.300q, want %.300q, %v", different, rows, got, want.String(), err)
			}
			checkDictionaries(t, b.Bytes(), rows, different)
		}
	}
}

func checkDictionaries(t *testing.T, file []byte, rows, different int) {
	t.Helper()
	f, err := pq.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Metadata().RowGroups[0].Columns {
		if has := c.MetaData.DictionaryPageOffset > 0; rows >= 1000 && has != (different < rows/3) {
			t.Errorf("%d of %d rows differ: column %v has a dictionary: %t", different, rows, c.MetaData.PathInSchema, has)
		}
	}
	got, err := pq.Read[struct {
		Long  int64  `parquet:"long,optional"`
		Int   int32  `parquet:"int,optional"`
		Short *int16 `parquet:"short,optional"`
	}](bytes.NewReader(file), int64(len(file)))
	if err != nil || len(got) != rows {
		t.Fatalf("%d of %d rows, %v", len(got), rows, err)
	}
	for i, v := range got {
		if v.Long != int64(v.Int) || v.Short != nil && int64(*v.Short) != v.Long || (v.Short == nil) != ((v.Long+100)%7 == 3) {
			t.Fatalf("row %d of %d: %+v", i, rows, v)
		}
	}
}

// TestNarrowIntegersHaveTheirRange: a number that does not fit is an error.
func TestNarrowIntegersHaveTheirRange(t *testing.T) {
	for _, c := range []struct {
		bits, n int64
		fits    bool
	}{{16, 32_767, true}, {16, -32_768, true}, {16, 32_768, false}, {16, -32_769, false}, {32, -1 << 31, true}, {32, 1 << 31, false}} {
		w := NewWriter(&bytes.Buffer{}, []string{"n"}, []types.Type{types.Of(types.BigInt)})
		w.Narrow(0, c.bits)
		if err := w.Row([]protocol.Value{{Kind: protocol.Int, Int: c.n}}); errors.Is(err, ErrValue) == c.fits {
			t.Errorf("%d of %d bits: %v", c.n, c.bits, err)
		}
	}
}
