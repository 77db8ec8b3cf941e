//go:build docker

package deploy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/topology"
)

// TestS1_DeployedNodesRunAsAUser looks at the processes from outside, also after a deploy over volumes of a time when nodes were root. And
// a key that is revoked is refused everywhere after the command that posta key revoke names, which replaces no container.
func TestS1_DeployedNodesRunAsAUser(t *testing.T) {
	s := newTestCluster(t)
	s.console = fmt.Sprintf("127.0.0.1:%d", s.ports+2*span)
	s.write()
	s.deploy(first)
	topo, err := topology.Load(s.file)
	if err != nil {
		t.Fatal(err)
	}
	s.runAsUsers(topo)
	s.posta(first, "undeploy", "--yes")
	image := docker("images", "--filter", "label=org.opencontainers.image.version="+prefix+"first", "--format", "{{.Repository}}:{{.Tag}}")[0]
	for _, n := range topo.Nodes() {
		_, err := clustertest.Command("docker", "run", "--rm", "--network", "none", "--user", "0:0", "--cap-drop", "ALL", "--cap-add", "CHOWN",
			"--cap-add", "DAC_READ_SEARCH",
			"-v", s.name+"-"+string(n.ID)+":/own", image, "probe", "own", topology.MedicUser, "/own")
		if err != nil {
			t.Fatal(err)
		}
	}
	line, _ := s.posta(first, "key", "new", "alice", "--role", "submit")
	text, err := os.ReadFile(s.file)
	if err == nil {
		err = os.WriteFile(s.file, append(text, "[clients]\n"+line...), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.deploy(first)
	s.runAsUsers(topo)
	alice := filepath.Join(topo.KeysDir, "client", "alice")
	trips := clustertest.Bikes(t, 2000)
	s.posta(first, "submit", "bikes", "--data", trips.Dir, "--key", alice)

	before := docker("ps", "-q", "--no-trunc", "--filter", "label=posta.cluster="+s.name)
	ends := s.certificateEnds(topo, nil)
	running, _ := s.posta(first, "submit", "bikes", "--data", trips.Dir, "--key", alice, "--detach")
	_, errs := s.posta(first, "key", "renew", "--within", "20000h")
	made := fmt.Sprintf("made %d certificates", len(topo.All()))
	if !strings.Contains(errs, made) || !strings.Contains(errs, "runs on this machine: run posta deploy") {
		t.Errorf("posta key renew does not say what reaches the containers: %s", errs)
	}
	s.posta(first, "deploy")
	if now := docker("ps", "-q", "--no-trunc", "--filter", "label=posta.cluster="+s.name); !slices.Equal(now, before) {
		t.Errorf("renewed certificates have replaced containers: %v, and before %v", now, before)
	}
	s.certificateEnds(topo, ends)
	s.posta(first, "results", strings.TrimSpace(running), "--key", alice)
	s.posta(first, "submit", "bikes", "--data", trips.Dir, "--key", alice)

	_, errs = s.posta(first, "key", "revoke", "alice")
	if !strings.Contains(errs, "runs on this machine: run posta deploy") {
		t.Errorf("posta key revoke does not say what reaches the containers: %s", errs)
	}
	s.posta(first, "deploy")
	if now := docker("ps", "-q", "--no-trunc", "--filter", "label=posta.cluster="+s.name); !slices.Equal(now, before) {
		t.Errorf("another list of revoked keys has replaced containers: %v, and before %v", now, before)
	}
	if _, errs, err := s.try(t.Context(), first, "submit", "bikes", "--data", trips.Dir, "--key", alice); err == nil ||
		!strings.Contains(errs, "revoked") {
		t.Errorf("a revoked key: %v, %s", err, errs)
	}
}

// certificateEnds waits until all nodes and medics say when their certificates end, later than they said before.
func (s *testCluster) certificateEnds(topo *topology.Topology, before map[string]time.Time) map[string]time.Time {
	s.t.Helper()
	for giveUp := time.Now().Add(10 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		out, _ := s.posta(first, "status", "--json")
		var heard struct {
			Nodes, Medics []struct {
				Node, Medic string
				Ends        time.Time `json:"certificate_ends"`
			}
		}
		if err := json.Unmarshal([]byte(out), &heard); err != nil {
			s.t.Fatal(err)
		}
		ends := map[string]time.Time{}
		for _, p := range append(heard.Nodes, heard.Medics...) {
			if p.Ends.After(before[p.Node+p.Medic]) {
				ends[p.Node+p.Medic] = p.Ends
			}
		}
		if len(ends) == len(topo.All()) {
			return ends
		}
		if time.Now().After(giveUp) {
			s.t.Fatalf("only %v say when their certificates end, later than %v", ends, before)
		}
	}
}

func (s *testCluster) runAsUsers(topo *topology.Topology) {
	s.t.Helper()
	users := map[string]string{}
	for _, n := range topo.Nodes() {
		users[string(n.ID)] = topology.NodeUser
	}
	for _, n := range topo.MedicNodes() {
		users[string(n.ID)], users[topology.ConsoleName(n)] = topology.MedicUser, topology.NodeUser
	}
	for name, user := range users {
		medic := user == topology.MedicUser
		id := docker("ps", "-q", "--filter", "label=posta.cluster="+s.name, "--filter", "label=posta.node="+name)
		if len(id) != 1 {
			s.t.Fatalf("%s has containers %v", name, id)
		}
		pid := docker("inspect", "-f", "{{.State.Pid}}", id[0])[0]
		status, err := os.ReadFile("/proc/" + pid + "/status")
		if err != nil {
			s.t.Fatal(err)
		}
		uid, _, _ := strings.Cut(user, ":")
		for _, line := range []string{"Uid:" + strings.Repeat("\t"+uid, 4), "CapBnd:\t0000000000000000"} {
			if !strings.Contains(string(status), "\n"+line+"\n") {
				s.t.Errorf("%s has no line %q in its status: %s", name, line, status)
			}
		}
		if _, err := os.Stat(fmt.Sprintf("/proc/%s/root/var/run/docker.sock", pid)); (err == nil) != medic {
			s.t.Errorf("%s and the engine's socket: %v", name, err)
		}
	}
}
