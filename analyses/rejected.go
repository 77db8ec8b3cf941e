package analyses

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"posta.dev/posta/rows/fold"
)

// FirstRejects is how many rejected rows of a stream are kept with file, line and reason (N7). The count includes all
// rejected rows.
const FirstRejects = 10

// maxReason bounds the text of a reason, in bytes, because a reason may quote anything from the file.
const maxReason = 300

// RejectedSpec is the table in which rejected rows travel along with the tables of every analysis: for the engine it is table
// number len(Analysis.Tables). It belongs to no single stream, and is complete when all streams have ended.
var RejectedSpec = fold.Spec{
	Name: "rejected",
	Keys: []fold.Key{{Name: "stream", Kind: fold.KeyText}},
	Aggs: []fold.Agg{
		{Name: "rows", Kind: fold.Sum},
		{Name: "first", Kind: fold.Least, N: FirstRejects},
	},
}

const (
	rejectedRows = iota
	rejectedFirst
)

// Reject is a rejected row.
type Reject struct {
	File   string
	Line   uint64 // line on which the row starts, counted from 1 (the header)
	Reason string
}

// Rejects holds the rejected rows of one stream, or of a part of it: their number, and the first of them with file, line and
// reason.
type Rejects struct {
	Rows  uint64
	First []Reject // at most FirstRejects

	// Parties has the rejects of each party of a stream that has parties. First is then empty, and Rows is the sum over them.
	Parties []Rejects
}

// Add counts a rejected row. Rows must be added in the order of the file.
func (r *Rejects) Add(file string, line uint64, err error) {
	r.Rows++
	if len(r.First) >= FirstRejects {
		return // if all rows of a file are bad, only the first ones cost a text
	}
	r.First = append(r.First, Reject{file, line, Reason(err)})
}

// failing is an error that [Fails] has made.
type failing struct{ error }

func (f failing) Unwrap() error { return f.error }

// Fails marks an error of a parser's function that is not about the row and so fails the session.
func Fails(err error) error { return failing{err} }

// IsFailing reports whether an error was marked by [Fails].
func IsFailing(err error) bool { return errors.As(err, &failing{}) }

// ErrSkip is returned by a parser's function for a row that the analysis does not need: it is neither taken nor rejected.
var ErrSkip = errors.New("the row is not needed")

// Reason returns the text of why a row was rejected.
func Reason(err error) string {
	reason := err.Error()
	if len(reason) > maxReason {
		reason = reason[:maxReason] + "…"
	}
	return reason
}

// Compare orders rejects by file, line and reason.
func (r Reject) Compare(o Reject) int {
	return cmp.Or(cmp.Compare(r.File, o.File), cmp.Compare(r.Line, o.Line), cmp.Compare(r.Reason, o.Reason))
}

// AddRejects adds rejected rows of the stream to a table of [RejectedSpec], under the names of Counts.
func (s *Stream) AddRejects(r *Rejects, t *fold.Table) {
	if len(r.Parties) == 0 {
		r.AddTo(t, s.Name)
	}
	for i := range r.Parties {
		r.Parties[i].AddTo(t, s.Parties[i].Name)
	}
}

// Counts returns the names under which rejected rows of the stream are counted: those of its parties, or its own.
func (s *Stream) Counts() []string {
	if len(s.Parties) == 0 {
		return []string{s.Name}
	}
	names := make([]string, len(s.Parties))
	for i := range s.Parties {
		names[i] = s.Parties[i].Name
	}
	return names
}

// AddTo adds the rejects of a stream, or of one of its parties, to a table of [RejectedSpec].
func (r *Rejects) AddTo(t *fold.Table, stream string) {
	if r.Rows == 0 {
		return
	}
	row := t.Row(t.Key().String(stream))
	t.AddSum(row, rejectedRows, int64(min(r.Rows, math.MaxInt64)))
	var p []byte
	for _, f := range r.First {
		p = fold.AppendText(p[:0], f.File)
		p = fold.AppendInt(p, int64(min(f.Line, math.MaxInt64)))
		p = fold.AppendText(p, f.Reason)
		t.PutLeast(row, rejectedFirst, p)
	}
}

// RejectsOf reads the rejects of a stream or party from a table of [RejectedSpec]. An error means that something other than AddTo
// has filled the table.
func RejectsOf(t *fold.Table, stream string) (Rejects, error) {
	for _, row := range t.Rows() {
		if string(t.KeyText(row, 0)) != stream {
			continue
		}
		r := Rejects{Rows: uint64(max(0, t.Sum(row, rejectedRows)))}
		for _, p := range t.Least(row, rejectedFirst) {
			f, err := readReject(p)
			if err != nil {
				return Rejects{}, fmt.Errorf("rejected rows of stream %s: %w", stream, err)
			}
			r.First = append(r.First, f)
		}
		slices.SortFunc(r.First, Reject.Compare)
		return r, nil
	}
	return Rejects{}, nil
}

func readReject(p []byte) (Reject, error) {
	file, p, err := fold.CutText(p)
	if err != nil {
		return Reject{}, err
	}
	line, p, err := fold.CutInt(p)
	if err != nil {
		return Reject{}, err
	}
	reason, _, err := fold.CutText(p)
	return Reject{string(file), uint64(max(0, line)), string(reason)}, err
}

// RejectedRows reads all rejects from a table of [RejectedSpec], by stream or party.
func RejectedRows(t *fold.Table) (map[string]Rejects, error) {
	all := make(map[string]Rejects, t.Len())
	for _, row := range t.Rows() {
		stream := string(t.KeyText(row, 0))
		r, err := RejectsOf(t, stream)
		if err != nil {
			return nil, err
		}
		all[stream] = r
	}
	return all, nil
}
