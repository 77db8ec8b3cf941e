//go:build docker

package docker

import (
	"strconv"

	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/topology"
)

// part makes one container and others unreachable for each other, packet by packet; both hear everybody else. What it does is done in the
// containers' own networks, so it ends with them.
func (c *cluster) part(one topology.NodeID, others []topology.NodeID) (heal func()) {
	c.t.Helper()
	var undo [][]string
	for _, other := range others {
		for _, side := range [][2]topology.NodeID{{one, other}, {other, one}} {
			pid, address := strconv.Itoa(c.pid(side[0])), c.address(side[1])
			route := []string{"nsenter", "-t", pid, "-n", "ip", "route", "add", "blackhole", address + "/32"}
			if _, err := clustertest.Command(route...); err != nil {
				c.t.Fatal(err)
			}
			route = append([]string(nil), route...)
			route[6] = "del"
			undo = append(undo, route)
		}
	}
	return func() {
		for _, route := range undo {
			_, _ = clustertest.Command(route...) // who was restarted meanwhile has another network
		}
	}
}

func (c *cluster) address(id topology.NodeID) string {
	c.t.Helper()
	out, err := clustertest.Command("docker", "ps", "-q", "-f", "label=com.docker.compose.project="+c.project, "-f",
		"label="+topology.LabelNode+"="+string(id))
	if err == nil {
		out, err = clustertest.Command("docker", "inspect", "-f", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", out)
	}
	if err != nil || out == "" {
		c.t.Fatalf("%s has no address: %v", id, err)
	}
	return out
}
