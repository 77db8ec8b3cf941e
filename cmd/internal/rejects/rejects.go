package rejects

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"

	"posta.dev/posta/client/inspect"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/analyses"
	"posta.dev/posta/client/source"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/out"
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

// NewInspector reads the flags of Flags, and opens the file of --rejects.
func NewInspector(x *call.Call, c *cli.Context, analysis string, params map[string]string) (*inspect.Inspector, error) {
	most, err := Limit(c)
	if err != nil {
		return nil, err
	}
	in := &inspect.Inspector{Limited: most != nil}
	if most != nil {
		in.Max = *most
	}
	name := c.String(FlagRejects)
	a, err := x.Analyses.Find(analysis)
	if err == nil {
		in.Args, err = a.Args(params)
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
	file, err := Create(name)
	if err == nil {
		in.Out, err = inspect.NewRejects(file)
	}
	return in, err
}

// Limit reads --strict and --max-rejected; nil if neither is given.
func Limit(c *cli.Context) (most *uint64, err error) {
	n := c.Uint64(FlagMaxRejected)
	switch {
	case c.Bool(FlagStrict) && n > 0:
		return nil, exit.Usagef("--strict accepts no rejected row, --max-rejected %d some; give one of the two", n)
	case c.Bool(FlagStrict) || c.IsSet(FlagMaxRejected):
		return &n, nil
	}
	return nil, nil
}

// Create makes the file of --rejects.
func Create(name string) (*os.File, error) {
	file, err := out.CreateFile(name)
	if err != nil {
		return nil, exit.Usagef("--rejects: %v; give a file that can be written", err)
	}
	return file, nil
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
