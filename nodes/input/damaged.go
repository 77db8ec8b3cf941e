package input

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
)

// damagedFor is how long the log of a node counts as damaged after its last report.
const damagedFor = 3 * time.Second

// damage is a node's last report about its damaged log; at is the value of awake then.
type damage struct {
	what string
	at   time.Duration
}

// hearDamage fails all running sessions when a node's log is damaged. Until people have repaired the log, the node takes nothing and sends
// nothing. Then it begins with an empty log (R14). A session that needs the old log would wait for ever (W2).
func (in *Input) hearDamage(h role.Heard) {
	if h.Damaged == "" {
		delete(in.damaged, h.From)
		return
	}
	in.damaged[h.From] = damage{h.Damaged, in.awake}
	in.abortAll(fmt.Sprintf("node %s: %s; then start the session again", h.From, h.Damaged))
}

// damagedLog returns whose log is damaged, where, and what to do; empty if no log is. A session needs every node, so none is begun then.
func (in *Input) damagedLog() string {
	maps.DeleteFunc(in.damaged, func(_ link.NodeID, d damage) bool { return in.awake-d.at > damagedFor })
	for _, n := range slices.Sorted(maps.Keys(in.damaged)) {
		return fmt.Sprintf("node %s: %s", n, in.damaged[n].what)
	}
	return ""
}
