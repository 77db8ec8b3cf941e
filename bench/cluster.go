package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"

	"posta.dev/posta/link/keyed"
	"posta.dev/posta/link/zmq"
	"posta.dev/posta/zmqx"
)

// cluster is the processes of a topology's nodes for one run. They have their own directory, which is deleted with them.
type cluster struct {
	c     *Config
	label string
	topo  *topology.Topology
	keys  *security.Keys // keys of this process; nil in a cluster without keys
	dir   string
	nodes []*nodeProcess
	host  func(*topology.Node) int // see contestant
	ready time.Duration            // from the first start to the last heartbeat

	broker runningBroker // nil if nodes talk to each other; it ends with the nodes
	before usage         // the broker's usage before the nodes started
	spent  usage         // the broker's usage at the end
}

type nodeProcess struct {
	id    topology.NodeID
	cmd   *exec.Cmd
	log   string
	usage usage // the node's usage at the end
}

// clusterPlan is a cluster to start.
type clusterPlan struct {
	label   string                   // names its profiles
	verb    string                   // the argument of Child for its nodes
	broker  *brokerKind              // nil if nodes talk to each other
	variant topology.Variant         // without directories, sockets and settings
	host    func(*topology.Node) int // see contestant
	// text is the topology, for clusters that a variant cannot describe.
	text func(c *Config, dir string, v topology.Variant) string
}

// startCluster starts a broker if there is one, and a process for each node, and waits until all of them run.
func startCluster(ctx context.Context, c *Config, l clusterPlan) (_ *cluster, err error) {
	dir, err := os.MkdirTemp(c.Dir, "r")
	if err != nil {
		return nil, err
	}
	x := &cluster{c: c, label: l.label, dir: dir, host: l.host}
	defer func() {
		if err != nil {
			err = errors.Join(err, x.kill())
		}
	}()
	v := c.variant(l.variant, dir)
	if l.broker != nil {
		if x.broker, err = l.broker.serve(ctx, c, dir, v); err != nil {
			return nil, err
		}
		x.before = usageOf(x.broker.PIDs()...)
	}
	var text string
	if l.text != nil {
		text = l.text(c, dir, v)
	} else if text, err = topology.Generate(v); err != nil {
		return nil, err
	}
	if err := os.Mkdir(socketDir(dir), 0o700); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "topology.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	if x.topo, err = topology.Load(file); err != nil {
		return nil, err
	}
	if c.Keys {
		if err := makeKeys(x.topo); err != nil {
			return nil, fmt.Errorf("make keys: %w", err)
		}
		if x.topo, err = topology.Load(file); err != nil {
			return nil, err
		}
		if x.keys, err = clientKeys(x.topo); err != nil {
			return nil, err
		}
	}
	sub, err := x.listen()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sub.Close()) }()
	begin := time.Now()
	for _, n := range x.topo.Nodes() {
		if err := x.start(l.verb, n.ID); err != nil {
			return nil, err
		}
	}
	if err := x.await(ctx, sub); err != nil {
		return nil, err
	}
	x.ready = time.Since(begin)
	return x, nil
}

// variant describes a cluster below dir, without medics, on unix sockets unless TCP is asked for.
func (c *Config) variant(v topology.Variant, dir string) topology.Variant {
	v.Dir, v.IPCDir = filepath.Join(dir, "data"), socketDir(dir)
	if c.TCP > 0 {
		v.IPCDir, v.Address, v.Ports = "", "127.0.0.1", c.TCP
	}
	settings := map[string]string{"medics.replicas": "0"}
	maps.Copy(settings, v.Settings)
	maps.Copy(settings, c.Set)
	v.Settings = settings
	return v
}

// socketDir is the directory of the unix sockets. It is short because a socket's path has at most about 100 bytes.
func socketDir(dir string) string { return filepath.Join(dir, "s") }

func (x *cluster) start(what string, id topology.NodeID) error {
	m := &nodeProcess{id: id, log: filepath.Join(x.dir, string(id)+".log")}
	log, err := os.Create(m.log)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the process has its own handle
	m.cmd = x.c.command(x.label+"-"+string(id), what, x.topo.File, string(id))
	m.cmd.Stdout, m.cmd.Stderr = log, log
	begin := startChild
	if n, err := x.topo.Node(id); err == nil && x.host != nil {
		begin = func(cmd *exec.Cmd) error { return startOn(x.host(&n), cmd) }
	}
	if err := begin(m.cmd); err != nil {
		return fmt.Errorf("start node %s: %w", id, err)
	}
	x.nodes = append(x.nodes, m)
	return nil
}

