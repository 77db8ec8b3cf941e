package cmd

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/analyses"
	csvparse "posta.dev/posta/analyses/parse"
	"posta.dev/posta/client"
	"posta.dev/posta/client/source"
	"posta.dev/posta/cmd/internal/display"
)

const (
	flagStrict      = "strict"
	flagMaxRejected = "max-rejected"
	flagRejects     = "rejects"
)

// rejectFlags say what becomes of rows that cannot be used (N7).
func rejectFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: flagStrict, Usage: "fail at the first row that cannot be used"},
		&cli.Uint64Flag{Name: flagMaxRejected, DefaultText: "any number", Usage: "fail when more than `N` rows cannot be used"},
		&cli.StringFlag{Name: flagRejects, Usage: "write all rows that cannot be used to `FILE`, as CSV: stream, file, line, reason, row"},
	}
}

// errRejected is wrapped by the error of a run that rejected more rows than it may.
var errRejected = errors.New("too many rejected rows")

// inspector looks at files before they are sent, with the parser that the cluster has. It checks headers, and looks at rows if a flag
// asks for it. So rejected rows of any number need no room in the cluster and none on the network, and --strict ends an upload at once.
// Rows are parsed twice then.
type inspector struct {
	analysis *analyses.Analysis // nil if this program does not know it: then the cluster checks
	args     analyses.Args
	limited  bool
	max      uint64
	name     string // of the file of --rejects

	mu       sync.Mutex // guards the fields below; files are read by several goroutines
	file     *os.File   // of --rejects, nil without
	out      *csv.Writer
	rejected uint64
}

// newInspector reads the flags of rejectFlags, and opens the file of --rejects.
func (x *command) newInspector(c *cli.Context, analysis string, params map[string]string) (*inspector, error) {
	in := &inspector{limited: c.Bool(flagStrict) || c.IsSet(flagMaxRejected), max: c.Uint64(flagMaxRejected)}
	if c.Bool(flagStrict) && in.max > 0 {
		return nil, usagef("--strict accepts no rejected row, --max-rejected %d some; give one of the two", in.max)
	}
	name := c.String(flagRejects)
	a, err := x.Analyses.Find(analysis)
	if err == nil {
		in.args, err = a.Args(params)
	}
	switch {
	case err == nil:
		in.analysis = a
	case name != "": // else the cluster may know better
		return nil, err
	}
	if name == "" {
		return in, nil
	}
	if err := errors.Join(notData(a, c.String(flagData), name), notNamed(c.StringSlice(flagFile), name)); err != nil {
		return nil, err
	}
	if in.file, err = createFile(name); err != nil {
		return nil, usagef("--rejects: %v; give a file that can be written", err)
	}
	in.name, in.out = name, csv.NewWriter(in.file)
	return in, in.out.Write([]string{"stream", "file", "line", "reason", "row"})
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
		return nil // not below it
	}
	at, file := path.Split(filepath.ToSlash(rel))
	for _, s := range a.Streams {
		says, _ := source.Match(path.Base(s.Files), file)
		if _, is := s.Match(at + says.Plain); is {
			return usagef("--rejects %s is a file of stream %s, and would be lost; give another file", name, s.Name)
		}
	}
	return nil
}

// notNamed refuses a file for rejected rows that is named as data. That a pattern names it shows when it is read: it begins with a header of its own.
func notNamed(files []string, name string) error {
	rejects, err := os.Stat(name)
	if err != nil {
		return nil // it is not there yet
	}
	for _, text := range files {
		as, path, _ := strings.Cut(text, "=")
		if data, err := os.Stat(path); err == nil && os.SameFile(rejects, data) {
			return usagef("--rejects %s is the file of --file %s, and would be lost; give another file", name, as)
		}
	}
	return nil
}

// columns is client.Config.Columns.
func (in *inspector) columns(stream string) []analyses.Column {
	if in.analysis == nil {
		return nil
	}
	i := in.analysis.StreamIndex(stream)
	if i < 0 {
		return nil
	}
	return in.analysis.Streams[i].Columns
}

// inspect is client.Config.Inspect.
func (in *inspector) inspect(stream, name string, header []byte) (func(chunk []byte, line uint64) error, error) {
	if in.analysis == nil {
		return nil, nil
	}
	if err := in.analysis.CheckHeader(stream, header); err != nil || !in.limited && in.out == nil {
		return nil, err
	}
	i := in.analysis.StreamIndex(stream)
	if i < 0 {
		return nil, nil
	}
	file, ok := in.analysis.Streams[i].Match(name)
	if !ok {
		return nil, nil // the cluster's pattern is another one than this program's
	}
	p, err := csvparse.NewFile(in.analysis, i, in.args, file, header)
	if err != nil {
		return nil, err
	}
	return func(chunk []byte, line uint64) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("the parser of %s panics at %s from line %d: %v", in.analysis.Name, name, line, v)
			}
		}()
		var bad error
		p.OnReject = func(line uint64, row []byte, why error) {
			if bad == nil {
				bad = in.add(stream, analyses.Reject{File: name, Line: line, Reason: analyses.Reason(why)}, row)
			}
		}
		_, _, err = p.Chunk(chunk, line)
		return errors.Join(bad, err)
	}, nil
}

// add takes a rejected row.
func (in *inspector) add(stream string, r analyses.Reject, row []byte) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.rejected++
	if in.out != nil {
		if err := in.out.Write([]string{stream, r.File, strconv.FormatUint(r.Line, 10), r.Reason, string(row)}); err != nil {
			return in.cannotWrite(err)
		}
	}
	if in.limited && in.rejected > in.max {
		return in.tooMany(stream, r)
	}
	return nil
}

func (in *inspector) tooMany(stream string, r analyses.Reject) error {
	flag := "--strict"
	if in.max > 0 {
		flag = fmt.Sprintf("--%s %d", flagMaxRejected, in.max)
	}
	return fmt.Errorf("%w for %s: stream %s, file %s, line %d: %s; mend the row, or allow more", errRejected, flag, stream, r.File, r.Line, r.Reason)
}

func (in *inspector) cannotWrite(err error) error {
	return fmt.Errorf("write rejected rows: %w; give another file with --%s", err, flagRejects)
}

// check looks at what the cluster has rejected: a session may have been uploaded before, or by a program of another version.
func (in *inspector) check(a *client.Answer, warn func(line string)) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	var all uint64
	for _, r := range a.Rejected {
		all += r.Rows
		if in.limited && all > in.max {
			first := analyses.Reject{File: "not told", Reason: "not told"}
			if len(r.First) > 0 {
				first = analyses.Reject(r.First[0])
			}
			return in.tooMany(r.Stream, first)
		}
	}
	if in.out != nil && in.rejected != all {
		warn(fmt.Sprintf("warning: %s lists %s, the cluster has rejected %s: the data was uploaded before, or by another version of the program",
			display.Escape(in.name), rowsOf(in.rejected), rowsOf(all)))
	}
	return nil
}

// close closes the file of --rejects. A second call does nothing.
func (in *inspector) close() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.file == nil {
		return nil
	}
	in.out.Flush()
	err := errors.Join(in.out.Error(), in.file.Close())
	in.file = nil
	if err != nil {
		return in.cannotWrite(err)
	}
	return nil
}
