package medics

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/medic"
	"posta.dev/posta/medic/process"
	"posta.dev/posta/protocol"
	"posta.dev/posta/security"
	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/test/keytest"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// keyedCluster is nodes and medics over TCP, each a process with keys of its own, as `posta key` makes them.
type keyedCluster struct {
	*cluster
	alice, olga *security.Keys // a client that may submit, and one that may do everything
}

func keyed(t *testing.T) *keyedCluster {
	t.Helper()
	topo := keytest.Loopback(t, topology.Variant{Settings: calmly(nil)})
	k := &keyedCluster{cluster: &cluster{t: t, topo: topo, dir: filepath.Dir(topo.File)}}
	k.posta("key", "init")
	lines := k.key("alice", security.Submit) + k.key("olga", security.Operate)
	text, err := os.ReadFile(topo.File)
	if err == nil {
		err = os.WriteFile(topo.File, bytes.Replace(text, []byte("\n[clients]\n"), []byte("\n[clients]\n"+lines), 1), 0o600)
	}
	if err == nil {
		k.topo, err = topology.Load(topo.File)
	}
	if err != nil {
		t.Fatal(err)
	}
	k.alice, k.olga = k.load("alice"), k.load("olga")
	k.start()
	k.Cluster = clustertest.NewWithKeys(t, k.topo, k.olga)
	return k
}

// key makes a client's key, and returns the line that lets it in.
func (k *keyedCluster) key(name string, role security.Role) string {
	k.t.Helper()
	line, err := exec.Command(os.Args[0], "key", "new", name, "--role", string(role), "-f", k.topo.File).Output()
	if err != nil || !strings.HasPrefix(string(line), name+" = ") {
		k.t.Fatalf("posta key new: %v: %s", err, line)
	}
	return string(line)
}

func (k *keyedCluster) load(name string) *security.Keys {
	k.t.Helper()
	keys, err := security.Load(filepath.Join(k.topo.KeysDir, "client", name), k.topo.Name, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	return keys
}

// start starts all nodes and medics where the medics look for them, and ends them with the test.
func (k *keyedCluster) start() {
	k.t.Helper()
	isMedic := map[topology.NodeID]bool{}
	var medics, nodes []topology.NodeID
	for _, n := range k.topo.MedicNodes() {
		isMedic[n.ID], medics = true, append(medics, n.ID)
	}
	for _, n := range k.topo.Nodes() {
		nodes = append(nodes, n.ID)
	}
	procs, err := process.New(process.Config{
		Dir: filepath.Join(k.topo.DataDir, "pids"), Logs: filepath.Join(k.topo.DataDir, "log"), DieWithParent: true,
		Command: func(id medic.NodeID) []string {
			if isMedic[id] {
				return []string{os.Args[0], "medic", string(id), "-f", k.topo.File}
			}
			return []string{os.Args[0], "node", string(id), "-f", k.topo.File}
		},
	})
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() {
		ctx := context.Background()
		medic.Stop(ctx, procs, medics, 5*time.Second) // medics end first, because they would restart nodes
		medic.Stop(ctx, procs, nodes, 5*time.Second)
		if err := procs.Close(); err != nil {
			k.t.Error(err)
		}
		if k.t.Failed() {
			k.showLogs()
		}
	})
	for _, id := range append(nodes, medics...) {
		if err := procs.Start(k.t.Context(), id); err != nil {
			k.t.Fatal(err)
		}
	}
}

// entries returns the entry points of clients, with the names of the nodes.
func (k *keyedCluster) entries() (all []string) {
	for _, n := range k.topo.Nodes() {
		if n.Sockets.Client.Exists() {
			all = append(all, client.NamedEndpoint(n.Sockets.Client.Dial, string(n.ID)))
		}
	}
	return all
}

// ask asks an input what it is.
func (k *keyedCluster) ask(keys *security.Keys) error {
	_, err := client.RequestOnce(k.t.Context(), keys, k.entries()[0], protocol.Request{Type: protocol.Info}, 30*time.Second)
	return err
}

// TestS3_AKeyedClusterOutlivesAKill: nodes, medics and a client prove their names in each connection. kill -9 in the
// middle of a session costs no answer: the medics notice it, and start the node again with its keys. After SIGHUP a
// revoked client is refused, and no other.
func TestS3_AKeyedClusterOutlivesAKill(t *testing.T) {
	k := keyed(t)
	job := clustertest.Bikes(t, 20_000)
	killed := false
	for tries := 0; !killed && tries < 10; tries++ { // until the session outlasts the moment of the kill
		answer := make(chan error, 1)
		go func() { answer <- k.run(job) }()
		ended := false
		var err error
		k.Until("the session is at work", func() bool {
			select {
			case err = <-answer:
				ended = true
			default:
			}
			return ended || k.Beat("joiner-1").Sessions > 0
		})
		if !ended {
			k.Strike(func(id topology.NodeID) { k.signal(id, syscall.SIGKILL) }, "joiner-1")
			killed, err = true, <-answer
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !killed {
		t.Fatal("no session lasted long enough to be killed in its middle")
	}

	if err := k.ask(k.alice); err != nil {
		t.Error(err)
	}
	k.posta("key", "revoke", "alice")
	lives := map[topology.NodeID]uint64{}
	for _, n := range k.topo.All() {
		lives[n.ID] = k.Incarnation(n.ID)
		k.signal(n.ID, syscall.SIGHUP)
	}
	k.Until("alice is refused", func() bool { return errors.Is(k.ask(k.alice), client.ErrRefused) })
	if err := k.ask(k.olga); err != nil {
		t.Errorf("olga: %v", err)
	}
	for id, life := range lives {
		if now := k.Incarnation(id); now != life {
			t.Errorf("%s was life %d, and is %d after SIGHUP", id, life, now)
		}
	}
}

// run runs a job as alice, and compares the answer.
func (k *keyedCluster) run(job clustertest.Job) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	a, err := client.Run(ctx, client.Config{Entries: k.entries(), Keys: k.alice, Analysis: job.Analysis, Dir: job.Dir, Chunk: 16 << 10,
		Timeout: 500 * time.Millisecond})
	if err != nil {
		return err
	}
	if !bytes.Equal(clustertest.Answer(k.t, a), job.Want) {
		return errors.New("D1: the answer differs from the oracle's")
	}
	return nil
}

// TestS3_AttacksOnMedics: a medic accepts no peer without a key, with a key of another cluster, or with a key for
// submitting only, even just after a medic died and came back. The leader stays, and sessions have right answers.
func TestS3_AttacksOnMedics(t *testing.T) {
	k := keyed(t)
	another := keytest.New(t, k.topo.Name)
	attack := func() {
		t.Helper()
		for _, m := range k.topo.MedicNodes() {
			for who, keys := range map[string]*security.Keys{
				"somebody with no key": nil, "alice, who may submit": k.alice, "the medic itself of another cluster": another.Of(t, m),
				"a node of another cluster": another.Of(t, k.topo.Nodes()[0]),
			} {
				s, events := keytest.Sub(t, keys, security.Control, m)
				if e := events.Await(t, zmqx.Connected, zmqx.Unreachable); e.Kind != zmqx.Unreachable {
					t.Errorf("%s is let in by %s", who, m.ID)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
	leader := k.Leader()
	attack()
	if now := k.Leader(); now != leader {
		t.Errorf("the leader was %s and is %s", leader, now)
	}
	k.Strike(func(id topology.NodeID) { k.signal(id, syscall.SIGKILL) }, leader)
	attack()
	if err := k.run(clustertest.Bikes(t, 2_000)); err != nil {
		t.Error(err)
	}
}
