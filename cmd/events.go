package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/analyses"
	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/local"
	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

const flagEvents = "events"

func eventsFlag() cli.Flag {
	return &cli.BoolFlag{Name: flagEvents,
		Usage: "for a program that calls this one: progress, answer and error as msgpack on standard output (client/python/README.md)"}
}

// events reports what happens to the program that called this one, as msgpack maps on standard output. JSON has no numbers for infinity and
// NaN, and could not tell them from NULL, so an answer in JSON would not be exact. Rows are encoded as in the client protocol.
type events struct {
	unread func(error) // called if nobody reads the output; ends the command

	mu  sync.Mutex // guards w and err: progress comes from a goroutine of its own
	w   io.Writer
	err error // the first error
}

// withEvents makes a command report its events if --events asks for it.
func (x *command) withEvents(do cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if !c.Bool(flagEvents) {
			return do(c)
		}
		for _, f := range []string{flagJSON, "csv", "detach"} {
			if c.Bool(f) {
				return usagef("%s: --%s and --%s say what standard output has; give one of the two", commandName(c), flagEvents, f)
			}
		}
		signal.Ignore(syscall.SIGPIPE) // if the caller is gone, the command ends in order: its session is cancelled, and its files are removed
		ctx, unread := context.WithCancelCause(c.Context)
		defer unread(nil)
		x.events = &events{w: x.Out, unread: unread}
		c.Context = ctx
		return do(c)
	}
}

// field is an entry of a map.
type field struct {
	key   string
	value func(b []byte) []byte
}

func text(key, v string) field {
	return field{key, func(b []byte) []byte { return wire.AppendString(b, v) }}
}
func number(key string, v int64) field {
	return field{key, func(b []byte) []byte { return wire.AppendInt(b, v) }}
}
func truth(key string, v bool) field {
	return field{key, func(b []byte) []byte { return wire.AppendBool(b, v) }}
}
func texts(key string, all []string) field {
	return field{key, func(b []byte) []byte {
		b = wire.AppendArray(b, len(all))
		for _, v := range all {
			b = wire.AppendString(b, v)
		}
		return b
	}}
}

func appendFields(b []byte, fields ...field) []byte {
	b = wire.AppendMap(b, len(fields))
	for _, f := range fields {
		b = f.value(wire.AppendString(b, f.key))
	}
	return b
}

// tell writes one map.
func (e *events) tell(kind string, fields ...field) error {
	return e.write(appendFields(nil, append([]field{text("type", kind)}, fields...)...))
}

func (e *events) write(b []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		if _, err := e.w.Write(b); err != nil {
			e.err = fmt.Errorf("%w: tell the program that called this one: %w", errInterrupted, err)
			e.unread(errInterrupted)
		}
	}
	return e.err
}

// progress reports how far a session is.
func (e *events) progress(p client.Progress) {
	streams := field{"streams", func(b []byte) []byte {
		b = wire.AppendArray(b, len(p.Streams))
		for _, s := range p.Streams {
			b = appendFields(b, text("name", s.Name), number("files", int64(s.Files)), number("read", s.Read), number("total", s.Total),
				number("acked", s.Acked), truth("ended", s.Ended))
		}
		return b
	}}
	_ = e.tell("progress", text("session", p.Session.String()), text("state", string(p.State)), number("rows", int64(p.Rows)),
		number("retries", int64(p.Retries)),
		truth("held_back", p.HeldBack), texts("silent", p.Silent), streams) // if nobody reads, unread ends the command
}

// note reports a line for people.
func (e *events) note(line string) {
	if line != "" {
		_ = e.tell("note", text("text", line)) // as in progress
	}
}

// partRows is how many rows a part has at most.
const partRows = 2048

// answer reports all rows, and "done" after them: without "done" the answer is not complete. types are the types of the columns, by query;
// nil if the analysis does not declare them.
func (e *events) answer(a *client.Answer, types map[string][]string) error {
	if err := e.tell("answer", text("analysis", a.Analysis), text("session", a.Session.String())); err != nil {
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
		if err := e.tell("warning", text("path", w.Path), text("text", w.Text)); err != nil {
			return err
		}
	}
	return e.tell("done")
}

func (e *events) query(t *client.Table, types []string) error {
	if err := e.tell("query", text("name", t.Name), texts("columns", t.Columns), texts("types", types)); err != nil {
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

func (e *events) parts(p protocol.Part) error {
	return e.write((&protocol.Reply{Type: protocol.Parts, State: session.Done, Parts: []protocol.Part{p}}).Append(nil))
}

// failed reports why there is no answer, or only a part of it.
func (e *events) failed(err error) {
	_ = e.tell("error", text("code", codeOf(err)), text("message", strings.Join(errorLines(err), "\n"))) // the command ends anyway
}

// codeOf returns one word for a kind of error, for programs. It is a code of the client protocol if a node has sent one.
func codeOf(err error) string {
	for _, k := range []struct {
		code string
		is   []error
	}{
		{"interrupted", []error{errInterrupted, context.Canceled}},
		{"timeout", []error{errTimeout}},
		{"refused", []error{client.ErrRefused}},
		{"no_cluster", []error{client.ErrNoCluster, errNothingAnswers, local.ErrNotUp}},
		{"rejected", []error{errRejected}},
		{string(protocol.ErrUnknownAnalysis), []error{analyses.ErrUnknown}},
		{string(protocol.ErrBadParam), []error{analyses.ErrBadParam}},
		{"interrupted_upload", []error{client.ErrInterrupted}},
	} {
		for _, target := range k.is {
			if errors.Is(err, target) {
				return k.code
			}
		}
	}
	var said *protocol.Error
	var statement *sqlError
	switch {
	case errors.As(err, &statement):
		return "statement"
	case errors.As(err, &said) && !isStray(err):
		return string(said.Code)
	case isStray(err), errors.Is(err, client.ErrInput), errors.Is(err, client.ErrNoFiles), errors.Is(err, client.ErrDamaged):
		return "input"
	case exitCode(err) == exitUsage:
		return "usage"
	}
	return "other"
}
