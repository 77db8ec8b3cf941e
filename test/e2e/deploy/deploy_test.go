//go:build docker

package deploy

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/security"
	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/topology"
)

// prefix begins the names of all clusters of these tests. Behind it is the process that made them.
const prefix = "posta-dt-"

// Two programs that differ only in their versions, and two images with them.
var first, second string

func TestMain(m *testing.M) {
	sweep()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", prefix)
	if err != nil {
		log.Print(err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for name, program := range map[string]*string{"first": &first, "second": &second} {
		*program = filepath.Join(dir, name)
		if err := clustertest.Build(filepath.Join("..", "..", ".."), *program, prefix+name); err != nil {
			log.Print(err)
			return 1
		}
	}
	return m.Run()
}

func docker(args ...string) []string {
	out, err := clustertest.Command(append([]string{"docker"}, args...)...)
	if err != nil {
		log.Print(err)
	}
	return strings.Fields(out)
}

// labels are those that something of a cluster may have.
var labels = []string{"posta.cluster", "posta.ledger", "posta.helper", "posta.quiet", "posta.keys"}

// leftovers returns everything that belongs to clusters for which of returns true.
func leftovers(of func(cluster string) bool) (containers, volumes, networks []string) {
	for _, label := range labels {
		for _, f := range docker("ps", "-a", "--filter", "label="+label, "--format", `{{.ID}}|{{.Label "`+label+`"}}`) {
			if id, cluster, _ := strings.Cut(f, "|"); of(cluster) {
				containers = append(containers, id)
			}
		}
	}
	for _, f := range docker("volume", "ls", "--filter", "label=posta.cluster", "--format", `{{.Name}}|{{.Label "posta.cluster"}}`) {
		if name, cluster, _ := strings.Cut(f, "|"); of(cluster) {
			volumes = append(volumes, name)
		}
	}
	for _, f := range docker("volume", "ls", "--filter", "label=posta.lock", "--format", `{{.Name}}|{{.Label "posta.lock"}}`) {
		if name, cluster, _ := strings.Cut(f, "|"); of(cluster) {
			volumes = append(volumes, name)
		}
	}
	for _, f := range docker("network", "ls", "--filter", "label=posta.cluster", "--format", `{{.ID}}|{{.Label "posta.cluster"}}`) {
		if id, cluster, _ := strings.Cut(f, "|"); of(cluster) {
			networks = append(networks, id)
		}
	}
	return containers, volumes, networks
}

func remove(of func(cluster string) bool) {
	containers, volumes, networks := leftovers(of)
	for _, x := range []struct {
		verb []string
		what []string
	}{{[]string{"rm", "-f"}, containers}, {[]string{"volume", "rm"}, volumes}, {[]string{"network", "rm"}, networks}} {
		if len(x.what) > 0 {
			docker(append(x.verb, x.what...)...)
		}
	}
}

// sweep removes what runs that were killed have left behind.
func sweep() {
	remove(func(cluster string) bool { return clustertest.Orphan(cluster, prefix) })
}

// testCluster is a topology file that changes, and the cluster that follows it.
type testCluster struct {
	t       *testing.T
	name    string
	file    string
	ports   int
	joiners int
	outputs string // host
	limit   int
	console string
}

func newTestCluster(t *testing.T) *testCluster {
	s := &testCluster{t: t, name: fmt.Sprintf("%s%d-%d", prefix, os.Getpid(), rand.IntN(1000)),
		file:  filepath.Join(t.TempDir(), "topology.toml"),
		ports: clustertest.FreePorts(t, 2*span+2), joiners: 1, outputs: "a", limit: 8}
	t.Cleanup(func() {
		remove(func(cluster string) bool { return cluster == s.name })
		for _, ref := range docker("images", "--filter", "reference=posta:sha-*", "--filter",
			"label=org.opencontainers.image.version="+prefix+"first", "--format", "{{.Repository}}:{{.Tag}}") {
			docker("rmi", ref)
		}
		for _, ref := range docker("images", "--filter", "reference=posta:sha-*", "--filter",
			"label=org.opencontainers.image.version="+prefix+"second", "--format", "{{.Repository}}:{{.Tag}}") {
			docker("rmi", ref)
		}
	})
	s.write()
	return s
}

// span is how many ports a host of the test has at most.
const span = 40

func (s *testCluster) write() {
	text := fmt.Sprintf(`[cluster]
name = %q
[hosts.a]
address = "127.0.0.1"
ports = %d
memory = "256MiB"
[hosts.b]
address = "127.0.0.1"
ports = %d
memory = "256MiB"
[[stage]]
name = "input"
chain = ["input", "parser"]
hosts = ["a"]
[[stage]]
name = "joiner"
replicas = %d
[[stage]]
name = "aggregator"
replicas = 2
[[stage]]
name = "reducer"
hosts = ["b"]
[[stage]]
name = "output"
hosts = [%q]
%s[medics]
replicas = 2
suspect_after = "2s"
console = %q
[limits]
sessions = %d
`, s.name, s.ports, s.ports+span, s.joiners, s.outputs, clustertest.Edges, s.console, s.limit)
	if err := clustertest.ReplaceFile(s.file, []byte(text)); err != nil { // sessions read it meanwhile
		s.t.Fatal(err)
	}
}

// posta runs a program, and fails the test if it fails.
func (s *testCluster) posta(program string, args ...string) (out, errs string) {
	s.t.Helper()
	out, errs, err := s.try(s.t.Context(), program, args...)
	if err != nil {
		s.t.Fatalf("posta %s: %v\n%s%s", strings.Join(args, " "), err, out, errs)
	}
	return out, errs
}

func (s *testCluster) try(ctx context.Context, program string, args ...string) (out, errs string, err error) {
	command := exec.CommandContext(ctx, program, append(args, "--topology", s.file)...)
	command.Cancel = func() error { return command.Process.Signal(os.Kill) }
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err = command.Run()
	return stdout.String(), stderr.String(), err
}

// hasNoSecrets looks for private keys in what the engine shows of the containers, and in their logs (S6).
func (s *testCluster) hasNoSecrets(topo *topology.Topology) {
	s.t.Helper()
	ids := docker("ps", "-aq", "--filter", "label=posta.cluster="+s.name)
	shown := strings.Join(docker(append([]string{"inspect"}, ids...)...), " ")
	for _, id := range ids {
		out, err := exec.Command("docker", "logs", id).CombinedOutput()
		if err != nil {
			s.t.Fatal(err)
		}
		shown += string(out)
	}
	keys, err := filepath.Glob(filepath.Join(topo.KeysDir, "*", "*", "key.pem"))
	if err != nil || len(keys) <= len(topo.All()) {
		s.t.Fatalf("%d keys are to be looked for, %v", len(keys), err)
	}
	for _, file := range keys {
		key, err := os.ReadFile(file)
		if err != nil {
			s.t.Fatal(err)
		}
		if secret := strings.Split(string(key), "\n")[1][20:]; strings.Contains(shown, secret) { // what is before is the same in all keys
			s.t.Errorf("S6: the engine shows %s", file)
		}
	}
}

func (s *testCluster) deploy(program string, args ...string) {
	s.t.Helper()
	_, errs := s.posta(program, append([]string{"deploy"}, args...)...)
	lines := strings.Split(strings.TrimSpace(errs), "\n")
	s.t.Log(lines[0])
	if !slices.Contains(args, "--rollback") {
		s.plansNothing(program, args...)
	}
}

// plansNothing demands that the same deploy said again does nothing. On a machine that has stood still, medics may be restarting a node,
// and until it runs a deploy would start it: that passes.
func (s *testCluster) plansNothing(program string, args ...string) {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		plan, _ := s.posta(program, append([]string{"deploy", "--plan"}, args...)...)
		if strings.Contains(plan, "nothing to do") {
			return
		}
		if !strings.Contains(plan, "what is missing") || time.Now().After(end) {
			s.t.Fatalf("said again it plans\n%s", plan)
		}
	}
}

// While clients run one session after the other, everything about the cluster changes: its limits, its image, its number of joiners up and
// down, the host of its output; changes are killed in the middle and run again, and taken back. No session fails, and every answer is the
// same to the bit.
func TestEverythingChangesUnderSessions(t *testing.T) {
	s := newTestCluster(t)
	s.deploy(first)
	topo, err := topology.Load(s.file)
	if err != nil {
		t.Fatal(err)
	}
	trips := clustertest.Bikes(t, 20_000)
	// The cluster has keys unasked, and clients without a key are refused (S1). Each deploy brings the same keys.
	input := topo.Holding(topology.Input)[0].Sockets.Client.Dial
	if reply, err := client.RequestOnce(t.Context(), nil, input, protocol.Request{Type: protocol.Info}, 3*time.Second); err == nil {
		t.Errorf("S1: a client without a key is told %+v", reply)
	}
	own, err := security.Load(filepath.Join(topo.KeysDir, "client", "local"), topo.Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.hasNoSecrets(topo)
	l := clustertest.BeginWithKeys(t, topo, own, trips, trips)
	l.More(2)
	for _, change := range []struct {
		title   string
		to      func()
		program string
		args    []string
	}{
		{"limits", func() { s.limit = 5 }, first, nil},
		{"image", func() {}, second, nil},
		{"1 → 3 joiners", func() { s.joiners = 3 }, second, nil},
		{"and back", func() {}, second, []string{"--rollback"}},
		{"3 joiners", func() { s.joiners = 3 }, second, nil},
		{"output moved", func() { s.outputs = "b" }, second, nil},
		{"1 joiner", func() { s.joiners = 1 }, first, nil},
	} {
		change.to()
		s.write()
		if change.args == nil { // killed once in the middle, wherever that is
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+rand.IntN(12))*time.Second)
			_, _, err := s.try(ctx, change.program, "deploy")
			cancel()
			t.Logf("%s: killed in the middle: %v", change.title, err)
		}
		s.deploy(change.program, change.args...)
		l.More(3)
		t.Logf("%s: done", change.title)
	}
	done := l.End()
	if t.Failed() {
		t.FailNow()
	}
	t.Logf("%d sessions, all right", done)

	if out, _ := s.posta(first, "deploy", "status"); !strings.Contains(out, "joiner-1") || !strings.Contains(out, "last good topology") {
		t.Errorf("status tells\n%s", out)
	}
	if out, _ := s.posta(first, "deploy", "logs", "joiner-1"); !strings.Contains(out, "running") {
		t.Errorf("joiner-1 says\n%s", out)
	}
	if _, errs, err := s.try(t.Context(), first, "undeploy"); err == nil || !strings.Contains(errs, "[y/N]") {
		t.Errorf("undeploy asks nothing: %v, %s", err, errs)
	}
	s.posta(first, "undeploy", "--yes")
	mine := func(cluster string) bool { return cluster == s.name }
	if containers, volumes, networks := leftovers(mine); len(volumes) == 0 || len(networks) != 0 || len(containers) == 0 {
		t.Errorf("after undeploy there are containers %v, volumes %v, networks %v; data and what was good stay", containers, volumes, networks)
	}
	s.posta(first, "undeploy", "--yes", "--volumes")
	if containers, volumes, networks := leftovers(mine); len(containers)+len(volumes)+len(networks) != 0 {
		t.Errorf("after undeploy --volumes there are containers %v, volumes %v, networks %v", containers, volumes, networks)
	}
}
