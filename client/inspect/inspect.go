// Package inspect looks at files before they are sent, with the parser that the cluster has: it counts, limits and lists the rows that
// cannot be used.
//
//	in := &inspect.Inspector{Analysis: a, Limited: true, Max: 10}
//	cfg.Inspect, cfg.Columns, cfg.Forms = in.Inspect, in.Columns, in.Forms
//	cfg.Skips, cfg.Tests, cfg.Lines = in.Skips, in.Tests, in.Lines
//	answer, err := client.Run(ctx, cfg)
//	err = in.Check(answer, warn)
package inspect

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"posta.dev/posta/analyses/parse"
	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/client"
	"posta.dev/posta/internal/units"
)

// Inspector checks files before they are sent, with the same parser as the cluster. It checks headers, and also rows if they are limited or
// listed.
// So rejected rows use no resources of the cluster and the network, however many they are, and a limit ends an upload at once. The cost:
// those rows are parsed twice.
type Inspector struct {
	Analysis *analyses.Analysis // nil if this program does not know it: then only the cluster checks
	Args     analyses.Args
	Limited  bool // whether a statement may have no more than Max rejected rows
	Max      uint64
	Out      *Rejects // lists rejected rows; nil if nobody wants the list

	Of     string   // the statement that the session answers, if there are several
	Passes []string // statements of which the session is a pass

	mu       sync.Mutex        // guards the fields below; files are read by several goroutines
	rejected map[string]uint64 // by statement: each may reject as many rows as the flags allow
}

// Columns is client.Config.Columns.
func (in *Inspector) Columns(stream string) []analyses.Column {
	if s := in.stream(stream); s != nil {
		return s.Columns
	}
	return nil
}

// Forms is client.Config.Forms.
func (in *Inspector) Forms(stream string) csv.Form {
	if s := in.stream(stream); s != nil {
		return s.Form
	}
	return csv.Form{}
}

// Skips is client.Config.Skips.
func (in *Inspector) Skips(stream string) func([]analyses.Range) bool {
	if s := in.stream(stream); s != nil {
		return s.Skips
	}
	return nil
}

// Tests is client.Config.Tests.
func (in *Inspector) Tests(stream string) []columnar.Test {
	if s := in.stream(stream); s != nil {
		return s.Tests
	}
	return nil
}

// Lines is client.Config.Lines.
func (in *Inspector) Lines(stream, file string) (lines []uint64, all bool) {
	if s := in.stream(stream); s != nil && s.Lines != nil {
		return s.Lines(file)
	}
	return nil, true
}

// stream returns a stream of the analysis; nil if the program does not know the analysis or the stream.
func (in *Inspector) stream(name string) *analyses.Stream {
	if in.Analysis == nil {
		return nil
	}
	i := in.Analysis.StreamIndex(name)
	if i < 0 {
		return nil
	}
	return &in.Analysis.Streams[i]
}

// Inspect is client.Config.Inspect.
func (in *Inspector) Inspect(stream, name string, header []byte) (func(chunk []byte, line uint64) error, error) {
	if in.Analysis == nil {
		return nil, nil
	}
	err := in.Analysis.CheckHeader(stream, header)
	if err != nil && in.Analysis.Asks != "" { // another file of the table may have the column
		err = fmt.Errorf("%w; to take NULL for a column that a file lacks, declare the table: CREATE TABLE t FROM 'pattern' (column TYPE, "+
			"…) WITH (missing 'null')", err)
	}
	if err != nil || !in.Limited && in.Out == nil {
		return nil, err
	}
	i := in.Analysis.StreamIndex(stream)
	if i < 0 {
		return nil, nil
	}
	file, ok := in.Analysis.Streams[i].Match(name)
	if !ok {
		return nil, nil // the cluster's pattern differs from this program's
	}
	p, err := parse.NewFile(in.Analysis, i, in.Args, file, header)
	if err != nil {
		return nil, err
	}
	return func(chunk []byte, line uint64) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("the parser of %s panics at %s from line %d: %v", in.Analysis.Name, name, line, v)
			}
		}()
		var bad error
		p.OnReject = func(of string, line uint64, row []byte, why error) {
			if bad == nil {
				bad = in.add(of, analyses.Reject{File: name, Line: line, Reason: analyses.Reason(why)}, row)
			}
		}
		_, _, err = p.Chunk(chunk, line)
		return errors.Join(bad, err)
	}, nil
}

// StatementOf returns the statement for which rows are counted under a name; "" if the session answers only one.
func (in *Inspector) StatementOf(counted string) string {
	if in.Analysis == nil {
		return ""
	}
	for i := range in.Analysis.Streams {
		for _, p := range in.Analysis.Streams[i].Parties {
			if p.Name == counted {
				return p.Query
			}
		}
	}
	return ""
}

// Counted returns the name that people see for the rejected rows of a stream; if there are several statements, it contains the statement.
func (in *Inspector) Counted(stream string) string {
	if in.Of == "" {
		return stream
	}
	return split.CountedFor(stream, in.Of)
}

// inPass reports whether the session is a pass of a statement, which StatementOf has returned.
func (in *Inspector) inPass(statement string) bool {
	return slices.Contains(in.Passes, statement) || statement == "" && len(in.Passes) > 0
}

// add takes a rejected row.
func (in *Inspector) add(stream string, r analyses.Reject, row []byte) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.rejected == nil {
		in.rejected = map[string]uint64{}
	}
	statement := in.StatementOf(stream)
	in.rejected[statement]++
	if in.Out != nil {
		if err := in.Out.add(in.Counted(stream), r, row, in.inPass(statement)); err != nil {
			return err
		}
	}
	if in.Limited && in.rejected[statement] > in.Max {
		return in.tooMany(in.Counted(stream), r)
	}
	return nil
}

func (in *Inspector) tooMany(stream string, r analyses.Reject) error {
	allowed := "none is"
	if in.Max > 0 {
		allowed = fmt.Sprintf("at most %d are", in.Max)
	}
	return fmt.Errorf("%w, %s allowed: stream %s, file %s, line %d: %s; correct the row, or allow more", ErrRejected, allowed, stream, r.File,
		r.Line, r.Reason)
}

// Check applies the limit to the rows that the cluster has rejected, and warns if the list has a different number of rows.
// The numbers differ if the session was uploaded before, or by another version of the program.
func (in *Inspector) Check(a *client.Answer, warn func(line string)) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	var all, listed uint64
	byStatement := map[string]uint64{}
	for _, r := range a.Rejected {
		statement := in.StatementOf(r.Stream)
		all += r.Rows
		byStatement[statement] += r.Rows
		if in.Limited && byStatement[statement] > in.Max {
			first := analyses.Reject{File: "not told", Reason: "not told"}
			if len(r.First) > 0 {
				first = analyses.Reject(r.First[0])
			}
			return in.tooMany(in.Counted(r.Stream), first)
		}
	}
	for _, n := range in.rejected {
		listed += n
	}
	if in.Out != nil && listed != all {
		warn(fmt.Sprintf("%s lists %s, the cluster has rejected %s: the data was uploaded before, or by another version of the program",
			in.Out.name, units.Rows(listed), units.Rows(all)))
	}
	return nil
}

// Close closes the list of rejected rows. A second call does nothing.
func (in *Inspector) Close() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.Out.Close()
}

// ErrRejected is wrapped by the error of a run that rejected more rows than it may.
var ErrRejected = errors.New("too many rejected rows")
