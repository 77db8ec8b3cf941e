package columnar

import (
	"errors"
	"strings"
	"testing"

	"posta.dev/posta/rows/csv"
)

// A column of NULLs takes few bytes in a chunk but many in the parser, and so does an entry to which many rows refer. Both count for a
// chunk's size, so that chunks end in time.
func TestSizeCountsWhatTheParserTakes(t *testing.T) {
	w := NewWriter(2)
	w.Column(1).Dictionary(1)
	long := []byte(strings.Repeat("x", 1000))
	for range 10_000 {
		w.Column(0).AppendNull()
		w.Column(1).AppendWord(0, long)
	}
	if n := w.Size(); n < 10_000*nullSize+10_000*1000/repeated {
		t.Errorf("10,000 NULLs and 10 MB of texts count for %d bytes", n)
	}
	before := w.Size()
	rest := NewWriter(2)
	w.MoveLast(rest)
	if n := w.Size(); n != before-nullSize-1000/repeated {
		t.Errorf("without the last row the size is %d, and was %d", n, before)
	}
	w.Reset()
	if n := w.Size(); n > 100 {
		t.Errorf("without rows the size is %d", n)
	}
}

// A small chunk that would take hundreds of megabytes in the parser is refused.
func TestSmallChunksThatGrowAreRefused(t *testing.T) {
	for name, of := range map[string]struct {
		columns int
		fill    func(*Writer)
		want    string
	}{
		"many values": {1024, func(w *Writer) {
			for i := range 1024 {
				for range MaxRows {
					w.Column(i).AppendNull()
				}
			}
		}, "are more than 8388608 values"},
		"a long text in each row": {2, func(w *Writer) {
			long := []byte(strings.Repeat("x", 1<<20))
			for i := range 2 {
				w.Column(i).Dictionary(1)
				for range 100 {
					w.Column(i).AppendWord(0, long)
				}
			}
		}, "at most 67108864 are taken"},
	} {
		t.Run(name, func(t *testing.T) {
			header := strings.TrimSuffix(strings.Repeat("c,", of.columns), ",")
			h, err := csv.ParseHeader(csv.MarkedColumnar([]byte(header), ',', 18), ',')
			if err != nil {
				t.Fatal(err)
			}
			mapping, err := h.Find([]csv.Column{{Name: "none", Optional: true}})
			if err != nil {
				t.Fatal(err)
			}
			w := NewWriter(of.columns)
			of.fill(w)
			err = NewScanner(mapping).Reset(w.Append(nil), 2)
			if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), of.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
