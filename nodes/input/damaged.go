package input

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
)

// damagedFor is how long a node counts as damaged that says nothing more.
const damagedFor = 3 * time.Second

// damage is what a node has said of its log, and when, as awake.
type damage struct {
	what string
	at   time.Duration
}

// hearDamage fails the sessions that run when a node's log is damaged: it takes nothing and sends nothing until people have repaired it, and
// then begins an empty one (R14). Whoever waits for it would wait for good (W2).
func (in *Input) hearDamage(h role.Heard) {
	if h.Damaged == "" {
		delete(in.damaged, h.From)
		return
	}
	in.damaged[h.From] = damage{h.Damaged, in.awake}
	in.abortAll(fmt.Sprintf("node %s: %s; then start the session again", h.From, h.Damaged))
}

// damagedLog says whose log is damaged, where, and what to do; nothing if none is. A session needs every node, so none is begun then.
func (in *Input) damagedLog() string {
	maps.DeleteFunc(in.damaged, func(_ link.NodeID, d damage) bool { return in.awake-d.at > damagedFor })
	for _, n := range slices.Sorted(maps.Keys(in.damaged)) {
		return fmt.Sprintf("node %s: %s", n, in.damaged[n].what)
	}
	return ""
}
