package analysistest

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/parse"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/csv"
)

// Runs checks that the rows of a file that are read in runs (analyses.Analysis.NewRunParser) are those that are read one by one. row
// returns the fields of a row as they stand in a file; most of them must be in the usual form, and some must be odd or wrong.
func Runs(t *testing.T, a *analyses.Analysis, stream int, file analyses.File, header string, row func(r *rand.Rand) []string) {
	t.Helper()
	args, err := a.Args(nil)
	if err != nil {
		t.Fatal(err)
	}
	inRuns, oneByOne := *a, *a
	many, all := 0, 0
	inRuns.NewRunParser = func(args analyses.Args, stream int, file analyses.File, b *batch.Builder) func(*csv.Run) (int, int) {
		read := a.NewRunParser(args, stream, file, b)
		return func(run *csv.Run) (int, int) {
			n, taken := read(run)
			many += taken
			return n, taken
		}
	}
	oneByOne.NewRunParser = nil
	r := rand.New(rand.NewPCG(41, 42))
	for range 20 {
		var parsers [2]*parse.FileParser
		for i, a := range []*analyses.Analysis{&inRuns, &oneByOne} {
			if parsers[i], err = parse.NewFile(a, stream, args, file, []byte(header)); err != nil {
				t.Fatal(err)
			}
		}
		for range 4 {
			var data []byte
			end := []string{"\n", "\r\n"}[r.IntN(2)]
			for range r.IntN(2000) {
				fields := row(r)
				switch r.IntN(500) {
				case 0:
					fields = fields[:r.IntN(len(fields))]
				case 1:
					fields = append(fields, "more")
				case 2:
					fields[r.IntN(len(fields))] = `"broken`
				}
				data = append(append(data, strings.Join(fields, ",")...), end...)
			}
			all += SameInRuns(t, header, parsers[0], parsers[1], data, 2, SameBytes)
		}
	}
	if 2*many < all {
		t.Errorf("%d of %d rows were read in runs", many, all)
	}
}

// SameInRuns checks that two parsers of a file, of which the second one reads each row alone, get the same out of a chunk: rows, which
// same compares, and rejected rows with their reasons. It returns the number of rows.
func SameInRuns(t *testing.T, what string, inRuns, oneByOne *parse.FileParser, data []byte, firstLine uint64,
	same func(a, b *batch.Builder) bool) (rows int) {
	t.Helper()
	var seen [2][]string
	for k, p := range []*parse.FileParser{inRuns, oneByOne} {
		p.OnReject = func(of string, line uint64, row []byte, why error) {
			seen[k] = append(seen[k], fmt.Sprintf("%s %d %q %v", of, line, row, why))
		}
	}
	n, rejects, err := inRuns.Chunk(data, firstLine)
	n1, rejects1, err1 := oneByOne.Chunk(data, firstLine)
	if n != n1 || !reflect.DeepEqual(rejects, rejects1) || fmt.Sprint(err) != fmt.Sprint(err1) || !reflect.DeepEqual(seen[0], seen[1]) {
		t.Fatalf("%s: %d rows, rejects %+v, %v; one by one %d, %+v, %v", what, n, rejects, err, n1, rejects1, err1)
	}
	if err == nil && !same(inRuns.Builder(), oneByOne.Builder()) {
		t.Fatalf("%s: other values than one by one, of %.4000q", what, data)
	}
	return n
}

// SameBytes reports whether two builders have the same wire form.
func SameBytes(a, b *batch.Builder) bool { return bytes.Equal(a.Append(nil), b.Append(nil)) }

// SameValues returns a function that reports whether two builders have the same values. The dictionaries may differ.
func SameValues(t *testing.T, schema []batch.FieldSpec) func(a, b *batch.Builder) bool {
	return func(a, b *batch.Builder) bool {
		var of [2]*batch.Batch
		for k, x := range []*batch.Builder{a, b} {
			var err error
			if of[k], err = batch.Decode(x.Append(nil), schema); err != nil {
				t.Fatal(err)
			}
		}
		for i, f := range schema {
			for row := range of[0].Rows() {
				switch f.Kind {
				case batch.Int:
					if of[0].Ints(i).At(row) != of[1].Ints(i).At(row) {
						return false
					}
				case batch.Float:
					if math.Float64bits(of[0].Floats(i).At(row)) != math.Float64bits(of[1].Floats(i).At(row)) {
						return false
					}
				case batch.Text:
					if !bytes.Equal(of[0].Texts(i).At(row), of[1].Texts(i).At(row)) {
						return false
					}
				case batch.Dict:
					if !bytes.Equal(of[0].Dicts(i).At(row), of[1].Dicts(i).At(row)) {
						return false
					}
				}
			}
		}
		return of[0].Rows() == of[1].Rows()
	}
}
