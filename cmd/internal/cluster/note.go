package cluster

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"

	"posta.dev/posta/cmd/internal/keyring"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/internal/owned"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// topologyNote is the file that remembers with which topology the processes began:
//
//	sha256 9f86d081884c7d659a2f…
//	started 60303ae22b998861bce3…
//	node joiner-1
//	node joiner-2
//
// It contains digests and not the text, because the text may contain a broker's password (S6).
const topologyNote = "up.topology"

// note is what a later posta up has to know of the last one.
type note struct {
	digest  string // of the text and the keys; "" if another version of the program wrote the note
	started string // digest of what a process does not read again on SIGHUP
	nodes   []topology.NodeID
}

func textDigest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// readAgainDigest is the digest of what running processes read again on SIGHUP: the text, and the public part of their keys.
func readAgainDigest(t *topology.Topology, text []byte) string {
	if !keyring.Keyed(t) || !t.OverTCP() {
		return textDigest(text)
	}
	k := keyring.Of(t)
	for _, id := range k.Processes() {
		if b, err := security.ReadBundle(k.Home(id), t.Name, id, ""); err == nil { // keys that cannot be read are reported elsewhere
			text = append(slices.Clip(text), id.String()+" "+b.Digest()+"\n"...)
		}
	}
	return textDigest(text)
}

// noteTopology remembers the topology. So a later posta up can find out that the file was changed, and which nodes have left. It does not
// write the same note again: a cluster that was taken down must be able to start on a full disk, too (W5).
func noteTopology(t *topology.Topology) error {
	text, err := topology.ReadText(t.File)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "sha256 %s\nstarted %s\n", readAgainDigest(t, text), textDigest([]byte(t.ReadAtStart())))
	for _, n := range t.Nodes() {
		fmt.Fprintf(&b, "node %s\n", n.ID)
	}
	if noted, err := owned.Read(reach.Below(t, topologyNote)); err == nil && string(noted) == b.String() {
		if err := os.Chmod(reach.Below(t, topologyNote), owned.FileMode); err != nil { // an older posta let others read it (S1)
			return fmt.Errorf("remember the topology: %w", err)
		}
		return nil
	}
	if err := owned.Write(reach.Below(t, topologyNote), b.String(), true); err != nil {
		return fmt.Errorf("remember the topology: %w", err)
	}
	return nil
}

// readNote reads what noteTopology wrote. The error wraps fs.ErrNotExist if posta up never wrote a note.
func readNote(t *topology.Topology) (n note, err error) {
	text, err := owned.Read(reach.Below(t, topologyNote))
	if err != nil {
		return n, fmt.Errorf("read the topology of the last time: %w", err)
	}
	for lines := bufio.NewScanner(strings.NewReader(string(text))); lines.Scan(); {
		switch key, value, _ := strings.Cut(lines.Text(), " "); key {
		case "sha256":
			n.digest = value
		case "started":
			n.started = value
		case "node":
			n.nodes = append(n.nodes, topology.NodeID(value))
		}
	}
	return n, nil
}
