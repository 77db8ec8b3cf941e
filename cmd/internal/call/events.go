package call

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/urfave/cli/v2"
	"github.com/vmihailenco/msgpack/v5"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

const flagEvents = "events"

// EventsFlag asks for events on standard output.
func EventsFlag() cli.Flag {
	return &cli.BoolFlag{Name: flagEvents,
		Usage: "for a program that calls this one: progress, answer and error as msgpack on standard output (client/python/README.md)"}
}

// Events reports what happens to the program that called this one, as msgpack maps on standard output. JSON has no numbers for infinity and
// NaN, and could not tell them from NULL, so an answer in JSON would not be exact. Rows are encoded as in the client protocol.
type Events struct {
	unread func(error) // called if nobody reads the output; ends the command

	mu  sync.Mutex // guards w and err: progress comes from a goroutine of its own
	w   io.Writer
	err error // the first error
}

// WithEvents makes a command report its events if --events asks for it.
func (x *Call) WithEvents(do cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if !c.Bool(flagEvents) {
			return do(c)
		}
		for _, f := range []string{FlagJSON, "csv", "detach"} {
			if c.Bool(f) {
				return exit.Usagef("%s: --%s and --%s say what standard output has; give one of the two", CommandName(c), flagEvents, f)
			}
		}
		signal.Ignore(syscall.SIGPIPE) // if the caller is gone, the command ends in order: its session is cancelled, and its files are removed
		ctx, unread := context.WithCancelCause(c.Context)
		defer unread(nil)
		x.Events = &Events{w: x.Out, unread: unread}
		c.Context = ctx
		return do(c)
	}
}

// tell writes one map of keys and values, like tell("note", "text", line).
func (e *Events) tell(kind string, fields ...any) error {
	var b bytes.Buffer
	m := msgpack.NewEncoder(&b)
	m.UseCompactInts(true)
	err := m.EncodeMapLen(1 + len(fields)/2)
	for _, v := range append([]any{"type", kind}, fields...) {
		err = errors.Join(err, m.Encode(v))
	}
	if err != nil {
		return fmt.Errorf("encode the event %s: %w", kind, err)
	}
	return e.write(b.Bytes())
}

func (e *Events) write(b []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		if _, err := e.w.Write(b); err != nil {
			e.err = fmt.Errorf("%w: tell the program that called this one: %w", exit.ErrInterrupted, err)
			e.unread(exit.ErrInterrupted)
		}
	}
	return e.err
}

// stream is how far one stream of a session is.
type stream struct {
	Name  string `msgpack:"name"`
	Files int    `msgpack:"files"`
	Read  int64  `msgpack:"read"`
	Total int64  `msgpack:"total"`
	Acked int64  `msgpack:"acked"`
	Ended bool   `msgpack:"ended"`
}

// progress reports how far a session is.
func (e *Events) progress(p client.Progress) {
	streams := []stream{}
	for _, s := range p.Streams {
		streams = append(streams, stream{s.Name, s.Files, s.Read, s.Total, s.Acked, s.Ended})
	}
	_ = e.tell("progress", "session", p.Session.String(), "state", string(p.State), "rows", p.Rows, "retries", p.Retries,
		"held_back", p.HeldBack, "silent", list(p.Silent), "streams", streams) // if nobody reads, unread ends the command
}

// list returns an empty array for nil: a reader of events need not expect null.
func list(all []string) []string { return append([]string{}, all...) }

// note reports a line for people.
func (e *Events) note(line string) {
	if line != "" {
		_ = e.tell("note", "text", line) // as in progress
	}
}

// partRows is how many rows a part has at most.
const partRows = 2048

// Answer reports all rows, and "done" after them: without "done" the answer is not complete. types are the types of the columns, by query;
// nil if the analysis does not declare them.
func (e *Events) Answer(a *client.Answer, types map[string][]string) error {
	if err := e.tell("answer", "analysis", a.Analysis, "session", a.Session.String()); err != nil {
		return err
	}
	for i := range a.Queries {
		if err := e.query(&a.Queries[i], types[a.Queries[i].Name]); err != nil {
			return err
		}
	}
	if err := e.parts(protocol.Part{Rejected: a.Rejected}); err != nil {
		return err
	}
	for _, w := range a.Warnings {
		if err := e.tell("warning", "path", w.Path, "text", w.Text); err != nil {
			return err
		}
	}
	return e.tell("done")
}

func (e *Events) query(t *client.Table, types []string) error {
	if err := e.tell("query", "name", t.Name, "columns", list(t.Columns), "types", list(types)); err != nil {
		return err
	}
	part := protocol.Part{N: 1, Query: t.Name, Columns: t.Columns, Rows: protocol.NewRows(len(t.Columns))}
	for row := range t.All() {
		if err := part.Rows.Add(row...); err != nil {
			return err
		}
		if part.Rows.Len() == partRows {
			if err := e.parts(part); err != nil {
				return err
			}
			part.Offset += partRows
			part.Rows = protocol.NewRows(len(t.Columns))
		}
	}
	part.Last = true
	return errors.Join(t.Err(), e.parts(part))
}

func (e *Events) parts(p protocol.Part) error {
	return e.write((&protocol.Reply{Type: protocol.Parts, State: session.Done, Parts: []protocol.Part{p}}).Append(nil))
}

// failed reports why there is no answer, or only a part of it.
func (e *Events) failed(err error) {
	more := []any{"code", exit.Event(err), "message", strings.Join(exit.Lines(err), "\n")}
	if f := protocol.FieldsOf(err); f != nil {
		more = append(more, "fields", map[string]string(f))
	}
	_ = e.tell("error", more...) // the command ends anyway
}
