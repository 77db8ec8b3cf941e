package upload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/client/inspect"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/deliver"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/rejects"
	"posta.dev/posta/topology"
)

// Request is what run or submit was asked to do.
type Request struct {
	Cfg     client.Config
	Out     deliver.Output
	Fetch   deliver.Downloads
	Stays   bool // the cluster outlives the command
	Forks   bool // the input of a private cluster can fold the facts
	Inputs  int  // how many inputs a private cluster has, unless flags say it; 0 is 1
	Quiet   bool
	timeout time.Duration

	Cluster *topology.Topology // nil if it is not known

	Inspector *inspect.Inspector
}

// ReadRequest checks what can be checked without a cluster.
func ReadRequest(x *call.Call, c *cli.Context) (*Request, error) {
	name, err := call.OneArgument(c, "analysis", "bikes --data DIR")
	if err != nil {
		return nil, err
	}
	r := &Request{
		Fetch: deliver.ReadDownloads(c), Quiet: c.Bool(call.FlagQuiet), timeout: c.Duration(call.FlagTimeout),
		Cfg: client.Config{Analysis: name, Dir: c.String(call.FlagData), Lanes: c.Int(call.FlagLanes), Send: c.Bool(call.FlagSend), Stdin: x.In},
	}
	if r.Out, err = deliver.ReadOutput(x, c); err != nil {
		return nil, err
	}
	if r.Cfg.Params, err = Params(c); err != nil {
		return nil, err
	}
	if r.Cfg.Chunk, err = Chunk(c); err != nil {
		return nil, err
	}
	if r.Cfg.Comma, err = Delimiter(c); err != nil {
		return nil, err
	}
	if r.Cfg.Lanes < 0 || c.IsSet(call.FlagLanes) && r.Cfg.Lanes == 0 {
		return nil, exit.Usagef("--lanes %d: give 1 to 1024", r.Cfg.Lanes)
	}
	if r.timeout < 0 {
		return nil, exit.Usagef("--timeout %v: give a time like 10m", r.timeout)
	}
	if err := readData(x, c, r); err != nil {
		return nil, err
	}
	if err := deliver.CheckDownload(x, c, name); err != nil {
		return nil, err
	}
	if err := r.Out.Prepare(c.Context, name, deliver.QueriesOf(x, name)); err != nil { // before the work, not after it
		return nil, err
	}
	r.Cfg.Keep = r.Out.Keep()
	if r.Inspector, err = rejects.NewInspector(x, c, name, r.Cfg.Params); err != nil {
		return nil, err
	}
	r.Cfg.Inspect, r.Cfg.Columns = r.Inspector.Inspect, r.Inspector.Columns
	r.Cfg.Skips, r.Cfg.Tests, r.Cfg.Lines = r.Inspector.Skips, r.Inspector.Tests, r.Inspector.Lines
	return r, nil
}

// readData reads --file and --data, which say where the files are.
func readData(x *call.Call, c *cli.Context, r *Request) (err error) {
	if r.Cfg.Named, err = NamedFiles(c); err != nil {
		return err
	}
	dir, command := r.Cfg.Dir, c.Command.Name
	if dir == "" {
		if len(r.Cfg.Named) > 0 { // whether these are all files is known only with the streams
			return nil
		}
		return exit.Usagef("%s: where are the files? Give their directory with --data DIR", command)
	}
	if dir == "-" {
		return onlyStream(x, r, dir)
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("look for the data: %w; give the directory that holds the files with --data", err)
	case !info.IsDir():
		return onlyStream(x, r, dir)
	}
	return nil
}

// onlyStream takes --data for the file of the only stream that --file does not name.
func onlyStream(x *call.Call, r *Request, file string) error {
	a, err := x.Analyses.Find(r.Cfg.Analysis)
	if err != nil {
		return err
	}
	var rest []string
	for _, s := range a.Streams {
		if !slices.ContainsFunc(r.Cfg.Named, func(n client.Named) bool {
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
	r.Cfg.Dir = ""
	r.Cfg.Named = append(r.Cfg.Named, client.Named{As: rest[0], Path: file})
	return nil
}

// Limit makes everything that c does end after --timeout. done releases what the request holds.
func (r *Request) Limit(c *cli.Context) (done func()) {
	ctx, cancel := Limited(c.Context, r.timeout)
	c.Context = ctx
	return func() {
		cancel()
		_ = r.Inspector.Close() // callers that need its error have closed it before
	}
}

// Limited ends a context after --timeout.
func Limited(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%w: --timeout %v is over and the session cancelled; give it more time",
		exit.ErrTimeout, timeout))
}

// WarnInput returns a function that shows people a warning about the input.
func WarnInput(say func(line string)) func(client.Warning) {
	return func(w client.Warning) { say("warning: " + display.Escape(w.String())) }
}

// NoteInput returns a function that tells people in which form a file was read; nil if they want no progress.
func (r *Request) NoteInput(say func(line string)) func(client.Warning) {
	if r.Quiet {
		return nil
	}
	return func(w client.Warning) { say("note: " + display.Escape(w.String())) }
}

// Upload runs the request on a cluster and prints the answer.
func Upload(x *call.Call, ctx context.Context, r *Request, show *display.Progress) error {
	r.Cfg.OnWarning, r.Cfg.OnNote = WarnInput(show.Say), r.NoteInput(show.Say)
	if !r.Quiet {
		r.Cfg.OnProgress = show.Update
	}
	began := time.Now()
	var refused error
	r.Cfg.Deliver = func(ctx context.Context, a *client.Answer) error {
		show.Done()
		if refused = r.Inspector.Close(); refused == nil {
			refused = r.Inspector.Check(a, func(line string) { show.Say("warning: " + display.Escape(line)) })
		}
		if refused != nil {
			return nil // the error is reported below; a refused answer is not kept
		}
		r.Out.Html.Ran(a)
		err := deliver.Deliver(x, ctx, a, r.Out)
		if err != nil && r.Stays {
			err = fmt.Errorf("%w; the cluster keeps the answer: posta results %s, with another --out or --to", err, a.Session)
		}
		return err
	}
	answer, err := client.Run(ctx, r.Cfg)
	show.Done()
	if errors.Is(err, exit.ErrTimeout) {
		err = ExplainLate(ctx, r.Cluster, r.Cfg.Keys, err)
	}
	if err = errors.Join(err, refused, r.Inspector.Close()); err != nil {
		return err
	}
	if !r.Quiet && x.Events == nil {
		x.Notef("%s finished in %s", r.Cfg.Analysis, display.Span(time.Since(began)))
	}
	if err := deliver.PrintAnswer(x, answer, r.Out); err != nil {
		return err
	}
	return deliver.Download(x, ctx, answer, r.Fetch)
}
