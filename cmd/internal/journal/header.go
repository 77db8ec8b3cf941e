package journal

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
)

// Header describes the command whose answers a journal holds. A command with another header takes nothing from the journal.
type Header struct {
	Version string    // of the program: another one may plan a statement in another way
	Began   time.Time // the value of current_date, on whatever day the command is continued
	Text    [32]byte  // SHA-256 of the statements
	Params  map[string]string
	Dir     string         // absolute
	Named   []client.Named // with absolute paths
	Options []string       // the flags that change an answer

	Cluster string   // its name
	Nodes   []string // endpoints of its inputs and outputs

	Files map[string]map[string]protocol.Stamp // by table and path
}

// Differs returns what differs, and how; "" if nothing does. It ignores Began.
func (h *Header) Differs(now *Header) string {
	switch {
	case h.Text != now.Text:
		return "the statements are others"
	case !maps.Equal(h.Params, now.Params):
		return fmt.Sprintf("the parameters were %s and are %s", shown(h.Params), shown(now.Params))
	case h.Dir != now.Dir:
		return fmt.Sprintf("the data directory was %q and is %q", h.Dir, now.Dir)
	case !slices.Equal(h.Named, now.Named):
		return fmt.Sprintf("--file was %v and is %v", h.Named, now.Named)
	case !slices.Equal(h.Options, now.Options):
		return fmt.Sprintf("the options were %q and are %q", h.Options, now.Options)
	case h.Version != now.Version:
		return fmt.Sprintf("it is of posta %s, and this is posta %s", h.Version, now.Version)
	}
	return ""
}

// OtherCluster returns how the cluster differs; "" if it does not.
func (h *Header) OtherCluster(now *Header) string {
	switch {
	case h.Cluster != now.Cluster:
		return fmt.Sprintf("its sessions were on cluster %s, and this is cluster %s", h.Cluster, now.Cluster)
	case !slices.Equal(h.Nodes, now.Nodes):
		return fmt.Sprintf("its sessions were on a cluster %s with inputs and outputs at %v, and this one has them at %v", h.Cluster, h.Nodes,
			now.Nodes)
	}
	return ""
}

// OtherFiles returns the first file that has changed; "" if none has.
func (h *Header) OtherFiles(now *Header) string {
	for _, table := range slices.Sorted(maps.Keys(join(h.Files, now.Files))) {
		was, is := h.Files[table], now.Files[table]
		for _, path := range slices.Sorted(maps.Keys(join(was, is))) {
			before, known := was[path]
			after, there := is[path]
			switch {
			case !known:
				return fmt.Sprintf("table %s has a further file: %s", table, path)
			case !there:
				return fmt.Sprintf("table %s has no file %s any more", table, path)
			case before != after:
				return fmt.Sprintf("table %s: %s was changed or replaced", table, path)
			}
		}
	}
	return ""
}

func join[V any](a, b map[string]V) map[string]V {
	all := map[string]V{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	return all
}

// shown writes parameters in order.
func shown(params map[string]string) string {
	if len(params) == 0 {
		return "none"
	}
	text := ""
	for _, name := range slices.Sorted(maps.Keys(params)) {
		text += fmt.Sprintf(" %s=%q", name, params[name])
	}
	return text[1:]
}
