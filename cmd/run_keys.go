package cmd

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"posta.dev/posta/cmd/internal/local"
	"posta.dev/posta/internal/owned"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// runClient is the name of the client of a run's own cluster.
const runClient = "run"

// makeRunKeys makes keys for the processes of a run that listen on TCP, where other users of the machine could dial them (S1), and returns those of the
// command itself. They are in the run's directory and go with it; nil for a run on unix sockets, or one whose settings speak of security themselves.
func (x *command) makeRunKeys(d *local.RunDir) (*security.Keys, error) {
	k := keyring{dir: d.Topology.KeysDir, t: d.Topology}
	if !d.Topology.OverTCP() || d.Topology.Security.Insecure || k.dir != filepath.Join(d.Dir, "keys") {
		return nil, nil
	}
	own, err := x.makeKeysFor(k, d.Topology.File)
	if err == nil {
		d.Topology, err = topology.Load(d.Topology.File)
	}
	var keys *security.Keys
	if err == nil {
		keys, err = security.Load(own, d.Topology.Name, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("make keys for this run: %w", err)
	}
	return keys, nil
}

// makeKeysFor makes all keys, lets the client in by a line of the topology, and returns where its key is.
func (x *command) makeKeysFor(k keyring, file string) (own string, err error) {
	lock, err := k.open()
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Release() }()
	now := time.Now()
	ca, _, err := k.haveCA(now)
	if err == nil {
		_, err = x.issue(k, ca, now)
	}
	own = k.home(security.Identity{Role: security.Client, Name: runClient})
	var pair security.Pair
	if err == nil {
		pair, err = security.NewClient(k.t.Name, runClient, now)
	}
	if err == nil {
		err = security.WritePair(own, pair)
	}
	if err == nil {
		err = k.share()
	}
	if err != nil {
		return "", err
	}
	text, err := topology.ReadText(file)
	if err != nil {
		return "", err
	}
	line := fmt.Sprintf("[clients]\n%s = {key = %q, role = %q}\n", runClient, pair.Key.Fingerprint(), security.Operate)
	with := strings.Replace(string(text), "[clients]\n", line, 1)
	if with == string(text) {
		with += "\n" + line
	}
	return own, owned.Write(file, with, true)
}
