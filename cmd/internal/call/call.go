package call

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"posta.dev/posta/analyses"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// Call is one call of posta: what the program knows, where the call reads and writes, and how it is told to end.
type Call struct {
	Analyses   analyses.Set
	Generators map[string]func(dir gen.Dir, rows int, seed uint64) error
	RunNode    func(ctx context.Context, t *topology.Topology, node topology.NodeID, keys *security.Keys, log *slog.Logger) error
	Version    string

	In       io.Reader
	Out, Err io.Writer

	Forced     context.Context // ends when the command has to end at once
	Interrupts *Interrupts
	Arguments  []string // after the command's name, as they were given
	Plain      Plain    // set if the command has no key
	Events     *Events  // nil without --events

	Progress *display.Progress // a prompt has one for all of its statements; else nil
}

// Printf writes a result.
func (x *Call) Printf(format string, args ...any) {
	if x.Events != nil {
		_ = x.Events.tell("text", "text", fmt.Sprintf(format, args...)) // if nobody reads, unread ends the command
		return
	}
	fmt.Fprintf(x.Out, format, args...)
}

// PrintJSON writes a result as a line of JSON.
func (x *Call) PrintJSON(v any) error { return json.NewEncoder(x.Out).Encode(v) }

// Notef writes a note for people.
func (x *Call) Notef(format string, args ...any) {
	if x.Events != nil {
		x.Events.note(fmt.Sprintf(format, args...))
		return
	}
	fmt.Fprintf(x.Err, format+"\n", args...)
}

// Plain notes what a command without a key has dialled. It is zero if the command has dialled nothing, or has a key.
type Plain struct {
	Entries []string
	Cluster string // its name; "" if no topology was read
	Looked  string // where the command looked for a key
}