// command starts this program again, as a child. label names its profile.
func (c *Config) command(label string, args ...string) *exec.Cmd {
	profile := ""
	if c.Profile != "" {
		profile = filepath.Join(c.Profile, label+".prof") // only the profile of the last round remains
	}
	all := append(slices.Clone(c.Self), childVerb, profile)
	all = append(all, args...)
	cmd := exec.Command(all[0], all[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C reaches only this program, which then ends its children
	return cmd
}

// startChild starts a child. The child ends when its standard input is closed, and so with this process, in whatever way this
// process ends.
func startChild(cmd *exec.Cmd) error {
	if _, err := cmd.StdinPipe(); err != nil { // Wait closes it
		return err
	}
	return cmd.Start()
}

// listen subscribes to the heartbeats of all nodes.
func (x *cluster) listen() (*zmqx.Sub, error) {
	sub, err := zmqx.NewSub(zmqx.Options{BackoffMin: 5 * time.Millisecond, BackoffMax: 20 * time.Millisecond,
		TLS: keyed.TLS(x.keys, security.Control, nil)})
	if err != nil {
		return nil, err
	}
	err = sub.Subscribe(zmq.BeatTopic)
	for _, n := range x.topo.Nodes() {
		if err == nil {
			_, err = sub.ConnectTo(n.Sockets.Control.Dial, n.Identity().String())
		}
	}
	if err != nil {
		return nil, errors.Join(err, sub.Close())
	}
	return sub, nil
}

// await returns when every node has reported that it runs.
func (x *cluster) await(ctx context.Context, sub *zmqx.Sub) error {
	running := map[topology.NodeID]bool{}
	err := x.beats(ctx, sub, func(b heartbeat.Beat) bool {
		running[b.Node] = true
		return len(running) == len(x.nodes)
	})
	if err != nil {
		return fmt.Errorf("%d of %d nodes run: %w", len(running), len(x.nodes), err)
	}
	return nil
}

// beats calls enough for each heartbeat of a running node until enough returns true.
func (x *cluster) beats(ctx context.Context, sub *zmqx.Sub, enough func(heartbeat.Beat) bool) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	for {
		batch, err := sub.Recv(ctx)
		if err != nil {
			return fmt.Errorf("%w: %s", err, x.lastWords())
		}
		for _, r := range batch {
			if b, err := heartbeat.Decode(r.Msg[len(r.Msg)-1]); err == nil && b.State == heartbeat.Running && enough(b) {
				return nil
			}
		}
	}
}

// readyTime bounds the start of a cluster's nodes, each of which takes a tenth of a second of one core. In CI they have a twentieth of one
// together.
const readyTime = 5 * time.Minute

func (x *cluster) lastWords() string {
	var all []byte
	for _, m := range x.nodes {
		b, _ := os.ReadFile(m.log) // the file may be empty
		all = append(all, b[bytes.LastIndexByte(bytes.TrimRight(b, "\n"), '\n')+1:]...)
	}
	return string(all)
}

// pids returns the processes of all nodes and of the broker.
func (x *cluster) pids() (all []int) {
	if x.broker != nil {
		all = x.broker.PIDs()
	}
	for _, m := range x.nodes {
		all = append(all, m.cmd.Process.Pid)
	}
	return all
}

// costs returns what each node and the broker have cost. The costs are known after the processes have been stopped.
func (x *cluster) costs() []usage {
	all := []usage{x.spent}
	for _, m := range x.nodes {
		all = append(all, m.usage)
	}
	return all
}

// stop records what each process has cost, and ends it.
func (x *cluster) stop() error {
	if x.broker != nil {
		x.spent = usageOf(x.broker.PIDs()...).since(x.before)
	}
	for _, m := range x.nodes {
		m.usage = usageOf(m.cmd.Process.Pid)
		if err := m.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return errors.Join(fmt.Errorf("node %s: %w: %s", m.id, err, x.lastWords()), x.kill())
		}
	}
	var all []error
	for _, m := range x.nodes {
		if err := m.cmd.Wait(); err != nil {
			all = append(all, fmt.Errorf("node %s: %w: %s", m.id, err, x.lastWords()))
		}
	}
	return errors.Join(append(all, x.remove())...)
}

// kill ends the processes at once; it is called after an error.
func (x *cluster) kill() error {
	for _, m := range x.nodes {
		_ = m.cmd.Process.Kill() // it may already have ended
		_ = m.cmd.Wait()
	}
	return x.remove()
}

// remove ends the broker, and deletes all data.
func (x *cluster) remove() (err error) {
	if x.broker != nil {
		err = x.broker.Close()
	}
	return errors.Join(err, os.RemoveAll(x.dir))
}

// run starts a child that reports something, and waits for it.
func (c *Config) run(ctx context.Context, label string, args ...string) (o childReport, err error) {
	cmd := c.command(label, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := startChild
	if c.starts != nil {
		start = c.starts
	}
	if err := start(cmd); err != nil {
		return o, err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	err = cmd.Wait()
	if err != nil {
		return o, fmt.Errorf("%s: %w: %s", label, err, errs.Bytes())
	}
	return decodeReport(&out)
}
