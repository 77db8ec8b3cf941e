package ask

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/console"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/query"
)

// consoleAsker answers the statements that people type into the pages of a console. It works like posta submit, over the console's files
// and on its cluster.
type consoleAsker struct {
	x     *call.Call
	c     *cli.Context
	from  reach.Entrance
	files query.Config // name the tables

	mu    sync.Mutex
	words promptWords // for completion; guarded by mu
}

// NewConsoleAsker answers over the files of --data and --file, or of these roots. It returns nil if there are none.
func NewConsoleAsker(x *call.Call, c *cli.Context, from reach.Entrance, roots []string) (*console.Asker, error) {
	if c.String(call.FlagData) == "" && len(c.StringSlice(call.FlagFile)) == 0 && len(roots) == 0 {
		return nil, nil
	}
	dir, named, err := sqlFiles(c)
	if err != nil {
		return nil, err
	}
	a := &consoleAsker{x: x, c: c, from: from, files: query.Config{Data: dir, Files: named}}
	if a.files.Roots = roots; len(roots) == 0 && dir != "" { // links that others have put there do not lead out of it
		if dir, err = filepath.Abs(dir); err != nil {
			return nil, fmt.Errorf("find the directory of the data: %w", err)
		}
		a.files.Roots = []string{dir}
	}
	return &console.Asker{Tables: a.tables, Answer: a.answer, Explain: a.explain, Complete: a.complete}, nil
}

func (a *consoleAsker) tables() []string { return tablesOf(a.files) }

// read reads statements.
func (a *consoleAsker) read(ctx context.Context, x *call.Call, text string) (*sqlRequest, error) {
	return readSQL(x, ctx, a.c, text, asking{roots: a.files.Roots, keep: console.KeptRows})
}

// as returns a copy of the command that passes its remarks to say, one line at a time.
func (a *consoleAsker) as(say func(string)) *call.Call {
	own := *a.x
	own.In, own.Out, own.Err, own.Events = strings.NewReader(""), io.Discard, &lineWriter{say: say}, nil
	return &own
}

func (a *consoleAsker) answer(ctx context.Context, text string, show *display.Progress) (answer *client.Answer, err error) {
	x := a.as(show.Said)
	r, err := a.read(ctx, x, text)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	r.Cfg.Entries, r.Cfg.Keys, r.Stays, r.show = a.from.At, a.from.Keys, true, show
	return r.script.Run(ctx)
}

func (a *consoleAsker) explain(ctx context.Context, text string) (plan string, err error) {
	x := a.as(func(string) {})
	var out bytes.Buffer
	x.Out = &out
	r, err := a.read(ctx, x, text)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	err = explainSQL(ctx, x, r)
	return out.String(), err
}

// complete completes the last word. It does not know what earlier statements declared: each statement is independent.
func (a *consoleAsker) complete(ctx context.Context, text string) (string, []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	above, line := "", text
	if at := strings.LastIndexByte(text, '\n'); at >= 0 {
		above, line = text[:at+1], text[at+1:]
	}
	a.words.Before = above + " " // with the space, a word that begins with a point is not a command of the prompt
	a.words.forget()             // files may have been added since
	longer, words := a.words.Complete(line, a.tables(), func(table string) []string { return a.columns(ctx, table) })
	return above + longer, words
}

func (a *consoleAsker) columns(ctx context.Context, table string) (columns []string) {
	x := a.as(func(string) {})
	r, err := a.read(ctx, x, `DESCRIBE "`+strings.ReplaceAll(table, `"`, `""`)+`"`)
	if err != nil {
		return nil
	}
	defer func() { _ = r.close() }() // nothing was written
	for _, st := range r.script.Statements() {
		for _, c := range st.Columns {
			columns = append(columns, c.Name)
		}
	}
	return columns
}

// lineWriter passes each line that is written to a function.
type lineWriter struct {
	mu   sync.Mutex
	rest []byte
	say  func(string)
}

// maxRemark limits a line that has no end, in bytes.
const maxRemark = 4 << 10

func (w *lineWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest = append(w.rest, b...)
	for {
		at := bytes.IndexByte(w.rest, '\n')
		if at < 0 {
			break
		}
		w.say(string(w.rest[:at]))
		w.rest = w.rest[at+1:]
	}
	if len(w.rest) > maxRemark {
		w.rest = w.rest[:maxRemark]
	}
	return len(b), nil
}
