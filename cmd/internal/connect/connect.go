package connect

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/forward"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// command is posta connect.
type command struct {
	*call.Call
	listen string
	tied   bool
}

// Command returns posta connect.
func Command(base *call.Call) *cli.Command {
	x := &command{Call: base}
	return &cli.Command{
		Name: "connect", Usage: "let programs of this user that speak plain ZeroMQ reach a cluster with keys",
		Description: `Listens on unix sockets in a directory that only this user can enter, and forwards over mutual TLS with your key, until Ctrl-C. There is one
socket for each input and output, NAME.client, and one for the heartbeats of each node and medic, NAME.control. Prints the entry points for clients
when it is ready.

   posta connect --listen ipc:/run/user/1000/posta &
   python3 examples/python/bikes.py \
         --entry ipc:///run/user/1000/posta/input-1.client DIR

` + exit.Help,
		Flags: []cli.Flag{call.TopologyFlag(), call.KeyFlag(),
			&cli.StringFlag{Name: "listen", Destination: &x.listen, Usage: "make the sockets in `ipc:DIR`"},
			&cli.BoolFlag{Name: "tied", Destination: &x.tied,
				Usage: "end when standard input is closed: when the program that started this one ends, in whatever way"}},
		Action: reach.WithTopology(x.run),
	}
}

func (x *command) run(c *cli.Context, t *topology.Topology) error {
	given, _ := strings.CutPrefix(strings.Replace(x.listen, "ipc://", "ipc:", 1), "ipc:")
	if given == "" || strings.Contains(given, "://") {
		return exit.Usagef("connect: where shall it listen? Give a directory with --listen ipc:DIR")
	}
	dir, err := filepath.Abs(given)
	if err != nil {
		return fmt.Errorf("find the directory %s: %w", given, err)
	}
	keys, err := reach.ClientKeys(x.Call, c, t)
	if err != nil {
		return err
	}
	if keys == nil {
		return exit.Usagef("connect: cluster %s of %s has no keys; programs reach its nodes directly", t.Name, t.File)
	}
	targets, entries := forwarded(t, keys, dir)
	f, err := forward.Listen(dir, targets, func(err error) { x.Notef("posta connect: %v", err) })
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	for _, e := range entries {
		x.Printf("%s\n", e)
	}
	ctx, over := context.WithCancel(c.Context)
	defer over()
	if x.tied {
		go func() {
			_, _ = io.Copy(io.Discard, x.In) // an error ends the wait as well
			over()
		}()
	}
	return f.Run(ctx)
}

// forwarded returns the sockets of a cluster that clients use, as targets to forward. It leaves out unix sockets of this machine, which
// need no forwarding. entries are the local endpoints of the sockets that take requests.
func forwarded(t *topology.Topology, keys *security.Keys, dir string) (targets []forward.Target, entries []string) {
	api, beats := keys.Socket(security.ClientAPI, nil), keys.Socket(security.Control, nil)
	for _, n := range t.All() {
		for _, s := range n.Sockets.List() {
			address, overTCP := strings.CutPrefix(s.Dial, "tcp://")
			target := forward.Target{Name: fmt.Sprintf("%s.%s", n.ID, s.Kind), Address: address, Peer: n.Identity().String(), TLS: beats}
			switch {
			case !overTCP:
				continue
			case s.Kind == topology.KindClient:
				target.TLS = api
				entries = append(entries, "ipc://"+filepath.Join(dir, target.Name))
			case s.Kind != topology.KindControl:
				continue
			}
			targets = append(targets, target)
		}
	}
	return targets, entries
}
