package cmd

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"posta.dev/posta/internal/owned"
	"posta.dev/posta/topology"
)

// topologyNote is the file that remembers with which topology the processes began:
//
//	sha256 9f86d081884c7d659a2f…
//	node joiner-1
//	node joiner-2
//
// It is a digest and not the text, because the text may have a broker's password in it (S6).
const topologyNote = "up.topology"

// note is what a later posta up has to know of the last one.
type note struct {
	digest string // of the text; "" when another version of the program wrote the note
	nodes  []topology.NodeID
}

func textDigest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// noteTopology remembers the topology, so that a later up can tell that the file was changed since, and which nodes have left.
func noteTopology(t *topology.Topology) error {
	text, err := topology.ReadText(t.File)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "sha256 %s\n", textDigest(text))
	for _, n := range t.Nodes() {
		fmt.Fprintf(&b, "node %s\n", n.ID)
	}
	if err := owned.Write(below(t, topologyNote), b.String(), true); err != nil {
		return fmt.Errorf("remember the topology: %w", err)
	}
	return nil
}

// readNote reads what noteTopology wrote. The error wraps fs.ErrNotExist before the first time.
func readNote(t *topology.Topology) (n note, err error) {
	text, err := owned.Read(below(t, topologyNote))
	if err != nil {
		return n, fmt.Errorf("read the topology of the last time: %w", err)
	}
	for lines := bufio.NewScanner(strings.NewReader(string(text))); lines.Scan(); {
		switch key, value, _ := strings.Cut(lines.Text(), " "); key {
		case "sha256":
			n.digest = value
		case "node":
			n.nodes = append(n.nodes, topology.NodeID(value))
		}
	}
	return n, nil
}
