package rejects

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/analyses"
	csvparse "posta.dev/posta/analyses/parse"
	"posta.dev/posta/analyses/sql/compile"
	"posta.dev/posta/client"
	"posta.dev/posta/client/source"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/deliver"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/out"
	rowscsv "posta.dev/posta/rows/csv"
)

const (
	FlagStrict      = "strict"
	FlagMaxRejected = "max-rejected"
	FlagRejects     = "rejects"
)

// Flags say what happens to rows that cannot be used (N7).
func Flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: FlagStrict, Usage: "fail at the first row that cannot be used"},
		&cli.Uint64Flag{Name: FlagMaxRejected, DefaultText: "any number", Usage: "fail when more than `N` rows cannot be used"},
		&cli.StringFlag{Name: FlagRejects, Usage: "write all rows that cannot be used to `FILE`, as CSV: stream, file, line, reason, row"},
	}
}

// Inspector checks files before they are sent, with the same parser as the cluster. It checks headers, and also rows if a flag asks for it.
// So rejected rows use no resources of the cluster and the network, however many they are, and --strict ends an upload at once. The cost:
// those rows are parsed twice.
type Inspector struct {
	Analysis *analyses.Analysis // nil if this program does not know it: then only the cluster checks
	args     analyses.Args
	Limited  bool
	Max      uint64
	Out      *Rejects // nil without --rejects

	Of     string   // the statement that the session answers, if there are several
	Passes []string // statements of which the session is a pass

	mu       sync.Mutex        // guards the fields below; files are read by several goroutines
	rejected map[string]uint64 // by statement: each may reject as many rows as the flags allow
}

// Rejects is the file of --rejects. It is used by one goroutine at a time.
type Rejects struct {
	name string
	file *os.File // nil once it is closed
	out  *csv.Writer

	// The passes of a statement read the same rows, and each pass may reject a row. The file lists the row once.
	passed map[rejectedRow]int // rows of passes, by the number of marks before they were listed
	marks  int                 // how many marks there were; each session begins with one
}

// rejectedRow is the place of a row.
type rejectedRow struct {
	stream, file string
	line         uint64
}

// mostRemembered bounds how many rows of former passes are remembered. If there are more, the file may list rows twice.
const mostRemembered = 1 << 20

// NewRejects makes the file of --rejects.
func NewRejects(name string) (*Rejects, error) {
	file, err := out.CreateFile(name)
	if err != nil {
		return nil, exit.Usagef("--rejects: %v; give a file that can be written", err)
	}
	r := &Rejects{name: name, file: file, out: csv.NewWriter(file), passed: map[rejectedRow]int{}}
	return r, r.out.Write([]string{"stream", "file", "line", "reason", "row"})
}

// add lists a row, unless a pass before this session has listed it. pass reports that the present session is a pass.
func (r *Rejects) add(stream string, reject analyses.Reject, row []byte, pass bool) error {
	at := rejectedRow{stream, reject.File, reject.Line}
	if marks, listed := r.passed[at]; listed && marks < r.marks {
		return nil
	}
	if pass && len(r.passed) < mostRemembered {
		r.passed[at] = r.marks
	}
	return r.cannotWrite(r.out.Write([]string{stream, reject.File, strconv.FormatUint(reject.Line, 10), reject.Reason, string(row)}))
}

// rejectsMark is a position of the file. Only a regular file has one: in any other file, what a session has written stays.
type rejectsMark struct {
	at    int64 // -1 if the file has no positions
	marks int
}

// Mark returns the present position of the file, to which back cuts the file.
func (r *Rejects) Mark() (rejectsMark, error) {
	if r == nil {
		return rejectsMark{}, nil
	}
	r.out.Flush()
	if err := r.out.Error(); err != nil {
		return rejectsMark{}, r.cannotWrite(err)
	}
	at, err := r.file.Seek(0, io.SeekCurrent)
	if err != nil {
		at = -1
	}
	r.marks++
	return rejectsMark{at, r.marks}, nil
}

// Back removes what was written since a mark.
func (r *Rejects) Back(to rejectsMark) error {
	if r == nil || to.at < 0 {
		return nil
	}
	maps.DeleteFunc(r.passed, func(_ rejectedRow, marks int) bool { return marks >= to.marks })
	r.out.Flush()
	err := errors.Join(r.out.Error(), r.file.Truncate(to.at))
	if err == nil {
		_, err = r.file.Seek(to.at, io.SeekStart)
	}
	return r.cannotWrite(err)
}

