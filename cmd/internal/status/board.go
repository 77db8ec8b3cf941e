package status

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/term"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/board"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/topology"
)

// screen returns the terminal for a full screen. It returns nil if standard input or output is not a terminal, or if the terminal cannot
// move its cursor.
func (x *command) screen() (in, out *os.File) {
	in, reads := x.In.(*os.File)
	out, writes := x.Out.(*os.File)
	if !reads || !writes || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil, nil
	}
	return in, out
}

// showBoard shows the cluster on a full screen until a key ends it.
func (x *command) showBoard(ctx context.Context, in, out *os.File, t *topology.Topology, l *monitor.Listener[[]monitor.Status],
	w *monitor.Listener[monitor.Medics], from client.Config) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var meter board.Meter
	first := true
	look := func(ctx context.Context) (*board.Seen, error) {
		if !first {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		first = false
		s := &board.Seen{Topology: t, Nodes: l.View()}
		sessions, err := x.running(ctx, from, s.Nodes)
		if err != nil && ctx.Err() == nil {
			s.Trouble = append(s.Trouble, "sessions: "+exit.OneLine(err))
		}
		s.At, s.Nodes, s.Medics = time.Now(), l.View(), w.View()
		s.Sessions = meter.Measure(sessions, s.At)
		if refused := errors.Join(l.Refused(), w.Refused()); refused != nil {
			s.Trouble = append(s.Trouble, reach.ExplainRefused(t, from.Keys, refused))
		}
		return s, ctx.Err()
	}
	return board.Run(ctx, board.Config{In: in, Out: out, Colours: os.Getenv("NO_COLOR") == "", Look: look})
}
