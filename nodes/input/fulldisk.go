package input

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
)

// fullFor is how long the disk of a node counts as full after its last report.
const fullFor = 3 * time.Second

func (in *Input) hearDisk(h role.Heard) {
	if h.Full {
		in.full[h.From] = in.awake
	} else {
		delete(in.full, h.From)
	}
}

// fullDisk returns whose disk is full; empty if none is. A session needs every node, so none is begun then: its client would hear nothing
// until there is room, and would conclude that the cluster is down (W5).
func (in *Input) fullDisk() string {
	maps.DeleteFunc(in.full, func(_ link.NodeID, at time.Duration) bool { return in.awake-at > fullFor })
	if len(in.full) == 0 {
		return ""
	}
	names := slices.Sorted(maps.Keys(in.full))
	if len(names) == 1 {
		return fmt.Sprintf("the disk of node %s is full: make room there", names[0])
	}
	text := make([]string, len(names))
	for i, n := range names {
		text[i] = string(n)
	}
	return fmt.Sprintf("the disks of nodes %s are full: make room there", strings.Join(text, ", "))
}
