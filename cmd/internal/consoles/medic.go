package consoles

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/console"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/member"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/topology"
)

// beModest makes this process the first that the kernel ends if memory is short. Settings that the system does not permit stay as they are.
func beModest() {
	debug.SetMemoryLimit(member.ConsoleMemory)
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte(strconv.Itoa(member.ConsoleVictim)), 0)
	var now syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_DATA, &now) == nil && now.Cur > member.ConsoleMost {
		now.Cur = member.ConsoleMost
		_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &now)
	}
}

// ofMedic prepares the console of a medic, which runs as its companion, or in a container of its own. There it injects no faults.
func (x *command) ofMedic(c *cli.Context) (*host, error) {
	beModest()
	t, err := reach.LoadTopology(c)
	if err != nil {
		return nil, err
	}
	n, err := t.Medic(topology.NodeID(x.of))
	if err != nil {
		return nil, err
	}
	at := t.ConsoleAddress(n)
	if at == "" {
		return nil, exit.Usagef("console: the medics of %s serve none", t.File)
	}
	log, err := member.Logger(x.Call, c)
	if err != nil {
		return nil, err
	}
	keys, err := member.ProcessKeys(c, t, n, log)
	if err != nil {
		return nil, err
	}
	trust, err := console.Own(t, keys)
	if err != nil {
		return nil, err
	}
	about := &console.Medic{Name: string(n.ID), Trust: trust, Bind: x.bind, Peers: map[string]int{}, Alive: x.alive()}
	for _, m := range t.MedicNodes() {
		if m.ID != n.ID {
			about.Peers[string(m.ID)] = t.ConsolePort(m)
		}
	}
	calm := func() {}
	if x.alone {
		about.Alive, calm = endIfHung(log)
	}
	forget := member.ReloadKeys(member.Hangups(), keys, log)
	h := &host{
		topology: t, keys: keys, own: n.ID, at: at, taken: "end what listens there, or write another port for console below [medics]",
		cfg: console.Config{Medic: about}, roots: t.RootsOf(n.Host), breaks: !x.alone,
		cluster: client.Config{Entries: innerEntryPoints(t, keys != nil), Keys: keys, Force: true, GiveUpAfter: reach.AskedFor,
			Timeout: reach.AskedFor},
		refused: func(error) []string { return nil },
		heard:   func(context.Context, *listeners) error { return nil },
		end:     func() { calm(); forget() },
	}
	switch {
	case keys != nil: // a medic's key opens no session, and may read no answers
		h.cfg.NoAsk = "This cluster has keys, and the key of a medic may open no session, so this console answers no statements. Use your " +
			"own key: posta console --key DIR --data DIR."
		return h, nil
	case len(h.roots) == 0:
		h.cfg.NoAsk = fmt.Sprintf("The topology names no directory with files on host %s, so this console answers no statements. Write roots "+
			"= [\"/srv/data\"] below [data], then posta down and posta up; or start posta console --data DIR.", n.Host)
	}
	h.from = &reach.Entrance{At: h.cluster.Entries}
	return h, nil
}

// alive returns a function that writes signs of life for the medic.
func (x *command) alive() func(time.Time) {
	var last time.Time
	return func(now time.Time) {
		if now.Sub(last) >= member.ConsoleBeat {
			last = now
			x.Printf(".\n")
		}
	}
}

// endIfHung returns a function for signs of life. Without one for ConsoleSilence it ends the process, which the engine then starts again.
func endIfHung(log *slog.Logger) (alive func(time.Time), calm func()) {
	late := time.AfterFunc(member.ConsoleSilence, func() {
		log.Error("the console hangs, and ends", "silent", member.ConsoleSilence)
		os.Exit(1)
	})
	return func(time.Time) { late.Reset(member.ConsoleSilence) }, func() { late.Stop() }
}

// innerEntryPoints is EntryPoints for a process beside the nodes, which may be in the same network of containers.
func innerEntryPoints(t *topology.Topology, named bool) (all []string) {
	for _, r := range []topology.Role{topology.Input, topology.Output} {
		for _, n := range t.Holding(r) {
			at := t.InternalClient(n)
			if named {
				at = client.NamedEndpoint(at, string(n.ID))
			}
			all = append(all, at)
		}
	}
	return all
}
