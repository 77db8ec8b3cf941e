//go:build docker

package docker

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/topology"
)

// TestS1_NodesInContainersRunAsAUser looks at the processes from outside: no node is root, no container has a capability, none lacks a
// limit of processes, and only medics have the engine's socket. Volumes of a time when nodes were root go on.
func TestS1_NodesInContainersRunAsAUser(t *testing.T) {
	c := up(t)
	data := clustertest.Make(t, "bikes", 2000).Dir
	c.submit(data)
	c.eachRunsAsItShould()

	c.stopAll()
	for _, n := range c.topo.Nodes() { // as they were
		c.own(n.ID, topology.MedicUser)
	}
	first := c.topo.Nodes()[0].ID
	out, err := clustertest.Command("docker", "run", "--rm", "--read-only", "--cap-drop", "ALL", "-v",
		c.volume(first)+":/posta/cluster/"+string(first),
		"-v", c.topo.File+":/posta/topology.toml:ro", image, "node", string(first), "--address", "{node}")
	if err == nil || !strings.Contains(err.Error(), "belongs to user 0 and this is user 65532") {
		t.Errorf("a node whose data belongs to root: %s, %v", out, err)
	}
	c.compose("up", "-d")
	c.submit(data)
	c.eachRunsAsItShould()
}

// TestS1_AConsoleHasNoEngine: whoever breaks into a console of a cluster in containers has neither the engine nor a file of the medics. It
// serves pages, its link is made where its secret is, and the engine starts it again.
func TestS1_AConsoleHasNoEngine(t *testing.T) {
	at := clustertest.FreePorts(t, 3)
	c := up(t, map[string]string{"medics.console": fmt.Sprintf("127.0.0.1:%d", at)})
	for i, m := range c.topo.MedicNodes() {
		name := topology.ConsoleName(m)
		id := c.ids("posta.node=" + name)[0]
		pid := func() int {
			text, err := clustertest.Command("docker", "inspect", "-f", "{{.State.Pid}}", id)
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
		linked := func() (link string) {
			for link == "" { // until the console listens; the test's time limit ends this
				link, _ = clustertest.Command("docker", "exec", id, "/bin/posta", "console", "--login")
			}
			return strings.TrimSpace(link)
		}
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		browser := http.Client{Jar: jar}
		shows := func(link, text string) {
			t.Helper()
			for page := ""; !strings.Contains(page, text); {
				answer, err := browser.Get(link)
				if err != nil {
					t.Fatal(err)
				}
				all, err := io.ReadAll(answer.Body)
				_ = answer.Body.Close()
				if page = string(all); err != nil || strings.Contains(page, "posta console --login") {
					t.Fatalf("%s shows %v:\n%s", link, err, page)
				}
				link = fmt.Sprintf("http://127.0.0.1:%d/", at+i)
			}
		}
		link := linked()
		if want := fmt.Sprintf("http://127.0.0.1:%d/", at+i); i == 0 && !strings.HasPrefix(link, want) {
			t.Errorf("the link of %s is %s", name, link)
		}
		if i == 0 {
			shows(link, "7 of 7 nodes at work")
		}
		was := pid()
		status := readProc(t, was, "status")
		uid, _, _ := strings.Cut(topology.NodeUser, ":")
		for _, line := range []string{"Uid:" + strings.Repeat("\t"+uid, 4), "CapPrm:\t0000000000000000", "CapBnd:\t0000000000000000",
			"NoNewPrivs:\t1"} {
			if !strings.Contains(status, "\n"+line+"\n") {
				t.Errorf("%s has no line %q in its status: %s", name, line, status)
			}
		}
		for _, path := range []string{"var/run/docker.sock", "posta/cluster/fence", "posta/cluster/" + string(m.ID)} {
			if _, err := os.Stat(fmt.Sprintf("/proc/%d/root/%s", was, path)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s sees %s: %v", name, path, err)
			}
		}
		if err := syscall.Kill(was, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for now := pid(); now == 0 || now == was; now = pid() {
			time.Sleep(10 * time.Millisecond)
		}
		linked()
	}
}

// stopAll removes the containers, and keeps the volumes.
func (c *cluster) stopAll() {
	c.t.Helper()
	for _, labels := range [][]string{{"posta.role=medic"}, {}} {
		if _, err := clustertest.Command(append([]string{"docker", "rm", "-f"}, c.ids(labels...)...)...); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *cluster) volume(id topology.NodeID) string { return c.project + "_" + string(id) }

func (c *cluster) own(id topology.NodeID, user string) {
	c.t.Helper()
	_, err := clustertest.Command("docker", "run", "--rm", "--network", "none", "--user", "0:0", "--cap-drop", "ALL", "--cap-add", "CHOWN",
		"--cap-add", "DAC_READ_SEARCH",
		"-v", c.volume(id)+":/own", image, "probe", "own", user, "/own")
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) eachRunsAsItShould() {
	c.t.Helper()
	for _, n := range c.topo.All() {
		pid, user := c.pid(n.ID), topology.NodeUser
		medic := len(n.Chain) == 0
		if medic {
			user = topology.MedicUser
		}
		uid, gid, _ := strings.Cut(user, ":")
		for _, line := range []string{"Uid:" + strings.Repeat("\t"+uid, 4), "Gid:" + strings.Repeat("\t"+gid, 4), "CapPrm:\t0000000000000000",
			"CapBnd:\t0000000000000000", "NoNewPrivs:\t1"} {
			if status := readProc(c.t, pid, "status"); !strings.Contains(status, "\n"+line+"\n") {
				c.t.Errorf("%s has no line %q in its status: %s", n.ID, line, status)
			}
		}
		_, err := os.Stat(fmt.Sprintf("/proc/%d/root/var/run/docker.sock", pid))
		if (err == nil) != medic {
			c.t.Errorf("%s and the engine's socket: %v", n.ID, err)
		}
		own := fmt.Sprintf("/proc/%d/root/posta/cluster/%s", pid, n.ID)
		err = filepath.WalkDir(own, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // it has been removed since
			}
			if info, err := d.Info(); err == nil && fmt.Sprint(info.Sys().(*syscall.Stat_t).Uid) != uid {
				c.t.Errorf("%s belongs to user %d", path, info.Sys().(*syscall.Stat_t).Uid)
			}
			return nil
		})
		if err != nil {
			c.t.Error(err)
		}
		if limit, err := clustertest.Command("docker", "inspect", "-f", "{{.HostConfig.PidsLimit}}",
			c.ids("posta.node=" + string(n.ID))[0]); err != nil || strings.TrimSpace(limit) != "1024" {
			c.t.Errorf("%s may have %s processes, %v", n.ID, limit, err)
		}
	}
}

func readProc(t *testing.T, pid int, name string) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
