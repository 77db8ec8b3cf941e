package exec

import (
	"fmt"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
)

// texts is a scan of one column of TEXT, with what reads chunks of it.
type texts struct {
	scan    *Scan
	scanner *columnar.Scanner
	builder *batch.Builder
	read    func(*columnar.Run) (read, taken int)
	columns *columns
}

func newTexts(t *testing.T) *texts {
	s := &Scan{Table: &catalog.Table{Name: "t", Columns: []catalog.Column{{Name: "x", Type: types.Of(types.Text)}}}, Wanted: []int{0}}
	stream, err := s.Describe()
	if err != nil {
		t.Fatal(err)
	}
	mapping, err := stream.Mapping(csv.MarkedColumnar([]byte("x"), ',', 18))
	if err != nil {
		t.Fatal(err)
	}
	r := &texts{scan: s, scanner: columnar.NewScanner(mapping), builder: batch.NewBuilder(stream.Schema), columns: newColumns(s)}
	r.read = s.Columns(analyses.File{Cells: r.scanner.Cells()}, r.builder)
	return r
}

// chunk reads a chunk. It returns the rows of the builder, of its view and of its wire form, and whether the texts were views at first.
func (r *texts) chunk(t *testing.T, fill func(c *columnar.Column)) (ways [3][]string, views bool) {
	w := columnar.NewWriter(1)
	fill(w.Column(0))
	if err := r.scanner.Reset(w.Append(nil), 1); err != nil {
		t.Fatal(err)
	}
	r.builder.Reset()
	for run := r.scanner.Run(columnar.MaxRun); run != nil; run = r.scanner.Run(columnar.MaxRun) {
		n, _ := r.read(run)
		r.scanner.Took(n)
	}
	views = r.builder.Dict(0).Views() != nil
	for k := range ways {
		var b rows = built{r.builder}
		switch k {
		case 1:
			b = decoded{r.builder.View()}
		case 2:
			sent, err := batch.Decode(r.builder.Append(nil), []batch.FieldSpec{{Name: "c0", Kind: batch.Dict}, {Name: "n0", Kind: batch.Int}})
			if err != nil {
				t.Fatal(err)
			}
			b = decoded{sent}
		}
		r.columns.load(b, analyses.File{})
		v := r.columns.vector[0]
		for i, text := range v.Texts {
			if v.IsNull(int32(i)) {
				text = "NULL"
			}
			ways[k] = append(ways[k], text)
		}
	}
	return ways, views
}

// TestTextsThatHardlyRepeatAreViews: in turns with texts that repeat and with those of a dictionary, all rows are what was written, in
// whatever way a batch gets to the columns.
func TestTextsThatHardlyRepeatAreViews(t *testing.T) {
	r := newTexts(t)
	for turn := range 12 {
		distinct, rows := []int{1 << 30, 5, 300}[turn%3], []int{2500, rareRows - 1, rareRows}[turn%4%3]
		var want []string
		of := func(i int) string { return fmt.Sprint("text ", i%distinct, " of ", turn) }
		ways, views := r.chunk(t, func(c *columnar.Column) {
			c.Dictionary(rows)
			for i := range rows {
				switch {
				case i%7 == 3:
					c.AppendNull()
					want = append(want, "NULL")
				case turn >= 6:
					c.AppendWord(uint32(i), []byte(of(i)))
					want = append(want, of(i))
				default:
					c.AppendText([]byte(of(i)))
					want = append(want, of(i))
				}
			}
		})
		for k, got := range ways {
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("turn %d, way %d: %.200q, and not %.200q", turn, k, got, want)
			}
		}
		if wanted := turn < 6 && distinct > rows && rows >= rareRows; views != wanted {
			t.Errorf("turn %d: views are %v, %v is wanted", turn, views, wanted)
		}
	}
}
