//go:build docker && linux

package hosts

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/security"
	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/test/e2e/hosts/rack"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// TestS6_DeployWithKeys makes a cluster with keys over two machines. While sessions run, all keys are replaced, a client is revoked and
// loses the connection that it has, and the cluster is reshaped. No session fails, whoever has no key is refused, and no engine shows a
// private key.
func TestS6_DeployWithKeys(t *testing.T) {
	r := rack.New(t, 2, rack.Options{})
	c := &cluster{t: t, rack: r, name: "e2e", dir: t.TempDir(), keyed: true}
	t.Cleanup(c.showLogs)
	c.write(2, one)
	c.posta("key", "init", "-f", c.topo.File)
	for name, role := range map[string]string{"alice": "submit", "mallory": "submit"} {
		c.clients += c.posta("key", "new", name, "--role", role, "-f", c.topo.File) + "\n"
	}
	c.write(2, one)
	c.deploy()
	c.plansNothing()
	alice, mallory := c.clientKeys("alice"), c.clientKeys("mallory")
	l := clustertest.BeginWithKeys(t, c.topo, alice, clustertest.Bikes(t, 8000))
	l.More(1)
	c.refuses(nil, client.ErrNoCluster)

	began := c.containers()
	for range 3 {
		c.posta("key", "init", "--rotate-ca", "-f", c.topo.File)
		c.deploy()
		must(t, errors.Join(alice.Reload(), mallory.Reload()))
		l.More(1)
	}
	cut := c.connect(mallory)
	c.posta("key", "revoke", "mallory", "-f", c.topo.File)
	c.deploy()
	select {
	case <-cut:
	case <-time.After(time.Minute):
		t.Error("S6: a client that was revoked keeps its connection")
	}
	c.refuses(mallory, client.ErrRefused)
	l.More(1)
	if now := c.containers(); replaced(began, now) {
		t.Errorf("new keys have replaced or restarted containers: %v, and before %v", now, began)
	}
	c.noEngineShowsKeys()

	c.write(2, onBoth)
	c.posta("key", "init", "-f", c.topo.File) // for the new joiner
	c.deploy()
	l.More(1)
	if t.Failed() {
		t.FailNow() // while there are logs to be shown
	}
	t.Logf("%d analyses, all answers right", l.End())
	c.posta("undeploy", "-f", c.topo.File, "--volumes", "--yes")
	for _, h := range r.Hosts {
		for _, what := range [][]string{{"ps", "-aq"}, {"volume", "ls", "-q"}} {
			if out := docker(t, h, what...); out != "" {
				t.Errorf("host %s: undeploy leaves %v: %s", h.Name, what, out)
			}
		}
	}
}

func (c *cluster) clientKeys(name string) *security.Keys {
	c.t.Helper()
	keys, err := security.Load(filepath.Join(c.topo.KeysDir, "client", name), c.topo.Name, nil)
	must(c.t, err)
	return keys
}

// input is where a client asks.
func (c *cluster) input() topology.Node { return c.topo.Holding(topology.Input)[0] }

// refuses demands that whoever has these keys, or none, is told nothing.
func (c *cluster) refuses(keys *security.Keys, want error) {
	c.t.Helper()
	at := client.NamedEndpoint(c.input().Sockets.Client.Dial, string(c.input().ID))
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	give := time.Minute
	if want == client.ErrNoCluster { // nothing will be heard
		give = 3 * time.Second
	}
	cl, err := client.Dial(ctx, client.Config{Entries: []string{at}, Keys: keys, Timeout: time.Second, GiveUpAfter: give})
	if err == nil {
		must(c.t, cl.Close())
	}
	if !errors.Is(err, want) {
		c.t.Errorf("S2: %v is told %v, want %v", keys, err, want)
	}
}

// connect opens a connection of a client, and says when it is gone.
func (c *cluster) connect(keys *security.Keys) (cut <-chan struct{}) {
	c.t.Helper()
	gone := make(chan struct{}, 1)
	req, err := zmqx.NewReq(zmqx.Options{TLS: keys.Socket(security.ClientAPI, func(security.Identity) error { return nil }),
		OnEvent: func(e zmqx.Event) {
			if e.Kind == zmqx.Disconnected {
				select {
				case gone <- struct{}{}:
				default:
				}
			}
		}})
	must(c.t, err)
	c.t.Cleanup(func() { _ = req.Close() })
	must(c.t, req.ConnectTo(c.input().Sockets.Client.Dial, c.input().Identity().String()))
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	ask := protocol.Request{Type: protocol.Info}
	answer, err := req.Do(ctx, zmqx.Message{ask.Append(nil)})
	must(c.t, err)
	if reply, err := protocol.DecodeReply(answer[0]); err != nil || reply.Failure() != nil {
		c.t.Fatalf("before it is revoked: %+v, %v", reply, err)
	}
	return gone
}

// containers are those of all nodes and medics, by their identity and their start.
func (c *cluster) containers() map[string]string {
	c.t.Helper()
	all := map[string]string{}
	for _, h := range c.rack.Hosts {
		for _, id := range strings.Fields(docker(c.t, h, "ps", "-q", "--no-trunc", "-f", "label=posta.cluster")) {
			all[id] = docker(c.t, h, "inspect", "-f", "{{.State.StartedAt}}", id)
		}
	}
	return all
}

// replaced reports whether there are other containers than before, or more than two were started anew. New keys reach all containers, so a
// deployment that restarts for them restarts all. A medic may restart one or two that a busy machine kept silent (M5).
func replaced(before, now map[string]string) bool {
	restarted := 0
	for id, at := range now {
		was, known := before[id]
		if !known {
			return true
		}
		if was != at {
			restarted++
		}
	}
	return len(now) != len(before) || restarted > 2
}

// noEngineShowsKeys looks for private keys in all that whoever may use an engine can ask it for without running anything.
func (c *cluster) noEngineShowsKeys() {
	c.t.Helper()
	var secrets []string
	err := filepath.WalkDir(c.topo.KeysDir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.Name() != "key.pem" {
			return err
		}
		text, err := os.ReadFile(path)
		lines := strings.Split(string(text), "\n")
		secrets = append(secrets, lines[1][20:]) // what is before is the same in all keys
		return err
	})
	must(c.t, err)
	if len(secrets) < len(c.topo.All()) {
		c.t.Fatalf("%d keys are to be looked for", len(secrets))
	}
	for _, h := range c.rack.Hosts {
		var shown strings.Builder
		for _, list := range [][]string{{"ps", "-aq"}, {"images", "-aq"}, {"volume", "ls", "-q"}} {
			for _, id := range strings.Fields(docker(c.t, h, list...)) {
				shown.WriteString(docker(c.t, h, "inspect", id))
				if list[0] == "ps" {
					log, err := h.Both("logs", id)
					must(c.t, err)
					shown.WriteString(log)
				}
			}
		}
		shown.WriteString(docker(c.t, h, "events", "--since", "1h", "--until", "0s"))
		if !strings.Contains(shown.String(), "posta.keys-in") {
			c.t.Errorf("host %s has no note of keys", h.Name)
		}
		for _, s := range secrets {
			if strings.Contains(shown.String(), s) || strings.Contains(shown.String(), "PRIVATE KEY") {
				c.t.Fatalf("S6: host %s shows a private key", h.Name)
			}
		}
	}
}
