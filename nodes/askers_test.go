package nodes

import (
	"testing"

	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// TestS5_WhoMayAskANode: any node answers the clients of the topology. An input also answers the other inputs, which send the requests of
// posta deploy.
func TestS5_WhoMayAskANode(t *testing.T) {
	top := topology.Default()
	for _, n := range top.Nodes() {
		admit := askers(top, n)
		for id, want := range map[security.Identity]bool{
			{Role: security.Submit, Name: "alice"}: true, {Role: security.Watch, Name: "wanda"}: true, {Role: security.Operate, Name: "olga"}: true,
			{Role: security.Node, Name: "input-1"}:  n.Holds(topology.Input),
			{Role: security.Node, Name: "joiner-1"}: false, {Role: security.Node, Name: "input-9"}: false,
			{Role: security.Medic, Name: "medic-1"}: false,
			{Role: security.Client, Name: "alice"}:  false, {}: false,
		} {
			if err := admit(id); (err == nil) != want {
				t.Errorf("%v at %s: %v", id, n.ID, err)
			}
		}
	}
}

// TestS5_MedicsAskNodesForTheConsole: only where the topology says that they serve it, and only its own medics.
func TestS5_MedicsAskNodesForTheConsole(t *testing.T) {
	top := topology.Default()
	top.Medics.Console = "127.0.0.1:8080"
	admit := askers(top, top.Nodes()[0])
	for name, want := range map[string]bool{"medic-1": true, "medic-3": true, "medic-4": false} {
		if err := admit(security.Identity{Role: security.Medic, Name: name}); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