// Close closes the file. A second call does nothing.
func (r *Rejects) Close() error {
	if r == nil || r.file == nil {
		return nil
	}
	r.out.Flush()
	err := errors.Join(r.out.Error(), r.file.Close())
	r.file = nil
	return r.cannotWrite(err)
}

func (r *Rejects) cannotWrite(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write rejected rows: %w; give another file with --%s", err, FlagRejects)
}

// NewInspector reads the flags of Flags, and opens the file of --rejects.
func NewInspector(x *call.Call, c *cli.Context, analysis string, params map[string]string) (*Inspector, error) {
	in := &Inspector{Limited: c.Bool(FlagStrict) || c.IsSet(FlagMaxRejected), Max: c.Uint64(FlagMaxRejected)}
	if c.Bool(FlagStrict) && in.Max > 0 {
		return nil, exit.Usagef("--strict accepts no rejected row, --max-rejected %d some; give one of the two", in.Max)
	}
	name := c.String(FlagRejects)
	a, err := x.Analyses.Find(analysis)
	if err == nil {
		in.args, err = a.Args(params)
	}
	switch {
	case err == nil:
		in.Analysis = a
	case name != "": // otherwise the cluster may know it
		return nil, err
	}
	if name == "" {
		return in, nil
	}
	if err := errors.Join(notData(a, c.String(call.FlagData), name), notNamed(c.StringSlice(call.FlagFile), name)); err != nil {
		return nil, err
	}
	in.Out, err = NewRejects(name)
	return in, err
}

// notData refuses a file for rejected rows that would replace a file of the data, or be read as one.
func notData(a *analyses.Analysis, dir, name string) error {
	root, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	full, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(root, full)
	if err != nil {
		return nil // the file is not below the directory
	}
	at, file := path.Split(filepath.ToSlash(rel))
	for _, s := range a.Streams {
		says, _ := source.Match(path.Base(s.Files), file)
		if _, is := s.Match(at + says.Plain); is {
			return exit.Usagef("--rejects %s is a file of stream %s, and would be lost; give another file", name, s.Name)
		}
	}
	return nil
}

// notNamed refuses a file for rejected rows that --file also names as data. If a pattern names it, that is noticed when the file is read:
// it begins with a header of its own.
func notNamed(files []string, name string) error {
	rejects, err := os.Stat(name)
	if err != nil {
		return nil // the file does not exist yet
	}
	for _, text := range files {
		as, path, _ := strings.Cut(text, "=")
		if data, err := os.Stat(path); err == nil && os.SameFile(rejects, data) {
			return exit.Usagef("--rejects %s is the file of --file %s, and would be lost; give another file", name, as)
		}
	}
	return nil
}

// Columns is client.Config.Columns.
func (in *Inspector) Columns(stream string) []analyses.Column {
	if s := in.stream(stream); s != nil {
		return s.Columns
	}
	return nil
}

// Forms is client.Config.Forms.
func (in *Inspector) Forms(stream string) rowscsv.Form {
	if s := in.stream(stream); s != nil {
		return s.Form
	}
	return rowscsv.Form{}
}

// Skips is client.Config.Skips.
func (in *Inspector) Skips(stream string) func([]analyses.Range) bool {
	if s := in.stream(stream); s != nil {
		return s.Skips
	}
	return nil
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
	p, err := csvparse.NewFile(in.Analysis, i, in.args, file, header)
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
	return compile.CountedFor(stream, in.Of)
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
	flag := "--strict"
	if in.Max > 0 {
		flag = fmt.Sprintf("--%s %d", FlagMaxRejected, in.Max)
	}
	return fmt.Errorf("%w for %s: stream %s, file %s, line %d: %s; correct the row, or allow more", exit.ErrRejected, flag, stream, r.File,
		r.Line, r.Reason)
}

// Check applies the limit to the rows that the cluster has rejected, and warns if the file of --rejects lists a different number of rows.
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
		warn(fmt.Sprintf("warning: %s lists %s, the cluster has rejected %s: the data was uploaded before, or by another version of the program",
			display.Escape(in.Out.name), deliver.RowsOf(listed), deliver.RowsOf(all)))
	}
	return nil
}

// Close closes the file of --rejects. A second call does nothing.
func (in *Inspector) Close() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.Out.Close()
}
