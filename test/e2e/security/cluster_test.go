package security

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/security"
	"posta.dev/posta/test/e2e/truth"
	"posta.dev/posta/test/keytest"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

// patience is for what must happen.
const patience = 5 * time.Minute

var (
	alice = security.Identity{Role: security.Submit, Name: "alice"}
	bob   = security.Identity{Role: security.Submit, Name: "bob"}
	carol = security.Identity{Role: security.Watch, Name: "carol"}
)

// cluster is nodes in processes. Over TCP all of them have keys, and alice, bob and carol are its clients.
type cluster struct {
	t     *testing.T
	topo  *topology.Topology
	ring  *keytest.Ring
	keys  map[security.Identity]*security.Keys // of the clients
	procs map[topology.NodeID]*exec.Cmd
}

// overTCP is on an address of this test alone, so that its ports are free.
func overTCP() topology.Variant {
	return topology.Variant{Address: fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(250), rand.IntN(250), 2+rand.IntN(250)),
		Ports: 20_000 + rand.IntN(10_000)}
}

func start(t *testing.T, v topology.Variant) *cluster {
	t.Helper()
	dir := t.TempDir()
	v.Dir = filepath.Join(dir, "data")
	c := &cluster{t: t, ring: keytest.New(t, "posta"), keys: map[security.Identity]*security.Keys{}, procs: map[topology.NodeID]*exec.Cmd{}}
	clients := "[clients]\n"
	for _, id := range []security.Identity{alice, bob, carol} {
		c.keys[id] = c.ring.Client(t, id)
		clients += fmt.Sprintf("%s = {key = %q, role = %q}\n", id.Name, c.fingerprint(id), id.Role)
	}
	settings := map[string]string{"security.keys": c.ring.Root(), "medics.replicas": "0"}
	maps.Copy(settings, v.Settings)
	v.Settings = settings
	text, err := topology.Generate(v)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "topology.toml")
	c.topo = temp.Loaded(t, file, strings.Replace(text, "[clients]\n", clients, 1))
	if len(c.topo.Clients) != 3 {
		t.Fatalf("the topology has %d clients", len(c.topo.Clients))
	}
	for _, n := range c.topo.Nodes() {
		c.ring.Make(t, n.Identity(), time.Now())
		c.run(n.ID, dir)
	}
	t.Cleanup(c.stop)
	return c
}

func (c *cluster) fingerprint(id security.Identity) security.Fingerprint {
	c.t.Helper()
	pair, err := security.ReadPair(c.ring.Dir(id))
	if err != nil {
		c.t.Fatal(err)
	}
	return pair.Key.Fingerprint()
}

func (c *cluster) run(id topology.NodeID, dir string) {
	c.t.Helper()
	log, err := os.Create(filepath.Join(dir, string(id)+".log"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close() // the child has its own
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envNode+"="+string(id), envTopology+"="+c.topo.File)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.procs[id] = cmd
}

// stop ends all nodes. One that has ended by itself, or does not end well, fails the test.
func (c *cluster) stop() {
	for _, cmd := range c.procs {
		_ = cmd.Process.Signal(syscall.SIGTERM) // Wait reports one that has ended before
	}
	for id, cmd := range c.procs {
		if err := cmd.Wait(); err != nil {
			c.t.Errorf("%s: %v", id, err)
			if log, err := os.ReadFile(filepath.Join(filepath.Dir(c.topo.File), string(id)+".log")); err == nil {
				c.t.Logf("%s", log[max(0, len(log)-2000):])
			}
		}
	}
}

func (c *cluster) node(id topology.NodeID) topology.Node {
	c.t.Helper()
	n, err := c.topo.Node(id)
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// entries returns where clients begin, with the names of the nodes.
func (c *cluster) entries() (all []string) {
	for _, n := range c.topo.Nodes() {
		if n.Holds(topology.Input) || n.Holds(topology.Output) {
			all = append(all, client.NamedEndpoint(n.Sockets.Client.Dial, string(n.ID)))
		}
	}
	return all
}

// config is a session of a client. On unix sockets nobody has keys.
func (c *cluster) config(who security.Identity, d *dataset) client.Config {
	cfg := client.Config{Entries: c.entries(), Analysis: "bikes", Dir: d.dir, Chunk: 32 << 10}
	if !strings.HasPrefix(cfg.Entries[0], "ipc://") {
		cfg.Keys = c.keys[who]
	}
	return cfg
}

// analyse runs a session from its beginning to its end.
func (c *cluster) analyse(ctx context.Context, who security.Identity, d *dataset) {
	c.t.Helper()
	a, err := client.Run(ctx, c.config(who, d))
	if err != nil {
		c.t.Errorf("the client saw an error: %v", err)
		return
	}
	d.check(c.t, a)
}

// memory returns the largest a node's process has been, in bytes, and files is how many files and connections it has.
func (c *cluster) memory(id topology.NodeID) int64 {
	c.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.procs[id].Process.Pid))
	if err != nil {
		c.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	line, _, _ := strings.Cut(rest, "kB")
	n, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	if err != nil {
		c.t.Fatal(err)
	}
	return n << 10
}

func (c *cluster) files(id topology.NodeID) int {
	c.t.Helper()
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", c.procs[id].Process.Pid))
	if err != nil {
		c.t.Fatal(err)
	}
	return len(all)
}

// dataset is generated data of bikes with the oracle's answers.
type dataset struct {
	dir  string
	want []byte
}

func generated(t *testing.T, rows int) *dataset {
	t.Helper()
	d := &dataset{dir: t.TempDir()}
	if err := gen.Bikes(gen.OnDisk(d.dir), rows, uint64(rows)); err != nil {
		t.Fatal(err)
	}
	a, err := truth.JSON("bikes", d.dir)
	if err != nil {
		t.Fatal(err)
	}
	d.want = truth.Queries(t, a)
	return d
}

// sent uploads a session that is open, and compares its answer.
func (d *dataset) sent(ctx context.Context, t *testing.T, cl *client.Client) {
	t.Helper()
	if err := cl.Upload(ctx); err != nil {
		t.Fatal(err)
	}
	a, err := cl.Results(ctx)
	if err != nil {
		t.Fatal(err)
	}
	d.check(t, a)
	if err := cl.Finish(ctx); err != nil {
		t.Fatal(err)
	}
}

func (d *dataset) check(t *testing.T, a *client.Answer) {
	t.Helper()
	if got := truth.Queries(t, a); !bytes.Equal(got, d.want) {
		t.Errorf("answers differ from the oracle's:\n got %.300s\nwant %.300s", got, d.want)
	}
}

func until(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	t.Cleanup(cancel)
	return ctx
}
