package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/topology"
)

// request is what run or submit was asked to do.
type request struct {
	cfg     client.Config
	out     output
	fetch   downloads
	stays   bool // the cluster outlives the command
	forks   bool // the input of a private cluster can fold the facts
	inputs  int  // how many inputs a private cluster has, unless flags say it; 0 is 1
	quiet   bool
	timeout time.Duration

	cluster *topology.Topology // nil if it is not known

	inspector *inspector
}

// readRequest checks what can be checked without a cluster.
func (x *command) readRequest(c *cli.Context) (*request, error) {
	name, err := call.OneArgument(c, "analysis", "bikes --data DIR")
	if err != nil {
		return nil, err
	}
	r := &request{
		fetch: readDownloads(c), quiet: c.Bool(call.FlagQuiet), timeout: c.Duration(call.FlagTimeout),
		cfg: client.Config{Analysis: name, Dir: c.String(call.FlagData), Lanes: c.Int(call.FlagLanes), Send: c.Bool(call.FlagSend), Stdin: x.In},
	}
	if r.out, err = x.readOutput(c); err != nil {
		return nil, err
	}
	if r.cfg.Params, err = params(c); err != nil {
		return nil, err
	}
	if r.cfg.Chunk, err = chunk(c); err != nil {
		return nil, err
	}
	if r.cfg.Comma, err = delimiter(c); err != nil {
		return nil, err
	}
	if r.cfg.Lanes < 0 || c.IsSet(call.FlagLanes) && r.cfg.Lanes == 0 {
		return nil, exit.Usagef("--lanes %d: give 1 to 1024", r.cfg.Lanes)
	}
	if r.timeout < 0 {
		return nil, exit.Usagef("--timeout %v: give a time like 10m", r.timeout)
	}
	if err := x.readData(c, r); err != nil {
		return nil, err
	}
	if err := x.checkDownload(c, name); err != nil {
		return nil, err
	}
	if err := r.out.prepare(c.Context, name, x.queriesOf(name)); err != nil { // before the work, not after it
		return nil, err
	}
	r.cfg.Keep = r.out.keep()
	if r.inspector, err = x.newInspector(c, name, r.cfg.Params); err != nil {
		return nil, err
	}
	r.cfg.Inspect, r.cfg.Columns, r.cfg.Skips = r.inspector.inspect, r.inspector.columns, r.inspector.skips
	return r, nil
}

// makeDir makes the directory that a flag names, if it was given.
func makeDir(dir, flag string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make a directory for the answers: %w; give another one with --%s", err, flag)
	}
	return nil
}

// namedFiles reads --file.
func namedFiles(c *cli.Context) (named []client.Named, err error) {
	for _, text := range c.StringSlice(call.FlagFile) {
		as, path, ok := strings.Cut(text, "=")
		if !ok || as == "" || path == "" {
			return nil, exit.Usagef("--file %s: write NAME=PATH, like --file trips=data/trips.jsonl", text)
		}
		named = append(named, client.Named{As: as, Path: path})
	}
	return named, nil
}

// readData reads --file and --data, which say where the files are.
func (x *command) readData(c *cli.Context, r *request) (err error) {
	if r.cfg.Named, err = namedFiles(c); err != nil {
		return err
	}
	dir, command := r.cfg.Dir, c.Command.Name
	if dir == "" {
		if len(r.cfg.Named) > 0 { // whether these are all files is known only with the streams
			return nil
		}
		return exit.Usagef("%s: where are the files? Give their directory with --data DIR", command)
	}
	if dir == "-" {
		return x.onlyStream(r, dir)
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("look for the data: %w; give the directory that holds the files with --data", err)
	case !info.IsDir():
		return x.onlyStream(r, dir)
	}
	return nil
}

// onlyStream takes --data for the file of the only stream that --file does not name.
func (x *command) onlyStream(r *request, file string) error {
	a, err := x.Analyses.Find(r.cfg.Analysis)
	if err != nil {
		return err
	}
	var rest []string
	for _, s := range a.Streams {
		if !slices.ContainsFunc(r.cfg.Named, func(n client.Named) bool {
			_, fits := s.Match(n.As)
			return n.As == s.Name || fits
		}) {
			rest = append(rest, s.Name)
		}
	}
	if len(rest) != 1 {
		return exit.Usagef("--data %s is one file, and %s needs those of %d streams (%s); give the directory that holds them, or name each with "+
			"--file STREAM=PATH",
			file, a.Name, len(rest), strings.Join(rest, ", "))
	}
	r.cfg.Dir = ""
	r.cfg.Named = append(r.cfg.Named, client.Named{As: rest[0], Path: file})
	return nil
}

// limit makes everything that c does end after --timeout. done releases what the request holds.
func (r *request) limit(c *cli.Context) (done func()) {
	ctx, cancel := r.withTimeout(c.Context)
	c.Context = ctx
	return func() {
		cancel()
		_ = r.inspector.close() // callers that need its error have closed it before
	}
}

// withTimeout ends the context after --timeout.
func (r *request) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return limited(ctx, r.timeout)
}

// limited ends a context after --timeout.
func limited(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%w: --timeout %v is over and the session cancelled; give it more time",
		exit.ErrTimeout, timeout))
}

// warnInput returns a function that shows people a warning about the input.
func (x *command) warnInput(say func(line string)) func(client.Warning) {
	return func(w client.Warning) { say("warning: " + display.Escape(w.String())) }
}

// noteInput returns a function that tells people in which form a file was read; nil if they want no progress.
func (r *request) noteInput(say func(line string)) func(client.Warning) {
	if r.quiet {
		return nil
	}
	return func(w client.Warning) { say("note: " + display.Escape(w.String())) }
}

// upload runs the request on a cluster and prints the answer.
func (x *command) upload(ctx context.Context, r *request, show *display.Progress) error {
	r.cfg.OnWarning, r.cfg.OnNote = x.warnInput(show.Say), r.noteInput(show.Say)
	if !r.quiet {
		r.cfg.OnProgress = show.Update
	}
	began := time.Now()
	var refused error
	r.cfg.Deliver = func(ctx context.Context, a *client.Answer) error {
		show.Done()
		if refused = r.inspector.close(); refused == nil {
			refused = r.inspector.check(a, show.Say)
		}
		if refused != nil {
			return nil // the error is reported below; a refused answer is not kept
		}
		r.out.html.ran(a)
		err := x.deliver(ctx, a, r.out)
		if err != nil && r.stays {
			err = fmt.Errorf("%w; the cluster keeps the answer: posta results %s, with another --out or --to", err, a.Session)
		}
		return err
	}
	answer, err := client.Run(ctx, r.cfg)
	show.Done()
	if errors.Is(err, exit.ErrTimeout) {
		err = explainLate(ctx, r.cluster, r.cfg.Keys, err)
	}
	if err = errors.Join(err, refused, r.inspector.close()); err != nil {
		return err
	}
	if !r.quiet && x.Events == nil {
		x.Notef("%s finished in %s", r.cfg.Analysis, display.Span(time.Since(began)))
	}
	if err := x.printAnswer(answer, r.out); err != nil {
		return err
	}
	return x.download(ctx, answer, r.fetch)
}
